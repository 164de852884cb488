"""How the files in this folder were made. Released ones are never made again: they must load for ever."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

import suffice
from suffice.families import Categorical, Histogram, MultivariateNormal, Poisson, Words
from suffice.storage.format import FORMAT

FOLDER = Path(__file__).parent


def keep(name, thing, rows=None):
    path = FOLDER / f"format{FORMAT}_{name}.suffice"
    if path.exists():
        raise FileExistsError(path)
    thing.save(path)
    expected = {"classes": getattr(thing, "classes_", getattr(thing, "classes", None)).tolist()}
    if rows is None:
        expected |= {"support": thing.support.tolist()}
    else:
        expected |= {"rows": rows, "posteriors": thing.predict_proba(rows).tolist()}
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def main():
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal((12, 3)), 2)
    X[2, 1] = X[7, 0] = X[9, 2] = np.nan
    y = np.array([0, 1] * 6)
    keep("gaussian", suffice.GaussianDiscriminant("full").fit(X, y), X[:1].tolist())
    whole = np.nan_to_num(X)
    keep("logistic", suffice.LogisticRegression().fit(whole, y), whole[:2].tolist())
    documents = ["good film", "bad film", "Köln", "good fun"]
    keep("text", suffice.TextClassifier().fit(documents, ["+", "-", "-", "+"]), ["good", "film in Köln"])
    table = pd.DataFrame(
        {
            "town": ["Ulm", "Köln", None, "Ulm"],
            "visits": [1, 2, 3, 4],
            "size": [1.5, 2.5, 3.5, 9.0],
            "length": [1.0, 2.0, 4.0, 8.0],
            "width": [1.0, 3.0, 4.0, 5.0],
            "note": documents,
        }
    )
    families = {
        "town": Categorical(),
        "visits": Poisson(alpha=0.5),
        "size": Histogram(4),
        ("length", "width"): MultivariateNormal("shared"),
        "note": Words(),
    }
    keep("table", suffice.summarize(table, ["a", "a", "b", "b"], families=families))


if __name__ == "__main__":
    main()
