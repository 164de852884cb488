"""Lone surrogates in labels, levels and names: files hold them, and what cannot says so by name."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, LogisticRegression
from suffice.families import Categorical, Words

from .conftest import loaded, saved

ODD = "x\ud800"


def table(n=40):
    rng = np.random.default_rng(0)
    y = np.array([ODD, "b"] * (n // 2), dtype=object)
    levels = rng.choice(np.array([ODD, "u"], dtype=object), n)
    X = pd.DataFrame({0: pd.Series(levels, dtype=object), 1: rng.normal(size=n)})
    X[2] = pd.Series([f"some {ODD} text"] * n, dtype=object)
    X.columns = pd.Index([ODD, "size" + ODD, "note"], dtype=object)
    return X, y


def fitted():
    X, y = table()
    return BayesClassifier({ODD: Categorical(), "note": Words()}).fit(X, y), X


def test_a_file_holds_labels_levels_and_names_with_lone_surrogates():
    model, X = fitted()
    again = loaded(saved(model))
    assert saved(again) == saved(model)
    assert ODD in again.classes_
    assert again.schema_.names == model.schema_.names
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert list(again.sample(3, random_state=0)[0].columns) == list(X.columns)


def test_what_is_printed_can_be_written_anywhere():
    model, X = fitted()
    regression = LogisticRegression().fit(X.iloc[:, [1]], table()[1])
    gaussian = GaussianDiscriminant().fit(X.iloc[:, [1]], table()[1])
    explanation = model.explain(X[:2])
    printed = [
        repr(model),
        repr(model.schema_),
        repr(model.statistics_),
        repr(model.evidence()),
        repr(explanation),
        explanation.describe(1),
        repr(model.adapt_priors(X).prior_shift_),
        repr(regression.summary()),
        repr(gaussian.boundary("b", ODD)),
        repr(suffice.evaluate(model, X, table()[1])),
    ]
    for text in printed:
        assert text.encode().decode() == text
    assert "x\\ud800" in explanation.describe(1)


def test_frames_hold_lone_surrogates_as_escapes():
    model, X = fitted()
    assert "x\\ud800" in set(model.explain(X[:2]).to_frame()["column"])


@pytest.mark.parametrize("write", [lambda model: model.to_sql("t"), lambda model: model.to_onnx()])
def test_an_export_that_cannot_hold_a_name_names_it(write):
    X, _ = table()
    model = BayesClassifier({ODD: Categorical()}).fit(X.iloc[:, [0, 1]], np.array(["a", "b"] * 20))
    with pytest.raises(ValueError, match=r"the name 'x\\ud800' cannot be .*; rename the column"):
        write(model)


@pytest.mark.parametrize("deed", ["save", "load"])
def test_a_path_that_cannot_be_is_refused_by_name(deed):
    path = "model\ud800.suffice"
    model = BayesClassifier().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"'model\\ud800.suffice' cannot be the name of a file"):
        model.save(path) if deed == "save" else suffice.load(path)


def test_a_path_that_the_system_decoded_with_escapes_is_taken(tmp_path):
    path = str(tmp_path / "model\udcff.suffice")
    model = BayesClassifier().fit([[1.0], [2.0]], [0, 1])
    try:
        model.save(path)
    except OSError:
        pytest.skip("names of files are Unicode here")
    assert saved(suffice.load(path)) == saved(model)
