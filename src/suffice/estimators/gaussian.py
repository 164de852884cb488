"""GaussianDiscriminant: one joint Gaussian in each class."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from suffice.arrays import Array
from suffice.estimators.bayes import BayesClassifier
from suffice.estimators.boundary import Boundary, log_odds_at, two_classes
from suffice.estimators.settings import with_kept_settings
from suffice.factors.gaussian.em import regression
from suffice.factors.gaussian.natural import quadratic
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.tying import check_groups
from suffice.families import MultivariateNormal
from suffice.families.multivariate_normal import checked_covariance
from suffice.kernels.cells import row_patterns
from suffice.lazy.scikit_learn import TransformerMixin
from suffice.model.columns.chosen_families import Families
from suffice.model.priors import Priors
from suffice.model.solved.solution import Posterior


class GaussianDiscriminant(TransformerMixin, BayesClassifier):  # type: ignore[misc]
    """Gaussian discriminant analysis with any covariance structure, from QDA to LDA to naive Bayes.

    Parameters
    ----------
    covariance : str or groups of labels, default="shared"
        "full" (QDA: each class has its own Σ), "shared" (LDA: one Σ for all classes), "diagonal" (Gaussian
        naive Bayes), "shared_diagonal" (one diagonal Σ), "isotropic" and "shared_isotropic" (Σ = λI), or
        groups of labels that share one Σ: [["C1", "C2"], ["C3"]].
    shrinkage : None, float, "ledoit_wolf", "oas", "bayes" or (λ, γ), default=None
        Shrinkage of the correlations; a pair is Friedman's regularised discriminant analysis. "bayes" is the
        mean of Σ given the rows: the prior of a class's Σ is worth d + 2 rows of the shared Σ.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).
    missing : {"em", "pairwise"}, default="em"
        How missing cells enter the fit; when predicting, they are always marginalised exactly.
    ddof : float, default=0
        0 for maximum likelihood (1/n), 1 for the unbiased covariance (per class; K·ddof when shared). Where
        too few rows are left, 0 is used, and `regularized_` says so.
    posterior : {"plug-in", "predictive"}, default="plug-in"
        Whether rows are scored with the estimated means and covariances, or averaged over what these may be
        given the training rows: by Student t distributions, better for small samples.
    columns : None, list of names or positions, or mask, default=None
        The columns to use; all others are left out, and the arrays below have no place for them. None uses
        all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    means_ : ndarray of shape (n_classes, n_features)
        The class means μ_k.
    covariances_ : ndarray of shape (n_classes, n_features, n_features)
        The class covariances Σ_k.
    coef_, intercept_ : ndarray
        w_k and w_k0 of the linear scores, if all classes share Σ; for two classes those of their difference.
    scalings_ : ndarray of shape (n_features, n_directions)
        Fisher's discriminant directions.
    explained_variance_ratio_ : ndarray of shape (n_directions,)
        The share of the variance between the classes along each direction.

    Examples
    --------
    >>> import suffice
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [4.0, 4.0], [5.0, 6.0], [4.0, 6.0]]
    >>> model = suffice.GaussianDiscriminant().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.boundary(1, 0).kind
    'linear'
    """

    def __init__(
        self,
        covariance: Any = "shared",
        *,
        shrinkage: Any = None,
        priors: Priors = None,
        missing: Literal["em", "pairwise"] = "em",
        ddof: float = 0.0,
        posterior: Posterior = "plug-in",
        columns: Iterable[Hashable] | None = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.missing = missing
        self.ddof = ddof
        self.posterior = posterior
        self.columns = columns

    @with_kept_settings
    def _chosen_families(self) -> Families:
        """One joint Gaussian over all columns."""
        settings = {"shrinkage": self.shrinkage, "missing": self.missing, "ddof": self.ddof}
        return self._of_columns(MultivariateNormal(self.covariance, **settings))

    def _scored_presence(self, names: tuple[Hashable, ...]) -> NDArray[np.bool_]:
        """Which columns' gaps are evidence: none, for `missing` says how their covariance is estimated."""
        return np.zeros(len(names), dtype=np.bool_)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted model.
        """

        def fit_and_check() -> None:
            super(GaussianDiscriminant, self).fit(X, y, sample_weight)
            groups = checked_covariance(self.covariance)
            if not isinstance(groups, str):  # a list that does not name every class once is refused now
                check_groups(groups, self.classes_, all_have_rows=True)

        return self._atomically(fit_and_check)

    def _gaussian(self) -> SolvedGaussian:
        factor = self._solved_model().factors[0]
        if not isinstance(factor, SolvedGaussian):
            raise TypeError("these statistics do not come from a single joint Gaussian block.")
        return factor

    def _used_columns(self) -> list[int]:
        """The columns that are not left out, by position."""
        columns: list[int] = self.schema_.factors[0].columns.tolist()
        return columns

    @property
    def means_(self) -> Array:
        """The class means μ_k."""
        return self._gaussian().mean

    @property
    def covariances_(self) -> Array:
        """The class covariances Σ_k; classes that share one have the same matrix."""
        return self._gaussian().covariances()

    @property
    def coef_(self) -> Array:
        """w_k = Σ⁻¹μ_k; for two classes the single row w = Σ⁻¹(μ₁ − μ₀)."""
        rows = self._scaled_directions(self._gaussian().mean) / self._gaussian().scale
        return np.asarray(rows[[1]] - rows[[0]] if len(rows) == 2 else rows)

    @property
    def intercept_(self) -> Array:
        """w_k0 = −½μ_kᵀΣ⁻¹μ_k + log π_k; for two classes the single number w₀."""
        mean = self._gaussian().mean
        rows = self._scaled_directions(mean) / self._gaussian().scale
        constant = -0.5 * np.sum(rows * mean, axis=1) + self._solved_model().log_priors
        return np.asarray(constant[[1]] - constant[[0]] if len(constant) == 2 else constant)

    def _scaled_directions(self, vectors: Array) -> Array:
        """Σ⁻¹·v for each row v, times the column scales, where one Σ serves all classes."""
        gaussian = self._gaussian()
        if gaussian.is_predictive:
            raise AttributeError(
                "coef_ and intercept_ need linear scores, and those of posterior='predictive' are not; use "
                "posterior='plug-in'."
            )
        if gaussian.group.any():
            raise AttributeError(
                f"coef_ and intercept_ need one covariance shared by all classes, not "
                f"covariance={self.covariance!r}; boundary(i, j) has Q, w and w0 for any two classes."
            )
        result = np.zeros_like(vectors)
        on = gaussian.active
        whitening = gaussian.whitenings[0]
        result[:, on] = whitening.whiten_transposed(whitening.whiten(vectors[:, on] / gaussian.scale[on]))
        return result

    def boundary(self, label: Any, against: Any, threshold: float = 0.5) -> Boundary:
        """The surface on which `label` has the posterior `threshold`, of these two classes only.

        Parameters
        ----------
        label : label
            A class.
        against : label
            The class it is compared with.
        threshold : float, default=0.5
            The posterior of `label` on the surface, strictly between 0 and 1: log odds of logit(threshold).
            It moves the surface in parallel, as other priors do, and changes w₀ only.

        Returns
        -------
        boundary : Boundary
            The surface xᵀQx + wᵀx + w₀ = 0.
        """
        shift = log_odds_at(threshold)
        gaussian = self._gaussian()
        if gaussian.is_predictive:
            raise ValueError(
                "the boundary of posterior='predictive' is not linear or quadratic; use posterior='plug-in'."
            )
        known = self.classes_.tolist()
        i, j = two_classes(known, label, against)
        centre = gaussian.mean[i]
        parts = [quadratic(gaussian, k, centre) for k in (i, j)]
        log_priors = self._solved_model().log_priors
        same = gaussian.group[i] == gaussian.group[j]
        with np.errstate(invalid="ignore"):
            squares = np.zeros_like(parts[0][0]) if same else parts[0][0] - parts[1][0]
        if not np.isfinite(squares).all():
            raise ValueError(
                "the squared deviations of these columns overflow, so Q cannot be computed; measure the "
                "columns in other units."
            )
        constant = parts[0][2] - parts[1][2] + log_priors[i] - log_priors[j]
        slope = parts[0][1] - parts[1][1]
        schema, used = self.schema_, self._used_columns()
        return Boundary(
            known[i],
            known[j],
            squares,
            centre,
            slope,
            float(constant) - shift,
            tuple(schema.names[j] for j in used) if schema.named else None,
        )

    def _directions(self) -> tuple[Array, Array]:
        """The directions that separate the classes best, best first, and how much each explains."""
        gaussian = self._gaussian()
        on = gaussian.active
        weight = self._solved_model().weight
        pooled = np.einsum("k,kij->ij", weight / weight.sum(), gaussian.standard[gaussian.group])
        root = np.linalg.cholesky(pooled)
        grand = (weight / weight.sum()) @ self._gaussian().mean
        away = (self._gaussian().mean - grand)[:, on] / gaussian.scale[on]
        whitened = (
            linalg.solve_triangular(root, away.T, lower=True).T
            * np.sqrt(weight / weight.sum())[:, np.newaxis]
        )
        _, strength, rows = np.linalg.svd(whitened, full_matrices=False)
        kept = strength > 1e-10 * max(float(strength.max(initial=0.0)), 1e-300)
        limit = min(len(weight) - 1, int(kept.sum()))
        directions = np.zeros((len(gaussian.scale), limit))
        back = linalg.solve_triangular(root.T, rows[:limit].T, lower=False)
        directions[on] = back / gaussian.scale[on, np.newaxis]
        explained = strength[:limit] ** 2
        return directions, explained / explained.sum() if limit else explained

    @property
    def scalings_(self) -> Array:
        """Fisher's discriminant directions, best first; at most K − 1."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the variance between the classes along each direction."""
        return self._directions()[1]

    def transform(self, X: Any) -> Array:
        """Project rows onto Fisher's discriminant directions, about the grand mean (reduced-rank LDA).

        A missing cell is replaced by its expectation given the observed cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        projected : ndarray of shape (n_samples, n_directions)
        """
        directions = self._directions()[0]
        weight = self._solved_model().weight
        grand = (weight / weight.sum()) @ self._gaussian().mean
        table = self.schema_.read(self._read(X, reset=False))
        values = table.numbers(self._used_columns()).astype(np.float64)
        gaps = np.isnan(values)
        if gaps.any():
            values = np.where(gaps, self._expected(values, self.predict_proba(X)), values)
        return np.asarray((values - grand) @ directions)

    def _expected(self, values: Array, posterior: Array) -> Array:
        """E[x] of each row given its observed cells: the classes' regressions, weighted by the posteriors."""
        gaussian = self._gaussian()
        on, patterns = gaussian.active, list(row_patterns(~np.isnan(values[:, gaussian.active])))
        expected = np.zeros_like(values)
        for k, g in enumerate(gaussian.group):
            covariance = gaussian.standard[g]
            guess = np.nan_to_num((values - gaussian.mean[k]) / gaussian.scale)
            for seen, rows in patterns:
                known, hidden = np.flatnonzero(seen), np.flatnonzero(~seen)
                slope = regression(covariance[np.ix_(known, known)], covariance[np.ix_(hidden, known)])
                guess[np.ix_(rows, on[hidden])] = guess[np.ix_(rows, on[known])] @ slope.T
            expected += posterior[:, [k]] * (gaussian.mean[k] + guess * gaussian.scale)
        return expected

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = False
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self._directions()[0].shape[1])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns of `transform`: gaussiandiscriminant0, gaussiandiscriminant1, …

        Parameters
        ----------
        input_features : ignored
            Accepted for compatibility with scikit-learn.

        Returns
        -------
        names : ndarray of str
        """
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object)
