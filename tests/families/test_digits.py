"""From data to the density: statistics about an origin → natural parameters → log p, against 90 digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mp

from suffice.families import Beta, Gamma, InverseGaussian, Normal, Poisson, VonMises


def fitted_scores(family, x):
    """Log densities of the rows under the fit to them, scored about the fitted origin."""
    origin = np.asarray(x[0])
    mean = family.statistics(x, origin).mean(axis=1)
    assert not family.boundary(mean, origin)
    centre = family.origin_from_mean(mean, origin)
    about_centre = family.statistics(x, centre).mean(axis=1)
    natural = family.natural_from_mean(about_centre, centre)
    return family.log_density(x, natural, centre), family.conventional(
        family.natural_from_mean(mean, origin), origin
    )


def exact_sum(values):
    return mpmath.fsum(values) / len(values)


def gamma_shape(gap):
    return mpmath.findroot(lambda a: mpmath.log(a) - mpmath.digamma(a) - gap, 1 / (2 * gap), tol=1e-60)


def test_a_normal_keeps_its_digits_at_offset_1e9():
    x = 1e9 + np.random.default_rng(0).standard_normal(500)
    exact = [mpmath.mpf(v) for v in x]
    mean = exact_sum(exact)
    variance = exact_sum([(v - mean) ** 2 for v in exact])
    expected = [
        float(-((v - mean) ** 2) / (2 * variance) - mpmath.log(2 * mp.pi * variance) / 2) for v in exact
    ]
    scores, conventional = fitted_scores(Normal(), x)
    assert float(conventional["variance"]) == pytest.approx(float(variance), rel=1e-13)
    np.testing.assert_allclose(scores, expected, 1e-8)


def test_a_gamma_keeps_its_digits_with_mean_1e6_and_deviation_1():
    x = 1e6 + np.random.default_rng(0).standard_normal(200)
    exact = [mpmath.mpf(v) for v in x]
    mean = exact_sum(exact)
    shape = gamma_shape(mpmath.log(mean) - exact_sum([mpmath.log(v) for v in exact]))
    rate = shape / mean
    expected = [
        float(shape * mpmath.log(rate) + (shape - 1) * mpmath.log(v) - rate * v - mpmath.loggamma(shape))
        for v in exact
    ]
    scores, conventional = fitted_scores(Gamma(), x)
    assert float(conventional["shape"]) == pytest.approx(float(shape), rel=1e-8)
    np.testing.assert_allclose(scores, expected, 1e-8)


def test_an_inverse_gaussian_keeps_its_digits_with_mean_1e6_and_deviation_1():
    x = 1e6 + np.random.default_rng(0).standard_normal(200)
    exact = [mpmath.mpf(v) for v in x]
    mean = exact_sum(exact)
    shape = 1 / (exact_sum([1 / v for v in exact]) - 1 / mean)
    expected = [
        float(mpmath.log(shape / (2 * mp.pi * v**3)) / 2 - shape * (v - mean) ** 2 / (2 * mean**2 * v))
        for v in exact
    ]
    scores, conventional = fitted_scores(InverseGaussian(), x)
    assert float(conventional["shape"]) == pytest.approx(float(shape), rel=1e-8)
    np.testing.assert_allclose(scores, expected, 1e-8)


@pytest.mark.parametrize("middle, deviation", [(0.3, 1e-6), (1e-6, 1e-11), (1e-4, 3e-5)])
def test_a_beta_keeps_its_digits_when_its_data_are_close(middle, deviation):
    x = middle + deviation * np.random.default_rng(0).uniform(-1, 1, 200)
    exact = [mpmath.mpf(v) for v in x]
    logs = exact_sum([mpmath.log(v) for v in exact]), exact_sum([mpmath.log1p(-v) for v in exact])

    def equations(a, b):
        both = mpmath.digamma(a + b)
        return mpmath.digamma(a) - both - logs[0], mpmath.digamma(b) - both - logs[1]

    scores, conventional = fitted_scores(Beta(), x)
    start = tuple(mpmath.mpf(float(v)) for v in conventional.values())
    a, b = mpmath.findroot(equations, start, tol=1e-80, maxsteps=50)
    expected = [
        float(
            (a - 1) * mpmath.log(v)
            + (b - 1) * mpmath.log1p(-v)
            + (mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b))
        )
        for v in exact
    ]
    np.testing.assert_allclose([float(v) for v in conventional.values()], [float(a), float(b)], 1e-8)
    np.testing.assert_allclose(scores, expected, 1e-8)


def test_a_von_mises_keeps_its_digits_when_its_angles_are_close():
    x = 2.0 + 1e-6 * np.random.default_rng(0).standard_normal(200)
    exact = [mpmath.mpf(v) for v in x]
    cos, sin = exact_sum([mpmath.cos(v) for v in exact]), exact_sum([mpmath.sin(v) for v in exact])
    length, direction = mpmath.hypot(cos, sin), mpmath.atan2(sin, cos)
    gap = 1 - length
    # 1 − I₁/I₀ = 1/2κ + 1/8κ² + 1/8κ³ + …
    kappa = mpmath.findroot(
        lambda k: 1 / (2 * k) + 1 / (8 * k**2) + 1 / (8 * k**3) - gap, 1 / (2 * gap), tol=1e-70
    )
    log_bessel = mpmath.log(mpmath.besseli(0, kappa))
    expected = [float(kappa * mpmath.cos(v - direction) - mpmath.log(2 * mp.pi) - log_bessel) for v in exact]
    scores, conventional = fitted_scores(VonMises(), x)
    assert float(conventional["concentration"]) == pytest.approx(float(kappa), rel=1e-8)
    np.testing.assert_allclose(scores, expected, 1e-8)


@pytest.mark.parametrize("family", [Gamma(), Beta()], ids=repr)
def test_an_origin_far_below_the_mean_overflows_nothing(family):
    natural, near, far = (
        np.array([-0.01 if family.name == "Gamma" else 0.01, 0.02]),
        np.array(0.3),
        np.array(1e-300),
    )
    x = np.array([1e-200, 1e-5, 0.7])
    found = family.log_density(x, natural, far)
    np.testing.assert_allclose(found, family.log_density(x, natural, near), 1e-12)
    mean = family.mean_from_natural(natural, far)
    np.testing.assert_allclose(family.natural_from_mean(mean, far), natural, 1e-9)


@pytest.mark.parametrize("mean", [1e3, 1e5, 1e6])
def test_the_entropy_of_large_counts_tends_to_a_normals(mean):
    entropy = float(Poisson().entropy(np.log([mean])))
    expected = 0.5 * np.log(2 * np.pi * np.e * mean) - 1 / (12 * mean)
    assert entropy == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("family", [Normal(), Gamma(), InverseGaussian(), Beta(), VonMises()], ids=repr)
@pytest.mark.parametrize("origin", [0.3, 0.25, 0.9])
def test_equal_values_lie_on_the_boundary_about_any_origin(family, origin):
    x = np.full(7, 0.3)
    mean = family.statistics(x, origin).mean(axis=1)
    assert family.boundary(mean, np.asarray(origin))


@pytest.mark.parametrize("family", [Normal(), Gamma(), InverseGaussian(), Beta(), VonMises()], ids=repr)
def test_two_close_values_do_not_lie_on_the_boundary(family):
    x = np.array([0.3, 0.3 + 1e-9])
    mean = family.statistics(x, x[0]).mean(axis=1)
    assert not family.boundary(mean, np.asarray(x[0]))


@pytest.mark.parametrize(
    "family", [Gamma("shared"), InverseGaussian("shared"), Normal("shared", alpha=0.0)], ids=repr
)
def test_a_shared_dispersion_keeps_each_mean_and_averages_the_dispersion(family):
    rng = np.random.default_rng(5)
    samples = [rng.gamma(3.0, 2.0, 50), rng.gamma(30.0, 1.0, 70)]
    origin = np.array([[1.5], [25.0]])
    mean = np.stack(
        [family.statistics(x, c[0]).mean(axis=1) for x, c in zip(samples, origin, strict=True)], axis=1
    )
    mean = mean[:, :, np.newaxis]
    weight = np.array([[50.0], [70.0]])
    shared = family.shared(mean, weight, origin)
    counts = weight + family.alpha
    dispersion = family.dispersion_from_mean(shared, origin)
    average = np.sum(counts * family.dispersion_from_mean(mean, origin)) / counts.sum()
    np.testing.assert_allclose(dispersion, np.full((2, 1), average), 1e-12)
    np.testing.assert_allclose(shared[0], mean[0])
    if not isinstance(family, Normal):
        shapes = family.conventional(family.natural_from_mean(shared, origin), origin)["shape"]
        np.testing.assert_allclose(shapes[0], shapes[1], 1e-11)


@pytest.mark.parametrize("a", [1e-3, 1e-2, 1.0, 50.0, 1e4, 1e10])
@pytest.mark.parametrize("b", [1e-3, 1e-2, 1.0, 50.0, 1e4, 3e10])
def test_beta_is_solved_for_every_pair_of_sizes(a, b):
    family = Beta()
    natural = np.array([a, b])
    origin = np.clip(a / (a + b), 0.0, np.nextafter(1.0, 0.0))
    mean = family.mean_from_natural(natural, origin)
    np.testing.assert_allclose(family.natural_from_mean(mean, origin), natural, 1e-8)


@pytest.mark.parametrize(
    "log_kappa, away",
    # An origin two radians from close data holds no digits of their spread.
    [(k, away) for k in range(-8, 13) for away in (0.0, 1e-7, 2.0) if away < 2 or k <= 6],
)
def test_von_mises_is_solved_for_every_concentration(log_kappa, away):
    family, kappa = VonMises(), 10.0**log_kappa
    natural = kappa * np.array([np.cos(away), np.sin(away)])
    mean = family.mean_from_natural(natural, np.asarray(0.0))
    # A mean resultant length R is held to 10⁻¹⁶, so small concentrations to 2·10⁻¹⁶.
    np.testing.assert_allclose(
        family.natural_from_mean(mean, np.asarray(0.0)), natural, 1e-8, 1e-15 * max(kappa, 1.0)
    )


def test_angles_all_around_are_uniform():
    family = VonMises()
    natural = family.natural_from_mean(np.array([-1.0, 0.0]), np.asarray(0.0))
    np.testing.assert_array_equal(natural, [0.0, 0.0])
    assert float(family.log_density(1.0, natural, 0.0)) == pytest.approx(-np.log(2 * np.pi))
    np.testing.assert_array_equal(family.mean_from_natural(natural, np.asarray(0.0)), [-1.0, 0.0])


def test_the_direction_of_a_von_mises_is_wrapped():
    family = VonMises()
    direction = family.conventional(np.array([1.0, 0.0]), np.array(7.0))["direction"]
    assert float(direction) == pytest.approx(7.0 - 2 * np.pi)
    assert float(family.conventional(np.array([-1.0, 0.0]), np.array(0.0))["direction"]) == np.pi
