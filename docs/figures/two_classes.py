"""Two Gaussian classes with one Σ: their densities, and the posterior."""

import numpy as np
from matplotlib.figure import Figure
from panels import densities_and_posteriors, gaussians, save

from suffice import GaussianDiscriminant


def rows() -> tuple[np.ndarray, np.ndarray]:
    covariance = ((0.3, 0.12), (0.12, 0.25))
    return gaussians({"C₁": (-0.5, 0.5), "C₂": (0.5, -0.3)}, {"C₁": covariance, "C₂": covariance})


def draw() -> Figure:
    X, y = rows()
    return densities_and_posteriors(GaussianDiscriminant("shared").fit(X, y), X, y)


if __name__ == "__main__":
    save(draw(), __file__)
