"""Bad input: one or two sentences that name the column, the value and the cure; the model stays as it was."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from suffice import BayesClassifier, EvidenceClassifier, GaussianDiscriminant, LogisticRegression, summarize
from suffice.families import Bernoulli, Beta, Binomial, Gamma, Multinomial, Normal, Poisson

X = np.array([[1.0, 0.0], [2.0, 1.0], [5.0, 1.0], [6.0, 0.0]])
Y = np.array([0, 0, 1, 1])
NAN, INF = np.nan, np.inf


def cell(value, row=2, column=0):
    """X with one cell changed."""
    changed = X.astype(object if isinstance(value, str) else np.result_type(X, type(value)))
    changed[row, column] = value
    return changed


def frame(array):
    return pd.DataFrame({"age": list(array[:, 0]), "flag": list(array[:, 1])})


# families, X, y, sample_weight, words that the message must hold
BAD = {
    "plus infinity": (Normal(), cell(INF), Y, None, ["column 0", "inf", "row 2", "NaN"]),
    "minus infinity": (Normal(), cell(-INF, column=1), Y, None, ["column 1", "-inf", "row 2"]),
    "infinity in a frame": (Normal(), frame(cell(INF)), Y, None, ["'age'", "inf", "row 2"]),
    "infinity in float32": (Normal(), cell(INF).astype(np.float32), Y, None, ["column 0", "inf"]),
    "infinity in a sparse matrix": (
        Normal(),
        sparse.csr_array(cell(INF)),
        Y,
        None,
        ["column 0", "inf", "row 2"],
    ),
    "infinity in csc": (Normal(), sparse.csc_array(cell(INF, 3, 1)), Y, None, ["column 1", "inf", "row 3"]),
    "infinity among categories": ("categorical", cell(INF), Y, None, ["column 0", "inf"]),
    "complex": (Normal(), X.astype(complex), Y, None, ["omplex"]),
    "complex in a frame": (Normal(), frame(X.astype(complex)), Y, None, ["omplex", "'age'"]),
    "ragged": (Normal(), [[1.0, 0.0], [2.0], [5.0, 1.0], [6.0, 0.0]], Y, None, ["same number"]),
    "three dimensions": (Normal(), X[:, :, np.newaxis], Y, None, ["3"]),
    "one dimension": (Normal(), X[:, 0], Y, None, ["reshape"]),
    "no dimension": (Normal(), 3.0, Y, None, []),
    "no columns": (Normal(), X[:, :0], Y, None, ["0 feature"]),
    "no columns in a frame": (Normal(), frame(X).iloc[:, :0], Y, None, ["0 feature"]),
    "text": (Normal(), cell("tall"), Y, None, ["column 0", "'tall'"]),
    "text in a frame": (Normal(), frame(cell("tall")), Y, None, ["'age'", "'tall'", "Categorical"]),
    "nested cells": (
        "infer",
        pd.DataFrame({"age": [[1], [2], [3], [4]], "flag": [0, 1, 1, 0]}),
        Y,
        None,
        ["'age'", "list"],
    ),
    "too few labels": (Normal(), X, Y[:3], None, ["4", "3"]),
    "too many labels": (Normal(), X, [0, 1, 0, 1, 1], None, ["4", "5"]),
    "a missing label": (Normal(), X, [0, NAN, 1, 1], None, ["y", "missing", "row 1"]),
    "a label None": (Normal(), X, [0, 1, None, 1], None, ["y", "missing", "row 2"]),
    "an infinite label": (Normal(), X, [0, 1, INF, 1], None, ["y", "infinite", "row 2"]),
    "a continuous label": (Normal(), X, [0.5, 1.25, 2.75, 0.1], None, []),
    "labels of two columns": (Normal(), X, np.column_stack([Y, Y]), None, ["y", "(4, 2)"]),
    "labels of mixed types": (Normal(), X, ["a", 1, "a", 1], None, ["y", "str", "int"]),
    "no labels": (Normal(), X, None, None, ["y"]),
    "zero weights": (Normal(), X, Y, np.zeros(4), ["sample_weight", "zero"]),
    "a negative weight": (Normal(), X, Y, [1, -2.0, 1, 1], ["sample_weight", "-2", "row 1", "forget"]),
    "a missing weight": (Normal(), X, Y, [1, NAN, 1, 1], ["sample_weight", "nan", "row 1"]),
    "an infinite weight": (Normal(), X, Y, [1, INF, 1, 1], ["sample_weight", "inf", "row 1"]),
    "too few weights": (Normal(), X, Y, [1.0, 1.0], ["sample_weight", "4"]),
    "weights of two columns": (Normal(), X, Y, np.ones((4, 2)), ["sample_weight", "(4, 2)"]),
    "text as weights": (Normal(), X, Y, ["a", "b", "c", "d"], ["sample_weight"]),
    "a negative count": (Poisson(), cell(-3.0), Y, None, ["column 0", "-3", "row 2", "Poisson", "families="]),
    "half a count": (Poisson(), cell(2.5), Y, None, ["column 0", "2.5", "Poisson", "whole"]),
    "a negative count in a frame": (Poisson(), frame(cell(-3.0)), Y, None, ["'age'", "-3", "Poisson"]),
    "a negative sparse count": (
        Poisson(),
        sparse.csr_array(cell(-3.0)),
        Y,
        None,
        ["column 0", "-3", "Poisson"],
    ),
    "two for Bernoulli": (
        {1: Bernoulli()},
        cell(2.0, column=1),
        Y,
        None,
        ["column 1", "2", "Bernoulli", "0 or 1"],
    ),
    "zero for Gamma": ({1: Gamma()}, X, Y, None, ["column 1", "0", "Gamma", "positive"]),
    "one for Beta": ({1: Beta()}, X, Y, None, ["column 1", "Beta"]),
    "seven of five": ({0: Binomial(5)}, cell(7.0), Y, None, ["column 0", "7", "Binomial"]),
    "a negative word count": (Multinomial(), cell(-1.0), Y, None, ["column 0", "-1", "Multinomial"]),
    "a negative sparse word count": (
        Multinomial(),
        sparse.csc_array(cell(-1.0)),
        Y,
        None,
        ["column 0", "-1"],
    ),
    "sparse zeros for Gamma": (Gamma(), sparse.csr_array(X), Y, None, ["sparse", "Gamma", "dense"]),
}


def sentences(message):
    message = re.sub(r"array=\[[^]]*\]", "", message)  # scikit-learn shows the data
    return [part for part in re.split(r"[.!?](?:\s|$)", message) if part.strip()]


def check(message, words):
    assert len(message) < 400, message
    assert "callable" not in message
    assert len(sentences(message)) <= 2, message
    assert all(word in message for word in words), f"{message!r} lacks one of {words}"


@pytest.mark.parametrize("case", BAD)
def test_fit_refuses_and_says_why(case):
    families, bad, y, weights, words = BAD[case]
    with pytest.raises((ValueError, TypeError)) as error:
        BayesClassifier(families=families).fit(bad, y, weights)
    check(str(error.value), words)


@pytest.mark.parametrize("case", BAD)
def test_a_refused_fit_keeps_the_earlier_model(case):
    families, bad, y, weights, _ = BAD[case]
    good = np.vstack([X, X[::-1]])
    model = BayesClassifier(families=Normal()).fit(good, np.tile(Y, 2))
    before = dict(model.__dict__), model.predict_proba(X), model.statistics_
    model.families = families
    with pytest.raises((ValueError, TypeError)):
        model.fit(bad, y, weights)
    assert np.array_equal(model.predict_proba(X), before[1])
    assert model.statistics_ == before[2]
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


SUPPORTED = {"Gamma": [0.25, 0.75, 0.5, 0.125], "Beta": [0.25, 0.75, 0.5, 0.125]}


@pytest.mark.parametrize("case", [case for case in BAD if case != "sparse zeros for Gamma"])
def test_a_refused_batch_keeps_the_earlier_model(case):
    families, bad, y, weights, words = BAD[case]
    good = np.abs(X.copy())
    if isinstance(families, dict) and 1 in families and families[1].name in SUPPORTED:
        good[:, 1] = SUPPORTED[families[1].name]
    if isinstance(families, dict) and 0 in families:
        good[:, 0] = [1, 2, 3, 5]
    good = frame(good) if isinstance(bad, pd.DataFrame) else good
    model = BayesClassifier(families=families).fit(good, Y)
    before = model.predict_proba(good), model.log_likelihood_, model.statistics_
    with pytest.raises((ValueError, TypeError)) as error:
        model.partial_fit(bad, y, sample_weight=weights)
    if "0 feature" not in words:
        check(str(error.value), words)
    assert np.array_equal(model.predict_proba(good), before[0])
    assert model.log_likelihood_ == before[1]
    assert model.statistics_ == before[2]
    model.partial_fit(good, Y)
    assert model.statistics_.n_rows == 8


@pytest.mark.parametrize("case", BAD)
def test_summarize_refuses_the_same(case):
    families, bad, y, weights, _ = BAD[case]
    if case in {"a continuous label", "no columns", "no columns in a frame"}:
        pytest.skip("statistics may be of any labels, and of the labels alone")
    with pytest.raises((ValueError, TypeError)) as error:
        summarize(bad, y, families=families, sample_weight=weights)
    check(str(error.value), [])


PREDICTED = [
    case
    for case in BAD
    if BAD[case][2] is Y
    and BAD[case][3] is None
    and not isinstance(BAD[case][0], (dict, str))
    and BAD[case][0] == Normal()
    and not isinstance(BAD[case][1], pd.DataFrame)
]


@pytest.mark.parametrize("case", PREDICTED)
def test_predict_refuses_and_says_why(case):
    _, bad, _, _, words = BAD[case]
    model = BayesClassifier(families=Normal()).fit(X, Y)
    with pytest.raises((ValueError, TypeError)) as error:
        model.predict(bad)
    check(str(error.value), words if "0 feature" not in words else [])


def test_numbers_too_far_apart_are_refused_by_name_and_leave_the_model_alone():
    model = BayesClassifier(families=Normal()).fit([[1.7e308], [1.6e308]], ["a", "a"])
    before = model.statistics_
    with pytest.raises(ValueError, match="column 0") as error:
        model.partial_fit([[-1.7e308]], ["a"])
    assert len(str(error.value)) < 400
    assert model.statistics_ == before
    assert model.statistics_.n_rows == 2
    assert np.isfinite(model.predict_proba([[1.7e308]])).all()


def test_labels_of_another_type_are_refused_and_leave_the_model_alone():
    model = BayesClassifier().fit(X, Y)
    before = model.statistics_
    with pytest.raises(ValueError, match="text and numbers"):
        model.partial_fit(X, ["a", "a", "b", "b"])
    assert model.statistics_ == before


def test_a_first_fit_that_fails_leaves_the_model_unfitted():
    model = BayesClassifier()
    with pytest.raises(ValueError, match="inf"):
        model.fit(cell(INF), Y)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "classes_")
    model.partial_fit(X[:, :1], Y)
    assert model.n_features_in_ == 1


@pytest.mark.parametrize(
    "priors, words",
    [
        ("even", ["priors", "'even'", "uniform"]),
        ("unifrom", ["priors", "got 'unifrom'; did you mean 'uniform'?"]),
        ([0.5, 0.6], ["priors", "sum to 1", "1.1"]),
        ([1.5, -0.5], ["priors", "-0.5"]),
        ([NAN, 1.0], ["priors", "nan"]),
        ([1.0], ["priors", "2 classes"]),
        ({0: 1.0}, ["priors", "missing [1]"]),
        ({0: 0.5, 1: 0.3, 7: 0.2}, ["priors", "unknown [7]"]),
    ],
    ids=str,
)
def test_wrong_priors_are_refused_by_fit(priors, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        BayesClassifier(priors=priors).fit(X, Y)
    check(str(error.value), words)


def test_wrong_priors_are_refused_by_with_priors():
    model = BayesClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="priors"):
        model.with_priors([0.5, 0.6])
    np.testing.assert_allclose(model.priors_, 0.5)


@pytest.mark.parametrize("priors", [["a", "b"], [0.5, 0.5j]], ids=str)
def test_priors_that_are_no_numbers_are_refused(priors):
    with pytest.raises(ValueError, match="priors must hold numbers"):
        BayesClassifier().fit(X, Y).with_priors(priors)


def test_a_missing_target_column_is_named():
    with pytest.raises(ValueError, match=r"'kind'.*'age'"):
        summarize(frame(X), target="kind")
    with pytest.raises(ValueError, match="either y, or target="):
        summarize(frame(X))
    with pytest.raises(ValueError, match="DataFrame"):
        summarize(X, target="kind")


@pytest.mark.parametrize(
    "model",
    [
        BayesClassifier(),
        EvidenceClassifier(),
        GaussianDiscriminant(),
        LogisticRegression(),
    ],
    ids=str,
)
def test_a_row_is_named_by_its_place_among_all_rows_though_some_weigh_nothing(model):
    X, y, weights = np.arange(120.0).reshape(60, 2), np.arange(60) % 2, np.ones(60)
    weights[[3, 8, 50]] = 0.0
    X[40, 1] = np.inf
    with pytest.raises(ValueError, match="at row 40;"):
        model.fit(X, y, sample_weight=weights)
