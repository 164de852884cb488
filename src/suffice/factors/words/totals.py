"""Columns of text: counts of words per class, tokenised and summed in one pass."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import Totals
from suffice.factors.checks import impossible, within
from suffice.factors.words.word_counts import WordCounts, class_entries
from suffice.families import Family, Words
from suffice.storage import Fields
from suffice.tables.wording import quoted
from suffice.text import Analysis, Documents, TermCounts, Vocabulary, count

BYTES_AT_ONCE = 1 << 23
"""Text that is counted at once."""


class TextBlock:
    """A batch of one column of documents, with its counts over a vocabulary of its own."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.vocabulary = Vocabulary()
        self.counted: list[tuple[slice, TermCounts]] = []

    def count(self, analysis: Analysis) -> None:
        """Count the words of every document."""
        self.counted = [
            (rows, count(self.documents.part(rows.start, rows.stop), analysis, self.vocabulary, grow=True))
            for rows in self.parts()
        ]

    def parts(self) -> list[slice]:
        """Runs of documents of a limited size."""
        starts = self.documents.offsets[:-1] - self.documents.offsets[0]
        number = starts // BYTES_AT_ONCE
        edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(starts)]
        return [slice(a, b) for a, b in pairwise(edges)]


class WordTotals(Totals):
    """One `WordCounts` for each column of text."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "documents"

    def __init__(self, family: Words, columns: list[WordCounts]) -> None:
        self.family: Words = family
        self.columns = columns

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        if not isinstance(family, Words):
            raise TypeError(f"a column of text needs the family Words, not {family.name}.")
        analysis_of(family)
        return cls(family, [WordCounts.empty() for _ in range(n_columns)])

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def refuse(self, block: list[TextBlock], labels: list[str], classes: Codes) -> None:
        """Count the words, so that a tokenizer refuses a document before anything is summed."""
        analysis = analysis_of(self.family)
        for text in block:
            text.count(analysis)

    def update(self, block: list[TextBlock], classes: Codes, weights: Array | None) -> None:
        for column, text in zip(self.columns, block, strict=True):
            missing = text.documents.missing
            held = classes if missing is None else classes[~missing]
            by_row = weights if weights is None or missing is None else weights[~missing]
            n_classes = len(column.rows)
            rows = np.bincount(held, minlength=n_classes)
            column.rows = column.rows + rows
            column.weight = column.weight + (
                rows if by_row is None else np.bincount(held, by_row, minlength=n_classes)
            )
            ids = column.learn(text.vocabulary)
            size = len(column.vocabulary)
            while text.counted:
                part, counts = text.counted.pop(0)  # given back when it is summed
                w = None if weights is None else weights[part]
                counts = replace(counts, terms=ids[counts.terms])
                column.append(class_entries(counts, classes[part], w, self.family, n_classes, size))

    def add(self, other: Self, sign: int) -> None:
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.add(theirs, sign)

    def replace(self, former: WordTotals) -> None:
        """Take over the vocabularies of sums that are no longer used."""
        for mine, theirs in zip(self.columns, former.columns, strict=True):
            mine.replace(theirs)

    def scale(self, factors: Array) -> None:
        for column in self.columns:
            column.scale(factors)

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, [column.take_classes(index) for column in self.columns])

    def take_columns(self, index: Codes) -> Self:
        n_classes = len(self.columns[0].rows) if self.columns else 0
        everyone, no_one = np.arange(n_classes), np.full(n_classes, -1)
        return type(self)(
            self.family,
            [
                self.columns[j].take_classes(everyone) if j >= 0 else WordCounts.empty().take_classes(no_one)
                for j in index.tolist()
            ],
        )

    def vanishes(self) -> NDArray[np.bool_]:
        gone = np.ones(len(self.columns[0].rows), dtype=np.bool_)
        for column in self.columns:
            gone &= (column.rows == 0) & (column.weight == 0)
            gone[column.entries.classes] = False
        return gone

    def matches(self, other: Self, rtol: float) -> bool:
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            if mine.rows.shape != theirs.rows.shape or not np.array_equal(mine.rows, theirs.rows):
                return False
            difference = mine.take_classes(np.arange(len(mine.rows)))
            difference.add(theirs, -1)
            size = float(np.abs(mine.entries.total).max(initial=0.0))
            left = difference.entries
            if left.support.any() or not within(mine.weight, theirs.weight, rtol, size):
                return False
            if not all(within(sums, np.zeros_like(sums), rtol, size) for sums in (left.total, left.present)):
                return False
        return True

    def arrays(self) -> dict[str, NDArray[Any]]:
        named: dict[str, NDArray[Any]] = {}
        for number, column in enumerate(self.columns):
            entries = column.entries
            named |= {
                f"rows.{number}": column.rows,
                f"weight.{number}": column.weight,
                f"support.classes.{number}": entries.classes,
                f"support.words.{number}": entries.columns,
                f"support.{number}": entries.support,
                f"total.{number}": entries.total,
                f"present.{number}": entries.present,
                f"support.vocabulary.{number}": column.vocabulary.arena,
            }
        return named

    def presence(self) -> Array:
        return np.stack([column.weight for column in self.columns], axis=1)

    @staticmethod
    def gaps(block: list[TextBlock]) -> tuple[Codes, Codes]:
        found = [text.documents.missing for text in block]
        rows = [np.zeros(0, np.intp) if missing is None else np.flatnonzero(missing) for missing in found]
        return np.concatenate(rows), np.repeat(np.arange(len(block)), [len(one) for one in rows])

    def state(self) -> dict[str, Any]:
        return {"columns": [column.state() for column in self.columns]}

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        totals = cls.empty(family, 0)
        columns = fields.branches("columns", n_columns)
        totals.columns = [WordCounts.from_fields(n_classes, column) for column in columns]
        return totals

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        for label, column in zip(labels, self.columns, strict=True):
            if (impossible(column.weight, column.rows, size) | (column.rows > rows)).any():
                return f"{label} would have a negative number of documents, or more than rows, in some class"
            largest = max([size, *(float(np.abs(part.total).max()) for part in column.entries.parts())])
            for part in column.entries.parts():
                less = impossible(part.present, part.support, largest) | (part.total < -1e-9 * largest)
                more = part.support > column.rows[part.classes]
                wrong = {"a negative number of times": less, "in more documents than there are": more}
                for how, bad in wrong.items():
                    if bad.any():
                        word = column.vocabulary.words_of(part.columns[bad][:1])[0]
                        return f"{label} would contain the word {quoted(word)} {how} in some class"
        return None


def analysis_of(family: Words) -> Analysis:
    """How the documents of this family become words."""
    return Analysis(
        analyzer=family.analyzer,
        ngram_range=family.ngram_range,
        lowercase=family.lowercase,
        stop_words=family.stop_words,
        strip_html=family.strip_html,
        tokenizer=family.tokenizer,
    )
