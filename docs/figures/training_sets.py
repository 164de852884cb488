"""Gaussian naive Bayes on different training sets from the same two circles."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save
from sklearn.datasets import make_circles

from suffice import BayesClassifier
from suffice.families import Normal
from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_under_all


def draw() -> Figure:
    figure = new_figure(7.6)
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    rng = np.random.default_rng(0)
    for n, axes in zip((300, 30, 10), figure.subplots(3, 2, sharex=True, sharey=True), strict=True):
        for ax in axes:
            rows = rng.integers(len(X), size=n)
            model = BayesClassifier(Normal(alpha=0)).fit(X[rows], y[rows])
            layers = {"densities": False, "legend": False, "ax": ax}
            # Draw the training rows first, since the last drawing sets the range.
            PosteriorDisplay.from_estimator(
                model, X[rows], y[rows], resolution=2, posterior=False, boundaries=False, **layers
            )
            display = PosteriorDisplay.from_estimator(model, X, **layers)
            ax.set(title=f"{n} rows", xlabel="x₁", ylabel="x₂", aspect="equal")
            ax.label_outer()
    legend_under_all(figure, display.handles())
    return figure


if __name__ == "__main__":
    save(draw, __file__)
