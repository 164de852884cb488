"""Where the terms of a document are, for shading a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.text.analysis import Analysis
from suffice.text.markup import ENTITY, Span, markup, unescaped
from suffice.text.reference import SPACES, TOKEN, words_of


@dataclass
class Spelled:
    """A text and, for each of its characters, where the part of the original it came from starts and ends."""

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def original(cls, text: str) -> Spelled:
        """A text as it is."""
        places = np.arange(len(text) + 1)
        return cls(text, places[:-1], places[1:])

    def span(self, start: int, end: int) -> Span:
        """Where the characters from `start` to `end` came from."""
        return int(self.starts[start]), int(self.ends[end - 1])

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Where each character from `start` to `end` came from."""
        return zip(self.starts[start:end].tolist(), self.ends[start:end].tolist(), strict=True)

    def replaced(self, changes: Iterable[tuple[Span, str]]) -> Spelled:
        """With other text at some places, which are in order."""
        pieces, starts, ends, done = [], [], [], 0
        for (first, last), new in changes:
            origin = self.span(first, last)
            pieces += [self.text[done:first], new]
            starts += [self.starts[done:first], np.full(len(new), origin[0])]
            ends += [self.ends[done:first], np.full(len(new), origin[1])]
            done = last
        return Spelled(
            "".join([*pieces, self.text[done:]]),
            np.concatenate([*starts, self.starts[done:]]),
            np.concatenate([*ends, self.ends[done:]]),
        )

    def lower(self) -> Spelled:
        """In lower case, which may be longer."""
        lowered = self.text.lower()
        if len(lowered) == len(self.text):
            return Spelled(lowered, self.starts, self.ends)
        lengths = [len(c.lower()) for c in self.text]
        return Spelled(lowered, np.repeat(self.starts, lengths), np.repeat(self.ends, lengths))


def place_terms(text: str, analysis: Analysis) -> Iterator[tuple[str, list[Span]]]:
    """Each term of a document, as often as it occurs, with where its words or characters are.

    Words of a tokenizer are looked for in the text in turn; those that are not there have no place.
    """
    spelled = Spelled.original(text)
    if analysis.strip_html:
        spelled = spelled.replaced((span, " ") for span in markup(text))
        entities = ENTITY.finditer(spelled.text)
        spelled = spelled.replaced((found.span(), unescaped(found.group())) for found in entities)
    if analysis.lowercase:
        spelled = spelled.lower()
    fewest, most = analysis.ngram_range
    for units, gap, is_padded in _segments(spelled, analysis):
        for n in range(fewest, most + 1):
            if n > len(units) and not is_padded:
                break
            for i in range(max(1, len(units) - n + 1)):
                held = units[i : i + n]
                yield gap.join(unit for unit, _ in held), [span for _, span in held if span is not None]
            if n >= len(units):
                break


def _segments(
    spelled: Spelled, analysis: Analysis
) -> Iterator[tuple[list[tuple[str, Span | None]], str, bool]]:
    """Runs of words or characters that terms do not cross, their separator, and whether blanks were added."""
    if analysis.analyzer == "word":
        units = [unit for unit in _placed_words(spelled, analysis) if unit[0] not in analysis.stop_set]
        yield units, " ", False
    elif analysis.analyzer == "char":
        plain = spelled.replaced((found.span(), " ") for found in SPACES.finditer(spelled.text))
        yield list(zip(plain.text, plain.spans(0, len(plain.text)), strict=True)), "", False
    else:
        for word in re.finditer(r"\S+", spelled.text):
            letters = zip(word.group(), spelled.spans(*word.span()), strict=True)
            yield [(" ", None), *letters, (" ", None)], "", True


def _placed_words(spelled: Spelled, analysis: Analysis) -> Iterator[tuple[str, Span | None]]:
    """The words and where they are."""
    if analysis.tokenizer is None:
        for found in TOKEN.finditer(spelled.text):
            yield found.group(), spelled.span(*found.span())
        return
    done = 0
    for word in words_of(spelled.text, analysis, 0):
        at = spelled.text.find(word, done)
        if at < 0 or not word:
            yield word, None
        else:
            done = at + len(word)
            yield word, spelled.span(at, done)


def words_end(text: str, end: int, analysis: Analysis) -> int:
    """The last place up to `end` where a text can be cut without cutting a word or a piece of markup."""
    if end >= len(text):
        return len(text)
    while end > 0 and not text[end].isspace():
        end -= 1
    for start, after in markup(text) if analysis.strip_html else ():
        if start >= end:
            break
        if after > end:
            return start
    return end
