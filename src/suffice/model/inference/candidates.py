"""The families that a column of numbers may have, and the choice between them by rows held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from suffice.arrays import Array, Codes, Counts
from suffice.families import (
    Beta,
    Categorical,
    Family,
    Gamma,
    Geometric,
    Hurdle,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    Steps,
)
from suffice.families.special import LOG_TWO
from suffice.model.inference.column_losses import ColumnLosses
from suffice.model.inference.repeated import repeated_value
from suffice.tables.as_arrays import LARGEST_EXACT
from suffice.tables.columns import Kind

CATEGORY_LEVELS = 128
"""The most different numbers that may be categories."""
LEVEL_ROWS = 10
"""Rows, on average, that a category must have."""
FEW_VALUES = 10
"""So many different numbers are not described by a density."""
UNDERDISPERSED, OVERDISPERSED = 0.5, 1.25
"""The variance of counts, in means, from which they may be Poisson, Geometric or NegativeBinomial."""
FEWEST_SUCCESSES, MOST_SUCCESSES = -4, 6
"""The r of a NegativeBinomial, as powers of 2; beyond, counts are Poisson or measurements."""
STEPS_AHEAD = 0.5
"""Standard errors by which Steps must tell the classes apart better than any other family."""
SILENT = 3.0
"""The same where nothing tells them apart, in one column: the best are silent, and those that describe do
little harm."""
NOTHING = 1.0
"""Nats of all rows that are no more than chance, in one column."""
CELLS_AT_ONCE = 1 << 21
"""Scores, cells times classes, that are held at once."""
NORMALS: list[Family] = [Normal("shared"), Normal()]
OF_POSITIVE: list[Family] = [LogNormal(), Gamma()]
POISSON, GEOMETRIC, BETA, CATEGORICAL, STEPS = Poisson(), Geometric(), Beta(), Categorical(), Steps()


@dataclass(frozen=True)
class Candidates:
    """A column and the families that it may have, the simplest first."""

    values: Array
    families: tuple[Family, ...]
    what: str
    gap: float
    """The least difference between two values: a density times the gap compares with a probability."""

    @classmethod
    def of(
        cls,
        values: Array,
        classes: Codes,
        weights: Array | None,
        bounds: tuple[float, float],
        what: str,
        *,
        kind: Kind,
        are_whole: bool,
    ) -> Self:
        """The families that the values of a column, between these bounds, allow.

        Families that begin at 0 are not tried where 0 is a value like any other, as in moments. VonMises is
        not tried either: values do not tell that they are angles.
        """
        low, high = bounds
        size = float(len(values) if weights is None else weights.sum())
        distinct, frequency = _frequencies(values, weights)
        positive = kind in ("number", "duration") and low > 0
        counts = kind == "number" and are_whole and low >= 0 and _keep_their_digits(high, size)
        # A density is not a probability: for few values that repeat, it would win by being narrow.
        few = kind == "number" and 1 < len(distinct) <= FEW_VALUES
        levels = kind == "number" and len(distinct) <= min(CATEGORY_LEVELS, size // LEVEL_ROWS)
        found: list[Family] = []
        mean, variance = _moments(values, classes, weights) if counts else (0.0, 0.0)
        found += [POISSON] if variance > UNDERDISPERSED * mean else []
        successes = _successes(mean, variance)
        found += [GEOMETRIC] if successes in (0.5, 1.0, 2.0) else []
        found += [] if few else NORMALS
        found += OF_POSITIVE if positive and not few else []
        found += [BETA] if positive and not few and high < 1 else []
        found += [] if successes in (None, 1.0) else [NegativeBinomial(successes)]  # of 1, Geometric
        found += _hurdles(distinct, frequency) if kind == "number" and not few else []
        found += [CATEGORICAL] if levels else []
        found += [] if few else [STEPS]
        gap = float(np.diff(distinct).min(initial=math.inf))
        return cls(values, tuple(found), what, gap if math.isfinite(gap) else 1.0)


def _frequencies(values: Array, weights: Array | None) -> tuple[Array, Counts | Array]:
    """The different values of a column, and how many rows have each."""
    seen = ~np.isnan(values)
    if weights is None:
        return np.unique(values[seen], return_counts=True)
    distinct, places = np.unique(values[seen], return_inverse=True)
    return distinct, np.bincount(places, weights[seen], len(distinct))


def _keep_their_digits(high: float, n: float) -> bool:
    """Whether rounding hides less than a nat of the log likelihood of so many counts."""
    size = math.log(max(high, 2.0))
    return math.log(n) + size + math.log(size) < 52.0 * LOG_TWO


def _hurdles(distinct: Array, frequency: Counts | Array) -> list[Family]:
    """Families of a value that repeats far beyond a density, and of all others."""
    at = repeated_value(distinct, frequency)
    if at is None:
        return []
    positive = distinct[distinct != at].min() > 0
    inner = [*NORMALS, *(OF_POSITIVE if positive else [])]
    at = int(at) if at.is_integer() and abs(at) < LARGEST_EXACT else at  # it prints as 0, not as 0.0
    return [Hurdle(family, at=at) for family in inner]


def _moments(values: Array, classes: Codes, weights: Array | None) -> tuple[float, float]:
    """The mean of a column, and its variance within the classes."""
    seen = ~np.isnan(values)
    values, classes = values[seen], classes[seen]
    weights = None if weights is None else weights[seen]
    of_class = np.bincount(classes, weights)
    total = np.bincount(classes, values if weights is None else weights * values)
    away = values - (total / np.where(of_class > 0, of_class, 1))[classes]
    mean, variance = (np.average(one, weights=weights) for one in (values, np.square(away)))
    return float(mean), float(variance)


def _successes(mean: float, variance: float) -> float | None:
    """The r of a NegativeBinomial, a power of 2, from its variance μ + μ²/r, if it has one."""
    if variance <= OVERDISPERSED * mean:
        return None
    power = round(math.log2(mean * mean / (variance - mean)))
    return 2.0**power if FEWEST_SUCCESSES <= power <= MOST_SUCCESSES else None


def chosen(columns: Sequence[Candidates], rows: ColumnLosses) -> list[tuple[Family, str]]:
    """The family of each column, and why."""
    step = max(1, CELLS_AT_ONCE // max(len(rows.classes) * rows.n_classes, 1))
    without = float(rows.mean(rows.by_priors()))
    chance = Chance(len(columns))
    result: list[tuple[Family, str]] = []
    for first in range(0, len(columns), step):
        some = columns[first : first + step]
        each = zip(some, scores_of(some, rows), strict=True)
        result += [_best(column, scored, rows, without, chance) for column, scored in each]
    return result


@dataclass(frozen=True)
class Chance:
    """What the best of some columns of noise shows, as likely as one column shows less."""

    n_columns: int

    @property
    def gain(self) -> float:
        """Nats over the class shares, in all rows.

        Rows that a density has not seen make it e^g times as likely as these with a chance of e^−g at most.
        """
        return NOTHING + math.log(self.n_columns)

    def errors(self, of_one: float) -> float:
        """Standard errors between losses: more than t come with a chance of about e^(−t²/2)."""
        return math.sqrt(of_one**2 + 2.0 * math.log(self.n_columns))


class Scored(NamedTuple):
    """How a family does on held-out rows: the loss of each, and the surprise at its cell."""

    family: Family
    loss: Array
    surprise: Array


def scores_of(columns: Sequence[Candidates], rows: ColumnLosses) -> list[list[Scored]]:
    """How each candidate of each column does; columns are summed once for all families of the same sums."""
    values = np.stack([column.values for column in columns], axis=1)
    present = ~np.isnan(values)
    log_gap = np.log([column.gap for column in columns])
    scored: list[list[Scored]] = [[] for _ in columns]
    for families, which in _of_same_sums(columns):
        for family, losses in zip(families, rows.of(families, values[:, which]), strict=True):
            surprises = losses.cells
            if not family.discrete:
                dense = present[:, which]
                if isinstance(family, Hurdle):
                    dense &= values[:, which] != family.at
                dense = rows.in_parts(dense)
                surprises = np.where(dense, np.maximum(surprises - log_gap[which], 0.0), surprises)
            # To be summed fast.
            by_column = (np.ascontiguousarray(one.T) for one in (losses.classes, surprises))
            for j, loss, surprise in zip(which.tolist(), *by_column, strict=True):
                scored[j].append(Scored(family, loss, surprise))
    return scored


def _of_same_sums(columns: Sequence[Candidates]) -> list[tuple[list[Family], Codes]]:
    """The candidates, those of the same sums and columns together, and where these columns are."""
    found: dict[Any, tuple[list[Family], Codes]] = {}
    for family in dict.fromkeys(family for column in columns for family in column.families):
        which = [j for j, column in enumerate(columns) if family in column.families]
        families, _ = found.setdefault((family.summed, *which), ([], np.array(which)))
        families.append(family)
    return list(found.values())


def _best(
    column: Candidates, scored: list[Scored], rows: ColumnLosses, without: float, chance: Chance
) -> tuple[Family, str]:
    """The simplest that describes the column as well as any of those that tell the classes apart best.

    Steps fit any shape, so they are taken only where they tell the classes apart better than the others. The
    loss `without` the column is that of the class shares.
    """
    scored = [one for one in scored if np.isfinite(one.loss).all()]
    if not scored:
        return NORMALS[1], f"{column.what}: no other family can hold them"
    losses = np.stack([one.loss for one in scored])
    means = rows.mean(losses.T)
    is_chance = (without - float(means.min())) * rows.size < chance.gain
    are_steps = np.array([isinstance(one.family, Steps) for one in scored])
    some = np.arange(len(scored))
    tied = _as_low(some, losses, means, chance.errors(SILENT) if is_chance else STEPS_AHEAD, rows)
    if not are_steps[tied].all():
        some = some[~are_steps]
    telling = _as_low(some, losses, means, chance.errors(SILENT) if is_chance else 1.0, rows)
    best = telling[0]
    if len(telling) > 1:
        surprises = np.stack([scored[i].surprise for i in telling.tolist()])
        everyone = np.arange(len(telling))
        errors = chance.errors(1.0) if is_chance else 1.0
        best = telling[_as_low(everyone, surprises, rows.mean(surprises.T), errors, rows)[0]]
    told = round(without - float(means[best]), 3) + 0.0
    return scored[best].family, f"{column.what}: {told:.3f} nats a row"


def _as_low(some: Codes, losses: Array, means: Array, errors: float, rows: ColumnLosses) -> Codes:
    """Those of some losses above the least by no more than so many standard errors of the difference.

    In n rows, no row says more against a family than that it happens once in n rows: far out in a tail, one
    row would make the error so large that no family were worse than another.
    """
    least = losses[some[np.argmin(means[some])]]
    most = math.log(rows.size)
    apart = np.clip(losses[some] - least, -most, most).T
    mean = rows.mean(apart)
    return some[mean <= errors * rows.error(apart, mean)]
