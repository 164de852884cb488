"""The posterior of two Gaussian classes with one Σ: a surface with a sigmoidal slope."""

import numpy as np
from matplotlib.figure import Figure
from panels import gaussians, new_figure, save

from suffice import GaussianDiscriminant
from suffice.plots import SurfaceDisplay

COVARIANCE = ((0.5, 0.1), (0.1, 0.4))
MEANS = {"C₁": (-0.5, 0.4), "C₂": (0.5, -0.4)}


def draw() -> Figure:
    X, y = gaussians(MEANS, dict.fromkeys(MEANS, COVARIANCE))
    model = GaussianDiscriminant("shared").fit(X, y)
    figure = new_figure(4.6)
    ax = figure.add_subplot(projection="3d")
    display = SurfaceDisplay.from_estimator(model, X, label="C₁", ax=ax, colours=["red", "blue"])
    low, high = display.y.values[[0, -1]]
    for c in (0.1, 0.5, 0.9):
        surface = model.boundary("C₁", "C₂", threshold=c)
        up = np.linspace(low, high, 50)
        across = -(surface.w0 + surface.w[1] * up) / surface.w[0]
        inside = (across > display.x.values[0]) & (across < display.x.values[-1])
        height = np.full(int(inside.sum()), c)
        ax.plot(across[inside], up[inside], height, color="white", linewidth=1.5, zorder=5)
    ax.set(xlabel="x₁", ylabel="x₂")
    ax.set_title("p(C₁ | x) = σ(wᵀx + w₀)", y=0.98)
    ax.view_init(35, -100)
    ax.set_box_aspect(None, zoom=0.95)
    figure.draw_without_rendering()  # a surface has its shape on the page once it has been drawn
    return figure


if __name__ == "__main__":
    save(draw, __file__)
