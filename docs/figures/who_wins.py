"""GDA and logistic regression on rows for which GDA's assumption is right, and wrong."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter
from panels import new_figure, save

from suffice import GaussianDiscriminant, LogisticRegression, compare
from suffice.plots.display import legend_under_all

SIZES = [30, 60, 120, 240, 500, 1000]


def rows() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return rows of two Gaussian classes with one covariance, and of two Exponential classes."""
    rng = np.random.default_rng(1)
    t = rng.integers(0, 2, 1500)
    gaussian = rng.normal(size=(1500, 15)) + 0.45 * t[:, np.newaxis]
    waiting = rng.exponential(np.where(t[:, np.newaxis] == 1, 2.5, 1.0), (1500, 8))
    return {"Gaussian rows": gaussian, "waiting times": waiting}, t


def draw() -> Figure:
    tables, t = rows()
    models = {"GDA": GaussianDiscriminant(), "logistic regression": LogisticRegression(C=100.0)}
    figure = new_figure(3.6)
    panels = figure.subplots(1, 2, sharey=True)
    for ax, (title, X) in zip(panels, tables.items(), strict=True):
        compare(models, X, t, sizes=SIZES, repeats=8).plot(ax, "log_loss")
        handles = ax.get_legend_handles_labels()[0]
        ax.get_legend().remove()
        ax.set(title=title, xlabel="training rows", ylabel="", ylim=(0.2, 1.2))
        ax.set_xticks([30, 100, 1000])
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    panels[0].set_ylabel("log loss")
    legend_under_all(figure, handles)
    return figure


if __name__ == "__main__":
    save(draw, __file__)
