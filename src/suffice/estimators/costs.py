"""Decisions when errors have different costs and refusing to decide is an option."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.estimators.class_scores import posteriors
from suffice.estimators.wrapper import WrappedClassifier
from suffice.export.exportable import Exportable
from suffice.export.expressions import Gaps
from suffice.export.scoring import Decision, Scoring
from suffice.model.priors import as_reals
from suffice.tables.recognized import is_frame
from suffice.tables.targets import checked_weights, class_index, labelled, read_labels
from suffice.tables.wording import counted, listed, quoted, there_are

Costs = ArrayLike | Mapping[Any, float] | None
ROUNDING = 1e-12
"""By how much rounding may move a threshold."""


class CostSensitive(Exportable, WrappedClassifier):
    """Decide for the class with the lowest expected cost, or refuse to decide.

    Deciding for class j costs Σ_k p(C_k | x)·costs[k, j] on average. The model can be any classifier with
    `predict_proba`, fitted or not; if it is fitted, calling `fit` here is not necessary. Costs change
    decisions, not posteriors: `predict_proba` is that of the model.

    Parameters
    ----------
    model : classifier
        A classifier with `predict_proba`.
    costs : array-like of shape (n_classes, n_classes) or dict, default=None
        `costs[true, predicted]` in the order of `classes_`, a pandas table whose rows and columns are named
        by the labels, or {(true, predicted): cost} with every pair of different labels (a correct decision
        costs 0 unless it is listed). None means that every error costs 1, as in `predict`.
    reject_cost : float, optional
        The cost of refusing. A row is refused if every class has a higher expected cost.
    reject_label : label, default="reject"
        The answer for refused rows; it must have the type of the classes, such as -1 for numbers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels of the model.
    costs_ : ndarray of shape (n_classes, n_classes)
        The costs as a matrix, `costs_[true, predicted]`.
    model_ : classifier
        The fitted clone of `model`, after `fit`.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [1.2], [2.0]], ["good", "good", "bad", "bad"]
    >>> model = suffice.BayesClassifier().fit(X, y)
    >>> careful = suffice.CostSensitive(model, {("bad", "good"): 5, ("good", "bad"): 1})
    >>> model.predict([[0.9]]).tolist(), careful.predict([[0.9]]).tolist()
    (['good'], ['bad'])
    """

    def __init__(
        self,
        model: Any,
        costs: Costs = None,
        *,
        reject_cost: float | None = None,
        reject_label: Any = "reject",
    ) -> None:
        self.model = model
        self.costs = costs
        self.reject_cost = reject_cost
        self.reject_label = reject_label

    def _wrap(self, fitted: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        super()._wrap(fitted, y, sample_weight)
        cost_matrix(self.costs, self.classes_)
        self._answers()

    def _posteriors(self, X: Any) -> Array:
        return posteriors(self._fitted_model(), X)

    @property
    def costs_(self) -> Array:
        """The cost of each decision, `costs_[true, predicted]`."""
        return cost_matrix(self._as_fitted().costs, self.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide for each row with the lowest expected cost.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Classes, or `reject_label`.
        """
        answers = self._answers()
        codes, cost = self._decisions(X)
        if self.reject_cost is not None:
            codes = np.where(cost > self.reject_cost, len(answers) - 1, codes)
        return np.asarray(answers[codes])

    def expected_cost(self, X: Any) -> Array:
        """The expected cost of the decision for each row, according to the model's posteriors.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        cost : ndarray of shape (n_samples,)
        """
        self._answers()
        cost = self._decisions(X)[1]
        return cost if self.reject_cost is None else np.minimum(cost, self.reject_cost)

    def mean_cost(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The mean cost of the decisions for rows whose classes are known.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        cost : float
        """
        X, y = labelled(X, y)
        answers = self._answers()
        costs = self.costs_
        if self.reject_cost is not None:
            costs = np.column_stack([costs, np.full(len(costs), self.reject_cost)])
        truth, decided = read_labels(y), self.predict(X)
        if decided.shape != truth.shape:
            raise ValueError(
                f"X has {counted(len(decided), 'row')}, but y has {counted(len(truth), 'label')}."
            )
        unknown = [label for label in dict.fromkeys(truth.tolist()) if label not in answers[: len(costs)]]
        if unknown:
            raise ValueError(
                f"y has labels without costs: {listed(unknown, 5)}; the classes are "
                f"{listed(self.classes_.tolist())}."
            )
        place = {label: k for k, label in enumerate(answers.tolist())}
        rows, columns = ([place[label] for label in labels.tolist()] for labels in (truth, decided))
        weight = None if sample_weight is None else checked_weights(sample_weight, len(truth))
        return float(np.average(costs[rows, columns], weights=weight))

    def _scoring(self, gaps: Gaps) -> Scoring:
        model, decision = self._fitted_model(), self._decision()
        if not isinstance(model, Exportable):
            raise TypeError(
                f"{type(self).__name__} can be exported if its model can, but {type(model).__name__} has no "
                "to_sql and to_onnx; wrap a model of this library."
            )
        return replace(model._scoring(gaps), decision=decision)  # noqa: SLF001  also of this library

    def _decisions(self, X: Any) -> tuple[NDArray[np.intp], Array]:
        """The cheapest class of each row, and its expected cost."""
        posterior, decision = self._posteriors(X), self._decision()
        codes = np.argmin(posterior @ decision.compared, axis=1)
        return codes, np.einsum("ij,ji->i", posterior, decision.costs[:, codes])

    def _decision(self) -> Decision:
        return Decision(self._answers(), self.costs_, self.reject_cost)

    def _answers(self) -> NDArray[Any]:
        """The classes, followed by the label for refusing if there is one."""
        classes = self.classes_
        if self.reject_cost is None:
            return classes
        _check_reject_cost(self.reject_cost)
        label = self.reject_label
        if isinstance(label, str) != isinstance(classes.tolist()[0], str):
            raise ValueError(
                f"reject_label {quoted(label)} does not have the type of the classes "
                f"{listed(classes.tolist(), 5)}; pass "
                "another one, such as reject_label=-1 for numbers."
            )
        if label in classes.tolist():
            raise ValueError(f"reject_label {quoted(label)} is also a class; choose another.")
        if isinstance(label, Real) and math.isnan(label):
            raise ValueError(f"reject_label must not be {quoted(label)}; choose another, such as -1.")
        return np.concatenate([classes, np.array([label], dtype=object if classes.dtype == object else None)])


def cost_matrix(costs: Costs, classes: NDArray[Any]) -> Array:
    """`costs[true, predicted]` as a matrix in the order of the classes."""
    labels = classes.tolist()
    if costs is None:
        return 1.0 - np.eye(len(labels))
    if isinstance(costs, Mapping):
        matrix = np.where(np.eye(len(labels), dtype=np.bool_), 0.0, np.nan)
        for pair, cost in costs.items():
            if not np.isfinite(as_reals(cost, f"costs[{quoted(pair)}]")):
                raise ValueError(f"costs must be finite numbers, got {cost!r} for {quoted(pair)}.")
            needs = f"the keys of costs must be pairs (true, predicted) of classes, got {quoted(pair)}"
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise ValueError(f"{needs}; the classes are {listed(labels)}.")
            try:
                matrix[class_index(pair[0], labels), class_index(pair[1], labels)] = cost
            except ValueError as error:
                raise ValueError(f"{needs}: {error}") from error
        missing = np.argwhere(np.isnan(matrix))
        if len(missing):
            k, j = missing[0]
            raise ValueError(
                f"costs has no entry for ({quoted(labels[k])}, {quoted(labels[j])}); list every pair "
                "(true, predicted)."
            )
    else:
        matrix = as_reals(_in_order(costs, labels), "costs")
    if matrix.shape != (len(labels), len(labels)):
        raise ValueError(
            f"costs has shape {matrix.shape}, but {there_are(len(labels), 'class')}: it must be "
            f"{len(labels)} × {len(labels)}, costs[true, predicted]."
        )
    if not np.isfinite(matrix).all():
        k, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"costs must be finite numbers, got {matrix[k, j]} for ({quoted(labels[k])}, "
            f"{quoted(labels[j])})."
        )
    return matrix


def _in_order(costs: Any, labels: list[Any]) -> Any:
    """A table of costs with named rows and columns, put in the order of the classes."""
    if not is_frame(costs):
        return costs
    if not hasattr(costs, "index"):
        names = list(getattr(costs, "column_names", costs.columns))
        if names != labels and set(names) & set(labels):
            raise ValueError(
                f"costs has the columns {listed(names)}, but the classes are {listed(labels)} and its "
                "rows have no "
                "names; put both in the order of the classes, or pass a dict of pairs (true, predicted)."
            )
        return costs
    true, predicted = list(costs.index), list(costs.columns)
    if true == predicted == list(range(len(labels))):
        return costs  # without names
    if set(true) != set(labels) or set(predicted) != set(labels):
        raise ValueError(
            f"costs has the rows {listed(true)} and the columns {listed(predicted)}; both must be the "
            "classes "
            f"{listed(labels)}, or have no names."
        )
    return costs.loc[labels, labels]


def thresholds_from_costs(costs: ArrayLike, reject_cost: float | None = None) -> tuple[float, float]:
    """The thresholds on the posterior of the second class: below them the first class, above them the second.

    Between the two thresholds, refusing is cheapest.

    Parameters
    ----------
    costs : array-like of shape (2, 2)
        `costs[true, predicted]`; negative costs are gains. Each error must cost more than the correct
        decision, otherwise there are no thresholds and a ValueError is raised.
    reject_cost : float, optional
        The cost of refusing. Without it, or if it is too high ever to be worth it, the two thresholds are
        equal.

    Returns
    -------
    low, high : float
        The thresholds.

    Examples
    --------
    >>> import suffice
    >>> low, high = suffice.thresholds_from_costs([[0, 1], [5, 0]])
    >>> round(low, 4), round(high, 4)
    (0.1667, 0.1667)
    """
    if isinstance(costs, Mapping):
        raise TypeError("costs must be a 2 × 2 matrix here: a dict does not say which class is the second.")
    # A table may name its classes, the same in rows and columns.
    names = getattr(costs, "columns", ()) if hasattr(costs, "index") else ()
    matrix = cost_matrix(costs, np.asarray(names) if len(names) == 2 else np.arange(2))
    (right_0, wrong_0), (wrong_1, right_1) = matrix.tolist()
    for k, right, wrong in ((0, right_0, wrong_0), (1, right_1, wrong_1)):
        if wrong <= right:
            raise ValueError(
                f"costs[{k}, {1 - k}] is {wrong:g} and costs[{k}, {k}] is {right:g}: an error must cost more "
                "than the correct decision, or there is no threshold. Rows are the true classes, columns "
                "the decisions."
            )
    even = (wrong_0 - right_0) / ((wrong_0 - right_0) + (wrong_1 - right_1))
    if reject_cost is None:
        return even, even
    _check_reject_cost(reject_cost)
    low, high = _refused(matrix, reject_cost)
    if low >= high:
        return even, even
    if not low - ROUNDING <= even <= high + ROUNDING:
        raise ValueError(
            f"with costs {matrix.tolist()} and reject_cost={reject_cost:g}, refusing is cheapest for "
            f"posteriors from {low:.4g} to {high:.4g}, but the decision changes at {even:.4g}, which two "
            "thresholds cannot express; use CostSensitive."
        )
    return low, high


def _refused(costs: Array, reject_cost: float) -> tuple[float, float]:
    """The range of posteriors p of the second class in which both a·(1 − p) + b·p cost more than refusing."""
    low, high = 0.0, 1.0
    for a, b in costs.T.tolist():
        if b > a:
            low = max(low, (reject_cost - a) / (b - a))
        elif b < a:
            high = min(high, (a - reject_cost) / (a - b))
        elif a <= reject_cost:
            high = low
    return low, high


def _check_reject_cost(reject_cost: Any) -> None:
    if not (isinstance(reject_cost, Real) and math.isfinite(reject_cost)):
        raise ValueError(f"reject_cost must be None or a finite number, got {reject_cost!r}.")
