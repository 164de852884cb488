"""Names and numbers as a page holds them: every name in one line, few digits where few are seen."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.tables.wording import one_line, printable

LONGEST = 60
"""Letters of a name or label."""


def shown(value: object, most: int = LONGEST) -> str:
    """A name, label or cell in one line, in which nothing is hidden."""
    return printable(one_line(value, most))


def cell(value: Any) -> str:
    """A cell as it is shown."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else shown(value)


def fewer_digits(values: ArrayLike, digits: int = 4) -> Any:
    """Numbers with so many significant digits, as JSON holds them: None where one is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [fewer_digits(one, digits) for one in array]
    number = float(array)
    if not np.isfinite(number):
        return None
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def packed(values: ArrayLike, dtype: Any) -> str:
    """An array in base64, little-endian."""
    array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(array.tobytes()).decode("ascii")
