"""The model of some columns scores them as the whole model scores rows whose other cells are missing."""

import numpy as np
import pytest

from suffice import BayesClassifier, GaussianDiscriminant, families
from suffice.tables.table import read_table

N = 90
RNG = np.random.default_rng(2)
Y = np.arange(N) % 3
SHIFT = Y[:, np.newaxis]
NUMBERS = RNG.normal(SHIFT, 1.0 + SHIFT, (N, 4)) + np.array([0.0, 50.0, 1e6, -3.0])
GAPS = np.where(RNG.random((N, 4)) < 0.2, np.nan, NUMBERS)
POSITIVE = RNG.gamma(2.0 + SHIFT, 3.0, (N, 4))
COUNTS = RNG.binomial(6, 0.2 + 0.2 * SHIFT, (N, 4)).astype(float)
CONSTANT = np.where(np.arange(4) == 1, 7.0, NUMBERS)
POINTS = np.where((np.arange(4) == 3) & (SHIFT == 1), 7.0, NUMBERS)
TEXT = np.array(
    [["red fox", "one two", "a b c", "x"], ["blue sky", "two", "c d", "y"]] * (N // 2), dtype=object
)
TOGETHER = "counts beside numbers"
MODELS = {
    "Normal": (BayesClassifier("normal"), NUMBERS),
    "Normal with a constant column": (BayesClassifier("normal"), CONSTANT),
    "Normal with a point mass": (BayesClassifier(families.Normal(alpha=0)), POINTS),
    "Gamma": (BayesClassifier("gamma"), POSITIVE),
    "Poisson": (BayesClassifier("poisson"), COUNTS),
    "Bernoulli": (BayesClassifier("bernoulli"), (COUNTS > 1).astype(float)),
    "Categorical": (BayesClassifier(families.Categorical(alpha=0)), COUNTS),
    "Histogram": (BayesClassifier(families.Histogram(6)), NUMBERS),
    "Steps": (BayesClassifier(families.Steps()), NUMBERS),
    "Hurdle": (BayesClassifier(families.Hurdle(families.Gamma())), COUNTS),
    "Words": (BayesClassifier(families.Words()), TEXT),
    "two factors": (BayesClassifier({0: "gamma", 1: "poisson", 2: "gamma", 3: "poisson"}), COUNTS + 1.0),
    TOGETHER: (BayesClassifier({(0, 3): families.Multinomial(), (1, 2): "normal"}), COUNTS),
    "shared": (GaussianDiscriminant(), NUMBERS),
    "full": (GaussianDiscriminant("full"), NUMBERS),
    "groups": (GaussianDiscriminant([[0, 2], [1]]), NUMBERS),
    "full with gaps": (GaussianDiscriminant("full"), GAPS),
    "full with a constant column": (GaussianDiscriminant("full"), CONSTANT),
    "shrunk": (GaussianDiscriminant(shrinkage=0.4), NUMBERS),
}
CASES = [
    (name, columns)
    for name in MODELS
    for columns in [(0,), (1,), (1, 2), (0, 3), (0, 1, 3), (0, 1, 2, 3)]
    if name != TOGETHER or (0 in columns) == (3 in columns)
]


@pytest.mark.parametrize("name, columns", CASES)
def test_a_marginal_equals_the_model_with_the_other_cells_missing(name, columns):
    model, X = MODELS[name]
    model = model.fit(X, Y)
    marginal = model._marginal(columns)
    rows, part = np.full_like(X, None if X.dtype == object else np.nan), read_table(X[:, list(columns)])
    rows[:, list(columns)] = X[:, list(columns)]
    np.testing.assert_allclose(marginal.posteriors(part), model.predict_proba(rows), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(marginal.log_posteriors(part), model.predict_log_proba(rows), rtol=1e-9)
    joint = model.with_priors("uniform").predict_joint_log_proba(rows)
    np.testing.assert_allclose(marginal.log_densities(part), joint + np.log(3.0), rtol=1e-10)
    explained = model.explain(rows).contributions[:, list(columns)]
    np.testing.assert_allclose(marginal.contributions(part, base=True), explained, rtol=1e-10, atol=1e-12)
    separation = model.evidence()
    assert [column.name for column in marginal.schema] == list(columns)
    apart = marginal.separation(separation.container)
    np.testing.assert_allclose(apart.kl, separation.kl[list(columns)], rtol=1e-12)


def test_counts_of_one_multinomial_cannot_be_separated():
    model = BayesClassifier("multinomial").fit(COUNTS, Y)
    with pytest.raises(ValueError, match="the columns of a Multinomial block cannot be separated"):
        model._marginal([0, 1])


def test_a_marginal_names_the_column_of_a_cell_that_it_refuses():
    model = BayesClassifier(families.Poisson(unseen="error")).fit(COUNTS, Y)
    with pytest.raises(ValueError, match=r"column 2.*-1"):
        model._marginal([2]).posteriors(read_table(np.array([[-1.0]])))
