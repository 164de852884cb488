"""MultivariateNormal."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from suffice.arrays import Array, Exponents
from suffice.families.base import NO_UNIT, Family
from suffice.families.special import HALF_LOG_TWO_PI

Covariance = Literal["full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic"]
COVARIANCES: tuple[Covariance, ...] = (
    "full",
    "shared",
    "diagonal",
    "shared_diagonal",
    "isotropic",
    "shared_isotropic",
)
SHRINKAGES = ("ledoit_wolf", "oas", "bayes")
MISSING = ("em", "pairwise")


@dataclass(frozen=True, repr=False)
class MultivariateNormal(Family):
    """p(x) = (det 2πΣ)^−½ exp(−½(x − μ)ᵀΣ⁻¹(x − μ)): u = (x, xxᵀ), λ = (Σ⁻¹μ, −½Σ⁻¹), a block of columns.

    Parameters
    ----------
    covariance : str or groups of labels, default="full"
        "full" (a Σ for each class), "shared" (one Σ), "diagonal", "shared_diagonal", "isotropic" (Σ = λI),
        "shared_isotropic", or groups of labels that share one Σ: [["C1", "C2"], ["C3"]].
    shrinkage : None, float, "ledoit_wolf", "oas", "bayes" or (λ, γ), default=None
        Shrink the correlations of each Σ toward 0: by a fixed amount, by the Ledoit–Wolf or OAS estimate, or
        as in Friedman's regularised discriminant analysis. "bayes" is the mean of Σ given the rows: the prior
        of a class's Σ is worth d + 2 rows of the shared Σ, which OAS shrinks.
    missing : {"em", "pairwise"}, default="em"
        How gaps are handled: maximum likelihood by EM, or sums over pairs of columns.
    ddof : float, default=0.0
        0 for maximum likelihood (1/n), 1 for the unbiased covariance; per class, so K·ddof when shared.
        If that leaves no rows, 0 is used, and `regularized_` says so.
    alpha : float, default=0.0
        Without effect: `shrinkage` regularises the covariance.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        Without effect: every finite number is in the support.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import MultivariateNormal
    >>> model = BayesClassifier(families=MultivariateNormal("shared"))
    >>> model.fit([[1.0, 2.0], [2.0, 1.0], [5.0, 7.0], [7.0, 6.0]], ["a", "a", "b", "b"])
    BayesClassifier(families=MultivariateNormal(covariance='shared'))
    >>> model.predict([[2.0, 2.0]])
    array(['a'], dtype=object)
    """

    covariance: Any = "full"
    shrinkage: Any = field(default=None, kw_only=True)
    missing: Literal["em", "pairwise"] = field(default="em", kw_only=True)
    ddof: float = field(default=0.0, kw_only=True)
    alpha: float = field(default=0.0, kw_only=True)

    solve_settings: ClassVar[frozenset[str]] = Family.solve_settings | {"covariance", "shrinkage"}
    joint: ClassVar[bool] = True
    factor: ClassVar[str] = "scatter"
    support_name: ClassVar[str] = "finite numbers"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "covariance", checked_covariance(self.covariance))
        object.__setattr__(self, "shrinkage", checked_shrinkage(self.shrinkage))
        if self.missing not in MISSING:
            raise ValueError(f"{self.name}: missing must be one of {MISSING}, got {self.missing!r}.")
        if self.missing == "pairwise" and self.shrinkage == "ledoit_wolf":
            raise ValueError(
                f"{self.name}: shrinkage='ledoit_wolf' needs sums over whole rows, and missing='pairwise' "
                "keeps sums over pairs of columns; use shrinkage='oas' or a number."
            )
        if not (isinstance(self.ddof, Real) and np.isfinite(self.ddof) and self.ddof >= 0):
            raise ValueError(f"{self.name}: ddof must be a finite number ≥ 0, got {self.ddof!r}.")

    @property
    def summed(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        name, kept = super().summed
        return name, (*kept, ("fourth moments", self.shrinkage == "ledoit_wolf"))

    def statistics(
        self, x: Array, origin: Array | float | None = None, exponent: Exponents = NO_UNIT
    ) -> Array:
        # (x, xxᵀ) of rows with their columns on the leading axis: d + d² numbers on the leading axis.
        z = np.asarray(x, dtype=np.float64) - (0.0 if origin is None else origin)
        squares = z[:, np.newaxis] * z[np.newaxis]
        return np.concatenate([z, squares.reshape(-1, *z.shape[1:])])

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        mean, covariance = _moments(natural)
        precision_mean = np.moveaxis(_split(natural)[0], 0, -1)
        log_det = np.linalg.slogdet(covariance)[1]
        return np.asarray(
            0.5 * np.sum(mean * precision_mean, axis=-1) + 0.5 * log_det + mean.shape[-1] * HALF_LOG_TWO_PI
        )

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        mean, covariance = _moments(natural)
        square = covariance + mean[..., :, np.newaxis] * mean[..., np.newaxis, :]
        return _joined(mean, square)

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        location, square = _split(mean)
        location, square = np.moveaxis(location, 0, -1), np.moveaxis(square, (0, 1), (-2, -1))
        covariance = square - location[..., :, np.newaxis] * location[..., np.newaxis, :]
        return natural_from_moments(location, covariance)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        mean, covariance = _moments(natural)
        return {"mean": mean + origin, "covariance": covariance}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        mean, covariance = _moments(natural)
        root = np.linalg.cholesky(covariance)
        drawn = mean + np.einsum("...ij,...j->...i", root, rng.standard_normal(mean.shape))
        return np.asarray(np.moveaxis(drawn, -1, 0) + origin)


def natural_from_moments(mean: Array, covariance: Array) -> Array:
    """λ = (Σ⁻¹μ, −½Σ⁻¹) of mean vectors and covariances on trailing axes."""
    precision = np.linalg.inv(covariance).astype(np.float64, copy=False)
    return _joined(np.einsum("...ij,...j->...i", precision, mean), -0.5 * precision)


def checked_covariance(covariance: Any) -> Any:
    """A known structure, or groups of labels as tuples."""
    if isinstance(covariance, str):
        if covariance not in COVARIANCES:
            raise ValueError(
                f"covariance must be one of {COVARIANCES}, or groups of labels, got {covariance!r}."
            )
        return covariance
    try:
        groups = tuple(tuple(group) for group in covariance if not isinstance(group, str))
    except TypeError:
        groups = ()
    if not groups or len(groups) != len(covariance) or not all(groups):
        raise ValueError(
            f"covariance must be one of {COVARIANCES}, or groups of labels such as "
            f"[['C1', 'C2'], ['C3']], got {covariance!r}."
        )
    return groups


def checked_shrinkage(shrinkage: Any) -> Any:
    """None, a share, the name of an estimate, or Friedman's pair."""
    if shrinkage is None or (isinstance(shrinkage, str) and shrinkage in SHRINKAGES):
        return shrinkage
    numbers = shrinkage if isinstance(shrinkage, (tuple, list)) and len(shrinkage) == 2 else (shrinkage,)
    numeric = all(isinstance(n, (int, float, np.number)) and not isinstance(n, bool) for n in numbers)
    if numeric and all(0 <= n <= 1 for n in numbers):
        return tuple(float(n) for n in numbers) if len(numbers) == 2 else float(numbers[0])
    raise ValueError(
        "shrinkage must be None, a number from 0 to 1, 'ledoit_wolf', 'oas', 'bayes', or Friedman's pair "
        f"(λ, γ) of such numbers, got {shrinkage!r}."
    )


def _split(stacked: Array) -> tuple[Array, Array]:
    """The vector part (d, …) and the matrix part (d, d, …) of d + d² stacked numbers."""
    d = round((np.sqrt(1.0 + 4.0 * len(stacked)) - 1.0) / 2.0)
    return stacked[:d], stacked[d:].reshape(d, d, *stacked.shape[1:])


def _joined(vector: Array, matrix: Array) -> Array:
    """The inverse of `_split`, from trailing axes."""
    leading = np.moveaxis(matrix, (-2, -1), (0, 1))
    return np.concatenate([np.moveaxis(vector, -1, 0), leading.reshape(-1, *leading.shape[2:])])


def _moments(natural: Array) -> tuple[Array, Array]:
    """μ and Σ on trailing axes."""
    precision_mean, negative_half_precision = _split(natural)
    precision = -2.0 * np.moveaxis(negative_half_precision, (0, 1), (-2, -1))
    covariance = np.linalg.inv(precision).astype(np.float64, copy=False)
    mean: Array = np.einsum("...ij,...j->...i", covariance, np.moveaxis(precision_mean, 0, -1))
    return mean, covariance
