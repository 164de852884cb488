"""Class priors: counted or given, and estimated anew from rows without labels.

Between training and use the classes may become rarer or commoner while each of them looks the same. Then
p(x) = Σ_k q_k·p(x | C_k) with the old densities and new priors q, which are found by maximum likelihood
(Saerens, Latinne and Decaestecker 2002). A posterior divided by the old prior is a density up to a factor of
the row, so any classifier with posteriors will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from suffice.arrays import Array
from suffice.factors.gaussian.accelerated import Extrapolation
from suffice.model.mean_posteriors import HeldOutPosteriors, gap_to_priors
from suffice.storage import Fields
from suffice.tables.container import PLAIN
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.wording import counted, did_you_mean, listed, one_line, quoted, there_are

TOLERANCE = 1e-8
"""Nats that the log likelihood of all rows may lie below its maximum."""
MOST_ITERATIONS = 10_000

ShiftTest = Literal["two-sample", "score", "likelihood ratio"]
Priors = Literal["uniform", "empirical"] | ArrayLike | Mapping[Any, float] | None


def class_priors(priors: Priors, classes: NDArray[Any], weight: Array) -> Array:
    """π_k for each class: N_k / N (None or "empirical"), equal ("uniform"), or as given."""
    if priors is None or (isinstance(priors, str) and priors == "empirical"):
        return np.asarray(weight / weight.sum())
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(len(classes), 1.0 / len(classes))
        near = did_you_mean(priors, ["empirical", "uniform"])
        raise ValueError(
            "priors must be None, 'empirical', 'uniform', an array or a dict, got "
            f"{quoted(priors)}{f'; {near}' if near else '.'}"
        )
    named = _by_label(priors, len(classes))
    if named is not None:
        known = set(classes.tolist())
        missing = [label for label in classes.tolist() if label not in named]
        unknown = [label for label in named if label not in known]
        if missing or unknown:
            wrong = {"missing": missing, "unknown": unknown}
            told = ", ".join(f"{word} {listed(labels)}" for word, labels in wrong.items() if labels)
            raise ValueError(
                f"priors must name every class once: {told}; the classes are {listed(classes.tolist())}."
            )
        priors = [named[label] for label in classes.tolist()]
    values = as_reals(priors, "priors")
    if values.shape != (len(classes),):
        raise ValueError(f"priors has shape {values.shape}, but {there_are(len(classes), 'class')}.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"priors must be finite and non-negative, got {values.tolist()}.")
    if abs(values.sum() - 1.0) > 1e-8:
        raise ValueError(f"priors must sum to 1, but sum to {values.sum():.10g}.")
    return values


def as_reals(values: Any, name: str) -> Array:
    """Turn an argument into an array of real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must hold numbers, got {values!r}.")


def _by_label(priors: Any, n_classes: int) -> dict[Any, float] | None:
    """The priors of a dict by label, or of a pandas Series unless it has the default index."""
    if not hasattr(priors, "items"):
        return None
    named = dict(priors.items())
    return named if isinstance(priors, Mapping) or list(named) != list(range(n_classes)) else None


def are_estimated(priors: Priors) -> bool:
    """Whether the priors are K − 1 parameters of the model."""
    return priors is None or (isinstance(priors, str) and priors == "empirical")


@dataclass(frozen=True, eq=False, repr=False)
class PriorShift(Shown):
    """Priors estimated from rows without labels, and a test of whether they have shifted; prints as a table.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    before : ndarray of shape (n_classes,)
        The priors of the model.
    priors : ndarray of shape (n_classes,)
        The maximum-likelihood priors of the new rows.
    n_rows : int
        The number of new rows.
    n_iterations : int
        The number of EM steps.
    statistic : float
        The test statistic, χ² if the priors have not shifted.
    test : {"two-sample", "score", "likelihood ratio"}
        What the mean posteriors of the new rows were compared with: those of training rows that were held out
        ("two-sample"), or the priors before, which takes the posteriors for right ("score"). Earlier versions
        tested the gain in likelihood.
    degrees_of_freedom : int
        The number of classes whose prior was above 0, less one.
    p_value : float
        The probability of a statistic at least this large if the priors have not shifted, by χ².

    Examples
    --------
    >>> import suffice
    >>> from suffice.families import Normal
    >>> model = suffice.BayesClassifier(Normal()).fit([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    >>> model.adapt_priors([[0.5], [9.0], [9.5], [10.5]]).prior_shift_
    Priors of 4 rows, after 6 iterations
    class  before     now
    0      0.5000  0.2485
    1      0.5000  0.7515
    score test of no shift: χ²(1) = 0.5029, p = 0.478
    """

    classes: NDArray[Any]
    before: Array
    priors: Array
    n_rows: int
    n_iterations: int
    statistic: float
    test: ShiftTest = "likelihood ratio"

    @property
    def degrees_of_freedom(self) -> int:
        """The number of classes whose prior was above 0, less one."""
        return int(np.sum(self.before > 0)) - 1

    @property
    def p_value(self) -> float:
        """The probability of a statistic at least this large if the priors have not shifted."""
        freedom = self.degrees_of_freedom
        return float(special.chdtrc(freedom, self.statistic)) if freedom else 1.0

    def _to_fields(self) -> dict[str, Any]:
        """The fields that a file holds; the classes are saved with the model."""
        names = ("before", "priors", "n_rows", "n_iterations", "statistic", "test")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def _from_fields(cls, fields: Fields, classes: NDArray[Any]) -> Self:
        """Read and check the fields of a file."""
        before, priors = (fields.array(name, np.float64, classes.shape) for name in ("before", "priors"))
        for name, given in (("before", before), ("priors", priors)):
            if (given < 0).any() or not np.isclose(given.sum(), 1.0):
                raise fields.error(name, "must be priors: non-negative numbers that sum to 1.")
        n_rows, n_iterations = (fields.integer(name, 0, 1 << 53) for name in ("n_rows", "n_iterations"))
        statistic = fields.number("statistic")
        if not 0.0 <= statistic < np.inf:
            raise fields.error("statistic", "must be finite and non-negative.")
        test = fields.text("test") if "test" in fields else "likelihood ratio"
        if test not in get_args(ShiftTest):
            raise fields.error("test", f"must be one of {get_args(ShiftTest)}.")
        return cls(classes, before, priors, n_rows, n_iterations, statistic, cast("ShiftTest", test))

    def to_frame(self) -> Any:
        """The priors before and now, as a frame.

        Returns
        -------
        frame
            A pyarrow Table with one line per class: class, before, now.
        """
        names = [str(label) for label in self.classes.tolist()]
        return PLAIN.frame({"class": names, "before": self.before, "now": self.priors})

    def _parts(self) -> list[Part]:
        pairs = zip(self.classes.tolist(), self.before, self.priors, strict=True)
        rows = [(one_line(label), f"{old:.4f}", f"{new:.4f}") for label, old, new in pairs]
        after = f"after {counted(self.n_iterations, 'iteration')}"
        test = f"χ²({self.degrees_of_freedom}) = {self.statistic:.4g}, p = {self.p_value:.3g}"
        return [
            f"Priors of {counted(self.n_rows, 'row')}, {after}",
            Cells([("class", "before", "now"), *rows]),
            f"{self.test} test of no shift: {test}",
        ]


def estimate_shift(
    log_posterior: Array,
    before: Array,
    classes: NDArray[Any],
    counted: float | None = None,
    held_out: HeldOutPosteriors | None = None,
) -> PriorShift:
    """The priors that make the rows most probable, given posteriors under the priors before.

    `counted` is the weight of the rows whose class shares are these priors, None if they were given;
    `held_out` says what the posteriors of the same model are like on training rows that it has not seen.
    """
    if len(log_posterior) == 0:
        raise ValueError("there are no rows to estimate priors from.")
    possible = before > 0
    # p(x | C_k)/p(x) under the old priors, up to a factor of the row; a class ruled out stays so.
    log_ratio = log_posterior[:, possible] - np.log(before[possible])
    log_ratio[np.isneginf(log_ratio).all(axis=1)] = 0.0  # it is no evidence about the possible classes
    highest = log_ratio.max(axis=1)
    ratio = np.exp(log_ratio - highest[:, np.newaxis])
    estimated, n_iterations = _expectation_maximisation(ratio, before[possible])
    priors = np.zeros_like(before)
    priors[possible] = estimated
    test: ShiftTest
    if held_out is not None and held_out.describes(classes) and possible.all():
        test, statistic = "two-sample", held_out.gap(log_ratio, before, counted)
    else:
        joint = ratio * before[possible]
        posteriors = joint / joint.sum(axis=1, keepdims=True)
        test, statistic = "score", gap_to_priors(posteriors, before[possible], counted)
    return PriorShift(
        classes=classes,
        before=before,
        priors=priors,
        n_rows=len(log_posterior),
        n_iterations=n_iterations,
        statistic=statistic,
        test=test,
    )


def _log_likelihood(ratio: Array, priors: Array) -> float:
    return float(np.sum(np.log(ratio @ priors)))


def _expectation_maximisation(ratio: Array, priors: Array) -> tuple[Array, int]:
    """EM in pairs of steps, extrapolated where that raises the likelihood.

    The likelihood has one maximum, so the length of an extrapolation needs no limit.
    """

    def gradient(q: Array) -> Array:
        return np.asarray((ratio / (ratio @ q)[:, np.newaxis]).mean(axis=0))

    n_iterations = 0
    slope = gradient(priors)
    # The likelihood is concave in the priors, so this bounds what is left to gain.
    while len(ratio) * (slope.max() - 1.0) > TOLERANCE and n_iterations < MOST_ITERATIONS:
        one = priors * slope
        two = one * gradient(one)
        extrapolation = Extrapolation.through(priors, one, two)
        far = extrapolation.ahead(extrapolation.length)
        if (far > 0).all() and _log_likelihood(ratio, far) > _log_likelihood(ratio, two):
            two = far
        priors = two / two.sum()
        slope = gradient(priors)
        n_iterations += 2
    return priors, n_iterations
