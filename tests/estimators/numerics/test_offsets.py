"""Values far from zero with little spread: nothing is lost, however they were summed."""

from functools import reduce
from operator import add

import mpmath
import numpy as np
import pytest

from suffice import BayesClassifier, summarize
from suffice.families import Beta, Gamma, InverseGaussian, LogNormal, Normal, VonMises

PARTS = 1000


def close_classes(offset, deviation, n_rows, seed=0, n_columns=1):
    """Two classes a deviation apart at an offset, and queries between and about them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    X = offset + deviation * (rng.standard_normal((n_rows, n_columns)) + y[:, np.newaxis])
    queries = offset + deviation * np.linspace(-3, 4, 12)[:, np.newaxis] * np.ones(n_columns)
    return X, np.array(["a", "b"])[y], queries


CASES = [
    # family, its exact reference, offset, deviation, largest error of a posterior
    (Normal(), "normal", 1e9, 1.0, 1e-9),
    (Normal(), "normal", -1e9, 1.0, 1e-9),
    (Normal(), "normal", 1.7e9, 1e-3, 1e-9),
    (LogNormal(), "log_normal", 1e6, 1.0, 1e-8),
    (LogNormal(), "log_normal", 1e9, 1.0, 1e-8),
    (Gamma(), "gamma", 1e6, 1.0, 1e-8),
    (InverseGaussian(), "inverse_gaussian", 1e6, 1.0, 1e-8),
    (Beta(), "beta", 0.3, 5e-5, 1e-8),
    (VonMises(), "von_mises", 2.0, 1e-4, 1e-8),
    (VonMises(), "von_mises", -3.1415, 1e-4, 1e-8),
]
AFTER_SUBTRACTING = {"gamma": 1e-5, "inverse_gaussian": 1e-5}
"""Σ log(x/c) of 8,000 rows leaves its rounding behind, which is not small beside a spread of 1e-12."""
NAMES = [f"{case[0]!r} at {case[2]:g}" for case in CASES]
with_case = pytest.mark.parametrize("family, reference, offset, deviation, tolerance", CASES, ids=NAMES)
FEW = [i for i, case in enumerate(CASES) if case[2] in {1e9, 1e6, 0.3, 2.0}]
with_few_cases = pytest.mark.parametrize(
    "family, reference, offset, deviation, tolerance", [CASES[i] for i in FEW], ids=[NAMES[i] for i in FEW]
)


@with_case
def test_posteriors_after_fit(family, reference, offset, deviation, tolerance, exact, posteriors):
    X, y, queries = close_classes(offset, deviation, 40)
    model = BayesClassifier(families=family).fit(X, y)
    truth = exact(X, y)
    expected = posteriors(truth.joint(queries, getattr(truth, reference)))
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=tolerance)


@with_case
def test_joint_scores_after_fit(family, reference, offset, deviation, tolerance, exact, floats):
    X, y, queries = close_classes(offset, deviation, 40)
    model = BayesClassifier(families=family).fit(X, y)
    truth = exact(X, y)
    expected = floats(truth.joint(queries, getattr(truth, reference)))
    np.testing.assert_allclose(model.predict_joint_log_proba(queries), expected, rtol=10 * tolerance, atol=0)


@with_few_cases
def test_posteriors_after_a_thousand_merges(
    family, reference, offset, deviation, tolerance, exact, posteriors
):
    X, y, queries = close_classes(offset, deviation, 2 * PARTS)
    parts = [summarize(X[i::PARTS], y[i::PARTS], families=family) for i in range(PARTS)]
    model = BayesClassifier().fit_statistics(reduce(add, parts))
    truth = exact(X, y)
    expected = posteriors(truth.joint(queries[::3], getattr(truth, reference)))
    np.testing.assert_allclose(model.predict_proba(queries[::3]), expected, rtol=0, atol=tolerance)


@with_few_cases
def test_posteriors_after_subtracting_999_of_a_thousand(
    family, reference, offset, deviation, tolerance, exact, posteriors
):
    kept, y, queries = close_classes(offset, deviation, 8, seed=1)
    others, other_labels, _ = close_classes(offset, deviation, 8 * (PARTS - 1), seed=2)
    kept_part = summarize(kept, y, families=family)
    gone = [
        summarize(others[i :: PARTS - 1], other_labels[i :: PARTS - 1], families=family)
        for i in range(PARTS - 1)
    ]
    # The part that stays is not the first, so that the origin is another's.
    total = reduce(add, [*gone[: PARTS // 2], kept_part, *gone[PARTS // 2 :]])
    for part in gone:
        total = total - part
    assert total.n_rows == 8
    model = BayesClassifier().fit_statistics(total)
    truth = exact(kept, y)
    expected = posteriors(truth.joint(queries, getattr(truth, reference)))
    np.testing.assert_allclose(
        model.predict_proba(queries),
        expected,
        rtol=0,
        atol=max(tolerance, AFTER_SUBTRACTING.get(reference, 0.0)),
    )


@pytest.mark.parametrize("offset", [1e9, -1.7e9])
def test_a_model_merges_and_forgets_a_thousand_parts(offset, exact, posteriors):
    kept, y, queries = close_classes(offset, 1.0, 20, seed=3, n_columns=2)
    others, other_labels, _ = close_classes(offset, 1.0, 2 * (PARTS - 1), seed=4, n_columns=2)
    family = Normal()
    batches = [slice(2 * i, 2 * i + 2) for i in range(PARTS - 1)]
    model = BayesClassifier(families=family).fit(others[batches[0]], other_labels[batches[0]])
    for i, batch in enumerate(batches[1:]):
        if i % 2:
            model.partial_fit(others[batch], other_labels[batch])
        else:
            model.merge(BayesClassifier(families=family).fit(others[batch], other_labels[batch]))
    model.merge(summarize(kept, y, families=family))
    everything = exact(np.vstack([others, kept]), np.concatenate([other_labels, y]))
    expected = posteriors(everything.joint(queries, everything.normal))
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-9)
    for batch in batches:
        model.forget(others[batch], other_labels[batch])
    truth = exact(kept, y)
    expected = posteriors(truth.joint(queries, truth.normal))
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-9)


def test_forgetting_all_but_one_row_of_each_class_leaves_those_rows(exact, posteriors):
    X, y, queries = close_classes(1e9, 1.0, 400, seed=5)
    model = BayesClassifier(families=Normal()).fit(X, y).forget(X[:-2], y[:-2])
    truth = exact(X[-2:], y[-2:])
    expected = posteriors(truth.joint(queries, truth.normal))
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-9)


def test_a_shared_variance_at_an_offset(posteriors):
    X, y, queries = close_classes(1e9, 1.0, 40)
    model = BayesClassifier(families=Normal("shared", alpha=0.0)).fit(X, y)
    values = {label: [mpmath.mpf(v) for v in X[y == label, 0]] for label in "ab"}
    means = {label: sum(v) / len(v) for label, v in values.items()}
    variance = sum((v - means[label]) ** 2 for label, all_v in values.items() for v in all_v) / len(y)
    joint = [
        [-((mpmath.mpf(x) - means[label]) ** 2) / (2 * variance) for label in "ab"] for x in queries[:, 0]
    ]
    np.testing.assert_allclose(model.predict_proba(queries), posteriors(joint), rtol=0, atol=1e-9)


def test_a_timestamp_beside_a_small_column(exact, posteriors):
    X, y, queries = close_classes(1.7e9, 30.0, 60, seed=6, n_columns=2)
    X[:, 1] = (X[:, 1] - 1.7e9) * 1e-12
    queries = queries.copy()
    queries[:, 1] = (queries[:, 1] - 1.7e9) * 1e-12
    X[::7, 0] = np.nan
    X[3::11, 1] = np.nan
    truth = exact(X, y)
    expected = posteriors(truth.joint(queries, truth.normal))
    found = BayesClassifier(families=Normal()).fit(X, y).predict_proba(queries)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("family", [Normal, Gamma, InverseGaussian], ids=lambda f: f.__name__)
def test_a_column_that_is_constant_once_rows_are_forgotten_contributes_nothing(family, alpha):
    """What is left of the other rows is rounding, and rounding is no spread."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(40, 0.1), rng.gamma(3.0, 1.0, 40)])
    y = np.arange(40) % 2
    others = np.column_stack([rng.gamma(3.0, 1.0, 30), rng.gamma(3.0, 1.0, 30)])
    labels = np.arange(30) % 2
    model = BayesClassifier(families=family(alpha=alpha)).fit(others, labels)
    model.partial_fit(X, y).forget(others, labels)
    refitted = BayesClassifier(families=family(alpha=alpha)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), refitted.predict_proba(X), rtol=0, atol=1e-9)
