"""The types of arrays used throughout the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
"""Classes, levels or rows by their number; −1 for none."""
Counts = NDArray[np.int64]
Exponents = NDArray[np.int32]
"""Units as powers of two."""
