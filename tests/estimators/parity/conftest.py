"""The data sets on which two libraries must agree."""

import numpy as np
import pytest
from sklearn import datasets

SETS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
}


@pytest.fixture(scope="session", params=SETS)
def measured(request):
    """Rows of measurements, their labels and some weights."""
    X, y = SETS[request.param](return_X_y=True)
    return X, y, np.random.default_rng(0).integers(0, 4, len(y)).astype(float)


@pytest.fixture(scope="session")
def digits():
    """Counts of 64 pixels, their labels and some weights."""
    X, y = datasets.load_digits(return_X_y=True)
    return X, y, np.random.default_rng(0).uniform(0.25, 3.0, len(y))
