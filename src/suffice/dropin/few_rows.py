"""Linear discriminants of fewer rows than columns, from the rows themselves: no d × d matrix is needed."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.dropin.covariances import Covariances, inflation, joint_gaussian
from suffice.dropin.linear_scores import LinearGaussian, shared_gaussian
from suffice.factors.base import Totals
from suffice.factors.gaussian.moments import (
    CentredRows,
    Standardised,
    centred_rows,
    columns_of,
    standardised,
)
from suffice.factors.gaussian.rows import RowSums
from suffice.factors.gaussian.shrinkage import ledoit_wolf_share
from suffice.factors.gaussian.thin import ThinCovariance
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.storage import Fields

SCORES = ("middle", "coefficients", "constants")
DIRECTIONS = ("scalings", "explained")
OF_COVARIANCE = ("standard", "regularized", "scatter_parts", "within")
"""What takes the covariance itself."""


@dataclass(frozen=True)
class Solver:
    """How scikit-learn would solve it."""

    name: str
    shrinkage: Any
    priors: Array
    tol: float

    @property
    def takes_rows(self) -> bool:
        """Whether it finds its scores from few rows: by their axes, or as what is shrunk is regular."""
        return self.name == "svd" or self.shrinkage not in (None, 0)


class FewRowsGaussian(LinearGaussian):
    """The same from the rows, where they are few: no matrix of d × d is needed for rows without gaps.

    The covariance, for all else, is worked out when it is first needed, and so are the directions of
    solver="eigen", which compare it with that of all rows.
    """

    def __init__(
        self,
        totals: GaussianTotals,
        data: Standardised,
        labels: list[str],
        classes: NDArray[Any],
        solver: Solver,
    ) -> None:
        active = np.flatnonzero(data.varies)
        super().__init__(joint_gaussian(solver.shrinkage), labels, active, len(labels))
        self.solver = solver
        del self.standard, self.regularized, self.scatter_parts  # found when they are first needed
        self.totals = totals.take_classes(np.arange(len(classes)))
        self.classes = classes
        self.centre, self.scale = data.centre, data.scale
        self.shift = np.zeros_like(self.centre)
        for k, cells in enumerate(data.cells):
            for cell in cells:
                total = (cell.raw.total + cell.raw.weight * cell.shift) * cell.factor
                self.shift[k, cell.columns] = np.where(
                    data.varies[cell.columns], total / cell.raw.weight, 0.0
                )
        self.group = np.zeros(len(classes), dtype=np.intp)
        shared = Tying("shared", classes, 0.0)
        self.n_parameters = len(classes) * len(active) + shared.n_parameters(len(active))

    @classmethod
    def of(
        cls,
        totals: Totals,
        labels: list[str],
        classes: NDArray[Any],
        solver: Solver,
        saved_search: Fields | None,
    ) -> FewRowsGaussian | None:
        """The discriminant, if the rows are few; or what a file holds of it."""
        if not isinstance(totals, GaussianTotals) or not solver.takes_rows:
            return None
        if saved_search is not None:
            if solver.name not in saved_search:
                return None
            saved_search.require([solver.name])
            made = cls(totals, standardised(totals), labels, classes, solver)
            return made.restored(saved_search.branch(solver.name))
        if not all(isinstance(cell, RowSums) for cell in totals.cells.values()):
            return None
        data = standardised(totals)
        solved = cls(totals, data, labels, classes, solver)
        rows = centred_rows(columns_of(data, solved.active))
        if rows is None:
            return None
        found = solved.solve_axes(rows) if solver.name == "svd" else solved.solve_shrunk(rows)
        return solved if found else None

    def solve_axes(self, rows: CentredRows) -> bool:
        """By the principal axes of the rows, as solver="svd"."""
        weight = sum(float(cell.weight) for cell in self.totals.cells.values())
        whole = np.zeros((len(rows.values), len(self.labels)))
        whole[:, self.active] = rows.values / np.sqrt(weight)
        deviation = np.sqrt(np.sum(whole**2, axis=0))
        varies = deviation > 0
        _, strength, axes = np.linalg.svd(whole / np.where(varies, deviation, 1.0), full_matrices=False)
        strength *= np.sqrt(inflation(np.asarray(weight), len(self.classes)))
        deviation = np.where(varies, deviation * self.scale, 1.0)
        self.solve_svd(self.mean, deviation, strength, axes.T, self.solver.priors, self.solver.tol)
        return True

    def solve_shrunk(self, rows: CentredRows) -> bool:
        """By the inverse of the shrunk covariance, a diagonal and the rows; False if that is not regular."""
        values = np.zeros((len(rows.values), len(self.labels)))
        with np.errstate(over="ignore"):
            values[:, self.active] = rows.values * self.scale[self.active]
            within = ThinCovariance.of(values, np.zeros(len(values)))
            for k, prior in enumerate(self.solver.priors):
                within = within + prior * self._shrunk(values, rows, k)
        if not (np.isfinite(within.variances).all() and (within.own > 0).all()):
            return False
        whitening, _ = within.whitened(np.ones(len(self.labels)), np.zeros(len(values), dtype=np.bool_))
        self.coefficients = whitening.whiten_transposed(whitening.whiten(self.mean))
        self.set_constants(self.mean, self.solver.priors)
        return True

    def _shrunk(self, values: Array, rows: CentredRows, k: int) -> ThinCovariance:
        """The covariance of one class in the units of the data, shrunk as scikit-learn does."""
        mine, d = rows.classes == k, len(self.labels)
        weight = float(rows.weight[mine].sum())
        covariance = ThinCovariance.of(values, mine / weight)
        share, shrinkage = 0.0, self.solver.shrinkage
        if isinstance(shrinkage, Real):
            share, target = float(shrinkage), np.full(d, covariance.variances.sum() / d)
        else:
            variances = np.where(covariance.variances > 0, covariance.variances, 1.0)
            level = float(np.sum(covariance.variances / variances)) / d
            square = covariance.squared_norm(1.0 / np.sqrt(variances))
            counted = mine & (rows.weight > 0)
            lengths = values[counted] ** 2 @ (1.0 / variances)
            fourth = float(lengths @ (lengths / rows.weight[counted]))
            share = ledoit_wolf_share(square, square - d * level**2, fourth, weight)
            target = level * variances
        return (1.0 - share) * covariance + share * covariance.diagonal_of(target)

    def saved_search(self) -> dict[str, Any]:
        """The scores, which the sums in a file would give other last bits."""
        names = SCORES + DIRECTIONS if self.solver.name == "svd" else SCORES
        return {self.solver.name: {name: getattr(self, name) for name in names}}

    def restored(self, fields: Fields) -> Self:
        """The same with the scores that a file holds."""
        n_classes, d = self.centre.shape
        self.middle = fields.array("middle", np.float64, (d,))
        self.coefficients = fields.array("coefficients", np.float64, (n_classes, d))
        self.constants = fields.array("constants", np.float64, (n_classes,))
        if self.solver.name == "svd":
            self.scalings = fields.array("scalings", np.float64, (d, None))
            self.explained = fields.array("explained", np.float64, (None,), finite=False)
        return self

    def __getattr__(self, name: str) -> Any:
        solver = vars(self).get("solver")  # not there yet while a copy is made
        found = OF_COVARIANCE + (DIRECTIONS if solver is not None and solver.name == "eigen" else ())
        if solver is None or name not in found:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        dense = self._by_covariance()
        vars(self).update({one: getattr(dense, one) for one in found})
        return vars(self)[name]

    def _by_covariance(self) -> LinearGaussian:
        """The same from the covariance."""
        solver, svd = self.solver, self.solver.name == "svd"
        moments = Covariances.of(self.totals, self.classes, solver.shrinkage, shared=svd)
        if svd:
            return shared_gaussian(moments, self.labels)
        dense = shared_gaussian(moments, self.labels, np.einsum("k,kij->ij", solver.priors, moments.each))
        if solver.name == "eigen":
            dense.solve_within(moments, solver.priors, directions=True)
        return dense
