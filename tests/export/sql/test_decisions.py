"""Decisions and drop-ins in a database: what `predict` decides, and no result where it refuses."""

import numpy as np
import pytest


def test_decisions_in_the_database_are_those_of_predict(decision, decided, database):
    database.create("rows", decision.rows)
    labels = [label for (label,) in database.scores(decision.model, "rows", output="label")]
    expected = decision.model.predict(decision.table).tolist()
    clear = decided(decision.model, decision.table)
    assert clear.mean() > 0.5
    assert len(set(expected)) > 1
    assert [a for a, c in zip(labels, clear, strict=True) if c] == [
        a for a, c in zip(expected, clear, strict=True) if c
    ]


def test_costs_leave_the_posteriors_as_they_are(decision):
    model = decision.model
    for output in ("proba", "scores"):
        assert model.to_sql("rows", output=output) == model.model.to_sql("rows", output=output)


def test_keys_of_any_name_go_through_a_decision(decision, duckdb):
    rows = decision.rows.iloc[:5].assign(**{"proba_class0": np.arange(5) + 0.5, 'a"b': np.arange(5)})
    duckdb.create("rows", rows)
    query = decision.model.to_sql("rows", output="label", key=["row id", "proba_class0", 'a"b'])
    names, found = duckdb.run(query)
    assert names == ["row id", "proba_class0", 'a"b', "label"]
    assert [row[:3] for row in found] == [(i, i + 0.5, i) for i in range(5)]
    with pytest.raises(ValueError, match="key must have names that differ"):
        decision.model.to_sql("rows", output="label", key=["Label"])


def test_a_row_that_predict_refuses_has_no_result(refusing, database):
    for model, rows in refusing:
        database.create("rows", rows)
        posterior = np.array(database.scores(model, "rows"), dtype=np.float64)
        labels = [label for (label,) in database.scores(model, "rows", output="label")]
        for row in (1, 2):
            with pytest.raises((ValueError, IndexError)):
                model.predict(rows.to_numpy()[[row]])
            assert np.isnan(posterior[row]).all()
            assert labels[row] is None
        kept = rows.to_numpy()[[0, 3]]
        np.testing.assert_allclose(posterior[[0, 3]], model.predict_proba(kept), atol=1e-9)
        assert [labels[0], labels[3]] == model.predict(kept).tolist()


@pytest.mark.parametrize("dialect", ["spark", "bigquery", "snowflake"])
def test_decisions_parse_in_databases_that_are_not_here(decision, dialect):
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    query = decision.model.to_sql("rows", dialect=dialect, output="label", key="id")
    assert sqlglot.parse_one(query, dialect=dialect).named_selects == ["id", "label"]
