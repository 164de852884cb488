"""The exponential family: p(x | λ) = h(x)·exp(λᵀu(x) − A(λ)).

A family is a few primitives on arrays; densities, divergences and entropies are derived here, once. u(x) is
taken about an origin c (see `elementary`), so A takes the origin too: near the data nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.elementary import DevianceTerms, Function, check_functions, evaluate

Unseen = Literal["ignore", "smooth", "error"]
NO_UNIT = np.zeros((), dtype=np.int32)


@dataclass(frozen=True)
class Family:
    """A distribution of one column, in exponential-family form.

    In the methods, `natural` is λ and `mean` is E[u(x)], both of shape (m, ...): m statistics first, then
    any axes, such as classes × columns. `origin` is the origin c of u(x), which broadcasts to (...), or None
    for `default_origin`. `weight` is Σ w, and `noise` the rounding error of `mean`.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing, in pseudo-observations; applied when solving, never stored in statistics.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Attributes
    ----------
    name, functions, default_origin, n_statistics
        The name in schemas and files; u(x); its origin in the textbook form; the dimension m of u(x) and λ.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> natural = Poisson().natural_from_mean(np.array([1.0]), origin=np.array(0.0))
    >>> Poisson().log_density([0.0, 1.0], natural)
    array([-1., -1.])
    """

    alpha: float = field(default=1.0, kw_only=True)
    unseen: Unseen = field(default="ignore", kw_only=True)

    centred: ClassVar[bool] = False
    """Whether statistics are taken about an observed value (else about `default_origin`)."""
    scaled: ClassVar[bool] = False
    """Whether x and x² are summed in a power-of-two unit that follows |x − c|, so that (1e200)² fits."""
    has_base_measure: ClassVar[bool] = False
    """Whether h(x) differs from 1."""
    factor: ClassVar[str] = "columns"
    """The kind of factor that sums and solves this family (a key of `suffice.factors.KINDS`)."""
    solve_settings: ClassVar[frozenset[str]] = frozenset({"alpha", "unseen", "dispersion", "ddof"})
    """Arguments that matter when solving, not when summing."""
    conventional_degree: ClassVar[dict[str, int]] = {}
    """How each conventional parameter of a scaled family grows with the unit (0 where not named)."""
    joint: ClassVar[bool] = False
    """Whether the columns given together are one distribution, observed or missing as a whole."""
    support_name: ClassVar[str] = "finite numbers"
    point_masses: ClassVar[bool] = False
    """Whether a solution on the boundary is kept as a point mass (Poisson of mean 0), not regularised."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_functions(cls, cls.__name__)

    def __post_init__(self) -> None:
        check_functions(self, self.name)
        if not (isinstance(self.alpha, Real) and np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"{self.name}: alpha must be a finite number ≥ 0, got {self.alpha!r}.")
        if self.unseen not in get_args(Unseen):
            raise ValueError(f"{self.name}: unseen must be one of {get_args(Unseen)}, got {self.unseen!r}.")

    @property
    def functions(self) -> tuple[Function, ...]:
        """u(x): names of elementary functions, or one's own functions."""
        return ()

    @property
    def default_origin(self) -> float:
        """The origin of the textbook form."""
        return 0.0

    @property
    def name(self) -> str:
        """The family's name in schemas and files."""
        return type(self).__name__

    def __repr__(self) -> str:
        given, ordered = self.settings(), sorted(fields(self), key=lambda f: bool(f.kw_only))
        changed = [f"{f.name}={given[f.name]!r}" for f in ordered if given[f.name] != f.default]
        return f"{self.name}({', '.join(changed)})"

    @property
    def discrete(self) -> bool:
        """Whether the values have probabilities, not densities: counts or levels."""
        return False

    @property
    def takes_every_number(self) -> bool:
        """Whether every finite number lies in the support."""
        return type(self).support is Family.support

    @property
    def has_steps(self) -> bool:
        """Whether p(x) is constant between jumps, as that of counts and histograms."""
        return self.discrete

    @property
    def is_binary(self) -> bool:
        """Whether the support is 0 and 1, with u(x) = x."""
        return self.discrete and self.functions == ("x",) and self.mean_bounds() == (0.0, 1.0)

    @property
    def deviance_terms(self) -> DevianceTerms | None:
        """Of x and μ, the terms of the deviance; None if large counts need none."""
        return None

    def support(self, x: Array) -> NDArray[np.bool_]:
        """Tell which values lie in the support.

        Parameters
        ----------
        x : ndarray

        Returns
        -------
        ndarray of bool, shaped as x
        """
        return np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        """Compute log h(x).

        Parameters
        ----------
        x : ndarray

        Returns
        -------
        ndarray, shaped as x
        """
        return np.zeros_like(x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        """Compute A(λ) for u(x) about the origin.

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        raise NotImplementedError

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        """Compute E[u(x)] = ∇A(λ).

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        ndarray of shape (m, ...)
        """
        raise NotImplementedError

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        """Find the λ whose E[u(x)] is `mean`: maximum likelihood.

        Parameters
        ----------
        mean, origin : ndarray

        Returns
        -------
        ndarray of shape (m, ...)
        """
        raise NotImplementedError

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        """Name the parameters people know.

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        dict of str to ndarray of shape (...)
        """
        raise NotImplementedError

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        """Draw one value for each entry of the parameters.

        Parameters
        ----------
        natural, origin : ndarray
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of shape (...)
        """
        raise NotImplementedError

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        """Tell where `mean` lies within `noise` of the boundary of the mean space, so that no λ has it.

        Parameters
        ----------
        mean, origin, noise : ndarray

        Returns
        -------
        ndarray of bool of shape (...)
        """
        low, high = self.mean_bounds()
        return np.asarray((mean[0] <= low) | (mean[0] >= high))

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        """Tell where `mean` lies outside the mean space by more than `noise`, so that no data could give it.

        Parameters
        ----------
        mean, origin, noise : ndarray

        Returns
        -------
        ndarray of bool of shape (...)
        """
        low, high = self.mean_bounds()
        return np.asarray((mean[0] < low - noise) | (mean[0] > high + noise))

    def mean_bounds(self) -> tuple[float, float]:
        """Bound the mean of the first statistic, from below and above.

        Returns
        -------
        tuple of float
        """
        return -np.inf, np.inf

    def origin_from_mean(self, mean: Array, origin: Array) -> Array:
        """Choose the origin for the scores of a class whose statistics have this mean.

        Parameters
        ----------
        mean, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        return np.asarray(origin + mean[0])

    def smooth(self, mean: Array, weight: Array, pooled: Array) -> Array:
        """Add alpha pseudo-observations with `pooled`, the mean statistics of the whole column.

        Parameters
        ----------
        mean, weight, pooled : ndarray

        Returns
        -------
        ndarray of shape (m, ...)
        """
        total = weight + self.alpha
        own = np.divide(weight, total, out=np.zeros_like(total), where=total > 0)
        added = np.divide(self.alpha, total, out=np.ones_like(total), where=total > 0)
        # Rounding must not move a class away from a boundary that the whole column lies on.
        return np.where(mean == pooled, pooled, own * mean + added * pooled)

    @property
    def n_statistics(self) -> int:
        """The dimension of u(x) and of λ."""
        return len(self.functions)

    def statistics(
        self, x: Array, origin: Array | float | None = None, exponent: NDArray[np.int32] = NO_UNIT
    ) -> Array:
        """Compute u(x) about the origin, x and x² in units of 2^exponent.

        Parameters
        ----------
        x : ndarray
        origin, exponent : ndarray, optional

        Returns
        -------
        ndarray of shape (m, ...)
        """
        values, centre = np.asarray(x, dtype=np.float64), self._centre(origin)
        return np.stack([evaluate(name, values, centre, exponent) for name in self.functions])

    def _centre(self, origin: Array | float | None) -> Array:
        return np.asarray(self.default_origin if origin is None else origin, dtype=np.float64)

    def log_density(self, x: Array, natural: Array, origin: Array | float | None = None) -> Array:
        """Compute log p(x | λ), −inf outside the support.

        Parameters
        ----------
        x, natural, origin : ndarray

        Returns
        -------
        ndarray
        """
        x, centre = np.asarray(x, dtype=np.float64), self._centre(origin)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = self.statistics(x, centre)
            # One axis of statistics in front, and x broadcast against what is behind it.
            natural = natural.reshape(len(natural), *(1,) * (u.ndim - natural.ndim), *natural.shape[1:])
            density = (
                self.log_base_measure(x) + np.sum(natural * u, axis=0) - self.log_normalizer(natural, centre)
            )
        return np.where(self.support(x), density, -np.inf)

    def kl(self, p: Array, q: Array, origin: Array | float | None = None) -> Array:
        """Compute the Kullback–Leibler divergence KL(p ‖ q) between two members of the family.

        Parameters
        ----------
        p, q, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        centre = self._centre(origin)
        gap = self.log_normalizer(q, centre) - self.log_normalizer(p, centre)
        mean = self.mean_from_natural(p, centre)
        with np.errstate(invalid="ignore"):
            # A statistic that is always 0 under p adds nothing, even where q makes it impossible.
            return np.asarray(gap - np.sum(np.where(mean == 0.0, 0.0, (q - p) * mean), axis=0))

    def bhattacharyya(self, p: Array, q: Array, origin: Array | float | None = None) -> Array:
        """Compute the Bhattacharyya distance −log ∫√(p·q) = ½A(p) + ½A(q) − A(½p + ½q).

        Parameters
        ----------
        p, q, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        centre = self._centre(origin)
        ends = 0.5 * (self.log_normalizer(p, centre) + self.log_normalizer(q, centre))
        return np.asarray(ends - self.log_normalizer(0.5 * (p + q), centre))

    def entropy(self, natural: Array, origin: Array | float | None = None) -> Array:
        """Compute the entropy −E[log p(x)] in nats.

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        centre = self._centre(origin)
        expected = np.sum(natural * self.mean_from_natural(natural, centre), axis=0)
        whole = self.log_normalizer(natural, centre)
        return np.asarray(whole - expected - self.mean_log_base_measure(natural, centre))

    def mean_log_base_measure(self, natural: Array, origin: Array) -> Array:
        """Compute E[log h(x)]: 0 where h = 1, a sum over the support for counts.

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        ndarray of shape (...)
        """
        if not self.has_base_measure:
            return np.zeros(np.shape(natural)[1:])
        if not self.discrete:
            raise NotImplementedError
        low, high = self.likely_counts(natural, origin)
        width = int(np.max(high - low, initial=0.0)) + 2
        x = np.floor(low) + np.arange(width, dtype=np.float64).reshape((-1,) + (1,) * (np.ndim(natural) - 1))
        x = np.where(self.support(x), x, 0.0)
        # A count that stands for one outside the window or the support must not count twice.
        new = np.concatenate([np.ones_like(x[:1], dtype=np.bool_), x[1:] > x[:-1]])
        p = np.where(new, np.exp(self.log_density(x, natural[:, np.newaxis], origin)), 0.0)
        # Of large counts log p has lost digits. λᵀ(u − E[u]) has mean 0 and makes the summand nearly flat.
        centred = self.statistics(x, origin) - self.mean_from_natural(natural, origin)[:, np.newaxis]
        flat = self.log_base_measure(x) + np.sum(natural[:, np.newaxis] * centred, axis=0)
        return np.asarray(np.sum(p * flat, axis=0) / np.sum(p, axis=0))

    def log_power_integral(self, natural: Array, origin: Array, power: float) -> Array | None:
        """Compute log ∫ (h(x)·exp(λᵀu(x)))^a dx for a power a from 0 to 1, or None without a formula.

        Parameters
        ----------
        natural, origin : ndarray
        power : float

        Returns
        -------
        ndarray of shape (...) or None
        """
        return None if self.has_base_measure else self.log_normalizer(power * natural, origin)

    def likely_counts(self, natural: Array, origin: Array) -> tuple[Array, Array]:
        """Bound the counts of non-negligible probability from below and above, for sums over the support.

        Parameters
        ----------
        natural, origin : ndarray

        Returns
        -------
        tuple of ndarray of shape (...)
        """
        mean = self.mean_from_natural(natural, origin)[0]
        return np.zeros_like(mean), mean + 60.0 * np.sqrt(mean * (1.0 + mean)) + 100.0

    def settings(self) -> dict[str, Any]:
        """Collect the constructor's arguments.

        Returns
        -------
        dict of str to object
        """
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def summed(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """The name and the settings that the sums depend on; families that agree in them share statistics."""
        return self.name, tuple(one for one in self.settings().items() if one[0] not in self.solve_settings)
