"""A column of text beside numbers and categories, and documents in any container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import BayesClassifier, TextClassifier
from suffice.families import Categorical, Normal, Words

N = 60
COLUMNS = ("review", "price", "shop")
TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "numpy": lambda columns: np.column_stack([np.array(values, dtype=object) for values in columns.values()]),
}
with_tables = pytest.mark.parametrize("build", TABLES.values(), ids=TABLES)


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    words = ["fine", "grand", "poor", "cheap", "table", "chair", "lamp", "desk", "sofa", "shelf"]
    return {
        "review": [" ".join(rng.choice(words, rng.integers(6, 12))) + f" number{i}" for i in range(N)],
        "price": (rng.normal(size=N) + np.arange(N) % 2).tolist(),
        "shop": rng.choice(["east", "west"], N).tolist(),
    }


@pytest.fixture(scope="module")
def y():
    return np.array(["like", "dislike"])[np.arange(N) % 2]


@with_tables
def test_free_text_is_read_as_words_beside_the_other_columns(build, columns, y):
    schema = BayesClassifier().fit(build(columns), y).schema_
    assert [column.family for column in schema.columns] == [Words(), Normal(), Categorical()]
    assert "free text" in str(schema)


@with_tables
def test_the_score_of_a_row_is_the_sum_of_its_columns(build, columns, y):
    joint = BayesClassifier().fit(build(columns), y).predict_joint_log_proba(build(columns))
    text = TextClassifier().fit(columns["review"], y)
    others = {name: columns[name] for name in COLUMNS[1:]}
    rest = BayesClassifier().fit(build(others), y)
    parts = text.predict_joint_log_proba(columns["review"]) + rest.predict_joint_log_proba(build(others))
    np.testing.assert_allclose(joint, parts - np.log(0.5), rtol=0, atol=1e-10)


@with_tables
def test_contributions_of_text_add_up(build, columns, y):
    model = BayesClassifier(evidence_weight=1.0).fit(build(columns), y)
    why = model.explain(build(columns))
    np.testing.assert_allclose(
        why.prior + why.contributions.sum(axis=1), model.predict_joint_log_proba(build(columns)), atol=1e-10
    )
    assert columns["review"][0] in str(why)


@with_tables
def test_a_sampled_table_holds_texts_and_can_be_fitted(build, columns, y):
    model = BayesClassifier().fit(build(columns), y)
    rows, labels = model.sample(30, random_state=1)
    assert type(rows) is type(build(columns))
    known = set(TextClassifier().fit(columns["review"], y).vocabulary_)
    texts = rows[:, 0].tolist() if isinstance(rows, np.ndarray) else list(np.asarray(rows["review"]))
    assert set(" ".join(map(str, texts)).split()) <= known
    again = BayesClassifier(model.schema_).fit(rows, labels)
    assert again.predict(build(columns)).shape == (N,)


@with_tables
def test_batches_of_a_table_with_text_merge_and_are_forgotten(build, columns, y):
    def part(rows):
        return build({name: [values[i] for i in rows] for name, values in columns.items()})

    families = {0: Words(), 1: Normal(), 2: Categorical()} if build is TABLES["numpy"] else "infer"
    whole = BayesClassifier(families).fit(build(columns), y)
    first, second = np.arange(0, N, 3), np.setdiff1d(np.arange(N), np.arange(0, N, 3))
    parts = BayesClassifier(whole.schema_).fit(part(second), y[second]).partial_fit(part(first), y[first])
    np.testing.assert_allclose(
        parts.predict_proba(build(columns)), whole.predict_proba(build(columns)), atol=1e-10
    )
    less = whole.forget(part(first), y[first])
    alone = BayesClassifier(whole.schema_).fit(part(second), y[second])
    np.testing.assert_allclose(
        less.predict_proba(build(columns)), alone.predict_proba(build(columns)), atol=1e-10
    )


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_a_missing_text_equals_a_model_without_the_column(build, columns, y):
    gappy = {**columns, "review": [None, *columns["review"][1:]]}
    model = BayesClassifier(evidence_weight=1.0).fit(build(columns), y)
    without = BayesClassifier({"review": None}, evidence_weight=1.0).fit(build(columns), y)
    np.testing.assert_allclose(
        model.predict_proba(build(gappy))[0], without.predict_proba(build(columns))[0], atol=1e-12
    )


def test_two_columns_of_text_have_a_language_each(columns, y):
    table = pd.DataFrame({"one": columns["review"], "two": columns["review"][::-1]})
    model = BayesClassifier(Words(alpha=0.5)).fit(table, y)
    parts = [TextClassifier(alpha=0.5).fit(table[name].tolist(), y) for name in table]
    total = sum(
        part.predict_joint_log_proba(table[name].tolist()) for part, name in zip(parts, table, strict=True)
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(table), total - np.log(0.5), atol=1e-10)


def test_numbers_where_text_was_are_refused_with_the_column(columns, y):
    model = BayesClassifier().fit(pd.DataFrame(columns), y)
    with pytest.raises(TypeError, match="'review' holds numbers"):
        model.predict(pd.DataFrame({**columns, "review": columns["price"]}))


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "numpy strings": np.array,
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas strings": lambda texts: pd.Series(texts, dtype="string"),
    "pandas arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas index": lambda texts: pd.Series(texts, index=np.arange(len(texts))[::-1]),
    "polars": pl.Series,
    "polars categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "arrow": pa.array,
    "arrow large": lambda texts: pa.array(texts, pa.large_string()),
    "arrow view": lambda texts: pa.array(texts, pa.string_view()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:7], [], texts[7:]], pa.string()),
    "arrow slice": lambda texts: pa.array(["before", *texts, "after"])[1:-1],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_documents_in_any_container_give_the_same_model(name, corpus):
    build = CONTAINERS[name]
    expected = TextClassifier(ngram_range=(1, 2)).fit(corpus.texts, corpus.labels)
    model = TextClassifier(ngram_range=(1, 2)).fit(build(corpus.texts), corpus.labels)
    assert model.statistics_ == expected.statistics_
    assert np.array_equal(model.predict_proba(build(corpus.asked)), expected.predict_proba(corpus.asked))


@pytest.mark.parametrize("name", CONTAINERS)
def test_documents_are_drawn_in_the_container_of_training(name, corpus, tmp_path):
    texts = CONTAINERS[name](corpus.texts)
    model = TextClassifier().fit(texts, corpus.labels)
    drawn, labels = model.sample(5, random_state=0)
    expected, _ = TextClassifier().fit(corpus.texts, corpus.labels).sample(5, random_state=0)
    kind = list if isinstance(texts, tuple) else type(texts)
    assert isinstance(drawn, pa.ChunkedArray if isinstance(texts, pa.Array) else kind)
    assert np.asarray(drawn, dtype=object).tolist() == expected
    assert len(labels) == 5
    if isinstance(texts, pd.Series):
        assert drawn.name is None
        assert drawn.dtype == (texts.dtype if name != "pandas categories" else texts.cat.categories.dtype)
    model.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice").sample(5, random_state=0)[0]
    assert type(again) is type(drawn)
    assert np.asarray(again, dtype=object).tolist() == expected


def test_a_name_of_documents_stays_theirs(corpus):
    for texts in (pd.Series(corpus.texts, name="review"), pl.Series("review", corpus.texts)):
        assert TextClassifier().fit(texts, corpus.labels).sample(2, random_state=0)[0].name == "review"


@pytest.mark.parametrize("name", [name for name in CONTAINERS if name != "numpy strings"])
def test_missing_documents_in_any_container_are_missing(name, gappy):
    build = CONTAINERS[name]
    if name == "arrow chunks":
        texts = pa.chunked_array([pa.array(gappy.texts[:7]), pa.array(gappy.texts[7:])])
    else:
        texts = build(gappy.texts)
    expected = TextClassifier("bernoulli").fit(gappy.texts, gappy.labels)
    assert TextClassifier("bernoulli").fit(texts, gappy.labels).statistics_ == expected.statistics_


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_batch_without_any_text_gets_what_the_other_columns_say(gap):
    table = pd.DataFrame({"text": ["good film about dogs", "bad film about cats"] * 10, "x": np.arange(20.0)})
    labels = ["+", "-"] * 10
    model = BayesClassifier(families={"text": Words(), "x": Normal()}).fit(table, labels)
    alone = BayesClassifier(families=Normal()).fit(table[["x"]], labels)
    np.testing.assert_allclose(
        model.predict_proba(table.assign(text=gap)), alone.predict_proba(table[["x"]]), atol=1e-12
    )
