"""Families with a dispersion that the classes may share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice.arrays import Array
from suffice.families.base import Family


@dataclass(frozen=True, repr=False)
class DispersedFamily(Family):
    """A family with a location and a dispersion, which the classes may share.

    Parameters
    ----------
    dispersion : {"free", "shared"}, default="free"
        Whether each class has its own dispersion, or all classes share one.
    alpha, unseen
        As in `Family`.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Normal
    >>> model = BayesClassifier(families=Normal("shared", alpha=0))
    >>> model.fit([[1.0], [3.0], [6.0], [10.0]], ["a", "a", "b", "b"]).parameters_
    {0: {'mean': array([2., 8.]), 'variance': array([2.5, 2.5])}}
    """

    dispersion: Literal["free", "shared"] = "free"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dispersion not in ("free", "shared"):
            raise ValueError(
                f"{self.name}: dispersion must be 'free' or 'shared', got {self.dispersion!r}; "
                f"pass alpha and unseen by keyword: {self.name}(alpha=...)."
            )

    def dispersion_from_mean(self, mean: Array, origin: Array) -> Array:
        """Compute the statistic whose average over all rows is the shared dispersion.

        Parameters
        ----------
        mean, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        raise NotImplementedError

    def mean_with_dispersion(self, mean: Array, origin: Array, dispersion: Array) -> Array:
        """Replace the dispersion in mean statistics and keep the location.

        Parameters
        ----------
        mean, origin : ndarray
        dispersion : ndarray of shape (...)

        Returns
        -------
        ndarray of shape (m, ...)
        """
        raise NotImplementedError

    def smoothed_weight(self, weight: Array) -> Array:
        """Compute how much a class counts in the shared dispersion.

        Parameters
        ----------
        weight : ndarray

        Returns
        -------
        ndarray, shaped as weight
        """
        return weight + self.alpha

    def shared(self, mean: Array, weight: Array, origin: Array) -> Array:
        """Give all classes their average dispersion.

        Parameters
        ----------
        mean, weight, origin : ndarray
            With the classes on the axis k: (m, k, ...) and (k, ...).

        Returns
        -------
        ndarray of shape (m, k, ...)
        """
        counts = self.smoothed_weight(weight)
        total = counts.sum(axis=0)
        average = np.sum(counts * self.dispersion_from_mean(mean, origin), axis=0)
        average = np.divide(average, total, out=np.zeros_like(total), where=total > 0)
        return self.mean_with_dispersion(mean, origin, np.broadcast_to(average, weight.shape))
