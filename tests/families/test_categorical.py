"""Categorical: its levels are numbers 0, 1, … and its statistics their indicators."""

import numpy as np

from suffice.families import Categorical

FAMILY = Categorical()
ORIGIN = np.zeros(())


def test_the_mean_is_the_share_of_each_level():
    mean = FAMILY.statistics(np.array([0, 2, 2, 1])).mean(axis=1)
    np.testing.assert_array_equal(mean, [0.25, 0.25, 0.5])
    natural = FAMILY.natural_from_mean(mean, ORIGIN)
    np.testing.assert_allclose(FAMILY.mean_from_natural(natural, ORIGIN), mean, 1e-15)


def test_the_density_is_the_probability_of_the_level_and_zero_elsewhere():
    natural = np.log([0.2, 0.5, 0.3]) + 4.0
    density = np.exp(FAMILY.log_density(np.array([0, 1, 2, 3, -1, 0.5]), natural))
    np.testing.assert_allclose(density, [0.2, 0.5, 0.3, 0, 0, 0], 1e-14)


def test_levels_without_weight_have_probability_zero():
    natural = FAMILY.natural_from_mean(np.array([0.0, 1.0]), ORIGIN)
    np.testing.assert_array_equal(FAMILY.log_density(np.array([0, 1]), natural), [-np.inf, 0.0])


def test_the_sample_has_the_shares_of_the_levels():
    natural = np.log([[0.2], [0.5], [0.3]]) + np.zeros(20_000)
    share = FAMILY.statistics(FAMILY.sample(natural, ORIGIN, np.random.default_rng(0))).mean(axis=1)
    np.testing.assert_allclose(share, [0.2, 0.5, 0.3], atol=5 * np.sqrt(0.25 / 20_000))


def test_smoothing_adds_alpha_to_each_level():
    mean = np.array([[0.0], [1.0]])
    np.testing.assert_allclose(FAMILY.smooth(mean, np.array([3.0]), mean), [[1 / 5], [4 / 5]])
    np.testing.assert_allclose(FAMILY.smooth(mean, np.array([0.0]), mean), [[0.5], [0.5]])
