"""Counting in Python, as scikit-learn does it: the readable reference, and all that a short text needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np

from suffice.text.analysis import Analysis
from suffice.text.documents import Documents, TermCounts, without_surrogates
from suffice.text.markup import unescaped, without_markup
from suffice.text.vocabulary import Vocabulary

Slices = TypeVar("Slices", str, list[str])

TOKEN = re.compile(r"\b\w\w+\b")
SPACES = re.compile(r"\s\s+")


def count_documents(
    documents: Documents, analysis: Analysis, vocabulary: Vocabulary, *, grow: bool
) -> TermCounts:
    """How often each term occurs in each document; the vocabulary changes only if all goes well."""
    numbers: dict[str, int] = {}
    terms: list[int] = []
    counts: list[int] = []
    starts = [0]
    for position, text in enumerate(documents.texts()):
        row: dict[int, int] = {}
        for term in _terms(text, analysis, documents.number(position)):
            number = numbers.setdefault(term, len(numbers))
            row[number] = row.get(number, 0) + 1
        terms += row.keys()
        counts += row.values()
        starts.append(len(terms))
    local = Vocabulary.of(numbers)
    ids = vocabulary.union(local) if grow else vocabulary.find(local.arena, local.offsets)
    return _known(
        TermCounts(
            starts=np.array(starts, np.int64),
            terms=ids[terms],
            counts=np.array(counts, np.int32),
            unknown=np.zeros(len(documents), np.int64),
        )
    )


def _known(everything: TermCounts) -> TermCounts:
    """The counts of known terms, and the number of the others."""
    known = everything.terms >= 0
    if known.all():
        return everything
    documents = np.repeat(np.arange(len(everything)), np.diff(everything.starts))
    np.add.at(everything.unknown, documents[~known], everything.counts[~known])
    starts = np.concatenate([[0], np.cumsum(known)])[everything.starts]
    return TermCounts(starts, everything.terms[known], everything.counts[known], everything.unknown)


def _terms(text: str, analysis: Analysis, position: int) -> Iterator[str]:
    """The terms of one document: short ones first, as they occur."""
    if analysis.strip_html:
        text = unescaped(without_markup(text))
    if analysis.lowercase:
        text = text.lower()
    fewest, most = analysis.ngram_range
    if analysis.analyzer == "word":
        words = [word for word in words_of(text, analysis, position) if word not in analysis.stop_set]
        for n in range(fewest, min(most, len(words)) + 1):
            yield from words if n == 1 else map(" ".join, _windows(words, n))
    elif analysis.analyzer == "char":
        text = SPACES.sub(" ", text)
        for n in range(fewest, min(most, len(text)) + 1):
            yield from _windows(text, n)
    else:
        for word in text.split():
            padded = f" {word} "
            for n in range(fewest, most + 1):
                yield from _windows(padded, n)
                if n >= len(padded):
                    break


def words_of(text: str, analysis: Analysis, position: int) -> list[str]:
    """The words of one document."""
    if analysis.tokenizer is None:
        return TOKEN.findall(text)
    given = analysis.tokenizer(text)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"document {position}: the tokenizer returned {given!r:.80} of type {type(given).__name__}; "
            "it must return a list of strings"
        )
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(
                f"document {position}: the tokenizer returned {word!r:.80} of type {type(word).__name__} "
                "among its words; it must return strings only"
            )
    return [word if word.isascii() else without_surrogates(word) for word in words]


def _windows(sequence: Slices, n: int) -> Iterator[Slices]:
    """Each run of n; the whole sequence, if it is shorter."""
    return (sequence[i : i + n] for i in range(max(1, len(sequence) - n + 1)))
