"""One mixed table with gaps, in every container."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ARROW_TYPES = {
    "length": pa.float64(),
    "waiting": pa.float64(),
    "children": pa.int64(),
    "smoker": pa.bool_(),
    "town": pa.string(),
    "size": pa.dictionary(pa.int32(), pa.string()),
    "born": pa.date32(),
    "seen": pa.timestamp("us"),
    "stay": pa.duration("us"),
    "hour": pa.time64("us"),
}
PANDAS_NULLABLE = {
    "length": "Float64",
    "waiting": "Float64",
    "children": "Int64",
    "smoker": "boolean",
    "town": "string",
    "size": pd.CategoricalDtype(["small", "medium", "large"]),
    "born": object,
    "seen": "datetime64[us]",
    "stay": "timedelta64[us]",
    "hour": object,
}
N_ROWS = 120


def cells():
    """Columns of plain Python values, None where a cell is missing, and the labels."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, N_ROWS)
    numbers = rng.integers(-40, 40, N_ROWS)
    columns = {
        "length": [float(v) / 8 for v in numbers + 10 * y],
        "waiting": [float(v) for v in np.exp(rng.normal(y, 1.2))],
        "children": [int(v) for v in rng.poisson(1.0 + 6 * y)],
        "smoker": [bool(v) for v in rng.random(N_ROWS) < 0.2 + 0.3 * y],
        "town": [("Ulm", "Bonn", "Köln")[v] for v in (rng.integers(0, 2, N_ROWS) + y) % 3],
        "size": [("small", "medium", "large")[v] for v in (rng.integers(0, 2, N_ROWS) + y) % 3],
        "born": [dt.date(1990, 1, 1) + dt.timedelta(days=int(v)) for v in rng.integers(0, 9000, N_ROWS)],
        "seen": [
            dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(v))  # noqa: DTZ001, naive counts as UTC
            for v in rng.integers(0, 90_000, N_ROWS)
        ],
        "stay": [dt.timedelta(minutes=int(v)) for v in rng.integers(1, 600, N_ROWS)],
        "hour": [dt.time(int(v) // 60, int(v) % 60) for v in rng.integers(0, 1440, N_ROWS)],
    }
    for values in columns.values():
        for row in rng.choice(np.arange(1, N_ROWS), 12, replace=False):
            values[row] = None
    return columns, np.array(["ash", "birch", "cedar"])[y]


def numpy_object(columns):
    rows = np.empty((N_ROWS, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        rows[:, j] = values
    return rows


def pandas_default(columns):
    frame = pd.DataFrame(columns)
    frame["size"] = frame["size"].astype(pd.CategoricalDtype(["small", "medium", "large"]))
    return frame


def pandas_nullable(columns):
    return pd.DataFrame(
        {name: pd.Series(values, dtype=PANDAS_NULLABLE[name]) for name, values in columns.items()}
    )


def pandas_arrow(columns):
    return pd.DataFrame(
        {
            name: pd.Series(pd.array(values, dtype=pd.ArrowDtype(ARROW_TYPES[name])))
            for name, values in columns.items()
        }
    )


def polars(columns):
    frame = pl.DataFrame({name: pl.Series(name, values) for name, values in columns.items()})
    return frame.with_columns(pl.col("size").cast(pl.Enum(["small", "medium", "large"])))


def pyarrow(columns):
    return pa.table({name: pa.array(values, type=ARROW_TYPES[name]) for name, values in columns.items()})


FRAMES = {make.__name__: make for make in (pandas_default, pandas_nullable, pandas_arrow, polars, pyarrow)}
COLUMNS, LABELS = cells()


@pytest.fixture(params=FRAMES)
def frame(request):
    """The mixed table in each kind of frame."""
    return FRAMES[request.param](COLUMNS)


@pytest.fixture
def table():
    """The mixed table in pandas."""
    return pandas_default(COLUMNS)


@pytest.fixture
def objects():
    """The mixed table as an array of objects."""
    return numpy_object(COLUMNS)


@pytest.fixture
def labels():
    """The classes of the mixed table's rows."""
    return LABELS.copy()


@pytest.fixture
def iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)
