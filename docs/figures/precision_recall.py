"""Precision against recall, and the ROC curve, of a rare class."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import GaussianDiscriminant
from suffice.plots import PrecisionRecallDisplay, RocCurveDisplay

THRESHOLDS = (0.5, 0.2, 0.05)


def patients() -> tuple[np.ndarray, np.ndarray]:
    """Return two blood values of each patient, of whom one in a hundred is ill."""
    rng = np.random.default_rng(0)
    ill = np.arange(10_000) < 100
    X = rng.normal(size=(10_000, 2)) + np.where(ill[:, np.newaxis], [2.0, 1.5], 0.0)
    return X, np.where(ill, "cancer", "no cancer")


def draw() -> Figure:
    X, y = patients()
    train = np.arange(len(y)) % 2 == 0
    model = GaussianDiscriminant().fit(X[train], y[train])
    figure = new_figure(6.6)
    panels = figure.subplots(2, 1)
    for ax, kind in zip(panels, (PrecisionRecallDisplay, RocCurveDisplay), strict=True):
        display = kind.from_estimator(model, X[~train], y[~train], positive="cancer", legend=False, ax=ax)
        (curve,) = display.curves
        for threshold in THRESHOLDS:
            at = int(
                np.argmin(np.abs(np.where(np.isfinite(curve.threshold), curve.threshold, 9.0) - threshold))
            )
            ax.plot(curve.x[at], curve.y[at], "o", color=mpl.rcParams["text.color"])
            ax.annotate(
                f"p > {threshold}", (curve.x[at], curve.y[at]), (7, 2), textcoords="offset points", fontsize=9
            )
        ax.set_title(f"area {curve.area:.3f}", fontsize=10)
    return figure


if __name__ == "__main__":
    save(draw, __file__)
