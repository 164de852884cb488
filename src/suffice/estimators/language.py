"""Language models: one distribution of terms per class, asked for terms and documents."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from suffice.arrays import Array
from suffice.estimators.bayes import BayesClassifier
from suffice.factors.words.language import Language
from suffice.factors.words.scores import SolvedWords
from suffice.model.solved.sampling import generator_of
from suffice.tables.recognized import has_names, refuse_lazy
from suffice.tables.table import read_table
from suffice.tables.targets import class_index
from suffice.tables.wording import kind_of_thing, listed
from suffice.text import read_documents


class LanguageModels(BayesClassifier):
    """A model of a single column of text, with a language for each class."""

    analyzer: str

    def _language(self) -> Language:
        factor = self._solved_model().factors[0]
        if not isinstance(factor, SolvedWords):
            raise TypeError("these statistics do not come from a single column of text.")
        return factor.languages[0]

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Maps each word to its index, in the order of code points."""
        return {word: place for place, word in enumerate(self._language().terms())}

    def top_words(
        self, label: Any, n: int = 10, by: Literal["probability", "evidence"] = "probability"
    ) -> list[tuple[str, float]]:
        """The words that are most probable in a class, or that speak most for it against the other classes.

        Parameters
        ----------
        label : label
            The class.
        n : int, default=10
            How many words.
        by : {"probability", "evidence"}, default="probability"
            Sort by the probability of the word in the class, or by its evidence for the class, in nats. With
            alpha = 0 the evidence of a word that only occurs in this class is ∞; the most frequent come
            first.

        Returns
        -------
        words : list of (str, float)
            The words and their probability or evidence.
        """
        return self._language().top_words(class_index(label, self.classes_), n, by)

    def next_term(
        self, text: Any = None, *, label: Any = None, n: int | None = 10
    ) -> list[tuple[str, float]]:
        """The distribution of the next term of a text.

        Given its class, a term does not depend on those before it (bag of words): they only tell which class
        it is. So p(term | text) = Σ_k p(C_k | text)·p(term | C_k).

        Parameters
        ----------
        text : str, optional
            What has been written; without it, classes have their priors.
        label : label, optional
            The class, if it is known: then the distribution is p(term | C_k), whatever the text.
        n : int or None, default=10
            How many terms, the most probable first; None for all.

        Returns
        -------
        terms : list of (str, float)
            Terms and their probabilities. All together have the probability 1, less that of terms never seen
            if unseen="smooth".

        Examples
        --------
        >>> import suffice
        >>> model = suffice.TextClassifier(alpha=0).fit(
        ...     ["good film", "bad film", "good fun"], ["+", "-", "+"]
        ... )
        >>> model.next_term(label="+", n=3)
        [('good', 0.5), ('film', 0.25), ('fun', 0.25)]
        """
        self._require_draws("next_term")
        if text is not None and not isinstance(text, str):
            raise TypeError(f"text must be a string, got {kind_of_thing(text)}.")
        if n is not None:
            _check_number("n", n)
        p = self._term_probabilities(self._class_shares(text, label))
        words = self._language().terms()
        ranked = sorted(zip(words, p.tolist(), strict=True), key=lambda one: (-one[1], one[0]))
        return ranked[:n]

    def information(self, terms: Any, *, text: Any = None, label: Any = None) -> Any:
        """The information content −log p(term) of terms, in nats: rare terms tell more.

        Parameters
        ----------
        terms : str or array-like of str
            One term or several, as they stand in the vocabulary.
        text, label : optional
            What the probability is given, as in `next_term`.

        Returns
        -------
        nats : float or ndarray of shape (n_terms,)
            A number for a single term; divide by log 2 for bits. ∞ for a term of probability 0, NaN for one
            outside the vocabulary, unless unseen="smooth" gives it a probability.

        Examples
        --------
        >>> import suffice
        >>> model = suffice.TextClassifier(alpha=0).fit(
        ...     ["good film", "bad film", "good fun"], ["+", "-", "+"]
        ... )
        >>> model.information(["good", "fun"], label="+").round(3)  # log 2 and log 4
        array([0.693, 1.386])
        """
        self._require_draws("information")
        language, shares = self._language(), self._class_shares(text, label)
        wanted = [terms] if isinstance(terms, str) else list(terms)
        places = {word: place for place, word in enumerate(language.terms())}
        other = shares @ np.exp(language.term_scores.default) if language.smooths_unseen else np.nan
        p = np.append(self._term_probabilities(shares), other)
        with np.errstate(divide="ignore"):
            nats = -np.log(p[[places.get(term, -1) for term in wanted]])
        return float(nats[0]) if isinstance(terms, str) else nats

    def _require_draws(self, deed: str) -> None:
        """Refuse what needs a distribution of single terms."""
        self._solved_model().require_density(deed)
        if self._language().family.event == "bernoulli":
            raise ValueError(
                f"{deed} needs terms that are drawn one by one, but event='bernoulli' only says which are "
                "present; use event='multinomial'."
            )

    def _class_shares(self, text: Any, label: Any) -> Array:
        """The probability of each class: the one that is known, or given a text, or the priors."""
        if label is not None:
            known = np.zeros(len(self.classes_))
            known[class_index(label, self.classes_)] = 1.0
            return known
        return self.priors_ if text is None else self.predict_proba([text])[0]

    def _term_probabilities(self, shares: Array) -> Array:
        """p(term) of the words that count, in the order of the vocabulary, for classes with these shares."""
        language, p = self._language(), np.zeros(0)
        for k in np.flatnonzero(shares).tolist():
            own = shares[k] * language.probabilities(k)[language.in_order]
            p = own if not len(p) else p + own
        return p

    def generate(self, label: Any, n_words: int = 20, random_state: Any = None) -> str:
        """Draw words from the language model of a class.

        Parameters
        ----------
        label : label
            The class.
        n_words : int, default=20
            How many words.
        random_state : int, Generator or RandomState, optional
            The source of random numbers.

        Returns
        -------
        text : str
        """
        self._solved_model().require_density("generate")
        _check_number("n_words", n_words)
        gap = " " if self.analyzer == "word" else ""
        return gap.join(
            self._language().generate(class_index(label, self.classes_), n_words, generator_of(random_state))
        )

    def log_prob(self, documents: Any, label: Any) -> Any:
        """log p(document | class).

        Parameters
        ----------
        documents : str or array-like of str
            One document or several.
        label : label
            The class.

        Returns
        -------
        log_p : float or ndarray of shape (n_samples,)
            A number for a single string.
        """
        self._solved_model().require_density("log_prob")
        many = read_documents(single_column([documents] if isinstance(documents, str) else documents))
        log_p = self._language().log_prob(many)[:, class_index(label, self.classes_)]
        return float(log_p[0]) if isinstance(documents, str) else log_p

    def perplexity(self, documents: Any) -> Array:
        """exp(−log p(documents | class) per word) for each class.

        Parameters
        ----------
        documents : str or array-like of str
            One document or several, which are taken together.

        Returns
        -------
        perplexity : ndarray of shape (n_classes,)
            NaN if the documents hold no word that counts; ∞ if alpha = 0 rules a word out.
        """
        self._solved_model().require_density("perplexity")
        many = read_documents(single_column([documents] if isinstance(documents, str) else documents))
        language = self._language()
        x, unseen = language.read(many, "text")
        length = float(x.sum(axis=1).sum()) + (float(unseen.sum()) if language.smooths_unseen else 0.0)
        log_p = language.log_prob(many).sum(axis=0)
        with np.errstate(over="ignore"):
            return np.exp(-log_p / length) if length else np.full(len(log_p), np.nan)


def single_column(X: Any) -> Any:
    """The single column of a table; anything else is a column already."""
    refuse_lazy(X)
    if not has_names(X) or (isinstance(X, dict) and any(isinstance(column, str) for column in X.values())):
        return X
    table = read_table(X)
    if table.n_columns != 1:
        raise ValueError(
            f"the documents must be in a single column, but there are {listed(table.names)}; leave the "
            "others out (with drop= for files)."
        )
    return table.without(table.names[0])[1]


def _check_number(name: str, value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} must be a whole number ≥ 0, got {value!r}.")
