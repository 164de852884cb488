"""Which classes share a covariance, and what shape it has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.tables.wording import listed

Groups = tuple[tuple[Any, ...], ...]
"""Groups of labels that share one Σ."""


class Tying:
    """Which classes share a covariance, and what shape it has."""

    def __init__(self, covariance: str | Groups, classes: NDArray[Any], ddof: float) -> None:
        self.ddof = ddof
        n_classes = len(classes)
        if isinstance(covariance, str):
            self.shape = covariance.removeprefix("shared_") if covariance != "shared" else "full"
            shared = covariance.startswith("shared")
            self.group = np.zeros(n_classes, dtype=np.intp) if shared else np.arange(n_classes)
        else:
            self.shape = "full"
            self.group = _group_of_each(covariance, classes)
        self.n_groups = int(self.group.max(initial=-1)) + 1

    def share(self) -> None:
        """Let all classes share one Σ, as with Friedman's λ = 1."""
        self.group = np.zeros_like(self.group)
        self.n_groups = min(self.n_groups, 1)

    def pooled(self, per_class: Array) -> Array:
        """Sums over the classes of each group."""
        if self.n_groups == 1:
            return np.asarray(per_class.sum(axis=0, keepdims=True))
        total = np.zeros((self.n_groups, *per_class.shape[1:]))
        if len(self.group) == self.n_groups:  # each class is alone
            total[self.group] = per_class
            return total
        np.add.at(total, self.group, per_class)
        return total

    def covariances(self, scatter: Array, weight: Array) -> Array:
        """Σ of each group, from W_g·S_g: divided by the rows (less ddof per class), and shaped."""
        return self.shaped(scatter / self.divisors(weight)[:, np.newaxis, np.newaxis])

    def divisors(self, weight: Array) -> Array:
        """The rows of each group less ddof per class, or all rows if that would leave none."""
        every = self.pooled(weight)
        left = self._left_by_ddof(weight)
        return np.where(left > 0, left, np.where(every > 0, every, 1.0))

    def without_divisor(self, weight: Array) -> Codes:
        """The classes of groups in which ddof uses up all rows."""
        none_left = (self._left_by_ddof(weight) <= 0) & (self.pooled(weight) > 0)
        return np.flatnonzero(none_left[self.group])

    def _left_by_ddof(self, weight: Array) -> Array:
        return self.pooled(weight) - self.ddof * self.pooled((weight > 0).astype(np.float64))

    def shaped(self, covariance: Array) -> Array:
        """Keep only the diagonal, or Σ = λI, if that is the shape."""
        if self.shape == "full":
            return covariance
        diagonal = self.shaped_variances(np.diagonal(covariance, axis1=1, axis2=2))
        return np.asarray(diagonal[:, :, np.newaxis] * np.eye(diagonal.shape[1]))

    def shaped_variances(self, variance: Array) -> Array:
        """Variances of the columns, (g, d); their mean if Σ = λI."""
        if self.shape != "isotropic":
            return variance
        mean = variance.sum(axis=1, keepdims=True) / max(variance.shape[1], 1)
        return np.broadcast_to(mean, variance.shape)

    def shaped_one(self, covariance: Array) -> Array:
        """The same for one matrix."""
        return np.asarray(self.shaped(covariance[np.newaxis])[0])

    def rounding(self, scatter: Array, noise: Array) -> Array:
        """The share of each variance, (g, d), that may be rounding error.

        Both arguments are sums of squares of each class and column, (k, d).
        """
        held, lost = (self.shaped_variances(self.pooled(a)) for a in (scatter, noise))
        share = np.divide(lost, held, out=np.full_like(held, np.inf), where=held > 0)
        return np.where(lost > 0, share, 0.0)

    def n_parameters(self, d: int) -> int:
        """The number of free parameters in the covariances."""
        each = {"full": d * (d + 1) // 2, "diagonal": d, "isotropic": min(d, 1)}[self.shape]
        return self.n_groups * each


def check_groups(groups: Groups, classes: NDArray[Any], *, all_have_rows: bool) -> None:
    """Refuse groups that do not name every class once; classes without rows may be named in advance."""
    named = [label for group in groups for label in group]
    known = classes.tolist()
    missing = [label for label in known if label not in named]
    repeated = sorted({str(label) for label in named if named.count(label) > 1})
    unknown = [label for label in named if label not in known] if all_have_rows else []
    if missing or repeated or unknown:
        raise ValueError(
            f"covariance groups must name every class once: missing {listed(missing)}, repeated "
            f"{listed(repeated)}, "
            f"unknown {listed(unknown)}; the classes are {listed(known)}."
        )


def _group_of_each(groups: Groups, classes: NDArray[Any]) -> Codes:
    """The group of each class; groups without classes do not count."""
    check_groups(groups, classes, all_have_rows=False)
    where = {label: g for g, group in enumerate(groups) for label in group}
    return np.unique([where[label] for label in classes.tolist()], return_inverse=True)[1].astype(np.intp)
