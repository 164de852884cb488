"""The slope of the log normaliser is the mean of u."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice.families import Bernoulli, Poisson
from suffice.plots.display import legend_under_all
from suffice.plots.palette import COLOURS, LINES

RANGES = {
    "Bernoulli: A = ln(1 + e^λ)": (Bernoulli(), (-4.0, 4.0)),
    "Poisson: A = e^λ": (Poisson(), (-3.0, 1.6)),
}
POINTS = (-2.0, 0.0, 1.0)


def draw() -> Figure:
    figure = new_figure(6.0)
    for ax, (title, (family, (low, high))) in zip(figure.subplots(2, 1), RANGES.items(), strict=True):
        λ = np.linspace(low, high, 121)
        ax.plot(λ, family.log_normalizer(λ[np.newaxis], 0.0), color="gray", label="A(λ)")
        for i, at in enumerate(POINTS):
            here = np.array([at])
            height, slope = family.log_normalizer(here, 0.0), family.mean_from_natural(here, 0.0)[0]
            near = np.array([max(low, at - 1.0), min(high, at + 1.0)])
            name = f"tangent at λ = {at:g}".replace("-", "−")
            ax.plot(near, height + slope * (near - at), LINES[i], color=COLOURS[i], linewidth=2.0, label=name)
            ax.annotate(
                f"E[u] = {slope:.2f}", (at, height), xytext=(-4, 8), textcoords="offset points", ha="right"
            )
        ax.set(title=title, xlabel="natural parameter λ", xlim=(low, high))
    legend_under_all(figure, ax.get_lines())
    return figure


if __name__ == "__main__":
    save(draw, __file__)
