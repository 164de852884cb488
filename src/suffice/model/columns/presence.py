"""Which columns have missing cells that are evidence of the class: the setting `missing`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suffice.model.columns.chosen_families import position_of

Missing = Literal["ignore", "evidence"] | Iterable[Hashable]
"""What a missing cell says: nothing, or as much as a cell that is there, in all columns or in these."""


def columns_with_presence(missing: Missing, names: tuple[Hashable, ...]) -> NDArray[np.bool_]:
    """Which columns have missing cells that are evidence of the class."""
    if isinstance(missing, str) and missing in ("ignore", "evidence"):
        return np.full(len(names), missing == "evidence")
    listed = [] if isinstance(missing, str) or not isinstance(missing, Iterable) else list(missing)
    if not listed or any(isinstance(one, (bool, np.bool_)) for one in listed):
        raise ValueError(f"missing must be 'ignore', 'evidence' or a list of columns, got {missing!r}.")
    places = {name: position for position, name in enumerate(names)}
    found = np.zeros(len(names), dtype=np.bool_)
    found[[position_of(column, places, "missing=") for column in listed]] = True
    return found


def presence_of_columns(
    missing: Missing, columns: Sequence[int], names: Sequence[Hashable], *, named: bool
) -> Missing:
    """The same setting for a table of some of the columns, which have names or else new positions."""
    if isinstance(missing, str):
        return missing
    scored = columns_with_presence(missing, tuple(names))
    return [names[j] if named else place for place, j in enumerate(columns) if scored[j]] or "ignore"
