"""Labels, levels and containers come back as they were, in value and in type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffice import BayesClassifier
from suffice.families import Categorical

from .conftest import loaded, saved


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1], dtype=np.int8),
        np.array([2**63 + 1, 5], dtype=np.uint64),
        np.array([True, False]),
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["x", "Ünïcode"], dtype="<U12"),
        np.array(["x", "y z"], dtype=object),
        np.array([b"x", b"y"]),
        pd.Series(["x", "y"], dtype="category"),
        np.array(["a\x01", "\ud800"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_values_and_dtype(labels):
    model = BayesClassifier().fit([[0.0], [1.0], [5.0], [6.0]], np.repeat(np.asarray(labels), 2))
    twin = loaded(saved(model))
    assert twin.classes_.dtype == model.classes_.dtype
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in twin.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]


FRAME = {
    "number": [1.5, 2.0, 3.0, 9.0],
    "whole": [1, 2, 3, 4],
    "flag": [True, False, True, True],
    "town": list("abca"),
}
CONTAINERS = {
    "list": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]],
    "float32": np.arange(8, dtype=np.float32).reshape(4, 2),
    "integers": np.arange(8, dtype=np.int16).reshape(4, 2),
    "dates": np.arange(8).astype("datetime64[D]").reshape(4, 2),
    "objects": np.array([[1, "a"], [2, "b"], [3, "c"], [4, "a"]], dtype=object),
    "texts": np.array([["x", "a"], ["x", "b"], ["y", "c"], ["y", "a"]]),
    "csr": sparse.csr_array(np.eye(4, 3)),
    "csc matrix": sparse.csc_matrix(np.eye(4, 3)),
    "pandas": pd.DataFrame(FRAME),
    "pandas nullable": pd.DataFrame(FRAME).convert_dtypes(),
    "pandas numbered": pd.DataFrame(np.arange(8.0).reshape(4, 2)),
    "pandas tuples": pd.DataFrame(
        np.arange(8.0).reshape(4, 2), columns=pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)
    ),
    "pandas nested": pd.DataFrame(
        np.arange(8.0).reshape(4, 2), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    ),
    "pandas others": pd.DataFrame(
        {
            "town": pd.Categorical(list("abca"), categories=list("cba"), ordered=True),
            "when": pd.date_range("2024", periods=4, tz="Europe/Berlin"),
            "lasts": pd.to_timedelta([1, 2, 3, 4], unit="h"),
            "arrow": pd.array([1.5, 2.5, 3.5, 4.5], dtype="double[pyarrow]"),
            "period": pd.period_range("2024-01", periods=4, freq="M"),
        }
    ),
    "polars": pl.DataFrame(FRAME),
    "polars others": pl.DataFrame(
        {
            "town": pl.Series(list("abca"), dtype=pl.Enum(["a", "b", "c"])),
            "kind": pl.Series(list("abca"), dtype=pl.Categorical),
            "when": pd.date_range("2024", periods=4, tz="Europe/Berlin").to_list(),
            "lasts": pl.Series(pd.to_timedelta([1, 2, 3, 4], unit="h").to_list()),
        }
    ),
    "pyarrow": pa.table(FRAME),
    "pyarrow others": pa.table(
        {
            "town": pa.array(list("abca")).dictionary_encode(),
            "when": pa.array([1, 2, 3, 4], pa.timestamp("ms", tz="UTC")),
            "day": pa.array([1, 2, 3, 4], pa.date32()),
            "clock": pa.array([1, 2, 3, 4], pa.time64("us")),
        }
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_samples_come_in_the_container_of_the_fit(name):
    model = BayesClassifier().fit(CONTAINERS[name], ["u", "u", "v", "v"])
    twin = loaded(saved(model))
    assert saved(twin) == saved(model)
    mine, _ = model.sample(5, random_state=1)
    theirs, _ = twin.sample(5, random_state=1)
    assert type(theirs) is type(mine)
    if isinstance(mine, pd.DataFrame):
        pd.testing.assert_frame_equal(theirs, mine)
    elif isinstance(mine, pl.DataFrame | pa.Table):
        assert theirs.equals(mine)
        assert theirs.schema == mine.schema
    else:
        assert theirs.dtype == mine.dtype
        dense = [rows.toarray() if sparse.issparse(rows) else rows for rows in (mine, theirs)]
        np.testing.assert_array_equal(*dense)


def test_levels_keep_their_types():
    X = np.array([["1", 1], [True, 2.5], ["Köln", 2**70], ["", -3]], dtype=object)
    model = BayesClassifier(Categorical()).fit(X, [0, 0, 1, 1])
    twin = loaded(saved(model))
    for mine, theirs in zip(
        model.statistics_.totals[0].columns, twin.statistics_.totals[0].columns, strict=True
    ):
        assert theirs.levels == mine.levels
        assert [type(level) for level in theirs.levels] == [type(level) for level in mine.levels]
