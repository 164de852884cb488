"""Three Gaussian classes; C₁ and C₂ share one Σ."""

from matplotlib.figure import Figure
from panels import densities_and_posteriors, gaussians, save
from three_classes import COVARIANCES, MEANS

from suffice import GaussianDiscriminant


def draw() -> Figure:
    X, y = gaussians(MEANS, COVARIANCES | {"C₂": COVARIANCES["C₁"]})
    model = GaussianDiscriminant([["C₁", "C₂"], ["C₃"]]).fit(X, y)
    return densities_and_posteriors(model, X, y)


if __name__ == "__main__":
    save(draw, __file__)
