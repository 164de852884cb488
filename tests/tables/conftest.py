"""The same eight columns in every container."""

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

NAMES = ("age", "size", "price", "smoker", "town", "day", "stay", "hour", "nothing")
KINDS = ("number", "number", "number", "boolean", "level", "moment", "duration", "clock", "number")
MOMENT = dt.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001, naive moments count as UTC
CELLS = [
    (34, None, 51, 34),
    (1.5, None, -2.25, 4.0),
    (Decimal("9.99"), None, Decimal("0.50"), Decimal("9.99")),
    (True, None, False, True),
    ("Ulm", None, "Bonn", "Ulm"),
    (MOMENT, None, dt.datetime(1969, 12, 31), MOMENT),  # noqa: DTZ001
    (dt.timedelta(hours=2), None, dt.timedelta(days=-1, microseconds=7), dt.timedelta(0)),
    (dt.time(6, 30), None, dt.time(0, 0, 1, 500000), dt.time(23, 59, 59)),
    (None, None, None, None),
]
NUMBERS = np.array(
    [
        [34, 1.5, 9.99, 1, np.nan, 1704164645.678901, 7200, 23400, np.nan],
        [np.nan] * 9,
        [51, -2.25, 0.5, 0, np.nan, -86400, -86399.999993, 1.5, np.nan],
        [34, 4, 9.99, 1, np.nan, 1704164645.678901, 0, 86399, np.nan],
    ]
)
LEVELS = [
    [34, None, 51, 34],
    [1.5, None, -2.25, 4],
    [9.99, None, 0.5, 9.99],
    [True, None, False, True],
    ["Ulm", None, "Bonn", "Ulm"],
    [1704164645.678901, None, -86400, 1704164645.678901],
    [7200, None, -86399.999993, 0],
    [23400, None, 1.5, 86399],
    [None, None, None, None],
]
ARROW_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.decimal128(8, 2),
    pa.bool_(),
    pa.string(),
    pa.timestamp("us"),
    pa.duration("us"),
    pa.time64("us"),
    pa.null(),
)
PANDAS_NULLABLE = (
    "Int64",
    "Float64",
    object,
    "boolean",
    "string",
    "datetime64[us]",
    "timedelta64[us]",
    object,
    object,
)


def numpy_object():
    return np.array(list(zip(*CELLS, strict=True)), dtype=object)


def pandas_default():
    return pd.DataFrame(dict(zip(NAMES, map(list, CELLS), strict=True)))


def pandas_nullable():
    return pd.DataFrame(
        {
            name: pd.Series(list(cells), dtype=dtype)
            for name, cells, dtype in zip(NAMES, CELLS, PANDAS_NULLABLE, strict=True)
        }
    )


def pandas_arrow():
    return pd.DataFrame(
        {
            name: pd.Series(list(cells), dtype=pd.ArrowDtype(arrow))
            for name, cells, arrow in zip(NAMES, CELLS, ARROW_TYPES, strict=True)
        }
    )


def polars():
    return pl.DataFrame({name: pl.Series(name, cells) for name, cells in zip(NAMES, CELLS, strict=True)})


def pyarrow():
    arrays = [pa.array(cells, type=arrow) for cells, arrow in zip(CELLS, ARROW_TYPES, strict=True)]
    return pa.table(arrays, names=list(NAMES))


CONTAINERS = {
    make.__name__: make
    for make in (numpy_object, pandas_default, pandas_nullable, pandas_arrow, polars, pyarrow)
}


@pytest.fixture(params=CONTAINERS)
def everywhere(request):
    """The same rows in each container."""
    return CONTAINERS[request.param]()


@pytest.fixture
def expected():
    """What every container must say about these rows."""
    return SimpleNamespace(NAMES=NAMES, KINDS=KINDS, NUMBERS=NUMBERS, LEVELS=LEVELS, CELLS=CELLS)
