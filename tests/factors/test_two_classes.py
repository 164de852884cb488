"""Two classes of sparse rows are scored by their difference, where only posteriors are asked for."""

import numpy as np
import pytest
from scipy import sparse

from suffice import BayesClassifier
from suffice.families import Bernoulli, Multinomial, Normal, Poisson
from suffice.links import softmax

FAMILIES = [Multinomial(), Multinomial(alpha=0), Bernoulli(), Normal(), Poisson()]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("priors", [None, [0.0, 1.0]], ids=["shares", "ruled out"])
def test_posteriors_of_two_classes_are_those_of_their_joint_scores(family, priors):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, size=(200, 30)).astype(float)
    X = sparse.csr_array(np.minimum(counts, 1.0) if family == Bernoulli() else counts)
    y = rng.integers(2, size=200)
    model = BayesClassifier(family, priors=priors).fit(X, y)
    joint, seen = model.predict_joint_log_proba(X), model.predict_proba(X)
    possible = np.isfinite(joint).any(axis=1)
    np.testing.assert_allclose(seen[possible], softmax(joint[possible]), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[seen.argmax(axis=1)])


def test_more_than_two_classes_keep_their_scores():
    rng = np.random.default_rng(0)
    X, y = sparse.csr_array(rng.poisson(0.3, size=(200, 30)).astype(float)), rng.integers(3, size=200)
    model = BayesClassifier(Multinomial()).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), model.predict_joint_log_proba(X))
