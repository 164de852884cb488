"""An infinity among the stored cells of a sparse array is refused, whichever factor reads it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import suffice
from suffice.families import Bernoulli, Categorical, Multinomial, Normal, Poisson


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    "model",
    [
        suffice.BayesClassifier(),
        suffice.BayesClassifier(Multinomial()),
        suffice.BayesClassifier(Normal()),
        suffice.BayesClassifier(Poisson()),
        suffice.BayesClassifier(Bernoulli()),
        suffice.BayesClassifier(Categorical()),
        suffice.LogisticRegression(),
        suffice.dropin.MultinomialNB(),
        suffice.dropin.ComplementNB(),
        suffice.dropin.BernoulliNB(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_every_model_refuses_an_infinity_in_a_sparse_matrix(make, model, infinity):
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(np.float64)
    y = np.arange(40) % 2
    bad = X.copy()
    bad[7, 1] = infinity
    refusal = f"column 1 contains the infinite value {infinity} at row 7"
    with pytest.raises(ValueError, match=refusal):
        clone(model).fit(make(bad), y)
    model = clone(model).fit(make(X), y)
    for answer in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.raises(ValueError, match=refusal):
            answer(make(bad))
