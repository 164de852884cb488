"""A Multinomial block without each of its rows: only the counts of its columns in its class change."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from suffice.arrays import Array
from suffice.factors.blocks import dense
from suffice.factors.counts.scores import Tables
from suffice.factors.counts.totals import CountTotals
from suffice.factors.left_out import LabelledBlock, LeftOut
from suffice.factors.term_scores import are_large

MOST_LOST = 1e4
"""The largest count, in units of what stays of it, from which a row may be subtracted."""


def leave_out_counts(totals: CountTotals, rows: LabelledBlock, alpha: Array | None = None) -> LeftOut | None:
    """Smoothed by the alpha of the family or of each column; None where plain tables would be large.

    A row is solved afresh if it has missing counts, or if next to nothing stays of a count without it.
    """
    n_classes = len(rows.classes)
    if are_large(n_classes, totals.n_columns):
        return None
    smoothing = np.broadcast_to(totals.family.alpha if alpha is None else alpha, totals.n_columns)
    block = sparse.csr_array(rows.block, dtype=np.float64)
    counts = totals.table()
    tables = Tables.of(counts + smoothing)
    scores = dense(block @ tables.log_p.T)
    exact = np.ones(len(rows.codes), dtype=np.bool_)
    if tables.zero is not None:
        exact &= dense(block @ tables.zero.T.astype(np.float64)).sum(axis=1) == 0
    row = np.repeat(np.arange(len(rows.codes)), np.diff(block.indptr))
    own, column, x = rows.codes[row], block.indices, block.data
    before = counts[own, column]
    after = before - rows.weights[row] * x + smoothing[column]
    length = np.bincount(row, x, len(rows.codes))
    total = (counts.sum(axis=1)[rows.codes] - rows.weights * length) + smoothing.sum()
    safe = (after * MOST_LOST > before) & (total[row] * MOST_LOST > counts.sum(axis=1)[own])
    terms = x * np.log(np.where(safe, after, 1.0) / np.where(safe, total[row], 1.0))
    scores[np.arange(len(rows.codes)), rows.codes] = np.bincount(row, terms, len(rows.codes))
    exact &= np.bincount(row, ~safe & (x != 0), len(rows.codes)) == 0
    return LeftOut.checked(scores, exact)
