r"""Tables of characters: their lower case, and whether they are part of a word or white space.

The tables are made from Python's own `str.lower`, `\w` and `\s`, so they agree with the Python that runs.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

ASCII = 0x80
UNICODE = 0x110000
SURROGATES = slice(0xD800, 0xE000)
NEEDS_CONTEXT = "İΣ"
"""Characters that `str.lower` turns into two, or into one that depends on its neighbours."""

WORD = 1 << 30
SPACE = 1 << 29
CODE_POINT = (1 << 21) - 1
OUTSIDE, BEYOND_ASCII = 0, 0xFF
"""A byte that is not part of a word, and one that is part of a character beyond ASCII."""


@lru_cache
def code_point_table(lowercase: bool, size: int) -> NDArray[np.uint32]:
    """For the first `size` code points: the (lower-cased) code point, and the flags `WORD` and `SPACE`."""
    points = np.arange(size, dtype="<u4")
    points[SURROGATES] = 0
    if lowercase and size > ASCII:
        points[[ord(character) for character in NEEDS_CONTEXT]] = 0
    text = points.tobytes().decode("utf-32-le")
    if lowercase:
        text = text.lower()
    table = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint32)
    for pattern, flag in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, text):
            table[run.start() : run.end()] |= flag
    table.flags.writeable = False
    return table


@lru_cache
def letter_table(lowercase: bool) -> NDArray[np.uint8]:
    """For each byte of text: the (lower-cased) letter of a word, `OUTSIDE` or `BEYOND_ASCII`."""
    points = code_point_table(lowercase, ASCII)
    letters = np.full(256, BEYOND_ASCII, np.uint8)
    letters[:ASCII] = np.where(points & WORD, points & 0x7F, OUTSIDE)
    letters.flags.writeable = False
    return letters
