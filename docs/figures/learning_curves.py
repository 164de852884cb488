"""Draw learning_curves.png from public tables in the folder that SUFFICE_DATA names."""

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from suffice import GaussianDiscriminant
from suffice.learning_curves import compare
from suffice.regression import LogisticRegression

TABLES = {"satimage": "class", "letter": "lettr", "texture": "target", "twonorm": "target"}


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
    figure = Figure(figsize=(13.0, 6.0), layout="constrained")
    rows = figure.subplots(2, len(TABLES))
    for column, name in enumerate(TABLES):
        X, y = table(name)
        n_classes = len(np.unique(y))
        sizes = np.geomspace(2 * n_classes, min(6000, 0.7 * len(y)), 9).astype(int)
        curves = compare(models, X, y, sizes=sizes, repeats=6)
        for row, measure in zip(rows, ("error", "log_loss"), strict=True):
            mean, about = curves.difference("GDA", "logistic", measure)
            print(name, measure, curves.sizes, (mean / about).round(1))
            ax = curves.plot(row[column], measure)
            ax.set(title=name, yscale="log", ylabel=ax.get_ylabel() if column == 0 else "")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    main()
