"""The error of a regression at any coefficients, E(w) = −Σ s·log p(t | x): its gradient and its Hessian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.estimators.base import Estimator, sum_of_own
from suffice.estimators.boundary import Boundary, checked_threshold, two_classes
from suffice.estimators.regression.design import Block
from suffice.estimators.regression.equations import FittedRegression
from suffice.estimators.regression.likelihoods import Likelihood, Local
from suffice.estimators.regression.objective import gram, softmax_hessian, with_ones
from suffice.estimators.regression.rows import read_rows
from suffice.tables.targets import checked_weights, codes_of_rows, labelled, read_labels


class Differentiable(Estimator):
    """A regression that tells its likelihood, derivatives and boundaries for any rows."""

    fit_intercept: bool
    _learnt: FittedRegression

    def _likelihood(self) -> Likelihood:
        """The distribution of a class given the scores of one problem."""
        raise NotImplementedError

    def _score_at(self, threshold: float) -> float:
        """The difference of two scores at which the first of two classes has this posterior."""
        raise NotImplementedError

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
        raise NotImplementedError

    def log_likelihood(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Σ s·log p(t | x) of any rows whose classes are known.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights s ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        log_likelihood : float
        """
        X, y = labelled(X, y)
        log_p = self.predict_log_proba(X)
        return sum_of_own(log_p, self._codes(y, len(log_p)), sample_weight)

    def gradient(
        self,
        X: Any,
        y: Any,
        coefficients: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Array:
        """The gradient of the error E(w) = −Σ s·log p(t | x) of rows: Σ (y − t)·φ in logistic regression.

        The penalty is not part of it: a fit with C solves gradient + w/C = 0.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows φ, without missing cells; a 1 is added to each for the intercept.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        coefficients : array-like of shape (1 or n_classes, n_features + 1), optional
            Where to take it: the coefficients, the intercept last if there is one; by default, those found.
        sample_weight : array-like of shape (n_samples,), optional
            Weights s ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        gradient : ndarray, shaped as the coefficients

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import LogisticRegression
        >>> X, y = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]], [0, 0, 1, 0, 1, 1]
        >>> model = LogisticRegression(C=np.inf).fit(X, y)
        >>> model.gradient(X, y, [[0.0, 0.0]])  # Σ (½ − t)·(x, 1)
        array([[-1.75,  0.  ]])
        """
        rows = []
        for Z, local, block in self._locals(X, y, coefficients, sample_weight):
            slope = block.weighted(local.slope)
            rows.append((Z.T @ slope.T).T)
        return np.vstack(rows)

    def hessian(
        self,
        X: Any,
        y: Any,
        coefficients: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Array:
        """The Hessian of the error E(w) = −Σ s·log p(t | x) of rows: Σ y(1 − y)·φφᵀ in logistic regression.

        With it, one step of Newton's method (iteratively reweighted least squares) is w − H⁻¹∇E. For more
        than two classes it has the blocks Σ y_k(I_kj − y_j)·φφᵀ and is singular: the scores of all classes
        may move together.

        Parameters
        ----------
        X, y, coefficients, sample_weight
            As in `gradient`.

        Returns
        -------
        hessian : ndarray of shape (n, n), with the n coefficients in the order of `gradient(…).ravel()`

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import LogisticRegression
        >>> X, y = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]], [0, 0, 1, 0, 1, 1]
        >>> model = LogisticRegression(C=np.inf).fit(X, y)
        >>> w = np.zeros((1, 2))
        >>> for _ in range(8):
        ...     step = np.linalg.solve(model.hessian(X, y, w), model.gradient(X, y, w).ravel())
        ...     w = w - step.reshape(w.shape)
        >>> np.allclose(w, [[model.coef_.item(), model.intercept_.item()]])
        True
        """
        blocks = []
        for Z, local, block in self._locals(X, y, coefficients, sample_weight):
            if len(local.curvature) == 1:
                blocks.append(gram(Z, block.weighted(local.curvature[0])))
            else:  # all classes but a last one, which no row has
                with_none = np.vstack([local.curvature, np.zeros_like(local.curvature[:1])])
                blocks.append(softmax_hessian(Z, with_none, block))
        return np.asarray(linalg.block_diag(*blocks))

    def _locals(
        self, X: Any, y: Any, coefficients: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Iterator[tuple[Any, Local, Block]]:
        """The rows φ, their slopes and curvatures, and their weights, for each problem that is solved."""
        self._require_fitted()
        learnt = self._learnt
        X, y = labelled(X, y)
        numbers = read_rows(self, X, learnt.names)
        codes = self._codes(y, numbers.shape[0])
        weights = None if sample_weight is None else checked_weights(sample_weight, len(codes))
        Z = with_ones(numbers) if self.fit_intercept else numbers
        scores = np.asarray((Z @ self._checked(coefficients).T).T)
        several = len(learnt.solved) > 1
        for k in range(len(learnt.solved)):
            own = codes == k if several else codes
            local = self._likelihood().local(scores[[k]] if several else scores, own)
            yield Z, local, Block(numbers, own, weights)

    def _checked(self, coefficients: ArrayLike | None) -> Array:
        """The coefficients of all scores, the intercept last."""
        equations = [one.equations for one in self._learnt.solved]
        found = np.vstack([one.coefficients for one in equations])
        if self.fit_intercept:
            found = np.column_stack([found, np.concatenate([one.intercepts() for one in equations])])
        if coefficients is None:
            return found
        given = np.asarray(coefficients, dtype=np.float64)
        if given.shape != found.shape or not np.isfinite(given).all():
            raise ValueError(
                f"coefficients must be finite numbers of shape {found.shape}"
                f"{', the intercept last' if self.fit_intercept else ''}, got shape {given.shape}."
            )
        return given

    def _codes(self, y: Any, n_rows: int) -> Codes:
        return codes_of_rows(read_labels(y), self._learnt.classes, n_rows)

    def boundary(self, label: Any, against: Any, threshold: float = 0.5) -> Boundary:
        """The hyperplane on which `label` has the posterior `threshold`, of these two classes only.

        Parameters
        ----------
        label : label
            A class.
        against : label
            The class it is compared with.
        threshold : float, default=0.5
            The posterior of `label` on the surface, strictly between 0 and 1. It moves the surface in
            parallel and changes w₀ only. Probit regression of more than two classes has only the boundary at
            0.5: the others are not linear.

        Returns
        -------
        boundary : Boundary
            The hyperplane wᵀx + w₀ = 0. For other rows it gives the difference of the scores: log odds, or
            standard deviations in probit regression.
        """
        self._require_fitted()
        learnt = self._learnt
        known = learnt.classes.tolist()
        i, j = two_classes(known, label, against)
        equations = [one.equations for one in learnt.solved]
        w = np.vstack([one.coefficients for one in equations])
        offset = np.concatenate([one.offset for one in equations])
        if len(w) == 1:  # the score of the second class, against 0
            w, offset = np.vstack([np.zeros_like(w), w]), np.append(0.0, offset)
        d = w.shape[1]
        return Boundary(
            known[i],
            known[j],
            np.zeros((d, d)),
            equations[0].shift,
            w[i] - w[j],
            float(offset[i] - offset[j]) - self._score_at(checked_threshold(threshold)),
            learnt.names,
        )
