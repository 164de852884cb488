"""A value that repeats far beyond a density is found; the values of densities and counts are not."""

import numpy as np
import pytest

from suffice.model.inference.repeated import repeated_value

N = 2000
DENSITIES = {
    "Normal": lambda rng: rng.normal(size=N),
    "Normal, one decimal": lambda rng: rng.normal(size=N).round(1),
    "Normal, mostly 0": lambda rng: rng.normal(0.0, 0.3, N).round(),
    "LogNormal, one decimal": lambda rng: rng.lognormal(size=N).round(1),
    "LogNormal, heavy tail": lambda rng: rng.lognormal(0.0, 2.0, N).round(),
    "Exponential": lambda rng: rng.exponential(size=N).round(1),
    "uniform": lambda rng: rng.integers(0, 10, N),
    "Student t": lambda rng: rng.standard_t(2, N).round(1),
    "Poisson, mostly 0": lambda rng: rng.poisson(0.05, N),
    "Poisson": lambda rng: rng.poisson(9.0, N),
    "Geometric, mostly 1": lambda rng: rng.geometric(0.9, N),
    "Binomial, mostly 0": lambda rng: rng.binomial(5, 0.02, N),
    "flags": lambda rng: rng.random(N) < 0.01,
    "rounded to fives by half of the people": lambda rng: np.where(
        rng.random(N) < 0.5, 5.0 * rng.normal(14.0, 2.0, N).round(), rng.normal(70.0, 10.0, N).round()
    ),
}
REPEATED = {
    "amounts, often 0": (0.0, lambda rng: np.where(rng.random(N) < 0.3, 0.0, rng.lognormal(size=N))),
    "amounts, rarely 0": (0.0, lambda rng: np.where(rng.random(N) < 0.05, 0.0, rng.lognormal(size=N))),
    "rounded amounts": (0.0, lambda rng: np.where(rng.random(N) < 0.6, 0.0, rng.gamma(4.0, size=N).round(1))),
    "0 in the middle": (0.0, lambda rng: np.where(rng.random(N) < 0.2, 0.0, rng.normal(size=N))),
    "ages, 999 for unknown": (
        999.0,
        lambda rng: np.where(rng.random(N) < 0.03, 999.0, rng.normal(40.0, 12.0, N).round()),
    ),
    "counts, −1 for unknown": (-1.0, lambda rng: np.where(rng.random(N) < 0.4, -1.0, rng.poisson(5.0, N))),
    "readings up to a limit": (2.0, lambda rng: np.minimum(rng.exponential(size=N), 2.0)),
    "few rows": (0.0, lambda rng: np.where(np.arange(120) < 40, 0.0, rng.lognormal(size=120))),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_no_value_of_a_density_or_of_counts_repeats_too_often(name):
    for seed in range(20):
        cells = DENSITIES[name](np.random.default_rng(seed))
        assert repeated_value(*np.unique(cells, return_counts=True)) is None


@pytest.mark.parametrize("name", REPEATED)
def test_a_value_that_repeats_beyond_a_density_is_found(name):
    value, draw = REPEATED[name]
    for seed in range(20):
        cells = draw(np.random.default_rng(seed))
        assert repeated_value(*np.unique(cells, return_counts=True)) == value


def test_after_one_value_is_taken_out_the_next_is_found():
    rng = np.random.default_rng(0)
    cells = rng.lognormal(size=N)
    cells[:600], cells[600:800] = 0.0, -1.0
    values, counts = np.unique(cells, return_counts=True)
    assert repeated_value(values, counts) == 0.0
    assert repeated_value(values[values != 0.0], counts[values != 0.0]) == -1.0


def test_the_order_of_the_values_does_not_matter():
    value, draw = REPEATED["ages, 999 for unknown"]
    values, counts = np.unique(draw(np.random.default_rng(0)), return_counts=True)
    order = np.random.default_rng(1).permutation(len(values))
    assert repeated_value(values[order], counts[order]) == value


@pytest.mark.parametrize("n_values", [0, 1, 2, 3])
def test_few_values_give_none(n_values):
    assert repeated_value(np.arange(float(n_values)), np.full(n_values, 50)) is None
