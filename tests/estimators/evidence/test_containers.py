"""The same model from any container, none of which it keeps."""

import gc
import time
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import BayesClassifier, EvidenceClassifier

TABLE, LABELS = suffice.load_penguins()
CONTAINERS = {
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "dict": lambda table: table.to_pydict(),
    "records": lambda table: table.to_pylist(),
}


@pytest.fixture(scope="module")
def model():
    return EvidenceClassifier().fit(TABLE, LABELS)


@pytest.mark.parametrize("name", CONTAINERS)
def test_any_container_gives_the_same_posteriors(name, model):
    rows = CONTAINERS[name](TABLE)
    expected = model.predict_proba(TABLE)
    np.testing.assert_array_equal(model.predict_proba(rows), expected)
    fitted = EvidenceClassifier().fit(rows, LABELS)
    np.testing.assert_allclose(fitted.predict_proba(TABLE), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_labels_may_be_a_column_of_the_frame(name, model):
    frame = CONTAINERS[name](TABLE.append_column("species", pa.array(LABELS)))
    fitted = EvidenceClassifier().fit(frame, "species")
    np.testing.assert_array_equal(fitted.predict_proba(TABLE), model.predict_proba(TABLE))
    assert fitted.score(frame, "species") == model.score(TABLE, LABELS)


@pytest.mark.parametrize("name, kind", [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_table_of_weights_comes_in_the_library_of_the_rows(name, kind):
    rows = CONTAINERS[name](TABLE)
    frame = EvidenceClassifier(pieces=["columns"]).fit(rows, LABELS).weights_.to_frame()
    assert type(frame) is kind
    assert list(frame.columns) == ["evidence", "about", "weight", "nats"]


def test_rows_are_freed_without_the_garbage_collector(model):
    """Batches of files would pile up until it runs. A thread that comes late may hold rows for a moment."""
    simple = BayesClassifier()
    fit, more = (lambda X: simple.fit(X, LABELS)), (lambda X: simple.partial_fit(X, LABELS))
    gc.collect()
    gc.disable()
    try:
        for use in (fit, more, simple.predict_proba, model.predict_proba):
            rows = TABLE.slice(0)
            left = weakref.ref(rows)
            use(rows)
            del rows
            for _ in range(1000):
                if left() is None:
                    break
                time.sleep(0.01)
            assert left() is None
    finally:
        gc.enable()
