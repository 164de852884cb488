"""The log likelihood as a function of one parameter at a time, highest at the estimates."""

import numpy as np
from matplotlib.figure import Figure
from panels import gaussians, new_figure, save

from suffice import GaussianDiscriminant
from suffice.plots.palette import COLOURS

COVARIANCE = [[0.5, 0.2], [0.2, 0.4]]


def draw() -> Figure:
    X, y = gaussians({"C₁": (0.0, 0.0), "C₂": (1.5, 1.0)}, {"C₁": COVARIANCE, "C₂": COVARIANCE}, 40)
    X, y = X[:60], y[:60]
    model = GaussianDiscriminant("shared").fit(X, y)
    first, N = X[y == "C₁"], len(X)
    N1, Σ, μ1 = len(first), model.covariances_[0], model.means_[0]
    best = model.log_likelihood_

    π = np.linspace(0.4, 0.9, 101)
    of_share = N1 * np.log(π) + (N - N1) * np.log1p(-π)
    at_best = N1 * np.log(N1 / N) + (N - N1) * np.log1p(-N1 / N)
    step = np.linspace(-0.5, 0.5, 101)
    of_mean = -0.5 * N1 * step**2 * np.linalg.inv(Σ)[0, 0]
    factor = np.geomspace(0.5, 2.2, 101)
    of_scale = -0.5 * N * (2.0 * np.log(factor) + 2.0 / factor - 2.0)
    curves = {
        "π": (π, of_share - at_best, N1 / N, "N₁/N"),
        "the first coordinate of μ₁": (μ1[0] + step, of_mean, μ1[0], "the mean of C₁"),
        "c, with Σ = c·S": (factor, of_scale, 1.0, "S"),
    }
    figure = new_figure(6.6)
    for i, (ax, (name, (across, change, at, where))) in enumerate(
        zip(figure.subplots(3, 1), curves.items(), strict=True)
    ):
        ax.plot(across, best + change, color=COLOURS[i])
        ax.axvline(at, color="gray", linewidth=0.8)
        ax.plot([at], [best], "o", color=COLOURS[i])
        ax.text(at, 0.06, f"  {where}", transform=ax.get_xaxis_transform())
        ax.set(xlabel=name, ylabel="log likelihood")
    return figure


if __name__ == "__main__":
    save(draw, __file__)
