"""The equations of discriminant analysis, read off the fitted model."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import BayesClassifier, GaussianDiscriminant
from suffice.families import Categorical, MultivariateNormal

RUNGS = ["full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic", [[0, 2], [1]]]
with_rungs = pytest.mark.parametrize("covariance", RUNGS, ids=str)
X, Y = datasets.load_iris(return_X_y=True)
K, M = 3, 4


@parametrize_with_checks([GaussianDiscriminant(), GaussianDiscriminant("full")])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


# --- boundaries ----------------------------------------------------------------------------------


@with_rungs
@pytest.mark.parametrize("pair", [(0, 1), (2, 0), (1, 2)])
def test_a_boundary_is_the_log_odds_of_two_classes(covariance, pair):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    boundary = model.boundary(*pair)
    joint = model.predict_joint_log_proba(X)
    expected = joint[:, pair[0]] - joint[:, pair[1]]
    np.testing.assert_allclose(boundary(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        np.einsum("ni,ij,nj->n", X, boundary.Q, X) + X @ boundary.w + boundary.w0,
        expected,
        rtol=1e-9,
        atol=1e-9,
    )
    assert boundary.Q.shape == (M, M)
    assert boundary.w.shape == (M,)
    np.testing.assert_allclose(boundary.Q, boundary.Q.T, atol=1e-12)
    assert isinstance(boundary.w0, float)


@with_rungs
def test_a_boundary_is_linear_within_a_group_and_quadratic_elsewhere(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        shared = {i, j} == {0, 2} if isinstance(covariance, list) else covariance.startswith("shared")
        boundary = model.boundary(i, j)
        assert boundary.kind == ("linear" if shared else "quadratic")
        assert boundary.Q.any() != shared


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_a_boundary_turned_about_changes_sign(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    one, other = model.boundary(0, 2), model.boundary(2, 0)
    np.testing.assert_allclose(one.Q, -other.Q, atol=1e-12)
    np.testing.assert_allclose(one.w, -other.w, atol=1e-12)
    assert one.w0 == pytest.approx(-other.w0)


def test_the_equations_of_the_shared_covariance():
    model = GaussianDiscriminant("shared").fit(X, Y)
    precision = np.linalg.inv(model.covariances_[0])
    np.testing.assert_allclose(model.coef_, model.means_ @ precision, rtol=1e-8)
    quadratic = np.einsum("ki,ij,kj->k", model.means_, precision, model.means_)
    np.testing.assert_allclose(model.intercept_, -0.5 * quadratic + np.log(model.priors_), rtol=1e-8)
    boundary = model.boundary(1, 2)
    np.testing.assert_allclose(boundary.w, precision @ (model.means_[1] - model.means_[2]), rtol=1e-7)
    np.testing.assert_allclose(
        boundary.w0,
        -0.5 * (quadratic[1] - quadratic[2]) + np.log(model.priors_[1] / model.priors_[2]),
        rtol=1e-7,
    )


def test_the_equations_of_two_classes():
    two = Y > 0
    model = GaussianDiscriminant("shared").fit(X[two], Y[two])
    boundary = model.boundary(2, 1)
    assert model.coef_.shape == (1, M)
    assert model.intercept_.shape == (1,)
    np.testing.assert_allclose(model.coef_[0], boundary.w, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_[0], boundary.w0, rtol=1e-9)
    np.testing.assert_allclose(boundary(X), model.decision_function(X), rtol=1e-8, atol=1e-8)


def test_the_equations_of_own_covariances():
    model = GaussianDiscriminant("full").fit(X, Y)
    precision = np.linalg.inv(model.covariances_)
    boundary = model.boundary(1, 2)
    np.testing.assert_allclose(boundary.Q, -0.5 * (precision[1] - precision[2]), rtol=1e-8, atol=1e-9)
    linear = np.einsum("kij,kj->ki", precision, model.means_)
    np.testing.assert_allclose(boundary.w, linear[1] - linear[2], rtol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diagonal", [[0, 1], [2]]])
def test_scores_that_are_not_linear_have_no_coefficients(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match="boundary"):
            getattr(model, name)
        assert not hasattr(model, name)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_a_threshold_moves_only_the_constant(covariance, threshold):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    plain, moved = model.boundary(1, 2), model.boundary(1, 2, threshold=threshold)
    assert np.array_equal(plain.Q, moved.Q)
    assert np.array_equal(plain.w, moved.w)
    assert moved.w0 == pytest.approx(plain.w0 - np.log(threshold / (1 - threshold)), abs=1e-12)
    joint = model.predict_joint_log_proba(X)
    posterior = 1 / (1 + np.exp(joint[:, 2] - joint[:, 1]))
    assert np.array_equal(moved(X) > 0, posterior > threshold)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_other_priors_move_only_the_constant(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    other = model.with_priors({0: 0.2, 1: 0.7, 2: 0.1})
    one, two = model.boundary(1, 2), other.boundary(1, 2)
    assert np.array_equal(one.Q, two.Q)
    assert np.array_equal(one.w, two.w)
    assert two.w0 - one.w0 == pytest.approx(np.log(7.0), abs=1e-10)
    assert np.array_equal(model.means_, other.means_)
    assert np.array_equal(model.covariances_, other.covariances_)
    if covariance == "shared":
        assert np.array_equal(model.coef_, other.coef_)
        np.testing.assert_allclose(
            other.intercept_ - model.intercept_, np.log(np.array([0.2, 0.7, 0.1]) * 3), atol=1e-10
        )


def test_a_boundary_can_be_read():
    linear = GaussianDiscriminant("shared").fit(X, Y).boundary(0, 1)
    text = repr(linear)
    assert "linear" in text
    assert text.count("·x") == M
    assert "= 0" in text
    assert f"{linear.w0:+.4g}" in text
    quadratic = repr(GaussianDiscriminant("full").fit(X, Y).boundary(0, 1))
    assert "quadratic" in quadratic
    assert "x0²" in quadratic
    assert "x1·x3" in quadratic
    wide, y = datasets.load_wine(return_X_y=True)
    assert "13 columns" in repr(GaussianDiscriminant().fit(wide, y).boundary(0, 1))


def test_a_boundary_of_labels_that_are_text():
    model = GaussianDiscriminant().fit(X, np.array(["setosa", "versicolor", "virginica"])[Y])
    assert "'setosa'" in repr(model.boundary("setosa", "virginica"))
    with pytest.raises(ValueError, match=r"there is no class 'rose'; the classes are \['setosa'"):
        model.boundary("setosa", "rose")


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5, np.nan, "half", None])
def test_a_threshold_lies_between_0_and_1(threshold):
    with pytest.raises(ValueError, match="threshold must be a number strictly between 0 and 1"):
        GaussianDiscriminant().fit(X, Y).boundary(0, 1, threshold)


def test_a_boundary_lies_between_two_classes():
    with pytest.raises(ValueError, match="two different classes, got 1 twice"):
        GaussianDiscriminant().fit(X, Y).boundary(1, 1)


def test_a_boundary_reads_frames_by_name_and_says_the_names():
    frame = pd.DataFrame(X[:, :2], columns=["length", "width"])
    boundary = GaussianDiscriminant("full").fit(frame, Y).boundary(0, 1)
    np.testing.assert_allclose(boundary(frame[["width", "length"]]), boundary(X[:, :2]), rtol=1e-12)
    assert "·length²" in repr(boundary)
    assert "·length·width" in repr(boundary)
    with pytest.raises(ValueError, match=r"X lacks \['width'\]"):
        boundary(frame[["length"]])


def test_friedmans_lambda_1_is_the_shared_covariance():
    one = GaussianDiscriminant("full", shrinkage=(1, 0)).fit(X, Y)
    other = GaussianDiscriminant("shared").fit(X, Y)
    assert one.n_parameters_ == other.n_parameters_
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)
    assert one.boundary(0, 1).kind == "linear"


def test_a_boundary_takes_one_row_or_many():
    boundary = GaussianDiscriminant("full").fit(X, Y).boundary(0, 1)
    np.testing.assert_allclose(boundary(X[0]), boundary(X[:1]))
    assert boundary(X[:5].tolist()).shape == (5,)


# --- counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "covariance, in_covariances",
    [
        ("full", K * M * (M + 1) // 2),
        ("shared", M * (M + 1) // 2),
        ("diagonal", K * M),
        ("shared_diagonal", M),
        ("isotropic", K),
        ("shared_isotropic", 1),
        ([[0, 2], [1]], 2 * M * (M + 1) // 2),
    ],
    ids=str,
)
def test_parameters_are_counted_as_in_the_textbook(covariance, in_covariances):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    assert model.n_parameters_ == K * M + in_covariances + K - 1
    given = GaussianDiscriminant(covariance, priors="uniform").fit(X, Y)
    assert given.n_parameters_ == K * M + in_covariances
    constant = GaussianDiscriminant(covariance).fit(np.column_stack([X, np.ones(len(Y))]), Y)
    assert constant.n_parameters_ == model.n_parameters_


@with_rungs
def test_the_log_likelihood_is_that_of_scipy(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    value = sum(
        stats.multivariate_normal.logpdf(X[k == Y], model.means_[k], model.covariances_[k]).sum()
        + np.sum(k == Y) * np.log(model.priors_[k])
        for k in range(K)
    )
    assert model.log_likelihood_ == pytest.approx(value, rel=1e-10)
    assert model.bic_ == pytest.approx(model.n_parameters_ * np.log(len(Y)) - 2 * value, rel=1e-10)
    assert model.aic_ == pytest.approx(2 * model.n_parameters_ - 2 * value, rel=1e-10)


# --- contributions -------------------------------------------------------------------------------


GAPPY = X.copy()
GAPPY[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
GAPPY[0] = np.nan


@with_rungs
@pytest.mark.parametrize("rows", [X, GAPPY], ids=["whole", "gaps"])
def test_contributions_add_up_to_the_joint_score(covariance, rows):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    explained = model.explain(rows)
    assert explained.contributions.shape == (len(rows), M, K)
    np.testing.assert_allclose(
        explained.contributions.sum(axis=1) + explained.prior,
        model.predict_joint_log_proba(rows),
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_allclose(explained.total, model.predict_joint_log_proba(rows), rtol=1e-12)
    assert not explained.contributions[np.isnan(rows)].any()


@pytest.mark.parametrize("covariance", RUNGS[:4], ids=str)
def test_contributions_do_not_depend_on_units_or_order(covariance):
    units = np.array([1e-6, 1e3, 7.0, 1e5])
    order = np.array([2, 0, 3, 1])
    plain = GaussianDiscriminant(covariance).fit(X, Y).explain(GAPPY).contributions
    scaled = GaussianDiscriminant(covariance).fit(X * units, Y).explain(GAPPY * units).contributions
    shift = np.where(np.isnan(GAPPY), 0.0, np.log(units))[:, :, np.newaxis]
    np.testing.assert_allclose(scaled + shift, plain, rtol=1e-8, atol=1e-8)
    moved = GaussianDiscriminant(covariance).fit(X[:, order], Y).explain(GAPPY[:, order]).contributions
    np.testing.assert_allclose(moved, plain[:, order], rtol=1e-8, atol=1e-8)


def test_contributions_follow_their_formula():
    model = GaussianDiscriminant("full").fit(X, Y)
    contributions = model.explain(X[:5]).contributions
    for k in range(K):
        covariance = model.covariances_[k]
        deviation = np.sqrt(np.diag(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(deviation, deviation))
        log_correlation = (vectors * np.log(values)) @ vectors.T
        z = X[:5] - model.means_[k]
        expected = (
            -0.5 * z * (z @ np.linalg.inv(covariance))
            - 0.5 * np.log(2 * np.pi * deviation**2)
            - 0.5 * np.diag(log_correlation)
        )
        np.testing.assert_allclose(contributions[:, :, k], expected, rtol=1e-8, atol=1e-8)


# --- gaps ----------------------------------------------------------------------------------------


@with_rungs
def test_a_missing_cell_is_the_marginal(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    joint = model.predict_joint_log_proba(GAPPY)
    for row, scores in zip(GAPPY, joint, strict=True):
        seen = ~np.isnan(row)
        expected = np.log(model.priors_)
        if seen.any():
            expected = expected + [
                stats.multivariate_normal.logpdf(row[seen], mean[seen], spread[np.ix_(seen, seen)])
                for mean, spread in zip(model.means_, model.covariances_, strict=True)
            ]
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(GAPPY[:1])[0], model.priors_)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal"])
def test_a_column_missing_throughout_is_a_model_without_it(covariance):
    rows = X.copy()
    rows[:, 2] = np.nan
    seen = [0, 1, 3]
    one = GaussianDiscriminant(covariance).fit(X, Y).predict_proba(rows)
    other = GaussianDiscriminant(covariance).fit(X[:, seen], Y).predict_proba(X[:, seen])
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


# --- Fisher's directions -------------------------------------------------------------------------


@pytest.mark.parametrize("load", [datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer])
def test_transform_is_that_of_scikit_learn_up_to_sign_and_scale(load):
    rows, y = load(return_X_y=True)
    n_classes = len(np.unique(y))
    ours = GaussianDiscriminant("shared").fit(rows, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(rows, y)
    moved, wanted = ours.transform(rows), theirs.transform(rows)[:, : n_classes - 1]
    assert moved.shape == (len(y), n_classes - 1)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_[: n_classes - 1], rtol=1e-7
    )
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-7)
    for j in range(n_classes - 1):
        assert abs(np.corrcoef(moved[:, j], wanted[:, j])[0, 1]) == pytest.approx(1.0, abs=1e-9)


def test_directions_have_unit_variance_within_the_classes():
    model = GaussianDiscriminant("shared").fit(X, Y)
    within = model.scalings_.T @ model.covariances_[0] @ model.scalings_
    np.testing.assert_allclose(within, np.eye(2), atol=1e-10)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert np.all(np.diff(model.explained_variance_ratio_) <= 0)


def test_names_of_the_directions():
    model = GaussianDiscriminant().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    assert model.get_feature_names_out().tolist() == ["gaussiandiscriminant0", "gaussiandiscriminant1"]
    frame = model.set_output(transform="pandas").transform(pd.DataFrame(X, columns=list("abcd")))
    assert frame.columns.tolist() == ["gaussiandiscriminant0", "gaussiandiscriminant1"]


def test_a_missing_cell_stands_for_its_expectation_along_the_directions():
    model = GaussianDiscriminant().fit(X, Y)
    moved = model.transform(GAPPY)
    whole = ~np.isnan(GAPPY).any(axis=1)
    np.testing.assert_allclose(moved[whole], model.transform(X)[whole], rtol=1e-12)
    row = GAPPY[~whole][0]
    seen = ~np.isnan(row)
    expected = np.zeros_like(row)
    for share, mean, sigma in zip(
        model.predict_proba([row])[0], model.means_, model.covariances_, strict=True
    ):
        guess = np.where(seen, row, mean)
        slope = sigma[np.ix_(~seen, seen)] @ np.linalg.inv(sigma[np.ix_(seen, seen)])
        guess[~seen] += slope @ (row - mean)[seen]
        expected += share * guess
    np.testing.assert_allclose(moved[~whole][0], model.transform([expected])[0], rtol=1e-9)


# --- drawing -------------------------------------------------------------------------------------


@with_rungs
def test_samples_have_the_moments_of_the_model(covariance):
    model = GaussianDiscriminant(covariance, priors=[0.5, 0.3, 0.2]).fit(X, Y)
    rows, labels = model.sample(40_000, random_state=0)
    np.testing.assert_allclose(np.bincount(labels) / len(labels), model.priors_, atol=0.01)
    for k in range(K):
        mine = rows[labels == k]
        deviation = np.sqrt(np.diag(model.covariances_[k]))
        np.testing.assert_allclose(
            (mine.mean(axis=0) - model.means_[k]) / deviation, 0.0, atol=5 / np.sqrt(len(mine))
        )
        units = np.outer(deviation, deviation)
        np.testing.assert_allclose(
            np.cov(mine, rowvar=False) / units, model.covariances_[k] / units, atol=10 / np.sqrt(len(mine))
        )


def test_the_parameters_people_know():
    model = GaussianDiscriminant("full").fit(X, Y)
    for j, parameters in model.parameters_.items():
        np.testing.assert_allclose(parameters["mean"], model.means_[:, j])
        np.testing.assert_allclose(parameters["variance"], model.covariances_[:, j, j])


# --- in a mixed model ----------------------------------------------------------------------------


def test_a_joint_block_stands_beside_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["town"] = np.array(["Ulm", "Bonn", "Köln"])[(Y + rng.integers(0, 2, len(Y))) % 3]
    block = ("a", "b", "c", "d")
    families = {block: MultivariateNormal("shared"), "town": Categorical()}
    mixed = BayesClassifier(families=families).fit(frame, Y)
    gaussian = GaussianDiscriminant("shared").fit(frame[list(block)], Y)
    towns = BayesClassifier(families=Categorical()).fit(frame[["town"]], Y)
    joint = gaussian.predict_joint_log_proba(frame[list(block)]) + towns.predict_joint_log_proba(
        frame[["town"]]
    )
    np.testing.assert_allclose(
        mixed.predict_joint_log_proba(frame), joint - np.log(mixed.priors_), rtol=1e-10
    )
    assert mixed.n_parameters_ == gaussian.n_parameters_ + towns.n_parameters_ - (K - 1)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_the_boundary_keeps_its_digits_far_from_zero(covariance):
    rng = np.random.default_rng(3)
    labels = np.arange(120) % 3
    rows = rng.integers(-64, 64, size=(120, 3)) / 8 + labels[:, np.newaxis]
    near, far = (GaussianDiscriminant(covariance).fit(rows + offset, labels) for offset in (0.0, 1e9))
    np.testing.assert_allclose(
        far.boundary(1, 0)(rows + 1e9), near.boundary(1, 0)(rows), rtol=1e-9, atol=1e-9
    )
    joint = far.predict_joint_log_proba(rows + 1e9)
    np.testing.assert_allclose(far.boundary(1, 0)(rows + 1e9), joint[:, 1] - joint[:, 0], atol=1e-9)
