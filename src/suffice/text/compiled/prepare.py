"""What must happen to a document before its bytes are read one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.choose import read_only
from suffice.text.analysis import Analysis
from suffice.text.characters import NEEDS_CONTEXT
from suffice.text.compiled.markup import blank_markup
from suffice.text.documents import Bytes, Documents
from suffice.text.markup import unescaped

BLOCK = 1 << 18


def prepared(documents: Documents, analysis: Analysis) -> Documents:
    """The documents without HTML, if asked, and lower-cased by Python where a table cannot do it."""
    if analysis.strip_html:
        documents = _without_markup(documents)
        documents = _rewritten(documents, _containing(documents, "&"), unescaped)
    if analysis.lowercase:
        documents = _rewritten(documents, _containing(documents, NEEDS_CONTEXT), str.lower)
    return documents


def _text(documents: Documents) -> Bytes:
    """All the bytes from the first document to the last."""
    return documents.bytes[documents.offsets[0] : documents.offsets[-1]]


def _positions(text: Bytes, byte: int) -> NDArray[np.int64]:
    """Where a byte occurs; block by block, so that no mask as large as the text is made."""
    blocks = range(0, len(text), BLOCK)
    found = [np.flatnonzero(text[start : start + BLOCK] == byte) + start for start in blocks]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _containing(documents: Documents, characters: str) -> NDArray[np.int64]:
    """The documents in which any of these characters occurs."""
    text = _text(documents)
    found = []
    for character in characters:
        first, *rest = character.encode()
        places = _positions(text, first)
        for ahead, byte in enumerate(rest, start=1):
            places = places[text[places + ahead] == byte]
        found.append(places)
    places = np.concatenate(found) + documents.offsets[0]
    return np.unique(np.searchsorted(documents.offsets, places, side="right") - 1)


def _rewritten(documents: Documents, which: NDArray[np.int64], change: Callable[[str], str]) -> Documents:
    """The documents with some of them changed."""
    if len(which) == 0:
        return documents
    changed = [change(documents.text(i)).encode() for i in which.tolist()]
    lengths = np.diff(documents.offsets)
    lengths[which] = [len(text) for text in changed]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    pieces = b"".join(_interleaved(documents, which, changed))
    return Documents(np.frombuffer(pieces, np.uint8), offsets, documents.missing)


def _interleaved(
    documents: Documents, which: NDArray[np.int64], changed: Iterable[bytes]
) -> Iterator[memoryview | bytes]:
    """The runs of documents that stay, with the changed ones between them."""
    start = documents.offsets[0]
    for i, text in zip(which.tolist(), changed, strict=True):
        yield documents.bytes[start : documents.offsets[i]].data
        yield text
        start = documents.offsets[i + 1]
    yield documents.bytes[start : documents.offsets[-1]].data


def _without_markup(documents: Documents) -> Documents:
    """The documents with markup blanked."""
    if len(_containing(documents, "<")) == 0:
        return documents
    text, offsets = _text(documents).copy(), documents.offsets - documents.offsets[0]
    blank_markup(text, read_only(offsets))
    return Documents(text, offsets, documents.missing)
