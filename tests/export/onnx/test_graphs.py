"""The shape of a graph: its inputs, outputs and names."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Categorical, ElementaryFunction, Family, Gamma, Normal, Poisson

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def session_of(model, **settings):
    return onnxruntime.InferenceSession(
        model.to_onnx(**settings).SerializeToString(), providers=["CPUExecutionProvider"]
    )


def two_classes(labels, names=("v",)):
    X = pd.DataFrame({name: [0.0, 0.1, 5.0, 5.1] for name in names})
    return suffice.BayesClassifier(families=Normal()).fit(X, np.repeat(np.array(labels), 2)), X


def columns_of(frame):
    return {name: frame[[name]].to_numpy(dtype=np.float64) for name in frame.columns}


@pytest.mark.parametrize("dtype, word", [("float64", "tensor(double)"), ("float32", "tensor(float)")])
def test_a_model_of_an_array_has_one_input(dtype, word):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    session = session_of(suffice.BayesClassifier().fit(X, rng.integers(0, 2, 40)), dtype=dtype)
    (only,) = session.get_inputs()
    assert (only.name, only.type, only.shape[1]) == ("X", word, 3)
    assert [out.name for out in session.get_outputs()] == ["label", "probabilities"]


def test_a_model_of_a_table_has_one_input_for_each_column_it_reads():
    X = pd.DataFrame(
        {"size": [1.0, 2.0, 3.0, 4.5], "colour": ["red", "blue", "red", "blue"], "same": [7.0] * 4}
    )
    families = {"size": Normal(), "colour": Categorical(), "same": Normal()}
    session = session_of(suffice.BayesClassifier(families=families).fit(X, [0, 0, 1, 1]))
    found = {one.name: one.type for one in session.get_inputs()}
    assert found == {"size": "tensor(double)", "colour": "tensor(string)"}


@pytest.mark.parametrize(
    "labels",
    [["ü", "it's\n"], [False, True], [-(2**62) - 1, 2**62 + 1], np.array([3, 2**64 - 1], dtype=np.uint64)],
    ids=["text", "booleans", "beyond 2^53", "unsigned"],
)
def test_labels_come_back_as_they_were(labels):
    model, X = two_classes(labels)
    found, _ = session_of(model).run(None, columns_of(X))
    assert found.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", ["label", "probabilities", "/v3", "/", "X", "c0", 'a"; --', "ü"])
def test_a_column_may_be_called_anything(name):
    model, X = two_classes(["a", "b"], names=(name, f"{name}2"))
    session = session_of(model)
    labels, posterior = session.run(None, columns_of(X))
    np.testing.assert_allclose(posterior, model.predict_proba(X), atol=1e-9)
    assert labels.tolist() == model.predict(X).tolist()


def test_a_column_without_a_name_is_refused():
    model, _ = two_classes(["a", "b"], names=("",))
    with pytest.raises(ValueError, match="an empty name"):
        model.to_onnx()


@pytest.mark.parametrize("frame", [False, True])
def test_a_model_that_reads_no_column_gives_the_prior_for_every_row(frame):
    X = np.full((4, 2), 3.0)
    table = pd.DataFrame(X, columns=["one", "two"]) if frame else X
    model = suffice.BayesClassifier(families=Normal()).fit(table, ["a", "b", "b", "b"])
    session = session_of(model)
    feed = {"one": X[:, :1]} if frame else {"X": X}
    labels, posterior = session.run(None, feed)
    np.testing.assert_allclose(posterior, model.predict_proba(table), atol=1e-12)
    assert labels.tolist() == ["b"] * 4


def test_no_rows_give_no_posteriors(case):
    session = session_of(case.model, missing="null")
    types = {
        "tensor(double)": np.float64,
        "tensor(int64)": np.int64,
        "tensor(string)": object,
    }
    feed = {one.name: np.empty((0, one.shape[1]), types[one.type]) for one in session.get_inputs()}
    labels, posterior = session.run(None, feed)
    assert len(labels) == 0
    assert posterior.shape == (0, len(case.model.classes_))


@pytest.mark.parametrize("named", [False, True])
def test_columns_of_one_form_are_computed_together(named):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    X = np.ceil(rng.gamma(2.0, 1.0 + y[:, np.newaxis], size=(60, 80)))
    X[rng.random(X.shape) < 0.1] = np.nan
    names = [f"c{j}" for j in range(80)]
    table = pd.DataFrame(X, columns=names) if named else X
    mixed = {name if named else j: (Normal(), Gamma(), Poisson())[j % 3] for j, name in enumerate(names)}
    for families in (Normal(), Gamma("shared"), mixed):
        model = suffice.BayesClassifier(families=families).fit(table, y)
        assert len(model.to_onnx().graph.node) < 120
        feed = columns_of(table) if named else {"X": X}
        _, posterior = session_of(model).run(None, feed)
        np.testing.assert_allclose(posterior, model.predict_proba(table), atol=1e-9)


def test_a_wide_regression_is_one_product():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(50, 200)), columns=[f"c{j}" for j in range(200)])
    model = suffice.LogisticRegression().fit(X, rng.integers(0, 3, 50))
    assert len(model.to_onnx().graph.node) < 30
    _, posterior = session_of(model).run(None, columns_of(X))
    np.testing.assert_allclose(posterior, model.predict_proba(X), atol=1e-9)


def test_an_empty_text_is_missing_unless_it_is_a_level():
    X = pd.DataFrame({"level": pd.Series(["a", "b", "a", "b"], dtype=object)})
    model = suffice.BayesClassifier(families=Categorical(unseen="smooth")).fit(X, [0, 1, 0, 1])
    _, posterior = session_of(model).run(None, {"level": np.array([[""]], dtype=object)})
    np.testing.assert_allclose(posterior, [model.priors_], atol=1e-12)
    held = pd.DataFrame({"level": pd.Series(["", "b", "", "b"], dtype=object)})
    model = suffice.BayesClassifier(families=Categorical()).fit(held, [0, 1, 0, 1])
    _, posterior = session_of(model).run(None, {"level": np.array([[""]], dtype=object)})
    np.testing.assert_allclose(posterior, model.predict_proba(held.iloc[:1]), atol=1e-12)


def test_a_graph_says_who_made_it_and_passes_the_checker(case):
    model = case.model.to_onnx()
    onnx.checker.check_model(model, full_check=True)
    assert model.producer_name == "suffice"


def test_a_text_that_is_no_utf8_is_refused_as_a_class_and_never_met_as_a_level():
    X = pd.DataFrame({"level": pd.Series(["a", "b\ud800", "a", "b\ud800"], dtype=object)})
    model = suffice.BayesClassifier(families=Categorical()).fit(X, [0, 1, 0, 1])
    _, posterior = session_of(model).run(None, {"level": np.array([["a"], ["c"]], dtype=object)})
    rows = pd.DataFrame({"level": pd.Series(["a", "c"], dtype=object)})
    np.testing.assert_allclose(posterior, model.predict_proba(rows), atol=1e-12)
    named = suffice.BayesClassifier(families=Categorical()).fit(
        X, np.array(["x", "y\ud800"] * 2, dtype=object)
    )
    with pytest.raises(ValueError, match="not valid UTF-8"):
        named.to_onnx()
    with pytest.raises(ValueError, match="cannot be written as text in duckdb"):
        named.to_sql("rows", output="label")


@dataclass(frozen=True, repr=False)
class AboveOne(Family):
    """λ = E[x > 1]."""

    functions = (ElementaryFunction("above 1", lambda x: x > 1),)

    def log_normalizer(self, natural, origin):
        return 0.0 * natural[0]

    def natural_from_mean(self, mean, origin):
        return mean


def test_a_comparison_as_ones_own_function_is_zero_or_one():
    rows = pd.DataFrame({"x": [0.0, 2.0, 0.5, 3.0, 4.0, 5.0, np.nan]})
    model = suffice.BayesClassifier(families=AboveOne()).fit(rows, [0, 0, 0, 1, 1, 0, 1])
    _, found = session_of(model).run(None, columns_of(rows))
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)
