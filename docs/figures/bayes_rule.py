"""From class-conditional densities to posteriors, in three steps."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import BayesClassifier, load_penguins
from suffice.families import Normal
from suffice.plots.display import legend_under_all
from suffice.plots.palette import COLOURS

LABELS = ("Adelie", "Chinstrap")


def draw() -> Figure:
    X, species = load_penguins()
    kept = np.isin(species, LABELS)
    bill = np.asarray(X["bill_length_mm"], dtype=float)[kept]
    model = BayesClassifier(Normal(alpha=0)).fit(bill[:, np.newaxis], species[kept])
    x = np.linspace(30.0, 60.0, 301)[:, np.newaxis]
    joint = np.exp(model.predict_joint_log_proba(x))
    posterior = model.predict_proba(x)
    border = x[np.abs(posterior[:, 0] - 0.5).argmin(), 0]
    steps = {
        "class-conditional densities p(x | Cₖ)": joint / model.priors_,
        "times the priors: p(x | Cₖ) p(Cₖ)": joint,
        "divided by their sum: p(Cₖ | x)": posterior,
    }
    figure = new_figure(6.4)
    panels = figure.subplots(3, 1, sharex=True)
    for ax, (title, curves) in zip(panels, steps.items(), strict=True):
        for k, style in enumerate(("-", "--")):
            ax.plot(x[:, 0], curves[:, k], style, color=COLOURS[k], label=LABELS[k])
        ax.axvline(border, color="gray", linewidth=0.8)
        ax.set(title=title, ylim=(0, None))
    panels[-1].set_xlabel("bill length in mm")
    legend_under_all(figure, panels[0].get_lines()[:2])
    return figure


if __name__ == "__main__":
    save(draw, __file__)
