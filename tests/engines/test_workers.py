"""Models that need more than one kind of sums, or more than one pass, where workers have the rows."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import suffice
from suffice.engines import dask as engine
from suffice.estimators.evidence import classifier as evidence

pytestmark = pytest.mark.usefixtures("cluster")
COLUMNS = ["height", "calls", "wait"]


@pytest.fixture
def few_first(monkeypatch):
    """The first 300 rows decide what the columns are."""
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 300)


@pytest.fixture
def passes(monkeypatch):
    """Rows stay with the workers, and what they are asked for is noted."""
    monkeypatch.setattr("suffice.estimators.regression.worker_rows.KEPT_BYTES", 0)
    noted, in_a_tree = [], engine.in_a_tree

    def noting(tasks, merge):
        noted.append(len(tasks))
        return in_a_tree(tasks, merge)

    monkeypatch.setattr(engine, "in_a_tree", noting)
    return noted


@pytest.fixture(scope="module")
def numbers():
    """Rows of three classes that no line separates; columns that lie far from 0, or have tiny values."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1200, 4))
    scores = X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(1200, 3))
    X = X * [1.0, 1.0, 1.0, 1e-80] + [0.0, 0.0, 1e7, 0.0]
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)], 0.5 + rng.integers(0, 3, 1200)


def assert_same_evidence(found, expected, X):
    for sums, others in zip(found._learnt.sums.statistics(), expected._learnt.sums.statistics(), strict=True):
        assert sums.isclose(others, rtol=1e-12)
    assert found.pieces_.difference(expected.pieces_) is None
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("weight", [None, "weight"])
def test_workers_sum_evidence_as_batches_do(rows, weight):
    data = rows if weight else rows.drop(columns="weight")
    empty = dd.from_pandas(data.iloc[:0], npartitions=1)
    frame = dd.concat([dd.from_pandas(data, npartitions=11, sort=False), empty])
    batches = [frame.partitions[part].compute() for part in range(11)]
    found, expected = (
        suffice.EvidenceClassifier().fit_from(source, target="kind", weight=weight)
        for source in (frame, batches)
    )
    assert_same_evidence(found, expected, data.drop(columns=["kind", "weight"] if weight else "kind"))


@pytest.mark.usefixtures("few_first")
def test_weights_are_learnt_from_the_same_rows_every_time(rows, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_ROWS", 400)
    data = rows[[*COLUMNS, "town", "kind"]]
    frame = dd.from_pandas(data, npartitions=5, sort=False)
    learnt_from = []
    reweigh = suffice.EvidenceClassifier._reweigh

    def noting(self, rows, *, seen):
        learnt_from.append(rows)
        reweigh(self, rows, seen=seen)

    monkeypatch.setattr(suffice.EvidenceClassifier, "_reweigh", noting)
    first, again = (suffice.EvidenceClassifier().fit(frame, "kind") for _ in range(2))
    assert [len(one.codes) for one in learnt_from] == [400, 400]
    X = data.drop(columns="kind")
    assert (first.predict_proba(X) == again.predict_proba(X)).all()
    batches = [frame.partitions[part].compute() for part in range(5)]
    expected = suffice.EvidenceClassifier().fit_from(batches, target="kind")
    expected._reweigh(learnt_from[0], seen=True)
    assert_same_evidence(first, expected, X)


def test_arrays_give_evidence_block_by_block(rows):
    X, y, w = rows[COLUMNS].to_numpy(float), rows.kind.to_numpy(), 0.5 + rows.weight.to_numpy()
    lazy = da.from_array(X, chunks=(500, 1)), da.from_array(y, chunks=400), da.from_array(w, chunks=300)
    whole = suffice.EvidenceClassifier().fit(X, y, w)
    assert_same_evidence(suffice.EvidenceClassifier().fit(*lazy), whole, X)


@pytest.mark.parametrize(
    "model",
    [
        suffice.LogisticRegression(),
        suffice.LogisticRegression(C=np.inf, class_weight="balanced"),
        suffice.ProbitRegression(0.3, fit_intercept=False),
    ],
    ids=["logistic", "likelihood", "probit"],
)
def test_passes_over_all_partitions_find_the_optimum_of_all_rows(model, numbers, passes):
    X, y, w = numbers
    data = dd.from_dask_array(da.from_array(X, chunks=(200, 4)), columns=list("abcd"))
    frame = data.assign(kind=da.from_array(y, chunks=200), w=da.from_array(w, chunks=200))
    found = model.fit_from(frame, target="kind", weight="w")
    coefficients, errors, likelihood = found.coef_, found.standard_errors_, found.log_likelihood_
    assert found.converged_
    assert len(passes) > 3
    assert set(passes) == {6}
    expected = model.fit(X, y, w)
    unit = expected.standard_errors_  # the last step of Newton's method squares the error of 1e-5
    np.testing.assert_allclose(coefficients / unit, expected.coef_ / unit, rtol=1e-8)
    np.testing.assert_allclose(errors, unit, rtol=1e-6)
    assert likelihood == pytest.approx(expected.log_likelihood_, rel=1e-12)


def test_few_rows_come_with_the_first_pass(numbers):
    X, y, _ = numbers
    lazy = da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=1000)
    found = suffice.LogisticRegression().fit(*lazy)
    expected = suffice.LogisticRegression().fit(X, y)
    assert (found.coef_ == expected.coef_).all()
    assert (found.classes_ == expected.classes_).all()


def test_sparse_blocks_stay_sparse(numbers, passes):
    X, y, _ = numbers
    X = (X - [0.0, 0.0, 1e7, 0.0]) * (np.random.default_rng(5).random(X.shape) < 0.3)
    blocks = da.from_array(X, chunks=(400, 4)).map_blocks(sparse.csr_array, dtype=float)
    found = suffice.LogisticRegression().fit(blocks, da.from_array(y, chunks=400))
    expected = suffice.LogisticRegression().fit(sparse.csr_array(X), y)
    assert len(passes) > 3
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_what_a_regression_cannot_use_is_refused_by_name(rows, numbers):
    X, y, _ = numbers
    frame = dd.from_pandas(rows[["wait", "calls", "kind"]], npartitions=3, sort=False)
    with pytest.raises(ValueError, match="'wait' has missing cells"):
        suffice.LogisticRegression().fit(frame, "kind")
    frame = dd.from_pandas(rows[["town", "calls", "kind"]], npartitions=3, sort=False)
    with pytest.raises(ValueError, match=r"^partition \d of the Dask DataFrame: column 'town' holds text"):
        suffice.LogisticRegression().fit(frame, "kind")
    with pytest.raises(ValueError, match="at least 2 classes"):
        suffice.LogisticRegression().fit(da.from_array(X, chunks=300), da.from_array(np.ones(len(y), int)))
    with pytest.raises(ValueError, match="there are no rows to learn from"):
        suffice.LogisticRegression().fit(dd.from_pandas(rows[["calls", "kind"]].iloc[:0], 1), "kind")
    X = X.copy()
    X[700, 2] = np.inf
    with pytest.raises(ValueError, match=r"^block 2 of the Dask Array: column 2 .*inf"):
        suffice.EvidenceClassifier().fit(da.from_array(X, chunks=300), da.from_array(y, chunks=300))


@pytest.mark.usefixtures("few_first", "passes")
@pytest.mark.parametrize(
    "model, at", [(suffice.EvidenceClassifier(), 3), (suffice.LogisticRegression(), 10)], ids=str
)
def test_a_worker_that_is_killed_in_any_pass_changes_nothing(model, at, numbers, tmp_path):
    path = str(tmp_path / "passed")
    X, y, _ = numbers
    data = pd.DataFrame(X, columns=list("abcd")).assign(kind=y)

    def dies_once(part):
        if len(part):
            with open(path, "a") as file:  # noqa: PTH123, sent to a worker
                file.write(".")
            if os.path.getsize(path) == at:  # noqa: PTH202, the same
                os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = dd.from_pandas(data, npartitions=4, sort=False)
    expected = model.fit_from(frame, target="kind").predict_proba(data[list("abcd")])
    found = model.fit_from(frame.map_partitions(dies_once, meta=data.iloc[:0]), target="kind")
    assert os.path.getsize(path) > at  # noqa: PTH202
    np.testing.assert_allclose(found.predict_proba(data[list("abcd")]), expected, rtol=1e-12)


def test_push_down_is_for_models_of_sums(rows):
    frame = dd.from_pandas(rows[["calls", "kind"]], npartitions=2, sort=False)
    for model in (suffice.EvidenceClassifier(), suffice.LogisticRegression()):
        with pytest.raises(
            ValueError, match=r"how='pushdown' works for models of sums, .*; \w+ needs rows too"
        ):
            model.fit_from(frame, target="kind", how="pushdown")
    unlabelled = frame.assign(kind=frame.kind.where(frame.calls < 3))
    with pytest.raises(ValueError, match=r"partition [01] of the Dask DataFrame.*'kind' has no label"):
        suffice.LogisticRegression().fit(unlabelled, "kind")
