"""The types of arrays used throughout the library, and arrays that are handed out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
"""Classes, levels or rows by their number; −1 for none."""
Counts = NDArray[np.int64]
Exponents = NDArray[np.int32]
"""Units as powers of two."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which whoever gets them cannot change; a copy sent elsewhere would not know that."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view
