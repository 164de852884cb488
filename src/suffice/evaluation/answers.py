"""Known and predicted labels as numbers, with the posteriors and weights of their rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.tables.as_arrays import as_floats
from suffice.tables.recognized import has_names, is_frame
from suffice.tables.table import read_table
from suffice.tables.targets import checked_weights, read_labels
from suffice.tables.wording import counted, listed, quoted

LABELS_AT_ONCE = 1 << 16
"""Labels that are Python objects at a time."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Truth and predictions as numbers of labels; the first of them are the classes that a row can have."""

    truth: NDArray[np.intp]
    predicted: NDArray[np.intp]
    probability: Array | None
    """(n, classes), where the model has posteriors."""
    weight: Array | None
    n_labels: int
    n_classes: int

    @property
    def n_rows(self) -> int:
        """How many rows were answered."""
        return len(self.truth)

    @property
    def total_weight(self) -> float | None:
        """The weight of all rows; None where rows have no weights."""
        return None if self.weight is None else float(self.weight.sum())

    @property
    def has_posteriors(self) -> bool:
        """Whether the model gave the posteriors of the rows."""
        return self.probability is not None

    def take(self, rows: NDArray[np.intp] | slice) -> Answers:
        """Some rows, each as often as it is named; a slice copies nothing."""
        return Answers(
            self.truth[rows],
            self.predicted[rows],
            None if self.probability is None else self.probability[rows],
            None if self.weight is None else self.weight[rows],
            self.n_labels,
            self.n_classes,
        )

    def shares(self) -> Array:
        """The share of each class in the truth."""
        counts = np.bincount(self.truth, self.weight, self.n_classes)
        return np.asarray(counts / counts.sum())

    def of_the_commonest(self) -> Answers:
        """The best answers that ignore the rows: the most common class, with the class shares as posteriors.

        All rows of a class are alike then, so one row stands for them, with their weight.
        """
        counts = np.bincount(self.truth, self.weight, self.n_classes).astype(np.float64)
        present = np.flatnonzero(counts)
        return Answers(
            present,
            np.full(len(present), np.argmax(counts), dtype=np.intp),
            np.tile(self.shares(), (len(present), 1)) if self.has_posteriors else None,
            counts[present],
            self.n_labels,
            self.n_classes,
        )


def read_answers(
    y_true: Any, posteriors: Any, predictions: Any, classes: Any, sample_weight: Any = None
) -> tuple[Answers, tuple[Any, ...], tuple[Any, ...]]:
    """The answers, all labels, and the classes of the model, which come first among the labels.

    Rows of weight zero are left out. By default the predictions are the most probable classes, and the
    classes are the sorted labels.
    """
    truth = read_labels(y_true)
    if len(truth) == 0:
        raise ValueError("there are no rows to evaluate: y_true is empty.")
    if posteriors is None and predictions is None:
        raise ValueError("there is nothing to evaluate: pass posteriors, predictions or both.")
    predicted = None if predictions is None else np.asarray(predictions)
    if predicted is not None and predicted.shape != truth.shape:
        raise ValueError(
            f"y_true has {len(truth)} labels, but the predicted labels have shape {predicted.shape}."
        )
    weight = None if sample_weight is None else checked_weights(sample_weight, len(truth))
    known = _sorted_labels(truth, predicted) if classes is None else np.asarray(classes).tolist()
    if has_names(posteriors):
        posteriors, known = _by_name(posteriors, known, given=classes is not None)
    probability = None if posteriors is None else _read_posteriors(posteriors, len(truth), len(known))
    place = {label: k for k, label in enumerate(known)}
    truth_codes = _codes(truth, place)
    n_classes = len(place)
    check_types(known, list(place)[len(known) :])
    if predicted is not None:
        predicted_codes = _codes(predicted, place)
    elif probability is not None:
        predicted_codes = probability.argmax(axis=1)
    if probability is not None and n_classes > len(known):
        # Single precision is kept: the floor of the log loss depends on it.
        padded = np.zeros((len(probability), n_classes), probability.dtype)
        padded[:, : len(known)] = probability
        probability = padded
    answers = Answers(truth_codes, predicted_codes, probability, weight, len(place), n_classes)
    if weight is not None and not weight.all():
        answers = answers.take(np.flatnonzero(weight))
    return answers, tuple(place), tuple(known)


def _by_name(posteriors: Any, known: list[Any], *, given: bool) -> tuple[NDArray[Any], list[Any]]:
    """The posteriors of a frame, and their classes; columns named after classes may come in any order.

    Without `given` classes, the columns may name more of them than occur in the rows.
    """
    table = read_table(posteriors)
    columns = {name: j for j, name in enumerate(table.names)}
    numbers = table.numbers(slice(None), infinities=True)
    only_numbered = list(columns) == list(range(len(columns))) and set(columns) != set(known)
    if only_numbered or not any(label in columns for label in known):
        return numbers, known
    absent = [label for label in known if label not in columns]
    if absent or (given and len(columns) != len(known)):
        what = f"has no column {quoted(absent[0])}" if absent else "has more columns"
        raise ValueError(
            f"the frame of posteriors {what}; it must have one column for each class: {listed(known)}."
        )
    if not given:
        known = sorted(columns, key=lambda name: (type(name).__name__, name))
    return numbers[:, [columns[label] for label in known]], known


def _sorted_labels(truth: NDArray[Any], predicted: NDArray[Any] | None) -> list[Any]:
    labels = {*truth.tolist(), *(() if predicted is None else predicted.tolist())}
    try:
        return sorted(labels)
    except TypeError:
        raise ValueError(
            "y_true and predictions hold labels of different types; make them all strings or all numbers."
        ) from None


def _codes(values: NDArray[Any], place: dict[Any, int]) -> NDArray[np.intp]:
    """The place of each label; new labels are appended as they come."""
    codes = np.empty(len(values), dtype=np.intp)
    for start in range(0, len(values), LABELS_AT_ONCE):
        some = values[start : start + LABELS_AT_ONCE].tolist()
        codes[start : start + len(some)] = [place.setdefault(label, len(place)) for label in some]
    return codes


def check_types(known: list[Any], strange: list[Any]) -> None:
    """Refuse labels that the model does not know because they have another type."""
    if strange and isinstance(strange[0], str) != isinstance(known[0], str):
        raise ValueError(
            f"the model's classes are {listed(known, 5)}, but y holds labels such as {quoted(strange[0])}; "
            "convert them to one type."
        )


def _read_posteriors(posteriors: Any, n_rows: int, n_classes: int) -> NDArray[Any]:
    probability = as_floats(np.asarray(posteriors))
    if probability.shape != (n_rows, n_classes):
        raise ValueError(
            f"the posteriors have shape {probability.shape}, but {counted(n_rows, 'row')} and "
            f"{counted(n_classes, 'class')} need ({n_rows}, {n_classes}), one column for each class."
        )
    least, largest = probability.min(), probability.max()
    if not (least >= 0.0 and largest <= 1.0):
        found = "hold NaN" if np.isnan(least) else f"range from {least} to {largest}"
        raise ValueError(f"posteriors must lie between 0 and 1, but these {found}.")
    room = np.sqrt(np.finfo(probability.dtype).eps)
    if not np.isclose(probability.sum(axis=1), 1.0, rtol=room).all():
        warnings.warn("the posteriors of some rows do not sum to 1.", UserWarning, stacklevel=4)
    return probability


def rows_of_confusion(matrix: Any, labels: Any) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """The true and the predicted label of each row that a confusion matrix counts, and all labels."""
    true, predicted, counts = _labelled_counts(matrix, labels)
    bad = ~(counts >= 0) | (counts != np.floor(counts)) | np.isinf(counts)
    if bad.any():
        k, j = np.argwhere(bad)[0]
        raise ValueError(
            f"a confusion matrix holds numbers of rows, but it has {counts[k, j]:g} where the truth is "
            f"{quoted(true[k])} and the prediction {quoted(predicted[j])}; pass whole numbers ≥ 0."
        )
    if not counts.any():
        raise ValueError("there are no rows to evaluate: the confusion matrix counts none.")
    known = true if true == predicted else _sorted_labels(_as_labels(true), _as_labels(predicted))
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns].astype(np.intp)
    pairs = (_as_labels(names)[at] for names, at in ((true, rows), (predicted, columns)))
    truth, answers = (np.repeat(one, times) for one in pairs)
    return truth, answers, known


def _labelled_counts(matrix: Any, labels: Any) -> tuple[list[Any], list[Any], Array]:
    """The labels of the rows and of the columns, and the numbers."""
    own = _labels_of_frame(matrix)
    counts = np.asarray(matrix) if own is None else read_table(matrix).numbers(slice(None))
    if counts.dtype.kind not in "iufb":
        raise ValueError("a confusion matrix holds numbers of rows, but this one holds other values.")
    if counts.ndim != 2 or (own is None and counts.shape[0] != counts.shape[1]):
        raise ValueError(
            "a confusion matrix has a row for each true label and a column for each prediction, but this one "
            f"has shape {counts.shape}."
        )
    given = None if labels is None else np.asarray(labels).tolist()
    if own is None:
        true = predicted = list(range(len(counts))) if given is None else given
    else:
        true, predicted = own
        if given is not None and (given != true or given != predicted):
            raise ValueError(
                f"labels are {listed(given, 5)}, but the frame has the rows {listed(true, 5)} and the "
                f"columns {listed(predicted, 5)}; leave labels out."
            )
    for names, size in ((true, counts.shape[0]), (predicted, counts.shape[1])):
        if len(names) != size:
            raise ValueError(
                f"the confusion matrix has {size} rows and columns, but labels has {len(names)}."
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the confusion matrix has the label {quoted(twice)} more than once.")
    return true, predicted, counts.astype(np.float64)


def _labels_of_frame(matrix: Any) -> tuple[list[Any], list[Any]] | None:
    """The labels of the rows and columns of a frame, by its index and names; None for an array."""
    if not is_frame(matrix):
        return None
    names = list(read_table(matrix).names)
    return (list(matrix.index) if hasattr(matrix, "index") else names), names


def _as_labels(names: list[Any]) -> NDArray[Any]:
    array = np.asarray(names)
    return array if array.dtype.kind in "iufbU" else np.array(names, dtype=object)
