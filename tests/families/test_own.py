"""Families of one's own, with u(x) from log x, 1/x, |x − m| and xᵏ, work wherever those of suffice do."""

import sqlite3
from dataclasses import dataclass, replace
from typing import ClassVar

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy import optimize, special, stats

import suffice
from suffice import BayesClassifier, summarize
from suffice.families import ElementaryFunction, Family, Normal
from suffice.testing import check_family, check_mathematics


@dataclass(frozen=True, repr=False)
class Pareto(Family):
    """p(x) = (a/m)·(m/x)^(a+1), x ≥ m: u = log(x/m), λ = −a, A = −log a, h = 1/x."""

    minimum: float = 1.0

    functions: ClassVar = ("log",)
    has_base_measure: ClassVar = True
    support_name: ClassVar = "numbers from the minimum on"

    @property
    def default_origin(self):
        return self.minimum

    def support(self, x):
        return (x >= self.minimum) & np.isfinite(x)

    def log_base_measure(self, x):
        return -np.log(x)

    def log_normalizer(self, natural, origin):
        return -np.log(-natural[0])

    def mean_from_natural(self, natural, origin):
        return -1.0 / natural

    def natural_from_mean(self, mean, origin):
        return -1.0 / mean

    def conventional(self, natural, origin):
        return {"exponent": -natural[0]}

    def sample(self, natural, origin, rng):
        return self.minimum * np.exp(rng.standard_exponential(natural[0].shape) / -natural[0])

    def mean_bounds(self):
        return 0.0, np.inf


@dataclass(frozen=True, repr=False)
class Levy(Family):
    """p(x) = (s/2π)^½·x^−3/2·exp(−s/2x), x > 0: u = 1/x − 1, λ = −s/2, A = −½log s − λ."""

    functions: ClassVar = ("reciprocal",)
    default_origin: ClassVar = 1.0
    has_base_measure: ClassVar = True
    support_name: ClassVar = "positive numbers"

    def support(self, x):
        return (x > 0) & np.isfinite(x)

    def log_base_measure(self, x):
        return -1.5 * np.log(x) - 0.5 * np.log(2.0 * np.pi)

    def log_normalizer(self, natural, origin):
        return -0.5 * np.log(-2.0 * natural[0]) - natural[0]

    def mean_from_natural(self, natural, origin):
        return -0.5 / natural - 1.0

    def natural_from_mean(self, mean, origin):
        return -0.5 / (mean + 1.0)

    def conventional(self, natural, origin):
        return {"scale": -2.0 * natural[0]}

    def sample(self, natural, origin, rng):
        return -2.0 * natural[0] / np.square(rng.standard_normal(natural[0].shape))

    def mean_bounds(self):
        return -1.0, np.inf


@dataclass(frozen=True, repr=False)
class Laplace(Family):
    """p(x) = exp(−|x − m|/b)/2b: u = |x − m|, λ = −1/b, A = log 2b."""

    centre: float = 0.0

    @property
    def functions(self):
        return (ElementaryFunction("distance", lambda x: np.abs(x - self.centre)),)

    def log_normalizer(self, natural, origin):
        return np.log(2.0) - np.log(-natural[0])

    def mean_from_natural(self, natural, origin):
        return -1.0 / natural

    def natural_from_mean(self, mean, origin):
        return -1.0 / mean

    def conventional(self, natural, origin):
        return {"scale": -1.0 / natural[0]}

    def sample(self, natural, origin, rng):
        return rng.laplace(self.centre, -1.0 / natural[0])

    def mean_bounds(self):
        return 0.0, np.inf


@dataclass(frozen=True, repr=False)
class Weibull(Family):
    """p(x) = (k/s)·(x/s)^(k−1)·exp(−(x/s)ᵏ), x > 0: u = xᵏ, λ = −s^−k, A = −log(−λ), h = k·x^(k−1)."""

    shape: float = 1.5

    has_base_measure: ClassVar = True
    support_name: ClassVar = "positive numbers"

    @property
    def functions(self):
        return (ElementaryFunction("power", lambda x: x**self.shape),)

    def support(self, x):
        return (x > 0) & np.isfinite(x)

    def log_base_measure(self, x):
        return np.log(self.shape) + (self.shape - 1.0) * np.log(x)

    def log_normalizer(self, natural, origin):
        return -np.log(-natural[0])

    def mean_from_natural(self, natural, origin):
        return -1.0 / natural

    def natural_from_mean(self, mean, origin):
        return -1.0 / mean

    def conventional(self, natural, origin):
        return {"scale": (-natural[0]) ** (-1.0 / self.shape)}

    def sample(self, natural, origin, rng):
        drawn = rng.standard_exponential(natural[0].shape) / -natural[0]
        return np.maximum(drawn ** (1.0 / self.shape), np.finfo(np.float64).tiny)

    def mean_bounds(self):
        return 0.0, np.inf


TWINS = {
    Pareto(2.0): lambda exponent: stats.pareto(exponent, scale=2.0),
    Levy(): lambda scale: stats.levy(scale=scale),
    Laplace(3.0): lambda scale: stats.laplace(3.0, scale),
    Weibull(1.7): lambda scale: stats.weibull_min(1.7, scale=scale),
}
OWN = pytest.mark.parametrize("family", TWINS, ids=repr)
PARAMETERS = (0.7, 3.0)


def twin(family):
    """Its distribution in SciPy, whatever the smoothing."""
    return TWINS[replace(family, alpha=1.0, unseen="ignore")]


def rows(family, n=200):
    """Rows of two classes: a column of the family, and one that is Normal."""
    rng = np.random.default_rng(5)
    drawn = [twin(family)(parameter).rvs(n, random_state=rng) for parameter in PARAMETERS]
    X = pd.DataFrame({"own": np.concatenate(drawn), "other": rng.normal(size=2 * n)})
    X.loc[::17, "own"] = np.nan
    return X, np.repeat(["low", "high"], n)


def fitted(family, **settings):
    X, y = rows(family)
    return BayesClassifier(families={"own": family, "other": Normal()}, **settings).fit(X, y)


@OWN
def test_the_checks_accept_it(family):
    check_family(family, max_examples=10)


@pytest.mark.parametrize(
    "family", [Pareto(0.125), Pareto(9.0), Laplace(-7.0), Weibull(0.4), Weibull(5.0)], ids=repr
)
def test_the_checks_accept_other_parameters(family):
    check_family(family, max_examples=3)


@OWN
def test_densities_are_those_of_scipy(family):
    model = fitted(family, priors="uniform")
    X, _ = rows(family)
    (name,) = model.parameters_["own"]
    expected = [twin(family)(one).logpdf(X["own"]) for one in model.parameters_["own"][name]]
    alone = X.assign(other=np.nan)
    found = model.predict_joint_log_proba(alone) - np.log(0.5)
    seen = X["own"].notna()
    np.testing.assert_allclose(found[seen], np.transpose(expected)[seen], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[~seen], 0.0, atol=1e-14)


@OWN
def test_it_is_fitted_by_maximum_likelihood(family):
    X, y = rows(family)
    model = BayesClassifier(families={"own": replace(family, alpha=0.0), "other": None})
    (estimates,) = model.fit(X, y).parameters_["own"].values()
    for label, estimate in zip(model.classes_, estimates, strict=True):
        values = X["own"][(y == label) & X["own"].notna()]

        def likelihood(parameter, values=values):
            return twin(family)(parameter).logpdf(values).sum()

        assert likelihood(estimate) > max(likelihood(estimate * 0.99), likelihood(estimate * 1.01))


@OWN
def test_batches_merging_and_forgetting_give_the_same_model(family):
    X, y = rows(family)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y[order]
    families = {"own": family, "other": Normal()}
    whole = BayesClassifier(families=families).fit(X, y)
    batches = BayesClassifier(families=families)
    for start in range(0, len(y), 37):
        batches.partial_fit(X[start : start + 37], y[start : start + 37])
    merged = BayesClassifier().fit_statistics(
        summarize(X[:150], y[:150], families=families) + summarize(X[150:], y[150:], families=families)
    )
    forgotten = BayesClassifier(families=families).fit(X, y).forget(X[:150], y[:150])
    expected = whole.predict_joint_log_proba(X)
    for other in (batches, merged):
        np.testing.assert_allclose(other.predict_joint_log_proba(X), expected, rtol=1e-12, atol=1e-12)
    rest = BayesClassifier(families=families).fit(X[150:], y[150:])
    np.testing.assert_allclose(
        forgotten.predict_joint_log_proba(X), rest.predict_joint_log_proba(X), rtol=1e-10, atol=1e-10
    )


@OWN
def test_a_saved_model_is_the_same_to_the_last_bit(family, tmp_path):
    model, (X, _) = fitted(family), rows(family)
    model.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice", known=[type(family)])
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    with pytest.raises(suffice.SufficeFileError, match=f"{family.name}.*known="):
        suffice.load(tmp_path / "model.suffice")


@OWN
def test_it_explains_draws_and_tells_novelty(family):
    model, (X, _) = fitted(family), rows(family)
    explained = model.explain(X)
    np.testing.assert_allclose(
        explained.prior + explained.contributions.sum(axis=1), explained.total, rtol=1e-10, atol=1e-10
    )
    drawn, _ = model.sample(500, random_state=0)
    assert family.support(drawn["own"].to_numpy()).all()
    novelty = model.novelty(X)
    assert ((novelty > 0) & (novelty <= 1)).all()
    assert model.evidence().weight[0] > 0.05


STRANGE = [-1.5, 0.0, 1e-30, 1e-200, 2.5, 3.0, 1e30, 1e200, -1e300]


def exported_rows(family):
    X, _ = rows(family)
    strange = pd.DataFrame({"own": STRANGE, "other": 0.5})
    return pd.concat([X, strange, strange.assign(own=np.nan)], ignore_index=True)


@OWN
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_sql_agrees_with_python(family, unseen, dialect):
    model = fitted(replace(family, unseen=unseen))
    X = exported_rows(family).reset_index(names="row")
    query = model.to_sql("rows", dialect=dialect, key="row")
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.register("rows", X)
            found = connection.execute(query).df()
    else:
        connection = sqlite3.connect(":memory:")
        X.to_sql("rows", connection, index=False)
        found = pd.read_sql(query, connection)
        connection.close()
    found = found.sort_values("row")
    expected = model.predict_proba(X[["own", "other"]])
    columns = [name for name in found.columns if name.endswith(tuple(model.classes_))]
    assert len(columns) == 2
    np.testing.assert_allclose(found[columns].to_numpy(), expected, rtol=0, atol=1e-9)


@OWN
def test_onnx_agrees_with_python(family):
    model, X = fitted(family), exported_rows(family)
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    inputs = {name: X[[name]].to_numpy() for name in X.columns}
    _, found = session.run(None, inputs)
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-9)


@dataclass(frozen=True, repr=False)
class Tail(Pareto):
    """The Pareto with h = 1: λ = −a − 1, so that a power of the density may have no integral."""

    has_base_measure: ClassVar = False

    def log_base_measure(self, x):
        return np.zeros_like(x)

    def log_normalizer(self, natural, origin):
        return np.log(self.minimum) - np.log(-1.0 - natural[0])

    def mean_from_natural(self, natural, origin):
        return -1.0 / (1.0 + natural)

    def natural_from_mean(self, mean, origin):
        return -1.0 - 1.0 / mean

    def conventional(self, natural, origin):
        return {"exponent": -1.0 - natural[0]}

    def sample(self, natural, origin, rng):
        return super().sample(1.0 + natural, origin, rng)


def test_novelty_beside_counts_is_a_probability_for_heavy_tails():
    check_family(Tail(2.0), max_examples=3)
    X, y = rows(Pareto(2.0))
    X["other"] = np.arange(len(y)) % 5
    model = BayesClassifier(families={"own": Tail(2.0), "other": "poisson"}).fit(X, y)
    novelty = model.novelty(X.assign(other=40))
    assert ((novelty > 0) & (novelty < 1e-3)).all()


@dataclass(frozen=True, repr=False)
class Zipf(Family):
    """p(x) = x^−s/ζ(s), x = 1, 2, …: u = log x, λ = −s, A = log ζ(s)."""

    functions: ClassVar = ("log",)
    default_origin: ClassVar = 1.0
    discrete: ClassVar = True
    support_name: ClassVar = "1, 2, 3, …"

    def support(self, x):
        return (x >= 1) & (x == np.floor(x)) & np.isfinite(x)

    def log_normalizer(self, natural, origin):
        return np.log(special.zeta(-natural[0]))

    def mean_from_natural(self, natural, origin):
        step = 1e-5
        up, down = (self.log_normalizer(natural + s, origin) for s in (step, -step))
        return np.stack([(up - down) / (2.0 * step)])

    def natural_from_mean(self, mean, origin):
        def solved(one):
            return optimize.brentq(lambda s: self.mean_from_natural(np.array([-s]), 1.0)[0] - one, 1.01, 60)

        return -np.vectorize(solved, otypes=[float])(mean)

    def conventional(self, natural, origin):
        return {"exponent": -natural[0]}

    def sample(self, natural, origin, rng):
        return rng.zipf(-natural[0]).astype(np.float64)

    def mean_bounds(self):
        return 0.0, np.inf


def test_the_checks_sum_counts_with_a_heavy_tail():
    check_mathematics(Zipf())


@dataclass(frozen=True, repr=False)
class Uncentred(Normal):
    centred: ClassVar = False


def test_sums_of_squares_about_zero_keep_the_laws():
    check_family(Uncentred(), max_examples=10)
