"""Gaussians of a few rows of many columns, which score rows without any d × d matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import Whitening
from suffice.factors.gaussian.scores import SolvedGaussian, runs
from suffice.factors.gaussian.thin import ThinWhitening
from suffice.families import MultivariateNormal
from suffice.storage import Fields, Scalars


class ThinGaussian(SolvedGaussian):
    """The Gaussians of a few rows. Σ is multiplied out when it is first needed as a matrix."""

    def __init__(
        self,
        family: MultivariateNormal,
        labels: list[str],
        active: Codes,
        thin: list[ThinWhitening],
        distance: Array,
    ) -> None:
        super().__init__(family, labels, active, len(labels))
        del self.standard  # multiplied out when it is first needed
        self.thin = thin
        self.whitenings = [*thin]
        self.distance = distance
        """Σ zᵀΣ⁻¹z over the rows of each group."""
        self.group_weight = np.zeros(len(thin))
        """The rows' weight of each group."""
        self.regularized_groups: dict[int, str] = {}

    def saved_search(self) -> dict[str, Any]:
        """The covariances, which the sums in a file would give other last bits."""
        groups = [{"own": one.own, "strength": one.strength, "axes": one.axes} for one in self.thin]
        singular = np.array(list(self.regularized_groups), dtype=np.int64)
        reasons = Scalars(list(self.regularized_groups.values()))
        return {
            "thin": {"groups": groups, "distance": self.distance, "singular": singular, "reasons": reasons}
        }

    @cached_property
    def standard(self) -> Array:  # type: ignore[override]
        """Σ of each group, (g, d, d)."""
        return np.stack([whitening.covariance for whitening in self.thin])

    def marginals(self, columns: Codes) -> list[Whitening]:
        if len(columns) == len(self.active):
            return self.whitenings
        at = np.searchsorted(self.active, columns)
        return [whitening.marginal(at, self.scale[columns]) for whitening in self.thin]

    def _add_whole_rows(self, block: Array, scores: Array, *, base: bool) -> int:
        return 0 if self._linear is None else super()._add_whole_rows(block, scores, base=base)

    def _add_by_patterns(self, block: Array, scores: Array, *, base: bool) -> None:
        """Add the scores of rows, one pattern of missing cells after another."""
        groups = [np.flatnonzero(self.group == g) for g in range(len(self.whitenings))]
        for every, columns, whitenings in self._patterns(block):
            whole = base or len(whitenings) > 1
            densities = [
                self._log_density(columns, members, whitening, whole=whole)
                for members, whitening in zip(groups, whitenings, strict=True)
            ]
            for some in runs(every):
                cells = block[some[:, np.newaxis], columns]
                far = (np.abs(cells) > self._limit[columns]).any(axis=1)
                rows, values = (some[~far], cells[~far]) if far.any() else (some, cells)
                for members, log_density in zip(groups, densities, strict=True):
                    scores[rows[:, np.newaxis], members] += log_density(values)
                if far.any():
                    scores[some[far]] += self._far_scores(cells[far], columns, whitenings, whole=base)

    def _log_density(
        self, columns: Codes, members: Codes, whitening: Whitening, *, whole: bool
    ) -> Callable[[Array], Array]:
        """The function that returns log p of rows in the classes of one group, which share Σ: (n, members).

        Unless the `whole` is wanted, −½xᵀΣ⁻¹x and the constant are dropped: they are equal for all classes,
        and the rest is one matrix product.
        """
        means = self.about_middle(columns, members, whitening) if len(members) > 1 else None
        if means is None or not means.close:
            return lambda values: np.stack(
                [
                    whitening.constant - 0.5 * whitening.squared(self._standard(values, columns, k))
                    for k in members
                ],
                axis=1,
            )
        if not whole:
            slopes, constant = means.linear(whitening)
            return lambda values: np.asarray((values - means.base) @ slopes.T + constant)

        def log_densities(values: Array) -> Array:
            rows = whitening.whiten((values - means.base) / means.scale - means.middle)
            own = 0.5 * np.einsum("ij,ij->i", rows, rows)
            return np.asarray(
                whitening.constant + rows @ means.whitened.T - own[:, np.newaxis] - means.half_norms
            )

        return log_densities

    @cached_property
    def log_likelihood(self) -> float:
        """Log p of the summarized rows."""
        constants = np.array([whitening.constant for whitening in self.thin])
        return float(self.group_weight @ constants - 0.5 * self.distance.sum())


def thin_from_fields(
    fields: Fields, n_groups: int, scale: Array
) -> tuple[list[ThinWhitening], Array, dict[int, str]]:
    """What a file holds: covariances, squared distances, and which were singular."""
    thin = []
    for group in fields.branches("groups", n_groups):
        own = group.array("own", np.float64, scale.shape)
        strength = group.array("strength", np.float64, (None,))
        if (own <= 0).any():
            raise group.error("own", "holds variances that are not positive.")
        axes = group.array("axes", np.float64, (len(strength), len(scale)))
        thin.append(ThinWhitening(own, strength, axes, scale))
    singular = fields.array("singular", np.int64, (None,)).tolist()
    if not set(singular) <= set(range(n_groups)):
        raise fields.error("singular", "names groups that do not exist.")
    reasons = map(str, fields.scalars("reasons", len(singular)))
    return thin, fields.array("distance", np.float64, (n_groups,)), dict(zip(singular, reasons, strict=True))
