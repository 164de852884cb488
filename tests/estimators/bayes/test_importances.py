"""The importance of a column is what it says by itself about rows held out, in nats."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import suffice
from suffice import BayesClassifier, GaussianDiscriminant

RNG = np.random.default_rng(2)
N_ROWS = 150
Y = RNG.choice(["a", "b", "c"], N_ROWS)
SHIFT = np.array([{"a": 0, "b": 1, "c": 2}[label] for label in Y])
X = pd.DataFrame(
    {
        "good": RNG.normal(2.0 * SHIFT),
        "noise": RNG.normal(size=N_ROWS),
        "town": RNG.choice(["Ulm", "Bonn", None], N_ROWS),
        "empty": np.full(N_ROWS, np.nan),
        "count": RNG.poisson(2 + 4 * SHIFT),
    }
)
WEIGHTS = RNG.choice([0.5, 1.0, 2.0], N_ROWS)
CV = StratifiedKFold(4)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    "model",
    [
        BayesClassifier(),
        BayesClassifier(priors="uniform", alpha=0.5),
        BayesClassifier(class_weight="balanced"),
        GaussianDiscriminant("shared"),
    ],
)
def test_an_importance_is_the_gain_of_a_model_of_the_column_alone(model, weights):
    table = X[["good", "noise", "count"]] if isinstance(model, GaussianDiscriminant) else X
    found = model.importances(table, Y, cv=CV, sample_weight=weights)
    schema = clone(model).fit(table, Y, weights).schema_ if isinstance(model, BayesClassifier) else None
    for j, name in enumerate(table):
        gain, size = 0.0, 0.0
        if table[name].isna().all():
            assert found[j] == 0.0
            continue
        alone = type(model)(**(model.get_params(deep=False) | {"columns": [name]}))
        alone.evidence_weight = 1.0  # noise by itself would have none
        if schema is not None:  # by itself, a column is dealt to other folds, which may choose another family
            alone.families = {name: schema[name].family}
        w = np.ones(N_ROWS) if weights is None else weights
        schemas = alone.fit_splits(table, Y, CV.split(table, Y), weights)
        for fitted, (_, test) in zip(schemas, CV.split(table, Y), strict=True):
            gained = fitted.predict_log_proba(table.iloc[test]) - np.log(fitted.priors_)
            gain += w[test] @ gained[np.arange(len(test)), SHIFT[test]]
            size += w[test].sum()
        np.testing.assert_allclose(found[j], gain / size, rtol=0, atol=1e-12)


def test_a_column_that_tells_the_classes_has_their_entropy_and_noise_has_nothing():
    told = X.assign(told=Y)
    good, noise, _, empty, _, everything = BayesClassifier(alpha=1e-6).importances(told, Y)
    entropy = -np.mean(np.log(np.array([np.mean(label == Y) for label in Y])))
    np.testing.assert_allclose(everything, entropy, atol=1e-3)
    assert entropy > good > 0.3
    assert noise < 0.02
    assert empty == 0.0


def test_labels_may_be_a_column_and_the_model_stays_as_it_is():
    model = BayesClassifier()
    np.testing.assert_array_equal(model.importances(X.assign(y=Y), "y"), model.importances(X, Y))
    assert not hasattr(model, "classes_")


def test_columns_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="Multinomial block cannot"):
        BayesClassifier().importances(sparse.csr_array(RNG.poisson(1, (N_ROWS, 3))), Y)


def test_a_class_without_training_rows_is_refused():
    labels = np.array(["rare", *Y[1:]])
    splits = [(np.arange(1, N_ROWS), np.arange(1))]
    with pytest.raises(ValueError, match="class 'rare' has test rows but no training rows in split 0"):
        suffice.BayesClassifier().importances(X, labels, cv=splits)
