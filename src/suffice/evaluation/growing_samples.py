"""Models fitted to growing parts of a table, and measured on rows held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.evaluation.answers import read_answers
from suffice.evaluation.metrics import error_and_log_loss
from suffice.model.folds.held_out import LabelledData, cure_without_posteriors, fitted_grid
from suffice.tables.table import take_rows
from suffice.tables.wording import there_are


def named_models(models: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Classifiers by name, all with probabilities."""
    named = dict(models) if isinstance(models, Mapping) else _numbered(models)
    if not named:
        raise ValueError("there are no models to compare; pass at least one.")
    for name, model in named.items():
        if isinstance(model, type):
            raise TypeError(f"the model {name!r} is a class; pass an instance: {model.__name__}().")
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"the model {name!r} has no predict_proba, which the log loss needs; "
                f"{cure_without_posteriors(model)}."
            )
    return named


def _numbered(models: Iterable[Any]) -> dict[str, Any]:
    """Classifiers by the names of their classes, numbered where these repeat."""
    if hasattr(models, "fit"):
        raise TypeError(f"models must be a dict or a list of classifiers; for one, pass [{models!r}].")
    listed = list(models)
    names = [type(model).__name__ for model in listed]
    numbered = [
        name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]
    return dict(zip(numbered, listed, strict=True))


def training_sizes(sizes: ArrayLike | None, n_classes: int, n_train: int) -> NDArray[np.intp]:
    """Numbers of training rows, in order; by default nine in equal ratios."""
    if sizes is None:
        smallest = min(2 * n_classes, n_train)
        return np.unique(np.geomspace(smallest, n_train, 9).round().astype(np.intp))
    chosen = np.asarray(sizes)
    if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
        raise ValueError(f"sizes must be a list of integers, got {sizes!r}.")
    if chosen.min() < n_classes or chosen.max() > n_train:
        raise ValueError(
            f"sizes must lie between {n_classes} (one row per class) and {n_train} (all training rows), got "
            f"{chosen.tolist()}."
        )
    return np.unique(chosen).astype(np.intp)


def measure_split(
    models: Sequence[Any],
    X: Any,
    y: NDArray[Any],
    sizes: NDArray[np.intp],
    n_test: int,
    rng: np.random.Generator,
) -> Array:
    """The errors and the log losses, (2, models, sizes), of clones fitted to parts of one split."""
    order = split_order(y, n_test, rng)
    test_X, test_y = take_rows(X, order[-n_test:]), y[order[-n_test:]]
    found = np.empty((2, len(models), len(sizes)))
    data = LabelledData.read(take_rows(X, order[: sizes[-1]]), y[order[: sizes[-1]]], None)
    splits = [(np.arange(size), np.arange(0)) for size in sizes]
    for numbers, settings in _of_one_class(models):
        for place, s, fitted in fitted_grid(models[numbers[0]], data, splits, settings, refit_schema=True):
            posteriors, predictions = fitted.predict_proba(test_X), fitted.predict(test_X)
            answers, _, _ = read_answers(test_y, posteriors, predictions, fitted.classes_)
            found[:, numbers[place], s] = error_and_log_loss(answers)
    return found


def _of_one_class(models: Sequence[Any]) -> list[tuple[list[int], list[dict[str, Any]]]]:
    """The numbers of models that can share sums, since they are of one class, with their settings."""
    groups: dict[Any, tuple[list[int], list[dict[str, Any]]]] = {}
    for number, model in enumerate(models):
        shared = hasattr(model, "fit_grid")
        numbers, settings = groups.setdefault(type(model) if shared else number, ([], []))
        numbers.append(number)
        settings.append(model.get_params(deep=False) if shared else {})
    return list(groups.values())


def split_order(labels: NDArray[Any], n_test: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random order of the rows: one of each class, the rest of the training rows, then the test rows."""
    order = rng.permutation(len(labels))
    first = np.sort(np.unique(labels[order], return_index=True)[1])
    rest = np.delete(order, first)
    if len(rest) < n_test:
        raise ValueError(f"{there_are(len(labels), 'row')}, too few to hold out {n_test} for testing.")
    return np.concatenate([order[first], rest])
