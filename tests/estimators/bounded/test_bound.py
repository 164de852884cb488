"""What a model with bound= promises: no cell says more than the rows of a class warrant."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, sparse, stats
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut

import suffice
from suffice import BayesClassifier
from suffice.families import (
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
    Steps,
    Words,
)
from suffice.plots import DensityDisplay

FOLDER = os.environ.get("SUFFICE_DATA")
COLUMNS = {0: Normal(), 1: LogNormal(), 2: Steps(), 3: Poisson(), 4: Histogram(), 5: Categorical()}
BLOCKS = {(0, 1): MultivariateNormal("full"), (2, 4): MultivariateNormal("shared"), (3, 5): Multinomial()}
CERTAIN = {
    0: Normal(alpha=0),
    3: Poisson(alpha=0),
    5: Categorical(alpha=0),
    1: Gamma(alpha=0),
    2: None,
    4: None,
}
MODELS = [COLUMNS, BLOCKS, CERTAIN]
WORDS = np.array(["red", "green", "blue sky", "red sea", "green hill", "blue"] * 10, dtype=object)


def table(n=60, seed=0, gaps=0.1):
    """Rows of three classes, with columns that fit the families above."""
    rng = np.random.default_rng(seed)
    y = np.minimum(np.arange(n) % 4, 2)
    X = np.column_stack(
        [
            rng.normal(y, 1.0),
            rng.lognormal(0.5 * y, 0.7),
            rng.exponential(1.0 + y),
            rng.poisson(1.0 + 2.0 * y),
            rng.gamma(2.0 + y),
            rng.integers(0, 3, n) + y,
        ]
    )
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def evidence_limit(weight, alpha):
    """The most that a cell may say against class k and for class j, (k, j)."""
    whole = weight.sum()
    return np.log((weight + alpha) / alpha)[:, np.newaxis] + np.log((whole + alpha) / (weight + alpha))


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_the_density_of_a_class_is_mixed_with_that_of_the_column(alpha):
    X, y = table()
    model, plain = (
        BayesClassifier(families=COLUMNS, priors="uniform", bound=bound).fit(X, y) for bound in (alpha, None)
    )
    with np.errstate(all="ignore"):
        p = np.exp(plain.explain(X).contributions)
    weight = np.array([[np.sum(~np.isnan(X[y == k, j])) for k in range(3)] for j in range(6)])
    pooled = np.einsum("njk,jk->nj", p, weight / weight.sum(axis=1, keepdims=True))
    expected = (weight * p + alpha * pooled[:, :, np.newaxis]) / (weight + alpha)
    np.testing.assert_allclose(model.explain(X).contributions, np.log(expected), rtol=1e-12, atol=1e-12)


@given(st.floats(-1e12, 1e12), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from(MODELS[::2]))
@settings(max_examples=40, deadline=None)
def test_a_cell_says_no_more_than_the_rows_of_a_class_warrant(value, alpha, families):
    X, y = table()
    model = BayesClassifier(families=families, bound=alpha).fit(X, y)
    row = np.array([[value, abs(value), value, np.rint(abs(value)), value, value]])
    for j in range(6):
        alone = np.full_like(row, np.nan)
        alone[0, j] = row[0, j]
        weight = np.array([np.sum(~np.isnan(X[y == k, j])) for k in range(3)])
        scores = model.predict_log_proba(alone)[0] - np.log(model.priors_)
        said = scores - scores[:, np.newaxis]  # [against, for]
        assert (said <= evidence_limit(weight, alpha) + 1e-9).all()
        assert (
            said <= np.log((weight + alpha) / alpha)[:, None] + np.log(weight.sum() / weight) + 1e-9
        ).all()


def test_a_joint_block_is_one_cell():
    X, y = table(gaps=0.0)
    model = BayesClassifier(families=BLOCKS, bound=1.0).fit(X, y)
    row = np.array([[1e6, 1e-6, np.nan, np.nan, np.nan, np.nan]])
    scores = model.predict_log_proba(row)[0] - np.log(model.priors_)
    weight = np.bincount(y).astype(float)
    assert (scores - scores[:, np.newaxis] <= evidence_limit(weight, 1.0) + 1e-9).all()
    assert np.ptp(scores) > 2.0


@pytest.mark.parametrize("families", MODELS)
@pytest.mark.parametrize("posterior", ["plug-in", "predictive"])
def test_contributions_add_up_to_the_joint_scores(families, posterior):
    X, y = table()
    model = BayesClassifier(families=families, posterior=posterior, bound=1.0).fit(X, y)
    rows = np.vstack([X, 100.0 * X[:4] + 0.5])
    explanation = model.explain(rows)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(rows), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(explanation.posterior, model.predict_proba(rows), rtol=1e-12)
    np.testing.assert_array_equal(explanation.contributions[np.isnan(rows)], 0.0)


@pytest.mark.parametrize("families", [COLUMNS, CERTAIN])
def test_a_missing_cell_equals_a_model_without_the_column(families):
    X, y = table(gaps=0.0)
    model = BayesClassifier(families=families, bound=1.0).fit(X, y)
    without = BayesClassifier(families=families | {0: None}, bound=1.0).fit(X, y)
    rows = X.copy()
    rows[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict_proba(rows), without.predict_proba(X))


def test_a_value_that_one_class_alone_always_has_does_not_decide_for_certain():
    X = np.array([[3.0]] * 5 + [[1.0], [2.0], [4.0], [5.0], [6.0]])
    y = np.repeat([0, 1], 5)
    at = [[3.0], [4.0]]
    plain, bounded = (
        BayesClassifier(families=Normal(alpha=0), bound=bound).fit(X, y) for bound in (None, 1.0)
    )
    np.testing.assert_array_equal(plain.predict_proba(at), [[1.0, 0.0], [0.0, 1.0]])
    # The pooled density is half of the only one that is not negligible: (5 + 1/2)/6 against (1/2)/6.
    np.testing.assert_allclose(bounded.predict_proba(at), [[11 / 12, 1 / 12], [1 / 12, 11 / 12]], rtol=1e-12)


def test_a_class_without_cells_in_a_column_says_what_the_column_says():
    X, y = table(gaps=0.0)
    X[y == 2, 0] = np.nan
    model = BayesClassifier(families={0: Normal()}, columns=[0], priors="uniform", bound=1.0).fit(X, y)
    p = np.exp(model.predict_joint_log_proba(X[y != 2][:9]) + np.log(3))
    weight = np.bincount(y)[:2]
    plain = BayesClassifier(families={0: Normal()}, columns=[0], priors="uniform").fit(X, y)
    each = np.exp(plain.predict_joint_log_proba(X[y != 2][:9]) + np.log(3))[:, :2]
    np.testing.assert_allclose(p[:, 2], each @ weight / weight.sum(), rtol=1e-12)


@pytest.mark.parametrize("families", MODELS)
def test_batches_merged_models_and_forgotten_rows_give_the_same_model(families):
    X, y = table()
    whole = BayesClassifier(families=families, bound=1.0).fit(X, y)
    parts = BayesClassifier(families=families, bound=1.0).fit(X[:25], y[:25])
    merged = parts + BayesClassifier(families=families, bound=1.0).fit(X[25:], y[25:])
    parts.partial_fit(X[25:], y[25:])
    forgotten = BayesClassifier(families=families, bound=1.0).fit(np.vstack([X, X[:9]]), np.r_[y, y[:9]])
    forgotten.forget(X[:9], y[:9])
    for other in (parts, merged, forgotten):
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("families", MODELS)
def test_a_saved_model_loads_with_the_same_bits(families, tmp_path):
    X, y = table()
    model = BayesClassifier(families=families, bound=0.5).fit(X, y)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.bound == 0.5
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_model_without_a_bound_is_saved_as_before_there_was_one(tmp_path):
    X, y = table()
    BayesClassifier(families=COLUMNS).fit(X, y).save(tmp_path / "model")
    assert b"bound" not in (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("families", [COLUMNS, BLOCKS])
def test_a_row_has_the_same_posterior_alone_and_in_a_table(families):
    X, y = table(400)
    model = BayesClassifier(families=families, bound=1.0).fit(X, y)
    whole = model.predict_log_proba(X)
    for i in range(0, 400, 37):
        np.testing.assert_allclose(model.predict_log_proba(X[i : i + 1])[0], whole[i], rtol=1e-13, atol=1e-13)


def test_sparse_rows_are_scored_as_dense_ones():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 80)
    X = rng.poisson(0.3 * (1 + y)[:, np.newaxis], (80, 7)).astype(float)
    for family in (Poisson(), Multinomial(), Exponential()):
        model = BayesClassifier(families=family, bound=1.0)
        dense = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(
            model.fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X)), dense
        )


def test_a_column_of_text_is_one_cell():
    y = np.arange(60) % 3
    frame = pd.DataFrame({"words": WORDS, "size": 1.0 * y + np.sin(np.arange(60))})
    model = BayesClassifier(families={"words": Words(), "size": Normal()}, bound=1.0).fit(frame, y)
    long = pd.DataFrame({"words": [" ".join(["red"] * 500)], "size": [np.nan]})
    scores = model.predict_log_proba(long)[0] - np.log(model.priors_)
    limit = evidence_limit(np.full(3, 20.0), 1.0)
    assert (scores - scores[:, np.newaxis] <= limit + 1e-9).all()
    assert np.ptp(scores) > 2.0


def test_drawn_cells_follow_the_mixture():
    X = np.array([[0.0], [0.1], [-0.1], [1e3], [1e3 + 0.1], [1e3 - 0.1], [1e3 + 0.2]])
    y = np.array(["near"] * 3 + ["far"] * 4)
    model = BayesClassifier(families=Normal(alpha=0), bound=1.0).fit(X, y)
    drawn, _ = model.sample(20_000, 0, labels="near")
    share = 1 / (3 + 1) * 4 / 7  # of the pooled density, and in it of the other class
    assert np.mean(drawn[:, 0] > 500) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 20_000))


@pytest.mark.parametrize("families", [COLUMNS, dict.fromkeys(range(1, 6)) | {0: Normal()}])
def test_novelty_of_rows_drawn_from_the_model_is_spread_evenly(families):
    X, y = table(gaps=0.0)
    model = BayesClassifier(families=families, bound=1.0).fit(X, y)
    rows, _ = model.sample(2000, 1)
    assert stats.kstest(model.novelty(rows), "uniform").statistic < 0.05


def test_pictures_show_bounded_densities_which_integrate_to_one():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(y[:, np.newaxis], 1.0, (90, 14))
    model = BayesClassifier(families=Normal(), bound=10.0).fit(X, y)
    display = DensityDisplay.from_estimator(model, X, most=2)  # chosen by evidence without the bound
    assert len(display.panels) == 2
    grid = np.linspace(-20, 25, 4001)
    p = np.exp(model._marginal([3]).log_densities(suffice.tables.table.read_table(grid[:, np.newaxis])))
    np.testing.assert_allclose(integrate.simpson(p, x=grid, axis=0), 1.0, rtol=1e-9)


def test_leaving_one_row_out_is_a_refit():
    X, y = table(16)
    model = BayesClassifier(families=COLUMNS, bound=1.0)
    found = suffice.cross_val_predict_proba(model, X, y, cv=LeaveOneOut())
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        np.testing.assert_allclose(found[i], model.fit(X[rest], y[rest]).predict_proba(X[[i]])[0], rtol=1e-12)


@pytest.mark.parametrize("bound", [0, 0.0, -1.0, np.nan, np.inf, True, "1", [1.0]])
def test_a_bound_that_is_not_a_number_above_0_is_refused(bound):
    X, y = table()
    with pytest.raises(ValueError, match="bound must be None or a number above 0, such as"):
        BayesClassifier(bound=bound).fit(X, y)


def test_what_a_bounded_model_cannot_say_is_refused_with_the_cure():
    X, y = table(gaps=0.0)
    model = BayesClassifier(families=BLOCKS | {(3, 5): None}, bound=1.0).fit(X, y)
    for ask in (lambda: model.log_likelihood_, lambda: model.bic_):
        with pytest.raises(ValueError, match=r"add up predict_joint_log_proba .*, or use bound=None"):
            ask()
    with pytest.raises(ValueError, match=r"evidence has no formula .* which fit_statistics makes"):
        model.evidence()
    with pytest.raises(ValueError, match="MultivariateNormal block with bound=; use bound=None"):
        model.novelty(X)
    # The cure works:
    other = BayesClassifier(families=model.families).fit_statistics(model.statistics_)
    assert other.evidence().weight.max() > 0
    words = {"words": Words(event="complement")}
    with pytest.raises(ValueError, match="bound needs a density, but event='complement'"):
        BayesClassifier(families=words, bound=1.0).fit(pd.DataFrame({"words": WORDS}), y).predict(
            pd.DataFrame({"words": WORDS})
        )


@pytest.mark.data
@pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA is not set")
@pytest.mark.filterwarnings("ignore:on 500 of its rows.*too sure. Column 'Rainfall'")
def test_a_bound_lowers_the_log_loss_where_normal_tails_are_wrong():
    frame = pd.read_csv(Path(FOLDER) / "weather_aus" / "data.csv.gz").iloc[::20]
    rain = frame.pop("RainTomorrow")
    numbers = frame.select_dtypes("number")
    train, test = slice(None, None, 2), slice(1, None, 2)
    plain, bounded = (
        BayesClassifier(families=Normal(), bound=bound).fit(numbers[train], rain[train])
        for bound in (None, 1.0)
    )
    loss, lower = (log_loss(rain[test], one.predict_proba(numbers[test])) for one in (plain, bounded))
    assert lower < 0.95 * loss
