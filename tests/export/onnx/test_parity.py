"""What onnxruntime computes is what the library computes."""

import numpy as np
import pandas as pd
import pytest

import suffice

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

TYPES = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(int64)": np.int64}


def in_float32(frame):
    """The same rows with numbers that float32 can hold."""
    numbers = [name for name in frame.columns if frame[name].dtype == np.float64]
    return frame.assign(**{name: frame[name].astype(np.float32).astype(np.float64) for name in numbers})


def run(model, frame, **settings):
    session = onnxruntime.InferenceSession(
        model.to_onnx(**settings).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {}
    for one in session.get_inputs():
        if one.name == "X":
            feed["X"] = frame.to_numpy(dtype=TYPES[one.type])
        elif one.type == "tensor(string)":
            text = ["" if pd.isna(value) else value for value in frame[one.name]]
            feed[one.name] = np.array(text, dtype=object)[:, np.newaxis]
        else:
            feed[one.name] = frame[one.name].to_numpy(dtype=TYPES[one.type])[:, np.newaxis]
    return session.run(["label", "probabilities"], feed)


def test_posteriors_in_onnxruntime_are_those_of_predict_proba(case):
    _, posterior = run(case.model, case.rows)
    assert posterior.dtype == np.float64
    np.testing.assert_allclose(posterior, case.model.predict_proba(case.table), rtol=0, atol=1e-9)


def test_posteriors_in_float32_are_those_of_predict_proba(case):
    rows = in_float32(case.rows)
    _, posterior = run(case.model, rows, dtype="float32")
    assert posterior.dtype == np.float32
    table = rows.to_numpy() if case.as_array else rows
    np.testing.assert_allclose(posterior, case.model.predict_proba(table), rtol=0, atol=1e-5)


def test_labels_in_onnxruntime_are_those_of_predict(case):
    labels, posterior = run(case.model, case.rows)
    ordered = np.sort(posterior, axis=1)
    decided = ordered[:, -1] - ordered[:, -2] > 1e-12
    assert decided.mean() > 0.5
    assert labels[decided].tolist() == case.model.predict(case.table)[decided].tolist()


def test_a_gap_in_a_large_joint_block_gives_nan_where_asked(large_block):
    model, rows = large_block.model, large_block.rows
    whole = rows.notna().all(axis=1).to_numpy()
    _, posterior = run(model, rows, missing="null")
    assert np.isnan(posterior[~whole]).all()
    np.testing.assert_allclose(posterior[whole], model.predict_proba(large_block.table[whole]), atol=1e-9)


@pytest.mark.parametrize(
    "labels, none",
    [
        (["a", "b", "c"], ""),
        ([1.0, 2.0, 3.0], np.nan),
        ([0, 1, 2], -(2**63)),
        (np.array([0, 1, 2], dtype=np.uint8), -(2**63)),
        (np.array([0, 1, 2], dtype=np.uint64), 2**64 - 1),
        ([False, True, True], False),
    ],
)
def test_a_row_without_probabilities_has_a_label_that_is_no_class(large_block, labels, none):
    y = np.asarray(labels)[np.arange(len(large_block.rows)) % 3]
    model = suffice.GaussianDiscriminant("full").fit(large_block.rows.fillna(0.0), y)
    whole = large_block.rows.notna().all(axis=1).to_numpy()
    found, _ = run(model, large_block.rows, missing="null")
    np.testing.assert_array_equal(found[~whole], np.full((~whole).sum(), none, dtype=found.dtype))
    assert set(found[whole].tolist()) <= set(model.classes_.tolist())
