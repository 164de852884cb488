"""Documents → counts of terms, in threads; the result does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import threads
from suffice.text import hash_table, reference
from suffice.text.analysis import Analysis
from suffice.text.documents import Documents, TermCounts
from suffice.text.vocabulary import Vocabulary

Part = TypeVar("Part")
Result = TypeVar("Result")

PART_BYTES = 1 << 18
"""Less text is not worth a thread."""
REFERENCE_BYTES = 1 << 20
"""Text that is counted at once in Python; its strings take many times as many bytes."""
BYTES_PER_DOCUMENT = 8
"""The cost of a document besides its text: its offset."""
BYTES_PER_TERM = 1 << 8
"""A first guess at how much text brings a new term."""


def count(documents: Documents, analysis: Analysis, vocabulary: Vocabulary, *, grow: bool) -> TermCounts:
    """How often each term occurs in each document.

    With `grow`, terms that are not in the vocabulary are added to it in the order in which they come,
    whatever the number of threads; without, they are counted as unknown.
    """
    n_bytes = documents.n_bytes + BYTES_PER_DOCUMENT * len(documents)
    if analysis.tokenizer is None and is_compiled(n_bytes, vocabulary):
        from suffice.text.compiled.driver import count_documents

        each = threads.run
        n_parts = min(threads.threads(), n_bytes // PART_BYTES)
    else:
        count_documents = reference.count_documents
        each = _one_by_one
        n_parts = n_bytes // REFERENCE_BYTES
    parts = _parts(documents, n_bytes, max(1, n_parts))
    if not grow:
        return _joined(each(lambda part: count_documents(part, analysis, vocabulary, grow=False), parts))
    found = [Vocabulary(16 + part.n_bytes // BYTES_PER_TERM) for part in parts]
    counted = each(lambda i: count_documents(parts[i], analysis, found[i], grow=True), range(len(parts)))
    for i, terms in enumerate(found):
        ids = vocabulary.union(terms)
        counted[i] = replace(counted[i], terms=ids[counted[i].terms])
    return _joined(counted)


def is_compiled(n_bytes: int, vocabulary: Vocabulary) -> bool:
    """Whether so much text is counted by compiled kernels."""
    return vocabulary.kernels_for(n_bytes) is not hash_table


def _one_by_one(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """`function` of each part, in order."""
    return [function(part) for part in parts]


def _parts(documents: Documents, n_bytes: int, n_parts: int) -> list[Documents]:
    """The documents in runs of about equally many bytes."""
    n = len(documents)
    costs = documents.offsets - documents.offsets[0] + BYTES_PER_DOCUMENT * np.arange(n + 1)
    edges = np.searchsorted(costs, np.linspace(0, n_bytes, n_parts + 1)[1:-1])
    bounds = [0, *edges.tolist(), n]
    return [documents.part(first, last) for first, last in pairwise(bounds)]


def _joined(parts: list[TermCounts]) -> TermCounts:
    """The counts of all parts, one after another; the list is emptied, so that memory is given back early."""
    if len(parts) == 1:
        return parts.pop()
    before = np.cumsum([0, *(len(part.terms) for part in parts)])
    starts = [part.starts[1:] + shift for part, shift in zip(parts, before[:-1], strict=True)]
    unknown = [part.unknown for part in parts]
    terms, counts = [part.terms for part in parts], [part.counts for part in parts]
    parts.clear()
    return TermCounts(
        starts=np.concatenate([[0], *starts]),
        terms=_concatenated(terms),
        counts=_concatenated(counts),
        unknown=np.concatenate(unknown),
    )


def _concatenated(arrays: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The arrays as one; the list is emptied."""
    whole = np.concatenate(arrays)
    arrays.clear()
    return whole
