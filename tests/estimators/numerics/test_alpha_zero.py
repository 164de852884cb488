"""alpha = 0 is the limit α → 0⁺: fewest impossible cells first, then the finite part. Never NaN."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, families

TINY = mpmath.mpf(10) ** -300
NAN = float("nan")

FAMILIES = [
    (families.Normal(alpha=0.0), [0.0, 0.1, 0.3, -2.0, 1e9]),
    (families.Normal("shared", alpha=0.0), [0.0, 0.1, 0.3, -2.0, 1e9]),
    (families.Normal(alpha=0.0, ddof=1.0), [0.0, 0.1, 0.3, -2.0]),
    (families.LogNormal(alpha=0.0), [0.1, 0.3, 1.0, 1e9]),
    (families.Gamma(alpha=0.0), [0.1, 0.3, 1.0, 7.0]),
    (families.Gamma("shared", alpha=0.0), [0.1, 0.3, 1.0, 7.0]),
    (families.InverseGaussian(alpha=0.0), [0.1, 0.3, 1.0, 7.0]),
    (families.InverseGaussian("shared", alpha=0.0), [0.1, 0.3, 1.0, 7.0]),
    (families.Exponential(alpha=0.0), [0.0, 0.1, 0.3, 7.0]),
    (families.Beta(alpha=0.0), [0.1, 0.3, 0.9]),
    (families.VonMises(alpha=0.0), [0.0, 0.1, 3.0, -3.0]),
    (families.Bernoulli(alpha=0.0), [0.0, 1.0]),
    (families.Poisson(alpha=0.0), [0.0, 1.0, 2.0, 7.0]),
    (families.Geometric(alpha=0.0), [0.0, 1.0, 2.0, 7.0]),
    (families.NegativeBinomial(2.0, alpha=0.0), [0.0, 1.0, 2.0, 7.0]),
    (families.Binomial(3, alpha=0.0), [0.0, 1.0, 3.0]),
    (families.Multinomial(alpha=0.0), [0.0, 1.0, 3.0]),
    (families.Histogram(4, alpha=0.0), [0.0, 0.1, 0.3, -2.0, 1e9]),
    (families.Steps(alpha=0.0), [0.0, 0.1, 0.3, -2.0, 1e9]),
    (families.Categorical(alpha=0.0), [0.0, 1.0, 2.0]),
    (families.Categorical(alpha=0.0, unseen="smooth"), [0.0, 1.0, 2.0]),
]


def tables(values, max_rows=7):
    """Small tables of few values, so that columns are often constant, in a class or at all, or have gaps."""
    cell = st.sampled_from([*values, values[0], NAN])
    row = st.tuples(cell, cell, st.sampled_from("aabc"))
    return st.lists(row, min_size=1, max_size=max_rows)


def split(rows):
    return np.array([row[:2] for row in rows], dtype=np.float64), np.array([row[2] for row in rows])


@pytest.mark.parametrize("family, values", FAMILIES, ids=[repr(f) for f, _ in FAMILIES])
def test_nothing_is_nan(family, values):
    @settings(max_examples=40, deadline=None, database=None, derandomize=True)
    @given(tables(values), tables(values, max_rows=4))
    def check(rows, others):
        X, y = split(rows)
        queries = np.vstack([X, split(others)[0]])
        model = BayesClassifier(families=family).fit(X, y)
        posterior = model.predict_proba(queries)
        assert np.isfinite(posterior).all()
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
        assert not np.isnan(model.predict_log_proba(queries)).any()
        assert not np.isnan(model.predict_joint_log_proba(queries)).any()
        assert not np.isnan(model.score_samples(queries)).any()
        assert not np.isnan(model.decision_function(queries)).any()
        assert not np.isnan(model.explain(queries).contributions).any()
        assert not np.isnan(model.log_likelihood_)
        assert not np.isnan(model.bic_)
        assert set(model.predict(queries)) <= set(y)

    check()


@pytest.mark.parametrize("family, values", FAMILIES, ids=[repr(f) for f, _ in FAMILIES])
def test_nothing_is_nan_after_batches_and_forgetting(family, values):
    @settings(max_examples=25, deadline=None, database=None, derandomize=True)
    @given(tables(values, max_rows=4), tables(values, max_rows=4))
    def check(rows, others):
        (X, y), (gone, gone_labels) = split(rows), split(others)
        model = BayesClassifier(families=family).fit(gone, gone_labels)
        for i in range(len(y)):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
        model.forget(gone, gone_labels)
        posterior = model.predict_proba(np.vstack([X, gone]))
        assert np.isfinite(posterior).all()
        assert not np.isnan(model.predict_joint_log_proba(X)).any()

    check()


@pytest.mark.parametrize(
    "family",
    [
        families.Normal(alpha=0.0),
        families.Normal("shared", alpha=0.0),
        families.LogNormal(alpha=0.0),
        families.Gamma(alpha=0.0),
        families.Gamma("shared", alpha=0.0),
        families.InverseGaussian(alpha=0.0),
        families.InverseGaussian("shared", alpha=0.0),
        families.Beta(alpha=0.0),
        families.VonMises(alpha=0.0),
        families.Gamma(),
        families.InverseGaussian(),
        families.Beta(),
        families.VonMises(),
        families.Normal(),
    ],
    ids=repr,
)
def test_rounding_left_by_forgotten_rows_breaks_nothing(family):
    """Where the rows left are equal, their spread is rounding, of either sign."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        X = np.full((rng.integers(2, 5), 1), rng.choice([0.1, 0.3, 0.7]))
        y = np.array(["a", "b", "a", "a"])[: len(X)]
        gone = rng.choice([0.1, 0.3, 0.7, 0.9], (rng.integers(1, 4), 1))
        labels = rng.choice(["a", "b"], len(gone))
        model = BayesClassifier(families=family).fit(gone, labels).partial_fit(X, y).forget(gone, labels)
        about = f"X = {X.ravel().tolist()}, gone = {gone.ravel().tolist()} of {labels.tolist()}"
        assert np.isfinite(model.predict_proba([[0.1], [0.3], [0.5]])).all(), about
        assert not np.isnan(model.predict_joint_log_proba([[0.1], [0.3], [0.5]])).any(), about


def limit_posteriors(X, y, weights, queries, log_p):
    """Posteriors at an alpha of 10⁻³⁰⁰, in 700 digits: `log_p` scores a row by a class's rows."""
    classes = sorted(set(y.tolist()))
    with mpmath.mp.workdps(700):
        everything = Cells(X, weights)
        rows = []
        for query in queries:
            scores = []
            for label in classes:
                own = y == label
                score = mpmath.log(mpmath.mpf(weights[own].sum()) / weights.sum())
                scores.append(score + log_p(everything, Cells(X[own], weights[own]), query))
            top = max(scores)
            parts = [mpmath.exp(s - top) for s in scores]
            rows.append([float(p / sum(parts)) for p in parts])
    return np.array(rows)


class Cells:
    """Rows with weights, and their exact sums over the observed cells of a column."""

    def __init__(self, X, weights):
        self.X, self.weights = X, weights

    def column(self, j):
        seen = ~np.isnan(self.X[:, j])
        return [mpmath.mpf(v) for v in self.X[seen, j]], [mpmath.mpf(w) for w in self.weights[seen]]

    def whole(self):
        seen = ~np.isnan(self.X).any(axis=1)
        return Cells(self.X[seen], self.weights[seen])

    def weight(self, j, value=None):
        values, weights = self.column(j)
        return mpmath.fsum(w for v, w in zip(values, weights, strict=True) if value is None or v == value)

    def total(self, j):
        return mpmath.fsum(v * w for v, w in zip(*self.column(j), strict=True))

    def mean_and_variance(self, j):
        values, weights = self.column(j)
        mean = self.total(j) / self.weight(j)
        squares = mpmath.fsum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
        return mean, squares / self.weight(j)


def categorical(everyone, own, query):
    score = mpmath.mpf(0)
    for j, value in enumerate(query):
        levels = set(everyone.column(j)[0])
        if value in levels:
            share = (own.weight(j, value) + TINY) / (own.weight(j) + TINY * len(levels))
            score += mpmath.log(share)
    return score


def bernoulli(_, own, query):
    return mpmath.fsum(
        mpmath.log((own.weight(j, value) + TINY) / (own.weight(j) + 2 * TINY))
        for j, value in enumerate(query)
        if not np.isnan(value)
    )


def multinomial(_, own, query):
    if np.isnan(query).any():
        return mpmath.mpf(0)
    counts = [own.whole().total(j) for j in range(len(query))]
    total = mpmath.fsum(counts) + TINY * len(counts)
    return mpmath.fsum(x * mpmath.log((n + TINY) / total) for x, n in zip(query, counts, strict=True))


def poisson(everyone, own, query):
    score = mpmath.mpf(0)
    for j, value in enumerate(query):
        if np.isnan(value) or everyone.total(j) == 0:
            continue
        pooled = everyone.total(j) / everyone.weight(j)
        mean = (own.total(j) + TINY * pooled) / (own.weight(j) + TINY)
        score += value * mpmath.log(mean) - mean
    return score


def normal(everyone, own, query):
    score = mpmath.mpf(0)
    for j, value in enumerate(query):
        if np.isnan(value) or everyone.weight(j) == 0 or everyone.mean_and_variance(j)[1] == 0:
            continue
        mean, variance = _, total = everyone.mean_and_variance(j)
        if own.weight(j) > 0:
            mean, variance = own.mean_and_variance(j)
            variance = (own.weight(j) * variance + TINY * total) / (own.weight(j) + TINY)
        score += -((value - mean) ** 2) / (2 * variance) - mpmath.log(variance) / 2
    return score


LIMITS = {
    "Categorical": (families.Categorical(alpha=0.0), [0.0, 1.0, 2.0], categorical),
    "Bernoulli": (families.Bernoulli(alpha=0.0), [0.0, 1.0], bernoulli),
    "Multinomial of zeros and ones": (families.Multinomial(alpha=0.0), [0.0, 1.0], multinomial),
    "Multinomial": (families.Multinomial(alpha=0.0), [0.0, 1.0, 3.0], multinomial),
    "Poisson of zeros and ones": (families.Poisson(alpha=0.0), [0.0, 1.0], poisson),
    "Poisson": (families.Poisson(alpha=0.0), [0.0, 1.0, 3.0], poisson),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", LIMITS)
def test_posteriors_are_the_limit(name, weighted):
    family, values, reference = LIMITS[name]
    rng = np.random.default_rng(0)
    for _ in range(40):
        n_rows = rng.integers(2, 8)
        # Few values, the first one often: columns that are constant in a class, and gaps.
        X = rng.choice([*values, values[0], values[0], NAN], (n_rows, 3))
        y = rng.choice(list("abc"), n_rows)
        weights = rng.choice([0.25, 1.0, 2.0], n_rows) if weighted else np.ones(n_rows)
        queries = rng.choice([*values, NAN], (3, 3))
        varies = [len(set(column[~np.isnan(column)])) > 1 for column in X.T]
        X, queries = X[:, varies], queries[:, varies]
        if not any(varies):
            continue
        model = BayesClassifier(families=family).fit(X, y, sample_weight=weights)
        expected = limit_posteriors(X, y, weights, queries, reference)
        np.testing.assert_allclose(
            model.predict_proba(queries),
            expected,
            rtol=0,
            atol=1e-9,
            err_msg=f"X = {X.tolist()}, y = {y.tolist()}, w = {weights.tolist()}, x = {queries.tolist()}",
        )


def test_a_flag_never_set_contributes_nothing():
    """A column that is constant over all rows says nothing, whatever the value asked for."""
    X, y = np.zeros((3, 1)), np.array(["a", "a", "b"])
    limit = BayesClassifier(families=families.Bernoulli(alpha=0.0)).fit(X, y)
    np.testing.assert_allclose(limit.predict_proba([[1.0]])[0], limit.priors_)


@pytest.mark.parametrize("counts, expected", [((3.0, 1.0), 1.0), ((1.0, 1.0), 0.5), ((1.0, 3.0), 0.0)])
@pytest.mark.parametrize("family", [families.Multinomial(alpha=0.0), families.Poisson(alpha=0.0)], ids=repr)
def test_a_count_of_three_is_three_times_as_impossible(family, counts, expected):
    """θˣ with θ = α/N vanishes as αˣ."""
    model = BayesClassifier(families=family).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    np.testing.assert_allclose(model.predict_proba([counts]), [[expected, 1 - expected]], atol=1e-9)


def test_fewest_impossible_cells_win():
    X = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 1, 1]], dtype=float)
    y = np.array(["a", "a", "b", "b"])
    model = BayesClassifier(families=families.Bernoulli(alpha=0.0)).fit(X, y)
    # Column 0 and 2 can be 1 in b only, column 1 is always 1 there: (1, 0, 1) has two in a and one in b.
    np.testing.assert_allclose(model.predict_proba([[1, 0, 1]]), [[0.0, 1.0]])
    # Two zeros in a row of (0, 0, …) are possible only in a.
    np.testing.assert_allclose(model.predict_proba([[0, 0, 0]]), [[1.0, 0.0]])


def test_equally_impossible_cells_leave_the_finite_part():
    X = np.array([["x"], ["x"], ["x"], ["y"], ["z"], ["z"]], dtype=object)
    y = np.array(["a", "a", "a", "b", "c", "c"])
    model = BayesClassifier(families=families.Categorical(alpha=0.0)).fit(X, y)
    # π_k·α/N_k: the same for a and c, where "y" was never seen; b has it.
    np.testing.assert_allclose(model.predict_proba([["y"]]), [[0.0, 1.0, 0.0]])
    two = BayesClassifier(families=families.Categorical(alpha=0.0)).fit(
        np.array([["x", "p"], ["x", "p"], ["x", "p"], ["z", "q"]], dtype=object),
        np.array(["a", "a", "a", "b"]),
    )
    np.testing.assert_allclose(two.predict_proba([["x", "q"]]), [[0.75 / 3, 0.25]] / np.array(0.5))


def test_between_two_constant_classes_neither_is_preferred():
    """Off both, each has one impossible cell: fewest first, and then the finite parts are equal."""
    model = BayesClassifier(families=families.Normal(alpha=0.0)).fit(
        [[0.0], [0.0], [10.0], [10.0]], list("aabb")
    )
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.5, 0.5]])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1.0, 0.0]])
    np.testing.assert_allclose(model.predict_proba([[10.0]]), [[0.0, 1.0]])
