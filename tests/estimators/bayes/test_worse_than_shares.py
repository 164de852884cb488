"""A fit that predicts its own rows worse than the class shares says so once, with the columns to blame."""

import warnings

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import (
    BayesClassifier,
    Calibrated,
    GaussianDiscriminant,
    NoveltyDetector,
    cross_val_predict_proba,
)
from suffice.model.dealt import spread_rows


def heavy_tails(n=1000, seed=0):
    """A column whose rare huge values say nothing of the class, beside one that tells a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    spread = np.where(y, 1.0, 3.0) * rng.standard_t(1.0, size=n) ** 3
    return pd.DataFrame({"fine": rng.normal(0.5 * y), "tails": spread}), y


def told(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if "log loss" in str(one.message)]


def repeated(n=1000, copies=8):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=n)
    fact = rng.normal(0.8 * y)
    columns = {f"told {i}": fact + 0.1 * rng.normal(size=n) for i in range(copies)}
    return pd.DataFrame({**columns, "other": rng.normal(size=n)}), y


def test_the_column_with_heavy_tails_is_to_blame():
    X, y = heavy_tails()
    (message,) = told(lambda: BayesClassifier("normal").fit(X, y))
    model = BayesClassifier("normal").partial_fit(X, y)
    some = spread_rows(1000, 500)
    loss = -np.mean(model.predict_log_proba(X.iloc[some])[np.arange(500), y[some]])
    assert f"on 500 of its rows, the log loss of this model is {loss:.3g} nats" in message
    shares = -np.mean(np.log(model.priors_)[y[some]])
    assert f"that of the class shares {shares:.3g}:" in message
    assert "Column 'tails' is most to blame. Let families='infer' choose" in message
    assert told(lambda: BayesClassifier("normal").fit(X[["fine"]], y)) == []


def test_columns_that_repeat_each_other_are_to_blame():
    X, y = repeated()
    (message,) = told(lambda: BayesClassifier(evidence_weight=1.0).fit(X, y))
    assert "Columns 'told " in message
    assert "'other'" not in message
    (of_array,) = told(lambda: BayesClassifier().fit(X.to_numpy(), y))
    assert "Pass a data frame to infer families" in of_array


def test_a_warning_leaves_the_model_fitted_and_points_to_the_call():
    X, y = heavy_tails()
    model = BayesClassifier("normal")
    with pytest.warns(UserWarning, match="too sure") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="too sure"):
            model.fit(X, y)
    assert model.predict(X).shape == y.shape


def test_rows_count_by_their_weight_and_priors_of_the_user_are_not_blamed():
    X, y = heavy_tails()
    only_fine = np.where(np.abs(X["tails"]) < 10, 1.0, 0.0)
    assert told(lambda: BayesClassifier("normal").fit(X, y, sample_weight=only_fine)) == []
    fine, unlikely = X[["fine"]], [0.999, 0.001]
    assert told(lambda: BayesClassifier("normal", priors=unlikely).fit(fine, y)) == []


QUIET = {
    "inferred families": lambda X, y: BayesClassifier().fit(X, y),
    "few rows": lambda X, y: BayesClassifier("normal").fit(X[:99], y[:99]),
    "rows added": lambda X, y: BayesClassifier("normal").partial_fit(X, y),
    "drop-in": lambda X, y: suffice.dropin.GaussianNB().fit(X, y),
    "discriminant": lambda X, y: GaussianDiscriminant("diagonal").fit(X, y),
    "calibrated": lambda X, y: Calibrated(BayesClassifier("normal")).fit(X, y),
    "folds": lambda X, y: cross_val_predict_proba(BayesClassifier("normal"), X, y),
    "folds of inferred families": lambda X, y: cross_val_predict_proba(
        BayesClassifier(evidence_weight=1.0), X, y, refit_schema=True
    ),
    "densities": lambda X, y: NoveltyDetector(BayesClassifier("normal")).fit(X, y),
    "thousands of classes": lambda X, y: BayesClassifier("normal").fit(
        np.tile(X.to_numpy(), (6, 1)), np.arange(6 * len(y)) % 3000
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_nobody_is_warned_where_it_would_be_wrong_or_slow(name):
    for X, y in (heavy_tails(), repeated()):
        assert told(lambda: QUIET[name](X, y)) == []  # noqa: B023
