"""Contributions add up to what each model calls its joint score, and a column's is what it alone says."""

import numpy as np
import pytest
from scipy import sparse

from suffice import (
    BayesClassifier,
    GaussianDiscriminant,
    LogisticRegression,
    ProbitRegression,
    TextClassifier,
    dropin,
    families,
)

N = 60
RNG = np.random.default_rng(4)
Y = RNG.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
SHIFT = np.searchsorted(["a", "b", "c"], Y)[:, np.newaxis]
ROWS = {
    "numbers": RNG.normal(SHIFT, 1.0 + SHIFT, (N, 3)) + np.array([0.0, 50.0, 1e6]),
    "positive": RNG.gamma(2.0 + SHIFT, 3.0, (N, 3)),
    "shares": RNG.beta(2.0 + SHIFT, 2.0, (N, 3)),
    "angles": RNG.vonmises(SHIFT, 1.0, (N, 3)),
    "counts": RNG.binomial(6, 0.2 + 0.2 * SHIFT, (N, 3)).astype(float),
    "zeros": RNG.gamma(2.0 + SHIFT, 3.0, (N, 3)) * (RNG.random((N, 3)) < 0.3 + 0.2 * SHIFT),
    "flags": (RNG.random((N, 3)) < 0.2 + 0.3 * SHIFT).astype(float),
}

COLUMNS = {
    "Normal": (families.Normal(), "numbers"),
    "Normal shared": (families.Normal("shared"), "numbers"),
    "Normal, alpha=0": (families.Normal(alpha=0), "numbers"),
    "Histogram": (families.Histogram(), "numbers"),
    "Steps": (families.Steps(), "numbers"),
    "Hurdle": (families.Hurdle(families.Gamma()), "zeros"),
    "Hurdle, alpha=0": (families.Hurdle(families.LogNormal(alpha=0), alpha=0), "zeros"),
    "LogNormal": (families.LogNormal(), "positive"),
    "Gamma": (families.Gamma(), "positive"),
    "Exponential": (families.Exponential(), "positive"),
    "InverseGaussian": (families.InverseGaussian(), "positive"),
    "Beta": (families.Beta(), "shares"),
    "VonMises": (families.VonMises(), "angles"),
    "Poisson": (families.Poisson(), "counts"),
    "Geometric": (families.Geometric(), "counts"),
    "NegativeBinomial": (families.NegativeBinomial(r=2.0), "counts"),
    "Binomial": (families.Binomial(n=6), "counts"),
    "Categorical": (families.Categorical(), "counts"),
    "Categorical, alpha=0": (families.Categorical(alpha=0), "counts"),
    "Bernoulli": (families.Bernoulli(), "flags"),
    "Bernoulli, alpha=0": (families.Bernoulli(alpha=0), "flags"),
}
BLOCKS = {
    "Multinomial": (BayesClassifier(families.Multinomial()), "counts"),
    "Multinomial, alpha=0": (BayesClassifier(families.Multinomial(alpha=0)), "counts"),
    "joint beside others": (
        BayesClassifier({(0, 1): families.MultivariateNormal("full"), 2: families.Histogram()}),
        "numbers",
    ),
    "full": (GaussianDiscriminant("full"), "numbers"),
    "shared": (GaussianDiscriminant("shared"), "numbers"),
    "groups": (GaussianDiscriminant([["a", "b"], ["c"]]), "numbers"),
    "isotropic": (GaussianDiscriminant("shared_isotropic"), "numbers"),
}
DROP_INS = {
    "GaussianNB": (dropin.GaussianNB(), "numbers"),
    "BernoulliNB": (dropin.BernoulliNB(), "flags"),
    "BernoulliNB, alpha=0": (dropin.BernoulliNB(alpha=0.0), "flags"),
    "CategoricalNB": (dropin.CategoricalNB(), "counts"),
    "CategoricalNB, alpha=0": (dropin.CategoricalNB(alpha=0.0), "counts"),
    "MultinomialNB": (dropin.MultinomialNB(), "counts"),
    "MultinomialNB, alpha=0": (dropin.MultinomialNB(alpha=0.0), "flags"),
    "MultinomialNB, alphas": (dropin.MultinomialNB(alpha=[0.5, 1.0, 0.0]), "counts"),
    "ComplementNB": (dropin.ComplementNB(), "counts"),
    "ComplementNB, norm": (dropin.ComplementNB(norm=True), "counts"),
    "ComplementNB, alpha=0": (dropin.ComplementNB(alpha=0.0), "flags"),
    "LDA": (dropin.LinearDiscriminantAnalysis(), "numbers"),
    "LDA, eigen": (dropin.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2), "positive"),
    "QDA": (dropin.QuadraticDiscriminantAnalysis(), "numbers"),
}
SCORED = {
    **{name: (BayesClassifier(family), rows) for name, (family, rows) in COLUMNS.items()},
    **BLOCKS,
    **DROP_INS,
}


def rare(rows):
    """Rows of which the first column holds one value in one class only, so that alpha = 0 rules it out."""
    X = ROWS[rows].copy()
    if rows in ("counts", "flags"):
        X[Y == "b", 0] = 0.0
    return X


def added(explained):
    return explained.prior + explained.contributions.sum(axis=1)


@pytest.mark.parametrize("name", SCORED)
def test_contributions_add_up_to_the_joint_score_and_the_posterior_is_that_of_the_model(name):
    model, rows = SCORED[name]
    X = rare(rows)
    model.fit(X, Y)
    explained = model.explain(X)
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(explained.total, joint, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(added(explained), joint, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(explained.posterior, model.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["Multinomial", "MultinomialNB", "ComplementNB", "BernoulliNB", "Normal"])
def test_contributions_of_sparse_rows_are_those_of_dense_ones(name):
    model, rows = SCORED[name]
    X = rare(rows)
    model.fit(X, Y)
    np.testing.assert_allclose(
        model.explain(sparse.csr_array(X)).contributions, model.explain(X).contributions, rtol=1e-12
    )


@pytest.mark.parametrize("name", COLUMNS)
def test_without_a_cell_the_score_lacks_its_contribution(name):
    family, rows = COLUMNS[name]
    X = ROWS[rows]
    model = BayesClassifier(family).fit(X, Y)
    explained = model.explain(X)
    for j in range(X.shape[1]):
        hidden = X.copy()
        hidden[:, j] = np.nan
        rest = np.delete(explained.contributions, j, axis=1).sum(axis=1) + explained.prior
        np.testing.assert_allclose(model.predict_joint_log_proba(hidden), rest, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", [*COLUMNS, *(name for name in BLOCKS if "Multinomial" not in name)])
def test_with_gaps_contributions_still_add_up(name):
    model, rows = SCORED[name]
    X = np.where(np.random.default_rng(1).random((N, 3)) < 0.3, np.nan, ROWS[rows])
    model.fit(X, Y)
    np.testing.assert_allclose(
        added(model.explain(X)), model.predict_joint_log_proba(X), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize(
    "event, alpha",
    [("multinomial", 1.0), ("multinomial", 0.0), ("bernoulli", 1.0), ("bernoulli", 0.0), ("complement", 1.0)],
)
def test_the_words_of_documents_add_up_to_the_joint_score(event, alpha):
    documents = ["good film", "bad bad film", "good fun", "an end", "film fun bad"]
    model = TextClassifier(event, alpha=alpha).fit(documents, ["+", "-", "+", "0", "-"])
    told = [*documents, "", "unknown words good"]
    explained = model.explain(told)
    joint = model.predict_joint_log_proba(told)
    np.testing.assert_allclose(explained.total, joint, rtol=1e-12, atol=1e-12)
    for document, expected in enumerate(joint):
        words = explained.words(document)[1].sum(axis=0)
        np.testing.assert_allclose(
            explained.prior + words + explained.rest(document), expected, rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize(
    "make",
    [LogisticRegression, ProbitRegression, dropin.LogisticRegression],
    ids=lambda make: make.__module__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_cells_of_a_regression_add_up_to_its_scores(make, classes):
    X, y = ROWS["numbers"][:, :2] / [1.0, 50.0], np.minimum(SHIFT[:, 0], classes - 1)
    model = make().fit(X, y)
    explained = model.explain(X)
    scores = model.decision_function(X)
    odds = added(explained)
    np.testing.assert_allclose(
        odds[:, 1] - odds[:, 0] if classes == 2 else odds, scores, rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(explained.posterior, model.predict_proba(X), rtol=1e-12)
