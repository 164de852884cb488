"""How the figures of these pages are put together and saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_under_all

WIDTH = 4.8
"""Inches, so that the letters can still be read when the page is as wide as a phone."""


def new_figure(height: float) -> Figure:
    return Figure(figsize=(WIDTH, height), layout="constrained")


def gaussians(
    means: dict[str, Any], covariances: dict[str, Any], n: int = 120
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of Gaussian classes, and their labels."""
    rng = np.random.default_rng(0)
    drawn = [rng.multivariate_normal(means[label], covariances[label], n) for label in means]
    return np.concatenate(drawn), np.repeat(list(means), n)


def densities_and_posteriors(model: Any, X: np.ndarray, y: np.ndarray) -> Figure:
    """What was fitted to each class above, and what follows for a new x below."""
    figure = new_figure(6.8)
    above, below = figure.subplots(2, 1)
    PosteriorDisplay.from_estimator(model, X, y, posterior=False, boundaries=False, legend=False, ax=above)
    display = PosteriorDisplay.from_estimator(model, X, densities=False, legend=False, ax=below)
    above.set(title="class-conditional densities p(x | Cₖ)", xlabel="x₁", ylabel="x₂")
    below.set(title="posteriors p(Cₖ | x)", xlabel="x₁", ylabel="x₂")
    legend_under_all(figure, display.handles(lines=True))
    return figure


def save(draw: Callable[[], Figure], script: str) -> None:
    """Draw a figure beside its script, under its name."""
    file = Path(script).with_suffix(".png")
    # All points of a line are drawn: which are left out would depend on rounding, and with them the file.
    with mpl.rc_context({"path.simplify": False}):
        draw().savefig(file, dpi=150, metadata={"Software": None})
    print(file.name)
