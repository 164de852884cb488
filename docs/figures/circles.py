"""Gaussian naive Bayes on two circles."""

from matplotlib.figure import Figure
from panels import new_figure, save
from sklearn.datasets import make_circles

from suffice import BayesClassifier
from suffice.families import Normal
from suffice.plots import PosteriorDisplay


def draw() -> Figure:
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    model = BayesClassifier(Normal(alpha=0)).fit(X, y)
    ax = new_figure(4.6).add_subplot()
    PosteriorDisplay.from_estimator(model, X, y, densities=False, ax=ax)
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    return ax.figure


if __name__ == "__main__":
    save(draw, __file__)
