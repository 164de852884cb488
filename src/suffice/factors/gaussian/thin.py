"""Covariances of a few rows of many columns: a diagonal and the rows, instead of a d × d matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import Whitening
from suffice.families.special import HALF_LOG_TWO_PI

EQUAL = 1e-10
"""Relative differences up to which numbers are equal but for rounding."""


@dataclass(frozen=True)
class ThinCovariance:
    """Σ = diag(own) + Σᵢ by_rowᵢ·zᵢzᵢᵀ; all that are added have the same rows."""

    rows: Array
    by_row: Array
    own: Array
    """What each column has on its own, (d,)."""

    @classmethod
    def of(cls, rows: Array, by_row: Array) -> ThinCovariance:
        """Of the rows alone."""
        return cls(rows, by_row, np.zeros(rows.shape[1]))

    def __len__(self) -> int:
        return len(self.own)

    def __add__(self, other: ThinCovariance) -> ThinCovariance:
        return ThinCovariance(self.rows, self.by_row + other.by_row, self.own + other.own)

    def __rmul__(self, factor: float) -> ThinCovariance:
        return ThinCovariance(self.rows, factor * self.by_row, factor * self.own)

    @cached_property
    def variances(self) -> Array:
        """The diagonal of Σ."""
        return np.asarray(self.own + self.by_row @ self.rows**2)

    def diagonal_of(self, variances: Array) -> ThinCovariance:
        """A diagonal matrix, which can be added to this one."""
        return ThinCovariance(self.rows, np.zeros_like(self.by_row), variances)

    @property
    def matrix(self) -> Array:
        """Σ, (d, d)."""
        return np.asarray((self.rows.T * self.by_row) @ self.rows + np.diag(self.own))

    def exceeds(self, rounding: Array) -> bool | None:
        """Whether Σ exceeds the `rounding` of its columns in all directions; None if only a matrix can tell.

        n rows add to n directions at most, so Σ falls short if more columns than that do on their own.
        """
        short = int(np.sum(self.own <= rounding))
        if short == 0:
            return True
        return False if short > np.count_nonzero(self.by_row) else None

    def squared_norm(self, factor: Array) -> float:
        """|FΣF|² in the Frobenius norm, with F = diag(factor); only of the rows' products."""
        scaled = self.rows * factor * np.sqrt(self.by_row)[:, np.newaxis]
        products = scaled @ scaled.T
        return float(np.vdot(products, products))

    def whitened(self, scale: Array, mine: NDArray[np.bool_]) -> tuple[ThinWhitening, float]:
        """The whitening, and Σ zᵀΣ⁻¹z over some of the rows."""
        used = self.by_row > 0
        factor = self.rows[used] * np.sqrt(self.by_row[used])[:, np.newaxis]
        left, strength, axes = np.linalg.svd(factor / np.sqrt(self.own), full_matrices=False)
        whitening = ThinWhitening(self.own, strength, axes, scale)
        # zᵢ = own^½·V·S·uᵢ/√by_rowᵢ lies on the axes.
        distance = (left**2 @ (strength**2 / (1.0 + strength**2))) / self.by_row[used]
        return whitening, float(distance[mine[used]].sum() + whitening.squared(self.rows[mine & ~used]).sum())


class ThinWhitening(Whitening):
    """Σ^-½ from Σ = own^½·(I + V·S²·Vᵀ)·own^½ with a few axes V: 1 + s² along them, and 1 across."""

    def __init__(self, own: Array, strength: Array, axes: Array, scale: Array) -> None:
        self.own, self.strength, self.axes = own, strength, axes
        log_det = float(np.sum(np.log(own)) + np.sum(np.log1p(strength**2)))
        self.constant = -0.5 * log_det - float(np.sum(np.log(scale))) - len(scale) * HALF_LOG_TWO_PI

    @cached_property
    def _deviation(self) -> Array:
        return np.sqrt(self.own)

    def _stretched(self, rows: Array, along: Array) -> Array:
        """Rows times these factors along the axes."""
        return np.asarray(rows + (rows @ self.axes.T * (along - 1.0)) @ self.axes)

    @property
    def inverse(self) -> Array:
        """own^-½ after the symmetric root, as a matrix: for what needs all of it."""
        return self.whiten(np.eye(len(self.own))).T

    def whiten(self, z: Array) -> Array:
        return self._stretched(z / self._deviation, 1.0 / np.sqrt(1.0 + self.strength**2))

    def whiten_transposed(self, whitened: Array) -> Array:
        return self._stretched(whitened, 1.0 / np.sqrt(1.0 + self.strength**2)) / self._deviation

    def colour(self, noise: Array) -> Array:
        return self._stretched(noise, np.sqrt(1.0 + self.strength**2)) * self._deviation

    @cached_property
    def _factor(self) -> Array:
        """B with Σ = diag(own) + BᵀB."""
        return np.asarray(self.axes * self.strength[:, np.newaxis] * self._deviation)

    @property
    def covariance(self) -> Array:
        return np.asarray(self._factor.T @ self._factor + np.diag(self.own))

    @cached_property
    def spread(self) -> tuple[Array, Array]:
        variances = self.own + np.einsum("ij,ij->j", self._factor, self._factor)
        share = self.own / variances
        mixed = share[self.axes.any(axis=0)]
        if mixed.max(initial=0.0) > (1.0 + EQUAL) * mixed.min(initial=1.0):
            return super().spread
        # R = share·(I + V·S²·Vᵀ), except in columns that no axis touches.
        return np.sqrt(variances), np.log(share) + np.log1p(self.strength**2) @ self.axes**2

    def marginal(self, at: Codes, scale: Array) -> ThinWhitening:
        """The same on some of the columns."""
        own, rows = self.own[at], self._factor[:, at]
        return ThinCovariance(rows, np.ones(len(rows)), own).whitened(scale, np.zeros(len(rows), np.bool_))[0]
