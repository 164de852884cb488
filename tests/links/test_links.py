"""Links: inverses, slopes, tails."""

import mpmath
import numpy as np
import pytest

from suffice import links
from suffice.families import FAMILIES

SCALAR = {
    "logistic": (links.logistic, links.logit, links.logistic_slope),
    "probit": (links.probit, links.probit_inverse, links.probit_slope),
    "scaled_probit": (links.scaled_probit, links.scaled_probit_inverse, links.scaled_probit_slope),
}
EACH = pytest.mark.parametrize("name", SCALAR)


@EACH
def test_the_inverse_undoes_the_link(name):
    link, inverse, _ = SCALAR[name]
    a = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(inverse(link(a)), a, atol=1e-9)
    np.testing.assert_allclose(
        link(inverse(np.linspace(0.01, 0.99, 41))), np.linspace(0.01, 0.99, 41), rtol=1e-12
    )


@EACH
def test_the_slope_is_the_derivative(name):
    link, _, slope = SCALAR[name]
    a = np.linspace(-6, 6, 61)
    np.testing.assert_allclose(slope(a), (link(a + 1e-5) - link(a - 1e-5)) / 2e-5, atol=1e-10)


@EACH
def test_a_link_and_its_reflection_sum_to_one(name):
    link, *_ = SCALAR[name]
    a = np.linspace(-30, 30, 61)
    np.testing.assert_allclose(link(a) + link(-a), 1.0, rtol=1e-15)


@EACH
def test_nothing_overflows_far_out(name):
    link, _, slope = SCALAR[name]
    far = np.array([-1e300, -800.0, 800.0, 1e300])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        y, dy = link(far), slope(np.clip(far, -1e150, 1e150))
    np.testing.assert_allclose(y, [0, 0, 1, 1], atol=1e-300)
    assert np.isfinite(dy).all()


@EACH
def test_a_certain_probability_has_an_infinite_score(name):
    assert SCALAR[name][1]([0.0, 1.0]).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("a", [-800.0, -37.5, -1.0, 0.0, 2.0, 40.0, 800.0])
def test_logarithms_have_all_digits_in_the_tails(a):
    with mpmath.workdps(60):
        logistic = -mpmath.log1p(mpmath.exp(-mpmath.mpf(a)))
        probit = mpmath.log(mpmath.ncdf(mpmath.mpf(a)))
        assert links.log_logistic(a) == pytest.approx(float(logistic), rel=1e-13, abs=0)
        assert links.log_probit(a) == pytest.approx(float(probit), rel=1e-12, abs=0)
        assert links.logistic(a) == pytest.approx(float(mpmath.exp(logistic)), rel=1e-13, abs=0)


def test_the_scaled_probit_has_the_slope_of_the_logistic_at_zero_and_stays_near_it():
    assert links.scaled_probit_slope(0.0) == pytest.approx(0.25, rel=1e-15)
    a = np.linspace(-20, 20, 4001)
    assert np.abs(links.scaled_probit(a) - links.logistic(a)).max() < 0.0178


def test_softmax_and_its_inverse():
    a = np.array([[1.0, 2.0, -3.0], [800.0, -800.0, 0.0], [0.0, 0.0, 0.0]])
    y = links.softmax(a)
    np.testing.assert_allclose(y.sum(axis=1), 1.0)
    np.testing.assert_allclose(links.softmax(links.softmax_inverse(y[[0, 2]])), y[[0, 2]])
    np.testing.assert_allclose(links.softmax([1.0, 1.0]), [0.5, 0.5])
    assert y[1].tolist() == [1.0, 0.0, 0.0]


def test_a_class_that_is_impossible_has_the_score_minus_infinity():
    np.testing.assert_array_equal(links.softmax_inverse([1.0, 0.0]), [0.0, -np.inf])
    a = links.softmax_inverse([[0.2, 0.0, 0.8], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(links.softmax(a), [[0.2, 0.0, 0.8], [0.2, 0.3, 0.5]])
    assert a[0, [0, 2]].sum() == pytest.approx(0.0)


@pytest.mark.filterwarnings("error")
def test_the_slope_of_probit_is_nothing_far_out():
    assert links.probit_slope([-1e200, 800.0]).tolist() == [0.0, 0.0]


def test_the_slope_of_softmax_is_its_derivative():
    a = np.array([0.3, -1.0, 2.0, 0.0])
    numeric = [(links.softmax(a + h) - links.softmax(a - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(links.softmax_slope(a), np.transpose(numeric), atol=1e-9)


def test_softmax_of_two_classes_is_logistic():
    a = np.linspace(-9, 9, 13)
    np.testing.assert_allclose(links.softmax(np.column_stack([np.zeros(13), a]))[:, 1], links.logistic(a))


ONE_STATISTIC = {
    "Bernoulli": (FAMILIES["Bernoulli"](), [-3.0, 0.4], np.arange(2.0)),
    "Poisson": (FAMILIES["Poisson"](), [-1.0, 1.5], np.arange(80.0)),
    "Geometric": (FAMILIES["Geometric"](), [-2.0, -0.3], np.arange(300.0)),
    "Binomial": (FAMILIES["Binomial"](7), [-1.0, 2.0], np.arange(8.0)),
    "NegativeBinomial": (FAMILIES["NegativeBinomial"](2.5), [-2.0, -0.3], np.arange(400.0)),
    "Exponential": (FAMILIES["Exponential"](), [-2.0, -0.5], (np.arange(2**18) + 0.5) * 2.0**-12),
}


@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("name", ONE_STATISTIC)
def test_the_mean_under_the_canonical_link_is_minus_s_d_ln_g_by_d_eta(name, scale):
    # p(t | η, s) = (1/s)·h(t/s)·g(η)·exp(ηt/s): t/s is u(x), and ln g = −A.
    family, natural, x = ONE_STATISTIC[name]
    origin = np.asarray(family.default_origin)
    for eta in natural:
        at = np.array([eta])
        steps = np.array([eta + 1e-5]), np.array([eta - 1e-5])
        log_g = [-family.log_normalizer(step, origin) for step in steps]
        p = np.exp(family.log_density(x, at))
        t = scale * family.statistics(x)[0]
        mean = np.sum(p * t) / np.sum(p)
        assert -scale * (log_g[0] - log_g[1]) / 2e-5 == pytest.approx(mean, rel=1e-6)
        assert scale * family.mean_from_natural(at, origin)[0] == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9])
def test_the_canonical_link_of_a_bernoulli_is_the_logit(p):
    natural = FAMILIES["Bernoulli"]().natural_from_mean(np.array([p]), np.zeros(()))
    assert natural[0] == pytest.approx(float(links.logit(p)), rel=1e-12)
