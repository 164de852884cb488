"""Weights of classes equal sample weights, and act when solving."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.class_weight import compute_sample_weight

import suffice
from suffice import BayesClassifier
from suffice.families import (
    Beta,
    Categorical,
    Gamma,
    Histogram,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
    Steps,
    VonMises,
    Words,
)

RNG = np.random.default_rng(5)
N_ROWS = 90
Y = RNG.choice(["a", "b", "c"], N_ROWS, p=[0.6, 0.3, 0.1])
SHIFT = np.array([{"a": 0, "b": 1, "c": 2}[label] for label in Y])
GIVEN = {"a": 0.3, "c": 7.0}
NUMBERS = RNG.normal(SHIFT[:, np.newaxis], size=(N_ROWS, 3))
GAPS = np.where(RNG.random(NUMBERS.shape) < 0.2, np.nan, NUMBERS)
COUNTS = RNG.poisson(1 + SHIFT[:, np.newaxis], (N_ROWS, 4))
LEVELS = pd.DataFrame({"town": RNG.choice(["Ulm", "Bonn", "Köln", None], N_ROWS)})
TEXTS = pd.DataFrame({"text": [" ".join(RNG.choice(["good", "bad", "film", "plot"], 5)) for _ in Y]})
SHARES = RNG.beta(2 + SHIFT[:, np.newaxis], 3, (N_ROWS, 2))
CASES = {
    "normal": (Normal(), GAPS),
    "shared variances": (Normal("shared"), GAPS),
    "gamma": (Gamma(), np.exp(NUMBERS)),
    "beta": (Beta(), SHARES),
    "angles": (VonMises(), NUMBERS % 3.0),
    "poisson": (Poisson(), COUNTS),
    "categorical": (Categorical(), LEVELS),
    "histogram": (Histogram(), GAPS),
    "steps": (Steps(), GAPS),
    "counts": (Multinomial(), COUNTS),
    "sparse counts": (Multinomial(), sparse.csr_array(COUNTS)),
    "words": (Words(idf=True, min_count=2), TEXTS),
    "full": (MultivariateNormal(), NUMBERS),
    "shared": (MultivariateNormal("shared"), GAPS),
    "pairwise": (MultivariateNormal("shared", missing="pairwise"), GAPS),
    "shrunk": (MultivariateNormal(shrinkage="ledoit_wolf"), NUMBERS),
    "inferred": ("infer", pd.DataFrame({"x": GAPS[:, 0], "n": COUNTS[:, 0], "f": SHIFT > 0, **LEVELS})),
}


def head(X, n):
    return X[:n] if not hasattr(X, "iloc") else X.iloc[:n]


def tail(X, n):
    return X[n:] if not hasattr(X, "iloc") else X.iloc[n:]


@pytest.mark.parametrize("posterior", ["plug-in", "predictive"])
@pytest.mark.parametrize("class_weight", ["balanced", GIVEN])
@pytest.mark.parametrize("case", CASES)
def test_class_weights_are_sample_weights(case, class_weight, posterior):
    family, X = CASES[case]
    model = BayesClassifier(family, class_weight=class_weight, posterior=posterior).fit(X, Y)
    schema = model.schema_
    weights = compute_sample_weight(class_weight, Y)
    weighted = BayesClassifier(schema, posterior=posterior).fit(X, Y, weights)
    np.testing.assert_allclose(model.priors_, weighted.priors_, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), weighted.predict_log_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.log_likelihood_, weighted.log_likelihood_, rtol=1e-12)


@pytest.mark.parametrize("case", ["inferred", "shared", "words", "steps"])
def test_balanced_weights_are_those_of_all_rows_in_any_batches(case):
    family, X = CASES[case]
    whole = BayesClassifier(family, class_weight="balanced").fit(X, Y)
    schema = whole.schema_
    batches = BayesClassifier(schema, class_weight="balanced").fit(head(X, 40), Y[:40])
    batches.partial_fit(tail(X, 40), Y[40:])
    merged = BayesClassifier(schema, class_weight="balanced").fit(head(X, 40), Y[:40])
    merged.merge(BayesClassifier(schema).fit(tail(X, 40), Y[40:]))
    fitted = BayesClassifier(class_weight="balanced").fit_statistics(whole.statistics_)
    for model in (batches, merged, fitted):
        np.testing.assert_allclose(model.predict_log_proba(X), whole.predict_log_proba(X), atol=1e-9)
    np.testing.assert_allclose(whole.priors_, 1 / 3, rtol=1e-12)
    assert whole.statistics_ == BayesClassifier(schema).fit(X, Y).statistics_


def test_rows_of_weight_two_count_twice_in_balanced_weights():
    X, y = CASES["shared variances"][1], Y
    weights = RNG.choice([1.0, 2.0], N_ROWS)
    twice = np.repeat(np.arange(N_ROWS), weights.astype(int))
    model = BayesClassifier(Normal("shared"), class_weight="balanced").fit(X, y, weights)
    repeated = BayesClassifier(Normal("shared"), class_weight="balanced").fit(X[twice], y[twice])
    np.testing.assert_allclose(model.predict_log_proba(X), repeated.predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("case", ["shared", "inferred"])
def test_class_weights_are_saved_and_loaded(case):
    family, X = CASES[case]
    model = BayesClassifier(family, class_weight=GIVEN).fit(X, Y)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    loaded = suffice.load(file)
    assert loaded.class_weight == GIVEN
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_row_left_out_is_left_out_of_balanced_weights():
    X, y = NUMBERS[:30], SHIFT[:30] > 0
    model = BayesClassifier(Normal("shared"), class_weight="balanced")
    scores = suffice.cross_val_scores(model, X, y, cv=LeaveOneOut(), scoring="neg_log_loss")
    for row in (0, 7, 29):
        rest = np.delete(np.arange(30), row)
        refit = BayesClassifier(Normal("shared"), class_weight="balanced").fit(X[rest], y[rest])
        expected = refit.predict_log_proba(X[[row]])[0, int(y[row])]
        np.testing.assert_allclose(scores[row], expected, atol=1e-9)


@pytest.mark.parametrize(
    "class_weight, error, message",
    [
        (
            {"d": 1.0},
            ValueError,
            r"class_weight names unknown classes: \['d'\]; the classes are \['a', 'b', 'c'\]",
        ),
        ({"a": 0.0}, ValueError, "class_weight of class 'a' must be a finite number > 0, got 0"),
        ({"a": np.nan}, ValueError, "class_weight of class 'a' must be a finite number > 0, got nan"),
        ("uniform", TypeError, "class_weight must be None, 'balanced' or a dict, got 'uniform'"),
    ],
)
def test_weights_that_fit_no_class_are_refused(class_weight, error, message):
    with pytest.raises(error, match=message):
        BayesClassifier(class_weight=class_weight).fit(NUMBERS, Y)
