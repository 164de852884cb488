"""EvidenceClassifier: generative evidence of many kinds, weighed by what it says on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.engines.kept_rows import KeptRows
from suffice.engines.sources import is_lazy
from suffice.estimators.bayes import BayesClassifier
from suffice.estimators.evidence.fitted import FittedEvidence, documents_as_table
from suffice.estimators.evidence.fitting import Fitting, Options, fit_rows, naming_rows
from suffice.estimators.evidence.merging import alone, merged_sums, odd_columns
from suffice.estimators.evidence.options import checked_options, chosen_families, require_dense
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.rows import MOST_ROWS, Rows, with_less_weight
from suffice.estimators.evidence.sample import warn_if_too_light, why_not_reweighed
from suffice.estimators.evidence.saved import SavedEvidence
from suffice.estimators.evidence.sums import Parts, PieceSums, too_heavy
from suffice.estimators.evidence.worker_sums import summed_by_workers
from suffice.estimators.generative import forgetting
from suffice.estimators.settings import keep, with_kept_settings
from suffice.factors.checks import ImpossibleSumsError
from suffice.model.columns.chosen_families import AllFamilies
from suffice.model.columns.schema import Schema
from suffice.model.inference.infer import require_columns, require_marks
from suffice.model.priors import Priors, PriorShift, class_priors
from suffice.model.statistics import Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.container import Container
from suffice.tables.estimator_input import read_coded_targets, read_features
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.notations import checked_marks
from suffice.tables.targets import labelled
from suffice.tables.wording import counted, warn


class EvidenceClassifier(SavedEvidence):
    """Generative evidence of many kinds, each weighed by what it says on rows that it has not seen.

    A product of densities counts a fact as often as columns tell it. Here every piece of evidence has a
    weight: a_k(x) = log π_k + b_k + Σ_f w_f · log p_f(x | C_k). The densities come from sums, and the few
    weights from a softmax regression on held-out rows. Pieces are each column under its family, numbers once
    more in steps, whether cells are there, a joint Gaussian of all columns with one covariance and with one
    for each class, corrections of single cells and words, and pairs of columns. The evidence of documents is
    divided by a power of their length. What does not pay on held-out rows counts less, or not at all: with
    few rows, all columns have one weight.

    Parameters
    ----------
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column, as in BayesClassifier. Inference is for columns with names: those of an
        array of numbers are all Normal, so pass a frame, or families by position.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).
    pieces : "all", list of str, or Pieces, default="all"
        The kinds of evidence to weigh: "columns" (always there), "steps", "presence", "joint", "cells" and
        "pairs". A sparse matrix has "columns" only, since the others read every zero, and a list that names
        them is refused. The `pieces_` of another model have the same families and sums, so that both can be
        merged.
    penalty : float, optional
        How much the weights of one kind of evidence are held together, at most 1e6, where they are equal. By
        default held-out rows choose it.
    pairs : int, default=30
        The largest number of pairs of columns; 0 for none.
    cv : int, default=5
        The number of folds, from 2 to 20: each is scored by the sums of the others, and judges weights learnt
        from them. Time and memory grow with its square, since evidence is held out for every pair of folds.
    nonnegative : bool, default=False
        Whether no weight may be negative. A negative weight takes back what other evidence says too often.
    missing_marks : list of str, optional
        The texts that stand for a missing cell in columns of text, as in BayesClassifier. Given `pieces` or a
        Schema bring their own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    weights_ : WeighedEvidence
        Every piece with its weight and the nats that it adds to held-out rows; prints as a table.
    bias_ : ndarray of shape (n_classes,)
        b_k, beside the log priors.
    pieces_ : Pieces
        What is weighed; pass it as `pieces=` to give another model the same.
    schema_ : Schema
        The family of each column and why it was chosen.
    generative_ : BayesClassifier
        The densities of the columns without weights: for `sample`, `novelty` and `score_samples`. Of a list
        of documents, the density of their words alone; `novelty` needs `families=Words("bernoulli")` there.
    statistics_ : Statistics
        The sums of the columns.
    prior_shift_ : PriorShift
        How `adapt_priors` found the priors; only on the model that it returns.

    Examples
    --------
    >>> import suffice
    >>> X, y = suffice.load_penguins()
    >>> model = suffice.EvidenceClassifier().fit(X, y)
    >>> model.predict(X.slice(0, 2)).tolist()
    ['Adelie', 'Adelie']
    """

    def __init__(
        self,
        families: AllFamilies = "infer",
        priors: Priors = None,
        *,
        pieces: Any = "all",
        penalty: float | None = None,
        pairs: int = 30,
        cv: int = 5,
        nonnegative: bool = False,
        missing_marks: Iterable[str] | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.pieces = pieces
        self.penalty = penalty
        self.pairs = pairs
        self.cv = cv
        self.nonnegative = nonnegative
        self.missing_marks = missing_marks

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like, frame, dict of columns, list of dicts, or list of documents
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted model.
        """
        if is_lazy(X):
            return self._fit_lazy(X, y, sample_weight)

        def learn() -> None:
            rows = self._learn(X, y, sample_weight)
            warn_if_too_light(rows, self._learnt.learnt)

        return self._atomically(learn)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to the sums; the weights stay as they are until `reweigh`. The first call is a `fit`.

        Parameters
        ----------
        X : array-like, frame, dict of columns, list of dicts, or list of documents
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        classes : array-like, optional
            Ignored: new classes may appear in any batch.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        if not self._is_fitted():
            return self.fit(X, y, sample_weight)
        rows = self._rows(X, y, sample_weight)
        added = _sums_of(rows, self.pieces_)
        return self._atomically(lambda: self._replace(self.pieces_, added, 1, "add these rows"))

    def forget(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Remove rows from the sums, as if they had never been fitted; the weights stay as they are.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or fitted model
            The rows to remove, or a model of them: one with the same pieces, or one that was merged.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it; leave it out for a model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        if y is None:
            pieces, gone = _pieces_and_sums(X, "forget")
            difference = self.pieces_.difference(pieces)
            if difference is not None and not self._learnt.partly:
                raise ValueError(
                    f"cannot forget a model with other pieces that was not merged: {difference}; fit it with "
                    "EvidenceClassifier(pieces=first.pieces_), or forget its rows."
                )
        else:
            self._require_all_rows("forget rows", "forget the models that were merged instead")
            pieces, gone = self.pieces_, _sums_of(self._rows(X, y, sample_weight), self.pieces_)
        deed = forgetting(self.statistics_, gone[0])
        return self._atomically(lambda: self._replace(pieces, gone, -1, deed))

    def merge(self, other: EvidenceClassifier | BayesClassifier | Statistics) -> Self:
        """Add the rows of another model of the same columns, or of statistics, to this model.

        Families, pieces and weights are those of the model with more rows. What the other one has not summed
        is missing in its rows. With `pieces=first.pieces_` both have the same, and every sum is that of all
        rows.

        Parameters
        ----------
        other : fitted model or Statistics
            What to add.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        pieces, added = _pieces_and_sums(other, "merge")
        self._warn_of_odd_columns(pieces.schema)
        if isinstance(other, EvidenceClassifier) and added[0].weight.sum() > self.statistics_.weight.sum():
            return self._atomically(lambda: self._follow(other))
        return self._atomically(lambda: self._replace(pieces, added, 1, "merge"))

    def _warn_of_odd_columns(self, schema: Schema) -> None:
        """Say which columns have another family in a model that is to be merged."""
        mine = self.schema_
        odd = odd_columns(mine, schema) if mine.names == schema.names else set()
        if odd:
            warn(
                f"the families of {counted(len(odd), 'column')} cannot be added: {mine.difference(schema)}. "
                "There, only the rows of one model count. Fit the second one with pieces=first.pieces_ "
                "(suffice fit --like) to add all."
            )

    def _follow(self, larger: EvidenceClassifier) -> None:
        """Take the pieces and weights of a larger model, and add the rows of this one to it."""
        mine, learnt = self._learnt, larger._learnt
        self._learnt = replace(learnt, container=mine.container)
        self._replace(mine.sums.pieces, mine.sums.statistics(), 1, "merge")
        self._learnt.partly |= mine.partly

    def __add__(self, other: EvidenceClassifier) -> Self:
        if not isinstance(other, EvidenceClassifier):
            return NotImplemented
        return copy(self).merge(other)

    def reweigh(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, seen: bool = True) -> Self:
        """Learn the weights anew from some rows, and leave the sums as they are.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least 10 rows, of two classes or more; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.
        seen : bool, default=True
            Whether the sums hold these rows. Then each fold is scored by the sums without it.

        Returns
        -------
        self : object
            The changed model.
        """
        rows = self._rows(X, y, sample_weight)
        if seen:
            self._require_all_rows("weigh rows that the sums hold", "pass seen=False for rows held out")

        def reweigh() -> None:
            self._reweigh(rows, seen=seen)
            if not self._learnt.learnt.levels:
                raise ValueError(f"{why_not_reweighed(rows)} The model is as it was.")

        return self._atomically(reweigh)

    def _reweigh(self, rows: LabelledRows, *, seen: bool) -> None:
        """Learn the weights anew from rows, whose folds are subtracted if the sums hold them."""
        self._keep_settings(afresh=False)
        sums = self._learnt.sums
        smaller = sums.too_heavy
        rows = with_less_weight(rows, smaller if seen else too_heavy(rows.weights))
        whole = sums.times(1.0 / smaller).statistics()
        try:
            with naming_rows(rows, self.schema_):
                ordered = Rows(rows).in_order(self.schema_)
                fitting = Fitting(ordered, self.pieces_, self._options(), whole, subtracted=seen)
                learnt = fitting.fitted().learnt
        except ImpossibleSumsError as error:  # a fold was subtracted that had not been added
            raise ValueError(
                "cannot weigh rows that were never fitted as if they had been; pass seen=False for rows held "
                "out."
            ) from error
        self._learnt = replace(self._learnt, learnt=learnt, classes=rows.labels, solution=None, shift=None)

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledRows:
        self._keep_settings()
        X, y = labelled(X, y)
        X, families = documents_as_table(X, chosen_families(self.families, self.pieces))
        table = read_features(self, X)
        rows = LabelledRows(table, read_coded_targets(self, y), sample_weight)
        self._take_rows(rows, families, table.container)
        return rows

    def _take_rows(self, rows: LabelledRows, families: AllFamilies, container: Container | None) -> None:
        """Fit to rows, from scratch."""
        options, given = self._options(), self.pieces if isinstance(self.pieces, Pieces) else None
        require_dense(rows.kept_table, self.pieces)
        marks = checked_marks(self.missing_marks)
        if given is not None:
            cure = "fit to the same columns or leave pieces= out"
            require_columns(given.schema, rows.kept_table, f"{cure}, since pieces= are those of a model")
            require_marks(given.schema, marks, "pieces=")
        class_priors(self.priors, rows.labels, np.ones(len(rows.labels)))
        smaller = too_heavy(rows.weights)
        rows = with_less_weight(rows, smaller)
        schema = rows.schema(families, marks, weigh=False) if given is None else given.schema
        fitted = fit_rows(rows, schema, options, given)
        self._learnt = FittedEvidence(fitted.sums.times(smaller), fitted.learnt, rows.labels, container)

    def _learn_files(self, files: Labelled) -> None:
        """Sum all rows; the weights are learnt again from some of all of them, kept on the way."""
        weighed: list[LabelledRows] = []
        """The rows that the weights were learnt from, the last ones last."""

        def learn_first(batch: LabelledBatch) -> None:
            weighed.append(self._learn(*batch))

        def reweigh(kept: KeptRows) -> None:
            weighed.append(self._rows(*kept.batch()))
            self._reweigh(weighed[-1], seen=True)

        def learn_by_workers() -> None:
            files.on_first(learn_first)
            sums, kept = summed_by_workers(files, self.pieces_, MOST_ROWS)
            n_first = self.statistics_.n_rows
            self._learnt = replace(self._learnt, sums=sums, solution=None, shift=None)
            if self.statistics_.n_rows > n_first:
                reweigh(kept)
            warn_if_too_light(weighed[-1], self._learnt.learnt)

        def learn(batches: Iterator[LabelledBatch]) -> None:
            kept = KeptRows(MOST_ROWS)
            for number, batch in enumerate(batches):
                kept.add(batch)
                if number == 0:
                    learn_first(batch)
                else:
                    rows = self._rows(*batch)
                    self._replace(self.pieces_, _sums_of(rows, self.pieces_), 1, "add these rows")
            if kept.n_batches > 1:
                reweigh(kept)
            warn_if_too_light(weighed[-1], self._learnt.learnt)

        self._atomically(learn_by_workers if files.has_workers else lambda: files.through(learn))

    @with_kept_settings
    def _options(self) -> Options:
        """The settings, checked."""
        return checked_options(self.pieces, self.penalty, self.pairs, self.cv, nonnegative=self.nonnegative)

    def _rows(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledRows:
        """Rows for a fitted model."""
        self._require_fitted()
        X, y = labelled(X, y)
        return LabelledRows(self._read(X, reset=False), read_coded_targets(self, y), sample_weight)

    def _require_all_rows(self, deed: str, cure: str) -> None:
        """Refuse what needs every row in every piece."""
        if self._learnt.partly:
            raise ValueError(
                f"cannot {deed}: this model was merged with models of other pieces, so that some pieces hold "
                f"a part of the rows only; {cure}, or fit again to all rows."
            )

    def _replace(self, pieces: Pieces, parts: Parts, sign: int, deed: str) -> None:
        """Combine sums, those of other pieces as far as they go, and refuse what no data could produce."""
        self._keep_settings(afresh=False)
        learnt, held = self._learnt, self._learnt.sums.statistics()
        difference = self.pieces_.difference(pieces)
        if difference is None:
            sums = PieceSums.of(self.pieces_, held)
            sums.add(parts, sign)
        elif self.schema_.names == pieces.schema.names:
            sums = merged_sums(self.pieces_, held, pieces, parts, sign)
        else:
            raise ValueError(f"cannot {deed}: {difference}.")
        problem = sums.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        partly = learnt.partly or difference is not None
        self._learnt = replace(learnt, sums=sums, partly=partly, solution=None, shift=None)

    def __copy__(self) -> Self:
        model = type(self).__new__(type(self))
        model.__dict__ = dict(self.__dict__)
        if self._is_fitted():
            sums = PieceSums.of(self.pieces_, self._learnt.sums.statistics())
            model.__dict__["_learnt"] = replace(self._learnt, sums=sums)
        return model

    def _under(self, priors: Priors, shift: PriorShift | None) -> Self:
        solution = self._solved_model().with_priors(priors)
        model = copy(self)
        model.priors = priors
        learnt = replace(self._learnt, solution=solution, shift=shift)
        model.__dict__["_learnt"] = replace(learnt, sums=PieceSums.of(self.pieces_, learnt.sums.statistics()))
        model.__dict__["_kept"] = keep(model.get_params(deep=False), self._kept)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags


def _sums_of(rows: LabelledRows, pieces: Pieces) -> Parts:
    """The sums of some rows."""
    sums = PieceSums.empty(pieces)
    with naming_rows(rows, pieces.schema):
        Rows(rows).add_to(sums, np.zeros(0, dtype=np.intp))
    return sums.statistics()


def _pieces_and_sums(other: Any, deed: str) -> tuple[Pieces, Parts]:
    """What another model has summed; statistics have no derived columns."""
    if isinstance(other, EvidenceClassifier):
        return other.pieces_, other._learnt.sums.statistics()  # noqa: SLF001, of the same class
    statistics = getattr(other, "statistics_", other)
    if not isinstance(statistics, Statistics):
        raise TypeError(f"{deed} takes a fitted model or Statistics, got {type(other).__name__}.")
    return Pieces(statistics.schema), alone(statistics)
