"""HTML: which parts of a document are markup. `compiled/markup.py` finds the same with numba.

A comment, script or style that is never closed runs to the end of the document, as in a browser. A tag that
is never closed is text, and so is everything after it. A ">" in a quoted value does not close a tag, unless
the quote is never closed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

Span = tuple[int, int]

SPACE = r"[\t\n\f\r ]"
REST_OF_TAG = rf"""(?>[^>=]*+(?:={SPACE}*+(?:"[^"]*+"|'[^']*+')?+[^>=]*+)*+>)"""
MARKUP = re.compile(
    rf"<!--(?:-?>|.*?(?:-->|\Z))"
    rf"|<(script|style)(?={SPACE}|[/>]){REST_OF_TAG}.*?(?=</\1(?:{SPACE}|[/>])|\Z)"
    rf"|</?[a-z]{REST_OF_TAG}"
    rf"|<(?:[!?]|/(?![a-z]))[^>]*+>"
    rf"|(?P<never_closed><[/!?a-z].*)",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""The entities that `html.unescape` resolves."""
BEYOND_UNICODE = re.compile(r"&#[0-9]{1000,}+;?")
"""Numbers of more digits than Python reads."""


def markup(text: str) -> Iterator[Span]:
    """Where the comments and tags of a text are, in order."""
    for found in MARKUP.finditer(text):
        if found["never_closed"] is not None:
            return
        yield found.span()


def without_markup(text: str) -> str:
    """A text with a space in place of each piece of markup."""
    pieces, done = [], 0
    for start, end in markup(text):
        pieces.append(text[done:start])
        done = end
    return " ".join([*pieces, text[done:]])


def unescaped(text: str) -> str:
    """A text with its entities resolved."""
    return html.unescape(BEYOND_UNICODE.sub("\N{REPLACEMENT CHARACTER}", text))
