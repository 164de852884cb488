"""Words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from suffice.families.base import Family
from suffice.families.shares import Draws

Event = Literal["multinomial", "bernoulli", "complement"]
EVENTS: tuple[Event, ...] = ("multinomial", "bernoulli", "complement")
TERM_FREQUENCIES = ("count", "log", "binary")
LENGTHS = (None, "l2")


@dataclass(frozen=True, repr=False)
class Words(Draws):
    """p(document) = Π θ_w^x_w over the words of a language: u = x, the counts, λ_w = log θ_w.

    A document is a sequence of draws from the language of its class, so there is no n!/Πx!. The
    vocabulary grows with the data. One column of text, one language per class.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement"}, default="multinomial"
        What a document is: counts of words, the presence and absence of each word, or counts scored by
        the words of all other classes (complement naive Bayes, which is not a density).
    alpha : float, default=1.0
        Pseudo-counts of each word: (N_w + α)/(N + αV); for presence (n_w + α)/(n + 2α).
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        Words never seen in training: left out, one shared probability α/(N + α(V + 1)), or an error.
    tf : {"count", "log", "binary"}, default="count"
        How a count enters: as it is, as log(1 + count), or as 1.
    length : None or "l2", default=None
        With "l2", divide the counts of a document by their Euclidean length.
    idf : bool, default=False
        Weight each word by log(documents / documents with the word).
    weight_norm : bool, default=False
        Divide the weights of each class by the sum of their absolute values.
    min_count : int, default=1
        The fewest documents a word must occur in; a document of weight w counts as w documents.
    max_vocabulary : int or None, default=None
        The largest number of words; words in more documents are kept first.
    ngram_range, analyzer, lowercase, stop_words, strip_html, tokenizer
        How a document is split into words, as in scikit-learn's CountVectorizer.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Words
    >>> model = BayesClassifier(families={0: Words()})
    >>> model.fit([["good fun"], ["good"], ["bad"], ["bad fun"]], [1, 1, 0, 0]).predict([["good day"]])
    array([1])
    """

    event: Event = "multinomial"
    tf: Literal["count", "log", "binary"] = field(default="count", kw_only=True)
    length: Literal["l2"] | None = field(default=None, kw_only=True)
    idf: bool = field(default=False, kw_only=True)
    weight_norm: bool = field(default=False, kw_only=True)
    min_count: int = field(default=1, kw_only=True)
    max_vocabulary: int | None = field(default=None, kw_only=True)
    ngram_range: tuple[int, int] = field(default=(1, 1), kw_only=True)
    analyzer: str = field(default="word", kw_only=True)
    lowercase: bool = field(default=True, kw_only=True)
    stop_words: Any = field(default=None, kw_only=True)
    strip_html: bool = field(default=False, kw_only=True)
    tokenizer: Callable[[str], Iterable[str]] | None = field(default=None, kw_only=True)

    solve_settings: ClassVar[frozenset[str]] = Family.solve_settings | {
        "event",
        "idf",
        "weight_norm",
        "min_count",
        "max_vocabulary",
    }
    has_base_measure: ClassVar[bool] = False
    discrete: ClassVar[bool] = True
    joint: ClassVar[bool] = False
    factor: ClassVar[str] = "words"
    support_name: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        for name, choices in (("event", EVENTS), ("tf", TERM_FREQUENCIES), ("length", LENGTHS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"Words: {name} must be one of {choices}, got {getattr(self, name)!r}.")
        for name in ("idf", "weight_norm"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"Words: {name} must be True or False, got {getattr(self, name)!r}.")
        self._check_size("min_count", self.min_count)
        if self.max_vocabulary is not None:
            self._check_size("max_vocabulary", self.max_vocabulary)
        if (self.event == "complement" or self.weight_norm) and self.alpha == 0:
            raise ValueError(
                "Words: event='complement' and weight_norm need alpha > 0; use a small value such as 1e-10."
            )
        if self.event == "bernoulli" and (self.idf or self.weight_norm):
            raise ValueError(
                "Words: idf and weight_norm apply to counts, which event='bernoulli' does not use."
            )
        if isinstance(self.stop_words, Iterable) and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words), key=str)))
        if isinstance(self.ngram_range, list):
            object.__setattr__(self, "ngram_range", tuple(self.ngram_range))

    @staticmethod
    def _check_size(name: str, value: Any) -> None:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise ValueError(f"Words: {name} must be a whole number ≥ 1, got {value!r}.")
