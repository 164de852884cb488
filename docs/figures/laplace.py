"""Laplace's correction: a bias that falls, and never a zero."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save
from scipy.stats import binom

from suffice.plots.display import legend_under_all
from suffice.plots.palette import COLOURS, LINES

μ = 0.1
ROWS = np.unique(np.geomspace(1, 1000, 60).astype(int))
ESTIMATES = {"maximum likelihood, n/N": 0.0, "Laplace, (n + 1)/(N + 2)": 1.0}


def expected(N: int, alpha: float) -> tuple[float, float]:
    """Return the mean of (n + α)/(N + 2α) over all n, and the probability that it is 0."""
    n = np.arange(N + 1)
    estimate, p = (n + alpha) / (N + 2.0 * alpha), binom.pmf(n, N, μ)
    return float(p @ estimate), float(p @ (estimate == 0))


def draw() -> Figure:
    figure = new_figure(6.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for i, (name, alpha) in enumerate(ESTIMATES.items()):
        mean, zero = np.transpose([expected(N, alpha) for N in ROWS])
        above.plot(ROWS, mean, LINES[i], color=COLOURS[i], label=name)
        below.plot(ROWS, zero, LINES[i], color=COLOURS[i])
    above.axhline(μ, color="gray", linewidth=0.8)
    above.set(title=f"the mean estimate of μ = {μ}", xscale="log", ylim=(0, 0.5))
    below.set(title="how often the estimate is 0", xlabel="rows N")
    legend_under_all(figure, above.get_lines()[:2])
    return figure


if __name__ == "__main__":
    save(draw, __file__)
