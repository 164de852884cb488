"""MultinomialNB, ComplementNB and BernoulliNB, and what scikit-learn's discrete naive Bayes models share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import naive_bayes

from suffice.arrays import Array
from suffice.dropin.base import DropIn
from suffice.dropin.tables import ThresholdedTable
from suffice.export.expressions import Cell, Expression, Missing, Where, as_expression
from suffice.factors.base import Totals
from suffice.factors.checks import OutsideSupportError
from suffice.factors.columns.left_out import leave_out_columns
from suffice.factors.columns.scores import SolvedColumns
from suffice.factors.columns.solve import solve_columns
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.counts.left_out import leave_out_counts
from suffice.factors.counts.scores import SolvedCounts, Tables
from suffice.factors.counts.totals import CountTotals
from suffice.factors.left_out import LeftOut
from suffice.factors.scores import Scores
from suffice.factors.term_scores import counts_elsewhere
from suffice.families import Bernoulli, Multinomial
from suffice.model.columns.chosen_families import Families
from suffice.model.explaining.explanation import Explanation
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.tables.table import Table
from suffice.tables.wording import warn

SMALLEST_ALPHA = 1e-10


class DiscreteNB(DropIn):
    """Naive Bayes on counts smoothed by alpha: what the discrete models share."""

    _prior_setting: ClassVar[str] = "class_prior"
    _takes_sparse: ClassVar[bool] = True
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: ArrayLike | None

    def _check_fit(self) -> None:
        super()._check_fit()
        alpha = self._given_alpha()
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
            )
        if alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < SMALLEST_ALPHA and not self.force_alpha:
            warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{SMALLEST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
            )

    def _given_alpha(self) -> Array:
        return np.asarray(self.alpha, dtype=np.float64)

    def _smoothing(self) -> Array:
        """Alpha as it is used: one number, or one for each column."""
        alpha = self._given_alpha()
        return alpha if self.force_alpha else np.maximum(alpha, SMALLEST_ALPHA)

    def _class_priors(self, statistics: Statistics) -> Array:
        n_classes = len(statistics.classes)
        if self.class_prior is not None:
            priors = np.asarray(self.class_prior, dtype=np.float64)
            if priors.shape != (n_classes,):
                raise ValueError("Number of priors must match number of classes.")
            if not (np.isfinite(priors).all() and (priors >= 0).all() and priors.any()):
                raise ValueError(f"class_prior must be finite and non-negative, got {priors.tolist()}.")
            return priors
        if self.fit_prior:
            return np.asarray(statistics.weight / statistics.weight.sum())
        return np.full(n_classes, 1.0 / n_classes)

    @property
    def class_log_prior_(self) -> Array:
        """The logarithm of each class prior; −inf for a class without rows."""
        return self._solved_model().log_priors

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Compute log p(x, class) for each row, up to a term that is the same for all classes.

        Parameters
        ----------
        X : array-like, sparse array or frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The joint scores, in the order of `classes_`.
        """
        return self._read_off(X, Scores.joint, base=False)

    def explain(self, X: Any) -> Explanation:
        """Split the joint scores into contributions of the columns.

        Parameters
        ----------
        X : array-like, sparse array or frame of shape (n_samples, n_features)
            The rows to explain.

        Returns
        -------
        Explanation
            The contribution, in nats, of every column to the joint score of every class.
        """
        return self._solved_model().explain(self._read(X, reset=False), base=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class CountedNB(DiscreteNB):
    """Naive Bayes on rows of counts."""

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _chosen_families(self) -> Families:
        """One Multinomial over all columns; scikit-learn's scores, too, are those of draws in their order."""
        return Multinomial(unseen="error", in_order=True)

    def _count_totals(self, totals: Totals) -> CountTotals:
        if not isinstance(totals, CountTotals):
            raise TypeError(f"{type(self).__name__} needs statistics of one Multinomial block.")
        return totals

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None, **options: Any) -> None:
        try:
            super()._learn(X, y, sample_weight, **options)
        except OutsideSupportError as error:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__} (input X): {error}"
            ) from error

    def _accepted(self) -> list[Expression]:
        return [Missing(j) | (Cell(j) >= 0.0) for j in range(self.n_features_in_)]

    @property
    def feature_count_(self) -> Array:
        """The sum of the counts in each class and column, by weight."""
        return self._count_totals(self._learnt.accumulator.solvable(self._declared).totals[0]).table()

    @property
    def feature_log_prob_(self) -> Array:
        """The weight of each column in each class: log θ; for ComplementNB, −log θ of all other classes."""
        tables = self._factor().tables
        if tables.zero is None:
            return np.asarray(tables.log_p)
        return np.where(tables.zero == 0, tables.log_p, np.where(tables.zero > 0, -np.inf, np.inf))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(CountedNB):
    """Multinomial naive Bayes with scikit-learn's parameters and attributes.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to every count; 0 for no smoothing.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to learn the class priors from the data; if False, they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; they replace the learned ones.

    Attributes
    ----------
    feature_count_ : ndarray of shape (n_classes, n_features)
        The sum of the counts in each class and column, by weight.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The log probability of each column in each class.
    class_count_ : ndarray of shape (n_classes,)
        The number of rows in each class, by weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of each class prior.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> from suffice.dropin import MultinomialNB
    >>> MultinomialNB().fit([[2, 0, 1], [0, 3, 1]], ["a", "b"]).predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = naive_bayes.MultinomialNB._parameter_constraints  # noqa: SLF001

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedCounts:
        alpha, counts = self._smoothing(), self._count_totals(totals)
        if alpha.ndim == 0:
            return SolvedCounts(
                counts.with_family(Multinomial(alpha=float(alpha), unseen="error", in_order=True))
            )
        return SolvedCounts(counts, Tables.of(counts.table() + alpha))

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        return leave_out_counts(self._count_totals(totals), rows.block(0), self._smoothing())


class ComplementNB(CountedNB):
    """Complement naive Bayes (Rennie et al. 2003) with scikit-learn's parameters and attributes.

    The scores of this model are not log densities; `predict_proba` is their softmax.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to every count; 0 for no smoothing.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Only used if there is a single class, as in scikit-learn.
    class_prior : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; only used if there is a single class.
    norm : bool, default=False
        Whether to divide the weights of each class by their sum.

    Attributes
    ----------
    feature_count_ : ndarray of shape (n_classes, n_features)
        The sum of the counts in each class and column, by weight.
    feature_all_ : ndarray of shape (n_features,)
        The sum of the counts in each column, over all classes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The weight of each column in each class.
    class_count_ : ndarray of shape (n_classes,)
        The number of rows in each class, by weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of each class prior.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> from suffice.dropin import ComplementNB
    >>> ComplementNB().fit([[2, 0, 1], [0, 3, 1]], ["a", "b"]).predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = naive_bayes.ComplementNB._parameter_constraints  # noqa: SLF001

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedCounts:
        counts = self._count_totals(totals)
        count = counts.table()
        others = Tables.of(counts_elsewhere(count, count.sum(axis=0)) + self._smoothing())
        weights, vanishes = -others.log_p, others.zero
        if self.norm:
            sizes = weights.sum(axis=1, keepdims=True)
            weights = np.divide(weights, sizes, out=np.zeros_like(weights), where=sizes != 0)
            if vanishes is not None:
                # As alpha → 0, the words that no other class has take all of the weight.
                limit = vanishes / np.maximum(vanishes.sum(axis=1, keepdims=True), 1)
                weights, vanishes = np.where(vanishes.any(axis=1, keepdims=True), limit, weights), None
        # A word that no other class has is sure evidence: it counts as the opposite of an impossible one.
        certain = None if vanishes is None else -vanishes.astype(np.float64)
        solved = SolvedCounts(counts, Tables(others.probability, weights, certain))
        solved.has_density, solved.ignores_priors = False, len(count) > 1
        return solved

    @property
    def score_samples(self) -> Any:
        """Absent, because the scores are not log densities."""
        raise AttributeError("ComplementNB is not a density model, so it has no score_samples.")

    @property
    def feature_all_(self) -> Array:
        """The sum of the counts in each column, over all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(DiscreteNB):
    """Bernoulli naive Bayes with scikit-learn's parameters and attributes.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        The pseudo-count added to each of the two outcomes; 0 for no smoothing.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    binarize : float or None, default=0.0
        Values above this threshold become 1, all others 0. None if X is binary already.
    fit_prior : bool, default=True
        Whether to learn the class priors from the data; if False, they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; they replace the learned ones.

    Attributes
    ----------
    feature_count_ : ndarray of shape (n_classes, n_features)
        The number of ones in each class and column, by weight.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The log probability of a one in each class and column.
    class_count_ : ndarray of shape (n_classes,)
        The number of rows in each class, by weight.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of each class prior.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> from suffice.dropin import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = naive_bayes.BernoulliNB._parameter_constraints  # noqa: SLF001

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _chosen_families(self) -> Families:
        """Bernoulli columns."""
        return Bernoulli(alpha=0.0, unseen="error")

    def _reading(self) -> Any:
        return self.binarize

    def _read(self, X: Any, *, reset: bool) -> Table:
        table = super()._read(X, reset=reset)
        return table if self.binarize is None else ThresholdedTable(table, self.binarize)

    def _read_cell(self, cell: Cell) -> Expression:
        if self.binarize is None:
            return cell
        above = Where(cell > self.binarize, as_expression(1.0), as_expression(0.0))
        return Where(Missing(cell.column), as_expression(np.nan), above)

    def _accepted(self) -> list[Expression]:
        if self.binarize is not None:
            return []
        cells = map(Cell, range(self.n_features_in_))
        return [Missing(cell.column) | (cell == 0.0) | (cell == 1.0) for cell in cells]

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedColumns:
        if not isinstance(totals, ColumnTotals):
            raise TypeError("BernoulliNB needs statistics of Bernoulli columns.")
        return _smoothed(solve_columns(totals, labels, statistics.classes), totals, self._smoothing())

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        alpha = self._smoothing()

        def solve(totals: ColumnTotals, labels: list[str], n_rows: int) -> SolvedColumns:
            solved = solve_columns(totals, labels, rows.statistics.classes)
            return _smoothed(solved, totals, np.tile(alpha, n_rows) if alpha.ndim else alpha)

        return leave_out_columns(totals, rows.block(0), solve) if isinstance(totals, ColumnTotals) else None

    @property
    def feature_count_(self) -> Array:
        """The number of ones in each class and column, by weight."""
        totals = self._learnt.accumulator.solvable(self._declared).totals[0]
        return np.asarray(totals.arrays()["total"][0])

    @property
    def feature_log_prob_(self) -> Array:
        """The log probability of a one in each class and column."""
        arrays = self._learnt.accumulator.solvable(self._declared).totals[0].arrays()
        alpha = self._smoothing()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(arrays["total"][0] + alpha) - np.log(arrays["weight"] + 2.0 * alpha))


def _smoothed(solved: SolvedColumns, totals: ColumnTotals, alpha: Array) -> SolvedColumns:
    """The outcomes counted with alpha more of each."""
    yes = totals.total[0] + alpha
    no = np.maximum(totals.weight - totals.total[0], 0.0) + alpha
    proper = (yes > 0) & (no > 0)
    solved.active = np.asarray(solved.active | proper.any(axis=0))
    solved.point = np.asarray(solved.point & ~proper & solved.active)
    yes, no = np.where(proper, yes, 1.0), np.where(proper, no, 1.0)
    solved.natural = np.where(proper, np.log(yes) - np.log(no), 0.0)[np.newaxis]
    solved.constant = np.where(proper, np.log(no) - np.log(yes + no), 0.0)
    log_p = totals.total[0] * solved.natural[0] + totals.weight * solved.constant
    solved.log_p_of_rows = float(np.sum(log_p))
    return solved
