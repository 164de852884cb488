"""A fitted model of weighed evidence, and what is read off it: predictions, explanations, reports."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, read_only
from suffice.estimators.base import sum_of_own
from suffice.estimators.bayes import BayesClassifier
from suffice.estimators.evidence.learning import Learnt
from suffice.estimators.evidence.pieces import Piece, Pieces
from suffice.estimators.evidence.report import WeighedEvidence
from suffice.estimators.evidence.sums import PieceSums, SolvedPieces
from suffice.estimators.evidence.weighed import WeighedModel
from suffice.estimators.generative import in_columns_of_text
from suffice.estimators.scored import Scored
from suffice.estimators.settings import with_kept_settings
from suffice.export.expressions import Gaps
from suffice.export.scoring import Scoring
from suffice.factors.words.scores import SolvedWords
from suffice.families import Words
from suffice.model.columns.chosen_families import AllFamilies
from suffice.model.columns.schema import Schema
from suffice.model.explaining.column_evidence import ColumnEvidence
from suffice.model.explaining.explanation import Explanation
from suffice.model.priors import Priors, PriorShift
from suffice.model.statistics import Statistics
from suffice.tables.container import PLAIN, Container
from suffice.tables.estimator_input import read_more_features
from suffice.tables.table import Table
from suffice.tables.targets import class_index, codes_of_rows, labelled, read_labels
from suffice.tables.text_table import is_list_of_documents
from suffice.tables.wording import listed

TEXT = "text"
"""The name of the column that a list of documents of one family is."""
OF_DOCUMENTS = {
    "words": Words(),
    "presence of words": Words("bernoulli"),
    "pairs of words": Words(ngram_range=(2, 2), max_vocabulary=1 << 18),
}
"""What a list of documents says: each kind of evidence has a weight. There are very many rare pairs."""


@dataclass
class FittedEvidence:
    """The contents of a fitted model: sums, weights, and the parameters once they are needed."""

    sums: PieceSums
    learnt: Learnt
    classes: NDArray[Any]
    """The classes that the weights were learnt for."""
    container: Container | None = None
    partly: bool = False
    """Whether some pieces were summed in a part of the rows only, as in a merged model of other pieces."""
    solution: WeighedModel | None = None
    shift: PriorShift | None = None


def _of_a_density(use: str) -> property:
    """What only a density has: for `hasattr` it is not there, and who asks is told where it is."""

    def absent(_: WeighsEvidence) -> NoReturn:
        raise AttributeError(
            f"weighed evidence only ranks the classes and has no density; use model.generative_.{use}, which "
            "is of the densities without weights."
        )

    return property(absent, doc=f"Not there: weighed evidence has no density; `generative_.{use}` is of one.")


class WeighsEvidence(Scored):
    """A model that holds sums and weights, and is solved for its parameters when they are first needed."""

    sample = _of_a_density("sample(...)")
    novelty = _of_a_density("novelty(X)")
    score_samples = _of_a_density("score_samples(X)")
    predict_joint_log_proba = _of_a_density("predict_joint_log_proba(X)")
    log_likelihood_ = _of_a_density("log_likelihood_")
    parameters_ = _of_a_density("parameters_")

    _scores_densities = False
    _learnt: FittedEvidence
    priors: Priors

    def _read(self, X: Any, *, reset: bool) -> Table:
        self._require_fitted()
        schema = self._learnt.sums.pieces.schema
        X, _ = documents_as_table(X, schema)
        return read_more_features(self, X, schema.names if schema.named else None)

    def _solved_model(self) -> WeighedModel:
        """The solved model; it is solved at first use after a change."""
        self._require_fitted()
        solution = self._learnt.solution
        if solution is None:
            with self._lock():
                solution = self._learnt.solution or self._solution()
                self._learnt.solution = solution
        return solution

    @with_kept_settings
    def _solution(self) -> WeighedModel:
        learnt = self._learnt
        sums = learnt.sums.times(1.0 / learnt.sums.too_heavy)
        solved = SolvedPieces.of(sums.pieces, sums.solvable())
        weights = learnt.learnt.weights.for_classes(learnt.classes, solved.classes)
        model = WeighedModel(solved, weights)
        return model if self.priors is None else model.with_priors(self.priors)

    def log_likelihood(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Σ w·log p(C_y | x) of any rows whose classes are known: of their labels, not of what they hold.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        log_likelihood : float
            −∞ if the prior of some row's class is 0.
        """
        X, y = labelled(X, y)
        log_p = self.predict_log_proba(X)
        codes = codes_of_rows(read_labels(y), self.classes_, len(log_p))
        return sum_of_own(log_p, codes, sample_weight)

    @property
    def feature_importances_(self) -> NoReturn:
        """Not there: several pieces of evidence read a column; `weights_` has the nats that each adds."""
        raise AttributeError(
            "weighed evidence has no feature_importances_, since several pieces read a column, and some read "
            "many; weights_ has the nats that each piece adds to held-out rows, and evidence(X, y) those of "
            "each column by itself."
        )

    @property
    def natural_parameters_(self) -> NoReturn:
        """Not there: what a piece says is bounded, so its scores are not those of an exponential family."""
        raise self._not_linear("natural_parameters_")

    @property
    def linear_form(self) -> NoReturn:
        """Not there: what a piece says is bounded, so scores are not linear in u(x)."""
        raise self._not_linear("linear_form")

    @property
    def boundary(self) -> NoReturn:
        """Not there: what a piece says is bounded, so a boundary is no surface of a simple form."""
        raise self._not_linear("boundary")

    def _not_linear(self, name: str) -> AttributeError:
        return AttributeError(
            f"weighed evidence has no {name}: what a piece says is bounded, so scores are not linear in "
            f"u(x); generative_.{name} is that of the densities without weights and bounds."
        )

    def _criterion_terms(self) -> NoReturn:
        raise AttributeError(
            "weighed evidence has no aic_ or bic_: its weights maximise the likelihood of held-out rows, not "
            "that of the training rows; compare log_likelihood(X, y) on new rows, or see generative_.aic_ "
            "for the densities without weights."
        )

    def explain(self, X: Any) -> Explanation:
        """Split the score of each class into what the cells add, weighed.

        What two columns say together is shared evenly between them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        explanation : Explanation
            Contributions in nats, by row, column and class; with `prior`, which holds the biases too, they
            add up to the scores that posteriors compare.
        """
        return self._solved_model().explain(self._read(X, reset=False), base=False)

    def evidence(self, X: Any = None, y: Any = None) -> ColumnEvidence:
        """How well each column, by itself and without its weight, tells the classes apart.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows that the model was not fitted to; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it.

        Returns
        -------
        evidence : ColumnEvidence
        """
        return self._product(self.schema_, self.statistics_).evidence(X, y)

    def top_words(
        self,
        label: Any,
        n: int = 10,
        by: Literal["probability", "evidence"] = "probability",
        *,
        column: Hashable = None,
    ) -> list[tuple[str, float]]:
        """The words that are most probable in a class, or that speak most for it against the other classes.

        Parameters
        ----------
        label : label
            The class.
        n : int, default=10
            How many words.
        by : {"probability", "evidence"}, default="probability"
            Sort by the probability of the word in the class, or by its evidence for the class, in nats,
            without the weight of the column.
        column : str or int, optional
            A column of text; the first one by default.

        Returns
        -------
        words : list of (str, float)
            The words and their probability or evidence.

        Examples
        --------
        >>> import suffice
        >>> model = suffice.EvidenceClassifier().fit(["good film", "bad film"] * 15, [1, 0] * 15)
        >>> [word for word, _ in model.top_words(1, 1, by="evidence", column="pairs of words")]
        ['good film']
        """
        solved = self._solved_model()
        names = solved.schema.names
        languages = {
            names[j]: language
            for at, factor in zip(solved.schema.factors, solved.solved.base.factors, strict=True)
            if isinstance(factor, SolvedWords)
            for j, language in zip(at.columns.tolist(), factor.languages, strict=True)
        }
        if not languages:
            raise TypeError("this model has no column of text, so it knows no words.")
        name = next(iter(languages)) if column is None else column
        if name not in languages:
            raise ValueError(f"column must be one of {listed(list(languages))}, got {column!r}.")
        return languages[name].top_words(class_index(label, solved.classes), n, by)

    def _shapes(self, X: Any) -> Array:
        """What each cell adds to the scores whatever the other columns hold, for pictures of columns."""
        return self._solved_model().shapes(self._read(X, reset=False))

    def _scoring(self, gaps: Gaps) -> Scoring:
        return self._solved_model().scoring(self._learnt.container, gaps)

    @property
    def bias_(self) -> Array:
        """b_k, beside the log priors, in the order of `classes_`."""
        return read_only(self._solved_model().bias)

    @property
    def pieces_(self) -> Pieces:
        """What is weighed."""
        self._require_fitted()
        return self._learnt.sums.pieces

    @property
    def weights_(self) -> WeighedEvidence:
        """Every piece of evidence with its weight, and the nats that it adds to held-out rows."""
        self._require_fitted()
        pieces, learnt = self.pieces_, self._learnt.learnt
        names = [str(name) for name in pieces.schema.names]
        cells = [Piece("cells", names[one.column], one.columns) for one in pieces.cells]
        cells += [Piece("cells", names[one.column], (one.column,)) for one in learnt.weights.words]
        weights = np.concatenate([learnt.weights.pieces, np.full(len(cells), np.nan)])
        nats = learnt.nats if len(learnt.nats) else np.full(len(weights), np.nan)
        kept = (weights != 0) & ((np.nan_to_num(nats) != 0) | ~np.isnan(weights))
        shown = [piece for piece, one in zip((*pieces.listed, *cells), kept, strict=True) if one]
        return WeighedEvidence(
            tuple(shown),
            weights[kept],
            nats[kept],
            tuple(learnt.levels),
            self._learnt.container or PLAIN,
            len(self._learnt.classes),
        )

    @property
    def schema_(self) -> Schema:
        """The family of each column and why it was chosen."""
        return self.pieces_.schema

    @property
    def statistics_(self) -> Statistics:
        """A copy of the sums of the columns."""
        self._require_fitted()
        return self._learnt.sums.statistics()[0]

    @property
    def generative_(self) -> BayesClassifier:
        """The densities of the columns, without weights; of a list of documents, that of their words.

        The presence of words and their pairs are other readings of the same documents. Counts of words have a
        density given their number, for `sample` and `score_samples`; for `novelty`, fit
        `EvidenceClassifier(Words("bernoulli"))`.
        """
        schema, statistics = self.schema_, self.statistics_
        if schema.names != tuple(OF_DOCUMENTS):
            return self._product(schema, statistics)
        words = Schema(schema.columns[:1], schema.named, marks=schema.marks)
        first = statistics.totals[0].take_columns(np.arange(1))
        held = Statistics(words, statistics.classes, statistics.weight, statistics.support, (first,))
        return self._product(words, held)

    def _product(self, schema: Schema, statistics: Statistics) -> BayesClassifier:
        """The product of the densities of the first columns, which these are."""
        model = BayesClassifier(schema, self.priors).fit_statistics(statistics)
        container = self._learnt.container
        if container is not None and len(schema) < len(self.schema_):
            container = container.take_columns(range(len(schema)))
        vars(model)["_learnt"].container = container
        return model

    @property
    def _container(self) -> Container | None:
        self._require_fitted()
        return self._learnt.container


def documents_as_table(X: Any, families: AllFamilies | Schema) -> tuple[Any, AllFamilies | Schema]:
    """A list or column of documents as a table that has them once for each family; anything else as it is."""
    if isinstance(families, Schema):
        return in_columns_of_text(X, families), families
    if not is_list_of_documents(X):
        return X, families
    if isinstance(families, str):
        families = OF_DOCUMENTS
    return {str(name): X for name in families} if isinstance(families, dict) else {TEXT: X}, families
