"""A prior shifts the linear boundary in parallel."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save
from two_classes import rows

from suffice import GaussianDiscriminant
from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_below


def draw() -> Figure:
    X, y = rows()
    model = GaussianDiscriminant("shared").fit(X, y)
    ax = new_figure(4.4).add_subplot()
    display = PosteriorDisplay.from_estimator(model, X, y, densities=False, boundaries=False, ax=ax)
    across = np.array(ax.get_xlim())
    for prior, line in ((0.99, "--"), (0.5, "-"), (0.01, ":")):
        boundary = model.with_priors([prior, 1.0 - prior]).boundary("C₁", "C₂")
        up = -(boundary.w[0] * across + boundary.w0) / boundary.w[1]
        ax.plot(across, up, line, color=mpl.rcParams["text.color"], linewidth=1.8, label=f"p(C₁) = {prior}")
    ax.set(xlabel="x₁", ylabel="x₂", xlim=across, ylim=display.y.edges[[0, -1]])
    legend_below(ax, [*display.handles(), *ax.get_lines()])
    return ax.figure


if __name__ == "__main__":
    save(draw, __file__)
