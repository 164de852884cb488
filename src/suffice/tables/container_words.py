"""The container of rows in plain words, so that a file can record what a model was fitted on.

The type of a column is a word such as "int64", or a list such as ["category", "str", false, ["a", "b"]]. A
type without a word here (a decimal, an interval) is written as the plain type for cells of that kind.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import re
from functools import partial
from typing import Any, get_args

import numpy as np
from scipy import sparse

from suffice.storage import Fields, Setting, SufficeFileError
from suffice.tables.columns import Kind, frame_column, plain
from suffice.tables.container import Container, Library, itself
from suffice.tables.records import Records
from suffice.tables.wording import is_utf8

UNIT = r"(s|ms|us|ns)"
ZONE = r"([A-Za-z0-9_+/:-]{1,64})"
NUMPY = re.compile(r"[<|]([iu][1248]|f[248]|b1|O|U\d{1,4}|S\d{1,4}|[mM]8(\[[a-zA-Z]{1,2}\])?|T16)")
PANDAS = re.compile(
    rf"[uU]?[iI]nt(8|16|32|64)|[fF]loat(32|64)|float16|bool|boolean|object|str|string"
    rf"|(datetime|timedelta)64\[{UNIT}\]|datetime64\[{UNIT}, {ZONE}\]|period\[[A-Za-z0-9-]{{1,32}}\]"
)
ARROW = re.compile(
    rf"u?int(8|16|32|64)|halffloat|float|double|bool|(large_)?(string|binary)|null|date32\[day\]|date64\[ms\]"
    rf"|time32\[m?s\]|time64\[[un]s\]|duration\[{UNIT}\]|timestamp\[{UNIT}(, tz={ZONE})?\]"
)
POLARS = re.compile(
    rf"U?Int(8|16|32|64)|Float(32|64)|Boolean|String|Categorical|Binary|Date|Time|Null|Object"
    rf"|Duration\[{UNIT}\]|Datetime\[{UNIT}(, {ZONE})?\]"
)
PLAIN: dict[str, dict[Kind, str]] = {
    "pandas": {
        "number": "float64",
        "boolean": "boolean",
        "moment": "datetime64[us]",
        "duration": "timedelta64[us]",
    },
    "polars": {
        "number": "Float64",
        "boolean": "Boolean",
        "moment": "Datetime[us]",
        "duration": "Duration[us]",
        "clock": "Time",
        "level": "String",
    },
    "pyarrow": {
        "number": "double",
        "boolean": "bool",
        "moment": "timestamp[us]",
        "duration": "duration[us]",
        "clock": "time64[us]",
        "level": "string",
    },
}
"""The plain type for each kind of cells; in pandas object for the kinds that are not listed."""
SPARSE = {
    cls.__name__: cls for cls in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}
CELLS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(bool, int, float, str, decimal.Decimal, fractions.Fraction),
        *(dt.timedelta, dt.datetime, dt.date, dt.time),
    )
}
"""The types that the cells of a column of Python objects may have had."""


def state_of_container(container: Container) -> dict[str, Any]:
    """A container as a file holds it."""
    template = container.template
    state: dict[str, Any] = {"library": container.library}
    if container.library in ("numpy", "sparse"):
        state["dtype"] = _array_word(template.dtype)
        if container.library == "sparse":
            state["form"] = type(template).__name__
    else:
        words = WRITERS[container.library](template)
        distinct = {repr(word): word for word in words}
        places = {text: i for i, text in enumerate(distinct)}
        state["types"] = Setting(list(distinct.values()))
        state["type"] = np.array([places[repr(word)] for word in words], dtype=np.int32)
        names = getattr(template, NAMES.get(container.library, "columns"))
        state["names"] = Setting(list(names))
        state["nested"] = getattr(names, "nlevels", 1) > 1
    cells = [
        next((c.__name__ for c in cls.__mro__ if c in CELLS.values()), None) if cls else None
        for cls in container.cell_types
    ]
    return state | ({"cells": Setting(cells)} if any(cells) else {})


def container_from_fields(fields: Fields, n_columns: int) -> Container:
    """A container from its fields; its library is imported only when rows are made."""
    library: Any = fields.text("library")
    cells = fields.setting("cells") if "cells" in fields else [None] * n_columns
    if not isinstance(cells, list) or len(cells) != n_columns:
        raise fields.error("cells", f"must name the types of {n_columns} columns.")
    if not all(cell is None or (isinstance(cell, str) and cell in CELLS) for cell in cells):
        raise fields.error("cells", "names an unknown type.")
    cell_types = tuple(None if cell is None else CELLS[cell] for cell in cells)
    if library not in get_args(Library):
        raise fields.error("library", f"{library!r} is unknown.")
    if library in ("numpy", "sparse"):
        return Container(library, partial(itself, _empty_array(library, fields, n_columns)), cell_types)
    types, names = fields.setting("types"), fields.setting("names")
    number = fields.array("type", np.int32, (n_columns,))
    if not isinstance(types, list) or ((number < 0) | (number >= len(types))).any():
        raise fields.error("types", f"must hold the types of {n_columns} columns.")
    for word in types:
        if not _is_known(library, word):
            raise fields.error("types", f"{word!r} is unknown in {library}.")
    nested = fields.flag("nested")
    if not _are_names(library, names, n_columns, nested=nested):
        raise fields.error("names", f"must be {n_columns} different names that {library} allows.")
    words = [types[i] for i in number.tolist()]
    return Container(library, partial(_template, library, names, words, nested=nested), cell_types)


def _are_names(library: str, names: Any, n_columns: int, *, nested: bool) -> bool:
    if not isinstance(names, list) or len(names) != n_columns:
        return False
    if library in ("polars", "pyarrow"):
        return all(isinstance(name, str) for name in names) and len(set(names)) == n_columns
    if nested:
        depths = {len(name) if isinstance(name, tuple) else 0 for name in names}
        return len(depths) == 1 and depths != {0}
    return all(name is None or isinstance(name, (str, int, float, bool, tuple)) for name in names)


def _template(library: str, names: list[Any], words: list[Any], *, nested: bool) -> Any:
    """A container without rows; refused if the library does not know the types."""
    try:
        if library == "pandas":
            return _empty_pandas(names, words, nested=nested)
        if library in ("dict", "records"):
            columns = tuple(np.empty(0, _array_type(word)) for word in words)
            return Records(tuple(names), columns, 0, by_row=library == "records")
        return _empty_polars(names, words) if library == "polars" else _empty_arrow(names, words)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise SufficeFileError(
            f"the file has columns that the installed {library} cannot make: {error}"
        ) from error


def _empty_array(library: str, fields: Fields, n_columns: int) -> Any:
    word, form = fields.text("dtype"), fields.text("form") if library == "sparse" else ""
    dtype = _array_type(word)
    if library == "numpy" and dtype is not None:
        return np.empty((0, n_columns), dtype)
    if dtype is None or dtype.kind not in "iufb" or form not in SPARSE:
        raise fields.error("dtype", f"{word!r} is unknown in {form or library}.")
    return SPARSE[form]((0, n_columns), dtype=dtype)


def _array_type(word: str) -> np.dtype[Any] | None:
    if not NUMPY.fullmatch(word):
        return None
    try:
        return np.dtypes.StringDType() if word == "|T16" else np.dtype(word)
    except TypeError:
        return None


def _is_known(library: str, word: Any) -> bool:
    """Whether a word (or list) is a type of the library."""
    if isinstance(word, str):
        if library == "pandas" and word.endswith("[pyarrow]"):
            return ARROW.fullmatch(word.removesuffix("[pyarrow]")) is not None
        if library in ("dict", "records"):
            return _array_type(word) is not None
        return {"pandas": PANDAS, "pyarrow": ARROW, "polars": POLARS}[library].fullmatch(word) is not None
    if not isinstance(word, list):
        return False
    match library, word:
        case "pandas", ["category", str(of), bool(), list(values)]:
            return PANDAS.fullmatch(of) is not None and _are_levels(values)
        case "polars", ["enum", list(values)]:
            return _are_levels(values) and all(isinstance(value, str) for value in values)
        case "pyarrow", ["dictionary", str(codes), str(of), bool()]:
            return re.fullmatch(r"u?int(8|16|32|64)", codes) is not None and ARROW.fullmatch(of) is not None
        case _:
            return False


def _are_levels(values: list[Any]) -> bool:
    return all(type(v) in (str, int, float, bool) for v in values) and len(set(values)) == len(values)


def _records_words(template: Records) -> list[Any]:
    return [_array_word(column.dtype) for column in template.columns]


def _array_word(dtype: np.dtype[Any]) -> str:
    word = dtype.newbyteorder("<").str
    return word if NUMPY.fullmatch(word) else "|O"


def _pandas_words(template: Any) -> list[Any]:
    import pandas as pd

    words: list[Any] = []
    for j, dtype in enumerate(template.dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            of = str(dtype.categories.dtype)
            levels = [plain(category) for category in dtype.categories]
            words.append(["category", of if PANDAS.fullmatch(of) else "object", bool(dtype.ordered), levels])
        elif isinstance(dtype, pd.IntervalDtype):
            words.append("object")
        else:
            words.append(_word("pandas", str(dtype), template.iloc[:, j]))
    return words


def _polars_words(template: Any) -> list[Any]:
    import polars as pl

    words: list[Any] = []
    for series in template.get_columns():
        dtype = series.dtype
        name = dtype.base_type().__name__
        if isinstance(dtype, pl.Enum):
            words.append(["enum", dtype.categories.to_list()])
        elif isinstance(dtype, pl.Datetime):
            zone = f", {dtype.time_zone}" if dtype.time_zone else ""
            words.append(_word("polars", f"Datetime[{dtype.time_unit}{zone}]", series))
        else:
            unit = f"[{dtype.time_unit}]" if isinstance(dtype, pl.Duration) else ""
            words.append(_word("polars", name + unit, series))
    return words


def _arrow_words(template: Any) -> list[Any]:
    import pyarrow as pa

    words: list[Any] = []
    for field, column in zip(template.schema, template.columns, strict=True):
        of = field.type
        if pa.types.is_dictionary(of):
            value = _word("pyarrow", str(of.value_type), column)
            words.append(["dictionary", str(of.index_type), value, bool(of.ordered)])
        else:
            words.append(_word("pyarrow", str(of), column))
    return words


def _word(library: str, word: str, column: Any) -> str:
    """The word for a type, or for the plain type of its cells."""
    return word if _is_known(library, word) else PLAIN[library].get(frame_column(column, "").kind, "object")


def _empty_pandas(names: list[Any], words: list[Any], *, nested: bool) -> Any:
    import pandas as pd

    columns = []
    for word in words:
        if isinstance(word, list):
            _, of, ordered, levels = word
            dtype: Any = pd.CategoricalDtype(pd.Index(levels, dtype=of), ordered=ordered)
        elif word.endswith("[pyarrow]"):
            dtype = pd.ArrowDtype(_arrow_type(word.removesuffix("[pyarrow]")))
        else:
            dtype = pd.api.types.pandas_dtype(word)
        columns.append(pd.Series([], dtype=dtype))
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    # The strings of pandas are UTF-8; only objects can be anything.
    dtype = None if all(is_utf8(str(name)) for name in names) else object
    index = pd.Index(names, dtype=dtype, tupleize_cols=False)
    frame.columns = pd.MultiIndex.from_tuples(names) if nested else index
    return frame


def _empty_polars(names: list[Any], words: list[Any]) -> Any:
    import polars as pl

    def dtype(word: Any) -> Any:
        if isinstance(word, list):
            return pl.Enum(word[1])
        name, _, rest = word.partition("[")
        unit, _, zone = rest.removesuffix("]").partition(", ")
        if name == "Datetime":
            return pl.Datetime(unit, zone or None)
        return pl.Duration(unit) if name == "Duration" else getattr(pl, name)

    try:
        return pl.DataFrame(schema={name: dtype(word) for name, word in zip(names, words, strict=True)})
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error


def _empty_arrow(names: list[Any], words: list[Any]) -> Any:
    import pyarrow as pa

    types = [
        pa.dictionary(_arrow_type(word[1]), _arrow_type(word[2]), word[3])
        if isinstance(word, list)
        else _arrow_type(word)
        for word in words
    ]
    # An empty_table would import pandas.
    return pa.Table.from_batches([], pa.schema(list(zip(names, types, strict=True))))


def _arrow_type(word: str) -> Any:
    import pyarrow as pa

    moment = re.fullmatch(rf"timestamp\[{UNIT}, tz={ZONE}\]", word)
    return pa.timestamp(*moment.groups()) if moment else pa.type_for_alias(word)


WRITERS = {
    "dict": _records_words,
    "records": _records_words,
    "pandas": _pandas_words,
    "polars": _polars_words,
    "pyarrow": _arrow_words,
}
NAMES = {"dict": "names", "records": "names", "pyarrow": "column_names"}
"""Where a container has the names of its columns, if not in `columns`."""
