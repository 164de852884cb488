"""The types of arrays that every room speaks of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
"""Classes, levels or rows by number; −1 where there is none."""
Counts = NDArray[np.int64]
Exponents = NDArray[np.int32]
"""Units as powers of two."""
