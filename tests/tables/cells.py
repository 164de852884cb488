"""Reading columns back."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from suffice.tables.table import read_table


def decoded(table, column=0):
    """The cells of a column, one value per row, None where missing."""
    levels = table.levels(column)
    assert levels.codes.dtype == np.intp
    return [None if code < 0 else levels.values[code] for code in levels.codes]


def one(column):
    """The table of one column."""
    if isinstance(column, pd.Series):
        return read_table(column.to_frame("c"))
    if isinstance(column, pl.Series):
        return read_table(column.to_frame("c"))
    return read_table(pa.table({"c": column}))
