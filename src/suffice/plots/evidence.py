"""EvidenceDisplay: how much each column tells about the classes, over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.plots.display import (
    Display,
    bounded,
    check_most,
    default_width,
    draw_far_nearer,
    foreground,
    legend_below,
    legend_room,
    mark_means,
)
from suffice.plots.layout import (
    beyond,
    fitted,
    fitted_pair,
    keep_within,
    literal,
    name_ticks,
    room_in_inches,
    share_of_names,
)
from suffice.plots.palette import COLOURS, DISTINCT, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.3
WORDS = {
    "nats": "added to held-out rows (nats per row)",
    "nats_gained": "gained on these rows (nats per row)",
    "nats_believed": "believed of these rows (nats per row)",
    "weight_of_evidence": "weight of evidence (nats)",
    "kl": "Kullback–Leibler divergence (nats)",
    "bhattacharyya": "Bhattacharyya distance",
}
ALL = ""
"""The group of lines without classes."""


@dataclass
class EvidenceDisplay(Display):
    """A measure of separation per column, with a bar (or, for many, a point) per class or pair of classes.

    Parameters
    ----------
    evidence : frame, or a result with `to_frame`
        A pandas, Polars or pyarrow frame with one line per column and class or pair of classes: the field
        `column`, optional fields of text that name the classes, and fields of numbers, the measures (weight
        of evidence, KL, Bhattacharyya, …).

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice.plots import EvidenceDisplay
    >>> frame = pa.table({"column": ["age", "sex"], "class": ["a", "a"], "kl": [0.4, 1.5]})
    >>> EvidenceDisplay(frame).measures
    ['kl']
    """

    evidence: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        pairs: bool = False,
        measure: str | None = None,
        most: int = 15,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the evidence of each column of a fitted generative model.

        Parameters
        ----------
        estimator : fitted BayesClassifier or GaussianDiscriminant
            The model.
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows that the model was not fitted to, to show what each column really adds.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it.
        pairs : bool, default=False
            Whether to draw each pair of classes rather than each class.
        measure : str, optional
            The measure to draw; by default the first.
        most : int, default=15
            The largest number of columns to draw.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        EvidenceDisplay
            The display, already drawn.
        """
        if not hasattr(estimator, "evidence"):
            raise TypeError(
                f"{type(estimator).__name__} has no evidence per column; use a BayesClassifier or a "
                "GaussianDiscriminant."
            )
        return cls(estimator.evidence(X, y).to_frame(pairs=pairs)).plot(ax, measure=measure, most=most)

    def __post_init__(self) -> None:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(self.to_frame(), eager_only=True)
        if len(frame) == 0:
            raise ValueError("there is nothing to draw; pairs need a model with at least two classes.")
        if "column" not in frame.columns:
            raise ValueError(f"the frame needs a field 'column', but has {frame.columns}.")
        schema = frame.schema
        self._names = [str(name) for name in frame["column"].to_list()]
        grouping = [name for name in frame.columns if name != "column" and not schema[name].is_numeric()]
        classes = [
            tuple(str(value) for value in values)
            for values in zip(*(frame[name].to_list() for name in grouping), strict=True)
        ] or [()] * len(self._names)
        self._groups = [" against ".join(names) or ALL for names in classes]
        self._classes = dict(zip(self._groups, classes, strict=True))
        self._values = {
            name: np.array(frame[name].to_list(), dtype=np.float64)
            for name in frame.columns
            if name != "column" and schema[name].is_numeric()
        }
        if not self._values:
            raise ValueError(f"the frame needs a field of numbers to draw, but has {frame.columns}.")

    @property
    def measures(self) -> list[str]:
        """The measures that can be drawn."""
        return list(self._values)

    def plot(self, ax: Axes | None = None, *, measure: str | None = None, most: int = 15) -> Self:
        """Draw one of the measures.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        measure : str, optional
            The measure to draw; by default the first.
        most : int, default=15
            The largest number of columns to draw, the most informative ones first.

        Returns
        -------
        EvidenceDisplay
            The display itself.
        """
        check_most(most)
        measure = self.measures[0] if measure is None else measure
        columns, groups, heights = self.bars(measure, most)
        many = len(groups) > DISTINCT
        own, rows = ax is None, len(columns) * (1.0 if many else max(1.0, 0.5 * len(groups)))
        ax = self._start(ax, (default_width(), 1.2 + ROW_HEIGHT * rows))
        share = share_of_names(ax, columns)
        entries = (
            self._draw_points(ax, groups, heights) if many else self._draw_bars(ax, groups, heights, share)
        )
        name_ticks(ax.yaxis, range(len(columns)), columns, share=share)
        ax.set_ylim(len(columns) - 0.5, -0.5)
        ax.axvline(0.0, color=foreground(), linewidth=0.8)
        unit = WORDS.get(measure, measure.replace("_", " "))
        ax.set_xlabel(literal(fitted(unit, 0.9 * room_in_inches(ax)[0])), loc="right")
        total = len(set(self._names))
        if len(columns) < total:
            ax.set_title(f"{len(columns):,} of {total:,}: those that say most", fontsize="medium")
        if many:
            draw_far_nearer(ax, bounded(heights))
        if groups != [ALL]:
            legend_below(ax, entries, own=own)
        else:
            keep_within(ax)
        return self

    def _draw_bars(self, ax: Axes, groups: list[str], heights: Array, share: float) -> list[Any]:
        """Draw a bar for each group, and write its length if there is one group or the bar is infinite.

        That of a bar to the left of 0 is written right of 0, where there is room.
        """
        entries = []
        thick, drawn = 0.8 / len(groups), bounded(heights)
        at = np.arange(len(heights))
        for g, (group, look) in enumerate(zip(groups, styles(len(groups)), strict=True)):
            places = at + (g - (len(groups) - 1) / 2.0) * thick
            bars = ax.barh(
                places,
                drawn[:, g],
                thick,
                color=look.colour,
                hatch=look.hatch,
                edgecolor=foreground(),
                linewidth=0.5,
                label=self._name(group, ax),
            )
            entries.append(bars)
        written = {
            (i, g): f"{heights[i, g]:.3g}".replace("inf", "∞")
            for i, g in np.ndindex(*heights.shape)
            if np.isposinf(heights[i, g]) or (len(groups) == 1 and not np.isnan(heights[i, g]))
        }
        for (i, g), text in written.items():
            place = (max(drawn[i, g], 0.0), at[i] + (g - (len(groups) - 1) / 2.0) * thick)
            ax.annotate(text, place, (3, 0), textcoords="offset points", va="center", fontsize="small")
        if written:
            low, high = min(0.0, float(drawn.min())), max(0.0, float(drawn.max()))
            ax.set_xlim(1.05 * low, high + beyond(ax, written.values(), share) * ((high - low) or 1.0))
        return entries

    def _draw_points(self, ax: Axes, groups: list[str], heights: Array) -> list[Any]:
        """Draw a point for each class or pair of classes, and their mean."""
        drawn = bounded(heights)
        i, g = np.nonzero(np.isfinite(heights) | np.isposinf(heights))
        aside = np.random.default_rng(0).uniform(-0.25, 0.25, len(i))
        one = "a pair of classes" if len(self._classes[groups[0]]) == 2 else "a class"
        points = ax.scatter(
            drawn[i, g], i + aside, s=10, c=COLOURS[0], alpha=0.8, linewidths=0, label=one, rasterized=True
        )
        return [points, mark_means(ax, drawn.mean(axis=1))]

    def _name(self, group: str, ax: Axes) -> str:
        """The name of a group in the legend."""
        names = self._classes[group]
        return fitted_pair("", *names, legend_room(ax)) if len(names) == 2 else group or "_all"

    def bars(self, measure: str, most: int) -> tuple[list[str], list[str], Array]:
        """Return what `plot` draws.

        Parameters
        ----------
        measure : str
            One of `measures`.
        most : int
            The largest number of columns.

        Returns
        -------
        columns : list of str
            The columns, the most informative ones first, without those that tell nothing.
        groups : list of str
            The classes or pairs of classes.
        heights : ndarray of shape (n_columns, n_groups)
            The measure of each.
        """
        if measure not in self._values:
            raise ValueError(f"there is no measure {measure!r}; choose one of {self.measures}.")
        columns, groups = list(dict.fromkeys(self._names)), list(dict.fromkeys(self._groups))
        heights = np.full((len(columns), len(groups)), np.nan)
        row = {name: i for i, name in enumerate(columns)}
        place = {name: g for g, name in enumerate(groups)}
        for name, group, value in zip(self._names, self._groups, self._values[measure], strict=True):
            heights[row[name], place[group]] = value
        strength = np.nan_to_num(np.abs(heights)).max(axis=1)
        order: NDArray[np.intp] = np.argsort(-strength, kind="stable")[:most]
        order = order[strength[order] > 0.0] if strength.any() else order
        return [columns[i] for i in order], groups, heights[order]

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            The frame that is drawn.
        """
        return self.evidence.to_frame() if hasattr(self.evidence, "to_frame") else self.evidence
