"""The least value is found whatever is known of the Hessian."""

import numpy as np
import pytest
from scipy.optimize import minimize

from suffice.model.weighing.quasi_newton import minimise


def smooth(seed=0, d=6):
    """Σ log cosh of a few directions, and a ridge: convex, with a Hessian that changes."""
    rng = np.random.default_rng(seed)
    directions, shift = 3.0 * rng.normal(size=(20, d)), rng.normal(size=20)
    last = [np.zeros(d)]

    def at(x):
        last[0] = x
        u = directions @ x - shift
        value = np.sum(np.logaddexp(u, -u)) + 0.05 * x @ x
        return float(value), directions.T @ np.tanh(u) + 0.1 * x

    def hessian():
        u = directions @ last[0] - shift
        curved = directions.T @ ((1.0 - np.tanh(u) ** 2)[:, np.newaxis] * directions) + 0.1 * np.eye(d)
        return lambda slope: np.linalg.solve(curved, slope)

    return at, hessian, d


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("known", ["nothing", "a guess", "a rough guess", "the Hessian"])
def test_the_least_value_is_that_of_a_generic_solver(seed, known):
    at, hessian, d = smooth(seed)
    best = minimize(at, np.zeros(d), jac=True, method="BFGS", options={"gtol": 1e-9})
    guess = (lambda slope: 0.01 * slope) if "guess" in known else None
    exact = hessian if known == "the Hessian" else None
    found = minimise(at, np.zeros(d), 1e-14, guess, exact, rough=known == "a rough guess")
    np.testing.assert_allclose(found, best.x, atol=1e-6)


def test_a_hessian_that_misleads_is_computed_anew():
    at, hessian, d = smooth(1)
    asked = []

    def counted():
        asked.append(1)
        return hessian()

    found = minimise(at, 5.0 * np.ones(d), 1e-14, lambda slope: 1e-4 * slope, counted)
    assert asked
    np.testing.assert_allclose(at(found)[1], 0.0, atol=1e-5)


def test_a_hessian_that_is_known_is_not_computed():
    curved = np.diag([1.0, 10.0, 1000.0])

    def at(x):
        return float(0.5 * x @ curved @ x), curved @ x

    def never():
        raise AssertionError

    found = minimise(at, np.ones(3), 1e-20, lambda slope: np.linalg.solve(curved, slope), never)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


@pytest.mark.parametrize("rough", [False, True])
def test_functions_are_searched_at_once_as_each_alone(rough):
    each = [smooth(seed) for seed in range(4)]
    starts = np.linspace(-1.0, 1.0, 4)[:, np.newaxis] * np.ones(each[0][2])

    def at(points):
        values, slopes = zip(*(one[0](point) for one, point in zip(each, points, strict=True)), strict=True)
        return np.array(values), np.stack(slopes)

    together = minimise(at, starts, np.full(4, 1e-14), lambda slope: 0.01 * slope, None, rough=rough)
    for (alone, _, _), start, found in zip(each, starts, together, strict=True):
        best = minimise(alone, start, 1e-14, lambda slope: 0.01 * slope, None, rough=rough)
        np.testing.assert_allclose(found, best, atol=1e-6)


def test_a_rough_guess_is_used_once_for_each_slope():
    at, _, d = smooth(2)
    slopes, solves = [], []

    def counted(x):
        slopes.append(x)
        return at(x)

    def guess(slope):
        solves.append(slope)
        return 0.01 * slope

    found = minimise(counted, np.zeros(d), 1e-14, guess, None, rough=True)
    np.testing.assert_allclose(at(found)[1], 0.0, atol=1e-5)
    assert len(solves) <= len(slopes)
