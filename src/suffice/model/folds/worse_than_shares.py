"""Whether posteriors are worse than the class shares, which know nothing of a row, and by which columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.links import log_softmax
from suffice.model.dealt import spread_rows
from suffice.model.solved.solution import SolvedModel
from suffice.tables.table import Table
from suffice.tables.wording import quoted

FEWEST_ROWS = 100
MOST_ROWS = 500
"""Rows that are looked at; a loss that matters shows in them."""
MOST_SCORES = 1 << 18
"""Scores of rows by classes, which bound the rows further."""
MOST_CONTRIBUTIONS = 1 << 22
"""Contributions of cells by classes, which bound the rows that tell the columns apart."""
ROWS_PER_CLASS = 10
"""Rows, on average, from which the shares of classes are known."""
NEGLIGIBLE = 0.05
"""Nats by which posteriors may be worse without a word."""
MOST_BLAMED = 3
_CHECKED = ContextVar("checked", default=True)


@contextmanager
def unchecked() -> Iterator[None]:
    """Fit models of some rows only, or for something other than posteriors, which nobody is warned of."""
    before = _CHECKED.set(False)
    try:
        yield
    finally:
        _CHECKED.reset(before)


def is_checked() -> bool:
    """Whether the user is warned."""
    return _CHECKED.get()


def worse_than_shares(
    solved: Callable[[], SolvedModel], table: Table, codes: Codes, weights: Array | None, shares: Array
) -> str | None:
    """A warning that rows of training are predicted worse than by the class shares, with what to do.

    The rows were trained on, so their loss is if anything too low. None if it is not clearly higher than that
    of the shares, by more than the standard error of the mean difference, or if there are too few rows or no
    densities. Losses that are worse by less than 0.05 nats are not worth a word.
    """
    most = min(MOST_ROWS, MOST_SCORES // len(shares))
    if min(table.n_rows, most) < max(FEWEST_ROWS, ROWS_PER_CLASS * len(shares)) or len(shares) < 2:
        return None
    model = solved()
    if not all(factor.has_density for factor in model.factors):
        return None
    some = spread_rows(table.n_rows, most)
    codes, weight = codes[some], np.ones(len(some)) if weights is None else weights[some]
    share_of_row = weight / weight.sum()
    model = model if np.array_equal(model.priors, shares) else model.with_priors(shares)
    blocks = model.schema.blocks_of_some(table, some, model.factors)
    scores = model.scores_of_blocks(blocks, np.empty((len(some), len(shares))), base=False, compared=True)
    losses, of_shares = _losses(log_softmax(scores.comparable()), codes), -np.log(shares)[codes]
    loss, least = float(share_of_row @ losses), float(share_of_row @ of_shares)
    if loss < math.inf:
        error = math.sqrt(float(share_of_row @ np.square(losses - of_shares - (loss - least))) / len(some))
        if loss - least <= max(error, NEGLIGIBLE):
            return None
    cure = "Let families='infer' choose" if model.schema.named else "Pass a data frame to infer families"
    return (
        f"on {len(some)} of its rows, the log loss of this model is {loss:.3g} nats, that of the class "
        f"shares {least:.3g}: its posteriors are too sure.{_blame(model, table.take(some), codes, weight)} "
        f"{cure}, without evidence_weight, or wrap the model in suffice.Calibrated."
    )


def _losses(log_posteriors: Array, codes: Codes) -> Array:
    """−log p of the class of each row."""
    return np.asarray(-log_posteriors[np.arange(len(codes)), codes])


def _blame(model: SolvedModel, table: Table, codes: Codes, weight: Array) -> str:
    """The columns without which the loss would be lowest, in words."""
    cells = max(len(model.schema) * len(model.classes), 1)
    some = np.arange(min(len(codes), MOST_CONTRIBUTIONS // cells))
    if not len(some):
        return ""
    contributions = model.evidence_weight * model.contributions(table.take(some), base=False)
    known = np.isfinite(contributions).all(axis=(1, 2))
    contributions, codes, weight = contributions[known], codes[some][known], weight[some][known]
    if not len(codes):
        return ""
    total = model.offset + contributions.sum(axis=1)
    loss = np.average(_losses(log_softmax(total), codes), weights=weight)
    without = [log_softmax(total - contributions[:, j]) for j in range(len(model.schema))]
    saved = loss - np.array([np.average(_losses(one, codes), weights=weight) for one in without])
    return _in_words(saved, [quoted(name) for name in model.schema.names])


def _in_words(saved: NDArray[np.float64], names: list[str]) -> str:
    """The names of the columns that save at least half as much as the best."""
    best = np.argsort(-saved, kind="stable")[:MOST_BLAMED]
    blamed = [names[j] for j in best.tolist() if saved[j] > 0 and 2 * saved[j] >= saved[best[0]]]
    if not blamed:
        return ""
    if len(blamed) == 1:
        return f" Column {blamed[0]} is most to blame."
    return f" Columns {', '.join(blamed[:-1])} and {blamed[-1]} are most to blame."
