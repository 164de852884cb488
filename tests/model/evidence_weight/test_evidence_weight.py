"""Posteriors compare log π_k + w·log p(x | C_k); w is 1 unless held-out rows clearly say otherwise."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.model_selection import LeaveOneOut

import suffice
from suffice import BayesClassifier, OnePassSearchCV, cross_val_predict_proba, summarize
from suffice.families import Categorical, Normal
from suffice.model.columns.schema import Schema
from suffice.model.dealt import spread_rows
from suffice.model.inference.evidence_weight import with_evidence_weight
from suffice.tables.table import read_table


def rows(n=2000, copies=1, seed=0):
    """Two independent columns; the first stands there several times, with a little noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    first, second = rng.normal(0.8 * y), rng.normal(-0.5 * y)
    repeated = {f"copy {i}": first + 1e-3 * rng.normal(size=n) for i in range(copies)}
    level = np.array(["x", "y", "z"])[(y + (rng.random(n) < 0.4) * rng.integers(3, size=n)) % 3]
    return pd.DataFrame({**repeated, "second": second, "level": level}), y


def test_classes_that_take_turns_are_all_looked_at():
    y = np.arange(10_000) % 2
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(2.0 * y)})
    turns = BayesClassifier().fit(X, y)
    order = np.argsort(y, kind="stable")
    sorted_rows = BayesClassifier().fit(X.iloc[order], y[order])
    assert turns.schema_.nats[0] > 0.3
    np.testing.assert_allclose(turns.schema_.nats, sorted_rows.schema_.nats, rtol=0.05)


@given(st.integers(0, 500), st.integers(1, 60))
def test_rows_are_spread_over_all_of_them(n_rows, most):
    found = spread_rows(n_rows, most)
    assert len(found) == min(n_rows, most)
    assert (np.diff(found) > 0).all()
    parts = found * min(n_rows, most) // max(n_rows, 1)
    assert np.abs(parts - np.arange(len(found))).max(initial=0) <= 1
    assert found.tolist() == spread_rows(n_rows, most).tolist()


def log_loss(model, X, y):
    return -np.mean(model.predict_log_proba(X)[np.arange(len(y)), y])


@pytest.fixture(scope="module")
def weighed():
    X, y = rows(copies=8)
    model = BayesClassifier().fit(X, y)
    assert model.schema_.evidence_weight < 0.5
    return model, X, y


def test_independent_columns_keep_the_weight_of_one():
    for seed in range(5):
        X, y = rows(seed=seed)
        assert BayesClassifier().fit(X, y).schema_.evidence_weight == 1.0


def test_a_column_that_stands_there_many_times_counts_about_once():
    X, y = rows(4000, copies=10)
    repeated = X.drop(columns=["second", "level"])
    model = BayesClassifier().fit(repeated, y)
    single = BayesClassifier(Normal()).fit(repeated[["copy 0"]], y)
    assert model.schema_.evidence_weight == pytest.approx(0.1, rel=0.15)
    fresh, truth = rows(4000, copies=10, seed=1)
    fresh = fresh.drop(columns=["second", "level"])
    assert log_loss(model, fresh, truth) == pytest.approx(
        log_loss(single, fresh[["copy 0"]], truth), abs=0.01
    )
    with pytest.warns(UserWarning, match="too sure"):
        unweighed = BayesClassifier(evidence_weight=1.0).fit(repeated, y)
    assert log_loss(unweighed, fresh, truth) > log_loss(model, fresh, truth) + 0.5


def test_columns_of_noise_count_for_next_to_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = pd.DataFrame({f"noise {j}": rng.normal(size=300) for j in range(60)})
    model = BayesClassifier("infer").fit(X, y)
    assert model.schema_.evidence_weight < 0.2
    fresh = pd.DataFrame({f"noise {j}": rng.normal(size=300) for j in range(60)})
    assert log_loss(model, fresh, y) < np.log(2) + 0.05


def test_posteriors_are_weighed_and_densities_are_not(weighed):
    model, X, _ = weighed
    w, plain = model.schema_.evidence_weight, BayesClassifier(model.schema_, evidence_weight=1.0)
    plain.fit_statistics(model.statistics_)
    log_priors = np.log(model.priors_)
    evidence = plain.predict_joint_log_proba(X) - log_priors
    np.testing.assert_allclose(
        model.predict_log_proba(X), log_softmax(log_priors + w * evidence, axis=1), atol=1e-9
    )
    assert np.array_equal(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X))
    assert np.array_equal(model.score_samples(X), plain.score_samples(X))
    assert np.array_equal(model.novelty(X[:5]), plain.novelty(X[:5]))
    assert model.log_likelihood_ == plain.log_likelihood_


def test_contributions_add_up_to_what_is_compared(weighed):
    model, X, _ = weighed
    found = model.explain(X[:20])
    total = found.prior + found.contributions.sum(axis=1)
    np.testing.assert_allclose(found.total, total, atol=1e-9)
    np.testing.assert_allclose(log_softmax(total, axis=1), model.predict_log_proba(X[:20]), atol=1e-9)
    np.testing.assert_allclose(found.posterior, model.predict_proba(X[:20]), atol=1e-12)
    np.testing.assert_allclose(
        log_softmax(model.decision_function(X[:20]), axis=1), model.predict_log_proba(X[:20]), atol=1e-9
    )


def test_other_priors_leave_the_weight_as_it_is(weighed):
    model, X, _ = weighed
    new = np.array([0.0, 0.5, 0.5])
    found = model.with_priors(new).predict_proba(X)
    odds = model.predict_proba(X) * new / model.priors_
    np.testing.assert_allclose(found, odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


def test_a_file_keeps_the_weight(weighed):
    model, X, _ = weighed
    file = io.BytesIO()
    model.save(file)
    loaded = suffice.load(io.BytesIO(file.getvalue()))
    assert loaded.schema_ == model.schema_
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_more_rows_and_fewer_rows_keep_the_weight(weighed):
    model, X, y = weighed
    schema = model.schema_
    more, labels = rows(copies=8, seed=1)
    grown = BayesClassifier().fit(X, y).partial_fit(more, labels)
    both = BayesClassifier(schema).fit(pd.concat([X, more]), np.concatenate([y, labels]))
    np.testing.assert_allclose(grown.predict_proba(X), both.predict_proba(X), atol=1e-9)
    merged = BayesClassifier().fit(X, y) + BayesClassifier(schema).fit(more, labels)
    np.testing.assert_allclose(merged.predict_proba(X), both.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(grown.forget(more, labels).predict_proba(X), model.predict_proba(X), atol=1e-9)
    assert grown.schema_.evidence_weight == merged.schema_.evidence_weight == schema.evidence_weight


def test_statistics_carry_the_weight(weighed):
    model, X, y = weighed
    statistics = summarize(X, y)
    assert statistics.schema.evidence_weight == model.schema_.evidence_weight
    again = BayesClassifier().fit_statistics(statistics)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rows_left_out_are_weighed_as_in_refits():
    X, y = rows(120, copies=6)
    model = BayesClassifier().fit(X, y)
    assert model.schema_.evidence_weight < 1.0
    found = cross_val_predict_proba(BayesClassifier(model.schema_), X, y, cv=LeaveOneOut())
    for i in range(0, 120, 17):
        rest = np.delete(np.arange(120), i)
        refit = BayesClassifier(model.schema_).fit(X.iloc[rest], y[rest])
        np.testing.assert_allclose(found[i], refit.predict_proba(X.iloc[[i]])[0], atol=1e-9)


def test_a_search_finds_the_weight_in_one_pass(weighed):
    model, X, y = weighed
    weights = [0.01, model.schema_.evidence_weight, 1.0, 5.0]
    search = OnePassSearchCV(BayesClassifier(), {"evidence_weight": weights}, cv=3).fit(X, y)
    assert search.best_params_ == {"evidence_weight": weights[1]}


def test_few_rows_and_families_that_are_given_are_not_weighed():
    X, y = rows(24, copies=8)
    assert BayesClassifier().fit(X, y).schema_.evidence_weight == 1.0
    X, y = rows(500, copies=8)
    given = dict.fromkeys(X.columns[:-1], Normal()) | {"level": Categorical()}
    array = X.to_numpy()[:, :3].astype(float)
    for families, table in ((Normal(), X.drop(columns="level")), (given, X), ("infer", array)):
        with pytest.warns(UserWarning, match="too sure"):
            model = BayesClassifier(families).fit(table, y)
        assert model.schema_.evidence_weight == 1.0


def test_the_schema_says_how_much_the_evidence_counts(weighed):
    schema = weighed[0].schema_
    line = f"The evidence of the columns counts {schema.evidence_weight:.3g} times: held-out rows say so."
    assert repr(schema).endswith(line)
    assert schema._repr_html_().endswith(f"<p>{line}</p></div>")


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "1", True])
def test_a_weight_must_be_a_positive_number(value):
    X, y = rows(50)
    with pytest.raises(ValueError, match="evidence_weight must be a positive number or None, got"):
        BayesClassifier(evidence_weight=value).fit(X, y)


def test_a_frame_is_read_once_for_all_folds(monkeypatch):
    X, y = rows(500, copies=4)
    schema, table = BayesClassifier().fit(X, y).schema_, read_table(X)
    blocks, read = Schema.blocks, []

    def counted(self, table):
        read.append(table.n_rows)
        return blocks(self, table)

    monkeypatch.setattr(Schema, "blocks", counted)
    with_evidence_weight(schema, table, y, 3, None)
    assert read == [500]
