"""How honest naive Bayes is when columns repeat each other, and once their evidence is weighed."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import BayesClassifier, EvidenceClassifier
from suffice.families import Normal
from suffice.plots import ReliabilityDisplay
from suffice.plots.display import legend_under_all
from suffice.plots.reliability import reliability_curves


def patients(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a fever, measured by three thermometers, and an independent blood value."""
    t = rng.integers(0, 2, n)
    fever = rng.normal(1.2 * t, 1.0)
    thermometers = fever[:, np.newaxis] + 0.3 * rng.normal(size=(n, 3))
    return np.column_stack([thermometers, rng.normal(1.2 * t, 1.0)]), t


def draw() -> Figure:
    rng = np.random.default_rng(0)
    X, t = patients(2000, rng)
    new_X, new_t = patients(4000, rng)
    models = {
        "naive Bayes": BayesClassifier(families=Normal(), evidence_weight=1.0),
        "one weight, 0.5": BayesClassifier(families=Normal(), evidence_weight=0.5),
        "a weight for each column": EvidenceClassifier(families=Normal(), pieces=["columns"]),
    }
    curves = []
    for name, model in models.items():
        p = model.fit(X, t).predict_proba(new_X)
        (curve,) = reliability_curves(new_t, p)
        curves.append(replace(curve, label=name))
    figure = new_figure(4.8)
    display = ReliabilityDisplay(curves).plot(figure.add_subplot(), legend=False)
    legend_under_all(figure, display.handles())
    return figure


if __name__ == "__main__":
    save(draw, __file__)
