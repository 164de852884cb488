"""Languages: the probability of every word in every class, and what documents score.

Most words are never seen in most classes, and all words unseen in a class weigh the same there. So a
class keeps one default, and for the words it has seen what they weigh beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.factors.base import Codes, Solved
from suffice.factors.word_counts import Entries, WordCounts, document_values
from suffice.families import Words
from suffice.families.elementary import Array
from suffice.scores import IMPOSSIBLE, Scores
from suffice.text import Analysis, Documents, Vocabulary, count

if TYPE_CHECKING:
    from suffice.factors.words import TextBlock

DENSE_BYTES = 1 << 26
"""Weights up to this size are kept as a plain matrix, which multiplies faster."""


@dataclass
class Weights:
    """What words weigh in each class: `default` + `beyond[word, class]` (+ `word`, equal for all classes)."""

    beyond: Any
    """(V, K), sparse where large."""
    default: Array
    baseline: Array
    """What a document without words scores."""

    @classmethod
    def of(cls, entries: Entries, beyond: Array, size: int, default: Array, baseline: Array) -> Weights:
        """From what each entry weighs beyond the default."""
        n_classes = len(default)
        starts = np.searchsorted(entries.classes, np.arange(n_classes + 1))
        by_class = sparse.csr_array((beyond, entries.words, starts), shape=(n_classes, size))
        if 8 * n_classes * size <= DENSE_BYTES:
            return cls(np.ascontiguousarray(by_class.toarray().T), default, baseline)
        return cls(by_class.T.tocsr(), default, baseline)

    def of_entries(self, entries: Entries) -> Array:
        """What each of some entries weighs."""
        beyond = np.asarray(self.beyond[entries.words, entries.classes]).reshape(-1)
        return np.asarray(beyond + self.default[entries.classes])

    def scores(self, x: Any, lengths: Array) -> Array:
        """Σ x·weight of each document."""
        product = x @ self.beyond
        product = product.toarray() if sparse.issparse(product) else product
        return np.asarray(product + lengths[:, np.newaxis] * self.default + self.baseline)


@dataclass
class Language:
    """The solved words of one column of text."""

    family: Words
    analysis: Analysis
    vocabulary: Vocabulary
    row: NDArray[np.int32]
    """Where each id of the vocabulary stands among the words that count, −1 for the others."""
    entries: Entries
    """Counts of those words, by class."""
    weights: Weights
    orders: Weights | None
    """Powers of alpha, where some probability vanishes with it."""
    word: Array | None
    """What a word weighs in all classes alike."""
    idf: Array | None
    scale: Array | None
    weight: Array
    """The documents' weight of each class."""
    draws: Array
    """The words' weight of each class."""

    @property
    def n_words(self) -> int:
        """How many words count."""
        return len(self.ids)

    @property
    def smooths_unseen(self) -> bool:
        """Whether words never seen share one probability; presence is asked of known words only."""
        return self.family.unseen == "smooth" and self.family.event == "multinomial"

    @cached_property
    def ids(self) -> NDArray[np.intp]:
        """The words that count, as ids of the vocabulary."""
        return np.flatnonzero(self.row >= 0)

    def terms(self) -> list[str]:
        """The words that count, in the order of the weights."""
        return self.vocabulary.words_of(self.ids)

    def read(self, documents: Documents, label: str) -> tuple[Any, Array]:
        """What each word of each document is worth, (n, V) sparse, and the worth of words never seen."""
        counts = count(documents, self.analysis, self.vocabulary, grow=False)
        rows, starts = counts.terms, counts.starts
        unseen = counts.unknown.astype(np.float64)
        outside = None
        if self.n_words < len(self.row):
            rows = self.row[counts.terms]
            outside = rows < 0
            of_document = np.repeat(np.arange(len(counts)), np.diff(starts))
            np.add.at(unseen, of_document[outside], counts.counts[outside])
            starts = np.searchsorted(of_document[~outside], np.arange(len(counts) + 1))
        if self.family.unseen == "error" and unseen.any():
            at = int(np.argmax(unseen > 0))
            raise ValueError(
                f"{label}: document {at} holds {int(unseen[at])} words never seen in training; "
                "unseen='ignore' would leave them out, unseen='smooth' take them as rare."
            )
        if self.family.event == "bernoulli":
            x = np.ones(len(rows))
        else:
            x = document_values(counts, self.family).astype(np.float64, copy=False)
        if outside is not None:
            x, rows = x[~outside], rows[~outside]
        if self.idf is not None:
            x = x * self.idf[rows]
        matrix = sparse.csr_array((x, rows, starts), shape=(len(counts), self.n_words))
        return matrix, unseen

    def scores(self, documents: Documents, label: str) -> tuple[Array, Array | None]:
        """Log p of each document in each class, and the orders; a missing document scores 0."""
        x, unseen = self.read(documents, label)
        lengths = np.asarray(x.sum(axis=1)).reshape(-1)
        if self.smooths_unseen:
            lengths = lengths + unseen
        finite = self.weights.scores(x, lengths)
        if self.word is not None:
            finite += (x @ self.word)[:, np.newaxis]
        if self.scale is not None:
            finite *= self.scale
        order = None if self.orders is None else self.orders.scores(x, lengths)
        if documents.missing is not None:
            finite[documents.missing] = 0.0
            if order is not None:
                order[documents.missing] = 0.0
        return finite, order

    def log_prob(self, documents: Documents) -> Array:
        """Log p of each document in each class, −inf where alpha = 0 rules it out."""
        return Scores(*self.scores(documents, "text")).joint()

    def _counted(self) -> tuple[Array, Array, float]:
        """What is counted of each entry, out of how much in each class, and the choices that alpha covers."""
        if self.family.event == "bernoulli":
            return self.entries.present, self.weight, 2.0
        return self.entries.total, self.draws, float(max(self.n_words + self.smooths_unseen, 1))

    def probabilities(self, k: int) -> Array:
        """θ of every word in one class: of a draw, or of the word's presence in a document."""
        counts, trials, choices = self._counted()
        mine = slice(*np.searchsorted(self.entries.classes, [k, k + 1]))
        own = np.bincount(self.entries.words[mine], counts[mine], self.n_words)
        total = trials[k] + self.family.alpha * choices
        return np.asarray(
            (own + self.family.alpha) / total if total > 0 else np.full_like(own, 1.0 / choices)
        )

    def evidence(self, k: int) -> Array:
        """Log θ_kw/θ_w of every word: how much more it speaks for the class than for the others together."""
        counts, trials, choices = self._counted()
        alpha = self.family.alpha or 1.0
        here = self.entries.classes == k
        sides = [
            np.log(np.bincount(self.entries.words, counts * side, self.n_words) + alpha)
            - np.log(total + alpha * choices)
            for side, total in ((here, trials[k]), (~here, trials.sum() - trials[k]))
        ]
        return np.asarray(sides[0] - sides[1])

    def mean_length(self) -> Array:
        """Words per document of each class; different words, where their counts are not kept."""
        plain = self.family.tf == "count" and self.family.length is None and not self.family.idf
        counted = np.bincount(
            self.entries.classes,
            self.entries.total if plain else self.entries.present,
            len(self.weight),
        )
        return np.divide(counted, self.weight, out=np.zeros_like(counted), where=self.weight > 0)

    def generate(self, k: int, n_words: int, rng: np.random.Generator) -> list[str]:
        """Words drawn from the language of one class."""
        if self.n_words == 0:
            return []
        p = self.probabilities(k)
        drawn = rng.choice(self.n_words, size=n_words, p=p / p.sum())
        return self.vocabulary.words_of(self.ids[drawn])

    def sample(self, k: int, rng: np.random.Generator) -> str:
        """One document of a class."""
        gap = " " if self.family.analyzer == "word" else ""
        if self.family.event == "bernoulli":
            present = np.flatnonzero(rng.random(self.n_words) < self.probabilities(k))
            return gap.join(self.vocabulary.words_of(self.ids[present]))
        return gap.join(self.generate(k, int(rng.poisson(self.mean_length()[k])), rng))


def solve_words(family: Words, analysis: Analysis, column: WordCounts) -> Language:
    """The language of every class."""
    entries = column.entries
    entries = entries.chosen(entries.support > 0)
    size = len(column.vocabulary)
    documents = np.bincount(entries.words, entries.support, size)
    kept = documents >= family.min_count
    if family.max_vocabulary is not None and kept.sum() > family.max_vocabulary:
        rank = np.empty(size, np.int64)
        rank[column.vocabulary.sorted_order()] = np.arange(size)
        common = np.lexsort((rank, -documents))[: family.max_vocabulary]
        kept &= np.isin(np.arange(size), common)
    row = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    entries = entries.chosen(kept[entries.words])
    entries.words = row[entries.words]
    n_words, n_classes = int(kept.sum()), len(column.rows)
    idf = None
    if family.idf:
        holding = np.bincount(entries.words, entries.present, n_words)
        idf = np.maximum(np.log(max(float(column.weight.sum()), 1e-300)) - np.log(holding), 0.0)
        entries.total = entries.total * idf[entries.words]
    language = Language(
        family,
        analysis,
        column.vocabulary,
        row,
        entries,
        weights=Weights(np.zeros((0, n_classes)), np.zeros(n_classes), np.zeros(n_classes)),
        orders=None,
        word=None,
        idf=idf,
        scale=None,
        weight=column.weight,
        draws=_by_class(entries, entries.total, n_classes),
    )
    solvers = {"multinomial": _multinomial, "bernoulli": _bernoulli, "complement": _complement}
    solvers[family.event](language, n_words)
    return language


def _by_class(entries: Entries, values: NDArray[Any], n_classes: int) -> Array:
    """The sum of some values over the entries of each class."""
    return np.bincount(entries.classes, values, n_classes).astype(np.float64)


def _multinomial(language: Language, size: int) -> None:
    """θ_w = (N_w + α)/(N + αV)."""
    family, entries, draws = language.family, language.entries, language.draws
    nothing = np.zeros(len(draws))
    alpha = family.alpha
    if alpha > 0:
        places = size + language.smooths_unseen
        default = np.log(alpha) - np.log(draws + alpha * max(places, 1))
        beyond = np.log1p(entries.total / alpha)
    else:
        # The limit α → 0⁺: an unseen word has order 1 and leaves 1/N; a class without words is uniform.
        some = draws > 0
        default = np.where(some, -np.log(np.where(some, draws, 1.0)), -np.log(max(size, 1)))
        # A word in every document has idf 0, so its counts are worth nothing: as good as unseen.
        entries = entries.chosen(entries.total > 0)
        beyond = np.log(entries.total)
        orders = np.where(some, IMPOSSIBLE, 0.0)
        language.orders = Weights.of(entries, -orders[entries.classes], size, orders, nothing)
    language.weights = Weights.of(entries, beyond, size, default, nothing)
    if family.weight_norm:
        language.scale = _shrinking(-_by_class(entries, beyond, len(draws)) - size * default)


def _bernoulli(language: Language, size: int) -> None:
    """θ_w = (n_w + α)/(n + 2α) for the presence of a word, 1 − θ_w for its absence."""
    entries, alpha = language.entries, language.family.alpha
    n = language.weight
    n_classes = len(n)
    present, absent = entries.present, np.maximum(n[entries.classes] - entries.present, 0.0)
    unseen = size - np.bincount(entries.classes, minlength=n_classes)
    if alpha > 0:
        default = np.log(alpha) - np.log(n + alpha)
        logit = np.log(present + alpha) - np.log(absent + alpha)
        log_absent = np.log(absent + alpha) - np.log(n + 2.0 * alpha)[entries.classes]
        baseline = _by_class(entries, log_absent, n_classes)
        baseline += unseen * (np.log(n + alpha) - np.log(n + 2.0 * alpha))
    else:
        some = n > 0
        log_n = np.log(np.where(some, n, 1.0))
        always = absent <= 1e-12 * n[entries.classes]
        log_some_absent = np.log(np.where(always, 1.0, absent))
        default = -log_n
        logit = np.log(present) - log_some_absent
        baseline = _by_class(entries, log_some_absent - log_n[entries.classes], n_classes)
        baseline = np.where(some, baseline, -size * np.log(2.0))
        language.orders = Weights.of(
            entries,
            np.where(always, -2.0 * IMPOSSIBLE, -IMPOSSIBLE),
            size,
            np.where(some, IMPOSSIBLE, 0.0),
            IMPOSSIBLE * _by_class(entries, always, n_classes),
        )
    language.weights = Weights.of(entries, logit - default[entries.classes], size, default, baseline)


def _complement(language: Language, size: int) -> None:
    """−log of θ_w in all the other classes (Rennie et al. 2003)."""
    family, entries, draws = language.family, language.entries, language.draws
    alpha = family.alpha
    everywhere = np.bincount(entries.words, entries.total, size)
    default = np.log(draws.sum() - draws + alpha * max(size, 1))
    # Alpha last: added to a count and the count taken away again, a small one would lose its digits.
    elsewhere = np.maximum(everywhere[entries.words] - entries.total, 0.0)
    beyond = np.log(everywhere[entries.words] + alpha) - np.log(elsewhere + alpha)
    language.word = -np.log(everywhere + alpha)
    language.weights = Weights.of(entries, beyond, size, default, np.zeros(len(draws)))
    if family.weight_norm:
        total = _by_class(entries, beyond, len(draws)) + language.word.sum() + size * default
        language.scale = _shrinking(total)


def _shrinking(size: Array) -> Array:
    """One over the size of the weights; 1 where they are all 0, as for a single word, which is certain."""
    return np.divide(1.0, size, out=np.ones_like(size), where=size > 0)


class SolvedWords(Solved):
    """One `Language` for each column of text."""

    def __init__(self, family: Words, languages: list[Language]) -> None:
        self.family = family
        self.languages = languages
        self.regularized = []
        self.ignores_priors = family.event == "complement"
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
            value += float(language.weight @ weights.baseline) + float(counts @ weights.of_entries(entries))
        return value

    def _scored(self, block: list[TextBlock], labels: list[str]) -> Iterator[tuple[slice, int, Array, Any]]:
        for j, (language, text, label) in enumerate(zip(self.languages, block, labels, strict=True)):
            for rows in text.parts():
                yield rows, j, *language.scores(text.documents.part(rows.start, rows.stop), label)

    def add_scores(self, block: list[TextBlock], labels: list[str], scores: Scores, *, base: bool) -> None:
        for rows, _, finite, order in self._scored(block, labels):
            scores.finite[rows] += finite
            if order is not None:
                for k in range(order.shape[1]):
                    scores.add_order(rows, k, order[:, k])

    def contributions(self, block: list[TextBlock], labels: list[str]) -> Array:
        result = np.zeros((len(block[0].documents), len(block), len(self.languages[0].weight)))
        for rows, j, finite, order in self._scored(block, labels):
            result[rows, j] = finite if order is None else np.where(order > 0, -np.inf, finite)
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        return [
            np.array([language.sample(k, rng) for k in classes.tolist()], dtype=object)
            for language in self.languages
        ]

    def conventional(self) -> list[dict[str, Any]]:
        return [
            {
                "words": np.bincount(language.entries.classes, minlength=len(language.weight)),
                "mean_length": language.mean_length(),
            }
            for language in self.languages
        ]
