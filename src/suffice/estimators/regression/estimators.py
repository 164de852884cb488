"""LogisticRegression and ProbitRegression: p(C_k | x) from linear scores, without a model of x."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.estimators.regression.base import Regression
from suffice.estimators.regression.design import Block, Design, total
from suffice.estimators.regression.equations import SolvedEquations, joint_scores
from suffice.estimators.regression.likelihoods import (
    Likelihood,
    LogisticLikelihood,
    ProbitLikelihood,
    SoftmaxLikelihood,
)
from suffice.estimators.regression.rows import RegressionRows
from suffice.export.expressions import Expression
from suffice.export.probit import log_probit_expression
from suffice.links import (
    log_logistic,
    log_probit,
    log_softmax,
    logistic,
    logit,
    probit,
    probit_inverse,
    softmax,
)

FARTHEST = -1e150
"""The lowest score: beyond it log Φ overflows."""


class LogisticRegression(Regression):
    """Logistic regression, or softmax regression for more than two classes: p(C_k | x) ∝ exp(w_k·x + w_k0).

    Minimises C·Σ s_i·(−log p(t_i | x_i)) + ½‖w‖² with an unpenalised intercept, as scikit-learn does. For
    more than two classes the rows of `coef_` sum to 0 over the classes, and so do the intercepts.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the data against the penalty; `inf` is plain maximum likelihood.
    fit_intercept : bool, default=True
        Whether to fit an intercept w₀.
    class_weight : dict, "balanced" or None, default=None
        Class weights, which multiply the weights of the rows.
    max_iter : int, default=1000
        The largest number of iterations over all rows.
    tol : float, default=1e-5
        Stop when the parameters are this many standard errors from the optimum, whatever the units of the
        columns.
    standard_errors : bool or "auto", default="auto"
        Whether to compute standard errors, which may take an extra pass over the rows. "auto" skips them if
        the Hessian, with many classes and columns, would cost more than the fit; False skips them unless the
        search needs the Hessian anyway.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
        The coefficients and intercepts; a single row for two classes.
    standard_errors_, intercept_standard_errors_ : ndarray
        Their standard errors, in the same shapes.
    n_iter_ : ndarray of shape (1,)
        The number of iterations over all rows.
    converged_ : bool
        Whether the optimum was found.
    message_ : str
        How the search ended.
    log_likelihood_, aic_, bic_ : float
        Fit to the training rows.
    n_parameters_ : int
        The number of free parameters.
    priors_ : ndarray of shape (n_classes,)
        The share of each class in the training rows.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> X = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]]
    >>> model = LogisticRegression().fit(X, ["fail", "fail", "pass", "fail", "pass", "pass"])
    >>> model.predict([[0.7], [2.8]])
    array(['fail', 'pass'], dtype=object)
    """

    def _likelihood(self) -> Likelihood:
        return LogisticLikelihood() if len(self.classes_) == 2 else SoftmaxLikelihood()

    def _score_at(self, threshold: float) -> float:
        return float(logit(threshold))

    def _solve(self, design: Design, n_classes: int) -> list[SolvedEquations]:
        if n_classes == 2:
            return [self._solved(design, LogisticLikelihood(), np.ones((1, 1)))]
        # Scores that sum to 0 over the classes: K − 1 orthonormal directions, which keep ‖w‖².
        return [self._solved(design, SoftmaxLikelihood(), linalg.helmert(n_classes).T)]

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return softmax(scores) if scores.shape[1] > 1 else logistic(np.hstack([-scores, scores]))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors log p(C_k | x).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return log_softmax(scores) if scores.shape[1] > 1 else log_logistic(np.hstack([-scores, scores]))

    def _expression(self) -> Expression:
        return self._fitted().expression((0.0, 1.0))


class ProbitRegression(Regression):
    """Probit regression: p(C₁ | x) = Φ(w·x + w₀), where Φ is the standard Normal distribution function.

    Minimises C·Σ s_i·(−log p(t_i | x_i)) + ½‖w‖² with an unpenalised intercept. With more than two classes,
    each class is fitted against the rest, and the posteriors are Φ(w_k·x + w_k0) divided by their sum.

    Parameters
    ----------
    C, fit_intercept, class_weight, max_iter, tol, standard_errors
        As in LogisticRegression.

    Attributes
    ----------
    classes_, coef_, intercept_, standard_errors_, intercept_standard_errors_, n_iter_, converged_, message_
        As in LogisticRegression.
    log_likelihood_ : float
        Fit to the training rows. With more than two classes it is not the quantity that was maximised.
    n_parameters_ : int
        The number of free parameters.
    aic_, bic_ : float
        For two classes only, because they assume a maximum of the likelihood.

    Examples
    --------
    >>> from suffice import ProbitRegression
    >>> X = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]]
    >>> model = ProbitRegression().fit(X, ["fail", "fail", "pass", "fail", "pass", "pass"])
    >>> model.predict([[0.7], [2.8]])
    array(['fail', 'pass'], dtype=object)
    """

    _score_unit: ClassVar[str] = "standard deviations"

    def _likelihood(self) -> Likelihood:
        return ProbitLikelihood()

    def _score_at(self, threshold: float) -> float:
        if len(self.classes_) > 2 and threshold != 0.5:
            raise ValueError(
                "with more than two classes, posteriors of probit regression are Φ of each score divided by "
                "their sum, so that only the boundary of equal posteriors is a hyperplane; use threshold=0.5."
            )
        return float(probit_inverse(threshold))

    def _solve(self, design: Design, n_classes: int) -> list[SolvedEquations]:
        likelihood, basis = ProbitLikelihood(), np.ones((1, 1))
        if n_classes == 2:
            return [self._solved(design, likelihood, basis)]
        return [self._solved(replace(design, against_rest=k), likelihood, basis) for k in range(n_classes)]

    def _log_likelihood(self, rows: RegressionRows, solved: list[SolvedEquations]) -> float:
        if len(solved) == 1:
            return super()._log_likelihood(rows, solved)
        return total(rows.parts, partial(_log_likelihood, solved))

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x); with more than two classes, Φ of each score divided by their sum.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return np.exp(_normalised(scores)) if scores.shape[1] > 1 else probit(np.hstack([-scores, scores]))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors log p(C_k | x).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return _normalised(scores) if scores.shape[1] > 1 else log_probit(np.hstack([-scores, scores]))

    def _expression(self) -> Expression:
        return log_probit_expression(self._fitted().expression((-1.0, 1.0)))


def _log_likelihood(solved: list[SolvedEquations], block: Block) -> float:
    """That of a block, of classes that were fitted against the rest."""
    log_p = _normalised(joint_scores(solved, block.X))[np.arange(len(block)), block.codes]
    return float(block.weighted(log_p).sum())


def _normalised(scores: Array) -> Array:
    # In log space, so that a row far from every class still has posteriors.
    return log_softmax(log_probit(np.maximum(scores, FARTHEST)))
