"""Statistics are an additive group: they add, subtract, scale, and are equal whatever their origins."""

import subprocess
import sys

import numpy as np
import pytest

from suffice import BayesClassifier, families, summarize

EXACT = [
    families.Normal(),
    families.Normal("shared"),
    families.Exponential(),
    families.Bernoulli(),
    families.Geometric(),
    families.Categorical(),
    families.Histogram(8),
    families.Steps(),
    families.Hurdle(families.Exponential(), at=2.5),
]
ROUNDED = [
    families.LogNormal(),
    families.Gamma(),
    families.InverseGaussian(),
    families.Beta(),
    families.VonMises(),
    families.Poisson(),
    families.NegativeBinomial(2.0),
    families.Binomial(9),
    families.Multinomial(),
    families.Hurdle(families.Gamma(), at=2.5),
]
ALL = [*EXACT, *ROUNDED]
with_family = pytest.mark.parametrize("family", ALL, ids=repr)


def rows(family, seed, n_rows=9, labels="abc"):
    """Dyadic values in the family's support, some gaps."""
    rng = np.random.default_rng(seed)
    name = family.name
    if name == "Bernoulli":
        X = rng.integers(0, 2, (n_rows, 2)).astype(float)
    elif family.discrete:
        X = rng.integers(0, 9, (n_rows, 2)).astype(float)
    elif name == "Beta":
        X = rng.integers(1, 8, (n_rows, 2)) / 8.0
    else:
        X = rng.integers(1, 80, (n_rows, 2)) / 8.0
    X[rng.random((n_rows, 2)) < 0.15] = np.nan
    return X, rng.choice(list(labels), n_rows)


def stats(family, seed, **options):
    return summarize(*rows(family, seed, **options), families=family)


def tolerance(family):
    return 0.0 if family in EXACT else 1e-12


def same(a, b, family):
    return a.isclose(b, rtol=tolerance(family)) and b.isclose(a, rtol=tolerance(family))


def test_summarize_is_a_function_whatever_was_imported_before():
    program = "import suffice; suffice.BayesClassifier; assert callable(suffice.summarize), suffice.summarize"
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603


@with_family
def test_sums_in_any_order_and_grouping_are_equal(family):
    a, b, c = (stats(family, seed) for seed in range(3))
    assert same(a + b, b + a, family)
    assert same((a + b) + c, a + (b + c), family)
    assert same(sum([a, b, c]), a + b + c, family)
    X, y = (np.concatenate(parts) for parts in zip(*(rows(family, seed) for seed in range(3)), strict=True))
    assert same(summarize(X, y, families=family), a + b + c, family)


@with_family
def test_subtraction_undoes_addition(family):
    a, b = stats(family, 0), stats(family, 1)
    assert same((a + b) - b, a, family)
    assert same((a - b) + b, a, family)
    assert same(a - b, -(b - a), family)
    negative = -a
    assert same(-negative, a, family)
    assert same(a + (-b), a - b, family)
    nothing = a - a
    assert nothing.n_rows == 0
    assert same(nothing, a.zero(), family)


@with_family
def test_zero_is_the_identity(family):
    a = stats(family, 0)
    zero = a.zero()
    assert zero.n_rows == 0
    assert len(zero.classes) == 0
    assert zero.schema == a.schema
    for total in (a + zero, zero + a, a - zero, sum([a]), a + 0, 0 + a):
        assert total == a
    assert zero + zero == zero
    assert -zero == zero
    assert zero * 3.0 == zero


@with_family
@pytest.mark.parametrize("factor", [2.0, 0.5, -1.0, 0.25, 3])
def test_scaling(family, factor):
    a, b = stats(family, 0), stats(family, 1)
    assert factor * a == a * factor
    assert same((a + b) * factor, a * factor + b * factor, family)
    scaled = a * factor
    np.testing.assert_array_equal(scaled.weight, a.weight * factor)
    np.testing.assert_array_equal(scaled.support, a.support)
    assert same(scaled * (1.0 / factor), a, family if factor != 3 else families.Gamma())


@with_family
def test_scaled_statistics_are_weights(family):
    X, y = rows(family, 0)
    a = summarize(X, y, families=family)
    weighted = summarize(X, y, families=family, sample_weight=np.full(len(y), 2.0))
    assert same(a * 2.0, weighted, family)


def test_scaling_by_something_that_is_no_number_is_refused():
    a = stats(families.Normal(), 0)
    for factor in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="finite"):
            a * factor


@with_family
def test_equality_sees_every_difference(family):
    a, b = stats(family, 0), stats(family, 1)
    assert a == stats(family, 0)
    assert a != b
    assert a != a + b
    assert a != a * 2.0
    assert a != -a
    assert a != a.zero()
    assert (a == "text") is False
    assert a != None  # noqa: E711
    X, y = rows(family, 0)
    X, y = X[~np.isnan(X).any(axis=1)], y[~np.isnan(X).any(axis=1)]
    whole = summarize(X, y, families=family)
    X = X.copy()
    X[0, 0] = np.nan
    assert whole != summarize(X, y, families=family)
    renamed = np.where(y == y[0], "z", y)
    assert whole != summarize(X, renamed, families=family)


@with_family
def test_equality_is_modulo_the_order_of_rows(family):
    X, y = rows(family, 0, n_rows=30)
    forward, backward = summarize(X, y, families=family), summarize(X[::-1], y[::-1], families=family)
    assert same(forward, backward, family)


def test_isclose_has_a_tolerance():
    X, y = rows(families.Normal(), 0)
    a = summarize(X, y, families=families.Normal())
    moved = X.copy()
    moved[np.flatnonzero(~np.isnan(X[:, 0]))[0], 0] *= 1.0 + 1e-9
    b = summarize(moved, y, families=families.Normal())
    assert a.isclose(b, rtol=1e-6)
    assert not a.isclose(b, rtol=1e-14)
    assert a != b


def test_statistics_are_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(stats(families.Normal(), 0))


@pytest.mark.parametrize("other", ["text", 1, 0.5, None, [1, 2]])
def test_only_statistics_add(other):
    a = stats(families.Normal(), 0)
    with pytest.raises(TypeError):
        a + other
    with pytest.raises(TypeError):
        a - other
    with pytest.raises(TypeError):
        other - a


@pytest.mark.parametrize("other", ["text", None, [1, 2]])
def test_only_numbers_scale(other):
    with pytest.raises((TypeError, ValueError)):
        stats(families.Normal(), 0) * other


# --- growing ------------------------------------------------------------------------------------


@with_family
def test_classes_grow_on_addition_and_leave_on_subtraction(family):
    a, b = stats(family, 0, labels="ab"), stats(family, 1, labels="cd")
    both = a + b
    assert both.classes.tolist() == ["a", "b", "c", "d"]
    assert (both - b).classes.tolist() == ["a", "b"]
    assert (both - a).classes.tolist() == ["c", "d"]
    assert (b + a).classes.tolist() == ["a", "b", "c", "d"]


def test_labels_of_different_length_keep_their_letters():
    a = summarize([[1.0]], ["a"])
    b = summarize([[2.0]], ["a longer label"])
    assert (a + b).classes.tolist() == ["a", "a longer label"]
    assert (b + a).classes.tolist() == ["a", "a longer label"]


def test_whole_and_broken_labels_add_up():
    a = summarize([[1.0], [2.0]], [0, 1])
    b = summarize([[3.0], [4.0]], [1, 2])
    assert (a + b).classes.tolist() == [0, 1, 2]
    assert (a + b).support.tolist() == [1, 2, 1]
    truths = summarize([[3.0]], [True]) + summarize([[3.0]], [False])
    assert truths.classes.tolist() == [False, True]


@pytest.mark.parametrize("text_first", [True, False])
def test_labels_of_text_and_numbers_do_not_add(text_first):
    a, b = summarize([[1.0]], ["1"]), summarize([[2.0]], [1])
    first, second = (a, b) if text_first else (b, a)
    with pytest.raises(ValueError, match="text and numbers"):
        first + second
    with pytest.raises(ValueError, match="text and numbers"):
        first - second
    assert first != second
    assert not first.isclose(second)


def test_partial_fit_refuses_labels_of_another_kind_and_keeps_the_model():
    model = BayesClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    before = model.statistics_
    with pytest.raises(ValueError, match="text and numbers"):
        model.partial_fit([[1.0]], [1])
    assert model.statistics_ == before


def test_levels_grow_on_addition_and_leave_on_subtraction():
    def levels(values, labels):
        return summarize(
            np.array(values, dtype=object).reshape(-1, 1), labels, families=families.Categorical()
        )

    a, b = levels(["x", "y"], ["a", "b"]), levels(["z", "y"], ["a", "b"])
    both = a + b
    model = BayesClassifier().fit_statistics(both)
    assert sorted(model.parameters_[0]["levels"]) == ["x", "y", "z"]
    model = BayesClassifier().fit_statistics(both - b)
    assert sorted(model.parameters_[0]["levels"]) == ["x", "y"]
    direct = BayesClassifier(families=families.Categorical()).fit(
        np.array([["x"], ["y"]], dtype=object), ["a", "b"]
    )
    query = np.array([["x"], ["y"], ["z"]], dtype=object)
    np.testing.assert_array_equal(model.predict_proba(query), direct.predict_proba(query))


def test_fractions_of_weights_leave_no_ghost():
    """0.1 + 0.2 − 0.3 ≠ 0, but no rows are left."""
    X = np.array([["x"], ["x"], ["y"]], dtype=object)
    y = ["a", "a", "a"]
    a = summarize(X[:1], y[:1], families=families.Categorical(), sample_weight=[0.1])
    b = summarize(X[:1], y[:1], families=families.Categorical(), sample_weight=[0.2])
    keep = summarize(X[2:], y[2:], families=families.Categorical())
    gone = summarize(X[:2], y[:2], families=families.Categorical(), sample_weight=[0.15, 0.15])
    total = a + b + keep - gone
    assert total.support.tolist() == [1]
    model = BayesClassifier().fit_statistics(total)
    assert model.parameters_[0]["levels"] == ["y"]


def test_a_class_without_rows_leaves_whatever_its_weight():
    a = summarize([[1.0]], ["a"], sample_weight=[0.1]) + summarize([[1.0]], ["a"], sample_weight=[0.2])
    gone = summarize([[1.0], [1.0]], ["a", "a"], sample_weight=[0.15, 0.15])
    rest = summarize([[1.0], [2.0]], ["b", "b"])
    model = BayesClassifier().fit_statistics(a + rest - gone)
    assert model.classes_.tolist() == ["b"]
    np.testing.assert_array_equal(model.predict_proba([[1.5]]), [[1.0]])


# --- rebasing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [0.0, 1.0, -3.5, 1024.0, 0.125])
def test_rebasing_is_exact_on_dyadic_data(origin):
    a = stats(families.Normal(), 0)
    moved = a.rebased({0: origin})
    assert moved == a
    assert moved.rebased({0: 7.0, 1: -2.0}) == a
    held = moved.totals[0].support[:, 0] > 0
    np.testing.assert_array_equal(moved.totals[0].origin[held, 0], origin)
    X, _ = rows(families.Normal(), 5)
    first = BayesClassifier().fit_statistics(a).predict_proba(X)
    # The sums are equal; solving them about another origin rounds once more.
    second = BayesClassifier().fit_statistics(moved).predict_proba(X)
    np.testing.assert_allclose(second, first, rtol=1e-10, atol=1e-14)
    b = stats(families.Normal(), 1)
    assert moved + b == a + b
    assert b + moved == a + b
    assert (moved + b) - a == b


@pytest.mark.parametrize(
    "family",
    [
        families.Gamma(),
        families.InverseGaussian(),
        families.Beta(),
        families.VonMises(),
        families.LogNormal(),
    ],
    ids=repr,
)
def test_rebasing_keeps_posteriors(family):
    a = stats(family, 0, n_rows=40)
    moved = a.rebased({0: 0.625, 1: 0.25})
    assert moved.isclose(a, rtol=1e-12)
    X, _ = rows(family, 5)
    first = BayesClassifier().fit_statistics(a).predict_proba(X)
    second = BayesClassifier().fit_statistics(moved).predict_proba(X)
    np.testing.assert_allclose(second, first, rtol=1e-10, atol=1e-12)


def test_rebasing_names_unknown_columns():
    with pytest.raises(ValueError, match="'weight'"):
        stats(families.Normal(), 0).rebased({"weight": 1.0})


@with_family
def test_rebasing_nothing_changes_nothing(family):
    a = stats(family, 0)
    assert a.rebased({}) == a


# --- repr ---------------------------------------------------------------------------------------


def test_the_repr_says_what_it_holds():
    a = summarize(np.arange(12.0).reshape(6, 2), list("aabbbb"), sample_weight=[1, 1, 1, 1, 1, 2.5])
    text = repr(a)
    for part in ("6 rows", "2 classes", "2 columns", "bytes", "'a': 2 rows", "'b': 4 rows", "5.5"):
        assert part in text
    assert str(a.nbytes) in text


def test_the_repr_of_many_classes_is_short():
    many = summarize(np.arange(3000.0).reshape(1000, 3), np.arange(1000))
    assert "1,000 classes" in repr(many)
    assert "kB" in repr(many)
    assert "more classes" in repr(many)
    assert len(repr(many).splitlines()) < 20
    assert "0 rows, 0 classes" in repr(many.zero())


def test_bytes_do_not_grow_with_the_rows():
    few, many = (
        summarize(np.zeros((n, 3)) + np.arange(n)[:, np.newaxis], np.arange(n) % 2) for n in (10, 9000)
    )
    assert few.nbytes == many.nbytes < 1000


# --- immutability -------------------------------------------------------------------------------


def snapshot(statistics):
    arrays = [statistics.classes, statistics.weight, statistics.support]
    arrays += [array for totals in statistics.totals for array in totals.arrays().values()]
    return [array.copy() for array in arrays]


def unchanged(statistics, before):
    return all(np.array_equal(a, b) for a, b in zip(snapshot(statistics), before, strict=True))


@with_family
def test_operations_do_not_change_their_operands(family):
    a, b = stats(family, 0, labels="ab"), stats(family, 1, labels="bc")
    before_a, before_b = snapshot(a), snapshot(b)
    a + b, a - b, -a, a * 2.0, a.zero(), sum([a, b]), a.rebased({0: 0.5}), repr(a)
    BayesClassifier().fit_statistics(a).merge(b).partial_fit(*rows(family, 3)).predict_proba(
        rows(family, 4)[0]
    )
    assert (a == b) is False
    assert unchanged(a, before_a)
    assert unchanged(b, before_b)


def share_memory(result, operand):
    """Whether one can be changed by writing to the other."""
    mine = [result.weight, result.support, *(a for t in result.totals for a in t.arrays().values())]
    theirs = [operand.weight, operand.support, *(a for t in operand.totals for a in t.arrays().values())]
    return any(
        np.shares_memory(one, other) and (one.flags.writeable or other.flags.writeable)
        for one in mine
        for other in theirs
    )


@with_family
def test_results_share_no_memory_with_the_operands(family):
    a, b = stats(family, 0, labels="ab"), stats(family, 1, labels="bc")
    model = BayesClassifier().fit_statistics(a)
    for result in (a + b, b + a, a - b, -a, 2.0 * a, a + b.zero(), b.zero() + a, model.statistics_):
        assert not share_memory(result, a)
        assert not share_memory(result, b)
    before = snapshot(a)
    model.partial_fit(*rows(family, 3)).forget(*rows(family, 3))
    assert unchanged(a, before)


@with_family
def test_rebased_statistics_share_no_memory_that_can_be_written(family):
    a = stats(family, 0)
    moved = a.rebased({0: 0.5})
    assert not share_memory(moved, a) or not a.weight.flags.writeable


@with_family
def test_a_models_statistics_do_not_change_with_it(family):
    model = BayesClassifier(families=family).fit(*rows(family, 0))
    held = model.statistics_
    before = snapshot(held)
    model.partial_fit(*rows(family, 1))
    assert unchanged(held, before)
    assert model.statistics_ != held


def test_reading_statistics_does_not_link_them_to_the_model():
    model = BayesClassifier(families=families.Normal()).fit(*rows(families.Normal(), 0))
    X, _ = rows(families.Normal(), 1)
    posterior = model.predict_proba(X)
    held = model.statistics_
    held.weight[:] = 0
    held.totals[0].total[:] = 0
    np.testing.assert_array_equal(model.partial_fit(X[:0], []).predict_proba(X), posterior)
