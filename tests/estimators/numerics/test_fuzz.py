"""Random mixed tables in random batches, orders, merges and forgettings: the model of the rows left."""

import os
import time

import numpy as np
import pytest

from suffice import BayesClassifier, families, summarize

MINUTES = float(os.environ.get("SUFFICE_FUZZ_MINUTES", "4"))

COLUMNS = {
    "normal": (lambda alpha: families.Normal(alpha=alpha), lambda rng, n: rng.standard_normal(n)),
    "offset": (lambda alpha: families.Normal(alpha=alpha), lambda rng, n: 1e9 + rng.standard_normal(n)),
    "shared": (lambda alpha: families.Normal("shared", alpha=alpha), lambda rng, n: rng.standard_normal(n)),
    "huge": (lambda alpha: families.Normal(alpha=alpha), lambda rng, n: 1e200 * rng.standard_normal(n)),
    "lognormal": (lambda alpha: families.LogNormal(alpha=alpha), lambda rng, n: rng.lognormal(size=n)),
    "gamma": (lambda alpha: families.Gamma(alpha=alpha), lambda rng, n: rng.gamma(2.0, 3.0, n)),
    "inverse": (lambda alpha: families.InverseGaussian(alpha=alpha), lambda rng, n: rng.wald(2.0, 3.0, n)),
    "exponential": (lambda alpha: families.Exponential(alpha=alpha), lambda rng, n: rng.exponential(2.0, n)),
    "beta": (lambda alpha: families.Beta(alpha=alpha), lambda rng, n: rng.beta(2.0, 3.0, n)),
    "angle": (lambda alpha: families.VonMises(alpha=alpha), lambda rng, n: rng.vonmises(0.5, 2.0, n)),
    "flag": (
        lambda alpha: families.Bernoulli(alpha=alpha),
        lambda rng, n: rng.integers(0, 2, n).astype(float),
    ),
    "count": (lambda alpha: families.Poisson(alpha=alpha), lambda rng, n: rng.poisson(3.0, n).astype(float)),
    "tries": (lambda alpha: families.Geometric(alpha=alpha), lambda rng, n: rng.geometric(0.4, n) - 1.0),
    "negative": (
        lambda alpha: families.NegativeBinomial(2.0, alpha=alpha),
        lambda rng, n: rng.negative_binomial(2, 0.4, n).astype(float),
    ),
    "hits": (
        lambda alpha: families.Binomial(9, alpha=alpha),
        lambda rng, n: rng.binomial(9, 0.4, n).astype(float),
    ),
    "level": (
        lambda alpha: families.Categorical(alpha=alpha),
        lambda rng, n: rng.integers(0, 6, n).astype(float),
    ),
    "steps": (lambda alpha: families.Steps(alpha=alpha), lambda rng, n: rng.standard_normal(n)),
    "often": (
        lambda alpha: families.Hurdle(families.Gamma(alpha=alpha), alpha=alpha),
        lambda rng, n: np.maximum(rng.standard_normal(n), 0.0),
    ),
    "bins": (lambda alpha: families.Histogram(8, alpha=alpha), lambda rng, n: rng.standard_normal(n)),
    "constant": (lambda alpha: families.Normal(alpha=alpha), lambda _, n: np.full(n, 0.375)),
}


def mixed_table(rng):
    """A table of some columns, with gaps, labels and weights, and its families."""
    names = rng.choice(list(COLUMNS), rng.integers(1, 7), replace=False)
    n_rows = int(rng.integers(4, 120))
    alpha = float(rng.choice([1.0, 0.25, 3.0]))
    X = np.column_stack([COLUMNS[name][1](rng, n_rows) for name in names])
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.5])] = np.nan
    by_column = {j: COLUMNS[name][0](alpha) for j, name in enumerate(names)}
    y = rng.integers(0, rng.integers(1, 6), n_rows)
    weights = rng.choice([0.25, 1.0, 2.0, 3.5], n_rows)
    return X, y, weights, by_column


def by_random_steps(rng, X, y, weights, by_column):
    """A model of the rows, by partial_fit, merge and statistics of random parts; other rows come and go."""
    n_rows = len(y)
    order = rng.permutation(n_rows)
    cuts = np.sort(rng.integers(0, n_rows + 1, rng.integers(0, 12)))
    batches = [batch for batch in np.split(order, cuts) if len(batch)]
    model = BayesClassifier(families=by_column)
    model.fit(X[batches[0]], y[batches[0]], sample_weight=weights[batches[0]])
    for batch in batches[1:]:
        rows, labels, w = X[batch], y[batch], weights[batch]
        how = rng.integers(0, 4)
        if how == 0:
            model.partial_fit(rows, labels, sample_weight=w)
        elif how == 1:
            model.merge(BayesClassifier(families=by_column).fit(rows, labels, sample_weight=w))
        elif how == 2:
            model.merge(summarize(rows, labels, families=by_column, sample_weight=w))
        else:
            total = model.statistics_ + summarize(rows, labels, families=by_column, sample_weight=w)
            model = BayesClassifier(families=by_column).fit_statistics(total)
        if rng.random() < 0.5:
            passing = rng.integers(0, n_rows, rng.integers(1, 9))
            model.partial_fit(X[passing], y[passing], sample_weight=weights[passing])
            if rng.random() < 0.5:
                model.predict(X[:1])
            model.forget(X[passing], y[passing], sample_weight=weights[passing])
    return model


def check(seed):
    rng = np.random.default_rng(seed)
    X, y, weights, by_column = mixed_table(rng)
    whole = BayesClassifier(families=by_column).fit(X, y, sample_weight=weights)
    parts = by_random_steps(rng, X, y, weights, by_column)
    about = f"seed {seed}: {by_column}"
    assert parts.classes_.tolist() == whole.classes_.tolist(), about
    assert parts.statistics_.isclose(whole.statistics_, rtol=1e-9), about
    queries = np.vstack([X, rng.permuted(X, axis=0)])
    np.testing.assert_allclose(
        parts.predict_proba(queries), whole.predict_proba(queries), rtol=0, atol=1e-8, err_msg=about
    )
    joint = whole.predict_joint_log_proba(queries)
    assert np.isfinite(joint).all(), about
    np.testing.assert_allclose(
        parts.predict_joint_log_proba(queries), joint, rtol=1e-7, atol=1e-7, err_msg=about
    )
    explained = whole.explain(queries)
    added = explained.prior + explained.contributions.sum(axis=1)
    np.testing.assert_allclose(added, joint, rtol=1e-9, atol=1e-9, err_msg=about)
    own = joint[np.arange(len(y)), np.searchsorted(whole.classes_, y)]
    np.testing.assert_allclose(whole.log_likelihood_, weights @ own, rtol=1e-8, atol=1e-8, err_msg=about)
    nothing = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(whole.predict_proba(nothing)[0], whole.priors_, rtol=1e-12, err_msg=about)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_by_random_steps(seed):
    check(seed)


@pytest.mark.slow
def test_random_tables_by_random_steps_for_minutes():
    seed = int(time.time() * 1000) % 2**40
    end = time.monotonic() + 60.0 * MINUTES
    done = 0
    while time.monotonic() < end:
        check(seed + done)
        done += 1
    assert done > 100
