"""The same rows under the six covariances of the ladder."""

from matplotlib.figure import Figure
from panels import gaussians, new_figure, save

from suffice import GaussianDiscriminant
from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_under_all

MEANS = {"C₁": (-0.8, 0.0), "C₂": (0.8, 0.3)}
COVARIANCES = {"C₁": [[0.8, 0.45], [0.45, 0.4]], "C₂": [[0.25, -0.1], [-0.1, 0.5]]}
NAMES = {
    "full": "full (QDA)",
    "shared": "shared (GDA)",
    "diagonal": "diagonal (GNB)",
    "shared_diagonal": "shared diagonal",
    "isotropic": "isotropic",
    "shared_isotropic": "shared isotropic",
}


def draw() -> Figure:
    figure = new_figure(6.8)
    X, y = gaussians(MEANS, COVARIANCES, 60)
    panels = figure.subplots(3, 2, sharex=True, sharey=True)
    for ax, (covariance, name) in zip(panels.flat, NAMES.items(), strict=True):
        model = GaussianDiscriminant(covariance).fit(X, y)
        display = PosteriorDisplay.from_estimator(model, X, y, legend=False, ax=ax)
        ax.set(title=f"{name}: {model.n_parameters_}", xlabel="x₁", ylabel="x₂", aspect="equal")
        ax.label_outer()
    legend_under_all(figure, display.handles())
    return figure


if __name__ == "__main__":
    save(draw, __file__)
