"""Why a document was classified as it was: what each of its words says, in nats."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.words.language import Language
from suffice.links import difference, log_softmax, log_sum
from suffice.tables.container import Container
from suffice.tables.targets import class_index
from suffice.tables.wording import aligned, counted, one_line, quoted
from suffice.text import Documents, count, place_terms, words_end

if TYPE_CHECKING:
    from suffice.plots.explanation import ExplanationDisplay

MOST_WORDS = 20
MOST_LETTERS = 40
"""Letters of a word in the printed table."""
MOST_CHARACTERS = 100_000
"""Characters of a document that are shaded."""
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
"""Control characters, except those that end lines and cells."""


@dataclass(frozen=True, eq=False)
class TextExplanation:
    """What the words of each document say about each class; only words that occur are kept.

    Attributes
    ----------
    language : Language
        The language models of the classes.
    documents : Documents
        The documents that are explained.
    x : sparse array of shape (n_samples, n_words)
        The (transformed) count of each word in each document.
    prior : ndarray of shape (n_classes,)
        The log prior of each class.
    total : ndarray of shape (n_samples, n_classes)
        prior + the words + the score of a document without words, which equals `predict_joint_log_proba`.
    posterior : ndarray of shape (n_samples, n_classes)
        Equal to `predict_proba`.
    classes : ndarray of shape (n_classes,)
        The class labels.
    container : Container
        The kind of frame that `to_frame` returns.
    rows : Index or None
        The index of the documents, if they came in a pandas object.

    Examples
    --------
    >>> import suffice
    >>> model = suffice.TextClassifier().fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    >>> explanation = model.explain(["a good story"])
    >>> [(word, round(nats, 2)) for word, nats in explanation.evidence(0, "+", "-")]
    [('good', 0.81)]
    """

    language: Language
    documents: Documents
    x: Any
    """The (transformed) count of each word in each document, (n, V) sparse."""
    prior: Array
    total: Array
    posterior: Array
    classes: NDArray[Any]
    container: Container
    rows: Any = None

    def __len__(self) -> int:
        return len(self.documents)

    def words(self, document: int) -> tuple[list[str], Array]:
        """The words of a document and their contributions.

        Parameters
        ----------
        document : int
            The position of the document.

        Returns
        -------
        words : list of str
        contributions : ndarray of shape (n_words, n_classes)
        """
        self._check(document)
        row = self.x[[document]].tocoo()
        language = self.language
        beyond = language.term_scores.beyond[row.col]
        beyond = beyond.toarray() if hasattr(beyond, "toarray") else beyond
        weights = beyond + language.term_scores.default
        if language.word is not None:
            weights = weights + language.word[row.col][:, np.newaxis]
        if language.scale is not None:
            weights = weights * language.scale
        gains = row.data[:, np.newaxis] * weights
        if language.orders is not None:
            orders = language.orders.beyond[row.col]
            orders = orders.toarray() if hasattr(orders, "toarray") else orders
            gains = np.where(orders + language.orders.default > 0, -np.inf, gains)
        return language.vocabulary.words_of(language.ids[row.col]), np.asarray(gains)

    def rest(self, document: int) -> Array:
        """The rest of the total, besides the prior and the words: absent and unknown words.

        Parameters
        ----------
        document : int
            The position of the document.

        Returns
        -------
        rest : ndarray of shape (n_classes,)
        """
        known = self.prior + self.words(document)[1].sum(axis=0)
        with np.errstate(invalid="ignore"):
            # What the words rule out already has nothing left to say.
            return np.where(np.isneginf(known), 0.0, self.total[document] - known)

    def evidence(self, document: int, label: Any = None, against: Any = None) -> list[tuple[str, float]]:
        """The log odds of one class against another that each word contributes, strongest first.

        Parameters
        ----------
        document : int
            The position of the document.
        label : label, optional
            A class; by default the most probable.
        against : label, optional
            The class it is compared with; by default the most probable other one.

        Returns
        -------
        evidence : list of (str, float)
            The words and their evidence, in nats.
        """
        a, b = self._pair(document, label, against)
        terms, gains = self.words(document)
        with np.errstate(invalid="ignore"):
            odds = np.nan_to_num(gains[:, a] - gains[:, b], nan=0.0, posinf=np.inf, neginf=-np.inf)
        pairs = zip(terms, odds.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: (-abs(pair[1]), pair[0]))

    def to_frame(self, label: Any = None, against: Any = None) -> Any:
        """One line per document and word, and for prior and rest, as a frame.

        Parameters
        ----------
        label : label, optional
            A class. Without it, there is one field per class, and the lines of a document add up to the joint
            scores. With it, the field `nats` is the evidence for the class, and the lines add up to the log
            odds or the log posterior.
        against : label, optional
            The class it is compared with; by default the class's own prior.

        Returns
        -------
        frame : DataFrame
            In the library of the documents. The field `document` holds the index of a pandas object, and the
            positions of other documents.
        """
        if label is None and against is not None:
            raise ValueError("against= needs a label to compare it with.")
        said = [
            self._lines(document) if label is None else self._lines_for(document, label, against)
            for document in range(len(self))
        ]
        names = self.classes.tolist() if label is None else ["nats"]
        documents = np.arange(len(said)) if self.rows is None else self.rows.to_flat_index()
        fields: dict[str, Any] = {
            "document": documents.repeat([len(words) for words, _ in said]),
            "word": [word for words, _ in said for word in words],
        }
        columns = np.concatenate([gains for _, gains in said]) if said else np.empty((0, len(names)))
        fields |= {str(name): columns[:, k] for k, name in enumerate(names)}
        return self.container.frame(fields)

    def _rescaled(self, slope: float, bias: Array, posterior: Array) -> TextExplanation:
        """The explanation of slope·score + bias, whose posteriors are given."""
        return replace(
            self,
            x=slope * self.x,
            prior=slope * self.prior + bias,
            total=slope * self.total + bias,
            posterior=posterior,
        )

    def _lines(self, document: int) -> tuple[list[str], Array]:
        """The words of a document, its prior and the rest, and what each adds to the scores, (lines, k)."""
        words, gains = self.words(document)
        return [*words, "(prior)", "(rest)"], np.vstack([gains, self.prior, self.rest(document)])

    def _lines_for(self, document: int, label: Any, against: Any) -> tuple[list[str], Array]:
        """The same lines for one class, (lines, 1); against the prior, words that say the same overlap."""
        words, gains = self._lines(document)
        a, prior = class_index(label, self.classes), len(words) - 2
        log_prior = log_softmax(self.prior[np.newaxis])[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            if against is not None:
                odds = gains[:, a] - gains[:, class_index(against, self.classes)]
            else:
                odds = gains[:, a] - log_sum(gains + log_prior)
                odds[prior] = log_prior[a]
            # What is ruled out in both says nothing about the two.
            odds = np.where(np.isnan(odds), 0.0, odds)
            if against is None:
                words = [*words, "(overlap)"]
                overlap = np.log(self.posterior[document, a]) - odds.sum()
                odds = np.append(odds, 0.0 if np.isnan(overlap) else overlap)
        return words, odds[:, np.newaxis]

    def plot(self, ax: Any = None, **options: Any) -> ExplanationDisplay:
        """Draw one document, or a summary of all.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        **options : dict
            The other options of `ExplanationDisplay.plot`.

        Returns
        -------
        display : ExplanationDisplay
        """
        from suffice.plots.explanation import ExplanationDisplay

        return ExplanationDisplay(self).plot(ax, **options)

    def describe(self, document: int = 0, label: Any = None, against: Any = None) -> str:
        """One document in words: what speaks for the class, and what against it.

        Parameters
        ----------
        document : int, default=0
            The position of the document.
        label : label, optional
            A class; by default the most probable.
        against : label, optional
            The class it is compared with; by default the most probable other one.

        Returns
        -------
        text : str
        """
        a, b = self._pair(document, label, against)
        names = self.classes.tolist()
        evidence = self.evidence(document, names[a], names[b])
        entries = evidence[:MOST_WORDS]
        if len(evidence) > MOST_WORDS:
            rest = float(sum(value for _, value in evidence[MOST_WORDS:]))
            entries.append((f"({len(evidence) - MOST_WORDS} other words)", rest))
        with np.errstate(invalid="ignore", divide="ignore"):
            prior = float(difference(self.prior[a], self.prior[b]))
            odds = float(self.total[document, a] - self.total[document, b])
            ruled_out = a != b and np.isnan(odds)
            if ruled_out:  # some more than others
                odds = float(np.subtract(*np.log(self.posterior[document, [a, b]])))
            left = odds - prior - float(sum(value for _, value in evidence))
        entries.append(("(prior)", prior))
        if np.isfinite(left) and abs(left) > 1e-9:
            entries.append(("(absent or unknown words)", left))
        if not np.isnan(odds):
            entries.append(("log odds", odds))
        head = f"document {document}: {quoted(names[a])} with probability {self.posterior[document, a]:.4f}"
        lines = aligned(
            [(one_line(word, MOST_LETTERS), f"{value:+8.3f}") for word, value in entries], indent="  "
        )
        if ruled_out:
            lines.append("  alpha = 0 rules both out; these are the odds in the limit of no smoothing")
            if np.isnan(odds):
                lines[-1] = "  alpha = 0 rules both out, but another class less so"
        return "\n".join([head, f"nats for {quoted(names[a])} against {quoted(names[b])}:", *lines])

    def html(
        self,
        document: int = 0,
        label: Any = None,
        against: Any = None,
        *,
        characters: int | None = MOST_CHARACTERS,
    ) -> str:
        """The document with its words shaded: blue speaks for the class, orange against it.

        Parameters
        ----------
        document : int, default=0
            The position of the document.
        label : label, optional
            A class; by default the most probable.
        against : label, optional
            The class it is compared with; by default the most probable other one.
        characters : int or None, default=100,000
            How many characters to show; None shows all.

        Returns
        -------
        html : str
        """
        a, b = self._pair(document, label, against)
        names = self.classes.tolist()
        text = self.documents.text(document)
        end = len(text) if characters is None else min(characters, len(text))
        said = self.pieces(document, names[a], names[b], characters=characters)
        largest = max((abs(value) for _, value in said if np.isfinite(value)), default=0.0)
        pieces = []
        for piece, value in said:
            if np.isnan(value):
                pieces.append(_escaped(piece))
                continue
            strength = 1.0 if not np.isfinite(value) else abs(value) / largest if largest else 0.0
            pieces.append(
                f'<span style="background: rgba({_tint(value > 0)}, {0.85 * strength:.2f})" '
                f'title="{value:+.3f} nats">{_escaped(piece)}</span>'
            )
        title = _escaped(
            f"{quoted(names[a])} with probability {self.posterior[document, a]:.4f}, against "
            f"{quoted(names[b])}"
        )
        cut = ""
        if end < len(text):
            cut = (
                f"<p><i>The first {end:,} of {len(text):,} characters are shown; all of them were counted. "
                "html(characters=None) shows all.</i></p>"
            )
        return (
            f'<div style="font-family: sans-serif; max-width: 45em"><p><b>{title}</b></p>'
            f'<p style="white-space: pre-wrap; line-height: 1.6">{"".join(pieces)}</p>{cut}</div>'
        )

    def pieces(
        self,
        document: int = 0,
        label: Any = None,
        against: Any = None,
        *,
        characters: int | None = MOST_CHARACTERS,
    ) -> list[tuple[str, float]]:
        """The text of a document in pieces, with what each says; NaN for what lies between the words.

        Parameters
        ----------
        document : int, default=0
            The position of the document.
        label : label, optional
            A class; by default the most probable.
        against : label, optional
            The class it is compared with; by default the most probable other one.
        characters : int or None, default=100,000
            How many characters to return; None returns all.

        Returns
        -------
        pieces : list of (str, float)
            In nats, as in `html`.
        """
        a, b = self._pair(document, label, against)
        names = self.classes.tolist()
        text = self.documents.text(document)
        end = len(text) if characters is None else min(characters, len(text))
        shares = self._shares(document, names[a], names[b], words_end(text, end, self.language.analysis))
        pieces, done = [], 0
        for (start, after), value in sorted(shares.items()):
            if np.isnan(value) or start < done:  # ruled out in both, or shaded already
                continue
            pieces += [(text[done:start], np.nan), (text[start:after], value)]
            done = after
        pieces.append((text[done:end], np.nan))
        return [(piece, value) for piece, value in pieces if piece]

    def _shares(self, document: int, label: Any, against: Any, end: int) -> dict[tuple[int, int], float]:
        """What each word, or character, up to `end` says: the words of one term share what it says."""
        language = self.language
        counts = count(
            self.documents.part(document, document + 1), language.analysis, language.vocabulary, grow=False
        )
        times = dict(zip(language.vocabulary.words_of(counts.terms), counts.counts.tolist(), strict=True))
        evidence = dict(self.evidence(document, label, against))
        shares: dict[tuple[int, int], float] = defaultdict(float)
        for term, spans in place_terms(self.documents.text(document)[:end], language.analysis):
            if term in evidence and spans:
                share = evidence[term] / len(spans) / times[term]
                for span in spans:
                    shares[span] += share
        return shares

    def _repr_html_(self) -> str:
        return self.html(0) if len(self) else "<p>no documents</p>"

    def __repr__(self) -> str:
        n_classes = counted(len(self.classes), "class")
        head = f"TextExplanation of {counted(len(self), 'document')} × {n_classes}"
        return f"{head}\n{self.describe(0)}" if len(self) else head

    def _check(self, document: int) -> None:
        if not isinstance(document, Integral) or not 0 <= document < len(self):
            explained = f"{counted(len(self), 'document')} {'was' if len(self) == 1 else 'were'} explained"
            raise IndexError(f"there is no document {document!r}; {explained}.")

    def _pair(self, document: int, label: Any, against: Any) -> tuple[int, int]:
        """The classes asked for, or the most probable and the next."""
        self._check(document)
        order = [int(k) for k in np.argsort(-self.posterior[document], kind="stable")]
        a = order[0] if label is None else class_index(label, self.classes)
        others = [k for k in order if k != a] or [a]
        return a, others[0] if against is None else class_index(against, self.classes)


def _escape(characters: str) -> str:
    """How Python writes these characters in a string."""
    return characters.encode("unicode_escape").decode()


def _escaped(text: str) -> str:
    """A text as HTML, with control characters as escapes."""
    return html.escape(CONTROL.sub(lambda found: _escape(found.group()), text))


@cache
def _tint(speaks_for: bool) -> str:
    """The red, green and blue of what speaks for the class, or against it, for CSS."""
    from suffice.plots.palette import AGAINST, FOR, rgb

    return ", ".join(str(round(255 * share)) for share in rgb(FOR if speaks_for else AGAINST).tolist())
