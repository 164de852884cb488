"""ExplanationDisplay: what each column contributes to the log odds, for one row or many."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.links import difference
from suffice.plots.display import (
    Display,
    bounded,
    check_most,
    default_width,
    draw_far_nearer,
    foreground,
    legend_below,
    mark_means,
)
from suffice.plots.layout import beyond, fitted_pair, keep_within, literal, name_ticks, room_in_inches
from suffice.plots.palette import AGAINST, FOR
from suffice.tables.targets import class_index
from suffice.tables.wording import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.28


@dataclass(frozen=True)
class Entry:
    """One bar of a waterfall.

    Attributes
    ----------
    name : str
        The column and its value, or the word.
    nats : float
        What it adds to the log odds.
    """

    name: str
    nats: float


@dataclass
class ExplanationDisplay(Display):
    """Contributions to the log odds of one class against another, in nats.

    One row is drawn as a waterfall, in which each column moves the log odds on from the prior. Many rows are
    drawn as a summary, with a point for each row and column and the mean. Blue is evidence for the class,
    orange against it.

    Parameters
    ----------
    explanation : Explanation or TextExplanation
        The result of a model's `explain(X)`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import ExplanationDisplay
    >>> X, species = suffice.load_penguins()
    >>> model = suffice.BayesClassifier().fit(X, species)
    >>> [(one.name, round(one.nats, 2)) for one in ExplanationDisplay(model.explain(X)).entries(0)[:3]]
    [('(prior)', 0.8), ('bill_length_mm = 39.1', 4.99), ('island = Torgersen', 3.19)]
    """

    explanation: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int | None = None,
        label: Any = None,
        against: Any = None,
        most: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows with a fitted model, and draw one of them or a summary.

        Parameters
        ----------
        estimator : fitted model
            Any model with `explain`.
        X : array-like or frame of shape (n_samples, n_features), or documents
            The rows to explain.
        row, label, against, most, ax
            As in `plot`.

        Returns
        -------
        ExplanationDisplay
            The display, already drawn.
        """
        return cls(estimator.explain(X)).plot(ax, row=row, label=label, against=against, most=most)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        row: int | None = None,
        label: Any = None,
        against: Any = None,
        most: int = 12,
    ) -> Self:
        """Draw one row, or a summary of all rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        row : int, optional
            The row (or document) to draw. By default a summary of all rows, if there is more than one.
        label : class, optional
            The class whose log odds are drawn; by default the most probable class of each row.
        against : class, optional
            The class it is compared with; by default the most probable of the others.
        most : int, default=12
            The largest number of columns (or words) to name. A waterfall draws the others together; a summary
            leaves them out.

        Returns
        -------
        ExplanationDisplay
            The display itself.
        """
        check_most(most)
        if len(self.explanation.total) == 0:
            raise ValueError("there is nothing to draw, since no rows were explained.")
        if row is not None or len(self.explanation.total) == 1:
            return self._waterfall(ax, row or 0, label, against, most)
        return self._summary(ax, label, against, most)

    @property
    def unit(self) -> str:
        """The unit of the contributions: nats, unless the model has another."""
        return getattr(self.explanation, "unit", "nats")

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            The explanation as a frame.
        """
        return self.explanation.to_frame()

    def pair(self, row: int, label: Any = None, against: Any = None) -> tuple[Any, Any]:
        """Return the two classes that are compared for a row.

        Parameters
        ----------
        row : int
            The row.
        label, against : class, optional
            Classes to take instead of the most probable one and the next.

        Returns
        -------
        tuple of two classes
            The class, and the one it is compared with.
        """
        known = self.explanation.classes.tolist()
        for one in (label, against):
            if one is not None:
                class_index(one, known)
        if not 0 <= row < len(self.explanation.total):
            raise ValueError(f"there is no row {row}; {len(self.explanation.total)} rows were explained.")
        order = [known[k] for k in np.argsort(-self.explanation.posterior[row], kind="stable")]
        chosen = next(one for one in order if one != against) if label is None else label
        others = [one for one in order if one != chosen]
        if not others:
            raise ValueError("log odds need two classes, but this model has one.")
        if chosen == against:
            raise ValueError(f"label and against must be different classes, but both are {chosen!r}.")
        return chosen, others[0] if against is None else against

    def entries(
        self, row: int, label: Any = None, against: Any = None, most: int | None = None
    ) -> list[Entry]:
        """Return the bars of the waterfall of a row.

        Parameters
        ----------
        row : int
            The row.
        label, against : class, optional
            The classes to compare; by default the most probable one and the next.
        most : int, optional
            The largest number of columns (or words); the others are summed into one bar.

        Returns
        -------
        list of Entry
            The prior, then the contribution of each column (or word), strongest first.
        """
        chosen, other = self.pair(row, label, against)
        known = self.explanation.classes.tolist()
        a, b = known.index(chosen), known.index(other)
        found = self._columns(row, chosen, other)
        found.sort(key=lambda entry: -abs(entry.nats))
        if most is not None and len(found) > most:
            rest = found[most - 1 :]
            total = _sum([entry.nats for entry in rest])
            found = [*found[: most - 1], Entry(f"{len(rest)} others", total)]
        prior = float(difference(self.explanation.prior[a], self.explanation.prior[b]))
        return [Entry(getattr(self.explanation, "start", "(prior)"), prior), *found]

    def _columns(self, row: int, label: Any, against: Any) -> list[Entry]:
        explanation = self.explanation
        if not hasattr(explanation, "contributions"):
            words = [Entry(word, nats) for word, nats in explanation.evidence(row, label, against)]
            known = explanation.classes.tolist()
            rest = explanation.rest(row)
            with np.errstate(invalid="ignore"):
                left = float(rest[known.index(label)] - rest[known.index(against)])
            # A rounding error is not a contribution.
            told = [] if np.isnan(left) or abs(left) < 1e-9 else [Entry("absent or unknown words", left)]
            return words + told
        gains = explanation.evidence(label, against)[row].tolist()
        cells = (values[row] for values in explanation.values)
        found = zip(explanation.columns, cells, gains, _speaking(explanation), strict=True)
        return [
            Entry(f"{one_line(name)} = {_shown(cell)}", gain) for name, cell, gain, speaks in found if speaks
        ]

    def _waterfall(self, ax: Axes | None, row: int, label: Any, against: Any, most: int) -> Self:
        entries = self.entries(row, label, against, most)
        chosen, other = self.pair(row, label, against)
        nats = np.array([entry.nats for entry in entries])
        drawn = bounded(nats)
        ends = np.cumsum(drawn)
        starts = ends - drawn
        names = [*(entry.name for entry in entries), "log odds" if self.unit == "nats" else "score"]
        at = np.arange(len(names))
        ax = self._start(ax, (default_width(), 1.1 + ROW_HEIGHT * len(names)))
        for i, width in enumerate([*drawn, ends[-1]]):
            left = starts[i] if i < len(drawn) else 0.0
            whole = i == len(drawn)
            ax.barh(
                at[i],
                width,
                left=left,
                height=0.7,
                color=FOR if width >= 0 else AGAINST,
                hatch="" if width >= 0 else "///",
                edgecolor=foreground(),
                linewidth=1.2 if whole else 0.4,
            )
        for i, end in enumerate(ends[:-1]):
            ax.plot([end, end], [at[i] - 0.35, at[i + 1] + 0.35], color=foreground(), linewidth=0.6)
        written = [*nats, _sum(nats.tolist())]
        reach = [*np.maximum(starts, ends), max(float(ends[-1]), 0.0)]
        for i, (value, end) in enumerate(zip(written, reach, strict=True)):
            ax.annotate(
                _written(value),
                (end, at[i]),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
        span = max(float(np.ptp([0.0, *starts, *ends])), 1e-9)
        lowest, highest = min(0.0, *starts, *ends), max(0.0, *starts, *ends)
        ax.set_xlim(lowest - 0.05 * span, highest + beyond(ax, map(_written, written)) * span)
        ax.axvline(0.0, color=foreground(), linewidth=0.8)
        ax.invert_yaxis()
        self._name(ax, names, chosen, other)
        keep_within(ax)
        return self

    def _name(self, ax: Axes, names: list[str], chosen: object, other: object) -> None:
        """Name the bars, and write below which classes are compared."""
        name_ticks(ax.yaxis, range(len(names)), names)
        phrase = fitted_pair(f"{self.unit} for ", chosen, other, 0.9 * room_in_inches(ax)[0])
        ax.set_xlabel(literal(phrase), loc="right")

    def _summary(self, ax: Axes | None, label: Any, against: Any, most: int) -> Self:
        names, gains = self.strongest(label, against, most)
        own = ax is None
        ax = self._start(ax, (default_width(), 1.4 + ROW_HEIGHT * len(names)))
        shown = bounded(gains)
        rng = np.random.default_rng(0)
        for sign, colour, marker, name in ((1, FOR, "o", "for"), (-1, AGAINST, "x", "against")):
            i, j = np.nonzero(shown * sign > 0)
            ax.scatter(
                shown[i, j],
                j + rng.uniform(-0.25, 0.25, len(j)),
                s=10,
                c=colour,
                marker=marker,
                alpha=0.8,
                linewidths=0.8,
                label=f"a row, {name}",
                rasterized=True,
            )
        mark_means(ax, shown.mean(axis=0))
        ax.axvline(0.0, color=foreground(), linewidth=0.8)
        ax.set_ylim(len(names) - 0.5, -0.5)
        one = "the best class" if label is None else label
        two = "the next" if against is None else against
        self._name(ax, names, one, two)
        draw_far_nearer(ax, shown)
        legend_below(ax, own=own)
        return self

    def strongest(self, label: Any = None, against: Any = None, most: int = 12) -> tuple[list[str], Array]:
        """Return what the summary draws.

        Parameters
        ----------
        label, against : class, optional
            The classes to compare; by default the most probable one of each row and the next.
        most : int, default=12
            The largest number of columns (or words).

        Returns
        -------
        names : list of str
            The columns (or words) that contribute most.
        gains : ndarray of shape (n_samples, n_names)
            What each contributes to each row; an absent word contributes 0.
        """
        pairs = [self.pair(row, label, against) for row in range(len(self.explanation.total))]
        if hasattr(self.explanation, "contributions"):
            known = {pair: self.explanation.evidence(*pair) for pair in set(pairs)}
            gains = np.array([known[pair][row] for row, pair in enumerate(pairs)])
            names = [str(name) for name in self.explanation.columns]
            speaking = np.flatnonzero(_speaking(self.explanation))
            names, gains = [names[j] for j in speaking], gains[:, speaking]
        else:
            said = [dict(self.explanation.evidence(row, *pair)) for row, pair in enumerate(pairs)]
            strongest: Counter[str] = Counter()
            for words in said:
                strongest.update({word: abs(nats) for word, nats in words.items()})
            names = [word for word, _ in strongest.most_common(most)]
            gains = np.array([[words.get(word, 0.0) for word in names] for words in said])
        strength = np.abs(bounded(gains)).mean(axis=0)
        order = np.argsort(-strength, kind="stable")[:most]
        return [names[j] for j in order], gains[:, order]


def _speaking(explanation: Any) -> NDArray[np.bool_]:
    """The columns that tell classes apart in some row; all if none does."""
    said = explanation.contributions
    speaks = np.any(said != said[:, :, :1], axis=(0, 2))
    return np.asarray(speaks if speaks.any() else np.ones_like(speaks))


def _sum(nats: list[float]) -> float:
    """The total; NaN if infinities of both signs leave it undefined."""
    with np.errstate(invalid="ignore"):
        return float(np.sum(nats))


def _written(nats: float) -> str:
    return "undefined" if np.isnan(nats) else f"{nats:+.2f}".replace("inf", "∞").replace("-", "−")


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else one_line(value)
