"""The layout of the figures, and how they are saved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from suffice.plots import PosteriorDisplay
from suffice.plots.display import legend_under_all

WIDTH = 4.8
"""In inches, so that the text stays readable on a page as narrow as a phone."""


def new_figure(height: float) -> Figure:
    return Figure(figsize=(WIDTH, height), layout="constrained")


def gaussians(
    means: dict[str, Any], covariances: dict[str, Any], n: int = 120
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of Gaussian classes, with their labels."""
    rng = np.random.default_rng(0)
    drawn = [rng.multivariate_normal(means[label], covariances[label], n) for label in means]
    return np.concatenate(drawn), np.repeat(list(means), n)


def densities_and_posteriors(model: Any, X: np.ndarray, y: np.ndarray) -> Figure:
    """Draw the fitted density of each class above, and the posterior of a new x below."""
    figure = new_figure(6.8)
    above, below = figure.subplots(2, 1)
    PosteriorDisplay.from_estimator(model, X, y, posterior=False, boundaries=False, legend=False, ax=above)
    display = PosteriorDisplay.from_estimator(model, X, densities=False, legend=False, ax=below)
    above.set(title="class-conditional densities p(x | Cₖ)", xlabel="x₁", ylabel="x₂")
    below.set(title="posteriors p(Cₖ | x)", xlabel="x₁", ylabel="x₂")
    legend_under_all(figure, display.handles(lines=True))
    return figure


def data_of(figure: Figure) -> list[list[float]]:
    """Mean and spread of each line, surface and cloud of points: the data of a figure, not its pixels."""
    shown: list[Any] = []
    for ax in figure.axes:
        shown += [line.get_xydata() for line in ax.lines]
        shown += [image.get_array() for image in ax.images]
        shown += [bar.get_bbox().get_points() for bar in ax.patches if isinstance(bar, Rectangle)]
        for drawn in ax.collections:
            vertices = [path.vertices for path in drawn.get_paths() if len(path.vertices)]
            shown += [drawn.get_offsets(), drawn.get_array(), np.concatenate(vertices) if vertices else None]
    arrays = [
        np.ma.compressed(np.ma.masked_invalid(np.asarray(one, float))) for one in shown if one is not None
    ]
    return [[float(f"{one.mean():.6g}"), float(f"{one.std():.6g}")] for one in arrays if one.size]


def save(draw: Callable[[], Figure], script: str) -> None:
    """Save a figure next to its script, under the same name, with its data inside the file."""
    file = Path(script).with_suffix(".png")
    # Draw all points of a line: which ones simplification drops depends on rounding, and the file would too.
    with mpl.rc_context({"path.simplify": False}):
        figure = draw()
        figure.savefig(file, dpi=150, metadata={"Software": None, "Data": json.dumps(data_of(figure))})
    print(file.name)
