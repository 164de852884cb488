"""What a database computes is what the library computes."""

import numpy as np
import pytest


def as_floats(rows):
    return np.array([[np.nan if value is None else float(value) for value in row] for row in rows])


def test_posteriors_in_the_database_are_those_of_predict_proba(case, database):
    database.create("rows", case.rows)
    np.testing.assert_allclose(
        as_floats(database.scores(case.model, "rows")),
        case.model.predict_proba(case.table),
        rtol=0,
        atol=1e-9,
    )


def test_labels_in_the_database_are_those_of_predict(case, database):
    database.create("rows", case.rows)
    labels = [label for (label,) in database.scores(case.model, "rows", output="label")]
    posterior = np.sort(case.model.predict_proba(case.table), axis=1)
    decided = posterior[:, -1] - posterior[:, -2] > 1e-12
    assert decided.mean() > 0.5
    expected = case.model.predict(case.table)
    assert [label for label, clear in zip(labels, decided, strict=True) if clear] == expected[
        decided
    ].tolist()


@pytest.mark.slow  # the posteriors above, once more through the logarithm
def test_scores_in_the_database_are_those_of_predict_log_proba(case, database):
    database.create("rows", case.rows)
    scores = as_floats(database.scores(case.model, "rows", output="scores"))
    np.testing.assert_allclose(scores, case.model.predict_log_proba(case.table), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["duckdb", "postgres"])
def test_dates_and_booleans_are_read_as_the_database_keeps_them(name, moments, request):
    database = request.getfixturevalue(name)
    database.create("rows", moments.rows)
    np.testing.assert_allclose(
        as_floats(database.scores(moments.model, "rows")),
        moments.model.predict_proba(moments.table),
        atol=1e-9,
    )


def test_a_gap_in_a_large_joint_block_gives_null_where_asked(database, large_block):
    model, rows = large_block.model, large_block.rows
    database.create("rows", rows)
    whole = rows.notna().all(axis=1).to_numpy()
    assert 0 < whole.sum() < len(whole)
    posterior = as_floats(database.scores(model, "rows", missing="null"))
    labels = [label for (label,) in database.scores(model, "rows", missing="null", output="label")]
    assert np.isnan(posterior[~whole]).all()
    assert [label is None for label in labels] == (~whole).tolist()
    np.testing.assert_allclose(posterior[whole], model.predict_proba(large_block.table[whole]), atol=1e-9)
