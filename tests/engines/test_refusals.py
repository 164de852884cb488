"""What rows in parts are refused for: messages name the part, the column, the row, the value and the cure."""

import re

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import suffice

MODELS = [suffice.BayesClassifier(), suffice.EvidenceClassifier(), suffice.LogisticRegression()]
PART = {"dask": "partition 2 of the Dask DataFrame", "frames": "the iterable, batch 2"}
FIRST = {"dask": "partition 0 of the Dask DataFrame", "frames": "the iterable, batch 0"}
ONE_TYPE = "convert it, so that it has one type everywhere"


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=[False, True], ids=["first rows", "later rows"])
def few_first(request, monkeypatch):
    """Whether what is wrong is among the rows that decide what the columns are."""
    if request.param:
        monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 30)
    return request.param


def parts(**changed):
    """Four parts, the third of them with other columns."""
    rng = np.random.default_rng(0)
    made = [
        pd.DataFrame({"x": rng.normal(size=40), "k": np.arange(40) % 5, "kind": rng.choice(["p", "q"], 40)})
        for _ in range(4)
    ]
    made[2] = made[2].assign(**changed)
    return made


def lazy(frames):
    """A Dask DataFrame that believes all partitions to be like the first."""
    return dd.from_delayed(list(map(dask.delayed, frames)), meta=frames[0].iloc[:0], verify_meta=False)


SOURCES = {"dask": lazy, "frames": list}


def objects(*cells):
    return pd.Series([*cells, *[cells[0]] * (40 - len(cells))], dtype=object)


REFUSED = {
    "complex": ({"x": np.ones(40) * 1j}, "Complex data not supported: column 'x' holds complex numbers"),
    "text among numbers": (
        {"x": objects(1.5, 2.5, None, "w")},
        "column 'x' holds a number (1.5) and then a text ('w') at row 3; convert it to one type",
    ),
    "number among labels": (
        {"kind": objects("p", "q", 3)},
        "column 'kind' holds a text ('p') and then a number (3) at row 2; convert it to one type",
    ),
    "objects": (
        {"x": objects(None, re)},
        "column 'x' holds a module at row 1, which is not a number, a text or a time; convert it",
    ),
    "lists": (
        {"x": [[1]] * 40},
        "column 'x' has the type list<item: int64>, which is not a number, a text or a time; convert it",
    ),
    "no label": ({"kind": objects("p", None)}, "column 'kind' has no label at row 1; add one"),
    "labels of numbers": (
        {"kind": np.arange(40) % 2},
        "column 'kind' holds a number (int64), but it held a text (large_string) in {first}; " + ONE_TYPE,
    ),
}


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_names_the_part_the_column_and_the_cure(what, model, source):
    changed, refusal = REFUSED[what]
    refusal = re.escape(f"{PART[source]}: {refusal.replace('{first}', FIRST[source])}")
    with pytest.raises(ValueError, match=f"^{refusal}"):
        model.fit_from(SOURCES[source](parts(**changed)), target="kind")


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_part_that_lacks_a_column_is_named(model, source):
    frames = parts()
    frames[2] = frames[2].drop(columns="x")
    with pytest.raises(ValueError, match=rf"^{PART[source]}: there is no column 'x'; the columns are 'k'"):
        model.fit_from(SOURCES[source](frames), target="kind")


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_column_that_dask_cannot_select_is_named(model):
    frames = parts()
    frames[2] = frames[2].drop(columns="x")
    refusal = (
        "partition.* of the Dask DataFrame: there is no column 'x'; give all partitions the same columns"
    )
    with pytest.raises(ValueError, match=refusal):
        model.fit_from(lazy(frames), target="kind", drop=["k"])


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize(
    "column, before, now",
    [
        ("k", ("boolean", lambda k: k == 0), ("number", lambda k: k % 2)),
        ("kind", ("boolean", lambda kind: kind == "p"), ("number", lambda kind: (kind == "p") * 1)),
        ("kind", ("number", lambda kind: (kind == "p") * 1), ("boolean", lambda kind: kind == "p")),
    ],
    ids=["column", "labels", "labels of numbers"],
)
def test_partitions_that_hold_other_kinds_are_named(column, before, now, model):
    frames = [frame.assign(**{column: before[1](frame[column])}) for frame in parts()]
    frames[2][column] = now[1](parts()[2][column])
    refusal = f"{PART['dask']}: column '{column}' holds a {now[0]} .*, but it held a {before[0]} .* in "
    with pytest.raises(ValueError, match=refusal + f"{FIRST['dask']}; {ONE_TYPE}"):
        model.fit_from(lazy(frames), target="kind")


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_an_infinite_cell_is_named_with_its_part_and_row(model, source):
    x = np.arange(40.0)
    x[7] = np.inf
    with pytest.raises(ValueError, match=rf"^{PART[source]}[^:]*: column 'x' contains .* inf at row 7;"):
        model.fit_from(SOURCES[source](parts(x=x)), target="kind")


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
def test_a_gap_in_a_regression_is_named_with_its_part_and_row(source):
    x = np.arange(40.0)
    x[7] = np.nan
    with pytest.raises(ValueError, match=rf"^{PART[source]}[^:]*: column 'x' has missing .* at row 7, which"):
        suffice.LogisticRegression().fit_from(SOURCES[source](parts(x=x)), target="kind")


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_weight_that_is_refused_is_placed_once(model, source):
    frames = [frame.assign(w=1.0) for frame in parts()]
    frames[2].loc[3, "w"] = -1.0
    with pytest.raises(
        ValueError, match=rf"^column 'w' is -1\.0 at row 3 of {PART[source]}; weights must be"
    ):
        model.fit_from(SOURCES[source](frames), target="kind", weight="w")


@pytest.mark.parametrize("source", SOURCES)
def test_two_columns_of_one_name_are_refused(source):
    frames = [pd.concat([frame, frame[["x"]]], axis=1) for frame in parts()]
    with pytest.raises(
        ValueError, match=r"has two columns 'x'; rename one|names \['x'\] occur more than once"
    ):
        suffice.BayesClassifier().fit_from(SOURCES[source](frames), target="kind")


@pytest.mark.usefixtures("few_first")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "k",
    [
        [2**64 + i for i in range(40)],
        [10**40 + i for i in range(40)],
        np.arange(2**63, 2**63 + 40, dtype=np.uint64),
        [2.5, 2**70] * 20,
        pd.arrays.SparseArray([0, 0, 0, 7] * 10),
    ],
    ids=["21 digits", "41 digits", "unsigned", "decimals", "sparse"],
)
def test_numbers_of_any_size_are_read_as_in_memory(k, source):
    frames = parts(k=pd.Series(k, dtype=object) if isinstance(k, list) else k)
    whole = pd.concat(frames, ignore_index=True).assign(kind=lambda rows: rows.kind.astype(object))
    found = suffice.summarize(SOURCES[source](frames), target="kind", families="normal")
    assert found.isclose(suffice.summarize(whole, target="kind", families="normal"))
    for model in MODELS[1:]:
        assert model.fit_from(SOURCES[source](frames), target="kind").classes_.tolist() == ["p", "q"]


def test_what_cannot_be_answered_is_named_with_its_partition_and_row():
    frames = parts()
    model = suffice.LogisticRegression().fit_from(frames, target="kind")
    frames[2].loc[7, "x"] = np.nan
    with pytest.raises(ValueError, match=rf"^{PART['dask']}: column 'x' has missing .* at row 7, which"):
        model.predict_from(lazy(frames)).compute()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_pairs_whose_columns_are_others_are_refused(model):
    first, second, *_ = parts()
    for others in (["k"], ["k", "x"]):
        pairs = [(first[["x", "k"]], first.kind), (second[others], second.kind)]
        with pytest.raises(
            ValueError, match=r"^batch 1: The feature names should match those that were passed"
        ):
            model.fit_from(pairs)


DICTS = {
    "names that are alike as text": (
        {1: [1.0, 2.0], "1": [3.0, 4.0]},
        "the column names ['1'] occur more than once; rename the columns",
    ),
    "a list among numbers": (
        {"a": [1.0, [2.0]]},
        "column 'a' holds a number (1.0) and then a list ([2.0]) at row 1; convert it to one type",
    ),
    "an array among numbers": (
        {"a": [1.0, np.ones(2)]},
        "column 'a' holds a number (1.0) and then a ndarray (array([1., 1.])) at row 1",
    ),
    "lists": (
        {"a": [[1.0], [2.0]]},
        "column 'a' has the type list<item: double>, which is not a number, a text or a time; convert it",
    ),
    "one text": ({"a": "pq"}, "column 'a' is a str, not a list or array of cells"),
    "no cells": ({"a": 3}, "column 'a' is an int, not a list or array of cells"),
}


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("what", DICTS)
def test_dicts_that_are_no_tables_are_refused(what, at):
    odd, words = DICTS[what]
    pairs = [({name: [1.0, 2.0] for name in odd}, [0, 1])] * 2
    pairs[at] = odd, [0, 1]
    if at and len(odd) > 1:  # the first batch cannot have these names either
        pairs[0] = {"1": [1.0, 2.0]}, [0, 1]
    with pytest.raises(ValueError, match="^" + re.escape(f"batch {at}: {words}")):
        suffice.BayesClassifier().fit_from(pairs)


def test_dicts_may_hold_numbers_of_any_size():
    pairs = [({"a": [2**70, None, 3, 4]}, [0, 1, 0, 1])]
    assert suffice.BayesClassifier().fit_from(pairs).statistics_.n_rows == 4


BLOCK = "block 1 of the Dask Array"


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("narrow", [0, 1])
def test_a_block_with_other_columns_than_declared_is_named(model, narrow):
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.arange(80) % 2
    parts = [X[:40], X[40:]]
    parts[narrow] = parts[narrow][:, :2]
    declared = [da.from_delayed(dask.delayed(part), (40, 3), float) for part in parts]
    words = (
        rf"^block {narrow} of the Dask Array: its shape is \(40, 2\), but .* declared with 3 columns; give"
    )
    with pytest.raises(ValueError, match=words):
        model.fit(da.concatenate(declared), da.from_array(y, chunks=40))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_labels_of_another_kind_are_named_with_their_blocks(model):
    X = da.from_array(np.random.default_rng(0).normal(size=(80, 3)), chunks=(40, 3))
    y = np.array([0, 1] * 20 + ["p", "q"] * 20, dtype=object)
    words = rf"^{BLOCK}: y holds text .*, but it held numbers .* in block 0 of the Dask Array; convert it"
    with pytest.raises(ValueError, match=words):
        model.fit(X, da.from_array(y, chunks=40))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_nested_cells_are_named_with_their_batch_or_block_and_row(model):
    X, y = np.random.default_rng(0).normal(size=(80, 3)).astype(object), np.arange(80) % 2
    X[47, 1] = [1.0, 2.0]
    words = (
        "column 1 of X holds a list at row 7, but every cell of this argument must be a string or a number"
    )
    with pytest.raises(TypeError, match=f"^batch 1: {words}"):
        model.fit_from([(X[:40], y[:40]), (X[40:], y[40:], np.arange(40) % 3)])
    with pytest.raises(TypeError, match=f"^{BLOCK}: {words}"):
        model.fit(da.from_array(X, chunks=(40, 3)), da.from_array(y, chunks=40))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_batch_that_is_no_pair_is_named(model):
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.arange(80) % 2
    words = r"pass a tuple \(X, y\) or \(X, y, weights\), got "
    for odd, got in (((X, y, None, None), "a tuple of 4"), ((X,), "a tuple of 1"), ([X, y], "a list")):
        with pytest.raises(TypeError, match=f"^batch 1: {words}{got}"):
            model.fit_from([(X, y), odd])
    with pytest.raises(TypeError, match=r"^batch 1: y must hold one label per row, got None"):
        model.fit_from([(X, y), (X, None)])
    weighed = [model.fit_from([(X, y, *none)]).predict_proba(X) for none in ([], [None])]
    np.testing.assert_array_equal(*weighed)
