"""Two Gaussian classes with one Σ: their densities, and the posterior."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from panels import densities_and_posteriors, gaussians, save

from suffice import GaussianDiscriminant
from suffice.links import logit


def rows() -> tuple[np.ndarray, np.ndarray]:
    covariance = ((0.3, 0.12), (0.12, 0.25))
    return gaussians({"C₁": (-0.5, 0.5), "C₂": (0.5, -0.3)}, {"C₁": covariance, "C₂": covariance})


def draw() -> Figure:
    X, y = rows()
    model = GaussianDiscriminant("shared").fit(X, y)
    figure = densities_and_posteriors(model, X, y)
    below = figure.axes[1]
    boundary = model.boundary("C₁", "C₂")
    across, limits = np.array(below.get_xlim()), below.get_ylim()
    for posterior in (0.1, 0.9):
        up = (logit(posterior) - boundary.w0 - boundary.w[0] * across) / boundary.w[1]
        below.plot(across, up, ":", color=mpl.rcParams["text.color"], linewidth=1.2)
    below.set(xlim=across, ylim=limits)
    return figure


if __name__ == "__main__":
    save(draw, __file__)
