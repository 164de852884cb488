"""The markup of `text/markup.py`, found in UTF-8 bytes and compiled by numba."""

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import kernel
from suffice.text.documents import Bytes, Offsets

BLANK = ord(" ")
OPEN, CLOSE, SLASH, EQUALS, BANG, QUESTION = map(ord, "<>/=!?")
QUOTES = (ord('"'), ord("'"))
SPACES = (9, 10, 12, 13, 32)
TO_LOWER = 0x20
A, Z = ord("a"), ord("z")
COMMENT = np.frombuffer(b"!--", np.uint8)
COMMENT_END = np.frombuffer(b"-->", np.uint8)
SCRIPT, STYLE = np.frombuffer(b"script", np.uint8), np.frombuffer(b"style", np.uint8)
NO_MARKUP, NEVER_CLOSED = -1, -2


@kernel
def blank_markup(text: Bytes, offsets: Offsets) -> None:
    """Overwrite the markup of each document with blanks: no analyzer sees how many there are."""
    for d in range(len(offsets) - 1):
        i, end = offsets[d], offsets[d + 1]
        while i < end:
            after = i + 1
            if text[i] == OPEN:
                found = end_of_markup(text, i, end)
                if found == NEVER_CLOSED:
                    break
                if found != NO_MARKUP:
                    after = found
                    text[i:after] = BLANK
            i = after


@kernel
def end_of_markup(text: Bytes, start: int, end: int) -> int:
    """Where the markup that the "<" at `start` opens ends; `NO_MARKUP` if none, or `NEVER_CLOSED`."""
    i = start + 1
    if starts_with(text, i, end, COMMENT):
        return end_of_comment(text, i + 1, end)
    is_end_tag = i < end and text[i] == SLASH
    name = i + 1 if is_end_tag else i
    if name < end and A <= text[name] | TO_LOWER <= Z:
        after = end_of_tag(text, name, end)
        if after != NEVER_CLOSED and not is_end_tag:
            if is_name(text, name, end, SCRIPT):
                return end_of_element(text, after, end, SCRIPT)
            if is_name(text, name, end, STYLE):
                return end_of_element(text, after, end, STYLE)
        return after
    if is_end_tag or (i < end and (text[i] == BANG or text[i] == QUESTION)):
        while i < end:
            i += 1
            if text[i - 1] == CLOSE:
                return i
        return NEVER_CLOSED
    return NO_MARKUP


@kernel
def starts_with(text: Bytes, i: int, end: int, prefix: Bytes) -> bool:
    """Whether `text[i:end]` begins with some bytes, of which letters are in lower case."""
    if end - i < len(prefix):
        return False
    for k in range(len(prefix)):
        byte = text[i + k]
        if byte != prefix[k] and (byte | TO_LOWER != prefix[k] or not A <= prefix[k] <= Z):
            return False
    return True


@kernel
def is_name(text: Bytes, i: int, end: int, name: Bytes) -> bool:
    """Whether the name of a tag that begins at i is this one."""
    after = i + len(name)
    if not starts_with(text, i, end, name) or after >= end:
        return False
    return text[after] == SLASH or text[after] == CLOSE or text[after] in SPACES


@kernel
def end_of_comment(text: Bytes, i: int, end: int) -> int:
    """Where the comment ends whose first "-" is at i: the text ends it, if nothing else."""
    while i < end and not starts_with(text, i, end, COMMENT_END):
        i += 1
    return min(i + len(COMMENT_END), end)


@kernel
def end_of_tag(text: Bytes, i: int, end: int) -> int:
    """Where the tag ends that i is in, or `NEVER_CLOSED`."""
    while i < end:
        byte = text[i]
        i += 1
        if byte == CLOSE:
            return i
        if byte == EQUALS:
            while i < end and text[i] in SPACES:
                i += 1
            if i < end and text[i] in QUOTES:
                quote = i + 1
                while quote < end and text[quote] != text[i]:
                    quote += 1
                if quote < end:
                    i = quote + 1
    return NEVER_CLOSED


@kernel
def end_of_element(text: Bytes, i: int, end: int, name: Bytes) -> int:
    """Where the end tag of this name begins, or the end of the text."""
    while i < end and not (
        text[i] == OPEN and i + 1 < end and text[i + 1] == SLASH and is_name(text, i + 2, end, name)
    ):
        i += 1
    return i
