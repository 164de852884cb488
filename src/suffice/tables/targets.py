"""The labels and weights of rows: reading and checking them, and finding a label among the classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, Codes
from suffice.tables.as_arrays import LARGEST_EXACT, as_array, complex_refusal
from suffice.tables.columns import is_missing, kind_of_type, plain
from suffice.tables.recognized import has_names, refuse_lazy
from suffice.tables.table import read_table
from suffice.tables.wording import did_you_mean, kind_of_thing, listed, quoted, there_are, warn

KINDS_OF_LABELS = {"text": "UOS", "booleans": "b", "numbers": "iuf"}
"""The dtypes of labels of each kind."""


class UnknownColumnError(ValueError):
    """A column that does not exist; the message names the nearest one and lists them all."""


def read_labels(y: Any) -> NDArray[Any]:
    """Read one label per row into an array of integers, booleans, strings or floats, none of them missing."""
    refuse_lazy(y, "y", "one label per row")
    labels = y if type(y) is np.ndarray else as_array(y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel().",
            DataConversionWarning,
        )
        labels = labels[:, 0]
    if labels.ndim == 0:
        raise ValueError(f"y should be a 1d array with one label per row, got {kind_of_thing(y)}.")
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array with one label per row, but its shape is {labels.shape}.")
    match labels.dtype.kind:
        case "i" | "u" | "b" | "U":
            return labels
        case "S" | "T" | "O":
            return _read_object_labels(labels.astype(object))
        case "f":
            finite = np.isfinite(labels)
            if not finite.all():
                row = int(finite.argmin())
                raise ValueError(_label_refusal(row, "missing" if np.isnan(labels[row]) else "infinite"))
            return labels
        case "c":
            raise ValueError(complex_refusal("y"))
        case _:
            raise ValueError(f"y has dtype {labels.dtype}; convert the labels to strings.")


def labelled(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y, where a y that names a column is taken out of X."""
    return split_target(X, y) if isinstance(y, str) else (X, y)


def split_target(X: Any, target: Hashable) -> tuple[Any, Any]:
    """Split a table with named columns into the other columns and the target column."""
    refuse_lazy(X)
    if not has_names(X):
        cure = "for arrays pass the labels themselves"
        if isinstance(X, (str, PathLike)):
            cure = f"to read files use fit_from({quoted(str(X))}, target={quoted(target)})"
        raise ValueError(
            f"y is {quoted(target)}, the name of a column, so X must be a table with named columns, such "
            f"as a DataFrame; {cure}."
        )
    table = read_table(X)
    require_column(target, table.names)
    if table.n_columns == 1:
        raise ValueError(f"no columns are left to learn from besides {quoted(target)}.")
    return table.without(target)


def require_column(name: Hashable, names: Iterable[Hashable]) -> None:
    """Refuse a column that does not exist."""
    known = list(names)
    if name in known:
        return
    near = did_you_mean(name, known)
    hint = f"; {near}" if near else "."
    raise UnknownColumnError(
        f"there is no column {quoted(name)}{hint} The columns are {listed(known, brackets=False)}."
    )


def read_weights(
    values: Any, what: str = "sample_weight", place: Callable[[int], str] = "row {}".format
) -> Array:
    """Read weights as floats, finite and not negative; `place` says in messages where one of them is."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        row = _first_without_number(values)
        at = "" if row is None else f" such as {quoted(values[row])} at {place(row)}"
        raise ValueError(f"{what} holds values that are not numbers{at}; give one number per row.") from None
    bad = (~np.isfinite(weights) | (weights < 0)).reshape(-1)
    if bad.any():
        row = int(np.argmax(bad))
        value = weights.reshape(-1)[row]
        cure = " (to remove rows again, use forget)" if what == "sample_weight" and value < 0 else ""
        raise ValueError(f"{what} is {value} at {place(row)}; weights must be finite and not negative{cure}.")
    return weights


def _first_without_number(values: Any) -> int | None:
    """The place of the first cell that is not a number; None if the values are not a list of cells."""
    for row, value in enumerate(values if np.ndim(values) == 1 else ()):
        try:
            np.float64(value)
        except (TypeError, ValueError):
            return row
    return None


def checked_weights(sample_weight: ArrayLike, n_rows: int) -> Array:
    """Read one weight per row, not all of them zero."""
    weights = read_weights(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but {there_are(n_rows, 'row')}.")
    if n_rows and not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row, so there is nothing to count.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(
                "sample_weight adds up to more than a float can hold; divide all weights by the same number."
            )
    return weights


def whole_labels(numbers: list[int]) -> NDArray[Any]:
    """Labels that are integers, with all their digits."""
    dtype = np.uint64 if max(numbers, default=0) > np.iinfo(np.int64).max else np.int64
    try:
        return np.array(numbers, dtype=dtype)
    except OverflowError:
        raise ValueError("y holds integers of more than 64 bits; convert them to strings.") from None


def joined_labels(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Labels of several batches, in which integers keep their digits beside others of another dtype."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1:
        return parts[0]
    for part in parts[1:]:
        require_one_kind(parts[0], part)
    labels = np.concatenate(parts)
    if labels.dtype.kind == "f" and any(part.dtype.kind in "iu" for part in parts):
        numbers = [plain(label) for part in parts for label in part.tolist()]
        if _are_whole(numbers) and max(map(abs, numbers)) > LARGEST_EXACT:
            return whole_labels(numbers)
    return labels


def require_one_kind(known: NDArray[Any], more: NDArray[Any]) -> None:
    """Refuse labels of another kind than those seen before: True is equal to 1, and would be its class."""
    if not are_alike(known, more):
        raise ValueError(
            f"the labels mix {' and '.join(_kinds_of(known, more))}: {quoted(plain(known[0]))} was seen "
            f"before, now {quoted(plain(more[0]))}; convert y to one type."
        )


def are_alike(some: NDArray[Any], others: NDArray[Any]) -> bool:
    """Whether labels that were read are of one kind: all text, all numbers or all booleans."""
    return len(_kinds_of(some, others)) < 2


def _kinds_of(*several: NDArray[Any]) -> list[str]:
    held = "".join(labels.dtype.kind for labels in several if len(labels))
    return [kind for kind, types in KINDS_OF_LABELS.items() if set(types) & set(held)]


def _are_whole(numbers: list[Any]) -> bool:
    return all(isinstance(number, int) for number in numbers)


def class_index(label: Any, classes: Sequence[Any] | NDArray[Any]) -> int:
    """Return the position of a label among the classes; if it is not there, the error names the nearest."""
    known = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    one = label.item() if isinstance(label, np.generic) else label
    if one in known:
        return known.index(one)
    those = f"classes are {listed(known)}."
    near = did_you_mean(one, known)
    hint = f"{near} The {those}" if near else f"the {those}"
    raise ValueError(f"there is no class {quoted(one)}; {hint}")


def class_codes(labels: Sequence[Any] | NDArray[Any], classes: NDArray[Any]) -> Codes:
    """Return the position of each label among the classes; unknown labels are refused."""
    given = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    place = {label: class_index(label, classes) for label in dict.fromkeys(given)}
    return np.array([place[label] for label in given], dtype=np.intp)


def codes_of_rows(labels: NDArray[Any], classes: NDArray[Any], n_rows: int) -> Codes:
    """Return the position of the label of each of some rows; there must be one for each."""
    codes = class_codes(labels, classes)
    if len(codes) != n_rows:
        raise ValueError(f"X has {n_rows} rows, and y has {len(codes)} labels; pass one for each.")
    return codes


def _read_object_labels(labels: NDArray[np.object_]) -> NDArray[Any]:
    """Read labels that are Python objects, by their types."""
    types = set(map(type, labels))
    if all(issubclass(cls, str) for cls in types):
        return labels
    missing = next((row for row, label in enumerate(labels) if is_missing(label)), None)
    if missing is not None:
        raise ValueError(_label_refusal(missing, "missing"))
    kinds = {kind_of_type(cls) for cls in types}
    if all(issubclass(cls, bytes) for cls in types):
        return np.array([label.decode() for label in labels], dtype=object)
    if kinds == {"boolean"}:
        return labels.astype(np.bool)
    if kinds == {"number"}:
        return (
            whole_labels(numbers)
            if _are_whole(numbers := list(map(plain, labels)))
            else (read_labels(np.array(numbers, dtype=np.float64)))
        )
    names = ", ".join(sorted(cls.__name__ for cls in types))
    raise ValueError(f"y holds labels of type {names}; convert all of them to strings or all to numbers.")


def _label_refusal(row: int, fault: str) -> str:
    """The message that refuses a label."""
    article = "an" if fault == "infinite" else "a"
    return f"y has {article} {fault} label at row {row}; drop the row, or give it a label."
