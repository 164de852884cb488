"""Learning curves: how good models are on new rows after 10, 20, … rows of training.

Generative models approach their own, perhaps higher, error with fewer rows; discriminative models need more
rows and may end lower (Ng and Jordan, 2001). Where the curves cross depends on the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.evaluation.growing_samples import measure_split, named_models, training_sizes
from suffice.evaluation.scorers import refuse_one_class
from suffice.model.folds.held_out import LabelledData
from suffice.plots.display import Display, legend_below
from suffice.plots.layout import number_ticks
from suffice.plots.palette import styles
from suffice.tables.container import PLAIN, Container
from suffice.tables.recognized import has_names
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.table import read_table
from suffice.tables.wording import counted, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measure = Literal["error", "log_loss"]
MOST_APART = 20.0
"""The ratio of the largest to the smallest value above which their axis is logarithmic."""


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
    """Fit models to growing training sets and measure them on rows they have not seen.

    Each repeat splits the rows anew. All models see the same rows, each training set contains the smaller
    ones, and the smallest has at least one row of every class, since no classifier can be fitted without.

    Parameters
    ----------
    models : dict of name → classifier, or sequence of classifiers
        Models with `predict_proba`. They are cloned; those passed stay unchanged.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in any container that the models take; or documents, as a list, an array or a Series.
    y : array-like of shape (n_samples,) or str
        The labels, or the name of the column of X that holds them.
    sizes : array-like of int, optional
        Numbers of training rows; by default nine in equal ratios, from 2 per class to all training rows.
    repeats : int, default=10
        The number of splits.
    test_size : float, default=0.3
        The share of the rows that is held out for testing.
    random_state : int, default=0
        The seed of the splits.

    Returns
    -------
    LearningCurves
        Errors and log losses; prints as a table of mean errors.

    Examples
    --------
    >>> import suffice
    >>> from suffice import LogisticRegression, compare
    >>> X = [[i % 7, i % 5] for i in range(60)]
    >>> y = [i % 7 > 3 for i in range(60)]
    >>> curves = compare(
    ...     {"GDA": suffice.GaussianDiscriminant(), "logistic": LogisticRegression()}, X, y, repeats=2
    ... )
    >>> curves.error.shape
    (2, 9, 2)
    """
    named = named_models(models)
    for setting, value, least in (("repeats", repeats, 1), ("random_state", random_state, 0)):
        if not (isinstance(value, Integral) and value >= least):
            raise ValueError(f"{setting} must be an integer ≥ {least}, got {value!r}.")
    if not (isinstance(test_size, Real) and 0.0 < test_size < 1.0):
        raise ValueError(f"test_size must lie strictly between 0 and 1, got {test_size!r}.")
    data = LabelledData.read(X, y, None)
    refuse_one_class(data.classes, "the log loss")
    container = read_table(data.X).container if has_names(data.X) else PLAIN
    labels = data.labels
    n_test = max(1, round(test_size * len(labels)))
    chosen = training_sizes(sizes, len(data.classes), len(labels) - n_test)
    seeds = np.random.SeedSequence(int(random_state)).spawn(int(repeats))
    splits = [
        measure_split(list(named.values()), data.X, labels, chosen, n_test, np.random.default_rng(seed))
        for seed in seeds
    ]
    errors, losses = np.stack(splits, axis=-1)
    return LearningCurves(tuple(named), chosen, errors, losses, container)


@dataclass(frozen=True, repr=False)
class LearningCurves(Shown):
    """Errors and log losses on unseen rows; prints as a table of mean errors.

    `suffice.compare` makes one.

    Attributes
    ----------
    models : tuple of str
        The names of the models.
    sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    error, log_loss : ndarray of shape (n_models, n_sizes, n_repeats)
        The share of wrong predictions, and the mean of −log p(truth).
    container : Container
        The kind of frame that `to_frame` returns.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[i % 7, i % 5] for i in range(60)], [i % 7 > 3 for i in range(60)]
    >>> models = {name: suffice.GaussianDiscriminant(name) for name in ("shared", "full")}
    >>> curves = suffice.compare(models, X, y, sizes=[10, 20, 40], repeats=2)
    >>> curves.models, curves.sizes.tolist()
    (('shared', 'full'), [10, 20, 40])
    """

    models: tuple[str, ...]
    sizes: NDArray[np.intp]
    error: Array
    log_loss: Array
    container: Container

    def to_frame(self) -> Any:
        """Return the curves as a table.

        Returns
        -------
        frame
            One line per model and size: model, rows, error, error_standard_error, log_loss and
            log_loss_standard_error, means and standard errors over the repeats. It is in the library of X
            where X was a frame, else in pyarrow.
        """
        fields: dict[str, Any] = {
            "model": np.repeat(np.array(self.models, dtype=object), len(self.sizes)).tolist(),
            "rows": np.tile(self.sizes, len(self.models)),
        }
        for name, values in (("error", self.error), ("log_loss", self.log_loss)):
            fields[name] = values.mean(axis=2).ravel()
            fields[f"{name}_standard_error"] = _standard_error(values).ravel()
        return self.container.frame(fields)

    def crossing(self, first: str, second: str, measure: Measure = "error") -> int | None:
        """Find the size from which on `second` is better on average than `first`.

        Parameters
        ----------
        first, second : str
            Names of models.
        measure : {"error", "log_loss"}, default="error"
            What to compare.

        Returns
        -------
        int or None
            The number of training rows; None if nothing crosses, because `second` is not better at the
            largest size or is better at every size.
        """
        values = self._values(measure).mean(axis=2)
        better = values[self._index(second)] < values[self._index(first)]
        if not better[-1] or better.all():
            return None
        return int(self.sizes[np.flatnonzero(~better)[-1] + 1])

    def difference(self, first: str, second: str, measure: Measure = "error") -> tuple[Array, Array]:
        """Compute how much larger the error of `first` is than that of `second`, at each size.

        Both models see the same rows in each split, so this can tell them apart even where the bands of their
        curves overlap. Splits share rows, so the standard error is somewhat too small.

        Parameters
        ----------
        first, second : str
            Names of models.
        measure : {"error", "log_loss"}, default="error"
            What to compare.

        Returns
        -------
        mean, standard_error : ndarray of shape (n_sizes,)
            Over the splits.
        """
        values = self._values(measure)
        gap = values[self._index(first)] - values[self._index(second)]
        return gap.mean(axis=1), _standard_error(gap[np.newaxis])[0]

    def mean_and_standard_error(self, measure: Measure = "error") -> tuple[Array, Array]:
        """Compute the mean and its standard error over the repeats.

        Parameters
        ----------
        measure : {"error", "log_loss"}, default="error"
            What to average.

        Returns
        -------
        mean, standard_error : ndarray of shape (n_models, n_sizes)
            Over the repeats.
        """
        values = self._values(measure)
        return values.mean(axis=2), _standard_error(values)

    def plot(self, ax: Axes | None = None, measure: Measure = "error") -> LearningCurveDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        measure : {"error", "log_loss"}, default="error"
            What to draw.

        Returns
        -------
        LearningCurveDisplay
            What was drawn.
        """
        return LearningCurveDisplay(self).plot(ax, measure)

    def _parts(self) -> list[Part]:
        mean, spread = self.mean_and_standard_error("error")
        cells = [("rows", *map(one_line, self.models))]
        for s, size in enumerate(self.sizes.tolist()):
            pairs = zip(mean[:, s], spread[:, s], strict=True)
            cells.append((str(size), *(f"{error:.3f} ± {about:.3f}" for error, about in pairs)))
        head = f"Error on unseen rows, mean ± standard error of {counted(self.error.shape[2], 'split')}"
        return [head, Cells(cells, left=0)]

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
    """Mean curves with bands of one standard error, on a logarithmic axis where the values lie far apart.

    Parameters
    ----------
    curves : LearningCurves
        The result of `suffice.compare`.

    Attributes
    ----------
    ax_ : Axes
        What was drawn on.
    figure_ : Figure
        The figure of `ax_`.

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import LearningCurveDisplay
    >>> X, y = [[i % 7, i % 5] for i in range(60)], [i % 7 > 3 for i in range(60)]
    >>> model = suffice.GaussianDiscriminant()
    >>> display = LearningCurveDisplay.from_estimator(model, X, y, sizes=[10, 40], repeats=2)
    >>> display.curves.models
    ('GaussianDiscriminant',)
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
        """Fit clones of one or more classifiers to growing training sets, and draw the curves.

        Parameters
        ----------
        estimator : classifier, dict of name → classifier, or sequence of classifiers
            The models to compare.
        X : array-like or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sizes, repeats, test_size, random_state
            As in `suffice.compare`.
        measure, ax
            As in `plot`.

        Returns
        -------
        LearningCurveDisplay
            What was drawn.
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
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        measure : {"error", "log_loss"}, default="error"
            What to draw.

        Returns
        -------
        LearningCurveDisplay
            The display itself.
        """
        mean, spread = self.curves.mean_and_standard_error(measure)
        own, ax = ax is None, self._start(ax)
        entries = []
        for i, (name, look) in enumerate(zip(self.curves.models, styles(len(mean)), strict=True)):
            sizes = self.curves.sizes
            entries += ax.plot(
                sizes, mean[i], color=look.colour, linestyle=look.line, marker=look.marker, label=name
            )
            ax.fill_between(
                sizes, mean[i] - spread[i], mean[i] + spread[i], alpha=0.2, color=look.colour, linewidth=0
            )
        ax.set(xscale="log", xlabel="training rows", ylabel=f"{measure.replace('_', '-')} on unseen rows")
        if 0.0 < mean.min() < mean.max() / MOST_APART:
            ax.set_yscale("log")
            number_ticks(ax.yaxis)
        number_ticks(ax.xaxis)
        legend_below(ax, entries, own=own)
        return self

    def to_frame(self) -> Any:
        """Return the curves as a table.

        Returns
        -------
        frame
            That of `LearningCurves.to_frame`.
        """
        return self.curves.to_frame()


def _standard_error(values: Array) -> Array:
    repeats = values.shape[2]
    return np.asarray(values.std(axis=2, ddof=1 if repeats > 1 else 0) / np.sqrt(repeats))
