"""Arithmetic is total, use is guarded: what no data could produce is refused in use, in a sentence."""

import time

import numpy as np
import pytest
from scipy import sparse

from suffice import BayesClassifier, summarize
from suffice.families import (
    Bernoulli,
    Categorical,
    Gamma,
    Histogram,
    Hurdle,
    Multinomial,
    Normal,
    Poisson,
    Steps,
)

X = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 3.0], [5.0, 2.0]])
Y = np.array(["a", "a", "b", "b"])
FAMILIES = [
    Normal(),
    Gamma(),
    Poisson(),
    Multinomial(),
    Categorical(),
    Histogram(4),
    Steps(),
    Hurdle(Gamma()),
]
with_family = pytest.mark.parametrize("family", FAMILIES, ids=repr)


def one_sentence(error):
    """Names something, ends, and is not long."""
    text = str(error.value)
    assert 20 < len(text) < 300
    assert "\n" not in text
    assert text.endswith(".")
    assert "nan" not in text
    return text


@with_family
def test_signed_statistics_are_fine_until_they_are_solved(family):
    a = summarize(X, Y, families=family)
    b = summarize(X[:1], Y[:1], families=family)
    signed = b - a
    assert signed.n_rows == -3
    assert signed + a == b
    assert repr(signed)
    with pytest.raises(ValueError, match="no data could produce") as error:
        BayesClassifier().fit_statistics(signed)
    assert "class 'a'" in one_sentence(error) or "class 'b'" in one_sentence(error)


@with_family
def test_nothing_is_solved_from_nothing(family):
    a = summarize(X, Y, families=family)
    with pytest.raises(ValueError, match="no rows") as error:
        BayesClassifier().fit_statistics(a - a).predict_proba(X)
    one_sentence(error)


@with_family
def test_forget_refuses_a_class_that_has_fewer_rows(family):
    model = BayesClassifier(families=family).fit(X, Y)
    before = model.statistics_
    posterior = model.predict_proba(X)
    for rows, labels in ((np.vstack([X, X]), np.concatenate([Y, Y])), (X[:1], ["c"])):
        with pytest.raises(ValueError, match="cannot forget rows that were never fitted") as error:
            model.forget(rows, labels)
        one_sentence(error)
        assert model.statistics_ == before
        np.testing.assert_array_equal(model.predict_proba(X), posterior)


def test_forget_refuses_a_level_that_was_never_there():
    table = np.array([["x"], ["y"], ["x"], ["z"]], dtype=object)
    model = BayesClassifier(families=Categorical()).fit(table, Y)
    with pytest.raises(ValueError, match="'w'") as error:
        model.forget(np.array([["w"]], dtype=object), ["a"])
    assert "column 0" in one_sentence(error)
    with pytest.raises(ValueError, match="'z'"):
        model.forget(np.array([["z"]], dtype=object), ["a"])
    assert model.forget(table[3:], Y[3:]).parameters_[0]["levels"] == ["x", "y"]


def test_forget_refuses_counts_and_cells_that_were_never_there():
    model = BayesClassifier(families=Multinomial()).fit([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]], ["a", "a", "b"])
    with pytest.raises(ValueError, match="column 0") as error:
        model.forget([[1.0, 0.0]], ["b"])
    one_sentence(error)
    gappy = BayesClassifier(families=Normal()).fit(
        [[np.nan, 1.0], [np.nan, 2.0], [1.0, 3.0]], ["a", "a", "b"]
    )
    with pytest.raises(ValueError, match="column 0") as error:
        gappy.forget([[1.0, 1.0]], ["a"])
    one_sentence(error)


@pytest.mark.parametrize(
    "family, kept, gone",
    [
        # The squares left would be negative: a spread that no data have.
        (Normal(), [1.0, 2.0, 3.0], [9.0]),
        (Normal(), [1.0, 1.0, 1.0], [2.0]),
        # One of two flags was set, and a third is taken away.
        (Bernoulli(), [0.0, 0.0, 1.0], [1.0, 1.0]),
        (Poisson(), [1.0, 0.0, 1.0], [7.0]),
        (Gamma(), [1.0, 1.1, 1.2], [50.0]),
    ],
    ids=["Normal", "Normal constant", "Bernoulli", "Poisson", "Gamma"],
)
def test_forget_refuses_values_that_were_never_there(family, kept, gone):
    rows = np.array([*kept, 1.0, 1.0])[:, np.newaxis]
    labels = ["a"] * len(kept) + ["b", "b"]
    model = BayesClassifier(families=family).fit(rows, labels)
    before = model.statistics_
    with pytest.raises(ValueError, match=r"never fitted|no data could produce") as error:
        model.forget(np.array(gone)[:, np.newaxis], ["a"] * len(gone)).predict_proba(rows)
    assert "column 0" in one_sentence(error)
    assert model.statistics_ == before


def test_a_negative_weight_is_refused_even_with_rows():
    a = summarize(X, Y, families=Normal())
    with pytest.raises(ValueError, match="no data could produce") as error:
        BayesClassifier().fit_statistics(a * -1.0)
    one_sentence(error)
    with pytest.raises(ValueError, match="no data could produce"):
        BayesClassifier().fit_statistics(a * 0.0)


def test_a_failed_fit_statistics_leaves_the_model_as_it_was():
    model = BayesClassifier(families=Normal()).fit(X, Y)
    before, posterior = model.statistics_, model.predict_proba(X)
    with pytest.raises(ValueError, match="no data could produce"):
        model.fit_statistics(-before)
    assert model.statistics_ == before
    np.testing.assert_array_equal(model.predict_proba(X), posterior)


def test_decay_keeps_a_model_usable():
    total = summarize(X, Y, families=Normal())
    fresh = summarize(X + 1.0, Y, families=Normal())
    for _ in range(2000):
        total = total * 0.99 + fresh
    model = BayesClassifier().fit_statistics(total)
    limit = BayesClassifier().fit_statistics(fresh * 100.0)
    np.testing.assert_allclose(model.predict_proba(X), limit.predict_proba(X), rtol=1e-6)


# --- other columns, other families ----------------------------------------------------------------


def test_statistics_of_other_columns_name_the_difference():
    pandas = pytest.importorskip("pandas")
    a = summarize(pandas.DataFrame({"age": [1.0, 2.0], "size": [3.0, 4.0]}), ["a", "b"])
    b = summarize(pandas.DataFrame({"age": [1.0, 2.0], "weight": [3.0, 4.0]}), ["a", "b"])
    for deed, combine in (("added", lambda: a + b), ("subtracted", lambda: a - b)):
        with pytest.raises(ValueError, match=f"cannot be {deed}") as error:
            combine()
        text = one_sentence(error)
        assert "'size'" in text
        assert "'weight'" in text
    swapped = summarize(pandas.DataFrame({"size": [3.0, 4.0], "age": [1.0, 2.0]}), ["a", "b"])
    with pytest.raises(ValueError, match="order"):
        a + swapped
    assert a != b
    assert not a.isclose(b)


def test_statistics_of_another_number_of_columns_name_the_difference():
    with pytest.raises(ValueError, match="columns differ") as error:
        summarize(X, Y) + summarize(X[:, :1], Y)
    one_sentence(error)


def test_statistics_of_other_families_name_both():
    a, b = summarize(X, Y, families=Normal()), summarize(X, Y, families={0: Normal(), 1: Gamma()})
    with pytest.raises(ValueError, match="cannot be added") as error:
        a + b
    text = one_sentence(error)
    assert "column 1" in text
    assert "Normal()" in text
    assert "Gamma()" in text
    model = BayesClassifier().fit_statistics(a)
    with pytest.raises(ValueError, match="Gamma"):
        model.merge(b)
    assert model.statistics_ == a


def test_a_column_left_out_does_not_add_to_one_that_is_not():
    a, b = summarize(X, Y, families=Normal()), summarize(X, Y, families={0: Normal(), 1: None})
    with pytest.raises(ValueError, match="left out"):
        a + b


def test_an_undecided_column_adds_to_any():
    pandas = pytest.importorskip("pandas")
    empty = summarize(pandas.DataFrame({"x": [1.0, 2.0], "y": [None, None]}), ["a", "b"])
    full = summarize(pandas.DataFrame({"x": [1.0, 2.0], "y": ["p", "q"]}), ["a", "b"])
    for total in (empty + full, full + empty):
        model = BayesClassifier().fit_statistics(total)
        assert model.statistics_.n_rows == 4
        assert repr(model.schema_["y"].family) == "Categorical()"
    assert (empty + full) - empty == full


def test_settings_of_solving_are_part_of_the_schema_but_not_of_the_sums():
    a = summarize(X, Y, families=Normal())
    b = summarize(X, Y, families=Normal(alpha=0.0))
    for one, two in zip(a.totals, b.totals, strict=True):
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, two.arrays()[name])


# --- one row costs one row ------------------------------------------------------------------------


def seconds_per_row(model, row, label, n_updates=200):
    for _ in range(5):
        model.partial_fit(row, label)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for _ in range(n_updates // 4):
            model.partial_fit(row, label)
        best = min(best, time.process_time() - start)
    return best


def test_a_one_row_update_does_not_scale_with_the_classes():
    def model(n_classes):
        values = np.arange(2.0 * n_classes)[:, np.newaxis] + np.arange(3.0)
        return BayesClassifier(families=Normal()).fit(values, np.arange(2 * n_classes) % n_classes)

    few, many = (seconds_per_row(model(k), np.array([[1.0, 2.0, 3.0]]), [0]) for k in (10, 2000))
    assert many < 20 * few


def test_a_one_row_update_does_not_scale_with_the_levels():
    def model(n_levels):
        values = np.array([f"level {i}" for i in range(n_levels)] * 2, dtype=object)[:, np.newaxis]
        return BayesClassifier(families=Categorical()).fit(values, np.arange(2 * n_levels) % 2)

    few, many = (seconds_per_row(model(k), np.array([["level 1"]], dtype=object), [0]) for k in (10, 20_000))
    assert many < 20 * few


def test_updates_solve_nothing(monkeypatch):
    from suffice.model.solved import solution

    model = BayesClassifier(families=Normal()).fit(X, Y)
    model.predict(X)
    solved = []
    original = solution.SolvedModel.__init__
    monkeypatch.setattr(
        solution.SolvedModel, "__init__", lambda self, *a, **k: (solved.append(1), original(self, *a, **k))[1]
    )
    for _ in range(5):
        model.partial_fit(X[:1], Y[:1])
        model.forget(X[:1], Y[:1])
    assert not solved
    model.predict(X)
    model.predict_proba(X)
    assert len(solved) == 1


def test_statistics_of_other_families_cannot_be_subtracted():
    one, other = summarize(X, Y, families=Normal()), summarize(X, Y, families=Gamma())
    with pytest.raises(ValueError, match="these statistics cannot be subtracted: column 0 is"):
        one - other
    with pytest.raises(ValueError, match="these statistics cannot be added: column 0 is"):
        one + other


def test_one_row_one_class_and_one_column_are_singular():
    printed = repr(summarize(X[:1, :1], Y[:1], families=Normal())).splitlines()
    assert printed[0].startswith("Statistics: 1 row, 1 class, 1 column, ")
    assert printed[1] == "  class 'a': 1 row, weight 1"
    many = repr(summarize(np.zeros((11, 1)), np.arange(11), families=Poisson()))
    assert many.endswith("… 1 more class")


def test_a_column_of_one_category_is_said_to_have_one():
    model = BayesClassifier().fit([["x"], ["x"], ["x"]], [0, 1, 1])
    assert "1 category" in repr(model.schema_)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("family", [Multinomial(), Poisson()], ids=repr)
def test_a_refused_count_is_named_with_its_row(family, container):
    counts = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, -3.0]])
    with pytest.raises(ValueError, match=r"column 1: the value -3.0 \(row 2\) is outside the support"):
        BayesClassifier(family).fit(container(counts), [0, 1, 1])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_count_that_is_refused_when_predicting_is_named_with_its_row(container):
    model = BayesClassifier(Multinomial(unseen="error")).fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"column 1: the value -1.0 \(row 1\) is outside .* all counts of"):
        model.predict(container(np.array([[1.0, 1.0], [1.0, -1.0]])))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_counts_too_large_to_be_summed_are_refused_in_any_container(container):
    counts = np.array([[1.0, 0.0], [0.0, 1e308]])
    with pytest.raises(ValueError, match="column 1: the values are too large"):
        BayesClassifier(Poisson()).fit(container(counts), [0, 1])
