"""Rows for a regression: numbers in every cell, none missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from suffice.engines.columns import as_array, complex_refusal
from suffice.engines.container import Container
from suffice.engines.table import Table, is_frame, read_labels, read_table
from suffice.families.elementary import Array
from suffice.regression.design import extent
from suffice.regression.likelihoods import Codes
from suffice.rows import LabelledRows


@dataclass(frozen=True)
class RegressionRows:
    """Rows to learn from."""

    X: Any
    """(n, d) floats, dense or csr."""
    codes: Codes
    classes: NDArray[Any]
    weights: Array | None
    bounds: tuple[Array, Array] | None
    """The least and the greatest value of each column; None for sparse rows."""
    names: tuple[str, ...]
    container: Container


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, class_weight: Any
) -> RegressionRows:
    """Check and read rows, labels and weights."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    table = _read_table(estimator, X, reset=True)
    if table.n_rows == 0:
        raise ValueError("Found array with 0 sample(s): X has no rows to learn from.")
    labels = read_labels(y)
    if labels.dtype.kind == "f":
        check_classification_targets(labels)
    rows = LabelledRows(table, labels, sample_weight)
    if len(rows.labels) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 classes, but y holds one class only: "
            f"{rows.labels.tolist()[0]!r}."
        )
    kept = table if rows.kept is None else table.take(rows.kept)
    weights = rows.weights
    if class_weight is not None:
        by_class = compute_class_weight(
            class_weight, classes=rows.labels, y=rows.labels[rows.codes], sample_weight=weights
        )
        by_row = by_class[rows.codes]
        weights = by_row if weights is None else weights * by_row
    names = tuple(str(name) if table.named else f"x{name}" for name in table.names)
    numbers, bounds = _numbers(kept)
    return RegressionRows(numbers, rows.codes, rows.labels, weights, bounds, names, table.container)


def read_rows(estimator: Any, X: Any) -> Any:
    """Check and read rows to predict."""
    return _numbers(_read_table(estimator, X, reset=False))[0]


def _read_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """X as a table, its column names and number noted or checked against the fitted ones."""
    if is_frame(X):
        validate_data(estimator, X, skip_check_array=True, reset=reset)
        return read_table(X)
    X = as_array(X, "X") if isinstance(X, list) else X
    if getattr(X, "dtype", None) is not None and X.dtype.kind == "c":
        raise ValueError(complex_refusal("column 0"))
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=1 if reset else 0,
    )
    return read_table(checked)


def _numbers(table: Table) -> tuple[Any, tuple[Array, Array] | None]:
    """All cells as floats and their bounds; text, moments and gaps are refused with the column's name."""
    bounds = None
    for column in range(table.n_columns):
        kind = table.kind(column)
        if kind not in ("number", "boolean"):
            what = "text or categories" if kind == "level" else f"cells of the kind {kind!r}"
            raise ValueError(
                f"{table.label(column)} holds {what}, but a regression takes numbers; encode the column "
                "(OneHotEncoder), drop it, or use BayesClassifier, which takes it as it is."
            )
    if table.sparse is not None:
        X = table.sparse.tocsr()
        gaps = X.indices[np.isnan(X.data)] if X.dtype.kind == "f" else X.indices[:0]
        missing = int(gaps[0]) if len(gaps) else None
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
    else:
        X = table.numbers(slice(None))
        bounds = extent(X) if len(X) else None
        found = np.flatnonzero(np.isnan(bounds[0])) if bounds is not None else np.zeros(0, np.intp)
        missing = int(found[0]) if len(found) else None
    if missing is not None:
        raise ValueError(
            f"{table.label(missing)} has missing cells (NaN), and a regression has no term for them; fill "
            "them in (SimpleImputer), drop the column, or use BayesClassifier or GaussianDiscriminant, "
            "which take gaps."
        )
    return sparse.csr_array(X) if table.sparse is not None else X, bounds
