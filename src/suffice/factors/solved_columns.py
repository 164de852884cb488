"""Parameters and scores of number columns.

Each class is scored about its own mean, so λᵀu(x) is the centred form (x − μ_k)²/σ_k² and not the
expanded square.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.factors.base import Block, Codes, Solved, first_offence, unseen_log_shares
from suffice.factors.sparse_columns import add_sparse_scores
from suffice.families import Family
from suffice.families.elementary import Array, rescale
from suffice.kernels import reference as kernels
from suffice.scores import CERTAIN, IMPOSSIBLE, Scores

LOG_TWO = float(np.log(2.0))
REGULARIZATION = 1e-3
"""Pseudo-observations of the pooled column given to a class that has no maximum likelihood."""


CELLS_AT_ONCE = 1 << 15
Prepared = tuple[Array, NDArray[np.bool_] | None, Array | None]
"""Values after the transform, cells outside the support, and log h(x), where they are needed."""


class SolvedColumns(Solved):
    """λ of every class and column about `origin`, with the constants that complete the log density.

    `point` marks cells of parameter space where the distribution is a single value (`location`);
    `active` the columns that vary at all.
    """

    def __init__(self, family: Family, n_classes: int, n_columns: int) -> None:
        self.family = family
        self.natural = np.zeros((family.n_statistics, n_classes, n_columns))
        self.constant = np.zeros((n_classes, n_columns))
        self.origin = np.zeros((n_classes, n_columns))
        self.exponent = np.zeros(n_columns, dtype=np.int32)
        self.weight = np.zeros((n_classes, n_columns))
        self.point = np.zeros((n_classes, n_columns), dtype=np.bool_)
        self.location = np.zeros((n_classes, n_columns))
        self.active = np.ones(n_columns, dtype=np.bool_)
        self.regularized = []
        self.n_parameters = 0
        self.log_likelihood = 0.0

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        if sparse.issparse(block):
            add_sparse_scores(self, block, labels, scores, base=base)
            return
        n_rows, n_columns = block.shape
        step = max(1, CELLS_AT_ONCE // max(n_columns, 1))
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            self._add_scores_of(rows, self._prepared(block[rows], labels, base=base), scores)

    def _add_scores_of(self, rows: slice, prepared: Prepared, scores: Scores) -> None:
        """Add the scores of some rows, few enough to stay in the cache."""
        values, outside, log_base = prepared
        if self._is_linear(outside):
            scores.finite[rows] += self._linear_scores(values)
        else:
            for k in range(scores.finite.shape[1]):
                cells, order = self._cells(values, outside, k)
                scores.finite[rows, k] += cells.sum(axis=1)
                if order is not None:
                    scores.add_order(rows, k, order.sum(axis=1))
        if log_base is not None:
            scores.finite[rows] += log_base.sum(axis=1)[:, np.newaxis]

    def contributions(self, block: Block, labels: list[str]) -> Array:
        dense = block.toarray() if sparse.issparse(block) else block
        values, outside, log_base = self._prepared(dense, labels, base=True)
        result = np.zeros((*dense.shape, self.constant.shape[0]))
        for k in range(result.shape[2]):
            cells, order = self._cells(values, outside, k)
            if order is not None:
                cells = np.where(order > 0, -np.inf, np.where(order < 0, np.inf, cells))
            result[:, self.active, k] = cells if log_base is None else cells + log_base
        return result

    def _prepared(self, block: Array, labels: list[str], *, base: bool) -> Prepared:
        """Active columns after the transform, cells outside the support, and log h(x)."""
        raw = block if self.active.all() else block[:, self.active]
        outside: NDArray[np.bool_] | None = ~(self.family.support(raw) | np.isnan(raw))
        if outside is not None and outside.any():
            if self.family.unseen == "error":
                row, column = first_offence(outside)
                raise ValueError(
                    f"{np.asarray(labels)[self.active][column]}: the value {raw[row, column]} (row {row}) is "
                    f"outside {self.family.name}, which takes {self.family.support_name}; "
                    "unseen='ignore' would treat it as missing."
                )
            raw = np.where(outside, np.nan, raw)
        if self.family.unseen != "smooth":
            outside = None
        log_base = None
        if base and self.family.base_measure_degree is not None:
            measured = self.family.log_base_measure(np.asarray(raw, dtype=np.float64))
            log_base = np.where(np.isnan(raw), 0.0, measured)
        return self.family.transformed(raw), outside, log_base

    def _cells(self, values: Array, outside: NDArray[np.bool_] | None, k: int) -> tuple[Array, Array | None]:
        """Log p of each cell in class k without log h, and orders where some cell has one."""
        on = self.active
        cells = kernels.column_scores(
            self.family.functions,
            values,
            self.natural[:, k, on],
            self.constant[k, on],
            self.origin[k, on],
            self.exponent[on],
        )
        order = None
        point = self.point[k, on]
        if point.any():
            hit = values == self.location[k, on]
            with np.errstate(divide="ignore"):
                missed = np.where(hit, 0.0, -np.log(self.weight[k, on]))
            cells = np.where(point, missed, cells)
            on_point = 0.0 if self.family.discrete else CERTAIN
            order = np.where(point, np.where(hit, on_point, IMPOSSIBLE), 0.0)
        missing = np.isnan(values)
        if outside is not None:
            log_unseen, log_rest = unseen_log_shares(self.weight[k, on], self.family.alpha, 1)
            cells = np.where(outside, log_unseen, cells + log_rest)
            if self.family.alpha == 0:
                order = np.where(outside, IMPOSSIBLE, 0.0 if order is None else order)
                cells = np.where(outside, 0.0, cells)
            missing &= ~outside
        if missing.any():
            cells = np.where(missing, 0.0, cells)
            order = None if order is None else np.where(missing, 0.0, order)
        return cells, order

    def _is_linear(self, outside: NDArray[np.bool_] | None) -> bool:
        """Whether all classes share u(x) = x about 0, so that one matrix product scores them all."""
        return self.family.functions == ("x",) and outside is None and not self.point.any()

    def _linear_scores(self, values: Array) -> Array:
        on = self.active
        natural = self.natural[0][:, on] * np.ldexp(1.0, -self.exponent[on])
        constant = self.constant[:, on]
        missing = np.isnan(values)
        if missing.any():
            return np.asarray(np.where(missing, 0.0, values) @ natural.T + (~missing) @ constant.T)
        return np.asarray(values @ natural.T + constant.sum(axis=1))

    def natural_in_raw_units(self) -> Array:
        """λ for u(x) in the units of the data."""
        return rescale(self.family.functions, self.natural, self.exponent)

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        degenerate = self.point | ~self.active
        natural = self._defined(self.natural_in_raw_units(), degenerate)
        with np.errstate(over="ignore"):
            drawn = self.family.sample(natural[:, classes], self.origin[classes], rng)
        fixed = np.exp(self.location) if self.family.transform == "log" else self.location
        rows = np.where(degenerate[classes], fixed[classes], drawn)
        return list(rows.T)

    def _defined(self, natural: Array, degenerate: NDArray[np.bool_]) -> Array:
        """λ with some valid member in place of the cells that have none."""
        if not degenerate.any():
            return natural
        valid = ~degenerate
        stand_in = natural[:, valid][:, :1] if valid.any() else -np.ones((len(natural), 1))
        return np.where(degenerate, stand_in[:, :, np.newaxis], natural)

    def conventional(self) -> list[dict[str, Any]]:
        degenerate = self.point | ~self.active
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            natural = self._defined(self.natural_in_raw_units(), degenerate)
            named = self.family.conventional(natural, self.origin)
        columns = []
        for j in range(self.constant.shape[1]):
            parameters: dict[str, Any] = {name: value[:, j] for name, value in named.items()}
            if degenerate[:, j].any():
                parameters = {
                    name: np.where(degenerate[:, j], np.nan, value) for name, value in parameters.items()
                }
                parameters["always"] = np.where(degenerate[:, j], self.location[:, j], np.nan)
            columns.append(parameters)
        return columns
