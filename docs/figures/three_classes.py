"""Three Gaussian classes, each with its own Σ."""

from matplotlib.figure import Figure
from panels import densities_and_posteriors, gaussians, save

from suffice import GaussianDiscriminant

MEANS = {"C₁": (-0.9, 0.8), "C₂": (0.9, 0.7), "C₃": (0.0, -0.5)}
COVARIANCES = {
    "C₁": [[0.35, 0.15], [0.15, 0.25]],
    "C₂": [[0.15, -0.08], [-0.08, 0.4]],
    "C₃": [[0.2, 0.0], [0.0, 0.06]],
}


def draw() -> Figure:
    X, y = gaussians(MEANS, COVARIANCES)
    return densities_and_posteriors(GaussianDiscriminant("full").fit(X, y), X, y)


if __name__ == "__main__":
    save(draw, __file__)
