"""Names, text and numbers of any kind are data to a query, never SQL."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.export.dialects import DIALECTS
from suffice.families import Categorical, Normal

EVIL = [
    'a"; DROP TABLE victim; --',
    "b'; DROP TABLE victim; --",
    "c`; DROP TABLE victim; --",
    "d\\",
    "e\\' OR 1=1 --",
    "f\nnew line",
    "g%s ? :h $1",
    "select",
    "ünïcödé 🐧",
    "x0",
    "step0",
]


def two_classes(labels):
    """A model of one number with these two classes."""
    X = pd.DataFrame({"v": [0.0, 0.1, 5.0, 5.1]})
    return suffice.BayesClassifier(families=Normal()).fit(X, np.repeat(np.array(labels), 2)), X


@pytest.mark.parametrize("name", EVIL)
def test_a_table_a_column_and_a_key_may_be_called_anything(name, database):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    train = pd.DataFrame({name: rng.normal(y, 1.0), f"{name}2": rng.normal(y, 2.0)})
    model = suffice.BayesClassifier(families=Normal()).fit(train, y)
    database.create("victim", train)
    database.create(name, train)
    query = model.to_sql(name, dialect=database.dialect, key=["row id", name])
    names, rows = database.run(query)
    assert names == ["row id", name, "proba_0", "proba_1"]
    np.testing.assert_allclose([row[2:] for row in rows], model.predict_proba(train), atol=1e-9)
    assert len(database.run('SELECT * FROM "victim"')[1]) == 60


def test_levels_may_hold_any_text(database):
    levels = [*EVIL, "", " ", "'", '"', "''", "\\", "\\\\", "\t", "\r\n", "é", "é"]
    rng = np.random.default_rng(1)
    train = pd.DataFrame({"level": pd.Series(levels * 6, dtype=object)})
    model = suffice.BayesClassifier(families=Categorical()).fit(train, rng.integers(0, 2, len(train)))
    database.create("rows", train)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(train), atol=1e-9)


def test_a_level_with_nul_is_found_where_text_can_hold_it(database):
    train = pd.DataFrame({"level": pd.Series(["a\0b", "a", "b", "a\0b"], dtype=object)})
    model = suffice.BayesClassifier(families=Categorical()).fit(train, [0, 0, 1, 0])
    rows = train if database.dialect != "postgres" else train.iloc[1:3]
    database.create("rows", rows)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        ["it's", 'a "b" \\ c\n'],
        [False, True],
        [-(2**62) - 1, 2**62 + 1],
        [-1.0, 2.0],
        np.array([3, 2**64 - 1], dtype=np.uint64),
    ],
    ids=["text", "booleans", "beyond 2^53", "floats", "unsigned"],
)
def test_labels_come_back_as_they_were(labels, database):
    model, rows = two_classes(labels)
    database.create("rows", rows)
    if database.dialect == "sqlite" and model.classes_.dtype == np.uint64:
        with pytest.raises(ValueError, match=r"18446744073709551615 does not fit a 64-bit integer in sqlite"):
            model.to_sql("rows", dialect="sqlite", output="label")
        return
    given = [label for (label,) in database.scores(model, "rows", output="label")]
    assert [type(model.classes_.tolist()[0])(label) for label in given] == model.predict(rows).tolist()


def test_result_columns_are_distinct_whatever_the_case_and_length_of_labels(database):
    model, rows = two_classes(["Long" + "é" * 80 + "1", "long" + "é" * 80 + "2"])
    database.create("rows", rows)
    names, _ = database.run(model.to_sql("rows", dialect=database.dialect, key=["row id"]))
    assert len({name.lower() for name in names}) == 3
    if database.dialect == "postgres":
        assert all(len(name.encode()) <= 63 for name in names)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_columns_that_differ_only_in_case_are_not_taken_for_one(dialect):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = pd.DataFrame({"Größe": rng.normal(y, 1.0), "größe": rng.normal(y, 1.0), "GRÖße": rng.normal(y, 1.0)})
    model = suffice.BayesClassifier(families=Normal()).fit(X, y)
    if DIALECTS[dialect].ignores_case:
        with pytest.raises(ValueError, match=rf"'Größe' and 'größe' differ only in case.* one in {dialect}"):
            model.to_sql("rows", dialect=dialect)
        assert '"a"' in model.to_sql("rows", dialect=dialect, columns=["a", "b", "c"]).replace("`", '"')
    else:
        assert '"größe"' in model.to_sql("rows", dialect=dialect)


def test_a_key_named_like_a_result_makes_the_result_give_way(database):
    model, rows = two_classes(["a", "b"])
    rows["proba_a"] = 7.0
    database.create("rows", rows)
    query = model.to_sql("rows", dialect=database.dialect, key=["row id", "proba_a"])
    names, table = database.run(query)
    assert names == ["row id", "proba_a", "proba_a_2", "proba_b"]
    assert {row[1] for row in table} == {7.0}


def test_a_table_in_a_schema_is_named_by_its_parts(database):
    model, rows = two_classes(["a", "b"])
    schema = "main" if database.dialect == "sqlite" else "other schema"
    database.create("some.rows", rows, schema=schema)
    np.testing.assert_allclose(
        database.scores(model, (schema, "some.rows")), model.predict_proba(rows), atol=1e-9
    )


def test_columns_of_an_array_are_named_by_the_caller(database):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 50)
    X = rng.normal(size=(50, 2)) + y[:, np.newaxis]
    model = suffice.BayesClassifier().fit(X, y)
    database.create("rows", pd.DataFrame(X, columns=["height", "width"]))
    np.testing.assert_allclose(
        database.scores(model, "rows", columns=["height", "width"]), model.predict_proba(X), atol=1e-9
    )


def test_infinities_in_a_database_read_as_missing(duckdb, postgres):
    model, _ = two_classes(["a", "b"])
    rows = pd.DataFrame({"v": [np.inf, -np.inf, 1.0]})
    expected = model.predict_proba(pd.DataFrame({"v": [np.nan, np.nan, 1.0]}))
    for database in (duckdb, postgres):
        database.create("rows", rows)
        np.testing.assert_allclose(database.scores(model, "rows"), expected, atol=1e-9)


def test_text_in_a_number_column_of_sqlite_reads_as_missing(sqlite):
    model, _ = two_classes(["a", "b"])
    sqlite.connection.execute('CREATE TABLE typed (v, "row id")')
    sqlite.connection.executemany("INSERT INTO typed VALUES (?, ?)", [("", 0), ("abc", 1), (5, 2)])
    expected = model.predict_proba(pd.DataFrame({"v": [np.nan, np.nan, 5.0]}))
    np.testing.assert_allclose(sqlite.scores(model, "typed"), expected, atol=1e-9)


def test_many_classes_and_many_columns_are_within_the_limits_of_every_database(database):
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(120), 4)
    X = pd.DataFrame(rng.normal(size=(480, 6)) + y[:, np.newaxis], columns=list("abcdef"))
    model = suffice.BayesClassifier(families=Normal()).fit(X, y)
    database.create("rows", X.iloc[:20])
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(X.iloc[:20]), atol=1e-9)
