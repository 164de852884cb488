"""The continuous models of the notes, with their numbers of parameters."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import GaussianDiscriminant
from suffice.plots.palette import COLOURS

K, M = 3, 10
BOXES = {
    "QDA": ("full", "own full Σₖ", "KM + K·M(M+1)/2 + K−1", (0.5, 0.86)),
    "GDA (LDA)": ("shared", "one full Σ", "KM + M(M+1)/2 + K−1", (0.24, 0.5)),
    "GNB": ("diagonal", "own diagonal Σₖ", "2KM + K−1", (0.76, 0.5)),
    "DGDA": ("shared_diagonal", "one diagonal Σ", "KM + M + K−1", (0.5, 0.14)),
}
STEPS = [
    ("QDA", "GDA (LDA)", "share Σ"),
    ("QDA", "GNB", "no correlations"),
    ("GDA (LDA)", "DGDA", "no correlations"),
    ("GNB", "DGDA", "share Σ"),
]


def counted(covariance: str) -> int:
    """Count the parameters of a fitted model."""
    rng = np.random.default_rng(0)
    model = GaussianDiscriminant(covariance).fit(rng.normal(size=(90, M)), np.arange(90) % K)
    return model.n_parameters_


def draw() -> Figure:
    ax = new_figure(4.8).add_subplot()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.axis("off")
    boxes = {}
    for name, (covariance, what, formula, at) in BOXES.items():
        linear = "shared" in covariance
        text = f"{name}: {what}\n{formula}\n= {counted(covariance)} for K = {K}, M = {M}\n" + (
            "linear boundary" if linear else "quadratic boundary"
        )
        boxes[name] = ax.text(
            *at,
            text,
            ha="center",
            va="center",
            fontsize=9,
            linespacing=1.4,
            bbox={
                "boxstyle": "round,pad=0.5",
                "facecolor": "none",
                "edgecolor": COLOURS[0 if linear else 1],
                "linestyle": "-" if linear else "--",
                "linewidth": 1.5,
            },
        )
    for parent, child, what in STEPS:
        (x, y), (to_x, to_y) = BOXES[parent][3], BOXES[child][3]
        ends = {"patchA": boxes[parent].get_bbox_patch(), "patchB": boxes[child].get_bbox_patch()}
        arrow = {"arrowstyle": "->", "color": "gray", "shrinkA": 0, "shrinkB": 1, **ends}
        ax.annotate("", (to_x, to_y), (x, y), arrowprops=arrow)
        left = x + to_x < 1
        side = {"ha": "right" if left else "left", "va": "center"}
        ax.text((x + to_x) / 2 + (-0.04 if left else 0.04), (y + to_y) / 2, what, fontsize=9, **side)
    return ax.figure


if __name__ == "__main__":
    save(draw, __file__)
