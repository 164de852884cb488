"""How much of what was learnt counts: held-out rows show whether it is noise, and how sure to be."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

from suffice.arrays import Array
from suffice.links import log_softmax
from suffice.model.inference.evidence_weight import errors_above_zero
from suffice.model.weighing.known_rows import KnownRows


def trust(rows: KnownRows, added: Array, unseen: Array) -> float:
    """The share of what is added to the log class shares that counts, by scores of held-out rows.

    `unseen` is the weight of rows of each class that could not be held out, since no other row is of it.

    It counts as far as a gain is likely. With t its mean in standard errors, the odds against any gain are at
    least t·e^(½ − t²/2), even under the prior that speaks most for one (Edwards, Lindman and Savage 1963),
    and even at t = 1. So noise counts half or less. Rows that are told apart well leave almost no errors to
    learn from, so one more row speaks against being too sure.
    """
    silent = np.broadcast_to(rows.log_shares, added.shape)
    t = errors_above_zero(rows.losses(silent) - rows.losses(silent + added), rows.weight)
    against = max(t, 1.0) * math.exp(0.5 - 0.5 * max(t, 1.0) ** 2)
    return min(1.0 / (1.0 + against), _sureness(rows, added, unseen)) if t > 0 else 0.0


def _sureness(rows: KnownRows, added: Array, unseen: Array) -> float:
    """The factor ≤ 1 that fits what is added to held-out rows, to further rows, and to those unseen.

    Further rows are average ones, with classes drawn by the shares π_k. Such a class is another one with
    chance 1 − Σ_k π_k², so as many are drawn as hold the errors of one more row. Rows that could not be held
    out are average ones, too.
    """
    counts = np.bincount(rows.codes, rows.weight, rows.n_classes) + unseen + 0.5
    shares = counts / counts.sum()
    error = 0.5 if unseen.any() else _error_in_one_more(rows, added)
    drawn = error / (1.0 - float(shares @ shares))
    average = rows.weight[:, np.newaxis] / rows.weight.sum()
    log_shares, more = np.log(shares), drawn * shares + unseen

    def slope(factor: float) -> float:
        log_posteriors = log_softmax(log_shares + factor * added)
        residuals = rows.residuals(log_posteriors) + average * (more.sum() * np.exp(log_posteriors) - more)
        return float(np.sum(residuals * added))

    return least_between_0_and_1(slope)


def least_between_0_and_1(slope: Callable[[float], float]) -> float:
    """Where a convex loss with this slope is least, between 0 and 1."""
    if slope(1.0) <= 0.0 or slope(0.0) >= 0.0:
        return float(slope(1.0) <= 0.0)
    return float(optimize.brentq(slope, 0.0, 1.0, xtol=1e-12))


def _error_in_one_more(rows: KnownRows, added: Array) -> float:
    """How much of one more row is an error.

    Half of it loses least in log loss whatever the rate of errors (Krichevsky and Trofimov 1981). But where
    all n held-out rows are told right, the class may follow from the cells without any error, which is as
    likely as not before a row is seen. Such rows have chance 1 then, and m = (n − ½)!/(√π·n!) otherwise.
    """
    if np.any(rows.losses(rows.log_shares + added) >= math.log(2.0)):
        return 0.5
    n = float(rows.weight.sum())
    m = math.exp(math.lgamma(n + 0.5) - math.lgamma(n + 1.0)) / math.sqrt(math.pi)
    return 0.5 * m / (1.0 + m)
