"""Small batches of rows and labels: the first ones together decide what the columns are."""

import dask.array as da
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
    assert joined([rows, LabelledBatch(X.astype(int), y.astype(float), None), rows]) == [18]
    for other in (
        LabelledBatch(X[:, :2], y, None),
        LabelledBatch(X[:5], y, None),
        LabelledBatch(X.astype(str), y, None),
        LabelledBatch(sparse.csr_array(X), y, None),
        LabelledBatch(X.tolist(), y, None),
        LabelledBatch(X, y.astype(str), None),
        LabelledBatch(X, y > 0, None),
        LabelledBatch(X, y, np.ones(6)),
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
