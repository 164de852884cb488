"""A mixed table with gaps, models of it that are fitted once, and how to compare models."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import EvidenceClassifier

N = 120
NAMES = np.array(["ash", "birch", "cedar", "dogwood"])
NOTES = ("good film", "bad film and bad music", "great fun", "no fun at all", "Köln is far")


def mixed(n=N, n_classes=3, seed=0, *, gaps=0.1):
    """Numbers (some far from 0), counts, levels, flags, days and text, with gaps, and the labels."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    columns = {
        "length": rng.normal(1.5 * y, 1.0),
        "far": 1e9 + rng.normal(y, 1.0),
        "waiting": np.exp(rng.normal(y, 1.0)),
        "children": rng.poisson(1.0 + y).astype(float),
        "often": np.where(rng.random(n) < 0.3, 0.0, rng.gamma(1.0 + y)),
        "smoker": rng.random(n) < 0.2 + 0.2 * y,
        "town": np.array(["Ulm", "Bonn", "Köln"])[(rng.integers(0, 2, n) + y) % 3],
        "born": [dt.date(1990, 1, 1) + dt.timedelta(days=int(d)) for d in rng.normal(900 * y, 700)],
        "note": np.array(NOTES)[(y + rng.integers(0, 3, n)) % 5],
        "constant": np.full(n, 4.0),
    }
    cells = {
        name: [
            None if gone else value
            for value, gone in zip(
                np.asarray(values, dtype=object).tolist(), rng.random(n) < gaps, strict=True
            )
        ]
        for name, values in columns.items()
    }
    return pd.DataFrame({name: typed(values) for name, values in cells.items()}), NAMES[y]


def typed(values):
    kind = next((type(value) for value in values if value is not None), float)
    return pd.Series(values, dtype={float: np.float64, bool: "boolean"}.get(kind, object))


FAMILIES = {"note": suffice.families.Words()}


def saved(model):
    """The bytes of its file."""
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def agrees(one, other, X, atol=1e-9, other_rows=None):
    """Both give the same posteriors."""
    assert one.classes_.tolist() == other.classes_.tolist()
    expected = other.predict_proba(X if other_rows is None else other_rows)
    np.testing.assert_allclose(one.predict_proba(X), expected, rtol=0, atol=atol)


@pytest.fixture(scope="session")
def penguins():
    X, y = suffice.load_penguins()
    return X.to_pandas(), np.asarray(y)


@pytest.fixture(scope="session")
def of_penguins(penguins):
    """A model that no test changes."""
    return EvidenceClassifier().fit(*penguins)


@pytest.fixture(scope="session")
def table():
    return mixed()


@pytest.fixture(scope="session")
def of_table(table):
    """A model that no test changes."""
    return EvidenceClassifier(FAMILIES).fit(*table)
