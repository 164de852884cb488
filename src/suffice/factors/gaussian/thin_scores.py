"""Gaussians of a few rows of many columns, which score rows without any d × d matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import Whitening
from suffice.factors.gaussian.scores import SolvedGaussian
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
