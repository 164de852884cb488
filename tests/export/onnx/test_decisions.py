"""Decisions and drop-ins in onnxruntime: what `predict` decides, and no result where it refuses."""

import numpy as np
import pandas as pd
import pytest

import suffice

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(model, frame):
    session = onnxruntime.InferenceSession(
        model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    inputs = [one.name for one in session.get_inputs()]
    feed = {name: frame[[name]].to_numpy(dtype=np.float64) for name in inputs if name != "X"}
    return session.run(["label", "probabilities"], feed or {"X": frame.to_numpy(dtype=np.float64)})


def test_decisions_in_onnxruntime_are_those_of_predict(decision, decided):
    labels, posterior = run(decision.model, decision.rows)
    clear = decided(decision.model, decision.table)
    assert clear.mean() > 0.5
    expected = decision.model.predict(decision.table)
    assert labels[clear].tolist() == expected[clear].tolist()
    np.testing.assert_allclose(posterior, decision.model.predict_proba(decision.table), rtol=0, atol=1e-9)


def test_a_row_that_predict_refuses_has_no_posterior(refusing):
    for model, rows in refusing:
        labels, posterior = run(model, rows)
        assert np.isnan(posterior[[1, 2]]).all()
        assert labels[[1, 2]].tolist() == [-(2**63)] * 2
        kept = rows.to_numpy()[[0, 3]]
        np.testing.assert_allclose(posterior[[0, 3]], model.predict_proba(kept), atol=1e-9)


def test_fractions_of_categories_are_cut_off_as_in_predict(refusing):
    model = refusing[-2][0]
    rows = pd.DataFrame({"x0": [0.5, 1.75], "x1": [1.0, 0.25]})
    np.testing.assert_allclose(run(model, rows)[1], model.predict_proba(rows.to_numpy()), atol=1e-12)


@pytest.mark.parametrize("reject_cost", [None, 0.4])
def test_a_row_that_has_no_posterior_is_no_decision(refusing, reject_cost):
    for model, rows in refusing:
        costs = suffice.CostSensitive(
            model, [[0.0, 5.0], [1.0, 0.0]], reject_cost=reject_cost, reject_label=-1
        )
        labels, posterior = run(costs, rows)
        assert np.isnan(posterior[[1, 2]]).all()
        assert labels[[1, 2]].tolist() == [-(2**63)] * 2
