"""Where families are inferred, a row of weight k is k copies of it: in the choice of families and beyond."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, EvidenceClassifier
from suffice.families import Words

LAW = settings(max_examples=6, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
ESTIMATORS = pytest.mark.parametrize("estimator", [BayesClassifier, EvidenceClassifier])


def mixed(seed, n):
    """Rows of three classes: numbers of several shapes, counts, a hurdle and levels, all with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    cells = {
        "size": np.exp(rng.normal(size=n) + 0.5 * y),
        "count": rng.poisson(2.0 + y).astype(float),
        "rounded": np.round(3.0 * rng.normal(size=n) + y),
        "hurdle": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, size=n)),
        "noise": rng.normal(size=n),
    }
    X = pd.DataFrame(cells).mask(rng.random((n, len(cells))) < 0.1)
    levels = rng.choice(["p", "q", "r", "s", None], n)
    return X.assign(level=pd.Series(levels, dtype=object)), y


def same(one, other, X, atol):
    """Both chose the same families, and give the same posteriors."""
    assert [str(c.family) for c in one.schema_] == [str(c.family) for c in other.schema_]
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=atol)


@ESTIMATORS
@LAW
@given(st.integers(0, 10_000), st.integers(40, 160))
def test_a_row_of_weight_k_is_k_copies_where_families_are_inferred(estimator, seed, n):
    X, y = mixed(seed, n)
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 4, n)
    copies = rng.permutation(np.repeat(np.arange(n), times))
    weighted = estimator().fit(X, y, sample_weight=times.astype(float))
    repeated = estimator().fit(X.iloc[copies], y[copies])
    same(weighted, repeated, X, 1e-8)
    there = times > 0
    absent = estimator().fit(X[there], y[there], sample_weight=times[there].astype(float))
    np.testing.assert_array_equal(absent.predict_proba(X), weighted.predict_proba(X))


@LAW
@given(st.integers(0, 10_000))
def test_what_held_out_rows_say_is_that_of_copies(seed):
    X, y = mixed(seed, 90)
    times = np.random.default_rng(seed).integers(1, 4, 90)
    copies = np.repeat(np.arange(90), times)
    weighted = BayesClassifier().fit(X, y, sample_weight=times.astype(float))
    repeated = BayesClassifier().fit(X.iloc[copies], y[copies])
    one, other = weighted.schema_, repeated.schema_
    assert one.evidence_weight == pytest.approx(other.evidence_weight, abs=1e-8)
    np.testing.assert_allclose([c.nats for c in one], [c.nats for c in other], rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.held_out.mean, other.held_out.mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.held_out.within, other.held_out.within, rtol=0, atol=1e-8)


@ESTIMATORS
@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_rows_are_rows_where_families_are_inferred(estimator, parts):
    X, y = mixed(3, 120)
    several = np.repeat(np.arange(120), parts)
    cut = estimator().fit(X.iloc[several], y[several], sample_weight=np.full(len(several), 1.0 / parts))
    same(cut, estimator().fit(X, y), X, 1e-8)


@ESTIMATORS
def test_weights_of_one_change_nothing(estimator):
    X, y = mixed(4, 150)
    same(estimator().fit(X, y, sample_weight=np.ones(150)), estimator().fit(X, y), X, 1e-9)


def test_what_a_column_is_does_not_depend_on_weights():
    rng = np.random.default_rng(0)
    words = ["red", "old", "large", "new", "house", "garden", "road", "tree", "hill", "lake"]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(100)]
    X, y = pd.DataFrame({"id": [f"c{i}" for i in range(100)], "text": texts}), np.arange(100) % 2
    schema = BayesClassifier().fit(X, y, sample_weight=np.full(100, 3.0)).schema_
    assert schema["id"].family is None
    assert schema["text"].family == Words()
