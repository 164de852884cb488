"""Three Gaussian classes; C₁ and C₂ share one Σ."""

from matplotlib.figure import Figure
from panels import densities_and_posteriors, gaussians, save

from suffice import GaussianDiscriminant

SHARED = [[0.35, 0.15], [0.15, 0.25]]
MEANS = {"C₁": (-0.9, 0.8), "C₂": (0.9, 0.7), "C₃": (0.0, -0.5)}
COVARIANCES = {"C₁": SHARED, "C₂": SHARED, "C₃": [[0.2, 0.0], [0.0, 0.06]]}


def draw() -> Figure:
    X, y = gaussians(MEANS, COVARIANCES)
    model = GaussianDiscriminant([["C₁", "C₂"], ["C₃"]]).fit(X, y)
    return densities_and_posteriors(model, X, y)


if __name__ == "__main__":
    save(draw, __file__)
