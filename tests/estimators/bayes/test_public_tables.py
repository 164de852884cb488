"""What the default model promises of its posteriors, on public tables."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from suffice import BayesClassifier, cross_val_scores

FOLDER = os.environ.get("SUFFICE_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets"),
]
TARGETS = {
    "credit_approval": "class",
    "german_credit": "class",
    "heart_cleveland": "num",
    "horse_colic": "surgical_lesion",
    "house_votes84": "Class",
    "khan2001": "class",
    "pima_na": "diabetes",
    "sonar": "Class",
    "vehicle": "Class",
    "wdbc": "Diagnosis",
}


def shuffled(name, target, most):
    frame = pd.read_csv(Path(FOLDER, name)).dropna(subset=[target])
    frame = frame.sample(frac=1, random_state=0)[:most]
    return frame.drop(columns=target), frame[target].astype(str).to_numpy()


@pytest.mark.parametrize("name", TARGETS)
def test_the_default_is_better_than_the_class_shares(name):
    X, y = shuffled(f"{name}/data.csv.gz", TARGETS[name], 1000)
    shares = np.unique(y, return_counts=True)[1] / len(y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    loss = -cross_val_scores(BayesClassifier(), X, y, cv=folds, refit_schema=True).mean()
    assert loss < -shares @ np.log(shares)


@pytest.mark.parametrize(
    "file, target", [("adult/train.csv.gz", "income"), ("bank_marketing/data.csv.gz", "y")]
)
def test_more_rows_never_raise_the_log_loss_by_much(file, target):
    X, y = shuffled(file, target, 15_000)
    losses = []
    for n in (300, 600, 1200, 2500, 5000):
        model = BayesClassifier().fit(X[:n], y[:n])
        place = {label: k for k, label in enumerate(model.classes_.tolist())}
        own = np.array([place[label] for label in y[5000:]])
        losses.append(-model.predict_log_proba(X[5000:])[np.arange(len(own)), own].mean())
    assert np.diff(losses).max() < 0.02
    assert losses[-1] < losses[0]
