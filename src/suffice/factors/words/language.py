"""Languages: the probability of every word in every class, and the scores of documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.scores import Scores
from suffice.factors.sparse_sums import SparseSums, sums_by_class
from suffice.factors.term_scores import TermScores, rows_of_entries
from suffice.factors.words.word_counts import document_lengths, document_values, term_frequencies
from suffice.families import Words
from suffice.kernels.choose import row_parts
from suffice.tables.wording import counted
from suffice.text import Analysis, Documents, TermCounts, Vocabulary, count

SCORES_AT_ONCE = 4
"""Arrays of scores that exist beside each other while documents are scored."""


@dataclass
class Language:
    """The solved words of one column of text."""

    family: Words
    analysis: Analysis
    vocabulary: Vocabulary
    row: NDArray[np.int32]
    """Where each id of the vocabulary stands among the words that count, −1 for the others."""
    entries: SparseSums
    """Counts of those words, by class."""
    term_scores: TermScores
    orders: TermScores | None
    """Powers of alpha, where some probability vanishes with it."""
    word: Array | None
    """The part of a word's score that is the same for all classes."""
    idf: Array | None
    scale: Array | None
    weight: Array
    """The documents' weight of each class."""
    draws: Array
    """The words' weight of each class."""

    @property
    def n_words(self) -> int:
        """How many words count."""
        return int(self.term_scores.beyond.shape[0])

    @property
    def smooths_unseen(self) -> bool:
        """Whether words never seen share one probability; presence is asked of known words only."""
        return self.family.unseen == "smooth" and self.family.event == "multinomial"

    @cached_property
    def ids(self) -> NDArray[np.intp]:
        """The words that count, as ids of the vocabulary."""
        return np.flatnonzero(self.row >= 0)

    @cached_property
    def in_order(self) -> NDArray[np.int32]:
        """Where the words that count stand among the weights, in the order of their code points."""
        places = self.row[self.vocabulary.sorted_order()]
        return places[places >= 0]

    def terms(self) -> list[str]:
        """The words that count, in the order of their code points."""
        return self.vocabulary.words_of(self.ids[self.in_order])

    def read(self, documents: Documents, label: str) -> tuple[Any, Array]:
        """What each word of each document is worth, (n, V) sparse, and the worth of words never seen."""
        counts = count(documents, self.analysis, self.vocabulary, grow=False)
        rows, starts = counts.terms, counts.starts
        unseen = counts.unknown
        outside = None
        if self.n_words < len(self.row):
            rows = self.row[counts.terms]
            outside = rows < 0
            of_document = np.repeat(np.arange(len(counts)), np.diff(starts))
            unseen = unseen.copy()
            np.add.at(unseen, of_document[outside], counts.counts[outside])
            starts = np.searchsorted(of_document[~outside], np.arange(len(counts) + 1))
        if self.family.unseen == "error" and unseen.any():
            at = int(np.argmax(unseen > 0))
            raise ValueError(self._refusal(label, documents.number(at), unseen[at], counts.unknown[at]))
        x, worth = self._worth(counts, unseen)
        if outside is not None:
            x, rows = x[~outside], rows[~outside]
        if self.idf is not None:
            x = x * self.idf[rows]
        return rows_of_entries(x, rows, starts, self.n_words), worth

    def _worth(self, counts: TermCounts, unseen: NDArray[np.int64]) -> tuple[Array, Array]:
        """What each count is worth, and what all the words never seen of a document, taken as one word."""
        family = self.family
        if family.event == "bernoulli":
            return np.ones(len(counts.terms)), unseen.astype(np.float64)
        if not self.smooths_unseen:
            return document_values(counts, family).astype(np.float64, copy=False), unseen.astype(np.float64)
        x, worth = term_frequencies(counts.counts, family), term_frequencies(unseen, family)
        if family.length == "l2":
            size = np.hypot(document_lengths(counts, x), term_frequencies(counts.unknown, family))
            x /= np.repeat(size, np.diff(counts.starts))
            np.divide(worth, size, out=worth, where=size > 0)
        return x, worth

    def _refusal(self, label: str, number: int, outside: int, never: int) -> str:
        """Why a document with words outside the vocabulary is refused."""
        which = counted(outside, "word")
        why = "never seen in training"
        if never < outside:
            cut = "removed by min_count or max_vocabulary"
            why = f"{cut}, or {why}" if never else cut
        return (
            f"{label}: document {number} contains {which} {why}; "
            "unseen='ignore' leaves unknown words out, unseen='smooth' treats them as rare."
        )

    def scores(self, documents: Documents, label: str) -> Iterator[tuple[slice, Array, Array | None, Array]]:
        """Log p of each document in each class, the orders, and the number of words, for runs of rows.

        A missing document scores 0.
        """
        x, unseen = self.read(documents, label)
        lengths = np.asarray(x.sum(axis=1)).reshape(-1)
        if self.smooths_unseen:
            lengths = lengths + unseen
        runs = row_parts(len(documents), SCORES_AT_ONCE * len(self.weight))
        for rows in runs:
            part = x if len(runs) == 1 else x[rows]
            finite = self.term_scores.scores(part, lengths[rows])
            if self.word is not None:
                finite += (part @ self.word)[:, np.newaxis]
            if self.scale is not None:
                finite *= self.scale
            order = None if self.orders is None else self.orders.scores(part, lengths[rows])
            if documents.missing is not None:
                finite[documents.missing[rows]] = 0.0
                if order is not None:
                    order[documents.missing[rows]] = 0.0
            yield rows, finite, order, lengths[rows]

    def log_prob(self, documents: Documents) -> Array:
        """Log p of each document in each class, −inf where alpha = 0 rules it out."""
        log_p = np.zeros((len(documents), len(self.weight)))
        for rows, finite, order, _ in self.scores(documents, "text"):
            log_p[rows] = Scores(finite, order).joint()
        return log_p

    def _counted(self) -> tuple[Array, Array, float]:
        """The count of each entry, the total of each class, and the number of outcomes that alpha covers."""
        if self.family.event == "bernoulli":
            return self.entries.present, self.weight, 2.0
        return self.entries.total, self.draws, float(max(self.n_words + self.smooths_unseen, 1))

    def probabilities(self, k: int) -> Array:
        """θ of every word in one class: of a draw, or of the word's presence in a document."""
        counts, trials, choices = self._counted()
        mine = slice(*np.searchsorted(self.entries.classes, [k, k + 1]))
        own = np.bincount(self.entries.columns[mine], counts[mine], self.n_words)
        total = trials[k] + self.family.alpha * choices
        return np.asarray(
            (own + self.family.alpha) / total if total > 0 else np.full(len(own), 1.0 / choices)
        )

    def evidence(self, k: int) -> tuple[Array, Array]:
        """Log θ_kw/θ_w of every word: how much more it speaks for the class than for the others together.

        The finite part, and the power of 1/α that goes with it where alpha = 0.
        """
        counts, trials, choices = self._counted()
        here = self.entries.classes == k
        (mine, my_order), (others, their_order) = (
            self._log_share(
                np.bincount(self.entries.columns, counts * side, self.n_words).astype(np.float64),
                total,
                choices,
            )
            for side, total in ((here, trials[k]), (~here, trials.sum() - trials[k]))
        )
        return mine - others, their_order - my_order

    def top_words(self, k: int, n: Any, by: str) -> list[tuple[str, float]]:
        """The words of highest probability in a class, or of highest evidence for it."""
        if by not in ("probability", "evidence"):
            raise ValueError(f"by must be 'probability' or 'evidence', got {by!r}.")
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueError(f"n must be a whole number ≥ 0, got {n!r}.")
        finite = values = self.probabilities(k)
        if by == "evidence":
            finite, order = self.evidence(k)
            values = np.where(order == 0, finite, np.copysign(np.inf, order))
        cut = np.partition(values, -n)[-n] if n < len(values) else -np.inf
        near = np.flatnonzero(values >= cut)
        words = self.vocabulary.words_of(self.ids[near])
        found = zip(words, values[near].tolist(), finite[near].tolist(), strict=True)
        ranked = sorted(found, key=lambda one: (-one[1], -one[2], one[0]))
        return [(word, value) for word, value, _ in ranked[:n]]

    def _log_share(self, counts: Array, total: float, choices: float) -> tuple[Array, Array]:
        """The log of (counts + α)/(total + α·choices), and its power of α where alpha = 0: α → 0⁺."""
        alpha = self.family.alpha
        order = np.zeros(len(counts))
        if alpha > 0:
            return np.log(counts + alpha) - np.log(total + alpha * choices), order
        if total == 0:
            return np.full(len(counts), -np.log(choices)), order
        order[counts == 0] = 1.0
        return np.log(np.where(counts == 0, 1.0, counts)) - np.log(total), order

    def mean_length(self) -> Array:
        """Words per document of each class; different words, where their counts are not kept."""
        plain = self.family.tf == "count" and self.family.length is None and not self.family.idf
        entries = self.entries
        counted = sums_by_class(entries, entries.total if plain else entries.present, len(self.weight))
        return np.divide(counted, self.weight, out=np.zeros_like(counted), where=self.weight > 0)

    def generate(self, k: int, n_words: int, rng: np.random.Generator) -> list[str]:
        """Words drawn from the language of one class."""
        p = self.probabilities(k)[self.in_order]
        if not p.any():  # a class that never has a word
            return []
        drawn = self.in_order[rng.choice(self.n_words, size=n_words, p=p / p.sum())]
        return self.vocabulary.words_of(self.ids[drawn])

    def sample(self, k: int, number: int, rng: np.random.Generator) -> list[str]:
        """Some documents of a class."""
        gap = " " if self.family.analyzer == "word" else ""
        if self.family.event == "bernoulli":
            p = self.probabilities(k)[self.in_order]
            drawn = (self.ids[self.in_order[rng.random(len(p)) < p]] for _ in range(number))
            return [gap.join(self.vocabulary.words_of(present)) for present in drawn]
        ends = np.cumsum(rng.poisson(self.mean_length()[k], number))
        words = self.generate(k, int(ends[-1]), rng)
        return [gap.join(words[start:end]) for start, end in itertools.pairwise([0, *ends.tolist()])]
