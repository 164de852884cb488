"""LDA and QDA on the same rows, with two and with three classes."""

from matplotlib.figure import Figure
from panels import gaussians, new_figure, save
from three_classes import COVARIANCES, MEANS

from suffice import GaussianDiscriminant
from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_under_all


def draw() -> Figure:
    figure = new_figure(5.2)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    X, y = gaussians(MEANS, COVARIANCES, 80)
    for across, labels in enumerate((["C₁", "C₂"], list(MEANS))):
        kept = [label in labels for label in y]
        for down, (name, covariance) in enumerate((("LDA", "shared"), ("QDA", "full"))):
            model = GaussianDiscriminant(covariance).fit(X[kept], y[kept])
            ax = panels[down, across]
            display = PosteriorDisplay.from_estimator(model, X, y, densities=False, legend=False, ax=ax)
            ax.set(title=f"{name}, {len(labels)} classes", xlabel="x₁", ylabel="x₂")
            ax.label_outer()
    legend_under_all(figure, display.handles())
    return figure


if __name__ == "__main__":
    save(draw, __file__)
