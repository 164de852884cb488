"""Solved columns of text: the scores of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.factors.base import Separation, SolvedFactor, divergences
from suffice.factors.blocks import dense
from suffice.factors.natural import NaturalForm, ruled_out
from suffice.factors.scores import Scores
from suffice.factors.sparse_sums import sum_of
from suffice.factors.words.language import Language
from suffice.factors.words.totals import TextBlock
from suffice.families import Bernoulli, Words
from suffice.kernels.cells import class_blocks
from suffice.tables.wording import one_line


class SolvedWords(SolvedFactor):
    """One `Language` for each column of text.

    With a power above 0, the log density of a document of n words is divided by n^power: words repeat each
    other, so n of them say as much as fewer would. Then it ranks the classes and is no density.
    """

    family: Words

    def __init__(self, family: Words, languages: list[Language], power: float = 0.0) -> None:
        self.family = family
        self.languages = languages
        self.power = power
        self.regularized = []
        self.ignores_priors = family.event == "complement"
        self.is_given_length = family.event != "bernoulli"
        self.has_density = family.event != "complement" and not family.weight_norm and not power
        free = 0 if family.event == "bernoulli" else 1
        self.n_parameters = sum(
            len(language.weight) * max(language.n_words - free, 0) for language in languages
        )

    @property
    def log_likelihood(self) -> float:
        value = 0.0
        for language in self.languages:
            entries, scores = language.entries, language.term_scores
            counts = entries.present if language.family.event == "bernoulli" else entries.total
            value += float(language.weight @ scores.baseline) + sum_of(counts * scores.of_entries(entries))
        return value

    def tempered(self, power: float) -> SolvedWords:
        """The same, with log densities divided by a power of the number of words."""
        return SolvedWords(self.family, self.languages, power)

    def _scored(
        self, block: list[TextBlock], labels: list[str]
    ) -> Iterator[tuple[slice, int, Array, Any, Array]]:
        for j, (language, text, label) in enumerate(zip(self.languages, block, labels, strict=True)):
            for part in text.parts():
                documents = text.documents.part(part.start, part.stop)
                for rows, finite, order, lengths in language.scores(documents, label):
                    yield slice(part.start + rows.start, part.start + rows.stop), j, finite, order, lengths

    def add_scores(self, block: list[TextBlock], labels: list[str], scores: Scores, *, base: bool) -> None:
        for rows, _, finite, order, lengths in self._scored(block, labels):
            scores.finite[rows] += finite if not self.power else _divided(finite, lengths, self.power)
            if order is not None:
                scores.add_orders(rows, order)

    def contributions(self, block: list[TextBlock], labels: list[str], *, base: bool) -> Array:
        return np.asarray(self.contributions_by(block, labels, [self.power])[0])

    def contributions_by(self, block: list[TextBlock], labels: list[str], powers: Sequence[float]) -> Array:
        """The contributions under each of several powers, (powers, n, d, k)."""
        shape = len(powers), len(block[0].documents), len(block), len(self.languages[0].weight)
        result = np.zeros(shape)
        for rows, j, finite, order, lengths in self._scored(block, labels):
            said = finite if order is None else np.where(order > 0, -np.inf, finite)
            for i, power in enumerate(powers):
                result[i, rows, j] = said if not power else _divided(said, lengths, power)
        return result

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        named = enumerate(zip(self.languages, names, strict=True))
        return [_natural_form(j, language, name) for j, (language, name) in named]

    def observed(
        self, block: list[TextBlock], labels: list[str]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        seen = np.ones((len(block[0].documents), len(block)), dtype=np.bool_)
        for j, text in enumerate(block):
            if text.documents.missing is not None:
                seen[:, j] = ~text.documents.missing
        return seen, np.zeros_like(seen)

    def take_columns(self, index: Codes) -> SolvedFactor:
        return SolvedWords(self.family, [self.languages[j] for j in index.tolist()], self.power)

    def log_power_sums(self, powers: Array) -> Array:
        """Of the presence of each word; counts of words are given their number."""
        result = np.empty((len(powers), len(self.languages), len(self.languages[0].weight)))
        for j, language in enumerate(self.languages):
            for k in range(result.shape[2]):
                p = language.probabilities(k)
                result[:, j, k] = [np.sum(np.log(p**a + (1.0 - p) ** a)) for a in powers]
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        columns = []
        for language in self.languages:
            texts = np.empty(len(classes), dtype=object)
            for k, rows in class_blocks(classes, len(language.weight)):
                texts[rows] = language.sample(k, len(texts[rows]), rng)
            columns.append(texts)
        return columns

    def separation(self) -> Separation:
        """Of documents of the mean length: of the true class, or between both for the symmetric distance."""
        pairs = [self._divergences(language) for language in self.languages]
        return Separation.of_independent(np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]))

    def _divergences(self, language: Language) -> tuple[Array, Array]:
        n_classes = len(language.weight)
        if language.n_words == 0:
            return np.zeros((n_classes, n_classes)), np.zeros((n_classes, n_classes))
        theta = np.stack([language.probabilities(k) for k in range(n_classes)], axis=1)[language.in_order]
        with np.errstate(divide="ignore", invalid="ignore"):
            if language.family.event == "bernoulli":
                kl, distance = divergences(Bernoulli(), np.log(theta / (1.0 - theta)).T[np.newaxis])
                return np.nan_to_num(kl, posinf=np.inf).sum(axis=-1), distance.sum(axis=-1)
            kl, distance = divergences(self.family, np.log(theta))
        length = language.mean_length()
        return _times(kl, length[:, np.newaxis]), _times(distance, 0.5 * (length[:, np.newaxis] + length))

    def conventional(self) -> list[dict[str, Any]]:
        return [
            {
                "words": np.bincount(language.entries.classes, minlength=len(language.weight)),
                "mean_length": language.mean_length(),
            }
            for language in self.languages
        ]


def _divided(said: Array, lengths: Array, power: float) -> Array:
    """What documents say, divided by a power of their numbers of words."""
    return np.asarray(said / np.maximum(lengths, 1.0)[:, np.newaxis] ** power)


def _natural_form(j: int, language: Language, name: str) -> NaturalForm:
    """λ of every word in the order of the vocabulary; u(x) is what each is worth in a document, sparse."""
    if language.orders is not None:
        raise ruled_out(name, "a class never has some word, or always")
    scores, order = language.term_scores, language.in_order
    natural = scores.default[:, np.newaxis] + dense(scores.beyond).T[:, order]
    words = [one_line(word) for word in language.terms()]
    if language.smooths_unseen:
        natural, words = np.column_stack([natural, scores.default]), [*words, "any other word"]

    def u(block: list[TextBlock]) -> Any:
        documents = block[j].documents
        x, unseen = language.read(documents, name)
        x = sparse.csr_array(x)[:, order]
        if language.smooths_unseen:
            x = sparse.hstack([x, unseen[:, np.newaxis]], format="csr")
        if documents.missing is None or not documents.missing.any():
            return x
        # One NaN makes the score of a missing document NaN, and leaves the rest sparse.
        gone = np.flatnonzero(documents.missing)
        nothing = (np.full(len(gone), np.nan), (gone, np.zeros(len(gone), dtype=np.intp)))
        return sparse.csr_array(x + sparse.csr_array(nothing, shape=x.shape))

    return NaturalForm(
        columns=(j,),
        statistics=tuple(words),
        natural=natural,
        log_g=scores.baseline,
        shared=np.zeros(len(words), dtype=np.bool_),
        u=u,
        origin=np.zeros(1),
    )


def _times(each: Array, length: Array) -> Array:
    """The product with a length; 0 words contribute 0, even where each contributes ∞."""
    length = np.broadcast_to(length, each.shape)
    return np.multiply(each, length, out=np.zeros_like(each), where=length > 0)
