"""A small data set that ships with the library."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


def load_penguins(
    container: Literal["pyarrow", "pandas", "polars"] = "pyarrow",
) -> tuple[Any, NDArray[np.str_]]:
    """Load the Palmer penguins: 344 rows of numbers and categories with gaps, and their species.

    Parameters
    ----------
    container : {"pyarrow", "pandas", "polars"}, default="pyarrow"
        The library of the table, which must be installed.

    Returns
    -------
    X : pyarrow Table, pandas DataFrame or Polars DataFrame of shape (344, 7)
        The measurements; some cells are missing.
    y : ndarray of str of shape (344,)
        The species: Adelie, Chinstrap or Gentoo.

    Examples
    --------
    >>> import suffice
    >>> X, y = suffice.load_penguins()
    >>> X.num_rows, X.column_names[:3]
    (344, ['island', 'bill_length_mm', 'bill_depth_mm'])
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
