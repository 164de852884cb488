"""The input of an estimator, checked: X as a table, y as labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.lazy import scikit_learn
from suffice.tables.as_arrays import as_array, complex_refusal
from suffice.tables.coded_labels import CodedLabels, read_coded_labels
from suffice.tables.recognized import has_names, is_frame, is_record_batch, refuse_lazy
from suffice.tables.records import are_records, read_records
from suffice.tables.table import Table, read_table
from suffice.tables.targets import read_labels
from suffice.tables.wording import one_line

Names = tuple[Hashable, ...]


def read_features(estimator: Any, X: Any) -> Table:
    """Read X for fitting, and note its number of columns and their names on the estimator."""
    table = _read(estimator, X, None, reset=True)
    if table.n_rows == 0:
        raise ValueError("Found array with 0 sample(s): X has no rows to fit.")
    if table.n_columns == 0:
        raise ValueError("Found array with 0 feature(s): X has no columns to fit.")
    return table


def read_more_features(estimator: Any, X: Any, names: Names | None) -> Table:
    """Read X for a fitted estimator, checking the number of columns and their names (None: no names)."""
    return _read(estimator, X, names, reset=False)


def read_targets(estimator: Any, y: Any) -> NDArray[Any]:
    """Read the label of each row."""
    _require_targets(estimator, y)
    return _checked_targets(read_labels(y))


def read_coded_targets(estimator: Any, y: Any) -> NDArray[Any] | CodedLabels:
    """Read the label of each row, text as codes."""
    _require_targets(estimator, y)
    labels = read_coded_labels(y)
    return labels if isinstance(labels, CodedLabels) else _checked_targets(labels)


def _require_targets(estimator: Any, y: Any) -> None:
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")


def _checked_targets(labels: NDArray[Any]) -> NDArray[Any]:
    if labels.dtype.kind == "f":
        scikit_learn.check_classification_targets(labels)
    return labels


def _read(estimator: Any, X: Any, names: Names | None, *, reset: bool) -> Table:
    if _is_plain(estimator, X, reset=reset):
        return read_table(X)
    if has_names(X):
        if names is not None and are_records(X):
            X = read_records(X).arranged(names)
        table = read_table(X)
        if names is not None:
            _check_names(table.names, names)
        # scikit-learn reads no names off a batch.
        named = X if is_frame(X) and not is_record_batch(X) else _header(table)
        scikit_learn.validate_data(estimator, named, skip_check_array=True, reset=reset)
        return table
    refuse_lazy(X)
    X = as_array(X, "X") if isinstance(X, (list, tuple, np.ma.MaskedArray)) else X
    if (X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim) < 2:
        read_table(X)  # which refuses it without a copy of the data in the message
    if getattr(X, "dtype", None) is not None and X.dtype.kind == "c":
        raise ValueError(complex_refusal("column 0"))
    checked = scikit_learn.validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=1 if reset else 0,
    )
    return read_table(checked)


def _is_plain(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Whether X is an array that `validate_data` would leave alone, which takes long for a small one.

    Its number of columns is noted, as there.
    """
    if type(X) is not np.ndarray or X.dtype not in (np.float64, np.float32) or X.ndim != 2 or not X.size:
        return False
    if hasattr(estimator, "feature_names_in_"):
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
    return bool(getattr(estimator, "n_features_in_", None) == X.shape[1])


def _header(table: Table) -> Any:
    """Something whose names scikit-learn can read: a frame without rows if all names are text."""
    if not all(isinstance(name, str) for name in table.names):
        return np.empty((0, table.n_columns))
    import pyarrow as pa

    return pa.table({name: pa.nulls(0) for name in table.names})


def _check_names(given: Names, fitted: Names) -> None:
    """Name the columns that are missing, extra or out of order."""
    if given == fitted:
        return
    extra = [name for name in given if name not in fitted]
    missing = [name for name in fitted if name not in given]
    message = "The feature names should match those that were passed during fit.\n"
    if extra:
        message += "Feature names unseen at fit time:\n" + "".join(
            f"- {one_line(name, 80)}\n" for name in extra[:5]
        )
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n"
        message += "".join(f"- {one_line(name, 80)}\n" for name in missing[:5])
    if not extra and not missing:
        here, there = next(pair for pair in zip(given, fitted, strict=True) if pair[0] != pair[1])
        message += (
            "Feature names must be in the same order as they were in fit.\n"
            f"- {one_line(here, 80)} is in the place of {one_line(there, 80)}\n"
        )
    raise ValueError(message)
