"""A small table that ships with the library."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


def load_penguins(
    container: Literal["pyarrow", "pandas", "polars"] = "pyarrow",
) -> tuple[Any, NDArray[np.str_]]:
    """The Palmer penguins: 344 rows of numbers and categories with gaps, and their species.

    Parameters
    ----------
    container : {"pyarrow", "pandas", "polars"}
        What X comes in; the library must be installed.

    Returns
    -------
    X : table of 7 columns
    y : ndarray of str
    """
    from pyarrow import csv

    with (files("suffice") / "datasets" / "penguins.csv").open("rb") as file:
        options = csv.ConvertOptions(strings_can_be_null=True)
        table = csv.read_csv(file, convert_options=options)
    y = np.array(table["species"].to_pylist())
    X = table.drop_columns(["species"])
    if container == "pyarrow":
        return X, y
    if container == "pandas":
        return X.to_pandas(), y
    if container == "polars":
        import polars as pl

        return pl.from_arrow(X), y
    raise ValueError(f"container must be 'pyarrow', 'pandas' or 'polars', got {container!r}.")
