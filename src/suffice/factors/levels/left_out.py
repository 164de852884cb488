"""Columns of levels without each of their rows: only the probability of its level in its class changes."""

from __future__ import annotations

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.left_out import LabelledBlock, LeftOut, sums_of_others
from suffice.factors.levels.scores import LevelTable, solve_levels
from suffice.factors.levels.totals import LevelTotals
from suffice.factors.scores import unseen_log_shares
from suffice.families import Family


def leave_out_levels(totals: LevelTotals, rows: LabelledBlock) -> LeftOut:
    """A row is solved afresh if its level leaves the column with it, or has probability 0 in some class."""
    solved = solve_levels(totals, rows.labels, rows.classes)
    scores, exact = np.zeros((len(rows.codes), len(rows.classes))), np.ones(len(rows.codes), dtype=np.bool_)
    everyone = np.arange(len(rows.codes))
    for table, places in zip(solved.tables, solved.rows_of_tables(rows.block, rows.labels), strict=True):
        n_levels = len(table.levels)
        seen = places < n_levels
        cells = table.log_p[places]
        cells[everyone[seen], rows.codes[seen]] = _own(solved.family, table, places[seen], rows.take(seen))
        scores += cells
        if table.groups is not None:  # which may be others without the row
            exact &= ~seen
        stays = np.bincount(places[seen], minlength=n_levels + 2) > 1
        exact &= ~seen | stays[places]
        if table.order is not None:
            exact &= (table.order[places] == 0).all(axis=1)
    return LeftOut.checked(scores, exact)


def _own(family: Family, table: LevelTable, places: Codes, rows: LabelledBlock) -> Array:
    """Log p of the level of each row in its class, from all other rows; NaN where it is 0."""
    n_levels, n_classes = len(table.levels), len(rows.classes)
    cells = sums_of_others(rows.weights, rows.codes * n_levels + places, n_classes * n_levels)
    weight = sums_of_others(rows.weights, rows.codes, n_classes)
    found = np.empty(len(places))
    for part in rows.parts(n_levels):
        of_class, level = table.weight[rows.codes[part]].T.copy(), places[part]
        everyone = np.arange(len(level))
        of_class[level, everyone] = cells[part]
        mean = np.divide(of_class, weight[part], out=np.zeros_like(of_class), where=weight[part] > 0)
        found[part] = family.smooth(mean, weight[part], mean)[level, everyone]
    log_p = np.log(found, out=np.full_like(found, np.nan), where=found > 0)
    if table.n_unseen:
        log_p = log_p + unseen_log_shares(weight, family.alpha, n_levels, table.n_unseen)[1]
    return np.asarray(log_p)
