"""Frames, text labels and narrow integers against the same numbers in one array, or against reading them."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from comparison import Comparison, compare
from suffice import BayesClassifier
from suffice.families import Bernoulli, Categorical, Normal

ROWS, COLUMNS, CLASSES = 1_000_000, 50, 10


def _table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=ROWS)
    return rng.normal(0.1 * y[:, np.newaxis], size=(ROWS, COLUMNS)), y


def _fit(X, y, family) -> object:
    return BayesClassifier(family).fit(X, y)


def frames() -> list[Comparison]:
    """Theirs is our own C array; asked is at most twice its time."""
    X, y = _table()
    columns = {f"x{j}": np.ascontiguousarray(x) for j, x in enumerate(X.T)}
    arrow = pa.table(columns)
    containers = {
        "Fortran order": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "pandas": pd.DataFrame(columns),
        "Polars": pl.DataFrame(columns),
        "Arrow": arrow,
        "Arrow in chunks": pa.concat_tables([arrow.slice(at, 70_000) for at in range(0, ROWS, 70_000)]),
    }
    done = []
    array = _fit(X, y, Normal())
    for name, table in containers.items():
        model = _fit(table, y, Normal())
        title = f"{name} against an array, 1M × 50"
        fits = (partial(_fit, table, y, Normal()), partial(_fit, X, y, Normal()))
        answers = (partial(model.predict_proba, table), partial(array.predict_proba, X))
        done.append(compare(f"{title}, fit", ROWS, *fits, limit=X.sum, at_least=0.5))
        done.append(compare(f"{title}, predict_proba", ROWS, *answers, repeats=3, at_least=0.5))
    return done


def text_labels() -> list[Comparison]:
    """Theirs are labels that are numbers; asked is at most three times the time of a fit."""
    X, y = _table()
    text = np.array([f"class {k}" for k in range(CLASSES)], dtype=object)[y]
    labels = {
        "objects": text,
        "NumPy text": text.astype(str),
        "pandas": pd.Series(text),
        "categories": pd.Series(text, dtype="category"),
        "Polars": pl.Series(text),
        "Arrow": pa.array(text),
    }
    return [
        compare(
            f"text labels ({name}) against numbers, 1M × 50, fit",
            ROWS,
            partial(_fit, X, those, Normal()),
            partial(_fit, X, y, Normal()),
            at_least=1 / 3,
        )
        for name, those in labels.items()
    ]


def narrow_cells() -> list[Comparison]:
    """Theirs is one read of the cells, by X.sum(); asked is at most two."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=ROWS)
    flags, levels = rng.random((ROWS, COLUMNS)) < 0.3, rng.integers(0, 6, size=(ROWS, COLUMNS))
    tables = [(Bernoulli(), flags, dtype) for dtype in ("float64", "bool", "uint8")]
    tables += [(Categorical(), levels, dtype) for dtype in ("int8", "uint8", "int16", "int32", "int64")]
    done = []
    for family, cells, dtype in tables:
        X = cells.astype(dtype)
        title = f"{family.name} {dtype} against one read, 1M × 50, fit"
        done.append(compare(title, ROWS, partial(_fit, X, y, family), X.sum, at_least=0.5))
    return done


PARTS = (frames, text_labels, narrow_cells)
