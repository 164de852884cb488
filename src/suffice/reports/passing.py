"""What a page keeps of labelled rows that pass in batches: metrics of all, a sample, and the extreme ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.estimators.class_scores import log_posteriors, posteriors
from suffice.estimators.costs import CostSensitive
from suffice.evaluation.evaluate import Evaluation
from suffice.evaluation.streamed import StreamedEvaluation
from suffice.model.folds.held_out import is_regression
from suffice.tables.files.types import joined_tables
from suffice.tables.table import take_rows
from suffice.tables.targets import read_labels
from suffice.tables.wording import listed, quoted

MOST_SAMPLED = 5_000
"""Rows whose scores the page carries."""
MOST_SCORES = 75_000
"""Scores that it carries: rows × classes × models."""
MOST_NOTABLE = 100
"""Rows that are worth looking at."""


@dataclass(frozen=True)
class NamedModel:
    """A fitted classifier, what the page calls it, and how it is given rows."""

    name: str
    model: Any
    """One that has posteriors; costs, which change decisions only, are apart."""
    arranged: Callable[[Any], Any]
    kind: str
    costs: dict[str, Any] | None = None

    @classmethod
    def of(cls, name: str, model: Any, arranged: Callable[[Any], Any] | None = None) -> Self:
        """Name a fitted classifier."""
        kind = type(model).__name__
        if isinstance(model, type) or not hasattr(model, "predict_proba") or is_regression(model):
            what = f"the class {model.__name__}" if isinstance(model, type) else f"a {kind}"
            raise TypeError(f"a report needs a fitted classifier with predict_proba, got {what}.")
        costs = None
        if isinstance(model, CostSensitive):
            costs = {"matrix": model.costs_.tolist(), "reject": model.reject_cost}
            model = model._fitted_model()  # noqa: SLF001  of this library
        return cls(name, model, arranged or _unchanged, kind, costs)

    @property
    def inner(self) -> Any:
        """The model inside wrappers, which knows columns."""
        model = self.model
        while hasattr(model, "_fitted_model"):
            model = model._fitted_model()  # noqa: SLF001
        return model

    def posteriors(self, X: Any, classes: list[Any]) -> Array:
        """p(C_k | x), in the order of these classes."""
        return posteriors(self.model, self.arranged(X))[:, self.order(classes)]

    def log_posteriors(self, X: Any, classes: list[Any]) -> Array:
        """Log p(C_k | x), in the order of these classes."""
        return log_posteriors(self.model, self.arranged(X))[:, self.order(classes)]

    def order(self, classes: list[Any]) -> list[int]:
        """The places of these classes among those of the model."""
        own = np.asarray(self.model.classes_).tolist()
        if sorted(map(str, own)) != sorted(map(str, classes)) or set(own) != set(classes):
            raise ValueError(
                f"{quoted(self.name)} has the classes {listed(own, 5)}, but the first model has "
                f"{listed(classes, 5)}; compare models of the same classes."
            )
        place = {label: k for k, label in enumerate(own)}
        return [place[label] for label in classes]


def _unchanged(X: Any) -> Any:
    return X


class KeptRows:
    """The rows with the lowest keys among all that have passed, at most so many, lowest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.keys = np.zeros(0)
        self.numbers = np.zeros(0, dtype=np.intp)
        self.labels: NDArray[Any] = np.zeros(0)
        self.weight = np.zeros(0)
        self.X: Any = None

    def add(self, keys: Array, first: int, X: Any, y: NDArray[Any], weight: Array | None) -> None:
        """Let rows pass, of which the first has this number."""
        limit = self.keys[-1] if len(self.keys) == self.most else np.inf
        found = np.flatnonzero(keys < limit) if len(self.keys) == self.most else np.arange(len(keys))
        found = found[np.argsort(keys[found], kind="stable")[: self.most]]
        if not len(found):
            return
        weights = np.ones(len(found)) if weight is None else weight[found]
        X = take_rows(X, found)
        if self.X is None:
            self.keys, self.numbers, self.labels = keys[found], first + found, y[found]
            self.weight, self.X = weights, X
            return
        keys = np.concatenate([self.keys, keys[found]])
        order = np.argsort(keys, kind="stable")[: self.most]
        self.keys = keys[order]
        self.numbers = np.concatenate([self.numbers, first + found])[order]
        self.labels = np.concatenate([self.labels, y[found]])[order]
        self.weight = np.concatenate([self.weight, weights])[order]
        self.X = joined_tables([self.X, X]).take(order)


class PassingRows:
    """Asks models about labelled rows in batches, and keeps what a page shows of them."""

    def __init__(self, models: Sequence[NamedModel], random_state: int) -> None:
        self.models = list(models)
        self.classes: list[Any] = np.asarray(models[0].model.classes_).tolist()
        self.n_rows, self.is_weighted = 0, False
        fewest = MOST_SCORES // (len(self.classes) * len(self.models))
        self.sample = KeptRows(int(np.clip(fewest, 50, MOST_SAMPLED)))
        self.surprising, self.unsure = KeptRows(MOST_NOTABLE), KeptRows(MOST_NOTABLE)
        self._rng = np.random.default_rng(random_state)
        labels = np.asarray(models[0].model.classes_)
        self._evaluations = [StreamedEvaluation(labels) for _ in self.models]
        self._place = {label: k for k, label in enumerate(self.classes)}
        self._differences = np.zeros((len(self.models), 3))
        """The weight, and sums of the loss of each model beyond the first's and of its square."""

    def add(self, X: Any, y: Any, weight: Array | None) -> None:
        """Let rows with labels pass."""
        labels = read_labels(y)
        n = len(labels)
        found, codes = np.unique(labels, return_inverse=True)
        truth = np.array([self._place.get(label, -1) for label in found.tolist()])[codes]
        known, first_losses = truth >= 0, np.zeros(0)
        weights = np.ones(n) if weight is None else weight
        for m, (named, evaluation) in enumerate(zip(self.models, self._evaluations, strict=True)):
            p = named.posteriors(X, self.classes)
            if len(p) != n:
                raise ValueError(f"X has {len(p)} rows, but y has {n} labels.")
            evaluation.add(labels, p, weight)
            of_truth = np.where(known, p[np.arange(n), np.maximum(truth, 0)], 0.0)
            losses = -np.log(np.maximum(of_truth, np.finfo(np.float64).eps))
            if m == 0:
                first_losses = losses
                self.surprising.add(of_truth, self.n_rows, X, labels, weight)
                self.unsure.add(p.max(axis=1), self.n_rows, X, labels, weight)
            beyond = losses - first_losses
            self._differences[m] += weights.sum(), weights @ beyond, weights @ beyond**2
        self.sample.add(self._rng.random(n), self.n_rows, X, labels, weight)
        self.n_rows += n
        self.is_weighted |= weight is not None

    def evaluations(self) -> list[Evaluation]:
        """The metrics of each model on all rows."""
        return [evaluation.evaluation() for evaluation in self._evaluations]

    def differences(self) -> list[tuple[float, float]]:
        """The log loss of each model beyond that of the first, and its standard error."""
        result = []
        for weight, first, second in self._differences.tolist():
            mean = first / weight
            variance = max(second / weight - mean**2, 0.0)
            result.append((mean, float(np.sqrt(variance / weight))))
        return result
