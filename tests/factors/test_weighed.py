"""A factor of weighed evidence scores the weight of each column times what the column says."""

import numpy as np
import pandas as pd
import pytest

import suffice
import suffice.tables.table
from suffice import families
from suffice.factors.scores import Scores
from suffice.factors.weighed import WeighedFactor, weighed

RNG = np.random.default_rng(0)
N = 80
Y = RNG.integers(0, 3, N)
SIGNS = {
    "positive": [0.3, 1.7],
    "of both signs": [-0.4, 2.0],
    "one of them 0": [0.0, 0.5],
    "equal": [0.7, 0.7],
}
CELLS = {
    "Normal": (families.Normal(), lambda: RNG.normal(Y, 1.0)),
    "Normal far away": (families.Normal("shared"), lambda: 1e9 + RNG.normal(Y, 1.0)),
    "Gamma": (families.Gamma(), lambda: RNG.gamma(1.0 + Y)),
    "Gamma smooth": (families.Gamma(unseen="smooth"), lambda: RNG.gamma(1.0 + Y)),
    "LogNormal": (families.LogNormal(), lambda: np.exp(RNG.normal(Y, 1.0))),
    "Beta": (families.Beta(), lambda: RNG.beta(1.0 + Y, 2.0)),
    "VonMises": (families.VonMises(), lambda: RNG.vonmises(Y - 1.0, 1.0)),
    "Poisson": (families.Poisson(), lambda: RNG.poisson(1.0 + Y) * 1.0),
    "large counts": (families.Poisson(), lambda: RNG.poisson(1e7 + 1e4 * Y) * 1.0),
    "NegativeBinomial": (
        families.NegativeBinomial(3.0),
        lambda: RNG.negative_binomial(3, 0.2 + 0.2 * Y) * 1.0,
    ),
    "Bernoulli": (families.Bernoulli(), lambda: (RNG.random(N) < 0.2 + 0.2 * Y) * 1.0),
    "Categorical": (families.Categorical(), lambda: RNG.integers(0, 3, N) + 1.0 * (Y > 1)),
    "Categorical smooth": (families.Categorical(unseen="smooth"), lambda: RNG.integers(0, 3, N) * 1.0),
    "Steps": (families.Steps(), lambda: RNG.normal(Y, 1.0)),
    "Histogram": (families.Histogram(8), lambda: RNG.normal(Y, 1.0)),
    "Hurdle": (
        families.Hurdle(families.Gamma()),
        lambda: np.where(RNG.random(N) < 0.3, 0.0, RNG.gamma(1.0 + Y)),
    ),
}


@pytest.fixture(params=CELLS)
def solved(request):
    """A solved factor of two columns, and cells of them with gaps and a value that is never seen."""
    family, draw = CELLS[request.param]
    train = pd.DataFrame({"one": draw(), "two": draw()})
    model = suffice.BayesClassifier(family).fit(train, Y)._solved_model()
    rows = train.mask(np.random.default_rng(1).random(train.shape) < 0.2)
    rows.loc[3, "one"] = rows["one"].min() - 77.5
    (factor,) = model.factors
    (block,) = model.schema.blocks(model.schema.read(suffice.tables.table.read_table(rows)))
    return factor, block, model.factor_labels[0]


def scores_of(factor, block, labels):
    scores = Scores(np.zeros((N, 3)))
    factor.add_scores(block, labels, scores, base=False)
    return scores.comparable()


def without_common(scores):
    return scores - scores.mean(axis=1, keepdims=True)


def at_most(nats, cells):
    """Evidence below the highest of each cell, and no lower than that."""
    return np.maximum(cells - cells.max(axis=-1, keepdims=True), -nats)


@pytest.mark.parametrize("most", [0.5, 1e9])
@pytest.mark.parametrize("by", SIGNS)
def test_scores_are_weights_times_what_the_columns_say_within_the_bound(solved, by, most):
    factor, block, labels = solved
    by = np.array(SIGNS[by])
    cells = at_most(most, factor.contributions(block, labels, base=False)) * by[:, np.newaxis]
    for one in (weighed(factor, by, most), WeighedFactor(factor, by, most)):
        found = scores_of(one, block, labels)
        np.testing.assert_allclose(without_common(found), without_common(cells.sum(axis=1)), atol=1e-8)
        found = one.contributions(block, labels, base=False)
        np.testing.assert_allclose(found, cells, rtol=1e-9, atol=1e-8)


def test_no_cell_says_more_than_the_bound(solved):
    factor, block, labels = solved
    found = weighed(factor, np.ones(2), 0.25).contributions(block, labels, base=False)
    assert np.ptp(found, axis=2).max() <= 0.25 + 1e-12


def test_some_columns_of_a_weighed_factor_keep_their_weights(solved):
    factor, block, labels = solved
    by = np.array([0.3, -1.7])
    whole = WeighedFactor(factor, by, 5.0).contributions(block, labels, base=False)
    part = WeighedFactor(factor, by, 5.0).take_columns(np.array([1]))
    np.testing.assert_array_equal(part.by, by[1:])
    if not isinstance(block, np.ndarray):  # levels are not sliced by column
        return
    cells = part.contributions(block[:, 1:], labels[1:], base=False)
    np.testing.assert_allclose(cells[:, 0], whole[:, 1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("most", [0.5, 1e9])
@pytest.mark.parametrize("weight", [0.4, -0.4])
def test_a_joint_gaussian_is_bounded_and_weighed_as_one(weight, most):
    X = RNG.normal(Y[:, np.newaxis], 1.0, (N, 3))
    X[5, 1] = np.nan
    model = suffice.GaussianDiscriminant("full").fit(X, Y)._solved_model()
    (factor,), (labels,) = model.factors, model.factor_labels
    expected = weight * at_most(most, scores_of(factor, X, labels))
    one = weighed(factor, np.full(3, weight), most)
    np.testing.assert_allclose(scores_of(one, X, labels), expected, atol=1e-9)
    cells = one.contributions(X, labels, base=False)
    np.testing.assert_allclose(without_common(cells.sum(axis=1)), without_common(expected), atol=1e-9)
    assert not cells[5, 1].any()
