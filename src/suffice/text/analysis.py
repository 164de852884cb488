"""How a document is split into terms: the settings of scikit-learn's CountVectorizer, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any

ANALYZERS = ("word", "char_wb", "char")
LONGEST_TERM = 100
"""The most words or characters in a term: a document has as many terms of each length as it has words."""


@dataclass(frozen=True)
class Analysis:
    """How a document is split into terms.

    Parameters
    ----------
    analyzer : {"word", "char_wb", "char"}
        Whether terms are n-grams of words, of characters within words, or of characters.
    ngram_range : (int, int)
        The smallest and the largest number of words or characters in a term.
    lowercase : bool
        Whether to convert documents with `str.lower` first.
    stop_words : "english", collection of str or None
        Words to remove before n-grams are made.
    strip_html : bool
        Whether to replace tags with spaces and to resolve entities like ``&amp;``, before anything else.
    tokenizer : callable or None
        Takes a document and returns its words; None finds runs of two or more letters, digits
        and underscores.
    """

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = None
    strip_html: bool = False
    tokenizer: Callable[[str], Iterable[str]] | None = None

    def __post_init__(self) -> None:
        if self.analyzer not in ANALYZERS:
            raise ValueError(
                f"analyzer must be one of {', '.join(map(repr, ANALYZERS))}, not {self.analyzer!r}"
            )
        for name in ("lowercase", "strip_html"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        object.__setattr__(self, "ngram_range", _checked_range(self.ngram_range))
        object.__setattr__(self, "stop_words", _checked_stop_words(self.stop_words))
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise TypeError(f"tokenizer must be callable or None, not {self.tokenizer!r}")
        for name in ("stop_words", "tokenizer"):
            if self.analyzer != "word" and getattr(self, name) is not None:
                raise ValueError(f"{name} needs analyzer='word'; leave it out with {self.analyzer!r}")

    @property
    def stop_set(self) -> frozenset[str]:
        """The words to remove."""
        return _stop_set(self.stop_words)


def _checked_range(given: Any) -> tuple[int, int]:
    """Two whole numbers, 1 ≤ a ≤ b, neither of them large."""
    try:
        fewest, most = map(index, given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"ngram_range must be two integers, such as (1, 2), not {given!r}") from error
    if not 1 <= fewest <= most <= LONGEST_TERM:
        raise ValueError(f"ngram_range must be (a, b) with 1 ≤ a ≤ b ≤ {LONGEST_TERM}, not {given!r}")
    return fewest, most


def _checked_stop_words(given: Any) -> str | tuple[str, ...] | None:
    """None, "english", or the words in order, each once."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "english":
            raise ValueError(f"stop_words must be 'english', a collection of words or None, not {given!r}")
        return given
    if not isinstance(given, Iterable):
        raise TypeError(f"stop_words must be 'english', a collection of words or None, not {given!r}")
    words = tuple(given)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"stop_words must be strings, but {word!r} is of type {type(word).__name__}")
    return tuple(sorted(set(words)))


@lru_cache
def _stop_set(stop_words: str | tuple[str, ...] | None) -> frozenset[str]:
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(stop_words or ())
