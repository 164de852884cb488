"""On some public tables the generative model leads with few rows and the discriminative one with many."""

import os
from pathlib import Path

import pandas as pd
import pytest

from suffice import GaussianDiscriminant
from suffice.estimators.regression import LogisticRegression
from suffice.evaluation.learning_curves import compare

FOLDER = os.environ.get("SUFFICE_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets"),
]


def standardised(file, target):
    frame = pd.read_csv(Path(FOLDER) / file)
    y = frame.pop(target).astype(str).to_numpy()
    X = frame.to_numpy(dtype=float)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize(
    "file, target, measure, sizes",
    [
        ("spambase/data.csv.gz", "class", "log_loss", [200, 2500]),
        ("satimage/train.csv.gz", "class", "log_loss", [300, 2500]),
        ("pendigits/data.csv.gz", "class", "log_loss", [400, 3000]),
        ("satimage/train.csv.gz", "class", "error", [400, 3000]),
        ("letter/data.csv.gz", "lettr", "error", [300, 3000]),
        ("texture/data.csv.gz", "target", "error", [150, 3500]),
    ],
)
def test_the_curves_cross_beyond_chance(file, target, measure, sizes):
    models = {"GDA": GaussianDiscriminant(), "logistic": LogisticRegression(C=1000.0)}
    # Not the splits on which the tables were found.
    curves = compare(models, *standardised(file, target), sizes=sizes, repeats=5, random_state=1)
    mean, about = curves.difference("GDA", "logistic", measure)
    assert mean[0] < -2 * about[0]
    assert mean[1] > 2 * about[1]
    assert curves.crossing("GDA", "logistic", measure) == sizes[1]
