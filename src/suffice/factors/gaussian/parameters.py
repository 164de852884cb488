"""The parameters of a joint Gaussian block: means and covariances, and their Cholesky factors.

Centres, scales and covariances are kept apart, so that neither offsets nor units cost digits. The marginal of
a Gaussian is the Gaussian of the submatrix: rows with gaps are scored by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.families.special import HALF_LOG_TWO_PI

NEAR = 100.0
"""Deviations per column between class means up to which the square is expanded: that loses 4 of 16 digits."""
SMALLEST = 2.0**-1000
"""The smallest unit of a column by which slopes may be divided: beyond, they may overflow."""


class Whitening:
    """L⁻¹ with LLᵀ = Σ on some columns, in standardised coordinates, and the constant of the density."""

    def __init__(self, root: Array, scale: Array) -> None:
        self.root = root
        log_det = 2.0 * float(np.sum(np.log(np.diag(root))))
        self.constant = -0.5 * log_det - float(np.sum(np.log(scale))) - len(scale) * HALF_LOG_TWO_PI

    @classmethod
    def of_each(cls, covariances: Array, scale: Array) -> list[Whitening]:
        """Those of several Σ, (…, d, d)."""
        return [cls(root, scale) for root in np.linalg.cholesky(covariances)]

    @cached_property
    def inverse(self) -> Array:
        """L⁻¹."""
        return np.asarray(linalg.lapack.dtrtri(self.root, lower=1)[0] if len(self.root) else self.root)

    @property
    def covariance(self) -> Array:
        """Σ, (d, d)."""
        return np.asarray(self.root @ self.root.T)

    def whiten(self, z: Array) -> Array:
        """L⁻¹z of standardised rows about the mean."""
        return np.asarray(z @ self.inverse.T)

    def whiten_transposed(self, whitened: Array) -> Array:
        """L⁻ᵀz of whitened rows: Σ⁻¹z of those that were not."""
        return np.asarray(whitened @ self.inverse)

    def colour(self, noise: Array) -> Array:
        """Lz of rows of standard noise, which then have the covariance Σ."""
        return np.asarray(noise @ self.root.T)

    def squared(self, z: Array) -> Array:
        """zᵀΣ⁻¹z of standardised rows about the mean."""
        whitened = self.whiten(z)
        return np.asarray(np.einsum("ij,ij->i", whitened, whitened))

    @cached_property
    def spread(self) -> tuple[Array, Array]:
        """σ_j of each column, and (log R)_jj with the correlations R."""
        covariance = self.covariance
        deviation = np.sqrt(np.diag(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(deviation, deviation))
        return deviation, np.asarray((vectors**2) @ np.log(values))

    def cells(self, z: Array, scale: Array) -> Array:
        """Shares of the log density by column: −½z_j(Σ⁻¹z)_j − ½log(2πσ_j²) − ½(log R)_jj."""
        deviation, log_correlations = self.spread
        constant = np.log(deviation * scale) + HALF_LOG_TWO_PI + 0.5 * log_correlations
        shares = -0.5 * z * self.whiten_transposed(self.whiten(z)) - constant
        # Near a singular covariance the shares cancel; what rounding took from their sum is spread evenly.
        rest = self.constant - 0.5 * self.squared(z) - shares.sum(axis=1)
        return np.asarray(shares + rest[:, np.newaxis] / max(len(scale), 1))


@dataclass(frozen=True)
class Means:
    """Means of classes that share Σ: (x − base)/scale is standard, and `whitened` are L⁻¹(μ_k − middle)."""

    base: Array
    scale: Array
    middle: Array
    whitened: Array

    @property
    def close(self) -> bool:
        """Whether the square may be expanded."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", self.whitened, self.whitened)
        is_near = bool((squares <= NEAR**2 * self.whitened.shape[1]).all())
        return is_near and bool((self.scale >= SMALLEST).all())

    @property
    def half_norms(self) -> Array:
        """½|L⁻¹(μ_k − middle)|²."""
        return np.asarray(0.5 * np.einsum("ij,ij->i", self.whitened, self.whitened))

    def linear(self, whitening: Whitening) -> tuple[Array, Array]:
        """Slopes (k, d) of x − base, and constants, of the scores without what is equal for all classes."""
        slopes = whitening.whiten_transposed(self.whitened)
        return slopes / self.scale, -slopes @ self.middle - self.half_norms


class Gaussians:
    """μ_k of every class, and Σ of every group of classes, on the columns that vary."""

    def __init__(self, labels: list[str], active: Codes, d: int) -> None:
        self.labels = labels
        self.active = active
        self.centre = np.zeros((0, d))
        self.shift = np.zeros((0, d))
        self.scale = np.ones(d)
        self.standard = np.zeros((0, len(active), len(active)))
        self.group = np.zeros(0, dtype=np.intp)

    @property
    def mean(self) -> Array:
        """μ_k in the units of the data; scores use its two parts separately, to lose no digits."""
        return np.asarray(self.centre + self.shift * self.scale)

    @cached_property
    def whitenings(self) -> list[Whitening]:
        """The Cholesky factors of all groups, on all columns."""
        return Whitening.of_each(self.standard, self.scale[self.active])

    def covariances(self) -> Array:
        """Σ of each class in the units of the data, (k, d, d); constant columns have variance 0."""
        d, scale = len(self.scale), self.scale[self.active]
        full = np.zeros((len(self.group), d, d))
        with np.errstate(over="ignore"):
            own = self.standard * scale * scale[:, np.newaxis]
        variance = np.diagonal(own, axis1=1, axis2=2)
        beyond = ~(np.isfinite(variance) & (variance > 0)).all(axis=0)
        if beyond.any():
            column = int(np.argmax(beyond))
            name, deviation = self.labels[self.active[column]], f"{scale[column]:.0e}"
            raise ValueError(
                f"{name}: the square of its standard deviation, about {deviation}, is out of range, so its "
                "variance is not available (predictions do not need it); rescale the column."
            )
        for k, g in enumerate(self.group):
            full[k][np.ix_(self.active, self.active)] = own[g]
        return full

    def marginals(self, columns: Codes) -> list[Whitening]:
        """Σ of each group on some of the columns that vary."""
        if len(columns) == len(self.active):
            return self.whitenings
        at = np.searchsorted(self.active, columns)
        return Whitening.of_each(self.standard[:, at[:, np.newaxis], at], self.scale[columns])

    def about_middle(self, columns: Codes, members: Codes, whitening: Whitening) -> Means:
        """The means of classes that share Σ, about their middle."""
        here = np.ix_(members, columns)
        base, scale = self.centre[members[0], columns], self.scale[columns]
        with np.errstate(over="ignore", invalid="ignore"):  # then they are not close
            means = (self.centre[here] - base) / scale + self.shift[here]
            middle = means.mean(axis=0)
            return Means(base, scale, middle, whitening.whiten(means - middle))
