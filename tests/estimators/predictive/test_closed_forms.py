"""The closed forms of posterior predictives are integrals of likelihood × posterior."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from suffice import BayesClassifier, GaussianDiscriminant
from suffice.families import (
    Bernoulli,
    Categorical,
    Exponential,
    LogNormal,
    MultivariateNormal,
    Normal,
    Poisson,
)

Y = np.array(["a"] * 5 + ["b"] * 3)
NUMBERS = np.array([1.0, 1.5, 0.7, 2.5, 1.1, 4.0, 6.5, 5.2])
COUNTS = np.array([0.0, 2.0, 1.0, 0.0, 3.0, 7.0, 5.0, 6.0])


def log_densities(family, x, at, y=Y, **settings):
    """Log p(x | C_k) of one column by the model, (values, classes)."""
    model = BayesClassifier(families=family, priors="uniform", posterior="predictive", **settings)
    model.fit(x[:, np.newaxis], y)
    return model.predict_joint_log_proba(at[:, np.newaxis]) + np.log(len(model.classes_))


def averaged(log_likelihood, log_prior, log_density, low, high):
    """∫ p(x | θ)·p(rows | θ)·p(θ) dθ over ∫ p(rows | θ)·p(θ) dθ, θ between `low` and `high`."""
    grid = np.linspace(low, high, 400)
    top = np.max([log_likelihood(t) + log_prior(t) for t in grid])

    def posterior(t):
        return np.exp(log_likelihood(t) + log_prior(t) - top)

    options = {"epsabs": 0.0, "epsrel": 1e-11, "limit": 400}
    whole = integrate.quad(posterior, low, high, **options)[0]
    return integrate.quad(lambda t: posterior(t) * np.exp(log_density(t)), low, high, **options)[0] / whole


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_a_poisson_is_averaged_over_its_gamma_posterior(alpha):
    at = np.array([0.0, 1.0, 4.0, 11.0])
    found = log_densities(Poisson(alpha=alpha), COUNTS, at)
    pooled = COUNTS.mean()
    for k, label in enumerate("ab"):
        rows = COUNTS[label == Y]
        for i, x in enumerate(at):  # θ = log μ; alpha pseudo-observations of the pooled mean, and dμ/μ
            expected = averaged(
                lambda t, rows=rows: stats.poisson.logpmf(rows, np.exp(t)).sum(),
                lambda t: alpha * (pooled * t - np.exp(t)),
                lambda t, x=x: stats.poisson.logpmf(x, np.exp(t)),
                -30.0,
                6.0,
            )
            assert np.exp(found[i, k]) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_an_exponential_is_averaged_over_its_gamma_posterior(alpha):
    at = np.array([0.0, 0.3, 4.0, 50.0])
    found = log_densities(Exponential(alpha=alpha), NUMBERS, at)
    pooled = NUMBERS.mean()
    for k, label in enumerate("ab"):
        rows = NUMBERS[label == Y]
        for i, x in enumerate(at):  # θ = log β; alpha pseudo-observations of the pooled mean, and dβ/β
            expected = averaged(
                lambda t, rows=rows: np.sum(t - np.exp(t) * rows),
                lambda t: alpha * (t - np.exp(t) * pooled),
                lambda t, x=x: t - np.exp(t) * x,
                -30.0,
                8.0,
            )
            assert np.exp(found[i, k]) == pytest.approx(expected, rel=1e-8)


def student(rows, total_variance, alpha, ddof, x):
    """∫∫ N(x | μ, σ²)·p(μ, σ² | rows) dμ dσ² with p(μ, σ²) ∝ σ^−(alpha − ddof + 3)·exp(−alpha·v/2σ²).

    The integral over μ is that of Gaussians, so only σ is left.
    """
    n, mean = len(rows), rows.mean()
    squares = np.sum((rows - mean) ** 2)

    def log_likelihood(t):  # θ = log σ; ∫ Π N(x_i | μ, σ²) dμ
        return -(n - 1) * t - 0.5 * squares * np.exp(-2 * t)

    def log_prior(t):  # with the Jacobian dσ² ∝ σ² dθ
        return -(alpha - ddof + 1) * t - 0.5 * alpha * total_variance * np.exp(-2 * t)

    def log_density(t):
        return stats.norm.logpdf(x, mean, np.exp(t) * np.sqrt(1 + 1 / n))

    return averaged(log_likelihood, log_prior, log_density, -12.0, 40.0)


@pytest.mark.parametrize("ddof", [0.0, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_a_normal_is_averaged_over_its_posterior(alpha, ddof):
    at = np.array([1.2, 0.0, -7.0, 30.0])
    found = log_densities(Normal(alpha=alpha, ddof=ddof), NUMBERS, at)
    for k, label in enumerate("ab"):
        rows = NUMBERS[label == Y]
        expected = [student(rows, NUMBERS.var(), alpha, ddof, x) for x in at]
        np.testing.assert_allclose(np.exp(found[:, k]), expected, rtol=1e-8)


def test_the_integral_over_the_mean_is_the_gaussian_that_the_law_takes_for_it():
    rows, sigma, x = NUMBERS[:5], 0.8, 2.2

    def likelihood(mu):
        return np.exp(stats.norm.logpdf(rows, mu, sigma).sum())

    whole = integrate.quad(likelihood, -10.0, 10.0, epsabs=0.0, points=[rows.mean()])[0]
    joint = integrate.quad(
        lambda mu: likelihood(mu) * stats.norm.pdf(x, mu, sigma),
        -10.0,
        10.0,
        epsabs=0.0,
        points=[rows.mean()],
    )[0]
    assert joint / whole == pytest.approx(stats.norm.pdf(x, rows.mean(), sigma * np.sqrt(1.2)), rel=1e-9)


def test_a_lognormal_is_a_normal_of_the_logarithm():
    at = np.array([0.5, 2.0, 30.0])
    found = log_densities(LogNormal(), NUMBERS, at)
    expected = log_densities(Normal(), np.log(NUMBERS), np.log(at)) - np.log(at)[:, np.newaxis]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("ddof", [0.0, 1.0])
def test_normals_that_share_a_variance_share_its_degrees_of_freedom(ddof):
    at, alpha = np.array([1.2, -7.0, 30.0]), 1.0
    found = log_densities(Normal("shared", alpha=alpha, ddof=ddof), NUMBERS, at)
    groups = [NUMBERS[label == Y] for label in "ab"]
    degrees = sum(len(rows) + alpha - ddof for rows in groups)
    within = sum(len(rows) * rows.var() for rows in groups)
    squares = within + 2 * alpha * NUMBERS.var()
    for k, rows in enumerate(groups):
        mean, spread = rows.mean(), np.sqrt(1 + 1 / len(rows))
        scale = np.sqrt(squares / degrees) * spread
        np.testing.assert_allclose(found[:, k], stats.t.logpdf(at, degrees, mean, scale), rtol=1e-10)
        expected = [
            averaged(
                lambda t: -(len(NUMBERS) - 2) * t - 0.5 * within * np.exp(-2 * t),  # ∫∫ over both means
                lambda t: -2 * (alpha - ddof + 1) * t - alpha * NUMBERS.var() * np.exp(-2 * t),
                lambda t, x=x, mean=mean, spread=spread: stats.norm.logpdf(x, mean, np.exp(t) * spread),
                -12.0,
                40.0,
            )
            for x in at
        ]
        np.testing.assert_allclose(np.exp(found[:, k]), expected, rtol=1e-8)


@pytest.mark.parametrize("family", [Bernoulli(), Bernoulli(alpha=0.3), Categorical(), Categorical(alpha=2.0)])
def test_the_laplace_rule_is_the_predictive_of_shares(family):
    x = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    found = log_densities(family, x, np.array([0.0, 1.0]))
    plain = BayesClassifier(families=family, priors="uniform").fit(x[:, np.newaxis], Y)
    assert (found == plain.predict_joint_log_proba([[0.0], [1.0]]) + np.log(2)).all()
    for k, label in enumerate("ab"):
        rows, alpha = x[label == Y], family.alpha
        expected = averaged(  # θ = log p/(1 − p); alpha of each outcome, and dp/p(1 − p)
            lambda t, rows=rows: np.sum(special.log_expit(np.where(rows > 0, t, -t))),
            lambda t, alpha=alpha: alpha * (special.log_expit(t) + special.log_expit(-t)),
            special.log_expit,
            -150.0,
            150.0,
        )
        assert np.exp(found[1, k]) == pytest.approx(expected, rel=1e-8)


def covariance_grid(points=70):
    """Nodes of Gauss–Legendre in log σ₁, log σ₂ and artanh ρ, as covariances (m, 2, 2) with log weights.

    The weights hold the Jacobian of (σ₁₁, σ₁₂, σ₂₂), which is 4σ₁³σ₂³(1 − ρ²), without the 4.
    """
    node, weight = np.polynomial.legendre.leggauss(points)
    s, w_s = 0.2 + 4.5 * node, 4.5 * weight
    r, w_r = 6.0 * node, 6.0 * weight
    a, b, c = (g.ravel() for g in np.meshgrid(s, s, r, indexing="ij"))
    log_w = np.log(np.einsum("i,j,k->ijk", w_s, w_s, w_r).ravel())
    rho = np.tanh(c)
    cross = rho * np.exp(a + b)
    matrices = np.stack([np.stack([np.exp(2 * a), cross], -1), np.stack([cross, np.exp(2 * b)], -1)], -2)
    return matrices, log_w + 3 * a + 3 * b + np.log1p(-(rho**2))


@pytest.mark.parametrize("ddof", [0.0, 1.0])
def test_a_joint_gaussian_is_averaged_over_its_posterior(ddof):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(16, 2)) @ [[1.0, 0.4], [0.0, 0.9]]
    y = np.repeat([0, 1], 8)
    model = GaussianDiscriminant("full", ddof=ddof, priors="uniform", posterior="predictive").fit(X, y)
    at = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, 2.0]])
    found = model.predict_joint_log_proba(at) + np.log(2)
    matrices, log_w = covariance_grid()
    precision, log_det = np.linalg.inv(matrices), np.linalg.slogdet(matrices)[1]
    for k in (0, 1):
        rows = X[y == k]
        n, mean = len(rows), rows.mean(axis=0)
        scatter = (rows - mean).T @ (rows - mean)
        # ∫ Π N(x_i | μ, Σ) dμ, and the prior |Σ|^−(2d − ddof + 1)/2 for d = 2
        log_posterior = -0.5 * (n - 1) * log_det - 0.5 * np.einsum("mij,ji->m", precision, scatter)
        log_posterior += log_w - 0.5 * (5.0 - ddof) * log_det
        weight = np.exp(log_posterior - log_posterior.max())
        for i, x in enumerate(at):
            away = x - mean
            squares = np.einsum("i,mij,j->m", away, precision, away) / (1 + 1 / n)
            density = np.exp(-0.5 * squares - 0.5 * log_det) / (2 * np.pi * (1 + 1 / n))
            expected = np.sum(weight * density) / np.sum(weight)
            assert np.exp(found[i, k]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("covariance", ["full", "shared", "isotropic", "shared_isotropic", [[0, 2], [1]]])
@pytest.mark.parametrize("ddof", [0.0, 1.0])
def test_a_joint_gaussian_is_scored_by_scipys_multivariate_t(covariance, ddof):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(24, 3)), np.repeat([0, 1, 2], [4, 8, 12])
    settings = {"ddof": ddof, "priors": "uniform"}
    model = GaussianDiscriminant(covariance, posterior="predictive", **settings).fit(X, y)
    at = rng.normal(size=(5, 3)) * 3
    found = model.predict_joint_log_proba(at) + np.log(3)
    rows = np.array([4.0, 8.0, 12.0])
    left = rows - ddof
    shares = np.array([0, 1, 0]) if isinstance(covariance, list) else np.zeros(3)
    if isinstance(covariance, list) or covariance.startswith("shared"):
        left = np.array([left[shares == shares[k]].sum() for k in range(3)])
    if "isotropic" in covariance:
        left = left * 3
    for k in range(3):
        shape = model.covariances_[k] * (1 + 1 / rows[k])
        expected = stats.multivariate_t(model.means_[k], shape, df=left[k]).logpdf(at)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-10)


@pytest.mark.parametrize("covariance, dispersion", [("diagonal", "free"), ("shared_diagonal", "shared")])
def test_a_diagonal_block_equals_normal_columns(covariance, dispersion):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1], [6, 14])
    joint = GaussianDiscriminant(covariance, posterior="predictive").fit(X, y)
    columns = BayesClassifier(families=Normal(dispersion, alpha=0), posterior="predictive").fit(X, y)
    at = rng.normal(size=(9, 3)) * 4
    np.testing.assert_allclose(
        joint.predict_joint_log_proba(at), columns.predict_joint_log_proba(at), rtol=1e-10
    )
    np.testing.assert_allclose(
        joint.explain(at).contributions, columns.explain(at).contributions, rtol=1e-9, atol=1e-12
    )


def test_a_missing_cell_of_a_joint_block_is_the_model_without_the_column():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 3)), np.repeat([0, 1], [6, 14])
    for covariance in ("full", "shared"):
        whole = GaussianDiscriminant(covariance, posterior="predictive").fit(X, y)
        part = GaussianDiscriminant(covariance, posterior="predictive").fit(X[:, [0, 2]], y)
        at = rng.normal(size=(9, 3)) * 4
        at[:, 1] = np.nan
        np.testing.assert_allclose(
            whole.predict_joint_log_proba(at), part.predict_joint_log_proba(at[:, [0, 2]]), rtol=1e-10
        )


def test_a_block_of_one_column_is_a_normal_without_pseudo_observations():
    at = np.array([[1.2], [-7.0], [30.0]])
    block = {(0,): MultivariateNormal()}
    X = NUMBERS[:, np.newaxis]
    joint = BayesClassifier(families=block, posterior="predictive").fit(X, Y)
    alone = BayesClassifier(families=Normal(alpha=0), posterior="predictive").fit(X, Y)
    np.testing.assert_allclose(
        joint.predict_joint_log_proba(at), alone.predict_joint_log_proba(at), rtol=1e-12
    )
