"""Posteriors elsewhere are those of the library at any size of numbers, or the export is refused."""

from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

import suffice
from suffice import families


def counts(rng, y, size):
    return rng.poisson(size * (1.0 + y / np.sqrt(size))).astype(float)


def spread(rng, y, size, share):
    """Values whose standard deviation is a share of their size."""
    return size * (1.0 + share * (rng.normal(size=len(y)) + y))


COUNTS = {
    "Poisson": lambda _: families.Poisson(),
    "Binomial": lambda size: families.Binomial(int(4 * size) + 100),
    "NegativeBinomial like Poisson": families.NegativeBinomial,
    "NegativeBinomial": lambda _: families.NegativeBinomial(3.0),
    "Geometric": lambda _: families.Geometric(),
}
NUMBERS = [
    families.Normal(),
    families.Normal("shared"),
    families.LogNormal(),
    families.Gamma(),
    families.Gamma("shared"),
    families.InverseGaussian(),
    families.Exponential(),
]


def _columns(kind, rng, y, draw):
    """A family, and three columns of it."""
    size = 10.0 ** draw(st.integers(1, 10))
    if kind in COUNTS:
        family = COUNTS[kind](size)
        if kind in ("NegativeBinomial", "Geometric"):
            return family, [rng.geometric(1.0 / (size * (1.0 + y))) - 1.0 for _ in range(3)]
        return family, [counts(rng, y, size) for _ in range(3)]
    if kind == "VonMises":
        turn = 10.0 ** -draw(st.integers(0, 6))
        return families.VonMises(), [rng.normal(size + turn * y, turn) for _ in range(3)]
    if kind == "Beta":
        family, edge = families.Beta(), 10.0 ** -draw(st.integers(1, 12))
        near = [spread(rng, y, edge, 0.05) for _ in range(3)]
        return family, near if draw(st.booleans()) else [1.0 - x for x in near]
    share = 10.0 ** -draw(st.integers(1, 5))
    unit = 10.0 ** draw(st.integers(-100, 100))
    family = draw(st.sampled_from(NUMBERS))
    return family, [np.abs(spread(rng, y, unit, share)) for _ in range(3)]


@st.composite
def extreme_models(draw):
    """A model of three columns of one family at any size, and the rows it was fitted on."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    y = rng.integers(0, 3, 60)
    family, columns = _columns(draw(st.sampled_from([*COUNTS, "VonMises", "Beta", "others"])), rng, y, draw)
    rows = pd.DataFrame(dict(zip("abc", columns, strict=True)))
    return suffice.BayesClassifier(families=family).fit(rows, y), rows


QUIET = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def graph_rows(model, rows):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    graph = model.to_onnx().SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(None, {one.name: rows[[one.name]].to_numpy() for one in session.get_inputs()})[1]


@given(extreme_models())
@QUIET
def test_a_database_gives_the_posteriors_of_the_library_at_any_size(duckdb_rows, drawn):
    model, rows = drawn
    np.testing.assert_allclose(duckdb_rows(model, rows), model.predict_proba(rows), rtol=0, atol=1e-9)


@given(extreme_models())
@QUIET
def test_a_graph_gives_the_posteriors_of_the_library_at_any_size(drawn):
    model, rows = drawn
    np.testing.assert_allclose(graph_rows(model, rows), model.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [1e5, 2e7, 1e9, 1e12])
def test_posteriors_of_large_counts_have_all_their_digits(size, duckdb_rows):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    rows = pd.DataFrame({name: counts(rng, y, size) for name in "abc"})
    model = suffice.BayesClassifier(families=families.Poisson()).fit(rows, y)
    exact = exact_posteriors(model, rows, "mean", lambda x, mean: x * mean.ln() - mean)
    assert_all_digits(model, rows, exact, duckdb_rows)


@pytest.mark.parametrize("size", [1e8, 1e10, 1e12, 1e14])
@pytest.mark.parametrize("r", [1e6, 1e8])
def test_overdispersed_large_counts_have_all_their_digits(size, r, duckdb_rows):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    family = families.NegativeBinomial(r)
    share = np.sqrt(1.0 / size + 1.0 / r)
    rows = pd.DataFrame({name: np.round(spread(rng, y, size, share)) for name in "abc"})
    model = suffice.BayesClassifier(families=family).fit(rows, y)
    exact = exact_posteriors(
        model,
        rows,
        "mean",
        lambda x, mean: x * (mean / (mean + Decimal(r))).ln() - Decimal(r) * (mean + Decimal(r)).ln(),
    )
    assert_all_digits(model, rows, exact, duckdb_rows)


@pytest.mark.parametrize("n", [10**6, 10**8])
def test_large_counts_of_even_odds_have_all_their_digits(n, duckdb_rows):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    rows = pd.DataFrame({name: np.round(spread(rng, y - 1, n / 2, n**-0.5)) for name in "abc"})
    model = suffice.BayesClassifier(families=families.Binomial(n)).fit(rows, y)
    exact = exact_posteriors(
        model, rows, "probability", lambda x, p: x * p.ln() + (Decimal(n) - x) * (1 - p).ln()
    )
    assert_all_digits(model, rows, exact, duckdb_rows)


def assert_all_digits(model, rows, exact, duckdb_rows):
    assert 0.05 < exact.max(axis=1).min() < 0.9
    np.testing.assert_allclose(model.predict_proba(rows), exact, rtol=0, atol=1e-12)
    np.testing.assert_allclose(duckdb_rows(model, rows), exact, rtol=0, atol=1e-12)
    np.testing.assert_allclose(graph_rows(model, rows), exact, rtol=0, atol=1e-12)


def exact_posteriors(model, rows, parameter, score):
    """Bayes' rule for columns of counts with 50 digits."""
    with localcontext() as context:
        context.prec = 50
        known = [[Decimal(value) for value in model.parameters_[name][parameter]] for name in rows]
        priors = [Decimal(prior).ln() for prior in model.priors_]
        return np.array([_exact_posterior(row, known, priors, score) for row in rows.to_numpy().tolist()])


def _exact_posterior(row, known, priors, score):
    scores = [
        prior + sum(score(Decimal(x), of_class[k]) for x, of_class in zip(row, known, strict=True))
        for k, prior in enumerate(priors)
    ]
    parts = [(one - max(scores)).exp() for one in scores]
    return [float(part / sum(parts)) for part in parts]


@pytest.mark.parametrize(
    "family, log_p",
    [
        (families.Poisson(alpha=0), stats.poisson.logpmf),
        (families.Binomial(10**6, alpha=0), lambda x, m: stats.binom.logpmf(x, 10**6, m / 1e6)),
        (
            families.NegativeBinomial(1e6, alpha=0),
            lambda x, m: stats.nbinom.logpmf(x, 1e6, 1e6 / (1e6 + m)),
        ),
    ],
    ids=["poisson", "binomial", "negative binomial"],
)
def test_densities_of_large_counts_are_those_of_scipy(family, log_p):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 50)
    x = counts(rng, y, 4e5)
    x[7] = 0.0
    with pytest.warns(UserWarning, match="the log loss of this model"):  # one 0 among counts of 400,000
        model = suffice.BayesClassifier(families=family).fit(x[:, np.newaxis], y)
    expected = [log_p(x, x[y == k].mean()) + np.log(0.5) for k in (0, 1)]
    found = model.predict_joint_log_proba(x[:, np.newaxis])
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("family", [families.Gamma(), families.InverseGaussian(), families.Beta()], ids=repr)
def test_values_too_close_together_for_nine_decimals_are_refused(family):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 50)
    rows = pd.DataFrame({"x": spread(rng, y, 0.5, 1e-9)})
    model = suffice.BayesClassifier(families=family).fit(rows, y)
    for export in (lambda: model.to_sql("rows"), model.to_onnx):
        with pytest.raises(ValueError, match=r"column 'x': the values are so close together.*use Normal"):
            export()


@pytest.mark.parametrize("size", [1e5, 2e7, 1e9])
def test_sparse_large_counts_score_as_dense_ones(size):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    rows = pd.DataFrame({name: counts(rng, y, size) for name in "abc"})
    small = rng.poisson(0.3, size=(100, 4)).astype(float)
    model = suffice.BayesClassifier(families=families.Poisson()).fit(np.hstack([small, rows.to_numpy()]), y)
    wide = np.hstack([small, rows.to_numpy()])
    expected = model.predict_proba(wide)
    assert 0.05 < expected.max(axis=1).min() < 0.9
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(wide)), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(sparse.csr_array(wide)), model.predict_joint_log_proba(wide), rtol=1e-12
    )
