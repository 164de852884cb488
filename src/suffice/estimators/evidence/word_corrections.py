"""Corrections of single words: what a word says of the classes beyond all weighed evidence.

A document adds Σ_w δ_wk/√m over its m different words that have corrections. Words repeat each other, so that
m of them say as much as √m would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.factors.base import gather
from suffice.factors.words.totals import analysis_of
from suffice.families import Family, Words
from suffice.links import softmax
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.quasi_newton import minimise
from suffice.storage import Fields
from suffice.tables.table import Table
from suffice.text import Analysis, Documents, Vocabulary, count

MOST_WEIGHT = 1e100
"""The largest weight or correction that a file may hold."""
MOST_CORRECTIONS = 1 << 19
"""Words × classes that have corrections: those of the words in most documents."""
FOUND_WORDS = 1e-9
"""Nats per row that do not matter, in the search for corrections."""
FEW_WORDS = 1 << 13
"""Words in all documents, below which a search goes on to the end: how sums are rounded must not tell."""
TO_THE_END = 1e-20
"""Nats per row that are left then, so that posteriors are exact to about the root of this."""
JUDGED_WORDS = 1e-5
"""The same for corrections that are only judged on rows held out."""


@dataclass(frozen=True, eq=False)
class WordCorrections:
    """What the words of one column add to the scores."""

    column: int
    """The column of the table."""
    vocabulary: Vocabulary
    table: Array
    """δ, (words, classes)."""

    def times(self, share: float) -> Self:
        """The same, of which only a share counts."""
        return replace(self, table=share * self.table)

    def of_classes(self, index: Codes) -> Self:
        """The same for other classes; −1 stands for one that nothing is known of."""
        return replace(self, table=gather(self.table, index, 1))

    def added(self, table: Table, family: Family) -> Array:
        """What the documents of a table add to the scores, (rows, classes)."""
        documents = table.documents(self.column)
        return np.asarray(_shares_of_words(documents, _analysis(family), self.vocabulary) @ self.table)

    def _to_fields(self) -> dict[str, Any]:
        vocabulary = {"text": self.vocabulary.arena, "offsets": self.vocabulary.offsets}
        return {"column": self.column, "vocabulary": vocabulary, "table": self.table}

    @classmethod
    def _from_fields(cls, fields: Fields, columns: Sequence[int], n_classes: int) -> Self:
        branch = fields.branch("vocabulary")
        offsets = branch.array("offsets", np.int64, (None,))
        vocabulary = Vocabulary.from_utf8(branch.array("text", np.uint8, (None,)), offsets)
        if vocabulary is None:
            raise fields.error("vocabulary", "is not a list of distinct words.")
        column = fields.integer("column", 0, max(columns, default=-1))
        if column not in columns:
            raise fields.error("column", "must be a column of text whose words may have corrections.")
        return cls(column, vocabulary, read_weights(fields, "table", (len(vocabulary), n_classes)))


def read_weights(fields: Fields, name: str, shape: tuple[int, ...]) -> Array:
    """Learnt numbers of a file; scores made of larger ones could be infinite."""
    weights: Array = fields.array(name, np.float64, shape)
    if np.abs(weights).max(initial=0.0) > MOST_WEIGHT:
        raise fields.error(name, f"must hold numbers of at most {MOST_WEIGHT:g}.")
    return weights


def _analysis(family: Family) -> Analysis:
    """How documents of a column become words."""
    if not isinstance(family, Words):
        raise TypeError(f"a column of text needs the family Words, not {family.name}.")
    return analysis_of(family)


def _shares_of_words(documents: Documents, analysis: Analysis, vocabulary: Vocabulary) -> sparse.csr_array:
    """1/√m for each of the m words of a vocabulary that a document has, (documents, words)."""
    counts = count(documents, analysis, vocabulary, grow=False)
    n_words = np.diff(counts.starts)
    each = np.repeat(1.0 / np.sqrt(np.maximum(n_words, 1)), n_words)
    return sparse.csr_array((each, counts.terms, counts.starts), shape=(len(documents), len(vocabulary)))


@dataclass(frozen=True, eq=False)
class WordDesign:
    """The words of some documents that may have corrections, of each column of text."""

    columns: list[int]
    vocabularies: list[Vocabulary]
    inputs: sparse.csr_array
    """(documents, words of all columns), 1/√m for each of the m words of a document in a column."""

    @classmethod
    def of(cls, columns: Sequence[int], families: Sequence[Family], table: Table, rows: KnownRows) -> Self:
        """The words of these rows that are in most documents, in the order of their code points."""
        most = MOST_CORRECTIONS // (rows.n_classes * max(len(columns), 1))
        vocabularies, inputs = [], [sparse.csr_array((len(rows.codes), 0))]
        for column, family in zip(columns, families, strict=True):
            documents, analysis = table.documents(column), _analysis(family)
            vocabularies.append(_common_words(documents, analysis, rows.weight, most))
            inputs.append(_shares_of_words(documents, analysis, vocabularies[-1]))
        return cls(list(columns), vocabularies, sparse.csr_array(sparse.hstack(inputs, format="csr")))

    def corrections(self, table: Array) -> tuple[WordCorrections, ...]:
        """Corrections of all words, (words, classes), column by column."""
        ends = np.cumsum([len(one) for one in self.vocabularies])[:-1]
        parts = np.split(table, ends)
        each = zip(self.columns, self.vocabularies, parts, strict=True)
        return tuple(WordCorrections(*one) for one in each)


def _common_words(documents: Documents, analysis: Analysis, weight: Array, most: int) -> Vocabulary:
    """The words in most documents, at most so many; ties go by code point."""
    vocabulary = Vocabulary()
    counts = count(documents, analysis, vocabulary, grow=True)
    order = vocabulary.sorted_order()
    if len(order) > most:
        held = np.bincount(counts.terms, np.repeat(weight, np.diff(counts.starts)), len(order))[order]
        order = order[np.sort(np.argsort(-held, kind="stable")[:most])]
    return vocabulary.take(order)


class WordSearch:
    """Corrections (words, classes) of least penalised loss beside an offset (rows, classes)."""

    def __init__(self, inputs: sparse.csr_array, rows: KnownRows, offset: Array) -> None:
        self.inputs, self.rows, self.offset = inputs, rows, offset
        self._of_words = sparse.csr_array(inputs.T)
        posteriors = softmax(offset)
        squares = self._of_words.power(2)
        self._curvature = squares @ (rows.weight[:, np.newaxis] * posteriors * (1.0 - posteriors))

    def learn(
        self,
        ridge: float,
        weight: Array | None = None,
        start: Array | None = None,
        converged: float = FOUND_WORDS,
    ) -> Array:
        """Corrections of rows with these weights, of which some may be 0."""
        rows = self.rows if weight is None else replace(self.rows, weight=weight)
        shape = self.inputs.shape[1], rows.n_classes

        def at(flat: Array) -> tuple[Array, Array]:
            table = flat.reshape(shape)
            loss, posteriors = rows.loss_and_posteriors((self.offset + self.inputs @ table).T)
            residuals = np.ascontiguousarray(rows.residuals_of(posteriors).T)
            slope = self._of_words @ residuals + ridge * table
            return loss + 0.5 * ridge * float(flat @ flat), slope.ravel()

        guess = 1.0 / (self._curvature + ridge).ravel()
        begin = np.zeros(shape) if start is None else start
        if self.inputs.nnz < FEW_WORDS:
            converged = TO_THE_END
        negligible = converged * float(rows.weight.sum())
        found = minimise(at, begin.ravel(), negligible, lambda slope: guess * slope, None, rough=True)
        return found.reshape(shape)
