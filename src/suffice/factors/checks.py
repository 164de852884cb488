"""Values that a factor refuses, and sums that no data could give."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Counts
from suffice.factors.base import Block
from suffice.families import Family
from suffice.kernels.choose import first_infinity, infinity_refusal


class OutsideSupportError(ValueError):
    """A value that a family does not take; says of which column, and the cure."""

    @classmethod
    def of(cls, label: str, value: Any, family: Family, cure: str | None = None) -> Self:
        """Where rows are learnt, no other cure is needed than to change them or the family."""
        cure = cure or "mend or remove it, or choose another family with families="
        return cls(
            f"{label}: the value {value} is outside {family.name}, which takes {family.support_name}; {cure}."
        )


def refuse_infinities(block: Block, labels: list[str]) -> None:
    """Raise for ±inf; sparse blocks were looked through when they were read."""
    found = first_infinity(block) if isinstance(block, np.ndarray) else None
    if found is not None:
        row, column = found
        raise ValueError(infinity_refusal(labels[column], row, block[row, column]))


def holds_infinity_beside(values: Array, active: NDArray[Any]) -> bool:
    """Whether a column that scores do not read holds an infinity."""
    beside = np.ones(values.shape[1], dtype=np.bool_)
    beside[active] = False
    return bool(beside.any()) and bool(np.isinf(values[:, beside]).any())


def refuse_errors(family: Family, label: str) -> None:
    """Refuse to export a family that raises for what it has not seen: a query cannot."""
    if family.unseen == "error":
        raise ValueError(
            f"{label}: {family.name} has unseen='error', and neither SQL nor ONNX can raise an error for one "
            f"row; fit BayesClassifier with {family.name}(unseen='ignore')."
        )


def first_offence(bad: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the first True cell, in column order."""
    column = int(np.argmax(bad.any(axis=0)))
    return int(np.argmax(bad[:, column])), column


def impossible(weight: Array, support: Counts, size: float) -> NDArray[np.bool_]:
    """Where a weight and its number of rows contradict each other, rounding aside."""
    none_left = (support == 0) & (np.abs(weight) > 1e-9 * size)
    return np.asarray((support < 0) | ((support > 0) & (weight <= 0)) | none_left)


def within(a: Array, b: Array, rtol: float, size: float) -> bool:
    """Whether sums agree: exactly for rtol = 0, else relative to themselves and to the largest weight."""
    return bool(np.all(np.abs(a - b) <= rtol * (np.abs(a) + np.abs(b) + size)))
