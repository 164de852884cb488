"""Every dialect's query parses as that dialect, and quotes by its rules."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.export.dialects import DIALECTS
from suffice.families import Categorical, Normal

sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")

TEXTS = ["it's", 'say "b"', "back\\slash", "line\nbreak", "tick`", "\\' OR 1=1 --", "ünïcödé 🐧", "end\\"]


SLOW = pytest.mark.slow


@pytest.fixture(params=list(DIALECTS))
def dialect(request):
    return request.param


@pytest.mark.parametrize("output", ["proba", *(pytest.param(o, marks=SLOW) for o in ("label", "scores"))])
def test_a_query_is_one_select_that_parses(case, dialect, output):
    query = case.model.to_sql(("some schema", "rows"), dialect=dialect, output=output, key="id")
    (parsed,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(parsed, sqlglot.exp.Select)
    results = len(parsed.selects) - 1
    assert results == (1 if output == "label" else len(case.model.classes_))
    tables = {table.name for table in parsed.find_all(sqlglot.exp.Table)}
    assert {name for name in tables if not name.startswith("step")} == {"rows"}


def test_columns_and_levels_mean_what_they_say_in_every_dialect(dialect):
    name = 'a"`; DROP TABLE x; -- \\'
    rng = np.random.default_rng(0)
    train = pd.DataFrame(
        {name: pd.Series(TEXTS * 5, dtype=object), "number": rng.normal(size=5 * len(TEXTS))}
    )
    labels = np.array(TEXTS, dtype=object)[rng.integers(0, len(TEXTS), len(train))]
    model = suffice.BayesClassifier(families={name: Categorical(), "number": Normal()}).fit(train, labels)
    parsed = sqlglot.parse_one(model.to_sql(name, dialect=dialect, output="label", key=name), dialect=dialect)
    columns = {column.name for column in parsed.find_all(sqlglot.exp.Column)}
    assert {name, "number"} <= columns
    assert name in {table.name for table in parsed.find_all(sqlglot.exp.Table)}
    strings = {literal.this for literal in parsed.find_all(sqlglot.exp.Literal) if literal.is_string}
    assert set(TEXTS) <= strings


def test_numbers_are_written_with_all_their_digits(dialect):
    value = 0.1 + 2e-17 + 1 / 3e300
    for number in (value, 1e-300, -1.7976931348623157e308, 5e-324, 2.0**70, -0.5):
        literal = DIALECTS[dialect].number(number)
        parsed = sqlglot.parse_one(f"SELECT {literal} AS v", dialect=dialect)
        found = parsed.find(sqlglot.exp.Literal)
        sign = -1.0 if parsed.find(sqlglot.exp.Neg) else 1.0
        assert sign * float(found.this) == number


def test_result_names_of_bigquery_hold_letters_digits_and_underscores_only():
    X = pd.DataFrame({"v": [0.0, 1.0, 2.0, 3.0]})
    model = suffice.BayesClassifier(families=Normal()).fit(X, ["a b", "a b", "a-b", "a-b"])
    parsed = sqlglot.parse_one(model.to_sql("rows", dialect="bigquery"), dialect="bigquery")
    assert [column.alias for column in parsed.selects] == ["proba_a_b", "proba_a_b_2"]


def test_spark_finds_no_variable_to_replace():
    texts = ["${env:HOME}", "a\\${x}", "$${spark.master}", "plain"]
    X = pd.DataFrame({"level": pd.Series(texts * 5, dtype=object), "v": np.arange(20.0)})
    model = suffice.BayesClassifier(families={"level": Categorical(), "v": Normal()}).fit(X, texts * 5)
    for output in ("proba", "label"):
        query = model.to_sql("rows", dialect="spark", output=output)
        assert "${" not in query
        assert isinstance(sqlglot.parse_one(query, dialect="spark"), sqlglot.exp.Select)
    assert r"'\u0024{env:HOME}'" in query
    assert r"'a\\\u0024{x}'" in query
    assert r"'$\u0024{spark.master}'" in query


@pytest.mark.parametrize("place", ["table", "column", "key"])
def test_a_name_that_spark_would_replace_is_refused(place):
    name = "a${env:HOME}"
    model = suffice.BayesClassifier().fit([[1.0], [1.5], [3.0], [3.5]], ["a", "a", "b", "b"])
    settings = {"columns": [name]} if place == "column" else {"key": name} if place == "key" else {}
    with pytest.raises(ValueError, match=r"'a\$\{env:HOME\}' contains \$\{, which spark replaces.*rename"):
        model.to_sql(name if place == "table" else "rows", dialect="spark", **settings)


def test_a_string_is_one_name_and_a_tuple_names_catalog_schema_and_table(dialect):
    model = suffice.BayesClassifier().fit([[1.0], [1.5], [3.0], [3.5]], ["a", "a", "b", "b"])
    # BigQuery reads the dots of a path in one pair of quotes, too.
    names = (
        ("a b", ("s", "t"), ("c", "s 1", "t"))
        if dialect == "bigquery"
        else ("a.b", ("s", "t.2"), ("c", "s", "t"))
    )
    for table in names:
        parsed = sqlglot.parse_one(model.to_sql(table, dialect=dialect), dialect=dialect)
        (found,) = [one for one in parsed.find_all(sqlglot.exp.Table) if not one.name.startswith("step")]
        assert [part.name for part in found.parts] == ([table] if isinstance(table, str) else list(table))
