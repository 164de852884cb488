import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import suffice
from suffice import (
    BayesClassifier,
    GaussianDiscriminant,
    LogisticRegression,
    ProbitRegression,
    TextClassifier,
)
from suffice.families import Categorical, Gamma, Multinomial, MultivariateNormal, Normal, Words


@pytest.fixture(scope="module")
def penguins():
    X, y = suffice.load_penguins()
    return X.to_pandas(), y


@pytest.fixture(scope="module")
def model(penguins):
    return BayesClassifier().fit(*penguins)


def numbers(penguins):
    X, y = penguins
    kept = X.notna().all(axis=1)
    return X.loc[kept, ["bill_length_mm", "bill_depth_mm", "body_mass_g"]], y[kept.to_numpy()]


MODELS = {
    "mixed": BayesClassifier(),
    "joint beside others": BayesClassifier(
        {("bill_length_mm", "bill_depth_mm"): MultivariateNormal("full"), "body_mass_g": Gamma()},
        evidence_weight=1.0,
    ),
    "text beside others": BayesClassifier({"island": Words(), "year": Categorical()}),
}


@pytest.mark.parametrize("name", MODELS)
def test_contributions_sum_to_the_joint_score(penguins, name):
    X, y = penguins
    fitted = MODELS[name].fit(X, y)
    explained = fitted.explain(X)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added, fitted.predict_joint_log_proba(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_isotropic"])
def test_contributions_of_a_joint_gaussian_sum_to_the_joint_score(penguins, covariance):
    X, y = numbers(penguins)
    fitted = GaussianDiscriminant(covariance).fit(X, y)
    explained = fitted.explain(X)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added, fitted.predict_joint_log_proba(X), rtol=1e-10, atol=1e-10)


def test_without_a_cell_its_contribution_is_gone(penguins, model):
    X, _ = penguins
    whole = model.explain(X)
    for j, column in enumerate(X.columns):
        hidden = X.copy()
        hidden[column] = pd.Series(
            [None] * len(X), dtype=X[column].dtype if X[column].dtype == object else None
        )
        hidden[column] = hidden[column].astype("float64" if X[column].dtype.kind in "fi" else object)
        np.testing.assert_allclose(
            model.predict_joint_log_proba(hidden), whole.total - whole.contributions[:, j], atol=1e-10
        )


def test_against_another_class_the_cells_and_the_prior_are_the_log_odds(penguins, model):
    X, _ = penguins
    explained = model.explain(X)
    log_p = model.predict_log_proba(X)
    for a, label in enumerate(model.classes_):
        for b, other in enumerate(model.classes_):
            odds = explained.prior[a] - explained.prior[b] + explained.evidence(label, other).sum(axis=1)
            np.testing.assert_allclose(odds, log_p[:, a] - log_p[:, b], atol=1e-10)


def test_against_the_prior_a_cell_says_what_a_model_of_its_column_says(penguins, model):
    X, y = penguins
    explained = model.explain(X)
    alone = BayesClassifier().fit(X[["bill_length_mm"]], y)
    moved = alone.predict_log_proba(X[["bill_length_mm"]]) - np.log(alone.priors_)
    for k, label in enumerate(model.classes_):
        np.testing.assert_allclose(explained.evidence(label)[:, 1], moved[:, k], atol=1e-10)


def test_against_the_prior_cells_and_overlap_are_the_posterior(penguins, model):
    X, _ = penguins
    explained = model.explain(X)
    log_p = model.predict_log_proba(X)
    for k, label in enumerate(model.classes_):
        added = np.log(model.priors_[k]) + explained.evidence(label).sum(axis=1) + explained.overlap()
        np.testing.assert_allclose(added, log_p[:, k], atol=1e-10)


def test_a_missing_cell_says_nothing(penguins, model):
    X, _ = penguins
    gaps = X.isna().to_numpy()
    assert gaps.any()
    assert (model.explain(X).evidence("Adelie")[gaps] == 0.0).all()
    assert (model.explain(X).evidence("Adelie", "Gentoo")[gaps] == 0.0).all()


def test_one_column_has_no_overlap(penguins):
    X, y = penguins
    explained = BayesClassifier().fit(X[["bill_length_mm"]], y).explain(X[["bill_length_mm"]])
    np.testing.assert_allclose(explained.overlap(), 0.0, atol=1e-12)


def test_frames_of_a_label_add_up_row_by_row(penguins, model):
    X, _ = penguins
    explained = model.explain(X[:20])
    log_p = model.predict_log_proba(X[:20])
    against_prior = explained.to_frame("Adelie")
    assert list(against_prior.columns) == ["row", "column", "value", "nats"]
    np.testing.assert_allclose(against_prior.groupby("row")["nats"].sum(), log_p[:, 0], atol=1e-10)
    odds = explained.to_frame("Adelie", "Gentoo").groupby("row")["nats"].sum()
    np.testing.assert_allclose(odds, log_p[:, 0] - log_p[:, 2], atol=1e-10)
    assert "missing" in against_prior["value"].tolist()
    with pytest.raises(ValueError, match="needs a label"):
        explained.to_frame(against="Gentoo")
    with pytest.raises(ValueError, match="no class 'Emperor'"):
        explained.to_frame("Emperor")


def test_words_of_any_two_classes(penguins, model):
    text = model.explain(penguins[0][:1]).describe(0, "Gentoo", "Adelie")
    assert "nats for Gentoo against Adelie" in text
    chosen = model.explain(penguins[0][:1]).describe(0, label="Chinstrap")
    assert "nats for Chinstrap against Adelie" in chosen


@pytest.mark.parametrize("make", [LogisticRegression, ProbitRegression])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_regression_is_explained_by_its_linear_scores(penguins, make, classes):
    X, y = numbers(penguins)
    kept = np.isin(y, sorted(set(y))[:classes])
    X, y = X[kept], y[kept]
    X = X.assign(stamp=1.7e9 + np.arange(len(X)))  # far from 0, so that digits can be lost
    fitted = make().fit(X, y)
    explained = fitted.explain(X)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added, explained.total, rtol=1e-10, atol=1e-10)
    scores = fitted.decision_function(X)
    if classes == 2:
        np.testing.assert_allclose(explained.total[:, 1] - explained.total[:, 0], scores, atol=1e-10)
    else:
        np.testing.assert_allclose(explained.total, scores, atol=1e-10)
    np.testing.assert_allclose(explained.posterior, fitted.predict_proba(X))


def test_log_odds_of_a_logistic_regression_are_in_nats_and_probits_are_not(penguins):
    X, y = numbers(penguins)
    logistic = LogisticRegression().fit(X, y)
    odds = logistic.explain(X).to_frame("Adelie", "Gentoo").groupby("row")["nats"].sum()
    log_p = logistic.predict_log_proba(X)
    np.testing.assert_allclose(odds, log_p[:, 0] - log_p[:, 2], atol=1e-8)
    probit = ProbitRegression().fit(X, y).explain(X)
    assert "standard deviations for" in probit.describe(0)
    with pytest.raises(ValueError, match="not in nats"):
        probit.evidence("Adelie")


def test_sparse_rows_of_a_regression_are_explained():
    X = sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 0.0]]))
    fitted = LogisticRegression().fit(X, [0, 1, 0, 1])
    explained = fitted.explain(X)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added[:, 1] - added[:, 0], fitted.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement"])
def test_the_frame_of_words_adds_up_to_the_total(event):
    documents = ["good film", "bad film film", "good fun", None, "unknown"]
    fitted = TextClassifier(event).fit(documents[:3], ["+", "-", "+"])
    explained = fitted.explain(documents)
    frame = explained.to_frame().to_pandas()
    np.testing.assert_allclose(frame.groupby("document")[["+", "-"]].sum(), explained.total, atol=1e-10)
    assert frame["word"].tolist()[:2] == ["good", "film"] or set(frame["word"][:2]) == {"good", "film"}


def test_impossible_cells_leave_no_nan():
    X = pd.DataFrame({"c": ["x", "x", "y", "y"], "n": [1.0, 2.0, 3.0, 4.0]})
    fitted = BayesClassifier({"c": Categorical(alpha=0), "n": Normal()}).fit(X, [0, 0, 1, 1])
    explained = fitted.explain(X)
    assert explained.evidence(0)[2, 0] == -np.inf
    assert not np.isnan(explained.evidence(1)).any()
    assert not np.isnan(explained.overlap()).any()


def test_two_classes_ruled_out_by_their_priors_have_no_odds(penguins, model):
    explained = model.with_priors({"Adelie": 1.0, "Chinstrap": 0.0, "Gentoo": 0.0}).explain(penguins[0][:1])
    frame = explained.to_frame("Chinstrap", "Gentoo")
    assert frame.loc[frame["column"] == "(prior)", "nats"].tolist() == [0.0]
    assert "nan" not in (words := explained.describe(0, "Chinstrap", "Gentoo"))
    assert "log odds" not in words


def test_counts_are_explained_by_column():
    counts = np.random.default_rng(0).poisson(2.0, (20, 3))
    fitted = BayesClassifier(Multinomial()).fit(counts, [0, 1] * 10)
    explained = fitted.explain(counts)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added, explained.total, atol=1e-10)


@pytest.mark.parametrize("row", ["a", None, 1.5, -1, 2])
def test_a_row_that_was_not_explained_is_refused_with_those_that_were(row):
    explained = BayesClassifier(Normal()).fit([[0.0], [1.0]], ["a", "b"]).explain([[0.0], [1.0]])
    with pytest.raises(ValueError, match=r"there is no row .*; row must be a position from 0 to 1\.$"):
        explained.describe(row)


def test_an_explanation_without_rows_says_so():
    explained = BayesClassifier(Normal()).fit([[0.0], [1.0]], ["a", "b"]).explain(np.empty((0, 1)))
    with pytest.raises(ValueError, match=r"there is no row 0; no rows were explained\.$"):
        explained.describe()


@pytest.mark.parametrize("document", ["a", None, 1.5, 1])
def test_a_document_that_was_not_explained_is_refused(document):
    explained = TextClassifier().fit(["good", "bad"], ["+", "-"]).explain(["good"])
    with pytest.raises(IndexError, match=r"there is no document .*; 1 document was explained\.$"):
        explained.describe(document)


def test_one_of_a_kind_is_singular():
    model = BayesClassifier({0: Categorical()}).fit([["x"], ["x"]], [0, 0])
    assert repr(model.explain([["x"]])).startswith("Explanation of 1 row × 1 column × 1 class\n")
    text = TextClassifier().fit(["good"], ["+"])
    assert repr(text.explain(["good"])).startswith("TextExplanation of 1 document × 1 class\n")
