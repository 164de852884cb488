"""Class covariances that `covariance_estimator` finds in the rows, which their sums do not tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice.arrays import Array
from suffice.tables.table import Table


@dataclass(frozen=True)
class EstimatedCovariances:
    """Σ of each class, (k, d, d), and of all rows if a solver needs it."""

    each: Array
    total: Array | None

    @classmethod
    def of(cls, estimator: Any, table: Table, labels: NDArray[Any], *, total: bool) -> EstimatedCovariances:
        """Fit the estimator to the rows of each class, and to all rows."""
        rows = table.numbers(slice(None))
        gaps = np.isnan(rows).any(axis=0)
        if gaps.any():
            raise ValueError(
                f"{table.label(int(np.argmax(gaps)))} has missing cells, but covariance_estimator needs rows "
                "without any; impute them, or leave covariance_estimator out."
            )
        each = [_covariance(estimator, rows[labels == label]) for label in np.unique(labels)]
        return cls(np.stack(each), _covariance(estimator, rows) if total else None)


def _covariance(estimator: Any, rows: NDArray[Any]) -> Array:
    fresh = clone(estimator, safe=False)
    fresh.fit(rows)
    if not hasattr(fresh, "covariance_"):
        raise ValueError(f"{type(fresh).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(fresh.covariance_, dtype=np.float64))
