"""Solving for the words of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.scores import IMPOSSIBLE
from suffice.factors.sparse_sums import SparseSums, sum_of, sums_by_class
from suffice.factors.term_scores import TermScores, counts_elsewhere, log_gain, multinomial_scores
from suffice.factors.words.language import Language
from suffice.factors.words.scores import SolvedWords
from suffice.factors.words.totals import WordTotals, analysis_of
from suffice.factors.words.word_counts import WordCounts
from suffice.families import Words
from suffice.text import Analysis, Vocabulary

SAME = 1e-9
"""Numbers of documents that are sums of weights differ by rounding only, if by less than this share."""


def solve_texts(totals: WordTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedWords:
    """The language of every class, for each column."""
    analysis = analysis_of(totals.family)
    return SolvedWords(
        totals.family, [_solve_column(totals.family, analysis, column) for column in totals.columns]
    )


def _solve_column(family: Words, analysis: Analysis, column: WordCounts) -> Language:
    """The language of every class."""
    entries, vocabulary = column.entries, column.vocabulary
    entries = entries.chosen(entries.support > 0)
    kept = _kept_words(family, entries, vocabulary)
    row = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    if not kept.all():
        entries = entries.chosen(kept[entries.columns])
        entries = entries.renumbered(row[entries.columns])
    n_words, n_classes = int(kept.sum()), len(column.rows)
    idf = None
    if family.idf:
        holding = np.bincount(entries.columns, entries.present, n_words)
        idf = np.maximum(np.log(max(float(column.weight.sum()), 1e-300)) - np.log(holding), 0.0)
        entries = entries.with_total(entries.total * idf[entries.columns])
    language = Language(
        family,
        analysis,
        vocabulary.snapshot(),
        row,
        entries,
        term_scores=TermScores(np.zeros((n_words, 0)), np.zeros(n_classes), np.zeros(n_classes)),
        orders=None,
        word=None,
        idf=idf,
        scale=None,
        weight=column.weight,
        draws=sums_by_class(entries, entries.total, n_classes),
    )
    solvers = {"multinomial": _multinomial, "bernoulli": _bernoulli, "complement": _complement}
    solvers[family.event](language, n_words)
    return language


def _kept_words(family: Words, entries: SparseSums, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which words count: those in enough documents, by weight, and of them the most common."""
    size = len(vocabulary)
    documents = np.bincount(entries.columns, entries.present, size)
    kept = np.bincount(entries.columns, minlength=size) > 0
    if family.min_count > 1:
        kept &= documents >= family.min_count * (1.0 - SAME)
    if family.max_vocabulary is not None and kept.sum() > family.max_vocabulary:
        rank = np.empty(size, np.int64)
        rank[vocabulary.sorted_order()] = np.arange(size)
        # Ties go by code point, and rounding must not break them: a power of two divides exactly.
        share = np.round(np.ldexp(documents, -int(np.frexp(documents.max())[1])) / SAME)
        common = np.lexsort((rank, -np.where(kept, share, -1.0)))[: family.max_vocabulary]
        kept &= np.isin(np.arange(size), common)
    return kept


def _multinomial(language: Language, size: int) -> None:
    """θ_w = (N_w + α)/(N + αV)."""
    family, entries, draws = language.family, language.entries, language.draws
    language.term_scores, language.orders = multinomial_scores(
        entries, draws, family.alpha, size, unseen=int(language.smooths_unseen)
    )
    if family.weight_norm:
        beyond = sums_by_class(entries, log_gain(entries, family.alpha), len(draws))
        language.scale = _shrinking(-beyond - size * language.term_scores.default)


def _bernoulli(language: Language, size: int) -> None:
    """θ_w = (n_w + α)/(n + 2α) for the presence of a word, 1 − θ_w for its absence."""
    entries, alpha = language.entries, language.family.alpha
    n = language.weight
    n_classes = len(n)
    present, absent = entries.present, np.maximum(n[entries.classes] - entries.present, 0.0)
    unseen = size - np.bincount(entries.classes, minlength=n_classes)
    if alpha > 0:
        default = np.log(alpha) - np.log(n + alpha)
        log_absent = np.log(absent + alpha)
        logit = np.log(present + alpha) - log_absent
        baseline = sums_by_class(entries, log_absent - np.log(n + 2.0 * alpha)[entries.classes], n_classes)
        baseline += unseen * (np.log(n + alpha) - np.log(n + 2.0 * alpha))
    else:
        some = n > 0
        log_n = np.log(np.where(some, n, 1.0))
        always = absent <= 1e-12 * n[entries.classes]
        log_some_absent = np.log(np.where(always, 1.0, absent))
        default = -log_n
        logit = np.log(present) - log_some_absent
        baseline = sums_by_class(entries, log_some_absent - log_n[entries.classes], n_classes)
        baseline = np.where(some, baseline, -size * np.log(2.0))
        language.orders = TermScores.of(
            entries,
            np.where(always, -2.0 * IMPOSSIBLE, -IMPOSSIBLE),
            size,
            np.where(some, IMPOSSIBLE, 0.0),
            IMPOSSIBLE * sums_by_class(entries, always, n_classes),
        )
    language.term_scores = TermScores.of(entries, logit - default[entries.classes], size, default, baseline)


def _complement(language: Language, size: int) -> None:
    """−log of θ_w in all the other classes (Rennie et al. 2003)."""
    family, entries, draws = language.family, language.entries, language.draws
    alpha = family.alpha
    everywhere = np.bincount(entries.columns, entries.total, size)
    default = np.log(draws.sum() - draws + alpha * max(size, 1))
    # Alpha last: added to a count and the count taken away again, a small one would lose its digits.
    elsewhere = counts_elsewhere(entries.total, everywhere[entries.columns])
    beyond = np.log(everywhere[entries.columns] + alpha) - np.log(elsewhere + alpha)
    language.word = -np.log(everywhere + alpha)
    language.term_scores = TermScores.of(entries, beyond, size, default, np.zeros(len(draws)))
    if family.weight_norm:
        total = sums_by_class(entries, beyond, len(draws)) + sum_of(language.word) + size * default
        language.scale = _shrinking(total)


def _shrinking(size: Array) -> Array:
    """One over the size of the weights; 1 where they are all 0, as for a single word, which is certain."""
    return np.divide(1.0, size, out=np.ones_like(size), where=size > 0)
