"""The number of free parameters: the formulas of the course notes, K classes and M columns."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier, families

RNG = np.random.default_rng(0)
GRID = np.arange(-40, 41) / 8.0


def fitted(family, n_classes, n_columns):
    values = GRID[family.support(GRID)]
    X = RNG.choice(values, (40 * n_classes, n_columns))
    return BayesClassifier(families=family).fit(X, np.arange(len(X)) % n_classes)


@pytest.mark.parametrize("K, M", [(2, 1), (3, 4), (5, 2)])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_number_of_free_parameters_is_that_of_the_notes(K, M, alpha):
    formulas = {
        families.Normal(alpha=alpha): 2 * K * M + K - 1,
        families.Normal("shared", alpha=alpha): K * M + M + K - 1,
        families.LogNormal(alpha=alpha): 2 * K * M + K - 1,
        families.Gamma(alpha=alpha): 2 * K * M + K - 1,
        families.Gamma("shared", alpha=alpha): K * M + M + K - 1,
        families.InverseGaussian(alpha=alpha): 2 * K * M + K - 1,
        families.InverseGaussian("shared", alpha=alpha): K * M + M + K - 1,
        families.Beta(alpha=alpha): 2 * K * M + K - 1,
        families.VonMises(alpha=alpha): 2 * K * M + K - 1,
        families.Bernoulli(alpha=alpha): K * M + K - 1,
        families.Poisson(alpha=alpha): K * M + K - 1,
        families.Exponential(alpha=alpha): K * M + K - 1,
        families.Geometric(alpha=alpha): K * M + K - 1,
        families.NegativeBinomial(3, alpha=alpha): K * M + K - 1,
        families.Binomial(5, alpha=alpha): K * M + K - 1,
        families.Multinomial(alpha=alpha): K * (M - 1) + K - 1,
    }
    counted = {family: fitted(family, K, M).n_parameters_ for family in formulas}
    assert counted == formulas


@pytest.mark.parametrize("K", [2, 4])
def test_categories_count_their_levels_less_one(K):
    levels = (2, 3, 5)
    X = pd.DataFrame({f"c{L}": np.tile(np.arange(L), 120)[:120].astype(str) for L in levels})
    y = RNG.permutation(np.arange(120) % K)
    model = BayesClassifier().fit(X, y)
    assert model.n_parameters_ == K * sum(L - 1 for L in levels) + K - 1


def test_priors_that_are_given_are_not_parameters():
    X, y = RNG.normal(size=(60, 3)), np.arange(60) % 3
    estimated = BayesClassifier().fit(X, y).n_parameters_
    assert estimated == 2 * 3 * 3 + 2
    for priors in ("uniform", [0.2, 0.3, 0.5], {0: 0.2, 1: 0.3, 2: 0.5}):
        assert BayesClassifier(priors=priors).fit(X, y).n_parameters_ == estimated - 2
    assert BayesClassifier().fit(X, y).with_priors("empirical").n_parameters_ == estimated


def test_columns_of_different_families_add_up():
    X = pd.DataFrame({"x": RNG.normal(size=60), "n": RNG.poisson(3, 60), "t": RNG.choice(list("abc"), 60)})
    by_column = {"x": families.Normal(), "n": families.Poisson(), "t": families.Categorical()}
    model = BayesClassifier(families=by_column).fit(X, np.arange(60) % 2)
    assert model.n_parameters_ == 2 * 2 + 2 * 1 + 2 * 2 + 1


def test_columns_left_out_and_constant_columns_count_nothing():
    X = pd.DataFrame({"x": RNG.normal(size=60), "same": np.full(60, 2.5), "key": np.arange(60)})
    model = BayesClassifier().fit(X, np.arange(60) % 2)
    assert model.schema_["key"].family is None
    assert model.n_parameters_ == 2 * 2 + 1
