"""What every family promises, tested on one small record each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special, stats

from suffice import families

Parameters = tuple[float, ...]
"""The parameters people know, in the order of `conventional`."""


@dataclass(frozen=True)
class Record:
    family: families.Family
    natural: Callable[..., Any]
    """(parameters…, origin) → λ."""
    twin: Callable[..., Any]
    """Parameters… → the distribution in scipy.stats."""
    log_density: Callable[..., Any]
    """(x, origin, λ…) → log p(x) exactly, from the textbook."""
    examples: tuple[Parameters, ...]
    extremes: tuple[Parameters, ...] = ()
    origins: Callable[..., tuple[float, ...]] = lambda *_: (0.0,)
    """Parameters… → origins near and far; extremes are tested about the first one."""

    def array(self, parameters: Parameters, origin: float) -> np.ndarray:
        return np.array(self.natural(*parameters, origin), dtype=np.float64)

    def values(self, parameters: Parameters) -> np.ndarray:
        """Some x of the support, over its likely range."""
        x = np.unique(
            self.twin(*parameters).ppf([0.003, 0.1, 0.3, 0.5, 0.8, 0.99, 0.9999]).astype(np.float64)
        )
        return x[self.family.support(x)]


def log_normal(x, mean, precision):
    return mpmath.log(precision / (2 * mp.pi)) / 2 - precision * (x - mean) ** 2 / 2


def log_inverse_gaussian(x, c, linear, reciprocal):
    shape = -2 * c * reciprocal
    mean = mpmath.sqrt(c * reciprocal / linear)
    return mpmath.log(shape / (2 * mp.pi * x**3)) / 2 - shape * (x - mean) ** 2 / (2 * mean**2 * x)


def log_negative_binomial(x, r, log_failure):
    ways = mpmath.loggamma(x + r) - mpmath.loggamma(r) - mpmath.loggamma(x + 1)
    return ways + x * log_failure + r * mpmath.log(1 - mpmath.exp(log_failure))


def log_binomial(x, n, log_odds):
    ways = mpmath.loggamma(n + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(n - x + 1)
    return ways + x * log_odds - n * mpmath.log(1 + mpmath.exp(log_odds))


def negative_binomial(r: float, examples: tuple[Parameters, ...], extremes=()) -> Record:
    return Record(
        families.NegativeBinomial(r),
        natural=lambda mean, _p, _c: [-np.log1p(r / mean)],
        twin=lambda _mean, p: stats.nbinom(r, p),
        log_density=lambda x, _c, l: log_negative_binomial(x, mpmath.mpf(r), l),
        examples=tuple((mean, r / (r + mean)) for (mean,) in examples),
        extremes=tuple((mean, r / (r + mean)) for (mean,) in extremes),
    )


RECORDS = [
    Record(
        families.Normal(),
        natural=lambda mean, variance, c: [(mean - c) / variance, -0.5 / variance],
        twin=lambda mean, variance: stats.norm(mean, np.sqrt(variance)),
        log_density=lambda x, c, l, q: log_normal(x, c - l / (2 * q), -2 * q),
        examples=((0.0, 1.0), (3.0, 0.25), (-40.0, 9.0)),
        extremes=((1e9, 1.0), (1e15, 4.0), (0.0, 1e-200), (0.0, 1e200)),
        origins=lambda mean, variance: (mean, 0.0, mean + 2.5 * np.sqrt(variance)),
    ),
    Record(
        families.LogNormal(),
        natural=lambda mean, variance, c: [(mean - np.log(c)) / variance, -0.5 / variance],
        twin=lambda mean, variance: stats.lognorm(np.sqrt(variance), scale=np.exp(mean)),
        log_density=lambda x, c, l, q: (
            log_normal(mpmath.log(x), mpmath.log(c) - l / (2 * q), -2 * q) - mpmath.log(x)
        ),
        examples=((0.0, 1.0), (2.0, 0.04)),
        extremes=((300.0, 4.0), (-300.0, 0.01)),
        origins=lambda mean, _variance: (float(np.exp(mean)), 1.0, float(np.exp(mean + 1.0))),
    ),
    Record(
        families.Gamma(),
        natural=lambda shape, rate, _c: [-rate, shape],
        twin=lambda shape, rate: stats.gamma(shape, scale=1 / rate),
        log_density=lambda x, _c, l, a: (
            a * mpmath.log(-l) + (a - 1) * mpmath.log(x) + l * x - mpmath.loggamma(a)
        ),
        examples=((1.0, 1.0), (0.3, 5.0), (40.0, 0.1)),
        extremes=((1e12, 1e6), (1e12, 1e-6), (0.01, 1.0), (1e8, 1e-200)),
        origins=lambda shape, rate: (shape / rate, 1.0, 2.0 * shape / rate),
    ),
    Record(
        families.Exponential(),
        natural=lambda rate, _c: [-rate],
        twin=lambda rate: stats.expon(scale=1 / rate),
        log_density=lambda x, _c, l: mpmath.log(-l) + l * x,
        examples=((1.0,), (0.03,)),
        extremes=((1e-200,), (1e200,)),
    ),
    Record(
        families.InverseGaussian(),
        natural=lambda mean, shape, c: [-shape / (2 * mean**2), -shape / (2 * c)],
        twin=lambda mean, shape: stats.invgauss(mean / shape, scale=shape),
        log_density=log_inverse_gaussian,
        examples=((1.0, 1.0), (3.0, 0.5), (0.2, 30.0)),
        extremes=((5e3, 5e15), (1e-8, 1e4), (1.0, 1e-3)),
        origins=lambda mean, _shape: (mean, 1.0, 2.0 * mean),
    ),
    Record(
        families.Beta(),
        natural=lambda a, b, _c: [a, b],
        twin=stats.beta,
        log_density=lambda x, _c, a, b: (
            (a - 1) * mpmath.log(x)
            + (b - 1) * mpmath.log(1 - x)
            + (mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b))
        ),
        examples=((1.0, 1.0), (0.5, 3.0), (20.0, 7.0)),
        extremes=((1e10, 3e10), (1e12, 1e12), (0.02, 1e4), (50.0, 1e9), (0.05, 0.05)),
        origins=lambda a, b: (a / (a + b), 0.5, 0.1),
    ),
    Record(
        families.VonMises(),
        natural=lambda mu, k, c: [k * np.cos(mu - c), k * np.sin(mu - c)],
        twin=lambda mu, k: stats.vonmises(k, loc=mu),
        log_density=lambda x, c, p, q: (
            p * mpmath.cos(x - c)
            + q * mpmath.sin(x - c)
            - mpmath.log(2 * mp.pi * mpmath.besseli(0, mpmath.hypot(p, q)))
        ),
        examples=((0.0, 1.0), (2.0, 0.1), (-3.0, 30.0)),
        extremes=((1.0, 1e-8), (1.0, 1e12), (-2.0, 1e5), (0.5, 45.0), (0.5, 39.0)),
        origins=lambda mu, _k: (mu, 0.0, mu + 0.7),
    ),
    Record(
        families.Bernoulli(),
        natural=lambda p, _c: [np.log(p) - np.log1p(-p)],
        twin=stats.bernoulli,
        log_density=lambda x, _c, l: log_binomial(x, 1, l),
        examples=((0.5,), (0.9,), (0.01,)),
        extremes=((1e-12,),),
    ),
    Record(
        families.Poisson(),
        natural=lambda mean, _c: [np.log(mean)],
        twin=stats.poisson,
        log_density=lambda x, _c, l: x * l - mpmath.exp(l) - mpmath.loggamma(x + 1),
        examples=((1.0,), (0.02,), (37.0,)),
        extremes=((1e-12,), (1e4,)),
    ),
    Record(
        families.Geometric(),
        natural=lambda p, _c: [np.log1p(-p)],
        twin=lambda p: stats.geom(p, loc=-1),
        log_density=lambda x, _c, l: x * l + mpmath.log(1 - mpmath.exp(l)),
        examples=((0.5,), (0.9,), (0.03,)),
        extremes=((1e-9,), (1 - 1e-12,)),
    ),
    negative_binomial(2.5, ((1.0,), (0.1,), (30.0,)), ((1e4,), (1e-9,))),
    negative_binomial(0.2, ((2.0,),)),
    negative_binomial(1e9, (), ((4.0,),)),
    Record(
        families.Binomial(12),
        natural=lambda p, _c: [np.log(p) - np.log1p(-p)],
        twin=lambda p: stats.binom(12, p),
        log_density=lambda x, _c, l: log_binomial(x, 12, l),
        examples=((0.5,), (0.9,), (0.02,)),
        extremes=((1e-12,),),
    ),
    Record(
        families.Binomial(10**9),
        natural=lambda p, _c: [np.log(p) - np.log1p(-p)],
        twin=lambda p: stats.binom(10**9, p),
        log_density=lambda x, _c, l: log_binomial(x, 10**9, l),
        examples=(),
        extremes=((3e-9,),),
    ),
]

MP_FUNCTIONS = {
    "x": lambda x, c: x - c,
    "x2": lambda x, c: (x - c) ** 2,
    "log": lambda x, c: mpmath.log(x / c),
    "log2": lambda x, c: mpmath.log(x / c) ** 2,
    "log1m": lambda x, c: mpmath.log((1 - x) / (1 - c)),
    "reciprocal": lambda x, c: c / x - 1,
    "cos": lambda x, c: mpmath.cos(x - c) - 1,
    "sin": lambda x, c: mpmath.sin(x - c),
}


def name(case) -> str:
    record, parameters = case
    return f"{record.family!r} at {', '.join(f'{p:.3g}' for p in parameters)}"


ORDINARY = [(record, parameters) for record in RECORDS for parameters in record.examples]
EXTREME = [(record, parameters) for record in RECORDS for parameters in record.extremes]
ordinary = pytest.mark.parametrize("record, parameters", ORDINARY, ids=map(name, ORDINARY))
extreme = pytest.mark.parametrize("record, parameters", EXTREME, ids=map(name, EXTREME))
everywhere = pytest.mark.parametrize(
    "record, parameters", ORDINARY + EXTREME, ids=[*map(name, ORDINARY), *map(name, EXTREME)]
)


NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)


def expectation(record: Record, parameters: Parameters, of: Callable[[np.ndarray], np.ndarray]) -> float:
    """Σ of(x) over counts; ∫ of(x) dx for densities, by t = x, log x or logit x."""
    family, twin = record.family, record.twin(*parameters)
    if family.discrete:
        return float(np.sum(of(np.arange(twin.ppf(1 - 1e-15) + 50.0))))
    middle = twin.median()
    if isinstance(family, families.VonMises):
        low, high = parameters[0] - np.pi, parameters[0] + np.pi
    elif family.support(-1.0):
        low, high = middle - 12 * twin.std(), middle + 12 * twin.std()
    else:
        low, high = (np.log(middle) - 110.0, np.log(middle) + 10.0) if family.support(2.0) else (-75.0, 36.0)
    edges = np.linspace(low, high, 400)
    half = 0.5 * np.diff(edges)
    t = edges[:-1] + half * (1.0 + NODES[:, np.newaxis])
    weights = half * NODE_WEIGHTS[:, np.newaxis]
    if family.support(-1.0):
        return float(np.sum(weights * of(t)))
    if family.support(2.0):
        return float(np.sum(weights * np.exp(t) * of(np.exp(t))))
    return float(np.sum(weights * special.expit(t) * special.expit(-t) * of(special.expit(t))))


def test_every_family_of_one_column_has_a_record():
    of_one_column = {key for key, family in families.FAMILIES.items() if family.factor == "columns"}
    assert of_one_column == {record.family.name for record in RECORDS}


@ordinary
def test_the_density_equals_scipys(record, parameters):
    for origin in record.origins(*parameters):
        natural = record.array(parameters, origin)
        x = record.values(parameters)
        twin = record.twin(*parameters)
        expected = twin.logpmf(x) if record.family.discrete else twin.logpdf(x)
        np.testing.assert_allclose(record.family.log_density(x, natural, origin), expected, 1e-10, 1e-10)


@everywhere
def test_the_density_equals_the_textbooks_with_90_digits(record, parameters):
    origin = record.origins(*parameters)[0]
    natural = record.array(parameters, origin)
    for x in record.values(parameters):
        expected = record.log_density(mpmath.mpf(x), mpmath.mpf(origin), *map(mpmath.mpf, natural))
        assert float(record.family.log_density(x, natural, origin)) == pytest.approx(
            float(expected), 1e-9, 1e-9
        )


@ordinary
def test_the_density_has_total_one(record, parameters):
    natural = record.array(parameters, record.origins(*parameters)[0])
    origin = record.origins(*parameters)[0]
    total = expectation(record, parameters, lambda x: np.exp(record.family.log_density(x, natural, origin)))
    assert total == pytest.approx(1.0, abs=1e-8)


@everywhere
def test_outside_the_support_the_density_is_zero(record, parameters):
    origin = record.origins(*parameters)[0]
    outside = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 13.0])
    outside = outside[~record.family.support(outside)]
    assert len(outside) >= 3
    assert np.all(np.isneginf(record.family.log_density(outside, record.array(parameters, origin), origin)))


@everywhere
def test_the_mean_is_the_gradient_of_the_log_normalizer(record, parameters):
    """d log p(x)/dλ = u(x) − ∇A(λ), at any x."""
    origin = record.origins(*parameters)[0]
    natural = record.array(parameters, origin)
    x, c = mpmath.mpf(record.values(parameters)[0]), mpmath.mpf(origin)
    u = [MP_FUNCTIONS[function](x, c) for function in record.family.functions]
    mean = record.family.mean_from_natural(natural, np.asarray(origin))
    exact = [mpmath.mpf(value) for value in natural]
    for i, (statistic, value) in enumerate(zip(u, mean, strict=True)):
        step = mpmath.mpf(10) ** -18 / (abs(statistic) or 1)
        slope = mpmath.diff(
            lambda value, i=i: record.log_density(x, c, *exact[:i], value, *exact[i + 1 :]), exact[i], h=step
        )
        expected = float(statistic - slope)
        spread = float(abs(statistic)) + abs(expected)
        assert float(value) == pytest.approx(expected, rel=1e-8, abs=1e-9 * spread)


@ordinary
def test_the_sample_has_the_mean_statistics(record, parameters):
    n = 20_000
    rng = np.random.default_rng(7)
    for origin in record.origins(*parameters)[:2]:
        natural = record.array(parameters, origin)
        x = record.family.sample(np.repeat(natural[:, np.newaxis], n, axis=1), np.full(n, origin), rng)
        assert x.dtype == np.float64
        assert record.family.support(x).all()
        u = record.family.statistics(x, origin)
        error = u.std(axis=1) / np.sqrt(n)
        gap = u.mean(axis=1) - record.family.mean_from_natural(natural, np.asarray(origin))
        assert np.all(np.abs(gap) <= 5 * error + 1e-12)


@extreme
def test_extreme_samples_stay_in_the_support(record, parameters):
    origin = record.origins(*parameters)[0]
    natural = np.repeat(record.array(parameters, origin)[:, np.newaxis], 2000, axis=1)
    x = record.family.sample(natural, np.full(2000, origin), np.random.default_rng(3))
    assert record.family.support(x).all()


@everywhere
def test_natural_from_mean_inverts_mean_from_natural(record, parameters):
    for place, origin in enumerate(record.origins(*parameters)):
        if place and parameters in record.extremes:
            return
        natural = record.array(parameters, origin)
        mean = record.family.mean_from_natural(natural, np.asarray(origin))
        assert not record.family.boundary(mean, np.asarray(origin))
        again = record.family.natural_from_mean(mean, np.asarray(origin))
        tolerance = 1e-11 if parameters in record.examples else 1e-8
        size = np.max(np.abs(natural))
        np.testing.assert_allclose(again, natural, tolerance, 1e-15 * size + 1e-15)


@ordinary
def test_conventional_gives_the_parameters_back(record, parameters):
    for origin in record.origins(*parameters):
        found = record.family.conventional(record.array(parameters, origin), np.asarray(origin))
        np.testing.assert_allclose(list(found.values()), parameters, 1e-11, 1e-13)


@ordinary
def test_moving_the_origin_never_changes_the_density(record, parameters):
    x = record.values(parameters)
    densities = [
        record.family.log_density(x, record.array(parameters, origin), origin)
        for origin in record.origins(*parameters)
    ]
    for density in densities[1:]:
        np.testing.assert_allclose(density, densities[0], 1e-11, 1e-11)


@ordinary
def test_the_divergence_equals_its_definition(record, parameters):
    origin = record.origins(*parameters)[0]
    p = record.array(parameters, origin)
    for other in record.examples:
        q = record.array(other, origin)
        divergence = float(record.family.kl(p, q, origin))
        assert divergence >= -1e-12

        def term(x, q=q):
            log_p = record.family.log_density(x, p, origin)
            with np.errstate(invalid="ignore"):
                gap = log_p - record.family.log_density(x, q, origin)
            return np.where(np.isneginf(log_p), 0.0, np.exp(log_p) * gap)

        assert divergence == pytest.approx(expectation(record, parameters, term), rel=1e-6, abs=1e-7)
        if other == parameters:
            assert divergence == pytest.approx(0.0, abs=1e-12)


@ordinary
def test_the_entropy_equals_scipys(record, parameters):
    expected = float(record.twin(*parameters).entropy())
    for origin in record.origins(*parameters):
        found = float(record.family.entropy(record.array(parameters, origin), origin))
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "record", [record for record in RECORDS if record.examples], ids=lambda record: repr(record.family)
)
def test_a_table_of_parameters_equals_its_cells(record):
    family, shape = record.family, (len(record.examples), 2)
    origins = np.array([record.origins(*parameters)[:2] * 2 for parameters in record.examples])[:, :2]
    natural = np.empty((family.n_statistics, *shape))
    for cell in np.ndindex(shape):
        natural[(slice(None), *cell)] = record.array(record.examples[cell[0]], origins[cell])
    mean = family.mean_from_natural(natural, origins)
    x = family.sample(natural, origins, np.random.default_rng(1))
    whole = {
        "log_normalizer": (family.log_normalizer(natural, origins), family.log_normalizer),
        "entropy": (family.entropy(natural, origins), family.entropy),
        "boundary": (
            family.boundary(mean, origins),
            lambda n, c: family.boundary(family.mean_from_natural(n, c), c),
        ),
    }
    assert mean.shape == natural.shape
    assert x.shape == shape
    for cell in np.ndindex(shape):
        one, c = natural[(slice(None), *cell)], np.asarray(origins[cell])
        for table, function in whole.values():
            assert table.shape == shape
            np.testing.assert_allclose(table[cell], function(one, c), 1e-13, 1e-13)
        again = family.natural_from_mean(mean, origins)[(slice(None), *cell)]
        np.testing.assert_allclose(
            again, family.natural_from_mean(mean[(slice(None), *cell)], c), 1e-11, 1e-13
        )
        density = family.log_density(x, natural, origins)
        assert density.shape == shape
        np.testing.assert_allclose(density[cell], family.log_density(x[cell], one, c), 1e-12, 1e-12)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: repr(record.family))
def test_the_settings_rebuild_the_family(record):
    family = record.family
    assert families.FAMILIES[family.name](**family.settings()) == family
    assert eval(repr(family), dict(families.FAMILIES)) == family  # noqa: S307
