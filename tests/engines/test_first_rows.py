"""Small batches of rows and labels: the first ones together decide what the columns are."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import suffice
from suffice.engines.first_rows import FirstJoined
from suffice.tables.files.batches import LabelledBatch


def numbers(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    return np.column_stack([rng.normal(y, 1.0), rng.gamma(2.0, 1.0 + y), rng.poisson(2.0 + y)]), y


def joined(batches):
    """How many rows each batch has that comes out."""
    return [len(batch.y) for batch in FirstJoined((f"batch {i}", one) for i, one in enumerate(batches))]


@pytest.mark.parametrize("size", [3, 250])
@pytest.mark.parametrize("model", [suffice.BayesClassifier(), suffice.EvidenceClassifier()], ids=str)
def test_small_batches_give_the_model_of_all_rows(model, size):
    X, y = numbers()
    frame, labels = pd.DataFrame(X, columns=list("abc")), np.array(["x", "y", "z"])[y]
    pairs = [(frame[i : i + size], labels[i : i + size]) for i in range(0, len(y), size)]
    found, expected = (
        model.fit_from(pairs).predict_proba(frame),
        model.fit(frame, labels).predict_proba(frame),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_small_blocks_of_arrays_give_the_model_of_all_rows():
    X, y = numbers()
    found = suffice.EvidenceClassifier().fit(da.from_array(X, chunks=(3, 3)), da.from_array(y, chunks=50))
    expected = suffice.EvidenceClassifier().fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_batches_are_joined_as_long_as_they_are_of_one_kind():
    X, y = numbers(6)
    rows = LabelledBatch(X, y, None)
    assert joined([rows, rows]) == [12]
    assert joined([rows, LabelledBatch(X, y, np.ones(6))]) == [12]
    assert joined([rows, LabelledBatch(X.astype(int), y.astype(float), None), rows]) == [18]
    for other in (
        LabelledBatch(X[:, :2], y, None),
        LabelledBatch(X[:5], y, None),
        LabelledBatch(X.astype(str), y, None),
        LabelledBatch(sparse.csr_array(X), y, None),
        LabelledBatch(X.tolist(), y, None),
        LabelledBatch(X, y.astype(str), None),
        LabelledBatch(X, y > 0, None),
        LabelledBatch(X, y, np.ones(5)),
    ):
        assert joined([rows, rows, other, rows]) == [12, 6, 6]


def test_a_column_without_values_joins_any_other():
    y = [0, 1, 0]
    frames = [pd.DataFrame({"a": cells}) for cells in ([None] * 3, [1.0, 2.0, 3.0], ["x", "y", "z"])]
    pairs = [(frame, y) for frame in frames[:2]]
    assert suffice.BayesClassifier().fit_from(pairs).statistics_.n_rows == 6
    with pytest.raises(ValueError, match=r"^batch 2: column 'a'"):
        suffice.BayesClassifier().fit_from([*pairs, (frames[2], y)])


def test_what_is_wrong_in_the_first_batches_is_named_by_its_batch():
    X, y = numbers(60)
    pairs = [(X[i : i + 20].copy(), y[i : i + 20].astype(float)) for i in (0, 20, 40)]
    pairs[1][0][7, 2] = np.inf
    empty = (X[:0], y[:0])
    for model in (suffice.BayesClassifier(), suffice.EvidenceClassifier()):
        with pytest.raises(ValueError, match=r"^batch 2: column 2 contains the infinite value inf at row 7"):
            model.fit_from([pairs[0], empty, *pairs[1:]])
    pairs[1][0][7, 2] = 1.0
    pairs[2][1][3] = np.nan
    with pytest.raises(ValueError, match=r"^batch 2: y.*row 3"):
        suffice.BayesClassifier().fit_from(pairs)


def test_a_column_of_another_kind_or_that_arrow_cannot_hold_is_named_by_its_batch():
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), [0, 1, 0]
    days = pd.DataFrame({"a": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])})
    for model in (suffice.BayesClassifier(), suffice.LogisticRegression()):
        with pytest.raises(ValueError, match=r"^batch 1: column 'a' holds a time .*number .* in batch 0"):
            model.fit_from([(X, y), (days, y)])
        with pytest.raises(ValueError, match=r"^batch 1: Complex data not supported: column 'a'"):
            model.fit_from([(X, y), (X * 1j, y)])


def held_in(form, X):
    """The same cells in another form."""
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["c"] = np.array(list("uvwxyz"))[frame.c.astype(int) % 6]
    return {
        "lists": lambda part: X[part].tolist(),
        "dicts": lambda part: dict(frame[part]),
        "categories in the second": lambda part: frame[part].astype({"c": "category"} if part.start else {}),
    }[form]


@pytest.mark.parametrize("form", ["lists", "dicts", "categories in the second"])
def test_batches_of_any_form_give_the_model_of_all_rows(form):
    X, y = numbers(120)
    of = held_in(form, X)
    parts = slice(0, 40), slice(40, 120)
    found = suffice.EvidenceClassifier().fit_from([(of(part), y[part]) for part in parts])
    whole = of(slice(0, 120))
    expected = suffice.EvidenceClassifier().fit(whole, y)
    np.testing.assert_allclose(found.predict_proba(whole), expected.predict_proba(whole), atol=1e-12)


@pytest.mark.parametrize("model", [suffice.EvidenceClassifier(), suffice.LogisticRegression()], ids=str)
def test_rows_without_weights_beside_others_have_the_weight_one(model):
    X, y = numbers(90)
    pairs = [(X[:40], y[:40]), (X[40:], y[40:], np.full(50, 2.0))]
    found, whole = (
        model.fit_from(pairs).predict_proba(X),
        model.fit(X, y, np.r_[np.ones(40), np.full(50, 2.0)]),
    )
    np.testing.assert_allclose(found, whole.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", [suffice.BayesClassifier(), suffice.EvidenceClassifier()], ids=str)
def test_arrays_of_another_kind_are_refused(model):
    X, y = numbers(60)
    for other, words in ((X[30:].astype("M8[s]"), "times"), (X[30:] > 0, "booleans")):
        with pytest.raises(ValueError, match=rf"^batch 1: X holds {words} .*, but it held numbers"):
            model.fit_from([(X[:30], y[:30]), (other, y[30:])])


def test_evidence_is_not_kept_in_two_forms():
    X, y = numbers(60)
    with pytest.raises(ValueError, match=r"^batch 1: the batches hold .* a ndarray and in a csr_array"):
        suffice.EvidenceClassifier().fit_from([(X[:30], y[:30]), (sparse.csr_array(X[30:]), y[30:])])


@pytest.mark.parametrize("first", ["dense", "sparse"])
@pytest.mark.parametrize("are_held", [True, False])
def test_a_regression_reads_dense_and_sparse_batches(first, are_held, monkeypatch):
    if not are_held:
        monkeypatch.setattr("suffice.estimators.regression.rows.HELD_BYTES", 0)
    monkeypatch.setattr("suffice.estimators.regression.design.CELLS_PER_BLOCK", 1)  # blocks of LEAST_ROWS
    X, y = numbers(900)
    X = X[:, 2:] + [0.0, 1.0]
    one, other = X[:400], sparse.csr_array(X[400:])
    one, other = (one, other) if first == "dense" else (sparse.csr_array(one), X[400:])
    pairs = [(one, y[:400]), (other, y[400:], np.full(500, 2.0)), (one, y[:400])]
    found = suffice.LogisticRegression().fit_from(pairs)
    rows, weights = np.r_[X, X[:400]], np.r_[np.ones(400), np.full(500, 2.0), np.ones(400)]
    expected = suffice.LogisticRegression().fit(rows, np.r_[y, y[:400]], weights)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [suffice.BayesClassifier(), suffice.EvidenceClassifier(), suffice.LogisticRegression()],
    ids=str,
)
def test_a_row_is_counted_in_its_part_though_some_weigh_nothing(model, tmp_path):
    X, y = numbers(240)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=np.arange(240) % 4 > 0)
    frame.loc[183, "a"] = np.inf
    path = tmp_path / "rows.parquet"
    frame.astype({"w": float}).to_parquet(path)
    with pytest.raises(ValueError, match=r"rows.parquet: column 'a' .* at row 183;"):
        model.fit_from(path, target="y", weight="w")
    parts = [frame[at : at + 80] for at in (0, 80, 160)]
    with pytest.raises(ValueError, match=r"batch 2: column 'a' .* at row 23;"):
        model.fit_from(parts, target="y", weight="w")
    with pytest.raises(ValueError, match=r"partition 2 of the Dask DataFrame: column 'a' .* at row 23;"):
        model.fit_from(dd.from_pandas(frame, npartitions=3, sort=False), target="y", weight="w")
