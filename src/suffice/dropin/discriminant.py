"""What scikit-learn's two discriminants share: the choice of a solver."""

from __future__ import annotations

from typing import Any

from suffice.dropin.base import DropIn
from suffice.dropin.covariances import family_of
from suffice.model.infer import Families


class Discriminant(DropIn):
    """One joint Gaussian in each class, whose covariances a solver regularises."""

    solver: str
    shrinkage: Any
    covariance_estimator: Any

    def _chosen_families(self) -> Families:
        """One joint Gaussian."""
        return family_of(self.shrinkage)

    def _validate_params(self) -> None:
        """Refuse settings that a solver does not have."""
        super()._validate_params()
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance_estimator is not supported with solver='svd'. Try another solver."
                )
        elif self.covariance_estimator is not None:
            if self.shrinkage is not None and self.shrinkage != 0:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. "
                    "Only one of the two can be set."
                )
            raise NotImplementedError(
                "covariance_estimator needs the rows, and this model keeps their sums; use shrinkage, or "
                f"sklearn.discriminant_analysis.{type(self).__name__}."
            )
