"""A class that is constant after rows were removed is the class fitted without them."""

import io
import sqlite3
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import suffice
from suffice import BayesClassifier, families


def numbers(low, high):
    """Numbers of all digits that are equal, or far enough apart to tell after others were forgotten."""
    return st.integers(1, 9999).map(lambda n: low + (high - low) * (n / 10000.0))


LINE = numbers(-50.0, 50.0)
POSITIVE = numbers(0.02, 50.0)
SHARE = numbers(0.02, 0.98)
ANGLE = numbers(-3.1, 3.1)
FAMILIES = {
    "Normal": (families.Normal, LINE),
    "Normal of shared variance": (lambda alpha: families.Normal("shared", alpha=alpha), LINE),
    "LogNormal": (families.LogNormal, POSITIVE),
    "Gamma": (families.Gamma, POSITIVE),
    "Gamma of shared shape": (lambda alpha: families.Gamma("shared", alpha=alpha), POSITIVE),
    "InverseGaussian": (families.InverseGaussian, POSITIVE),
    "Beta": (families.Beta, SHARE),
    "VonMises": (families.VonMises, ANGLE),
}


def labelled(values, labels, weights):
    return np.array([values]).T, np.array(labels), np.array(weights)


@st.composite
def tables(draw, numbers):
    """Rows of three classes, of which one or two are constant, and rows to forget."""
    constants = draw(st.lists(numbers, min_size=1, max_size=2))
    labels = [
        label for label, value in zip("ab", constants, strict=False) for _ in range(draw(st.integers(1, 4)))
    ]
    values = [constants["ab".index(label)] for label in labels]
    # The last class varies by much more than rounding.
    first = draw(numbers)
    spread = draw(st.sampled_from([0.5, 0.9, 0.97]))
    values += [first, first * spread, first * spread**2] if abs(first) > 0.01 else [0.1, 0.2, 0.4]
    labels += ["c"] * 3
    weights = draw(st.sampled_from([[1.0] * len(labels), [0.1 + 0.7 * i for i in range(len(labels))]]))
    gone = draw(st.lists(st.tuples(numbers, st.sampled_from("abc"), st.sampled_from([1.0, 0.3])), min_size=1))
    return labelled(values, labels, weights), labelled(*zip(*gone, strict=True))


def forgetful(family, kept, gone, order):
    """A model that learned both parts in some order, and then forgot one."""
    (X, y, w), (Z, z, v) = kept, gone
    model = BayesClassifier(families=family)
    if order == "together":
        at = np.random.default_rng(len(y)).permutation(len(y) + len(z))
        model.fit(np.vstack([X, Z])[at], np.concatenate([y, z])[at], sample_weight=np.concatenate([w, v])[at])
    elif order == "first":
        model.fit(Z, z, sample_weight=v).partial_fit(X, y, sample_weight=w)
    else:
        model.fit(X, y, sample_weight=w).partial_fit(Z, z, sample_weight=v)
    return model.forget(Z, z, sample_weight=v)


def assert_same(model, refit, queries):
    np.testing.assert_allclose(model.predict_proba(queries), refit.predict_proba(queries), rtol=0, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_forgetting_leaves_constant_classes_as_a_fit_would(name, alpha):
    family, numbers = FAMILIES[name]

    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    @given(tables(numbers), st.sampled_from(["together", "first", "last"]))
    def check(table, order):
        kept, gone = table
        refit = BayesClassifier(families=family(alpha=alpha)).fit(kept[0], kept[1], sample_weight=kept[2])
        model = forgetful(family(alpha=alpha), kept, gone, order)
        assert_same(model, refit, np.vstack([kept[0], gone[0]]))

    check()


@pytest.mark.parametrize(
    "family", [families.Normal, families.LogNormal, families.Gamma], ids=lambda f: f.__name__
)
def test_many_forgotten_rows_leave_a_constant_class_too(family):
    rng = np.random.default_rng(0)
    Z, z = rng.uniform(0.1, 40.0, (300_000, 8)), rng.choice(["a", "b"], 300_000)
    X, y = np.full((6, 8), 1.0 / 3.0), np.repeat(["a", "b"], 3)
    X[3:] = rng.uniform(0.3, 0.4, (3, 8))
    weights, ones = rng.uniform(0.5, 1.5, len(z)), np.ones(len(y))
    refit = BayesClassifier(families=family(alpha=0.0)).fit(X, y)
    for order in ("first", "together"):
        model = forgetful(family(alpha=0.0), (X, y, ones), (Z, z, weights), order)
        assert_same(model, refit, X)


def test_a_class_known_up_to_rounding_is_a_single_value_everywhere():
    """In a file, in SQL, in the parameters, in divergences and in the report of what was regularized."""
    X = np.array([[0.1], [0.1], [0.7], [0.9], [0.1], [0.1]])
    y = np.array(list("aabbcc"))
    gone, labels = np.array([[11.3], [4.7], [9.1]]), np.array(list("aac"))
    refit = BayesClassifier(families=families.Normal(alpha=0.0)).fit(X, y)
    model = BayesClassifier(families=families.Normal(alpha=0.0)).fit(gone, labels).partial_fit(X, y)
    model.forget(gone, labels)
    queries = [[0.1], [0.7], [0.10001], [5.0]]
    assert_same(model, refit, queries)
    np.testing.assert_allclose(model.parameters_[0]["always"][[0, 2]], 0.1, rtol=1e-14)
    assert model.evidence().kl[0][0, 2] == refit.evidence().kl[0][0, 2] == 0.0
    assert {(one.label, "rounding" in one.reason) for one in model.regularized_} == {("a", True), ("c", True)}

    packed = io.BytesIO()
    model.save(packed)
    packed.seek(0)
    loaded = suffice.load(packed)
    np.testing.assert_array_equal(loaded.predict_proba(queries), model.predict_proba(queries))
    database = sqlite3.connect(":memory:")
    database.execute("create table cells (x0 double)")
    database.executemany("insert into cells values (?)", queries)
    rows = database.execute(model.to_sql(dialect="sqlite", table="cells")).fetchall()
    np.testing.assert_allclose([row[-3:] for row in rows], refit.predict_proba(queries), atol=1e-9)
    assert_same(loaded.forget(X[:1], y[:1]), refit.forget(X[:1], y[:1]), queries)


COUNTS = {
    "Bernoulli": (families.Bernoulli, 1, (0, 1)),
    "Binomial": (partial(families.Binomial, 5), 5, (0, 5)),
    "Poisson": (families.Poisson, 4, (0,)),
    "Geometric": (families.Geometric, 4, (0,)),
    "NegativeBinomial": (partial(families.NegativeBinomial, 3), 4, (0,)),
}


@pytest.mark.parametrize("name", COUNTS)
@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-10, 1.0]), st.booleans())
def test_counts_at_a_bound_stay_there_after_weighted_rows_are_forgotten(name, seed, alpha, as_sparse):
    make, most, bounds = COUNTS[name]
    rng, family = np.random.default_rng(seed), make(alpha=alpha)
    n, more = rng.integers(3, 12, 2)
    X, gone = (rng.integers(0, most + 1, (rows, 1)).astype(float) for rows in (2 * n, more))
    X[:n] = rng.choice(bounds)
    y, y_gone = np.repeat(["a", "b"], n), rng.choice(["a", "b"], more)
    sizes = 10.0 ** rng.integers(-2, 4, 2)
    weights, gone_weights = rng.uniform(1e-3, sizes[0], 2 * n), rng.uniform(1e-3, sizes[1], more)
    held = sparse.csr_array if as_sparse else np.asarray
    both, all_weights = np.concatenate([X, gone]), np.concatenate([weights, gone_weights])
    model = BayesClassifier(family).fit(held(both), np.concatenate([y, y_gone]), sample_weight=all_weights)
    for i in rng.permutation(more):
        model.forget(held(gone[[i]]), y_gone[[i]], sample_weight=gone_weights[[i]])
    wanted = BayesClassifier(family).fit(held(X), y, sample_weight=weights)
    asked = held(np.arange(most + 1.0)[:, np.newaxis])
    np.testing.assert_allclose(model.predict_proba(asked), wanted.predict_proba(asked), atol=1e-7)


@pytest.mark.parametrize("value", [1.0, 3.0, 7.0])
def test_counts_at_the_upper_bound_are_there_whatever_their_weights(value):
    weights = np.random.default_rng(0).uniform(0.1, 1.0, (200, 50))
    for each in weights:
        model = BayesClassifier(families.Binomial(int(value), alpha=0)).fit(
            np.r_[np.full(49, value), 0.0][:, np.newaxis], ["a"] * 49 + ["b"], sample_weight=each
        )
        assert model.parameters_[0]["probability"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", COUNTS)
def test_a_column_of_counts_without_values_says_nothing(name):
    family = COUNTS[name][0]()
    x, y = np.tile([[0.0], [1.0]], (4, 1)), [0, 0, 1, 1] * 2
    beside = np.hstack([x, np.full((8, 1), np.nan)])
    wanted = BayesClassifier(family).fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(BayesClassifier(family).fit(beside, y).predict_proba(beside), wanted)
