"""CategoricalNB: counts of categories that are numbered from 0."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import naive_bayes

from suffice.arrays import Array, Codes
from suffice.dropin.discrete import DiscreteNB
from suffice.dropin.tables import CategoryTable
from suffice.estimators.settings import with_kept_settings
from suffice.export.expressions import Cell, Expression, Missing, Where, as_expression, floor
from suffice.factors.base import Totals
from suffice.factors.levels.cells import LevelBlock
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.levels.totals import LevelCounts, LevelTotals
from suffice.families import Categorical, Family
from suffice.model.columns.chosen_families import Families
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.tables.table import Table
from suffice.tables.wording import counted

MOST_UNSEEN = 1 << 20
"""The most numbers, over all classes, that categories without rows may add to a file."""


class CategoricalNB(DiscreteNB):
    """Categorical naive Bayes with scikit-learn's parameters and attributes.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in MultinomialNB; alpha is one number, added to each category.
    min_categories : int or array-like of shape (n_features,), default=None
        Minimum number of categories of each column; None takes it from the largest category seen.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        The weight and the log probability of each category, for each column.
    n_categories_ : ndarray of shape (n_features,)
        The number of categories of each column.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        The weight and the log prior probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> from suffice.dropin import CategoricalNB
    >>> CategoricalNB().fit([[0, 1], [0, 2], [1, 2]], ["a", "a", "b"]).predict([[0, 1]])
    array(['a'], dtype='<U1')
    """

    _takes_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = naive_bayes.CategoricalNB._parameter_constraints  # noqa: SLF001

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: int | ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _chosen_families(self) -> Families:
        """Categorical columns."""
        return Categorical(unseen="error")

    def _read(self, X: Any, *, reset: bool) -> Table:
        return CategoryTable(super()._read(X, reset=reset))

    def _check_fit(self) -> None:
        super()._check_fit()
        self._fewest_categories()

    def _fewest_categories(self) -> NDArray[np.int64]:
        if self.min_categories is None:
            return np.zeros(self.n_features_in_, dtype=np.int64)
        fewest = np.array(self.min_categories)
        if not np.issubdtype(fewest.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {fewest.dtype} instead.")
        if fewest.ndim and fewest.shape != (self.n_features_in_,):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is "
                f"provided. Got {fewest.shape} instead."
            )
        return np.broadcast_to(fewest, self.n_features_in_)

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedLevels:
        if not isinstance(totals, LevelTotals):
            raise TypeError("CategoricalNB needs statistics of Categorical columns.")
        family = Categorical(alpha=float(self._smoothing()), unseen="error")
        pairs = list(zip(totals.columns, self._fewest_categories().tolist(), strict=True))
        if saved_search is not None:
            _refuse_many_unseen(pairs)
        return SolvedCategories(family, [CategoryCounts(family, counts, fewest) for counts, fewest in pairs])

    @with_kept_settings
    def _to_fields(self) -> dict[str, Any]:
        """The whole state of the model, as it is saved."""
        state = super()._to_fields()
        totals: Any = self._learnt.accumulator.solvable(self._declared).totals[0]
        _refuse_many_unseen(list(zip(totals.columns, self._fewest_categories().tolist(), strict=True)))
        return state

    def _accepted(self) -> list[Expression]:
        return [
            Missing(j) | ((Cell(j) >= 0.0) & (Cell(j) < float(n)))
            for j, n in enumerate(self.n_categories_.tolist())
        ]

    @property
    def category_count_(self) -> list[Array]:
        """The weight of each class and category, for each column."""
        return [table.weight for table in self._factor().tables]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column."""
        return np.array([len(table.levels) for table in self._factor().tables], dtype=np.int64)

    @property
    def feature_log_prob_(self) -> list[Array]:
        """Log p of each class and category, for each column."""
        with np.errstate(divide="ignore"):
            return [np.log(table.probability.T) for table in self._factor().tables]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags


def _refuse_many_unseen(columns: list[tuple[LevelCounts, int]]) -> None:
    """Refuse a small file of many categories without rows: loading it would take much memory."""
    size = 0
    for counts, fewest in columns:
        seen = _numbers(counts)[1]
        size += (_n_categories(seen, fewest) - len(seen)) * (2 + len(counts.weight))
    if size > MOST_UNSEEN:
        raise ValueError(
            "the model has too many categories without rows for a file; number the categories without large "
            "gaps, or set a smaller min_categories."
        )


def _numbers(counts: LevelCounts) -> tuple[Codes, Codes]:
    """The positions of the levels that have rows, and their category numbers."""
    seen = np.flatnonzero(counts.support.any(axis=0))
    number = np.array([int(counts.levels[i]) for i in seen.tolist()], dtype=np.intp)
    if (number < 0).any():
        raise ValueError(f"the category {number.min()} is negative; categories are numbered from 0.")
    return seen, number


def _n_categories(number: Codes, fewest: int) -> int:
    """How many categories there are, if these are seen."""
    return max(int(number.max(initial=-1)) + 1, fewest)


class SolvedCategories(SolvedLevels):
    """Tables of categories that are numbered from 0."""

    def row_expression(self, j: int, column: int, label: str) -> Expression:
        """The row of the j-th table that a cell reads: its category, cut off to a whole number."""
        cell, n = Cell(column), float(len(self.tables[j].levels))
        known = Where((cell >= 0.0) & (cell < n), floor(cell), as_expression(n))
        return Where(Missing(column), as_expression(n + 1.0), known)


class CategoryCounts(LevelTable):
    """Log p(category | class) of one column, whose categories are 0, 1, … up to the largest."""

    def __init__(self, family: Family, counts: LevelCounts, fewest: int) -> None:
        seen, number = _numbers(counts)
        n = _n_categories(number, fewest)
        weight = np.zeros((len(counts.weight), n))
        support = np.zeros(weight.shape, dtype=np.int64)
        for category, level in zip(number.tolist(), seen.tolist(), strict=True):
            weight[:, category] += counts.weight[:, level]
            support[:, category] += counts.support[:, level]
        super().__init__(family, LevelCounts(list(range(n)), weight, support), keep_empty=True)

    def rows_of(self, values: list[Any]) -> list[int]:
        """The category of each value."""
        return super().rows_of([int(value) for value in values])

    def rows(self, batch: LevelBlock, label: str, *, refuse_unseen: bool) -> Codes:
        """The category of each cell; one beyond the last raises IndexError, as in scikit-learn."""
        n_categories = len(self.levels)
        number = np.array([*(int(value) for value in batch.values), n_categories + 1], dtype=np.intp)
        beyond = number[:-1].max(initial=-1)
        if beyond >= n_categories:
            known = counted(n_categories, "category", "categories")
            raise IndexError(
                f"{label}: category {beyond} was never seen (the model has {known}); "
                f"fit with min_categories={beyond + 1}, or pass NaN for a missing cell."
            )
        return np.asarray(number[batch.codes])
