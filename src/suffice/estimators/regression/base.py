"""What logistic and probit regression share: reading, solving and reporting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from suffice.arrays import Array, read_only
from suffice.engines.sources import is_lazy
from suffice.estimators.regression.derivatives import Differentiable
from suffice.estimators.regression.design import Design
from suffice.estimators.regression.equations import Equations, FittedRegression, SolvedEquations, joint_scores
from suffice.estimators.regression.likelihoods import Likelihood
from suffice.estimators.regression.objective import Objective
from suffice.estimators.regression.rows import RegressionRows, read_rows, read_training, read_training_files
from suffice.estimators.regression.search import hessian_is_cheap, minimise, problem
from suffice.estimators.regression.summary import Summary
from suffice.estimators.regression.worker_rows import read_with_workers
from suffice.estimators.settings import with_kept_settings
from suffice.export.expressions import Expression, Gaps, Score
from suffice.export.scoring import Scoring
from suffice.lazy.scikit_learn import ConvergenceWarning
from suffice.model.explaining.explanation import Explanation
from suffice.storage import Fields, Setting, SufficeFileError
from suffice.tables.files.batches import Labelled
from suffice.tables.recognized import is_frame
from suffice.tables.table import read_table
from suffice.tables.wording import one_line

StandardErrors = bool | Literal["auto"]


class Regression(Differentiable):
    """A classifier with linear scores, fitted by penalised maximum likelihood."""

    _score_unit: ClassVar[str] = "nats"
    """What differences of scores are in: log odds, or standard deviations of a latent Normal."""
    _learnt: FittedRegression

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        standard_errors: StandardErrors = "auto",
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.standard_errors = standard_errors

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted model.
        """
        if is_lazy(X):
            return self._fit_lazy(X, y, sample_weight)
        return self._fit(lambda: read_training(self, X, y, sample_weight, self.class_weight))

    def _learn_files(self, files: Labelled) -> None:
        read = read_with_workers if files.has_workers else read_training_files
        self._fit(lambda: read(self, files, self.class_weight))

    def _fit(self, read: Callable[[], RegressionRows]) -> Self:
        """Fit to the rows, and warn if there is no optimum or it was not found."""

        def learn() -> None:
            self._check_settings()
            self._learnt = self._learn(read())
            self._keep_settings()

        self._atomically(learn)
        if not self.converged_:
            warnings.warn(self.message_, ConvergenceWarning, stacklevel=3)
        return self

    def _learn(self, rows: RegressionRows) -> FittedRegression:
        """Solve for rows that come in any parts."""
        design = Design.of(rows.parts, rows.extent, centred=self.fit_intercept)
        design = replace(design, weight=float(rows.class_weights.sum()))
        solved = self._solve(design, len(rows.classes))
        return FittedRegression.of(rows, solved, self._log_likelihood(rows, solved))

    def _solve(self, design: Design, n_classes: int) -> list[SolvedEquations]:
        raise NotImplementedError

    def _log_likelihood(self, rows: RegressionRows, solved: list[SolvedEquations]) -> float:
        return solved[0].log_likelihood

    def _solved(self, design: Design, likelihood: Likelihood, basis: Array) -> SolvedEquations:
        strength = 0.0 if np.isinf(self.C) else 1.0 / self.C
        objective = Objective(design, likelihood, strength, self.fit_intercept, basis)
        wanted = hessian_is_cheap(objective) if self.standard_errors == "auto" else self.standard_errors
        # Standard errors of rows that weigh nearly nothing are so wide that every point lies within them.
        tol = self.tol * min(1.0, np.sqrt(design.weight))
        minimum = minimise(objective, tol, self.max_iter, hessian=wanted)
        penalty = 0.5 * float(np.sum(objective.penalty * minimum.parameters**2))
        return SolvedEquations(
            Equations.of(objective, minimum),
            minimum,
            problem(objective, minimum, self.max_iter),
            penalty - minimum.value,
        )

    def _check_settings(self) -> None:
        if not (isinstance(self.C, Real) and self.C > 0.0):
            raise ValueError(f"C must be a number > 0 (inf for no penalty), got {self.C!r}.")
        if not (isinstance(self.tol, Real) and 0.0 < self.tol < np.inf):
            raise ValueError(f"tol must be a finite number > 0 (in standard errors), got {self.tol!r}.")
        if not (isinstance(self.max_iter, Integral) and self.max_iter >= 1):
            raise ValueError(f"max_iter must be a whole number ≥ 1, got {self.max_iter!r}.")
        if self.fit_intercept not in (True, False):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}.")
        if self.standard_errors not in (True, False, "auto"):
            raise ValueError(f"standard_errors must be True, False or 'auto', got {self.standard_errors!r}.")

    def _scores(self, X: Any) -> Array:
        learnt = self._fitted()
        return joint_scores(learnt.solved, read_rows(self, X, learnt.names))

    def decision_function(self, X: Any) -> Array:
        """The linear score of the second class for two classes, the scores of all classes otherwise.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        codes = (scores[:, 0] > 0.0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def explain(self, X: Any) -> Explanation:
        """Split the linear score of each class into the contributions of the cells.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows, without missing cells.

        Returns
        -------
        explanation : Explanation
            With two classes, each class gets half of the score, with opposite signs.
        """
        learnt = self._fitted()
        rows = read_rows(self, X, learnt.names)
        cells = np.concatenate([one.equations.contributions(rows) for one in learnt.solved], axis=2)
        offset = np.concatenate([one.equations.offset for one in learnt.solved])
        scores = joint_scores(learnt.solved, rows)
        if scores.shape[1] == 1:
            sides = np.array([-0.5, 0.5])
            cells, offset, scores = cells * sides, offset * sides, scores * sides
        dense = rows.toarray() if sparse.issparse(rows) else rows
        return Explanation(
            contributions=cells,
            prior=offset,
            total=scores,
            posterior=self.predict_proba(X),
            columns=learnt.names or tuple(range(cells.shape[1])),
            classes=learnt.classes,
            values=tuple(np.asarray(dense, dtype=np.float64).T),
            container=learnt.container,
            unit=self._score_unit,
            start="(intercept)",
            rows=read_table(X).row_labels if is_frame(X) else None,
        )

    def _expression(self) -> Expression:
        """Scores of all classes whose softmax is the posterior."""
        raise NotImplementedError

    def _scoring(self, gaps: Gaps) -> Scoring:
        learnt = self._fitted()
        kinds = learnt.container.kinds()
        names = tuple(range(len(kinds))) if learnt.names is None else learnt.names
        return Scoring(names, learnt.names is not None, kinds, learnt.classes, Score(self._expression()))

    def _fitted(self) -> FittedRegression:
        self._require_fitted()
        return self._learnt

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        return read_only(self._fitted().classes)

    @property
    def priors_(self) -> Array:
        """The share of each class in the training rows, by weight."""
        weights = self._fitted().class_weights
        return np.asarray(weights / weights.sum())

    @property
    def coef_(self) -> Array:
        """The coefficients w: one row for two classes, otherwise one row per class."""
        return np.vstack([one.equations.coefficients for one in self._fitted().solved])

    @property
    def intercept_(self) -> Array:
        """The intercepts w₀: one number for two classes, otherwise one per class."""
        return np.concatenate([one.equations.intercepts() for one in self._fitted().solved])

    @property
    def n_iter_(self) -> NDArray[np.intp]:
        """The number of iterations over all rows, for each problem that was solved."""
        return np.array([one.minimum.n_iterations for one in self._fitted().solved])

    @property
    def converged_(self) -> bool:
        """Whether the optimum was found."""
        return all(one.problem is None for one in self._fitted().solved)

    @property
    def message_(self) -> str:
        """How the search ended, in words."""
        learnt = self._fitted()
        several = len(learnt.solved) > 1
        titles = [f"{one_line(title, 100)}: " for title in learnt.against_the_rest()] if several else [""]
        found = [
            title + one.problem
            for title, one in zip(titles, learnt.solved, strict=True)
            if one.problem is not None
        ]
        return found[0] if found else "The optimum was found."

    @property
    def standard_errors_(self) -> Array:
        """Standard errors of `coef_`, in its shape."""
        return np.vstack([self._errors(one, row)[: self.n_features_in_] for one, row in self._rows()])

    @property
    def intercept_standard_errors_(self) -> Array:
        """Standard errors of `intercept_`; 0 without an intercept."""
        if not self.fit_intercept:
            return np.zeros(len(self._rows()))
        return np.array([self._errors(one, row)[-1] for one, row in self._rows()])

    @property
    def log_likelihood_(self) -> float:
        """Σ s·log p(t | x) of the training rows, without the penalty."""
        return self._fitted().log_likelihood

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters; without a penalty, collinear columns count once."""
        return sum(one.n_parameters for one in self._fitted().solved)

    def _criterion_terms(self) -> tuple[float, int, float]:
        learnt = self._fitted()
        if len(learnt.solved) > 1:  # the criteria assume a maximum
            raise AttributeError(
                "there is no aic_ or bic_: with more than two classes, each is fitted against the rest, "
                "which does not maximise the likelihood of the labels; compare log_likelihood_ on held-out "
                "rows, or use LogisticRegression, which has both."
            )
        return self.log_likelihood_, self.n_parameters_, float(learnt.class_weights.sum())

    def summary(self, reference: Any = None, level: float = 0.95) -> Summary:
        """The table of coefficients with standard errors, z-values, p-values and confidence limits.

        Parameters
        ----------
        reference : label, optional
            The class that the others are compared with; by default the first. Not available if each class was
            fitted against the rest.
        level : float, default=0.95
            The confidence level of the limits.

        Returns
        -------
        summary : Summary
            Prints as a table.
        """
        if not (isinstance(level, Real) and 0.0 < level < 1.0):
            raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}.")
        terms = self._fitted().terms()
        lines = self._fitted().lines(reference)
        estimates = [one.equations.estimates(row, against) for _, one, row, against in lines]
        errors = [self._errors(one, row, against) for _, one, row, against in lines]
        return Summary(
            heading=self._heading(lines[0][0]),
            equation=[title for title, *_ in lines for _ in terms],
            term=terms * len(lines),
            estimate=np.concatenate(estimates),
            standard_error=np.concatenate(errors),
            level=level,
            notes=self._notes(),
            container=self._fitted().container,
        )

    def _heading(self, comparison: str) -> tuple[tuple[str, str], ...]:
        learnt = self._fitted()
        figures = [
            ("model", type(self).__name__),
            ("classes", comparison if len(learnt.classes) == 2 else str(len(learnt.classes))),
            ("rows", f"{learnt.class_weights.sum():.12g}"),
            ("penalty", "none" if np.isinf(self.C) else f"C = {self.C:g}"),
        ]
        null = learnt.null_log_likelihood()
        figures += [
            ("log likelihood", f"{self.log_likelihood_:.4f}"),
            ("without columns", f"{null:.4f}"),
            ("McFadden's R²", f"{1.0 - self.log_likelihood_ / null:.4f}" if null else "–"),
        ]
        if len(learnt.solved) == 1:
            figures += [("AIC", f"{self.aic_:.4f}"), ("BIC", f"{self.bic_:.4f}")]
        return tuple(figures)

    def _notes(self) -> tuple[str, ...]:
        notes = [] if self.converged_ else [self.message_]
        if np.isfinite(self.C):
            notes.append("Standard errors are of the penalised estimates: from the inverse of Hessian + 1/C.")
        flat = [one.minimum.curvature for one in self._fitted().solved if one.minimum.curvature is not None]
        if any(curvature.rank < len(curvature.scale) for curvature in flat):
            notes.append(
                "Constant or collinear columns: their coefficients (–) are not determined one by one."
            )
        return tuple(notes)

    def _rows(self) -> list[tuple[SolvedEquations, int]]:
        return [(one, row) for one in self._fitted().solved for row in range(len(one.equations.coefficients))]

    def _errors(self, one: SolvedEquations, row: int | None, against: int | None = None) -> Array:
        errors = one.equations.standard_errors(row, against)
        if errors is None:
            raise AttributeError(
                "the standard errors were not computed, because the Hessian of a problem of this size costs "
                f"more than the fit; fit with {type(self).__name__}(standard_errors=True)."
            )
        return errors

    @with_kept_settings
    def _to_fields(self) -> dict[str, Any]:
        """Everything the model is, as a file holds it."""
        learnt = self._fitted()
        self._check_settings()
        return {
            "settings": {name: Setting(value) for name, value in self.get_params(deep=False).items()},
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "learnt": learnt.state(),
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Restore a model from a file; nothing is fitted again."""
        settings = fields.branch("settings")
        settings.require(cls._get_param_names())
        model = cls(**fields.settings("settings"))
        try:
            model._check_settings()
        except (TypeError, ValueError) as error:
            raise SufficeFileError(f"the file does not hold a valid {cls.__name__}: {error}") from error
        model._learnt = FittedRegression.from_fields(fields.branch("learnt"))
        model._keep_settings()
        learnt = model._learnt
        model.n_features_in_ = learnt.solved[0].equations.coefficients.shape[1]
        model._load_names(fields, learnt.names)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
