"""The digits of a variance after a hundred parts were merged and ninety-nine subtracted again."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import BayesClassifier, Statistics, summarize
from suffice.families import Normal
from suffice.plots.display import legend_under_all
from suffice.plots.palette import COLOURS, LINES, MARKERS

OFFSETS = 10.0 ** np.arange(0, 10)
PARTS, ROWS = 100, 50
LEAST = 1e-17


def errors(offset: float) -> tuple[float, float]:
    """Return the relative error of the variance of what is left: from raw sums, and from the library's."""
    rng = np.random.default_rng(0)
    parts = [rng.normal(offset, 1.0, (ROWS, 1)) for _ in range(PARTS)]
    truth = parts[0].var()
    raw = np.zeros(3)
    total: Statistics | None = None
    for x in parts:
        raw += [len(x), x.sum(), np.square(x).sum()]
        own = summarize(x, np.zeros(ROWS, dtype=int))
        total = own if total is None else total + own
    for x in parts[1:]:
        raw -= [len(x), x.sum(), np.square(x).sum()]
        total = total - summarize(x, np.zeros(ROWS, dtype=int))
    left = BayesClassifier(families=Normal(alpha=0)).fit_statistics(total)
    ours = left.parameters_[0]["variance"][0]
    theirs = raw[2] / raw[0] - (raw[1] / raw[0]) ** 2
    return abs(theirs - truth) / truth, abs(ours - truth) / truth


def draw() -> Figure:
    found = np.maximum(np.array([errors(offset) for offset in OFFSETS]), LEAST)
    figure = new_figure(4.2)
    ax = figure.add_subplot()
    for k, name in enumerate(("raw sums Σx, Σx²", "sums about an origin")):
        ax.loglog(OFFSETS, found[:, k], LINES[k], color=COLOURS[k], marker=MARKERS[k], label=name)
    ax.axhline(1.0, color="gray", linewidth=0.8)
    ax.annotate("nothing left", (1.0, 1.0), (0, 4), textcoords="offset points", fontsize=9)
    ax.set(
        xlabel="offset of the data, in standard deviations",
        ylabel="relative error of the variance",
        ylim=(1e-17, 1e4),
    )
    legend_under_all(figure, ax.get_lines()[:2])
    return figure


if __name__ == "__main__":
    save(draw, __file__)
