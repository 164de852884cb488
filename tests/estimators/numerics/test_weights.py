"""Weights of any size: k is the row k times, 1e-300 and 1e300 are weights like others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, families, summarize

UNIT_FAMILIES = [
    families.Normal,
    families.LogNormal,
    families.Gamma,
    families.InverseGaussian,
    families.Exponential,
    families.Beta,
    families.VonMises,
    families.Bernoulli,
    families.Poisson,
    families.Geometric,
    families.Multinomial,
    families.Categorical,
    families.Histogram,
]


def rows_for(family, n_rows=24, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    name = family.__name__
    if name == "Bernoulli":
        X = (rng.random((n_rows, 2)) < 0.3 + 0.3 * y[:, np.newaxis]).astype(float)
    elif name in {"Poisson", "Geometric", "Multinomial", "Categorical", "NegativeBinomial", "Binomial"}:
        X = rng.poisson(1.5 + y[:, np.newaxis], (n_rows, 2)).clip(0, 5).astype(float)
    elif name == "Beta":
        X = rng.beta(2.0 + y[:, np.newaxis], 3.0, (n_rows, 2))
    else:
        X = rng.gamma(3.0 + y[:, np.newaxis], 2.0, (n_rows, 2))
    return X, y


@pytest.mark.parametrize("family", UNIT_FAMILIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("scale", [1e-300, 2.0**-900, 1e-10, 1e10, 1e300])
def test_without_smoothing_only_ratios_of_weights_matter(family, scale):
    X, y = rows_for(family)
    plain = BayesClassifier(families=family(alpha=0.0)).fit(X, y)
    weighted = BayesClassifier(families=family(alpha=0.0)).fit(X, y, sample_weight=np.full(len(y), scale))
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-9, atol=1e-9)
    assert np.isfinite(weighted.log_likelihood_)


@pytest.mark.parametrize("family", UNIT_FAMILIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_with_smoothing_no_weight_is_too_small_or_too_large(family, scale):
    X, y = rows_for(family)
    model = BayesClassifier(families=family()).fit(X, y, sample_weight=np.full(len(y), scale))
    posterior = model.predict_proba(X)
    assert np.isfinite(posterior).all()
    if scale < 1:
        # The pseudo-observations are all there is, and they are the same for every class.
        shared = (
            posterior if family in {families.Normal, families.LogNormal} else np.full_like(posterior, 0.5)
        )
        np.testing.assert_allclose(posterior, shared, atol=1e-9)
    else:
        limit = BayesClassifier(families=family(alpha=0.0)).fit(X, y)
        np.testing.assert_allclose(posterior, limit.predict_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_tiny_and_huge_weights_together(alpha, offset, exact, posteriors):
    rng = np.random.default_rng(1)
    X = offset + rng.standard_normal((12, 2))
    y = np.arange(12) % 2
    weights = np.array([1e-300, 1e300, 1.0, 1e-9, 1e9, 1e200, 1e-200, 3.0, 5.0, 1e300, 0.5, 1e-300])
    model = BayesClassifier(families=families.Normal(alpha=alpha)).fit(X, y, sample_weight=weights)
    truth = exact(X, y, weights=weights, alpha=alpha)
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    if alpha:
        np.testing.assert_allclose(found, posteriors(truth.joint(X, truth.normal)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_weights_over_twelve_orders(seed, exact, posteriors, floats):
    rng = np.random.default_rng(seed)
    X = 1e6 + rng.standard_normal((15, 2))
    y = np.arange(15) % 3
    weights = 10.0 ** rng.uniform(-6, 6, 15)
    model = BayesClassifier(families=families.Normal()).fit(X, y, sample_weight=weights)
    truth = exact(X, y, weights=weights)
    joint = truth.joint(X, truth.normal)
    np.testing.assert_allclose(model.predict_proba(X), posteriors(joint), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), floats(joint), rtol=1e-9, atol=1e-9)


ALL = [
    *[family() for family in UNIT_FAMILIES],
    families.NegativeBinomial(2.0),
    families.Binomial(5),
    families.Normal("shared"),
]


@pytest.mark.parametrize("family", ALL, ids=repr)
@pytest.mark.parametrize("gaps", [False, True])
def test_weight_k_is_the_row_k_times(family, gaps):
    X, y = rows_for(type(family), seed=2)
    if gaps:
        X[::5, 0] = np.nan
        X[1::7, 1] = np.nan
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = BayesClassifier(families=family).fit(X, y, sample_weight=times.astype(float))
    repeated = BayesClassifier(families=family).fit(X.repeat(times, axis=0), y.repeat(times))
    queries = rows_for(type(family), seed=3)[0]
    np.testing.assert_allclose(
        weighted.predict_proba(queries), repeated.predict_proba(queries), rtol=1e-11, atol=1e-12
    )
    joint = weighted.predict_joint_log_proba(queries)
    np.testing.assert_allclose(joint, repeated.predict_joint_log_proba(queries), rtol=1e-10, atol=1e-11)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-11)
    assert weighted.bic_ == pytest.approx(repeated.bic_, rel=1e-11)


@settings(max_examples=80, deadline=None, database=None)
@given(
    st.lists(
        st.tuples(st.integers(-40, 40), st.integers(0, 5), st.sampled_from("abc")), min_size=1, max_size=8
    ).filter(lambda rows: any(row[1] for row in rows))
)
def test_dyadic_weights_are_exact(rows):
    X = np.array([[row[0] / 8] for row in rows])
    y = np.array([row[2] for row in rows])
    times = np.array([row[1] for row in rows])
    weighted = summarize(X, y, families=families.Normal(), sample_weight=times)
    repeated = summarize(X.repeat(times, axis=0), y.repeat(times), families=families.Normal())
    np.testing.assert_array_equal(weighted.weight, repeated.weight)
    np.testing.assert_array_equal(weighted.classes, repeated.classes)
    halved = summarize(X, y, families=families.Normal(), sample_weight=times * 0.5)
    assert halved * 2.0 == weighted
    first = BayesClassifier(families=families.Normal()).fit_statistics(weighted).predict_proba(X)
    second = BayesClassifier(families=families.Normal()).fit_statistics(repeated).predict_proba(X)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-13)


def test_a_scalar_weight_and_integer_weights():
    X, y = rows_for(families.Normal)
    one = BayesClassifier(families=families.Normal()).fit(X, y, sample_weight=3)
    other = BayesClassifier(families=families.Normal()).fit(
        X, y, sample_weight=np.full(len(y), 3, dtype=np.uint8)
    )
    assert one.statistics_ == other.statistics_
