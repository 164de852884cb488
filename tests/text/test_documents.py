"""Documents from any column of strings, and clear words for what is none."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.text import read_documents

TEXTS = ["plain", "", "naïve 日本 😀", None, "last"]
EMPTY_FOR_NONE = ["plain", "", "naïve 日本 😀", "", "last"]

COLUMNS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "list with NaN": [*TEXTS[:3], float("nan"), "last"],
    "list with pandas.NA": [*TEXTS[:3], pd.NA, "last"],
    "list with NaT": [*TEXTS[:3], pd.NaT, "last"],
    "list of bytes": [None if text is None else text.encode() for text in TEXTS],
    "objects": np.array(TEXTS, dtype=object),
    "StringDType": np.array([*TEXTS[:3], np.nan, "last"], dtype=np.dtypes.StringDType(na_object=np.nan)),
    "masked": np.ma.array(["plain", "", "naïve 日本 😀", "gone", "last"], mask=[0, 0, 0, 1, 0]),
    "pandas str": pd.Series(TEXTS, dtype="str"),
    "pandas object": pd.Series(TEXTS, dtype=object),
    "pandas string": pd.Series(TEXTS, dtype="string"),
    "pandas category": pd.Series(TEXTS, dtype="category"),
    "pandas arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "pandas index": pd.Index(TEXTS),
    "polars": pl.Series(TEXTS),
    "polars categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "string": pa.array(TEXTS),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "binary": pa.array([None if text is None else text.encode() for text in TEXTS]),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "slice": pa.array(["before", *TEXTS, "after"]).slice(1, 5),
    "large slice": pa.array(["before", *TEXTS, "after"], pa.large_string()).slice(1, 5),
    "chunks": pa.chunked_array([TEXTS[:2], [], TEXTS[2:]]),
    "chunked dictionaries": pa.chunked_array(
        [pa.array(TEXTS[:2]).dictionary_encode(), pa.array(TEXTS[2:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_holds_the_same_documents(name):
    documents = read_documents(COLUMNS[name])
    assert list(documents.texts()) == EMPTY_FOR_NONE
    assert documents.missing.tolist() == [False, False, False, True, False]
    assert len(documents) == 5
    assert documents.n_bytes == sum(len(text.encode()) for text in EMPTY_FOR_NONE)


def test_a_part_is_a_view():
    documents = read_documents(TEXTS)
    part = documents.part(2, 4)
    assert list(part.texts()) == EMPTY_FOR_NONE[2:4]
    assert part.missing.tolist() == [False, True]
    assert np.shares_memory(part.bytes, documents.bytes)


@pytest.mark.parametrize(
    "nothing", [[], np.array([], dtype=str), pa.array([], pa.string()), pl.Series([], dtype=pl.String)]
)
def test_no_documents_are_no_documents(nothing):
    assert len(read_documents(nothing)) == 0


def test_all_missing():
    for nothing in ([None, None], pa.array([None, None])):
        assert read_documents(nothing).missing.all()


def test_complete_columns_have_no_mask():
    assert read_documents(np.array(["a", "bc"])).missing is None


def test_a_null_that_covers_bytes_is_empty():
    strings = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"abc"), pa.py_buffer(b"\1")
    )
    assert list(read_documents(strings).texts()) == ["a", ""]


BAD = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"ab\xff"))
REFUSED = [
    ("one text", TypeError, r"single string .* pass \[text\]"),
    (b"one text", TypeError, r"single bytes object .* pass \[document.decode\(\)\]"),
    (["a", 3], TypeError, "document 1 is of type int, not a string: 3"),
    (["a", None, 2.5], TypeError, "document 2 is of type float"),
    (["a", ["b"]], TypeError, "document 1 is of type list"),
    (pd.Series(["a", 1], dtype=object), TypeError, "document 1 is of type int"),
    (np.array([1, 2]), TypeError, "document 0 is of type int"),
    (pd.Series([1, 2]), TypeError, "type int64"),
    (pl.Series([1, 2]), TypeError, "type int64"),
    (pa.array([1.5]), TypeError, "type double"),
    (["ok", "bad \ud800", 3], TypeError, "document 2 is of type int"),
    (["ok", b"12345\xff"], ValueError, "document 1: not valid UTF-8 at byte 5; decode it first"),
    (pa.array([b"ok", None, b"1\xff"]), ValueError, "document 2: not valid UTF-8 at byte 1"),
    (BAD, ValueError, "document 1: not valid UTF-8 at byte 1"),
    (np.array([["a", "b"]]), ValueError, r"one-dimensional, not of shape \(1, 2\)"),
    (np.array("a"), ValueError, r"one-dimensional, not of shape \(\)"),
    (pd.DataFrame({"a": ["b"]}), ValueError, "pass a single column"),
    (pl.DataFrame({"a": ["b"]}), ValueError, "pass a single column"),
    (pa.table({"a": ["b"]}), ValueError, "pass a single column"),
    ({"a", "b"}, TypeError, r"not a set; pass list\(documents\)"),
    ((text for text in "ab"), TypeError, "not a generator"),
    (None, TypeError, "not a NoneType"),
]


@pytest.mark.parametrize("column, error, message", REFUSED)
def test_what_is_no_column_of_strings_is_refused_with_a_cure(column, error, message):
    with pytest.raises(error, match=message):
        read_documents(column)


LONE = ["a\ud800b c", None, "\udfff", "fine", "\udc00\ud800"]


@pytest.mark.parametrize(
    "column",
    [
        LONE,
        tuple(LONE),
        np.array(LONE, dtype=object),
        pd.Series(LONE, dtype=object),
        pd.Series(LONE, dtype="string[python]"),
        pd.Series(pd.Categorical.from_codes([0, -1, 1, 2, 3], pd.Index([LONE[0], *LONE[2:]], dtype=object))),
    ],
    ids=["list", "tuple", "objects", "pandas objects", "pandas strings", "categories"],
)
def test_lone_surrogates_are_read_as_replacement_characters_in_place(column):
    documents = read_documents(column)
    assert list(documents.texts()) == ["a\ufffdb c", "", "\ufffd", "fine", "\ufffd\ufffd"]
    assert documents.missing.tolist() == [False, True, False, False, False]


def test_lone_surrogates_in_an_array_of_fixed_width_are_read_as_replacement_characters():
    assert list(read_documents(np.array(["a\ud800b"])).texts()) == ["a\ufffdb"]


def test_surrogate_pairs_are_not_joined_and_characters_beyond_the_plane_stay():
    assert list(read_documents(["\ud83d\ude00", "\U0001f600"]).texts()) == ["\ufffd\ufffd", "\U0001f600"]
