"""TextClassifier: one language model per class, from raw strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.estimators.bayes import Check
from suffice.estimators.language import LanguageModels, single_column
from suffice.estimators.settings import with_kept_settings
from suffice.factors.words.totals import WordTotals
from suffice.families import Words
from suffice.families.base import Unseen
from suffice.families.words import Event
from suffice.links import softmax
from suffice.model.columns.chosen_families import Families
from suffice.model.explaining.text_explanation import TextExplanation
from suffice.model.priors import Priors
from suffice.model.solved.sampling import draw_rows
from suffice.model.statistics import Statistics
from suffice.tables.container import LIST, Container
from suffice.tables.table import Table
from suffice.tables.targets import read_weights
from suffice.tables.text_table import TextTable
from suffice.text import read_documents

MOST_WEIGHT = 1e100


class TextClassifier(LanguageModels):
    """Classify documents with one language model per class: naive Bayes from raw strings.

    A document is a string; None is a missing document, which gets the prior. Fitting counts words by class,
    so documents can come in any batches, models can be merged, and documents forgotten, whatever words they
    contain.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement"}, default="multinomial"
        Counts of words, presence and absence of words, or counts scored by all other classes (complement
        naive Bayes, which ignores the priors, as published).
    alpha : float, default=1
        Pseudo-count of each word.
    ngram_range : (int, int), default=(1, 1)
        The fewest and the most words in a term.
    analyzer, lowercase, stop_words, strip_html, tokenizer
        How a document is split into terms, as in scikit-learn's CountVectorizer.
    tf, length, idf, weight_norm
        The transforms of Rennie et al. (2003).
    min_count : int, default=1
        The number of documents a word must occur in; a document of weight w counts as w documents.
    max_vocabulary : int, optional
        The largest number of words; those in most documents are kept.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What to do with words that were not seen in training.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    vocabulary_ : dict
        Maps each word to its index, in the order of code points.

    Examples
    --------
    >>> import suffice
    >>> model = suffice.TextClassifier().fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    >>> model.predict(["such a good story"])
    array(['+'], dtype=object)
    """

    reads_documents: ClassVar[bool] = True

    def __init__(
        self,
        event: Event = "multinomial",
        *,
        alpha: float = 1.0,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str = "word",
        lowercase: bool = True,
        stop_words: Any = None,
        strip_html: bool = False,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        tf: Literal["count", "log", "binary"] = "count",
        length: Literal["l2"] | None = None,
        idf: bool = False,
        weight_norm: bool = False,
        min_count: int = 1,
        max_vocabulary: int | None = None,
        unseen: Unseen = "ignore",
        priors: Priors = None,
    ) -> None:
        self.event = event
        self.alpha = alpha
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.strip_html = strip_html
        self.tokenizer = tokenizer
        self.tf = tf
        self.length = length
        self.idf = idf
        self.weight_norm = weight_norm
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.unseen = unseen
        self.priors = priors

    def _chosen_families(self) -> Families:
        """One language per class."""
        return Words(**self._settings())

    @with_kept_settings
    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name != "priors"}

    def _learn(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, afresh: bool, check: Check | None = None
    ) -> None:
        if not afresh:
            self._follow_settings()
        if sample_weight is not None:
            _refuse_huge(sample_weight)
        super()._learn(X, y, sample_weight, afresh=afresh, check=check)

    def _replace(self, mine: Statistics, theirs: Statistics, sign: int, deed: str) -> None:
        if self._follow_settings():
            mine = self.statistics_
        former = self._learnt.accumulator.totals
        super()._replace(mine, theirs, sign, deed)
        for totals, before in zip(self._learnt.accumulator.totals, former, strict=True):
            if isinstance(totals, WordTotals) and isinstance(before, WordTotals):
                totals.replace(before)

    def _follow_settings(self) -> bool:
        """Solve with the current settings, and say whether they changed; settings of counting cannot."""
        self._keep_settings(afresh=False)
        family, held = Words(**self._settings()), self._learnt.accumulator.totals[0].family
        if family == held:
            return False
        was = held.settings()
        for name, value in family.settings().items():
            if name not in family.solve_settings and value != was[name]:
                raise ValueError(
                    f"{name} was {was[name]!r} when the documents were counted, but is {value!r} now; "
                    f"set it back, or fit again."
                )
        self._learn_statistics(self.statistics_, afresh=False)
        return True

    def _read(self, X: Any, *, reset: bool) -> Table:
        column = single_column(X)
        table = TextTable(read_documents(column), Container.of_documents(column))
        if reset and table.n_rows == 0:
            raise ValueError("there are no documents to learn from.")
        return table

    def explain(self, X: Any) -> TextExplanation:  # type: ignore[override]
        """Split the score of each class into what each word of each document contributes.

        Parameters
        ----------
        X : str or array-like of str of shape (n_samples,)
            The documents; None is a missing document.

        Returns
        -------
        explanation : TextExplanation
        """
        solution, language = self._solved_model(), self._language()
        column = single_column([X] if isinstance(X, str) else X)
        documents = read_documents(column)
        scores = solution.scores(TextTable(documents), base=True)
        container = Container.of_documents(column)
        return TextExplanation(
            language=language,
            documents=documents,
            x=language.read(documents, "text")[0],
            prior=solution.offset,
            total=scores.joint(),
            posterior=softmax(scores.comparable()),
            classes=solution.classes,
            container=container,
            rows=column.index if container.library == "pandas" else None,
        )

    def sample(
        self,
        n_samples: int | None = None,
        random_state: Any = None,
        *,
        labels: Any = None,
        missing: bool = False,
    ) -> tuple[Any, NDArray[Any]]:
        """Draw documents and their labels from the model.

        Parameters
        ----------
        n_samples : int, optional
            How many documents; by default 1, or one for each label.
        random_state : int, Generator or RandomState, optional
            The source of random numbers.
        labels : label or array-like of labels, optional
            One class for all documents, or one for each; by default they are drawn from the priors.
        missing : bool, default=False
            Whether documents are missing as often as they were in training.

        Returns
        -------
        X : list, array or Series of str
            In the kind of container that the model was fitted to.
        y : ndarray of shape (n_samples,)
        """
        solution = self._solved_model()
        codes, columns = draw_rows(solution, n_samples, random_state, labels, missing=missing)
        return (self._learnt.container or LIST).documents(columns), solution.classes[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _refuse_huge(sample_weight: ArrayLike) -> None:
    """Raise for weights whose sums could overflow."""
    weights = np.atleast_1d(read_weights(sample_weight))
    if weights.max(initial=0.0) > MOST_WEIGHT:
        row = int(np.argmax(weights))
        raise ValueError(
            f"sample_weight is {weights[row]:g} at document {row}; sums of weights beyond {MOST_WEIGHT:g} "
            "would overflow. Divide all weights by the largest."
        )
