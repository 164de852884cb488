"""Draw learning_curves.png from public tables in the folder that SUFFICE_DATA names."""

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from suffice import GaussianDiscriminant
from suffice.learning_curves import compare
from suffice.regression import LogisticRegression

TABLES = {"spambase": "class", "satimage": "class", "pendigits": "class", "twonorm": "target"}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns, so that the weak penalty pulls on all of them alike, and labels."""
    file = "train.csv.gz" if name == "satimage" else "data.csv.gz"
    frame = pd.read_csv(Path(os.environ["SUFFICE_DATA"]) / name / file)
    y = frame.pop(TABLES[name]).astype(str).to_numpy()
    X = frame.to_numpy(dtype=float)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


def main() -> None:
    mpl.use("Agg")
    from matplotlib.figure import Figure

    models = {"GDA": GaussianDiscriminant(), "logistic": LogisticRegression(C=1000.0)}
    figure = Figure(figsize=(13.0, 3.2), layout="constrained")
    for name, ax in zip(TABLES, figure.subplots(1, len(TABLES)), strict=True):
        curves = compare(models, *table(name), repeats=10)
        mean, about = curves.difference("GDA", "logistic", "log_loss")
        print(name, curves.sizes, (mean / about).round(1))
        curves.plot(ax, "log_loss").set(title=name, yscale="log")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    main()
