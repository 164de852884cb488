"""Learning curves of GDA and logistic regression on public tables in the folder SUFFICE_DATA."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from panels import new_figure, save

from suffice import GaussianDiscriminant, compare
from suffice.estimators.regression import LogisticRegression
from suffice.plots.display import legend_under_all

TABLES = {"satimage": "class", "letter": "lettr", "texture": "target", "twonorm": "target"}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised columns, so that the weak penalty affects all of them equally, and labels."""
    file = "train.csv.gz" if name == "satimage" else "data.csv.gz"
    frame = pd.read_csv(Path(os.environ["SUFFICE_DATA"]) / name / file)
    y = frame.pop(TABLES[name]).astype(str).to_numpy()
    X = frame.to_numpy(dtype=float)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


def draw(read: Callable[[str], tuple[np.ndarray, np.ndarray]] = table, repeats: int = 6) -> Figure:
    models = {"GDA": GaussianDiscriminant(), "logistic": LogisticRegression(C=1000.0)}
    figure = new_figure(8.4)
    panels = figure.subplots(len(TABLES), 2, sharex="row")
    for name, row in zip(TABLES, panels, strict=True):
        X, y = read(name)
        sizes = np.geomspace(2 * len(np.unique(y)), min(6000, 0.7 * len(y)), 9).astype(int)
        curves = compare(models, X, y, sizes=sizes, repeats=repeats)
        for measure, ax in zip(("error", "log_loss"), row, strict=True):
            mean, about = curves.difference("GDA", "logistic", measure)
            with np.errstate(divide="ignore", invalid="ignore"):  # all splits may agree
                print(name, measure, curves.sizes, (mean / about).round(1))
            curves.plot(ax, measure)
            handles = ax.get_legend_handles_labels()[0]
            ax.get_legend().remove()
            ax.set(title=f"{name}: {measure.replace('_', '-')}", yscale="log", xlabel="", ylabel="")
            low, high = ax.get_ylim()
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if high < 30 * low else (1,)))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            ax.yaxis.set_minor_formatter(NullFormatter())
    for ax in panels[-1]:
        ax.set_xlabel("training rows")
    legend_under_all(figure, handles)
    return figure


if __name__ == "__main__":
    if "SUFFICE_DATA" in os.environ:
        save(draw, __file__)
    else:
        print("learning_curves.png left as it is: SUFFICE_DATA does not name the folder of public data sets")
