"""The log density of the cells that a row has, as one node for all patterns of gaps."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.arrays import Array
from suffice.export.expressions import Expression


@dataclass(frozen=True, eq=False)
class ObservedNormal(Expression):
    """Log p of those of some terms that are not missing, of mean 0 and with covariances (classes, d, d).

    Each term that is there also adds its constant.
    """

    terms: tuple[Expression, ...]
    covariances: Array
    constants: Array
    is_vector = True
