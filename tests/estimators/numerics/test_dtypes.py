"""The same values in another dtype, layout or byte order are the same model."""

import numpy as np
import pytest

from suffice import BayesClassifier, families, summarize

RNG = np.random.default_rng(0)
Y = np.arange(300) % 3
POSITIVE = RNG.gamma(3.0, 2.0, (300, 2)).astype(np.float32)
COUNTS = RNG.poisson(4.0, (300, 2))
NUMBER_FAMILIES = [
    families.Normal(),
    families.LogNormal(),
    families.Gamma(),
    families.Exponential(),
    families.Histogram(8),
    families.Steps(),
    families.Hurdle(families.Gamma(), at=float(POSITIVE[0, 0])),
]
COUNT_FAMILIES = [families.Normal(), families.Poisson(), families.Multinomial(), families.Categorical()]
COUNT_FAMILIES += [families.Hurdle(families.Gamma())]


def same_model(a, b, X_a, X_b):
    assert a.statistics_ == b.statistics_
    np.testing.assert_array_equal(a.predict_joint_log_proba(X_a), b.predict_joint_log_proba(X_b))
    np.testing.assert_array_equal(a.predict_proba(X_a), b.predict_proba(X_b))
    assert a.log_likelihood_ == b.log_likelihood_


def fitted(family, X, **options):
    return BayesClassifier(families=family).fit(X, Y, **options)


@pytest.mark.parametrize("family", NUMBER_FAMILIES, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_narrow_floats_are_the_float64_of_the_same_values(family, dtype):
    narrow = POSITIVE.astype(dtype)
    wide = narrow.astype(np.float64)
    same_model(fitted(family, narrow), fitted(family, wide), narrow, wide)


@pytest.mark.parametrize("family", [families.Poisson(), families.Multinomial()], ids=repr)
def test_narrow_floats_of_counts(family):
    narrow, wide = COUNTS.astype(np.float32), COUNTS.astype(np.float64)
    same_model(fitted(family, narrow), fitted(family, wide), narrow, wide)


@pytest.mark.parametrize(
    "family",
    [families.Normal(), families.LogNormal(), families.Gamma(), families.Poisson(), families.Multinomial()],
    ids=repr,
)
def test_float32_is_summed_in_float64(family):
    """2²⁴ + 1 is no float32: sums in float32 would stand still there."""
    X = np.full((70_000, 1), 1000.0, dtype=np.float32)
    X[::2] = 1001.0
    y = np.zeros(len(X), dtype=int)
    y[:2] = 1
    narrow = summarize(X, y, families=family)
    assert narrow == summarize(X.astype(np.float64), y, families=family)


def test_float32_of_a_value_with_an_offset():
    X = (1e6 + RNG.standard_normal((300, 1))).astype(np.float32)
    X64 = X.astype(np.float64)
    same_model(fitted(families.Normal(), X), fitted(families.Normal(), X64), X, X64)


@pytest.mark.parametrize("family", COUNT_FAMILIES, ids=repr)
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_whole_numbers_of_every_width(family, dtype):
    narrow = COUNTS.astype(dtype)
    wide = COUNTS.astype(np.float64)
    a, b = fitted(family, narrow), fitted(family, wide)
    np.testing.assert_array_equal(a.predict_proba(narrow), b.predict_proba(wide))
    assert a.log_likelihood_ == b.log_likelihood_


def test_unsigned_numbers_do_not_wrap_about_their_origin():
    X = np.array([[200], [3], [250], [7], [0], [255]] * 50, dtype=np.uint8)
    same_model(
        fitted(families.Normal(), X), fitted(families.Normal(), X.astype(np.float64)), X, X.astype(np.float64)
    )


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_large_whole_numbers(dtype):
    X = np.array([[2**53 + 2 * i] for i in range(300)], dtype=dtype)
    same_model(
        fitted(families.Normal(), X), fitted(families.Normal(), X.astype(np.float64)), X, X.astype(np.float64)
    )


@pytest.mark.parametrize(
    "family", [families.Bernoulli(), families.Normal(), families.Poisson(), families.Multinomial()], ids=repr
)
def test_truth_values_are_zeros_and_ones(family):
    X = RNG.random((300, 2)) < 0.4
    numbers = X.astype(np.float64)
    a, b = fitted(family, X), fitted(family, numbers)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(numbers))
    assert a.log_likelihood_ == b.log_likelihood_


@pytest.mark.parametrize(
    "family", [*NUMBER_FAMILIES, families.Poisson(), families.Multinomial(), families.Categorical()], ids=repr
)
@pytest.mark.parametrize(
    "layout", ["fortran", "strided", "reversed", "read-only", "big-endian", "little-endian"]
)
def test_layout_and_byte_order_change_nothing(family, layout):
    X = COUNTS + 1.0 if family.discrete else POSITIVE.astype(np.float64)
    padded = np.zeros((600, 4))
    padded[::2, ::2] = X
    other = {
        "fortran": lambda: np.asfortranarray(X),
        "strided": lambda: padded[::2, ::2],
        "reversed": lambda: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "read-only": X.copy,
        "big-endian": lambda: X.astype(">f8"),
        "little-endian": lambda: X.astype("<f8"),
    }[layout]()
    if layout == "read-only":
        other.flags.writeable = False
    kept = other.copy()
    a, b = fitted(family, other), fitted(family, X)
    assert a.statistics_.isclose(b.statistics_, rtol=1e-14)
    np.testing.assert_allclose(a.predict_proba(other), b.predict_proba(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(other, kept)


@pytest.mark.parametrize("dtype", [">f4", ">i4", ">u2", ">i8"])
def test_other_byte_orders_of_other_kinds(dtype):
    X, plain = COUNTS.astype(dtype), COUNTS.astype(np.float64)
    same_model(fitted(families.Normal(), X), fitted(families.Normal(), plain), X, plain)


def test_read_only_labels_and_weights():
    y, weights = Y.copy(), RNG.random(300)
    y.flags.writeable = weights.flags.writeable = False
    X = POSITIVE.astype(np.float64)
    X.flags.writeable = False
    model = BayesClassifier(families=families.Normal()).fit(X, y, sample_weight=weights)
    assert model.partial_fit(X, y, sample_weight=weights).statistics_.n_rows == 600


def test_float32_keeps_gaps():
    X = POSITIVE.copy()
    X[::5, 0] = np.nan
    X64 = X.astype(np.float64)
    for family in (families.Normal(), families.Gamma(), families.LogNormal(), families.Exponential()):
        same_model(fitted(family, X), fitted(family, X64), X, X64)


def test_float32_proportions():
    X = RNG.beta(2.0, 3.0, (300, 2)).astype(np.float32)
    X64 = X.astype(np.float64)
    same_model(fitted(families.Beta(), X), fitted(families.Beta(), X64), X, X64)
