"""Learning curves: how good models are on new rows after 10, 20, … rows of training.

Generative models reach their own, perhaps higher, error with fewer rows; discriminative ones need more rows
and may go lower (Ng and Jordan, 2001). Where the curves cross is a matter of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from suffice.arrays import Array
from suffice.evaluation.answers import read_answers
from suffice.evaluation.metrics import error_and_log_loss
from suffice.plots.display import Display, legend_below
from suffice.plots.palette import styles
from suffice.tables.container import Container
from suffice.tables.table import is_frame, read_table
from suffice.tables.targets import read_labels
from suffice.tables.wording import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measure = Literal["error", "log_loss"]
MOST_APART = 20.0
"""How many times the least value the largest may be before their axis is logarithmic."""


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    sizes: ArrayLike | None = None,
    repeats: int = 10,
    test_size: float = 0.3,
    random_state: int = 0,
) -> LearningCurves:
    """Fit models on growing training sets and measure them on rows they have not seen.

    Each repeat splits the rows anew. Its training sets grow by adding rows, all models see the same rows, and
    the first rows hold one of each class, since no classifier can be fitted without them.

    Parameters
    ----------
    models : dict of name → classifier, or sequence of classifiers
        They are cloned; the ones passed stay as they are.
    X, y : table and labels
        In any container that the models take.
    sizes : array-like of int, optional
        Numbers of training rows; by default nine from 2 per class to all there are, in equal ratios.
    repeats : int, default=10
        The number of splits.
    test_size : float, default=0.3
        The share of the rows that is kept for testing.
    random_state : int, default=0
        Of the splits.

    Returns
    -------
    LearningCurves

    Examples
    --------
    >>> import suffice
    >>> from suffice import compare
    >>> from suffice import LogisticRegression
    >>> X = [[i % 7, i % 5] for i in range(60)]
    >>> y = [i % 7 > 3 for i in range(60)]
    >>> curves = compare(
    ...     {"GDA": suffice.GaussianDiscriminant(), "logistic": LogisticRegression()}, X, y, repeats=2
    ... )
    >>> curves.error.shape
    (2, 9, 2)
    """
    named = _checked(dict(models) if isinstance(models, Mapping) else _named(models))
    if not (isinstance(test_size, Real) and 0.0 < test_size < 1.0):
        raise ValueError(f"test_size must lie strictly between 0 and 1, got {test_size!r}.")
    if not (isinstance(repeats, Integral) and repeats >= 1):
        raise ValueError(f"repeats must be a whole number ≥ 1, got {repeats!r}.")
    if not (isinstance(random_state, Integral) and random_state >= 0):
        raise ValueError(f"random_state must be a whole number ≥ 0, got {random_state!r}.")
    labels = read_labels(y)
    table = read_table(X)
    if len(labels) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y has {len(labels)} labels; they must be as many.")
    n_test = max(1, round(test_size * len(labels)))
    chosen = _sizes(sizes, len(np.unique(labels)), len(labels) - n_test)
    errors = np.empty((len(named), len(chosen), repeats))
    losses = np.empty_like(errors)
    for repeat, seed in enumerate(np.random.SeedSequence(int(random_state)).spawn(int(repeats))):
        order = _split(labels, n_test, np.random.default_rng(seed))
        test_X, test_y = _rows(X, order[-n_test:]), labels[order[-n_test:]]
        for s, size in enumerate(chosen):
            train_X, train_y = _rows(X, order[:size]), labels[order[:size]]
            for m, model in enumerate(named.values()):
                fitted = clone(model).fit(train_X, train_y)
                errors[m, s, repeat], losses[m, s, repeat] = _measured(fitted, test_X, test_y)
    return LearningCurves(tuple(named), chosen, errors, losses, table.container)


@dataclass(frozen=True)
class LearningCurves:
    """Errors and log-losses on unseen rows; prints as a table of mean errors.

    Attributes
    ----------
    models : tuple of str
    sizes : ndarray of shape (s,)
        Numbers of training rows.
    error, log_loss : ndarray of shape (m, s, repeats)
    """

    models: tuple[str, ...]
    sizes: NDArray[np.intp]
    error: Array
    log_loss: Array
    container: Container

    def to_frame(self) -> Any:
        """One line per model and size, with means and standard errors over the repeats."""
        fields: dict[str, Any] = {
            "model": np.repeat(np.array(self.models, dtype=object), len(self.sizes)).tolist(),
            "rows": np.tile(self.sizes, len(self.models)),
        }
        for name, values in (("error", self.error), ("log_loss", self.log_loss)):
            fields[name] = values.mean(axis=2).ravel()
            fields[f"{name}_standard_error"] = _standard_error(values).ravel()
        return self.container.frame(fields)

    def crossing(self, first: str, second: str, measure: Measure = "error") -> int | None:
        """The size from which on `second` is better on average than `first`; None if it never stays so."""
        values = self._values(measure).mean(axis=2)
        better = values[self._index(second)] < values[self._index(first)]
        if not better[-1]:
            return None
        worse = np.flatnonzero(~better)
        return int(self.sizes[worse[-1] + 1 if len(worse) else 0])

    def difference(self, first: str, second: str, measure: Measure = "error") -> tuple[Array, Array]:
        """How much more `first` errs than `second` at each size: mean and standard error over the splits.

        Both see the same rows in a split, so this tells them apart where the curves' own bands overlap.
        Splits share rows, so the standard error is somewhat too small.
        """
        values = self._values(measure)
        gap = values[self._index(first)] - values[self._index(second)]
        return gap.mean(axis=1), _standard_error(gap[np.newaxis])[0]

    def mean_and_standard_error(self, measure: Measure = "error") -> tuple[Array, Array]:
        """Each (m, s), over the repeats."""
        values = self._values(measure)
        return values.mean(axis=2), _standard_error(values)

    def plot(self, ax: Axes | None = None, measure: Measure = "error") -> LearningCurveDisplay:
        """Draw the curves; gives the display, whose `ax_` was drawn on."""
        return LearningCurveDisplay(self).plot(ax, measure)

    def __repr__(self) -> str:
        mean, spread = self.mean_and_standard_error("error")
        cells = [("rows", *self.models)]
        for s, size in enumerate(self.sizes.tolist()):
            pairs = zip(mean[:, s], spread[:, s], strict=True)
            cells.append((str(size), *(f"{error:.3f} ± {about:.3f}" for error, about in pairs)))
        head = f"Error on unseen rows, mean ± standard error of {self.error.shape[2]} splits"
        return "\n".join([head, *aligned(cells, left=0)])

    def _values(self, measure: Measure) -> Array:
        if measure not in ("error", "log_loss"):
            raise ValueError(f"measure must be 'error' or 'log_loss', got {measure!r}.")
        return self.error if measure == "error" else self.log_loss

    def _index(self, model: str) -> int:
        if model not in self.models:
            raise ValueError(f"there is no model {model!r}; the models are {list(self.models)}.")
        return self.models.index(model)


@dataclass
class LearningCurveDisplay(Display):
    """Mean curves with bands of one standard error, on logarithmic axes where the values lie far apart.

    Parameters
    ----------
    curves : LearningCurves
        What `suffice.compare` gives.
    """

    curves: LearningCurves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sizes: ArrayLike | None = None,
        repeats: int = 10,
        test_size: float = 0.3,
        random_state: int = 0,
        measure: Measure = "error",
        ax: Axes | None = None,
    ) -> Self:
        """Fit clones of a classifier, or of several, on growing parts of the rows, and draw the curves.

        Parameters
        ----------
        estimator : classifier, dict of name → classifier, or sequence of classifiers
        X, y : table and labels
        sizes, repeats, test_size, random_state
            As `suffice.compare` takes them.
        measure, ax
            As `plot` takes them.

        Returns
        -------
        LearningCurveDisplay
        """
        curves = compare(
            [estimator] if hasattr(estimator, "fit") else estimator,
            X,
            y,
            sizes=sizes,
            repeats=repeats,
            test_size=test_size,
            random_state=random_state,
        )
        return cls(curves).plot(ax, measure)

    def plot(self, ax: Axes | None = None, measure: Measure = "error") -> Self:
        """Draw the curves of a measure; gives the display."""
        mean, spread = self.curves.mean_and_standard_error(measure)
        own, ax = ax is None, self._start(ax)
        for i, (name, look) in enumerate(zip(self.curves.models, styles(len(mean)), strict=True)):
            sizes = self.curves.sizes
            ax.plot(sizes, mean[i], color=look.colour, linestyle=look.line, marker=look.marker, label=name)
            ax.fill_between(
                sizes, mean[i] - spread[i], mean[i] + spread[i], alpha=0.2, color=look.colour, linewidth=0
            )
        ax.set(xscale="log", xlabel="training rows", ylabel=f"{measure.replace('_', '-')} on unseen rows")
        if 0.0 < mean.min() < mean.max() / MOST_APART:
            ax.set_yscale("log")
        legend_below(ax, own=own)
        return self

    def to_frame(self) -> Any:
        """The curves as a frame."""
        return self.curves.to_frame()


def _checked(models: dict[str, Any]) -> dict[str, Any]:
    """Classifiers by name, each of which gives probabilities."""
    if not models:
        raise ValueError("there are no models to compare.")
    for name, model in models.items():
        if isinstance(model, type):
            raise TypeError(f"the model {name!r} is a class; pass an instance, {model.__name__}().")
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"the model {name!r} has no predict_proba, which the log-loss needs; for a "
                f"{type(model).__name__}, CalibratedClassifierCV adds probabilities."
            )
    return models


def _named(models: Sequence[Any]) -> dict[str, Any]:
    """Classifiers by the names of their classes, numbered where these repeat."""
    if hasattr(models, "fit"):
        raise TypeError(f"models must be a dict or a list of classifiers; for one, pass [{models!r}].")
    models = list(models)
    names = [type(model).__name__ for model in models]
    numbered = [
        name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]
    return dict(zip(numbered, models, strict=True))


def _sizes(sizes: ArrayLike | None, n_classes: int, n_train: int) -> NDArray[np.intp]:
    if sizes is None:
        smallest = min(2 * n_classes, n_train)
        return np.unique(np.geomspace(smallest, n_train, 9).round().astype(np.intp))
    chosen = np.asarray(sizes)
    if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
        raise ValueError(f"sizes must be a list of whole numbers, got {sizes!r}.")
    if chosen.min() < n_classes or chosen.max() > n_train:
        raise ValueError(
            f"sizes must lie between {n_classes}, one row of each class, and {n_train}, the rows left for "
            f"training; got {chosen.tolist()}."
        )
    return np.unique(chosen).astype(np.intp)


def _split(labels: NDArray[Any], n_test: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random order of the rows: one of each class, the rest of the training rows, then the test rows."""
    order = rng.permutation(len(labels))
    first = np.sort(np.unique(labels[order], return_index=True)[1])
    rest = np.delete(order, first)
    if len(rest) < n_test:
        raise ValueError(f"{len(labels)} rows are too few to keep {n_test} of them for testing.")
    return np.concatenate([order[first], rest])


def _rows(X: Any, positions: NDArray[np.intp]) -> Any:
    """Some rows in the container they are in."""
    if is_frame(X):
        import narwhals.stable.v2 as nw

        return nw.from_native(X, eager_only=True, pass_through=False)[positions].to_native()
    return X[positions] if hasattr(X, "shape") else [X[i] for i in positions.tolist()]


def _measured(model: Any, X: Any, y: NDArray[Any]) -> tuple[float, float]:
    """The error and the log-loss of a fitted model."""
    answers, _, _ = read_answers(y, model.predict_proba(X), model.predict(X), model.classes_)
    return error_and_log_loss(answers)


def _standard_error(values: Array) -> Array:
    repeats = values.shape[2]
    return np.asarray(values.std(axis=2, ddof=1 if repeats > 1 else 0) / np.sqrt(repeats))
