"""Where in a document its terms are: what shading a text needs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from suffice.text.analysis import Analysis
from suffice.text.reference import SPACES, TAG, TOKEN, words_of

ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""What `html.unescape` looks at."""

Span = tuple[int, int]


@dataclass
class Spelled:
    """A text and, for each of its characters, the part of the original it came from."""

    text: str
    spans: list[Span]

    def span(self, start: int, end: int) -> Span:
        """Where the characters from `start` to `end` came from."""
        return self.spans[start][0], self.spans[end - 1][1]

    def replaced(self, pattern: re.Pattern[str], change: str | None) -> Spelled:
        """With every match replaced, by `html.unescape` of it if nothing is given."""
        pieces, spans, done = [], [], 0
        for found in pattern.finditer(self.text):
            new = html.unescape(found.group()) if change is None else change
            pieces += [self.text[done : found.start()], new]
            spans += self.spans[done : found.start()] + [self.span(*found.span())] * len(new)
            done = found.end()
        return Spelled("".join([*pieces, self.text[done:]]), spans + self.spans[done:])

    def lower(self) -> Spelled:
        """In lower case, which may be longer."""
        pairs = zip(self.text, self.spans, strict=True)
        return Spelled(self.text.lower(), [span for c, span in pairs for _ in c.lower()])


def place_terms(text: str, analysis: Analysis) -> Iterator[tuple[str, list[Span]]]:
    """Each term of a document, as often as it occurs, with where its words or characters are.

    Words of a tokenizer are looked for in the text in turn; those that are not there have no place.
    """
    spelled = Spelled(text, [(i, i + 1) for i in range(len(text))])
    if analysis.strip_html:
        spelled = spelled.replaced(TAG, " ").replaced(ENTITY, None)
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
    """Runs of words or characters that terms do not cross, what joins them, and whether blanks were added."""
    if analysis.analyzer == "word":
        units = [unit for unit in _placed_words(spelled, analysis) if unit[0] not in analysis.stop_set]
        yield units, " ", False
    elif analysis.analyzer == "char":
        plain = spelled.replaced(SPACES, " ")
        yield list(zip(plain.text, plain.spans, strict=True)), "", False
    else:
        for word in re.finditer(r"\S+", spelled.text):
            letters = zip(word.group(), spelled.spans[word.start() : word.end()], strict=True)
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
