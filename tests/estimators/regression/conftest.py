import numpy as np
import pytest
from scipy import sparse

from suffice.estimators.regression.design import Block, Design


def draw(n, d, k, seed=0):
    """Correlated columns of different scales, and classes drawn from a softmax of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    scores = X @ rng.normal(size=(d, k)) / np.sqrt(d) + rng.normal(size=k) / 2
    y = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X * 10.0 ** rng.integers(-1, 2, size=d), y


@pytest.fixture
def drawn():
    return draw


@pytest.fixture
def design_of():
    """The design of rows as they are, in one part."""

    def design(X, codes, weights=None):
        return Design([Block(X, codes, weights)], *X.shape, is_sparse=sparse.issparse(X))

    return design
