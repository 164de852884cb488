"""Novelty of tables with many patterns of gaps: one simulation for all of them."""

from time import process_time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from suffice import BayesClassifier, GaussianDiscriminant
from suffice.factors.columns.scores import SolvedColumns
from suffice.factors.scores import Scores
from suffice.families import Bernoulli, Categorical, Gamma, Histogram, MultivariateNormal, Normal, Poisson
from suffice.model.solved import drawn_rows
from suffice.model.solved.novelty import DRAWN_ROWS


def table(n=300, missing=0.3):
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], n)
    k = (y == "a") + 2.0 * (y == "b")
    columns = {
        "x": rng.normal(k),
        "z": rng.normal(-k),
        "time": rng.gamma(1.0 + k),
        "visits": rng.poisson(1.0 + k).astype(float),
        "flag": (rng.random(n) < 0.2 + 0.3 * k).astype(float),
        "town": rng.choice(["Bonn", "Ulm", "Köln"], n),
        "bins": rng.normal(k),
    }
    frame = pd.DataFrame(columns)
    return frame.mask(rng.random(frame.shape) < missing), y


FAMILIES = {
    "time": Gamma(),
    "visits": Poisson(),
    "flag": Bernoulli(),
    "town": Categorical(),
    "bins": Histogram(),
}
MODELS = {
    "mixed": BayesClassifier({**FAMILIES, "x": Normal(), "z": Normal()}),
    "joint beside others": BayesClassifier({**FAMILIES, ("x", "z"): MultivariateNormal()}),
    "alpha = 0": BayesClassifier({**FAMILIES, "town": Categorical(alpha=0), "visits": Poisson(alpha=0)}),
}


def fitted(name):
    X, y = table()
    return MODELS[name].fit(X, y), X


@pytest.mark.parametrize("name", MODELS)
def test_a_row_has_the_same_novelty_whatever_rows_are_beside_it(name):
    model, X = fitted(name)
    together = model.novelty(X)
    assert len(X.isna().drop_duplicates()) > 50
    for rows in ([0], [7, 3], [*range(40)]):
        assert np.array_equal(model.novelty(X.iloc[rows]), together[rows])


def test_a_row_of_a_discriminant_has_the_same_novelty_whatever_rows_are_beside_it():
    X, y = table()
    model = GaussianDiscriminant("full").fit(X[["x", "z", "time"]], y)
    together = model.novelty(X[["x", "z", "time"]])
    assert np.array_equal(model.novelty(X[["x", "z", "time"]].iloc[[5, 1]]), together[[5, 1]])


@pytest.mark.parametrize("name", MODELS)
def test_the_novelty_of_a_row_is_the_share_of_drawn_rows_that_are_no_more_probable_on_its_cells(name):
    model, X = fitted(name)
    novelty = model.novelty(X[:40])
    drawn, _ = model.sample(DRAWN_ROWS, random_state=1)
    checked = 0
    for i in range(40):
        there = model.score_samples(drawn.mask(np.tile(X.iloc[i].isna(), (DRAWN_ROWS, 1))))
        here = model.score_samples(X.iloc[[i]])[0]
        share = np.mean(there <= here + 1e-9 * (1.0 + abs(here)))
        if share * DRAWN_ROWS >= 200:
            checked += 1
            # Both shares are those of rows drawn.
            assert abs(novelty[i] - share) < 5.0 * np.sqrt(2.0 * share * (1.0 - share) / DRAWN_ROWS) + 1e-4
    assert checked > 30


@pytest.mark.parametrize("covariance", ["shared", "full", [["a", "b"], ["c"]]], ids=str)
def test_a_joint_gaussian_is_simulated_as_its_rows_are_scored(covariance):
    X, y = table(missing=0.0)
    rows = X[["x", "z", "time", "bins"]]
    model = GaussianDiscriminant(covariance).fit(rows, y)
    factor = model._solved_model().factors[0]
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 20_000)
    drawn = np.column_stack(factor.sample(codes, rng))
    for seen in (
        np.array([True] * 4),
        np.array([False, True, True, False]),
        np.array([True, False, False, False]),
    ):
        scores = Scores(np.zeros((len(codes), 3)))
        factor.add_scores(np.where(seen, drawn, np.nan), ["x", "z", "time", "bins"], scores, base=True)
        simulated = factor.simulated_scores(seen, codes, rng.standard_normal((len(codes), 4)))
        for k in range(3):
            mine = codes == k
            for j in range(3):
                assert stats.ks_2samp(scores.finite[mine, j], simulated[mine, j]).pvalue > 1e-4
            # The scores of two classes vary together as they do for rows.
            both = [np.corrcoef(part[mine].T) for part in (scores.finite, simulated)]
            np.testing.assert_allclose(*both, atol=0.05)


def test_several_gaussians_of_one_column_have_the_novelty_of_the_integral():
    X, y = table(missing=0.0)
    model = GaussianDiscriminant("full").fit(X[["x"]], y)
    x = np.linspace(-15.0, 15.0, 200_001)
    log_p = model.score_samples(pd.DataFrame({"x": x}))
    rows = x[np.random.default_rng(0).permutation(len(x))[:40]]
    here = model.score_samples(pd.DataFrame({"x": rows}))
    density = np.exp(log_p) * (x[1] - x[0])
    exact = np.array([density[log_p <= limit].sum() for limit in here])
    novelty = model.novelty(pd.DataFrame({"x": rows}))
    # Neither directions nor distances are random here; 32,768 drawn rows would err by up to 3e-3.
    np.testing.assert_allclose(novelty[exact > 0.004], exact[exact > 0.004], atol=3e-4)


def joint_with_gaps(n=300, d=20):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.1 * rng.normal(size=(d, d))) + 0.3 * y[:, np.newaxis]
    X[rng.random(X.shape) < 0.1] = np.nan
    return GaussianDiscriminant("full").fit(X, y), X


def test_novelty_of_joint_gaussians_with_gaps_errs_less_than_drawn_rows_would():
    model, X = joint_with_gaps()
    first, second = (model.novelty(X, random_state=seed) for seed in (0, 1))
    errors = (first - second) / np.sqrt(2.0 * first * (1.0 - first) / DRAWN_ROWS)
    assert np.sqrt(np.mean(errors**2)) < 0.85


def test_each_pattern_of_gaps_of_joint_gaussians_costs_little():
    model, X = joint_with_gaps()
    covariance = np.cov(np.nan_to_num(X).T)

    def invert(X):
        for _ in range(2 * len(X)):  # a pattern of gaps in each class
            np.linalg.inv(covariance)

    def seconds(work):
        start = process_time()
        work(X)
        return process_time() - start

    inverted, compared = (min(seconds(work) for _ in range(3)) for work in (invert, model.novelty))
    assert compared < 40.0 * inverted  # about 16; comparing with 32,768 drawn rows takes 70


def test_gaussians_very_far_apart_have_a_novelty():
    y = np.repeat([0, 1], 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)) + np.where(y, 1e200, 0.0)[:, np.newaxis]
    X[0, 0] = np.nan
    novelty = GaussianDiscriminant("full").fit(X, y).novelty(X[:20])
    assert ((novelty > 0) & (novelty <= 1)).all()


def test_drawn_rows_are_read_once_for_all_patterns(monkeypatch):
    X, y = table(missing=0.2)
    rows = np.exp(X[["x", "z", "bins"]])
    model = BayesClassifier(Gamma()).fit(rows, y)
    contributions, read = SolvedColumns.contributions, []

    def counted(self, block, labels, *, base):
        read.append(len(block))
        return contributions(self, block, labels, base=base)

    monkeypatch.setattr(SolvedColumns, "contributions", counted)
    model.novelty(rows)
    assert len(rows.isna().drop_duplicates()) > 5
    assert sum(read) == DRAWN_ROWS


def test_rows_that_are_too_many_to_keep_give_the_same_novelty(monkeypatch):
    model, X = fitted("mixed")
    kept = model.novelty(X)
    monkeypatch.setattr(drawn_rows, "MOST_KEPT", 0)
    monkeypatch.setattr(drawn_rows, "CELLS_AT_ONCE", 1 << 17)
    monkeypatch.setattr(drawn_rows, "CHOICES_AT_ONCE", 32)
    assert np.array_equal(model.novelty(X), kept)


def test_sums_of_cells_on_the_grid_are_exact_in_any_order():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(50, 9, 2)) * 10.0 ** rng.integers(-12, 12, (50, 9, 2))
    on_grid = drawn_rows._on_grid(cells)
    ways = [on_grid[:, rng.permutation(9)].cumsum(axis=1)[:, -1] for _ in range(20)]
    assert all(np.array_equal(ways[0], way) for way in ways)
    size = np.abs(cells).sum(axis=1)
    assert (np.abs(ways[0] - cells.sum(axis=1)) <= 9 * 2.0**-51 * size).all()
