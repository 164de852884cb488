"""How much the evidence of all columns counts, and what each adds by itself, learnt from held-out rows.

A product of densities takes the columns as independent given the class. Where they repeat each other, it
counts the same fact several times and is too sure. So posteriors compare log π_k + w · log p(x | C_k), where
one number w is fitted to rows that the densities have not seen.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.base import Block
from suffice.kernels import threads
from suffice.links import log_softmax
from suffice.model.columns.schema import Schema
from suffice.model.dealt import DealtRows, deal_by_content, splits_of, spread_rows
from suffice.model.mean_posteriors import HeldOutPosteriors
from suffice.model.solved.drawn_rows import by_rows
from suffice.model.solved.solution import SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.weighing.calibration import CalibrationRows, slope_beside
from suffice.tables.table import Table

FOLDS = 5
FEWEST_ROWS = 25
"""Rows from which held-out rows decide: five in each fold."""
MOST_ROWS = 5_000
"""Rows that are looked at; one number needs no more."""
MOST_SCORES = 1 << 20
"""Scores of rows by classes, which bound the rows further."""
FEWEST_SCORES = 1 << 18
"""Scores of cells by classes from which folds are scored side by side."""
LEAST = 1e-9
"""The weight of evidence that misleads: all but none, so that a class that is ruled out stays so."""


def with_evidence_weight(
    schema: Schema, table: Table, codes: Codes, n_classes: int, weights: Array | None
) -> Schema:
    """The schema with what held-out rows say of it: the nats of each column, and the weight of all evidence.

    The weight stays 1 unless these rows clearly speak against it. What their posteriors are like is kept too.
    """
    size = table.n_rows if weights is None else weights.sum()
    if size < FEWEST_ROWS or n_classes < 2 or not schema.factors:
        return schema
    most = min(MOST_ROWS, MOST_SCORES // n_classes)
    if most < FEWEST_ROWS:
        return schema
    some = spread_rows(table.n_rows, most)
    part = table if len(some) == table.n_rows else table.take(some)
    keys = schema.keys(schema.read(part))
    dealt = deal_by_content(codes[some], None if weights is None else weights[some], keys, FOLDS)
    codes, weight = codes[some][dealt.rows], np.ones(len(some)) if dealt.weights is None else dealt.weights
    evidence, nats = _held_out_evidence(schema, part, dealt, codes, n_classes)
    schema = replace(
        schema, columns=tuple(c._replace(nats=n) for c, n in zip(schema.columns, nats.tolist(), strict=True))
    )
    with np.errstate(divide="ignore"):
        log_priors = np.log(np.bincount(codes, weight, n_classes) / weight.sum())
    known = ~np.isneginf(evidence[np.arange(len(codes)), codes])
    if weight[known].sum() < FEWEST_ROWS:
        return schema
    rows = CalibrationRows(evidence[known], codes[known], weight[known])
    chosen = _chosen_weight(rows, log_priors)
    held_out = HeldOutPosteriors.of(chosen * evidence, codes, weight)
    return replace(schema, evidence_weight=chosen, held_out=held_out)


def _chosen_weight(rows: CalibrationRows, log_priors: Array) -> float:
    """1, unless another weight is clearly better.

    That one is shrunk by what is uncertain of its gain over the class shares, as James and Stein shrink a
    mean, so that noise has next to no weight.
    """
    found = max(slope_beside(log_priors, rows), LEAST)
    silent, fitted, product = (_losses(rows, log_priors, weight) for weight in (LEAST, found, 1.0))
    if errors_above_zero(product - fitted, rows.weight) <= 1.0:
        return 1.0
    gained = max(errors_above_zero(silent - fitted, rows.weight), 1.0)
    return max(found * (1.0 - gained**-2), LEAST)


def errors_above_zero(losses: Array, weight: Array) -> float:
    """The mean of some differences of losses, in standard errors; no row says more than log n."""
    size = float(weight.sum())
    most = math.log(size)
    losses = np.clip(losses, -most, most)
    mean = float(np.average(losses, weights=weight))
    error = math.sqrt(float(np.average(np.square(losses - mean), weights=weight)) / size)
    # Rows that all gain the same leave no error, but that of rounding.
    return mean / max(error, np.finfo(np.float64).eps * abs(mean)) if mean else 0.0


def _held_out_evidence(
    schema: Schema, table: Table, dealt: DealtRows, codes: Codes, n_classes: int
) -> tuple[Array, Array]:
    """Log p(x | C_k) of every row, up to a constant, by the sums of the other folds, and the nats of columns.

    These are the mean over rows of log p(C_k | cell) − log p(C_k) for the class of the row. Rows, and their
    classes, are the parts that were dealt.
    """
    members = [rows for _, rows in splits_of(dealt.fold, FOLDS)]
    blocks = [by_rows(block) for block in schema.blocks(table)]  # read once for all folds
    weight = np.ones(len(codes)) if dealt.weights is None else dealt.weights
    evidence = np.full((len(codes), n_classes), -np.inf)

    def cells(rows: Codes) -> list[Block]:
        return [of_rows(dealt.rows[rows]) for of_rows in blocks]

    sums = [_sums(schema, cells(rows), codes[rows], weight[rows]) for rows in members]

    def nats_of(fold: int) -> Array:
        rows = members[fold]
        training = Accumulator.empty(schema)
        for other, statistics in enumerate(sums):
            if other != fold:
                training.add(statistics, 1)
        model = SolvedModel.of(training.solvable(), "uniform")
        scores = np.empty((len(rows), len(model.classes)))
        held_out = model.scores_of_blocks(cells(rows), scores, base=False)
        evidence[np.ix_(rows, model.classes)] = held_out.comparable()
        known = rows[np.isin(codes[rows], model.classes)]
        own = np.searchsorted(model.classes, codes[known])
        weights = None if dealt.weights is None else dealt.weights[known]
        with_priors = model.with_priors(None)
        gained, _ = with_priors.summed_gains(lambda part: cells(known[part]), own, weights)
        return np.asarray(gained / weight.sum())

    is_worth_threads = evidence.size * len(schema) >= FEWEST_SCORES
    nats = threads.run(nats_of, range(FOLDS)) if is_worth_threads else [*map(nats_of, range(FOLDS))]
    return evidence, np.sum(nats, axis=0)


def _sums(schema: Schema, blocks: list[Block], codes: Codes, weight: Array) -> Statistics:
    accumulator = Accumulator.empty(schema)
    present, own, counts = np.unique(codes, return_inverse=True, return_counts=True)
    accumulator.update(blocks, present, own, counts, weight)
    return accumulator.statistics()


def _losses(rows: CalibrationRows, log_priors: Array, evidence_weight: float) -> Array:
    """−log p of the class of each row."""
    log_posteriors = log_softmax(log_priors + evidence_weight * rows.scores)
    return np.asarray(-log_posteriors[np.arange(len(rows.codes)), rows.codes])
