from decimal import Decimal
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from suffice import (
    BayesClassifier,
    EvidenceClassifier,
    GaussianDiscriminant,
    LogisticRegression,
    summarize,
)
from suffice.arrays import read_only
from suffice.dropin import GaussianNB
from suffice.tables import coded_labels
from suffice.tables.coded_labels import CodedLabels, read_coded_labels
from suffice.tables.targets import class_index, read_labels


@pytest.mark.parametrize("labels", [[1, 2], [True, False], ["a", "b"], [0.5, 1.5]])
def test_an_array_of_labels_is_handed_back_itself(labels):
    y = np.array(labels)
    assert read_labels(y) is y


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 3],
        np.array([3, 1, 3], dtype=object),
        np.array([3, 1, np.int32(3)], dtype=object),
        pd.Series([3, 1, 3]),
        pd.Series([3, 1, 3], dtype="Int64"),
        pd.Series([3, 1, 3], dtype="category"),
        pd.Series([3, 1, 3], dtype="int64[pyarrow]"),
        pd.Categorical([3, 1, 3]),
        pd.Index([3, 1, 3]),
        pl.Series([3, 1, 3]),
        pa.array([3, 1, 3]),
        pa.chunked_array([[3, 1], [3]]),
        pa.array([3, 1, 3]).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__}-{type(y).__name__}",
)
def test_integer_labels_of_every_container_are_integers(y):
    labels = read_labels(y)
    assert labels.dtype.kind == "i"
    assert_array_equal(labels, [3, 1, 3])


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array([b"b", b"a", b"b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="string"),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string[pyarrow]"),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b", "a"], ["b"]]),
        pa.array(["b", "a", "b"], pa.string_view()),
        pa.array(["b", "a", "b"]).dictionary_encode(),
        pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]),
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_text_labels_of_every_container_are_strings(y):
    labels = read_labels(y)
    assert type(labels) is np.ndarray
    assert labels.dtype.kind in "UO"
    assert all(isinstance(label, str) for label in labels)
    assert_array_equal(labels, ["b", "a", "b"])


@pytest.mark.parametrize(
    "y",
    [
        [True, False],
        pd.Series([True, False], dtype="boolean"),
        pl.Series([True, False]),
        pa.array([True, False]),
        np.array([True, False], dtype=object),
    ],
    ids=lambda y: f"{type(y).__module__}-{type(y).__name__}",
)
def test_boolean_labels_of_every_container_are_booleans(y):
    labels = read_labels(y)
    assert labels.dtype == np.bool
    assert_array_equal(labels, [True, False])


def test_decimal_labels_are_floats():
    assert_array_equal(read_labels([Decimal("0.5"), 1]), [0.5, 1.0])


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", "a", None],
        ["a", "b", "a", np.nan],
        [1, 2, 1, None],
        np.array([1, 2, 1, np.nan]),
        np.ma.array([1, 2, 1, 2], mask=[0, 0, 0, 1]),
        pd.Series([1, 2, 1, None], dtype="Int64"),
        pd.Series(["a", "b", "a", None]),
        pd.Series(["a", "b", "a", None], dtype="category"),
        pd.Series([True, False, True, None], dtype="boolean"),
        pl.Series([1, 2, 1, None]),
        pl.Series(["a", "b", "a", None], dtype=pl.Categorical),
        pa.array(["a", "b", "a", None]),
        pa.array(["a", "b", "a", None]).dictionary_encode(),
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_a_missing_label_is_refused_with_its_row(y):
    with pytest.raises(ValueError, match="y has a missing label at row 3; drop the row"):
        read_labels(y)


@pytest.mark.parametrize(
    "y, message",
    [
        (None, "y should be a 1d array .* got None"),
        (object(), "y should be a 1d array .* got an object"),
        (pl.LazyFrame({"y": [1]}), r"one label per row in memory, got a LazyFrame; .* y\.collect\(\)"),
        (np.ones((2, 2)), r"y should be a 1d array .* \(2, 2\)"),
        ([["a"], ["b", "c"]], "y is not rectangular"),
        ([10**20, 1], "more than 64 bits; convert them to strings"),
        ([1.0, np.inf], "y has an infinite label at row 1"),
        (["a", 1], "type int, str; convert all of them to strings"),
        ([{"a": 1}, "b"], "type dict, str; convert all of them to strings"),
        (np.ones(2, complex), "Complex data not supported"),
        (np.array(["2020"], dtype="datetime64[Y]"), "convert the labels to strings"),
    ],
)
def test_what_is_no_label_is_refused_with_the_cure(y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y)


def test_a_column_vector_is_read_with_the_warning_of_scikit_learn():
    for y in (np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]})):
        with pytest.warns(
            DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
        ):
            labels = read_labels(y)
        assert_array_equal(labels, [1, 2])


def test_no_labels_are_an_empty_array():
    assert read_labels([]).shape == (0,)


@pytest.mark.parametrize(
    "label, classes, words",
    [
        ("Gento", ["Adelie", "Gentoo"], r"no class 'Gento'; did you mean 'Gentoo'\? The classes are \['Ad"),
        ("YES", ["no", "yes"], "did you mean 'yes'"),
        ("1", [0, 1], r"did you mean 1\?"),
        ("rose", ["setosa", "virginica"], r"no class 'rose'; the classes are \['setosa', 'virginica'\]\."),
        (-1, np.arange(25), "18, 19] and 5 more"),
    ],
)
def test_a_label_that_is_no_class_is_refused_with_the_nearest(label, classes, words):
    with pytest.raises(ValueError, match=words):
        class_index(label, classes)


def test_a_label_is_found_among_the_classes_whatever_its_type():
    assert class_index(np.str_("b"), np.array(["a", "b"])) == 1
    assert class_index(np.int64(7), [5, 7]) == 1


TEXTS = ["low", "high", "low", "", "größer", "high"]


@pytest.mark.parametrize(
    "y",
    [
        np.array(TEXTS, dtype=object),
        np.array(TEXTS),
        np.array([text for text in TEXTS for _ in range(2)])[::2],
        np.array(TEXTS).astype(">U9"),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype="category"),
        pd.Series(TEXTS, dtype="string[pyarrow]"),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pl.Series(TEXTS, dtype=pl.Enum(["unused", *dict.fromkeys(TEXTS)])),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pa.chunked_array([pa.array(TEXTS[:4]).dictionary_encode(), pa.array(TEXTS[4:]).dictionary_encode()]),
        TEXTS,
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', getattr(y, 'type', 'list'))}",
)
@pytest.mark.parametrize("weights", [None, [1, 2, 0, 1, 1, 0]])
def test_text_labels_of_every_container_make_the_same_sums(y, weights):
    X = np.arange(6.0).reshape(-1, 1)
    expected = summarize(
        X, [["", "größer", "high", "low"].index(text) for text in TEXTS], sample_weight=weights
    )
    found = summarize(X, y, sample_weight=weights)
    kept = ["", "größer", "high", "low"]
    assert found.classes.tolist() == kept
    assert_array_equal(found.support, expected.support)
    assert_array_equal(found.totals[0].arrays()["total"], expected.totals[0].arrays()["total"])


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None], dtype=object),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pa.array(["a", None]),
        pa.chunked_array([["a"], [None]]),
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_a_missing_text_label_is_refused_by_its_row(y):
    with pytest.raises(ValueError, match="missing label at row 1"):
        summarize([[1.0], [2.0]], y)


@pytest.mark.parametrize("n_labels", [300, 3000])
def test_text_whose_sums_of_characters_agree_is_told_apart(n_labels):
    labels = np.array([f"label {i}" for i in range(n_labels)] * 2)
    assert_array_equal(summarize(np.zeros((len(labels), 1)), labels).classes, np.unique(labels))


def test_text_beside_other_labels_is_refused():
    with pytest.raises(ValueError, match="labels of type bytes, str"):
        summarize([[1.0], [2.0]], np.array(["a", b"a"], dtype=object))


def in_words(n_rows, n_words, *, in_order=False):
    """Text labels, of different lengths, as Python objects that come again and again."""
    numbers = np.random.default_rng(n_words).integers(0, n_words, n_rows)
    words = np.array([f"class {'x' * (k % 3)}{k}" for k in range(n_words)], dtype=object)
    return words[np.sort(numbers) if in_order else numbers]


CONTAINERS_OF_TEXT = {
    "objects": lambda text: text,
    "equal objects": lambda text: np.array(["".join(list(word)) for word in text], dtype=object),
    "every other object": lambda text: np.repeat(text, 2)[::2],
    "NumPy text": lambda text: text.astype(str),
    "read-only text": lambda text: read_only(text.astype(str)),
}


@pytest.mark.parametrize("container", CONTAINERS_OF_TEXT)
@pytest.mark.parametrize("n_words", [1, 2, 100, 400, 3000])
@pytest.mark.parametrize("in_order", [True, False])
def test_text_as_codes_is_the_text(container, n_words, in_order, monkeypatch):
    monkeypatch.setattr(coded_labels, "ROWS_AT_ONCE", 1000)
    y = CONTAINERS_OF_TEXT[container](in_words(5500, n_words, in_order=in_order))
    read = read_coded_labels(y)
    assert isinstance(read, CodedLabels) or (n_words > 100 and y.dtype.kind == "U")
    if isinstance(read, CodedLabels):
        assert len(set(read.values.tolist())) == len(read.values) == len(set(y.tolist()))
        assert_array_equal(read.values[read.codes], y)


@pytest.mark.parametrize("other", [None, np.nan, 1, b"a"])
def test_a_label_that_is_not_text_is_read_as_without_codes(other):
    y = in_words(5500, 3)
    y[5400] = other
    assert coded_labels._of_objects(y) is None


def test_labels_that_cannot_be_hashed_have_no_codes():
    y = in_words(5500, 3)
    y[5400] = ["a list"]
    assert coded_labels._of_objects(y) is None


def test_different_labels_with_the_same_sums_are_not_taken_for_each_other(monkeypatch):
    y = in_words(5500, 3)
    assert coded_labels._of_text(y.astype(str)) is not None
    monkeypatch.setattr(coded_labels, "FIRST_ROWS", 1)  # which shows no difference
    assert coded_labels._of_text(y.astype(str)) is None
    assert_array_equal(coded_labels._of_objects(y).values[coded_labels._of_objects(y).codes], y)


KINDS = {"text": ["0", "1"], "booleans": [False, True], "numbers": [0, 1]}
"""The same two labels: False is equal to 0."""


@pytest.mark.parametrize("before, now", list(permutations(KINDS, 2)))
@pytest.mark.parametrize(
    "model", [BayesClassifier(), GaussianDiscriminant(), EvidenceClassifier(), GaussianNB()], ids=repr
)
def test_labels_of_another_kind_than_those_before_are_refused(model, before, now):
    X, at = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    first, second = np.array(KINDS[before])[at], np.array(KINDS[now])[at]
    model = clone(model).partial_fit(X, first)
    posteriors = model.predict_proba(X)
    seen, new = KINDS[before][0], KINDS[now][0]
    mixed = " and ".join(kind for kind in KINDS if kind in (before, now))
    refusal = f"the labels mix {mixed}: {seen!r} was seen before, now {new!r}; convert y to one type"
    for deed in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=refusal):
            deed(X, second)
    with pytest.raises(ValueError, match=refusal):
        model.merge(clone(model).fit(X, second))
    assert (model.predict_proba(X) == posteriors).all()
    assert model.partial_fit(X, first.astype(float) if before == "numbers" else first).classes_.shape == (2,)


def test_statistics_of_labels_of_another_kind_are_not_equal():
    one, other = (summarize([[1.0], [2.0]], labels) for labels in ([0, 1], [False, True]))
    assert one != other
    assert one == summarize([[1.0], [2.0]], [0.0, 1.0])


def test_declared_classes_are_of_the_kind_of_the_labels():
    with pytest.raises(ValueError, match="the labels mix booleans and numbers: 0 was seen before, now False"):
        GaussianNB().partial_fit([[1.0], [2.0]], [False, True], classes=[0, 1])


@pytest.mark.parametrize("model", [LogisticRegression(), EvidenceClassifier(), BayesClassifier()], ids=repr)
def test_batches_whose_labels_are_of_two_kinds_are_refused(model):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="the labels mix booleans and numbers: False was seen before, now 0"):
        model.fit_from([(X, y > 0), (X, y)])


def test_a_target_may_be_named_by_a_number():
    frame = pd.DataFrame({1: [1.0, 2.0, 4.0], 0: ["a", "b", "a"]})
    found = summarize(frame, target=0)
    assert found == summarize(frame[[1]], frame[0])
    assert found.classes.tolist() == ["a", "b"]
