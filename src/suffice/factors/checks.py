"""Values that a factor refuses, and sums that no data could give."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Counts
from suffice.factors.base import Block
from suffice.families import Family
from suffice.kernels.cells import row_runs
from suffice.kernels.choose import first_infinity, infinity_refusal


class OutsideSupportError(ValueError):
    """A value outside the support of a family."""

    @classmethod
    def of(cls, label: str, value: Any, family: Family, cure: str | None = None) -> Self:
        """Name the column, the value and the cure; without one, the cure that fits a training row."""
        cure = cure or "correct or remove it, or choose another family with families="
        return cls(
            f"{label}: the value {value} is outside the support of {family.name} ({family.support_name}); "
            f"{cure}."
        )


class ImpossibleSumsError(ValueError):
    """Sums that no data could give."""

    @classmethod
    def of(cls, problem: str) -> Self:
        """Say what is wrong with them."""
        return cls(f"no data could produce these statistics: {problem}; check what was subtracted.")


def refuse_infinities(block: Block, labels: list[str]) -> None:
    """Raise for ±inf among numbers, dense or sparse."""
    found = first_infinity(block) if isinstance(block, np.ndarray) or sparse.issparse(block) else None
    if found is not None:
        row, column = found
        raise ValueError(infinity_refusal(labels[column], row, block[row, column]))


def are_inside(family: Family, values: Array) -> bool:
    """Whether the family can produce all of some numbers: in runs, whose masks stay in the cache."""
    return all(bool(family.support(values[run]).all()) for run in row_runs(len(values), 1))


def holds_infinity_beside(values: Array, active: NDArray[Any]) -> bool:
    """Whether a column outside `active`, which the scores do not read, holds an infinity."""
    beside = np.ones(values.shape[1], dtype=np.bool_)
    beside[active] = False
    return bool(beside.any()) and bool(np.isinf(values[:, beside]).any())


def refuse_errors(family: Family, label: str) -> None:
    """Refuse to export a family with unseen='error': a query cannot raise for one row."""
    if family.unseen == "error":
        raise ValueError(
            f"{label}: {family.name} has unseen='error', but SQL and ONNX cannot raise an error for a single "
            f"row; fit BayesClassifier with {family.name}(unseen='ignore')."
        )


def first_offence(bad: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the first True cell, in column order."""
    column = int(np.argmax(bad.any(axis=0)))
    return int(np.argmax(bad[:, column])), column


def impossible(weight: Array, support: Counts, size: float) -> NDArray[np.bool_]:
    """Where a weight contradicts its row count, or is far more than the `size` of all rows."""
    none_left = (support == 0) & (np.abs(weight) > 1e-9 * size)
    too_much = weight > 2.0 * size
    return np.asarray((support < 0) | ((support > 0) & (weight <= 0)) | none_left | too_much)


def within(a: Array, b: Array, rtol: float, size: float) -> bool:
    """Whether sums agree: exactly if rtol = 0, else relative to themselves and the largest weight."""
    return bool(np.all(np.abs(a - b) <= rtol * (np.abs(a) + np.abs(b) + size)))
