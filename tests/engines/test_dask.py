"""Dask: sums of partitions by two processes."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest

import suffice

pytestmark = pytest.mark.usefixtures("cluster")


def test_a_cluster_sums_partitions_to_the_statistics_of_all_rows(table, whole, families):
    frame = dd.from_pandas(table, npartitions=11, sort=False)
    assert suffice.summarize(frame, target="kind", families=families).isclose(whole)
    model = suffice.BayesClassifier(families).fit(frame, "kind")
    assert model.statistics_.isclose(whole)
    assert suffice.summarize(frame, target="kind", families=families, how="pushdown").isclose(whole)


def test_names_that_are_numbers_become_text(table):
    frame = dd.from_pandas(table.rename(columns={"height": 0, "calls": 1}), npartitions=2, sort=False)
    expected = suffice.summarize(table.rename(columns={"height": "0", "calls": "1"}), target="kind")
    assert suffice.summarize(frame, target="kind", families=expected.schema).isclose(expected)


def test_names_that_are_numbers_name_columns(rows):
    data = rows[["height", "calls", "weight", "note", "kind"]].set_axis([0, 3, 4, 2, 5], axis=1)
    frame = dd.from_pandas(data, npartitions=2, sort=False)
    X, y, w = data[[0, 3]].rename(columns=str), data[5], data[4]
    fitted = suffice.GaussianDiscriminant().fit(frame[[0, 3, 5]], 5)
    assert fitted.statistics_.isclose(suffice.GaussianDiscriminant().fit(X, y).statistics_)
    fitted = suffice.GaussianDiscriminant().fit(frame[[0, 3, 4, 5]], np.int64(5), 4)
    assert fitted.statistics_.isclose(suffice.GaussianDiscriminant().fit(X, y, w).statistics_)
    fitted = suffice.GaussianDiscriminant().fit_from(frame, target=5, weight=4, drop=[2])
    assert fitted.statistics_.isclose(suffice.GaussianDiscriminant().fit(X, y, w).statistics_)
    with pytest.raises(ValueError, match="there is no column '7'"):
        suffice.BayesClassifier().fit(frame, 7)


def test_partitions_may_be_empty(table, whole, families):
    frame = dd.from_pandas(table, npartitions=3, sort=False)
    empty = dd.from_pandas(table.iloc[:0], npartitions=1)
    assert suffice.summarize(dd.concat([empty, frame, empty]), target="kind", families=families).isclose(
        whole
    )


def test_words_of_all_partitions_are_the_words_of_all_rows(rows):
    frame = dd.from_pandas(rows[["note", "kind"]], npartitions=10, sort=False)
    found = suffice.TextClassifier().fit_from(frame, target="kind")
    expected = suffice.TextClassifier().fit(rows.note, rows.kind)
    assert found.statistics_ == expected.statistics_
    assert found.vocabulary_ == expected.vocabulary_


def test_arrays_are_summed_block_by_block(rows):
    X, y, w = rows[["height", "calls"]].to_numpy(float), rows.kind.to_numpy(), rows.weight.to_numpy()
    lazy = da.from_array(X, chunks=(200, 1)), da.from_array(y, chunks=500), da.from_array(w, chunks=300)
    found = suffice.GaussianDiscriminant().fit(*lazy)
    expected = suffice.GaussianDiscriminant().fit(X, y, w)
    assert found.statistics_.isclose(expected.statistics_)
    assert suffice.summarize(*lazy[:2]).isclose(suffice.summarize(X, y))
    with pytest.raises(ValueError, match="X has 1200 rows, but y has the shape"):
        suffice.summarize(lazy[0], lazy[1][:7])
    with pytest.raises(TypeError, match="a Dask Array has no named columns"):
        suffice.summarize(lazy[0], target="kind")
    with pytest.raises(TypeError, match=r"a Dask Array has no named columns.* or model.predict\(X\)"):
        found.predict_from(lazy[0])
    assert found.predict(lazy[0]).tolist() == expected.predict(X).tolist()


def test_weighed_evidence_and_regressions_read_partitions(rows):
    data = rows[["height", "calls", "kind"]]
    frame = dd.from_pandas(data, npartitions=3, sort=False)
    X = data[["height", "calls"]]
    for model in (suffice.EvidenceClassifier(), suffice.LogisticRegression()):
        found = model.fit_from(frame, target="kind").predict_proba(X)
        np.testing.assert_allclose(found, model.fit(X, data.kind).predict_proba(X), rtol=1e-6, atol=1e-9)


def test_a_worker_that_is_killed_changes_nothing(table, whole, families, tmp_path):
    marker = str(tmp_path / "killed")

    def dies_once(part):
        if len(part) and not os.path.exists(marker):  # noqa: PTH110, sent to a worker
            open(marker, "w").close()  # noqa: PTH123, the same
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = dd.from_pandas(table, npartitions=6, sort=False).map_partitions(dies_once, meta=table.iloc[:0])
    sums = suffice.summarize(frame, target="kind", families=families)
    assert os.path.exists(marker)  # noqa: PTH110
    assert sums.isclose(whole)


def test_answers_are_a_lazy_frame_or_a_folder(table, families, tmp_path):
    model = suffice.BayesClassifier(families).fit(table, "kind")
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    expected = model.predict_proba(table.drop(columns="kind"))
    found = model.predict_from(frame, keep=["calls"])
    assert list(found.columns) == ["calls", "prediction", "p(a)", "p(b)", "p(c)"]
    np.testing.assert_allclose(found.compute()[["p(a)", "p(b)", "p(c)"]], expected, rtol=1e-12)
    model.predict_from(frame, tmp_path / "answers")
    read = dd.read_parquet(tmp_path / "answers").compute()
    np.testing.assert_allclose(read[["p(a)", "p(b)", "p(c)"]], expected, rtol=1e-12)
