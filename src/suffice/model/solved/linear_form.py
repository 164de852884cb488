"""The linear form of a model of exponential families: a_k(x) = w_kᵀu(x) + w_k0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.factors.base import Block
from suffice.factors.natural import NaturalForm
from suffice.model.solved.solution import SolvedModel
from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.wording import one_line

MOST_LINES = 30
"""Statistics that are printed."""


@dataclass(frozen=True, repr=False)
class NaturalParameters(Shown):
    """λ_k and ln g(λ_k) of one distribution, log p(x | C_k) = λ_kᵀu(x) + ln g(λ_k) + log h(x).

    Attributes
    ----------
    statistics : tuple of str
        What the components of u(x) are: x and x² for a Normal, an indicator of each level for a Categorical.
    natural : ndarray of shape (n_classes, n_statistics)
        The natural parameters λ_k.
    log_g : ndarray of shape (n_classes,)
        ln g(λ_k) = −A(λ_k), minus the log of the partition function.
    classes : ndarray of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> import suffice
    >>> from suffice.families import Bernoulli
    >>> X, y = [[1], [0], [1], [1], [0], [0]], ["a", "a", "a", "b", "b", "b"]
    >>> model = suffice.BayesClassifier(families=Bernoulli(alpha=0)).fit(X, y)
    >>> model.natural_parameters_[0].natural.round(3)  # log μ/(1 − μ) at μ = 2/3 and 1/3
    array([[ 0.693],
           [-0.693]])
    """

    statistics: tuple[str, ...]
    natural: Array
    log_g: Array
    classes: NDArray[Any]

    def _parts(self) -> list[Part]:
        return [_weights(self.classes, self.statistics, "λ", self.natural, "ln g(λ)", self.log_g)]


@dataclass(frozen=True, repr=False)
class LinearForm(Shown):
    """The scores of a model as linear functions of u(x): a_k(x) = w_kᵀu(x) + w_k0, up to a term without k.

    w_k = λ_k and w_k0 = ln g(λ_k) + ln p(C_k), summed over the columns. Components of λ that all classes
    share, such as −½Σ⁻¹ of one covariance, cancel in the posterior and are left out.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    statistics : tuple of str
        What the components of u(x) are.
    w : ndarray of shape (n_classes, n_statistics)
        The weights.
    w0 : ndarray of shape (n_classes,)
        The constants.
    container : Container
        The kind of frame that `to_frame` returns.
    reader : callable
        What `u` asks.

    Examples
    --------
    >>> import suffice
    >>> from suffice.families import Poisson
    >>> X, y = [[1], [2], [3], [7], [8], [9]], ["few", "few", "few", "many", "many", "many"]
    >>> form = suffice.BayesClassifier(families=Poisson(alpha=0)).fit(X, y).linear_form()
    >>> form.w.round(3)  # log 2 and log 8
    array([[0.693],
           [2.079]])
    >>> form.w0.round(3)  # −2 − log 2 and −8 − log 2
    array([-2.693, -8.693])
    """

    classes: NDArray[Any]
    statistics: tuple[str, ...]
    w: Array
    w0: Array
    container: Container
    reader: Callable[[Any], Any]

    def u(self, X: Any) -> Any:
        """The statistics u(x) of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        u : ndarray of shape (n_samples, n_statistics)
            Sparse for text. NaN where a cell is missing or outside the support of its family.
        """
        return self.reader(X)

    def __call__(self, X: Any) -> Array:
        """The scores w_kᵀu(x) + w_k0, whose softmax is the posterior.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            NaN for a row with a missing cell; `predict_proba` of the model marginalises it.
        """
        return np.asarray(self.u(X) @ self.w.T + self.w0)

    def to_frame(self) -> Any:
        """The weights as a frame.

        Returns
        -------
        frame
            One line per statistic, the constant last, and one field per class, of the library that the model
            was fitted with; of pyarrow if it was fitted to arrays.
        """
        fields: dict[str, Any] = {"statistic": [*self.statistics, "(constant)"]}
        for label, w, w0 in zip(self.classes.tolist(), self.w, self.w0, strict=True):
            fields[str(label)] = [*w.tolist(), float(w0)]
        return self.container.frame(fields)

    def _parts(self) -> list[Part]:
        return [_weights(self.classes, self.statistics, "w", self.w, "w₀", self.w0)]


def _weights(
    classes: NDArray[Any], statistics: tuple[str, ...], of: str, weights: Array, last: str, constants: Array
) -> Cells:
    head = [of, *(one_line(label) for label in classes.tolist())]
    shown = statistics if len(statistics) <= MOST_LINES else statistics[:MOST_LINES]
    lines = [[name, *(f"{value:.4g}" for value in row)] for name, row in zip(shown, weights.T, strict=False)]
    if len(shown) < len(statistics):
        lines.append([f"… {len(statistics) - len(shown):,} more", *[""] * len(classes)])
    lines.append([last, *(f"{value:.4g}" for value in constants)])
    return Cells([head, *lines])


def natural_forms(solved: SolvedModel, about: int | None = None) -> list[tuple[int, NaturalForm]]:
    """The natural forms of all factors, each with the number of its factor."""
    solved.require_density("a natural form")
    found = []
    for f, (at, factor) in enumerate(zip(solved.schema.factors, solved.factors, strict=True)):
        names = [_name(solved, j) for j in at.columns.tolist()]
        found += [(f, form) for form in factor.natural_forms(names, about)]
    return found


def _name(solved: SolvedModel, j: int) -> str:
    return one_line(solved.schema.names[j]) if solved.schema.named else f"x{solved.schema.names[j]}"


def natural_parameters(solved: SolvedModel) -> dict[Any, NaturalParameters]:
    """λ_k and ln g(λ_k) by column; by the tuple of columns where several have one distribution."""
    named = {}
    for f, form in natural_forms(solved):
        columns = [solved.schema.names[j] for j in solved.schema.factors[f].columns[list(form.columns)]]
        key = columns[0] if len(columns) == 1 else tuple(columns)
        named[key] = NaturalParameters(form.statistics, form.natural, form.log_g, solved.classes)
    return named


def linear_form(
    solved: SolvedModel, blocks: Callable[[Any], list[Block]], container: Container
) -> LinearForm:
    """The scores of a model in terms of u(x); `blocks` reads the cells of each factor."""
    forms = natural_forms(solved)
    kept = [(f, form, np.flatnonzero(~form.shared)) for f, form in forms]
    k = len(solved.classes)
    weight = solved.evidence_weight

    def u(X: Any) -> Any:
        cells = blocks(X)
        parts = [form.u(cells[f])[:, on] for f, form, on in kept]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts, format="csr")
        return np.hstack(parts)

    return LinearForm(
        classes=solved.classes,
        statistics=tuple(form.statistics[i] for _, form, on in kept for i in on.tolist()),
        w=weight * np.hstack([np.zeros((k, 0)), *(form.natural[:, on] for _, form, on in kept)]),
        w0=weight * np.sum([np.zeros(k), *(form.log_g for _, form in forms)], axis=0) + solved.offset,
        container=container,
        reader=u,
    )
