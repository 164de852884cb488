"""EvidenceDisplay: how much each column tells, over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.elementary import Array
from suffice.plots.display import Display, bounded, default_width, foreground, legend_below, legend_room
from suffice.plots.palette import styles
from suffice.plots.room import fitted_pair, keep_within, name_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.3
ALL = ""
"""The group of lines that name no classes."""


@dataclass
class EvidenceDisplay(Display):
    """Bars of a measure of separation per column, one for each class or pair of classes.

    Parameters
    ----------
    evidence : pandas, Polars or pyarrow frame, or a result whose `to_frame()` gives one
        One line per column, and class or pair of classes: the field `column`, perhaps fields of text that
        name the classes, and fields of numbers, the measures (weight of evidence, KL, Bhattacharyya, …).

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
    def from_estimator(cls, estimator: Any, *, pairs: bool = False) -> Self:
        """The evidence of each column of a fitted generative model, or of each for pairs of classes."""
        if not hasattr(estimator, "evidence"):
            raise TypeError(
                f"{type(estimator).__name__} has no evidence of columns; a BayesClassifier or a "
                "GaussianDiscriminant has."
            )
        return cls(estimator.evidence().to_frame(pairs=pairs))

    def __post_init__(self) -> None:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(self.to_frame(), eager_only=True)
        if len(frame) == 0:
            raise ValueError("there is no line to draw; pairs of classes need two of them.")
        if "column" not in frame.columns:
            raise ValueError(f"the frame needs a field 'column'; it has {frame.columns}.")
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
            raise ValueError(f"the frame has no field of numbers to draw; it has {frame.columns}.")

    @property
    def measures(self) -> list[str]:
        """The fields that can be drawn."""
        return list(self._values)

    def plot(self, ax: Axes | None = None, *, measure: str | None = None, most: int = 15) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Those of a new figure unless given.
        measure : str, optional
            Which field of numbers to draw; the first unless given.
        most : int, default=15
            Columns to draw, the ones that tell most.

        Returns
        -------
        EvidenceDisplay
        """
        if most < 1:
            raise ValueError(f"most must be a whole number ≥ 1, got {most!r}.")
        measure = self.measures[0] if measure is None else measure
        columns, groups, heights = self.bars(measure, most)
        ax = self._start(ax, (default_width(), 1.2 + ROW_HEIGHT * len(columns) * max(1.0, 0.5 * len(groups))))
        thick, drawn = 0.8 / len(groups), bounded(heights)
        at = np.arange(len(columns))
        for g, (group, look) in enumerate(zip(groups, styles(len(groups)), strict=True)):
            places = at + (g - (len(groups) - 1) / 2.0) * thick
            ax.barh(
                places,
                drawn[:, g],
                thick,
                color=look.colour,
                hatch=look.hatch,
                edgecolor=foreground(),
                linewidth=0.5,
                label=self._name(group, ax),
            )
            for i in np.flatnonzero(np.isposinf(heights[:, g])):
                ax.annotate("∞", (drawn[i, g], places[i]), (3, 0), textcoords="offset points", va="center")
        name_ticks(ax.yaxis, at.tolist(), columns)
        ax.set_ylim(len(columns) - 0.5, -0.5)
        ax.axvline(0.0, color=foreground(), linewidth=0.8)
        ax.set_xlabel(measure.replace("_", " "), loc="right")
        if groups != [ALL]:
            legend_below(ax)
        else:
            keep_within(ax)
        return self

    def _name(self, group: str, ax: Axes) -> str:
        """What a legend calls a group."""
        names = self._classes[group]
        return fitted_pair("", *names, legend_room(ax)) if len(names) == 2 else group or "_all"

    def bars(self, measure: str, most: int) -> tuple[list[str], list[str], Array]:
        """Columns that tell most first, groups, and the measure of each, (columns, groups)."""
        if measure not in self._values:
            raise ValueError(f"there is no measure {measure!r}; the frame has {self.measures}.")
        columns, groups = list(dict.fromkeys(self._names)), list(dict.fromkeys(self._groups))
        heights = np.full((len(columns), len(groups)), np.nan)
        for name, group, value in zip(self._names, self._groups, self._values[measure], strict=True):
            heights[columns.index(name), groups.index(group)] = value
        order: NDArray[np.intp] = np.argsort(-np.nan_to_num(np.abs(heights)).max(axis=1), kind="stable")[
            :most
        ]
        return [columns[i] for i in order], groups, heights[order]

    def to_frame(self) -> Any:
        """The frame that is drawn."""
        return self.evidence.to_frame() if hasattr(self.evidence, "to_frame") else self.evidence
