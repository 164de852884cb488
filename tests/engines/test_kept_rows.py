"""Rows that are kept of many parts: the same whoever merges them, and unchanged by the way."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from suffice.engines.kept_rows import KeptRows, merge_kept
from suffice.engines.packed_rows import pack_rows, unpack_rows
from suffice.engines.partial_sums import MergeSeveral
from suffice.tables.files.batches import LabelledBatch

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(30, 4)).round(1) * (RNG.random((30, 4)) < 0.6)
TOWNS = pa.array(["Ulm", None, "Rom"] * 10).dictionary_encode()
OBJECTS = np.array([["Ulm", 1.5, None], ["Rom", 2.0, "x"], [None, 0.5, "y"]] * 10, dtype=object)


@pytest.mark.parametrize(
    "X",
    [
        NUMBERS,
        NUMBERS.astype(np.float32),
        NUMBERS > 0,
        sparse.csr_array(NUMBERS),
        OBJECTS,
        pa.table({"label": NUMBERS[:, 0], "town": TOWNS}),
    ],
)
@pytest.mark.parametrize("y", [np.arange(30) % 3, np.array(["a", "b", "c"] * 10, dtype=object)])
@pytest.mark.parametrize("weight", [None, np.arange(30) / 4.0])
def test_rows_are_the_same_after_they_were_sent(X, y, weight):
    found, beside = unpack_rows(pack_rows(LabelledBatch(X, y, weight), {"place": np.arange(30)}))
    assert type(found.X) is type(X)
    if isinstance(X, pa.Table):
        assert found.X.to_pylist() == X.to_pylist()
    else:
        assert found.X.dtype == X.dtype
        assert (found.X != X).sum() == 0
    assert found.y.tolist() == y.tolist()
    assert (found.weight is None) if weight is None else (found.weight == weight).all()
    assert beside["place"].tolist() == list(range(30))


def kept(part, n_rows, most=40):
    """The rows of a part, in batches of seven."""
    rows = KeptRows(most, part)
    for start in range(0, n_rows, 7):
        places = 1000.0 * part + np.arange(start, min(start + 7, n_rows))
        rows.add(LabelledBatch(places[:, np.newaxis], places.astype(int), None))
    return rows.packed()


def test_the_same_rows_are_kept_in_whatever_order_parts_are_merged():
    parts = [kept(part, n_rows) for part, n_rows in enumerate([60, 0, 5, 90, 33])]
    whole = KeptRows.unpacked(parts).batch()
    assert len(whole.y) == 40
    assert (whole.X[:, 0] == whole.y).all()
    assert whole.y.tolist() == sorted(whole.y.tolist())  # in the order of the parts
    grouped = merge_kept(
        [merge_kept([parts[4], parts[1]]), merge_kept(parts[3:0:-2]), merge_kept(parts[:3:2])]
    )
    assert KeptRows.unpacked([grouped]).batch().y.tolist() == whole.y.tolist()
    assert KeptRows.unpacked([merge_kept(parts[1:2]), parts[2]]).batch().y.tolist() == [*range(2000, 2005)]


def test_every_row_is_as_likely_to_be_kept_as_any_other():
    times = np.zeros(2)
    for shift in range(300):
        places = KeptRows.unpacked([kept(2 * shift, 20, most=6), kept(2 * shift + 1, 10, most=6)]).batch().y
        times += np.bincount((places // 1000) % 2, minlength=2)
    assert times.sum() == 300 * 6
    assert abs(times[0] - 1200) < 4 * np.sqrt(1800 * 2 / 9)


def test_parts_of_several_things_are_merged_one_by_one():
    merge = MergeSeveral((b"".join, b"+".join))
    parts = list(map(merge.packed, [[b"a", b""], [b"", b"1"], [b"bc", b"2"]]))
    assert merge.unpacked(merge(parts)) == [b"abc", b"+1+2"]
    with pytest.raises(ValueError, match="there are no rows to add up"):
        merge([])
