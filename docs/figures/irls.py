"""Newton's method (iteratively reweighted least squares) on the error of a logistic regression."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import LogisticRegression, load_penguins
from suffice.links import log_logistic
from suffice.plots.palette import COLOURS


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Return how deep bills are, in standard deviations, and which belong to Gentoo."""
    X, species = load_penguins()
    depth = X.column("bill_depth_mm").to_numpy(zero_copy_only=False).astype(float)
    kept = ~np.isnan(depth)
    depth = depth[kept]
    return ((depth - depth.mean()) / depth.std())[:, np.newaxis], (
        np.asarray(species)[kept] == "Gentoo"
    ).astype(int)


def draw() -> Figure:
    X, t = rows()
    model = LogisticRegression(C=np.inf).fit(X, t)
    path = [np.zeros((1, 2))]
    for _ in range(6):
        w = path[-1]
        path.append(w - np.linalg.solve(model.hessian(X, t, w), model.gradient(X, t, w)[0]))
    w, w0 = np.meshgrid(np.linspace(-9.5, 1.7, 120), np.linspace(-4.6, 0.9, 120))
    a = w[..., np.newaxis] * X[:, 0] + w0[..., np.newaxis]
    error = -np.sum(log_logistic(np.where(t == 1, a, -a)), axis=2)
    figure = new_figure(4.2)
    ax = figure.add_subplot()
    lowest = -model.log_likelihood_
    lines = ax.contour(
        w, w0, error, levels=lowest + np.array([1, 5, 15, 40, 80, 140]), colors="gray", linewidths=0.9
    )
    ax.clabel(lines, fmt="%.0f", fontsize=8)
    steps = np.vstack(path)
    ax.plot(steps[:, 0], steps[:, 1], "-o", color=COLOURS[0], markersize=5)
    for i, (across, up) in enumerate(steps[:5].tolist()):
        ax.annotate(
            f"step {i}" if i else "w = 0", (across, up), (6, 6), textcoords="offset points", fontsize=9
        )
    ax.plot(model.coef_[0], model.intercept_, "*", color=COLOURS[1], markersize=13)
    ax.set(xlabel="w of bill depth", ylabel="w₀", title="the error E(w), and Newton's steps")
    return figure


if __name__ == "__main__":
    save(draw, __file__)
