"""Solving for the words of each class, and columns of text once they are solved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.base import Separation, SolvedFactor, divergences
from suffice.factors.scores import IMPOSSIBLE, Scores
from suffice.factors.sparse_sums import SparseSums, sum_of, sums_by_class
from suffice.factors.term_scores import TermScores, log_gain, multinomial_weights
from suffice.factors.words.language import Language
from suffice.factors.words.word_counts import WordCounts
from suffice.families import Bernoulli, Words
from suffice.text import Analysis, Vocabulary

if TYPE_CHECKING:
    from suffice.factors.words.totals import TextBlock

SAME = 1e-9
"""Numbers of documents that are sums of weights differ by rounding only, if by less than this share."""


def solve_words(family: Words, analysis: Analysis, column: WordCounts) -> Language:
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
        weights=TermScores(np.zeros((n_words, 0)), np.zeros(n_classes), np.zeros(n_classes)),
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
    language.weights, language.orders = multinomial_weights(
        entries, draws, family.alpha, size, unseen=int(language.smooths_unseen)
    )
    if family.weight_norm:
        beyond = sums_by_class(entries, log_gain(entries, family.alpha), len(draws))
        language.scale = _shrinking(-beyond - size * language.weights.default)


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
    language.weights = TermScores.of(entries, logit - default[entries.classes], size, default, baseline)


def _complement(language: Language, size: int) -> None:
    """−log of θ_w in all the other classes (Rennie et al. 2003)."""
    family, entries, draws = language.family, language.entries, language.draws
    alpha = family.alpha
    everywhere = np.bincount(entries.columns, entries.total, size)
    default = np.log(draws.sum() - draws + alpha * max(size, 1))
    # Alpha last: added to a count and the count taken away again, a small one would lose its digits.
    elsewhere = np.maximum(everywhere[entries.columns] - entries.total, 0.0)
    beyond = np.log(everywhere[entries.columns] + alpha) - np.log(elsewhere + alpha)
    language.word = -np.log(everywhere + alpha)
    language.weights = TermScores.of(entries, beyond, size, default, np.zeros(len(draws)))
    if family.weight_norm:
        total = sums_by_class(entries, beyond, len(draws)) + sum_of(language.word) + size * default
        language.scale = _shrinking(total)


def _shrinking(size: Array) -> Array:
    """One over the size of the weights; 1 where they are all 0, as for a single word, which is certain."""
    return np.divide(1.0, size, out=np.ones_like(size), where=size > 0)


def _times(each: Array, length: Array) -> Array:
    """What so many words say, if each says this much, be it without bound: none say nothing."""
    length = np.broadcast_to(length, each.shape)
    return np.multiply(each, length, out=np.zeros_like(each), where=length > 0)


class SolvedWords(SolvedFactor):
    """One `Language` for each column of text."""

    def __init__(self, family: Words, languages: list[Language]) -> None:
        self.family = family
        self.languages = languages
        self.regularized = []
        self.ignores_priors = family.event == "complement"
        self.is_given_length = family.event != "bernoulli"
        self.has_density = family.event != "complement" and not family.weight_norm
        free = 0 if family.event == "bernoulli" else 1
        self.n_parameters = sum(
            len(language.weight) * max(language.n_words - free, 0) for language in languages
        )

    @property
    def log_likelihood(self) -> float:
        value = 0.0
        for language in self.languages:
            entries, weights = language.entries, language.weights
            counts = entries.present if language.family.event == "bernoulli" else entries.total
            value += float(language.weight @ weights.baseline) + sum_of(counts * weights.of_entries(entries))
        return value

    def _scored(self, block: list[TextBlock], labels: list[str]) -> Iterator[tuple[slice, int, Array, Any]]:
        for j, (language, text, label) in enumerate(zip(self.languages, block, labels, strict=True)):
            for part in text.parts():
                documents = text.documents.part(part.start, part.stop)
                for rows, finite, order in language.scores(documents, label):
                    yield slice(part.start + rows.start, part.start + rows.stop), j, finite, order

    def add_scores(self, block: list[TextBlock], labels: list[str], scores: Scores, *, base: bool) -> None:
        for rows, _, finite, order in self._scored(block, labels):
            scores.finite[rows] += finite
            if order is not None:
                scores.add_orders(rows, order)

    def contributions(self, block: list[TextBlock], labels: list[str], *, base: bool) -> Array:
        result = np.zeros((len(block[0].documents), len(block), len(self.languages[0].weight)))
        for rows, j, finite, order in self._scored(block, labels):
            result[rows, j] = finite if order is None else np.where(order > 0, -np.inf, finite)
        return result

    def observed(
        self, block: list[TextBlock], labels: list[str]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        seen = np.ones((len(block[0].documents), len(block)), dtype=np.bool_)
        for j, text in enumerate(block):
            if text.documents.missing is not None:
                seen[:, j] = ~text.documents.missing
        return seen, np.zeros_like(seen)

    def log_power_sums(self, seen: NDArray[np.bool_], powers: Array) -> Array | None:
        """Of the presence of each word; counts of words are given their number."""
        result = np.zeros((len(powers), len(self.languages[0].weight)))
        for language in itertools.compress(self.languages, seen):
            for k in range(result.shape[1]):
                p = language.probabilities(k)
                result[:, k] += [np.sum(np.log(p**a + (1.0 - p) ** a)) for a in powers]
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        return [
            np.array([language.sample(k, rng) for k in classes.tolist()], dtype=object)
            for language in self.languages
        ]

    def separation(self) -> Separation:
        """Of documents of the mean length: of the true class, or between both for the symmetric distance."""
        pairs = [self._divergences(language) for language in self.languages]
        return Separation.of_independent(np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]))

    def _divergences(self, language: Language) -> tuple[Array, Array]:
        n_classes = len(language.weight)
        if language.n_words == 0:
            return np.zeros((n_classes, n_classes)), np.zeros((n_classes, n_classes))
        theta = np.stack([language.probabilities(k) for k in range(n_classes)], axis=1)[language.in_order]
        with np.errstate(divide="ignore", invalid="ignore"):
            if language.family.event == "bernoulli":
                kl, distance = divergences(Bernoulli(), np.log(theta / (1.0 - theta)).T[np.newaxis])
                return np.nan_to_num(kl, posinf=np.inf).sum(axis=-1), distance.sum(axis=-1)
            kl, distance = divergences(self.family, np.log(theta))
        length = language.mean_length()
        return _times(kl, length[:, np.newaxis]), _times(distance, 0.5 * (length[:, np.newaxis] + length))

    def conventional(self) -> list[dict[str, Any]]:
        return [
            {
                "words": np.bincount(language.entries.classes, minlength=len(language.weight)),
                "mean_length": language.mean_length(),
            }
            for language in self.languages
        ]
