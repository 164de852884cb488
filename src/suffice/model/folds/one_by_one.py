"""Leave-one-out: splits that hold out one row each, and models that have already answered for theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.lazy.scikit_learn import BaseEstimator, ClassifierMixin
from suffice.model.folds.leave_one_out import LeftOutPosteriors

Split = tuple[Codes, Codes]


class OneByOne(Sequence[Any]):
    """The splits of scikit-learn's LeaveOneOut, each made when it is asked for."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < self.n_rows:
            raise IndexError(row)
        return np.delete(np.arange(self.n_rows), row), np.array([row])


def leaves_one_out(splitter: Any, n_rows: int) -> bool:
    """Whether a splitter of scikit-learn holds out the rows one by one, in their order."""
    from sklearn.model_selection import KFold, LeaveOneOut

    if type(splitter) is KFold:
        return bool(splitter.n_splits == n_rows and not splitter.shuffle)
    return type(splitter) is LeaveOneOut


def row_of_each(splits: Sequence[Split], n_rows: int) -> Codes | None:
    """The row that each split holds out, if each holds out another and trains on all others."""
    if isinstance(splits, OneByOne):
        return np.arange(n_rows)
    if any(len(test) != 1 or len(train) != n_rows - 1 for train, test in splits):
        return None
    rows = np.array([test[0] for _, test in splits], dtype=np.intp)
    others = all(len(np.unique(np.append(train, test))) == n_rows for train, test in splits)
    return rows if others and len(np.unique(rows)) == len(rows) else None


def with_known_answers(
    splits: Sequence[Split],
    rows: Codes,
    known: Sequence[LeftOutPosteriors | None],
    fit: Callable[[Sequence[Split], Sequence[int]], Iterator[tuple[int, int, Any]]],
) -> Iterator[tuple[int, int, Any]]:
    """Models of each setting and split; only those whose answers are not known are fitted.

    `fit` makes the models of some splits, under the settings of some numbers. They come split by split if
    there is one setting.
    """
    unknown = [number for number, one in enumerate(known) if one is None or not one.exact[rows].all()]
    wanted = [
        split
        for split, row in enumerate(rows)
        if any((one := known[number]) is None or not one.exact[row] for number in unknown)
    ]
    fitted = fit([splits[split] for split in wanted], unknown) if wanted else iter(())
    late: dict[tuple[int, int], Any] = {}
    for split, row in enumerate(rows.tolist()):
        for number, one in enumerate(known):
            if one is not None and one.exact[row]:
                yield number, split, Answered(one, row, _fitting(fit, splits[split], number))
                continue
            while (number, split) not in late:
                made, at, model = next(fitted)
                late[unknown[made], wanted[at]] = model
            yield number, split, late.pop((number, split))


def _fitting(fit: Callable[..., Iterator[tuple[int, int, Any]]], split: Split, number: int) -> Any:
    return lambda: next(fit([split], [number]))[2]


class Answered(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model of all rows but one, of which the posterior of that row is known.

    Asked anything else, it is fitted and answers as any model does.
    """

    def __init__(self, known: LeftOutPosteriors, row: int, fit: Callable[[], Any]) -> None:
        self.known = known
        self.row = row
        self.fit_model = fit
        self.held_out: Any = None
        """The cells of the row, as they are passed to it."""
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The model itself."""
        if self._model is None:
            self._model = self.fit_model()
        return self._model

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return self.known.classes

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x)."""
        if X is not self.held_out:
            return np.asarray(self.model.predict_proba(X))
        return self.known.posteriors(np.array([self.row]))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors log p(C_k | x)."""
        if X is not self.held_out:
            return np.asarray(self.model.predict_log_proba(X))
        return self.known.log_posteriors[[self.row]]

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        if X is not self.held_out:
            return np.asarray(self.model.predict(X))
        return np.asarray(self.classes_[np.argmax(self.known.log_posteriors[[self.row]], axis=1)])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __sklearn_is_fitted__(self) -> bool:
        return True
