"""Answers to rows held out, by models of the training rows of each split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.choose import one_choice
from suffice.lazy import scikit_learn
from suffice.model.folds.leave_one_out import LeftOutPosteriors
from suffice.model.folds.one_by_one import (
    Answered,
    OneByOne,
    Split,
    leaves_one_out,
    row_of_each,
    with_known_answers,
)
from suffice.model.folds.training_sums import read_splits
from suffice.model.folds.worse_than_shares import unchecked
from suffice.progress import Progress
from suffice.tables.records import read_records
from suffice.tables.table import take_rows
from suffice.tables.targets import checked_weights, labelled, read_labels
from suffice.tables.wording import counted, there_are

Answer = TypeVar("Answer")


@dataclass(eq=False)
class LabelledData:
    """Rows with their labels and weights, checked."""

    X: Any
    labels: NDArray[Any]
    classes: NDArray[Any]
    weight: Array | None
    _last: tuple[Codes, NDArray[Any], Array | None] | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledData:
        """Check the labels and weights, and that the model can be fitted."""
        if isinstance(model, type) or not hasattr(model, "fit") or is_regression(model):
            what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            raise TypeError(f"cross-validation takes a classifier first, got {what}.")
        return cls.read(X, y, sample_weight)

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledData:
        """Check the labels and weights; y may be the name of a column of X."""
        X, y = labelled(X, y)
        labels = read_labels(y)
        if labels.dtype.kind == "f":
            scikit_learn.check_classification_targets(labels)
        if not hasattr(X, "shape"):
            if isinstance(X, Mapping):
                X = read_records(X)
            elif not hasattr(X, "__len__"):
                X = np.asarray(X)  # an object that only arrays can be made of
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(labels):
            raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels.")
        weight = None if sample_weight is None else checked_weights(sample_weight, n_rows)
        return cls(X, labels, np.unique(labels), weight)

    def take(self, rows: Codes) -> LabelledData:
        """Some of the rows."""
        return LabelledData.read(take_rows(self.X, rows), *self.labels_and_weights(rows))

    def labels_and_weights(self, rows: Codes) -> tuple[NDArray[Any], Array | None]:
        """The labels and the weights of some rows; those of the last rows are kept for the next setting."""
        last = self._last
        if last is None or last[0] is not rows:
            last = rows, self.labels[rows], None if self.weight is None else self.weight[rows]
            last[1].flags.writeable = False  # so that what is known of them stays true
            self._last = last
        return last[1:]

    @property
    def n_rows(self) -> float:
        """The number of rows, where one of weight k counts as k."""
        return float(len(self.labels) if self.weight is None else self.weight.sum())

    @property
    def n_cells(self) -> int:
        """The number of cells, for choosing kernels once for all splits."""
        return int(np.prod(getattr(self.X, "shape", len(self.labels))))

    def splits(self, cv: Any, groups: ArrayLike | None) -> Sequence[Split]:
        """The training and test rows of each split, by position."""
        if groups is not None and np.shape(groups)[:1] != self.labels.shape:
            got = repr(groups) if isinstance(groups, str) else f"an array of shape {np.shape(groups)}"
            raise ValueError(
                f"groups takes one value for each of the {counted(len(self.labels), 'row')}, such as "
                f"X['column'], got {got}."
            )
        splitter = _splitter(cv, self.labels)
        if len(self.labels) > 1 and leaves_one_out(splitter, len(self.labels)):
            return OneByOne(len(self.labels))
        found = splitter.split(self.X, self.labels, groups)
        splits = list(read_splits(found, len(self.labels)))
        if not splits:
            raise ValueError("cv has no splits; pass a number of folds, such as cv=10.")
        return splits

    def without_each(
        self, model: Any, settings: Sequence[Mapping[str, Any]]
    ) -> list[LeftOutPosteriors | None]:
        """The answers of a model of sums to each row without it, where they take no refits."""
        return model._without_each(self.X, self.labels, settings, self.weight)  # type: ignore[no-any-return]  # noqa: SLF001


@dataclass(frozen=True)
class HeldOut:
    """The test rows of a split, and the model of its training rows."""

    rows: Codes
    X: Any
    model: Any


def answers(
    ask: Callable[[HeldOut], Answer],
    model: Any,
    data: LabelledData,
    splits: Sequence[Split],
    *,
    refit_schema: bool,
) -> Iterator[Answer]:
    """Fit the model to the training rows of each split and ask it about the test rows, split by split."""
    found = answers_of_grid(ask, model, data, splits, [{}], refit_schema=refit_schema)
    return (answer for _, answer in found)


def answers_of_grid(
    ask: Callable[[HeldOut], Answer],
    model: Any,
    data: LabelledData,
    splits: Sequence[Split],
    settings: Sequence[Mapping[str, Any]],
    *,
    refit_schema: bool,
) -> Iterator[tuple[int, Answer]]:
    """The answers of each setting, with its number, to the test rows of each split."""
    fitted = fitted_grid(model, data, splits, settings, refit_schema=refit_schema)
    with Progress("cross-validation") as progress, one_choice(data.n_cells * len(settings)):
        for done in range(len(splits) * len(settings)):
            split = done // len(settings)  # in the order of models that share sums
            progress.say(f"split {split + 1} of {len(splits)}")
            try:
                number, split, one = next(fitted)
                test = splits[split][1]
                cells = take_rows(data.X, test)
                if isinstance(one, Answered):
                    one.held_out = cells
                yield number, ask(HeldOut(test, cells, one))
            except Exception as error:
                error.add_note(f"This happened in split {split} of the cross-validation.")
                raise


def fitted_grid(
    model: Any,
    data: LabelledData,
    splits: Sequence[Split],
    settings: Sequence[Mapping[str, Any]],
    *,
    refit_schema: bool,
) -> Iterator[tuple[int, int, Any]]:
    """Models of each setting and split, with their numbers: from sums, or by fitting clones.

    Models that share sums come split by split; with a single setting, so do all models.
    """
    if hasattr(model, "fit_grid"):

        def fit(some: Sequence[Split], numbers: Sequence[int]) -> Iterator[tuple[int, int, Any]]:
            chosen = [settings[number] for number in numbers]
            rows = data.X, data.labels, some, chosen, data.weight
            return model.fit_grid(*rows, refit_schema=refit_schema)  # type: ignore[no-any-return]

        alone = leaves_rows_out(model, refit_schema=refit_schema)
        held = row_of_each(splits, len(data.labels)) if alone else None
        if held is None:
            yield from fit(splits, range(len(settings)))
        else:
            yield from with_known_answers(splits, held, data.without_each(model, settings), fit)
        return
    if data.weight is not None and not scikit_learn.has_fit_parameter(model, "sample_weight"):
        raise TypeError(f"{type(model).__name__}.fit does not take sample_weight; leave the weights out.")
    for split, (train, _) in enumerate(splits):
        X, labels = take_rows(data.X, train), data.labels[train]
        weight = {} if data.weight is None else {"sample_weight": data.weight[train]}
        for number, changed in enumerate(settings):
            with unchecked():
                fitted = with_settings(model, changed).fit(X, labels, **weight)
            yield number, split, fitted


def leaves_rows_out(model: Any, *, refit_schema: bool) -> bool:
    """Whether a model may answer for each row without it, from sums of all rows."""
    return hasattr(model, "_without_each") and not refit_schema


def with_settings(model: Any, changed: Mapping[str, Any]) -> Any:
    """A clone of a model with some settings changed; a model without settings is copied."""
    one = scikit_learn.clone(model, safe=False)
    return one.set_params(**scikit_learn.clone(dict(changed), safe=False)) if changed else one


def _splitter(cv: Any, labels: NDArray[Any]) -> Any:
    """A splitter; numbers of folds that the rows do not allow are refused."""
    from sklearn.model_selection import check_cv

    if isinstance(cv, (int, np.integer)):
        largest = int(np.unique(labels, return_counts=True)[1].max(initial=0))
        if isinstance(cv, bool) or cv < 2:
            raise ValueError(f"cv must be at least 2 folds, a splitter or splits, got {cv!r}.")
        if cv > len(labels):
            few = there_are(len(labels), "sample")
            raise ValueError(f"cv={cv} folds need at least as many rows, but {few}.")
        if cv > largest:
            raise ValueError(
                f"cv={cv} folds are stratified, but the largest class has only {largest} rows; pass a "
                f"smaller cv, or cv=sklearn.model_selection.KFold({cv})."
            )
    return check_cv(cv, labels, classifier=True)


def is_regression(model: Any) -> bool:
    """Whether a model predicts numbers, not classes."""
    return isinstance(model, scikit_learn.BaseEstimator) and scikit_learn.is_regressor(model)


def cure_without_posteriors(model: Any) -> str:
    """What to do with a model that has no `predict_proba`."""
    name = type(model).__name__
    if hasattr(model, "decision_function"):
        return f"wrap it in suffice.Calibrated({name}())"
    return f"choose another model, since {name} has no decision_function to calibrate either"
