"""The best of many settings by cross-validation, from rows that are summed once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils.parallel import Parallel, delayed

from suffice.evaluation.cross_validation import scores_on
from suffice.evaluation.scorers import Scorers, Scoring
from suffice.kernels.choose import one_choice
from suffice.model.folds.held_out import LabelledData, fitted_grid
from suffice.model.folds.one_by_one import Answered
from suffice.progress import Progress
from suffice.tables.table import take_rows
from suffice.tables.targets import labelled

AT_ONCE = 32
"""Models that are made before they are solved and scored in several threads; each holds sums of its own."""


class OnePassSearchCV(GridSearchCV):  # type: ignore[misc]
    """Search a grid of settings by cross-validation, with one pass over the rows.

    It has the attributes of scikit-learn's GridSearchCV. Settings that matter only when solving (`alpha`,
    `shrinkage`, `covariance`, `priors`, `var_smoothing`, …) share the statistics of the folds; other columns
    and families are summed in the same pass. Only other ways to split text, such
    as an n-gram range, take one pass for each value. Any other classifier is fitted to each split under each
    setting.

    Parameters
    ----------
    estimator : classifier
        The model; it stays as it is.
    param_grid : dict or list of dict
        The values of each parameter, by name; a list holds several grids.
    cv : int, splitter or iterable of (training rows, test rows), default=10
        The number of folds, stratified by class, or any splits as in scikit-learn.
    scoring : str, callable, list or dict, default="neg_log_loss"
        As in `cross_val_scores`; with several scorers, `refit` names the one that decides.
    refit : bool, str or callable, default=True
        Whether to fit the best setting to all rows; the name of the scorer that decides; or a function of
        `cv_results_` that returns the index of the best setting.
    return_train_score : bool, default=False
        Whether to score the training rows too.
    refit_schema : bool, default=False
        Whether the families of the columns are inferred inside each split; then nothing is shared.
    n_jobs : int, optional
        The number of threads in which models are solved and scored, −1 for one for each processor. Results
        do not depend on it. Rows are summed in all threads in any case.

    Attributes
    ----------
    best_estimator_ : classifier
        The model with the best setting, fitted to all rows.
    best_params_ : dict
        The best setting.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of ndarray
        Settings, scores, ranks and times, as in GridSearchCV. The time of fitting is that of solving.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns, as the best model knows them.
    n_splits_ : int
        The number of splits.
    refit_time_ : float
        Seconds that fitting the best model took.
    scorer_ : callable or dict
        The scorers.
    multimetric_ : bool
        Whether there are several.

    See Also
    --------
    cross_val_scores : The scores of one setting.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[i % 7, i % 5] for i in range(60)], [i % 7 > 3 for i in range(60)]
    >>> grid = {"covariance": ["full", "shared"], "shrinkage": [0.0, 0.1, 0.5]}
    >>> search = suffice.OnePassSearchCV(suffice.GaussianDiscriminant(), grid, cv=5).fit(X, y)
    >>> search.best_params_
    {'covariance': 'full', 'shrinkage': 0.5}
    """

    error_score = "raise"
    """A setting that cannot be fitted is an error, not a score."""

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        cv: Any = 10,
        scoring: Scoring = "neg_log_loss",
        refit: Any = True,
        return_train_score: bool = False,
        refit_schema: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.return_train_score = return_train_score
        self.refit_schema = refit_schema
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Score every setting on the test rows of each split, and fit the best to all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, in any container that the model takes.
        y : array-like of shape (n_samples,) or str
            The labels, or the name of their column in X.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows, in fitting and in scoring.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for splitters that keep groups together.

        Returns
        -------
        self : object
            The search, which predicts as its best model does.
        """
        X, y = labelled(X, y)
        data = LabelledData.of(self.estimator, X, y, sample_weight)
        scorers = Scorers.of(self.scoring, data.classes, weighted=data.weight is not None)
        settings = list(ParameterGrid(self.param_grid))
        if not settings:
            raise ValueError(
                "param_grid has no settings; pass a dict of lists, or {} for the model as it is."
            )
        splits = data.splits(self.cv, groups)
        if not scorers.alone:
            self._check_refit_for_multimetric(scorers.named)
        measured = self._measured(data, scorers, settings, splits)
        self.n_splits_ = len(splits)
        self.scorer_ = scorers.named["score"] if scorers.alone else scorers.named
        self.cv_results_ = self._format_results(settings, len(splits), measured)
        first = measured[0]["test_scores"]
        self.multimetric_ = isinstance(first, Mapping)
        if self.multimetric_:
            self._check_refit_for_multimetric(first)
        if self.refit or not self.multimetric_:
            self._choose(self.refit if self.multimetric_ else "score")
        if self.refit:
            start = time.perf_counter()
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            weight = {} if data.weight is None else {"sample_weight": data.weight}
            self.best_estimator_ = best.fit(X, y, **weight)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(best, "feature_names_in_"):
                self.feature_names_in_ = best.feature_names_in_
        return self

    def _choose(self, metric: Any) -> None:
        """Note the setting of rank 1, or the one that the user's function chooses."""
        self.best_index_ = self._select_best_index(self.refit, metric, self.cv_results_)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]

    def _measured(
        self, data: LabelledData, scorers: Scorers, settings: list[dict[str, Any]], splits: Sequence[Any]
    ) -> list[dict[str, Any]]:
        """Scores and seconds, split by split for each setting in turn."""
        found: list[dict[str, Any]] = []
        fitted = fitted_grid(self.estimator, data, splits, settings, refit_schema=self.refit_schema)
        n_cells = data.n_cells * len(settings)

        def measure(number: int, split: int, model: Any, cells: Any, waited: float) -> dict[str, Any]:
            start = time.perf_counter()
            train, test = splits[split]
            with one_choice(n_cells):  # in whichever thread
                _ = model.classes_  # models of sums are solved when they are first asked
                solved = time.perf_counter()
                one = {"place": number * len(splits) + split, "fit_time": waited + solved - start}
                one["test_scores"] = scores_on(test, cells, model, data, scorers)
                one["score_time"] = time.perf_counter() - solved
                if self.return_train_score:
                    one["train_scores"] = scores_on(train, take_rows(data.X, train), model, data, scorers)
            return one

        def tasks() -> Iterator[Any]:
            at, cells, start = -1, None, time.perf_counter()
            for number, split, model in fitted:
                if split != at:
                    at, cells = split, take_rows(data.X, splits[split][1])
                if isinstance(model, Answered):
                    model.held_out = cells
                yield delayed(measure)(number, split, model, cells, time.perf_counter() - start)
                start = time.perf_counter()

        with (
            Progress("search") as progress,
            one_choice(n_cells),
            Parallel(n_jobs=self.n_jobs, prefer="threads") as workers,
        ):
            waiting, at_once = tasks(), 1 if self.n_jobs in (None, 1) else AT_ONCE
            while batch := list(islice(waiting, at_once)):
                progress.say(f"{len(found)} of {len(settings) * len(splits)} fits")
                found += workers(batch)
        return sorted(found, key=itemgetter("place"))
