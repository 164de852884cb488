"""Levels in which the classes have alike shares are joined, and share their parameters."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.model_selection import LeaveOneOut

import suffice
from suffice import BayesClassifier, OnePassSearchCV, summarize
from suffice.factors.levels.grouping import grouped
from suffice.families import Categorical


def rows(n=2000, n_levels=40, seed=0, n_classes=2):
    """A column whose even and odd levels have other classes."""
    rng = np.random.default_rng(seed)
    level = rng.geometric(0.12, n) % n_levels
    rising = np.arange(1.0, n_classes + 1.0) / np.arange(1.0, n_classes + 1.0).sum()
    share = np.stack([rising, rising[::-1]])
    y = np.array([rng.choice(n_classes, p=share[one % 2]) for one in level])
    return pd.DataFrame({"code": [f"c{one:02}" for one in level]}), y


def length(counts, groups):
    """The nats of Boullé's description, from the counts (classes, levels), written out."""
    n_classes, n_levels = counts.shape
    n_groups = len(set(groups))
    total = np.log(n_levels) + np.log(sum(stirling(n_levels, i) for i in range(1, n_groups + 1)))
    for group in set(groups):
        own = counts[:, np.array(groups) == group].sum(axis=1)
        total += np.log(special.comb(own.sum() + n_classes - 1, n_classes - 1))
        total += special.gammaln(own.sum() + 1) - special.gammaln(own + 1).sum()
    return total


def stirling(n, k):
    return sum((-1) ** (k - i) * special.comb(k, i, exact=True) * i**n for i in range(k + 1)) // int(
        special.factorial(k)
    )


def partitions(n):
    """All ways to put n levels into groups."""
    return (
        p
        for p in itertools.product(range(n), repeat=n)
        if all(g <= max((-1, *p[:i])) + 1 for i, g in enumerate(p))
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_groups_have_the_shortest_description(seed, n_classes):
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(n_classes), 2)
    counts = np.stack([rng.multinomial(rng.integers(5, 60), share[i % 2]) for i in range(6)], axis=1)
    counts = counts.astype(float)
    found = grouped(counts).codes.tolist()
    least = min(length(counts, p) for p in partitions(6))
    assert length(counts, found) <= least + 1e-9


def test_levels_that_say_nothing_are_one_group():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"code": rng.integers(300, size=900).astype(str)}), rng.integers(2, size=900)
    model = BayesClassifier(Categorical(joined=True)).fit(X, y)
    assert set(model.parameters_["code"]["group"].tolist()) == {0}
    np.testing.assert_allclose(model.predict_proba(X), np.tile(model.priors_, (900, 1)), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_joined_levels_share_their_evidence_and_keep_a_density(n_classes):
    X, y = rows(n_classes=n_classes)
    model = BayesClassifier(Categorical(joined=True, alpha=0.5)).fit(X, y)
    found = model.parameters_["code"]
    group, n_levels = found["group"], len(found["levels"])
    n_groups = len(set(group.tolist()))
    assert 1 < n_groups < n_levels
    np.testing.assert_allclose(found["probability"].sum(axis=1), 1.0, rtol=1e-12)
    for g in range(n_groups):
        inside = X["code"].isin(
            [level for level, own in zip(found["levels"], group, strict=True) if own == g]
        )
        counts = np.array([np.sum(inside & (y == k)) for k in range(n_classes)])
        expected = (counts + 0.5) / (np.bincount(y) + 0.5 * n_groups)
        share = found["probability"][:, group == g].sum(axis=1)
        np.testing.assert_allclose(share, expected, rtol=1e-12)
        evidence = model.predict_proba(pd.DataFrame({"code": np.array(found["levels"])[group == g]}))
        np.testing.assert_allclose(evidence, np.tile(evidence[0], (len(evidence), 1)), rtol=1e-12)
    assert model.n_parameters_ == (n_classes - 1) + n_classes * (n_groups - 1) + n_levels - n_groups


def test_rare_levels_that_are_joined_predict_better():
    X, y = rows(600, 200, seed=1)
    X["code"] = X["code"] + (np.arange(600) % 7).astype(str)
    scores = {
        joined: suffice.cross_val_scores(
            BayesClassifier(Categorical(joined=joined)), X, y, cv=5, scoring="neg_log_loss"
        ).mean()
        for joined in (False, True)
    }
    assert scores[True] > scores[False]


def test_groups_do_not_depend_on_the_order_of_rows():
    X, y = rows()
    order = np.random.default_rng(1).permutation(len(y))
    model = BayesClassifier(Categorical(joined=True)).fit(X, y)
    other = BayesClassifier(Categorical(joined=True)).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def test_joining_acts_when_solving_and_follows_the_rows():
    X, y = rows(n_classes=4)
    model = BayesClassifier(Categorical(joined=True)).fit(X, y)
    from_sums = BayesClassifier(Categorical(joined=True)).fit_statistics(summarize(X, y))
    np.testing.assert_array_equal(from_sums.predict_proba(X), model.predict_proba(X))
    batches = BayesClassifier(Categorical(joined=True)).fit(X[:700], y[:700]).partial_fit(X[700:], y[700:])
    np.testing.assert_array_equal(batches.predict_proba(X), model.predict_proba(X))
    fewer = model.forget(X[700:], y[700:])
    alone = BayesClassifier(Categorical(joined=True)).fit(X[:700], y[:700])
    np.testing.assert_array_equal(fewer.predict_proba(X), alone.predict_proba(X))
    search = OnePassSearchCV(BayesClassifier(Categorical()), {"families__joined": [False, True]}, cv=3)
    assert search.fit(X, y).best_params_ == {"families__joined": True}


def test_a_row_left_out_may_change_the_groups():
    X, y = rows(60, 8)
    model = BayesClassifier(Categorical(joined=True))
    scores = suffice.cross_val_scores(model, X, y, cv=LeaveOneOut(), scoring="neg_log_loss")
    for row in range(0, 60, 7):
        rest = np.delete(np.arange(60), row)
        refit = BayesClassifier(Categorical(joined=True)).fit(X.iloc[rest], y[rest])
        np.testing.assert_allclose(scores[row], refit.predict_log_proba(X.iloc[[row]])[0, y[row]], atol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [{}, {"unseen": "smooth"}, {"levels": 60}, {"levels": ["new", "c00", "other"]}, {"alpha": 0.0}],
)
def test_joined_levels_are_exact_in_files_and_explanations(settings):
    X, y = rows(300, 20)
    model = BayesClassifier(Categorical(joined=True, **settings)).fit(X, y)
    asked = pd.DataFrame({"code": [*X["code"].unique(), "new", "never", None]})
    expected = model.predict_proba(asked)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    np.testing.assert_array_equal(suffice.load(file).predict_proba(asked), expected)
    total = model.explain(asked)
    np.testing.assert_allclose(
        total.contributions.sum(axis=1) + total.prior, model.predict_joint_log_proba(asked), rtol=1e-12
    )


def test_joined_levels_can_be_drawn_and_sampled():
    pytest.importorskip("matplotlib")
    X, y = rows(300, 20)
    model = BayesClassifier(Categorical(joined=True)).fit(X, y)
    display = suffice.plots.DensityDisplay.from_estimator(model, X)
    panel, found = display.panels[0], model.parameters_["code"]
    shown = [found["levels"].index(level) for level in panel.grid.values]
    np.testing.assert_allclose(panel.density, found["probability"].T[shown], rtol=1e-12)
    drawn, labels = model.sample(20_000, random_state=0)
    table = pd.crosstab(labels, drawn["code"], normalize="index")
    np.testing.assert_allclose(table[found["levels"]].to_numpy(), found["probability"], atol=0.02)


def test_joined_must_be_true_or_false():
    with pytest.raises(TypeError, match="joined must be True or False, got 1"):
        Categorical(joined=1)


def test_counts_that_are_a_mixture_of_many_classes_are_told_apart():
    rng = np.random.default_rng(0)
    shares = np.eye(5) * 0.8 + 0.04
    counts = np.stack([rng.multinomial(40, shares[i % 5]) for i in range(500)], axis=1).astype(float)
    found = grouped(counts)
    assert found.n_groups == 5
    assert all(len(set(found.codes[i::5].tolist())) == 1 for i in range(5))
    assert stats.entropy(np.bincount(found.codes)) == pytest.approx(np.log(5))
