"""Columns with one value that repeats without each of their rows: both parts without it."""

from __future__ import annotations

from dataclasses import replace

from suffice.factors.hurdle.totals import HurdleTotals, split_cells
from suffice.factors.kinds import KINDS
from suffice.factors.left_out import LabelledBlock, LeftOut


def leave_out_hurdle(totals: HurdleTotals, rows: LabelledBlock) -> LeftOut | None:
    """The scores of every row by the columns of all others; None if the rest has no way but refitting."""
    blocks = split_cells(rows.block, totals.family.at, rows.labels)
    found = []
    for part, block in zip((totals.outcome, totals.rest), blocks, strict=True):
        leave_out = KINDS[part.family.factor].leave_out
        left = None if leave_out is None else leave_out(part, replace(rows, block=block))
        if left is None:
            return None
        found.append(left)
    outcome, rest = found
    return LeftOut(outcome.scores + rest.scores, outcome.exact & rest.exact)
