"""German credit with its published costs: 5 for calling a bad customer good, 1 for calling a good one bad."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from suffice import BayesClassifier, CostSensitive

FOLDER = os.environ.get("SUFFICE_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets"),
]
COSTS = {("bad", "good"): 5, ("good", "bad"): 1}


def test_deciding_by_cost_saves_two_fifths_of_it():
    table = pd.read_csv(Path(FOLDER) / "german_credit" / "data.csv.gz")
    X, y = table.drop(columns="class"), table["class"].to_numpy()
    indifferent, careful, wary = [], [], []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        model = BayesClassifier().fit(X.iloc[train], y[train])
        answers = zip(y[test], model.predict(X.iloc[test]), strict=True)
        indifferent.append(np.mean([COSTS.get(pair, 0) for pair in answers]))
        careful.append(CostSensitive(model, COSTS).mean_cost(X.iloc[test], y[test]))
        refusing = CostSensitive(model, COSTS, reject_cost=0.3)
        wary.append(refusing.mean_cost(X.iloc[test], y[test]))
    assert np.mean(indifferent) == pytest.approx(0.984, abs=0.01)
    assert np.mean(careful) == pytest.approx(0.525, abs=0.01)
    assert np.mean(careful) < 0.6 * np.mean(indifferent)
    assert np.mean(wary) < np.mean(careful)
