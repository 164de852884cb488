"""What a model with posterior="predictive" promises beside its formulas."""

import copy
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, sparse, stats
from sklearn.base import clone
from sklearn.metrics import log_loss

import suffice
from suffice import BayesClassifier, GaussianDiscriminant
from suffice.families import Categorical, Exponential, Gamma, LogNormal, MultivariateNormal, Normal, Poisson

FOLDER = os.environ.get("SUFFICE_DATA")
COLUMNS = {0: Normal(), 1: LogNormal(), 2: Exponential(), 3: Poisson(), 4: Gamma(), 5: Categorical()}
BLOCK = {(0, 1): MultivariateNormal("shared"), 2: Exponential(), 3: Poisson(), 4: Gamma(), 5: Categorical()}
MODELS = [COLUMNS, BLOCK]


def table(n=60, seed=0, gaps=0.1):
    """Rows of three classes, with columns that fit the families above."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.column_stack(
        [
            rng.normal(y, 1.0),
            rng.lognormal(0.5 * y, 0.7),
            rng.exponential(1.0 + y),
            rng.poisson(1.0 + 2.0 * y),
            rng.gamma(2.0 + y),
            rng.integers(0, 3, n),
        ]
    )
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def predictive(families, **settings):
    return BayesClassifier(families=families, posterior="predictive", **settings)


@pytest.mark.parametrize("families", MODELS)
def test_contributions_add_up_to_the_joint_scores(families):
    X, y = table()
    model = predictive(families).fit(X, y)
    explanation = model.explain(X)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(explanation.posterior, model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "isotropic"])
def test_contributions_of_a_joint_block_add_up_near_its_mean_and_far_away(covariance):
    X, y = table(gaps=0.0)
    model = GaussianDiscriminant(covariance, posterior="predictive").fit(X[:, :3], y)
    rows = np.vstack([model.means_, 1e3 * X[:4, :3], 1e200 * X[:4, :3], [[np.nan] * 3]])
    explanation = model.explain(rows)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(rows), rtol=1e-12, atol=1e-12)
    assert np.isfinite(explanation.contributions).all()


def test_scores_far_away_follow_the_logarithm_of_the_distance():
    X, y = table(gaps=0.0)
    model = GaussianDiscriminant("full", posterior="predictive").fit(X[:, :2], y)
    near, far = (model.predict_joint_log_proba([[size, size]]) for size in (1e10, 1e300))
    slope = -(np.array([20.0, 20.0, 20.0]) + 2.0)
    np.testing.assert_allclose(far - near, [slope * 290.0 * np.log(10.0)], rtol=1e-9)


@pytest.mark.parametrize("families", MODELS)
def test_many_rows_give_the_plug_in_scores(families):
    X, y = table(gaps=0.0)
    weight = np.full(len(y), 1e9)
    plain = BayesClassifier(families=families).fit(X, y, weight)
    model = predictive(families).fit(X, y, weight)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-7)
    few = predictive(families).fit(X, y).predict_joint_log_proba(X)
    assert np.abs(few - plain.predict_joint_log_proba(X)).max() > 0.01


@pytest.mark.parametrize("families", MODELS)
def test_families_without_a_predictive_score_keep_their_plug_in_one(families):
    X, y = table()
    plain, model = BayesClassifier(families=families).fit(X, y), predictive(families).fit(X, y)
    here, there = (one.explain(X).contributions for one in (plain, model))
    assert (here[:, 4:] == there[:, 4:]).all()
    assert all(np.abs(here[:, j] - there[:, j]).max() > 0.001 for j in range(4))


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "isotropic"])
@pytest.mark.parametrize("ddof", [0.0, 1.0])
def test_one_row_in_a_class_gives_numbers(covariance, ddof):
    X, y = table(gaps=0.0)
    keep = np.r_[0, np.flatnonzero(y > 0)]
    X, y = X[keep], y[keep]
    at = np.vstack([X, 1e200 * X[:3]])
    joint = GaussianDiscriminant(covariance, ddof=ddof, posterior="predictive").fit(X[:, :3], y)
    assert np.isfinite(joint.predict_joint_log_proba(at[:, :3])).all()
    for alpha in (0.0, 1.0):
        alone = predictive(Normal(alpha=alpha, ddof=ddof)).fit(X[:, :3], y)
        assert not np.isnan(alone.predict_joint_log_proba(at[:, :3])).any()
        np.testing.assert_allclose(alone.predict_proba(at[:, :3]).sum(axis=1), 1.0)
    every = predictive(COLUMNS).fit(X, y)
    assert np.isfinite(every.predict_joint_log_proba(X)).all()
    assert not np.isnan(every.predict_proba(at)).any()


def test_one_row_without_a_degree_of_freedom_keeps_its_plug_in_score_and_says_so():
    X, y = [[1.0], [4.0], [5.0]], ["a", "b", "b"]
    family = Normal(alpha=0, ddof=1)
    model, plain = predictive(family).fit(X, y), BayesClassifier(families=family).fit(X, y)
    at = [[0.0], [3.0]]
    assert (model.predict_joint_log_proba(at)[:, 0] == plain.predict_joint_log_proba(at)[:, 0]).all()
    assert [(one.column, one.label) for one in model.regularized_] == [("column 0", "a")]
    assert "plug-in" in model.regularized_[0].reason


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_values_in_a_column_gives_numbers(alpha):
    X, y = table(gaps=0.0)
    X[y == 0, :4] = np.nan
    families = [Normal(alpha=alpha), LogNormal(alpha=alpha), Exponential(alpha=alpha), Poisson(alpha=alpha)]
    model = predictive(dict(enumerate(families))).fit(X[:, :4], y)
    rows = table(gaps=0.0)[0][:, :4]
    assert np.isfinite(model.predict_joint_log_proba(rows)).all()
    explanation = model.explain(rows)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(rows), rtol=1e-12)
    block = GaussianDiscriminant("full", posterior="predictive").fit(X[:, :2], y)
    assert np.isfinite(block.predict_joint_log_proba(rows[:, :2] * [[1e200, 1.0]])).all()


def test_a_constant_class_without_smoothing_is_the_same_single_value():
    X, y = [[0.0], [0.0], [1.0], [3.0]], ["a", "a", "b", "b"]
    for family, at_zero in ((Normal, 1.0), (Exponential, 1.0), (Poisson, 1 / (1 + (2 / 3) ** 4))):
        model = predictive(family(alpha=0)).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[0.0], [2.0]])[:, 0], [at_zero, 0.0], rtol=1e-12)


@pytest.mark.parametrize("families", MODELS)
def test_a_missing_cell_of_independent_columns_is_the_model_without_the_column(families):
    X, y = table()
    model = predictive(families).fit(X, y)
    rows = X.copy()
    rows[:, 2:4] = np.nan
    rest = predictive({**families, 2: None, 3: None}).fit(X, y)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(rows), rest.predict_joint_log_proba(X), rtol=1e-12
    )


@pytest.mark.parametrize("families", MODELS)
def test_batches_merging_and_forgetting_give_the_same_scores(families):
    X, y = table()
    whole = predictive(families).fit(X, y).predict_joint_log_proba(X)
    first, second = predictive(families).fit(X[:36], y[:36]), predictive(families).fit(X[36:], y[36:])
    batches = predictive(families).fit(X[:36], y[:36]).partial_fit(X[36:], y[36:])
    less = predictive(families).fit(X, y).forget(X[36:], y[36:])
    for model, expected in (
        (first + second, whole),
        (batches, whole),
        (predictive(families).fit_statistics(batches.statistics_), whole),
        (less, first.predict_joint_log_proba(X)),
    ):
        np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-8)


@pytest.mark.parametrize("families", MODELS)
def test_a_saved_model_has_the_same_bits(families, tmp_path):
    X, y = table()
    model = predictive(families).fit(X, y)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.posterior == "predictive"
    assert (loaded.predict_joint_log_proba(X) == model.predict_joint_log_proba(X)).all()


def test_the_setting_is_saved_only_where_it_is_not_the_default(tmp_path):
    X, y = table(gaps=0.0)
    for posterior, held in (("plug-in", False), ("predictive", True)):
        for model in (BayesClassifier(posterior=posterior), GaussianDiscriminant(posterior=posterior)):
            model.fit(X[:, :2], y).save(tmp_path / "model")
            assert (b"posterior" in (tmp_path / "model").read_bytes()) == held
            assert suffice.load(tmp_path / "model").posterior == posterior


def test_copies_and_other_priors_keep_the_setting():
    X, y = table()
    model = predictive(COLUMNS).fit(X, y)
    expected = model.predict_joint_log_proba(X)
    assert clone(model).get_params()["posterior"] == "predictive"
    assert (copy.copy(model).predict_joint_log_proba(X) == expected).all()
    even = model.with_priors("uniform")
    difference = even.predict_joint_log_proba(X) - expected
    np.testing.assert_allclose(difference, np.tile(difference[:1], (len(X), 1)), atol=1e-9)


@pytest.mark.parametrize("model", [BayesClassifier(posterior="exact"), GaussianDiscriminant(posterior=None)])
def test_an_unknown_setting_is_refused(model):
    X, y = table(gaps=0.0)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="posterior must be one of"):
            learn(X[:, :2], y)


def test_sparse_rows_score_as_dense_ones():
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.4, (50, 6)).astype(float), np.arange(50) % 2
    for family in (Poisson(), Normal(), Exponential(alpha=0.5)):
        dense = predictive(family).fit(X, y).predict_joint_log_proba(X)
        found = predictive(family).fit(sparse.csr_array(X), y).predict_joint_log_proba(sparse.csr_array(X))
        np.testing.assert_allclose(found, dense, rtol=1e-9)


def test_a_refused_value_of_sparse_rows_is_named_with_its_row():
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.4, (9000, 6)).astype(float), np.arange(9000) % 2
    model = predictive(Poisson(unseen="error")).fit(X, y)
    X[8500, 2] = -1.0
    with pytest.raises(ValueError, match=r"column 2.*-1.0 \(row 8500\)"):
        model.predict(sparse.csr_array(X))


@pytest.mark.parametrize("family", [Poisson(unseen="smooth"), Exponential(unseen="smooth")])
def test_a_value_outside_the_support_is_rare_with_either_score(family):
    X, y = table(gaps=0.0)
    rows = [[-1.0]]
    plain = BayesClassifier(families=family).fit(X[:, [3]], y)
    model = predictive(family).fit(X[:, [3]], y)
    assert (model.predict_proba(rows) == plain.predict_proba(rows)).all()


def test_densities_integrate_to_one():
    X, y = table(n=9, gaps=0.0)
    for j, family in enumerate((Normal(), LogNormal(), Exponential())):
        model = predictive(family).fit(X[:, [j]], y)

        def density(t, model=model, family=family):
            inside = family.takes_every_number
            x = np.sinh(t) if inside else np.exp(t)
            return np.exp(model.score_samples([[x]])[0]) * (np.cosh(t) if inside else x)

        whole = integrate.quad(density, -40.0, 40.0, limit=400, epsrel=1e-9)[0]
        assert whole == pytest.approx(1.0, abs=1e-5)
    counts = predictive(Poisson()).fit(X[:, [3]], y)
    assert np.exp(counts.score_samples(np.arange(500.0)[:, np.newaxis])).sum() == pytest.approx(
        1.0, abs=1e-12
    )


@pytest.mark.parametrize("size", [1.0, 1e3, 2e7, 1e12])
def test_large_counts_keep_their_digits(size):
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 60
    x, y = np.round(size * np.array([1.0, 1.1, 2.0, 2.3, 2.2])), ["a", "a", "b", "b", "b"]
    model = predictive(Poisson(), priors="uniform").fit(x[:, np.newaxis], y)
    at = np.round(size * np.array([[1.05], [1.9], [0.0]]))
    found = model.predict_joint_log_proba(at) + np.log(2)
    pooled = mpmath.fsum(x.tolist()) / 5
    for k, rows in enumerate((x[:2], x[2:])):
        b = len(rows) + mpmath.mpf(1)
        r = mpmath.fsum(rows.tolist()) + pooled
        for i, value in enumerate(at[:, 0].tolist()):
            exact = mpmath.loggamma(value + r) - mpmath.loggamma(r) - mpmath.loggamma(value + 1)
            exact += r * mpmath.log(b / (b + 1)) - value * mpmath.log(b + 1)
            assert found[i, k] == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def test_units_and_offsets_cost_no_digits():
    X, y = table(gaps=0.0)
    near = predictive(Normal()).fit(X[:, :1], y).predict_proba(X[:, :1])
    far = predictive(Normal()).fit(1e-3 * X[:, :1], y).predict_proba(1e-3 * X[:, :1])
    np.testing.assert_allclose(far, near, rtol=1e-9)
    moved = 2.0**40 + np.round(X[:, :1] * 256)
    about = predictive(Normal()).fit(moved, y).predict_proba(moved)
    zero = predictive(Normal()).fit(moved - 2.0**40, y).predict_proba(moved - 2.0**40)
    np.testing.assert_allclose(about, zero, rtol=1e-9)


@pytest.mark.parametrize(
    "family, j", [(Normal(), 0), (Normal("shared"), 0), (LogNormal(), 1), (Exponential(), 2)]
)
def test_samples_follow_the_predictive_density(family, j):
    X, y = table(n=18, gaps=0.0)
    model = predictive(family).fit(X[:, [j]], y)
    drawn = model.sample(20_000, random_state=0, labels=1)[0][:, 0]
    order = np.sort(drawn)
    low, high = order[1000], order[-1000]
    even = model.with_priors({0: 0.0, 1: 1.0, 2: 0.0})
    share = integrate.quad(lambda x: np.exp(even.score_samples([[x]])[0]), low, high, limit=200)[0]
    assert share == pytest.approx(0.9, abs=0.012)


def test_samples_of_counts_and_blocks_follow_their_predictives():
    X, y = table(n=18, gaps=0.0)
    model = predictive(Poisson()).fit(X[:, [3]], y).with_priors({0: 0.0, 1: 1.0, 2: 0.0})
    drawn = model.sample(20_000, random_state=0)[0][:, 0]
    for value in range(4):
        expected = np.exp(model.score_samples([[float(value)]])[0])
        assert np.mean(drawn == value) == pytest.approx(expected, abs=0.015)
    for covariance in ("full", "diagonal"):
        block = GaussianDiscriminant(covariance, posterior="predictive").fit(X[:, :2], y)
        rows = block.sample(20_000, random_state=0, labels=1)[0]
        spread = np.sqrt(block.covariances_[1][0, 0] * (1 + 1 / 6))
        share = stats.t.cdf(1.0, 6)
        assert np.mean(rows[:, 0] < block.means_[1, 0] + spread) == pytest.approx(share, abs=0.012)


def test_novelty_is_even_for_rows_of_the_model_and_refused_for_blocks():
    X, y = table(n=30, gaps=0.0)
    model = predictive({0: Normal(), 1: Exponential()}).fit(X[:, [0, 2]], y)
    found = model.novelty(model.sample(2000, random_state=1)[0])
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.05)
    block = GaussianDiscriminant(posterior="predictive").fit(X[:, :2], y)
    with pytest.raises(ValueError, match="posterior='plug-in'"):
        block.novelty(X[:, :2])


def test_the_equations_of_a_discriminant_are_refused_where_they_do_not_hold():
    X, y = table(gaps=0.0)
    model = GaussianDiscriminant(posterior="predictive").fit(X[:, :2], y)
    with pytest.raises(ValueError, match="posterior='plug-in'"):
        model.boundary(0, 1)
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match="posterior='plug-in'"):
            getattr(model, name)
    assert np.isfinite(model.transform(X[:, :2])).all()


def test_a_marginal_has_the_scores_of_its_columns():
    X, y = table(gaps=0.0)
    for families in MODELS:
        model = predictive(families).fit(X, y)
        part = model._marginal([0, 2, 3])
        rows = X.copy()
        rows[:, [1, 4, 5]] = np.nan
        found = part.log_densities(suffice.tables.table.read_table(X[:, [0, 2, 3]])) + np.log(model.priors_)
        np.testing.assert_allclose(found, model.predict_joint_log_proba(rows), rtol=1e-10)


def test_small_samples_have_a_lower_log_loss_than_with_plug_in_scores():
    losses = {"plug-in": [], "predictive": []}
    rng = np.random.default_rng(0)
    for _ in range(40):
        centres = rng.normal(size=(3, 4))
        y, y_test = np.repeat(np.arange(3), 5), np.repeat(np.arange(3), 60)
        X, X_test = (centres[k] + rng.normal(size=(len(k), 4)) for k in (y, y_test))
        for posterior, found in losses.items():
            for model in (
                BayesClassifier(posterior=posterior),
                GaussianDiscriminant("full", posterior=posterior),
                GaussianDiscriminant("shared", posterior=posterior),
            ):
                found.append(log_loss(y_test, model.fit(X, y).predict_proba(X_test)))
    plain, better = (np.reshape(found, (40, 3)).mean(axis=0) for found in losses.values())
    assert (better < plain).all()


@pytest.mark.data
@pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets")
@pytest.mark.parametrize("name, target", [("heart_cleveland", "num"), ("pima_na", "diabetes")])
def test_few_rows_of_a_real_table_have_a_lower_log_loss(name, target):
    frame = pd.read_csv(Path(FOLDER) / name / "data.csv.gz")
    y = frame.pop(target).to_numpy()
    losses = {"plug-in": [], "predictive": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        few = np.concatenate([rng.choice(np.flatnonzero(y == k), 5, replace=False) for k in np.unique(y)])
        rest = np.setdiff1d(np.arange(len(y)), few)
        for posterior, found in losses.items():
            model = BayesClassifier(posterior=posterior, evidence_weight=1.0).fit(frame.iloc[few], y[few])
            found.append(log_loss(y[rest], model.predict_proba(frame.iloc[rest]), labels=model.classes_))
    assert np.mean(losses["predictive"]) < 0.9 * np.mean(losses["plug-in"])
