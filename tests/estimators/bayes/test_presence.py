"""missing="evidence": whether a cell is there says something about the class."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, Calibrated, CostSensitive, OnePassSearchCV
from suffice.families import Multinomial, MultivariateNormal, Normal
from suffice.model.folds import training_sums
from suffice.plots import DensityDisplay

RNG = np.random.default_rng(0)
N = 240
Y = RNG.integers(0, 3, N)
WEIGHTS = RNG.choice([0.5, 1.0, 2.0], N)
GONE = RNG.random((N, 9)) < 0.1 + 0.25 * Y[:, np.newaxis]
COLUMNS = {
    "number": np.round(RNG.normal(Y, 1.0), 2),
    "count": RNG.poisson(1.0 + Y).astype(float),
    "level": np.array(["x", "y", "z"], dtype=object)[RNG.integers(0, 3, N)],
    "constant": np.full(N, 5.5),
    "joint0": RNG.normal(Y, 1.0),
    "joint1": RNG.normal(0.0, 1.0, N),
    "words": np.array(["good film", "bad plot", "a plot of a film"], dtype=object)[RNG.integers(0, 3, N)],
    "part0": RNG.poisson(2.0, N).astype(float),
    "part1": RNG.poisson(1.0 + Y).astype(float),
}
TABLE = pd.DataFrame(
    {
        name: pd.Series(values).where(~gone, None if values.dtype == object else np.nan)
        for (name, values), gone in zip(COLUMNS.items(), GONE.T, strict=True)
    }
)
FAMILIES = {
    "constant": Normal(),
    ("joint0", "joint1"): MultivariateNormal("full"),
    "words": "words",
    ("part0", "part1"): Multinomial(),
}
SIMPLE = TABLE[["number", "count", "level"]]


def by_hand(columns, rows=TABLE, train=TABLE, y=Y, weights=None):
    """Σ log p(there | C_k) or log(1 − p), with p = (n + 1)/(N + 2)."""
    weights = np.ones(len(y)) if weights is None else weights
    scores = np.zeros((len(rows), 3))
    blocks = [[name] for name in columns if not name.startswith("part")]
    blocks += [["part0", "part1"]] if any(name.startswith("part") for name in columns) else []
    for block in blocks:
        there = train[block].notna().all(axis=1).to_numpy()
        here = rows[block].notna().all(axis=1).to_numpy()
        for k in range(3):
            p = (weights[there & (y == k)].sum() + 1.0) / (weights[y == k].sum() + 2.0)
            scores[:, k] += np.where(here, np.log(p), np.log1p(-p))
    return scores


@pytest.mark.parametrize("columns", [None, ["number", "words"], ["part1", "joint1", "constant"]])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_each_column_adds_the_log_probability_that_its_cell_is_there_or_missing(columns, weights):
    ignoring = BayesClassifier(FAMILIES).fit(TABLE, Y, weights)
    model = BayesClassifier(FAMILIES, missing="evidence" if columns is None else columns)
    model.fit(TABLE, Y, weights)
    added = model.predict_joint_log_proba(TABLE) - ignoring.predict_joint_log_proba(TABLE)
    np.testing.assert_allclose(added, by_hand(columns or TABLE.columns, weights=weights), atol=1e-10)
    density = model.score_samples(TABLE)
    joint = model.predict_joint_log_proba(TABLE)
    np.testing.assert_allclose(density, np.logaddexp.reduce(joint, axis=1), atol=1e-10)


def test_ignoring_is_the_default():
    given = BayesClassifier(FAMILIES, missing="ignore").fit(TABLE, Y).predict_proba(TABLE)
    assert (given == BayesClassifier(FAMILIES).fit(TABLE, Y).predict_proba(TABLE)).all()


def test_a_column_that_was_never_missing_is_answered_by_the_smoothing():
    whole = SIMPLE.fillna({"number": 0.5, "count": 1.0, "level": "x"})
    model = BayesClassifier(missing="evidence").fit(whole, Y)
    row = pd.DataFrame({"number": [np.nan], "count": [1.0], "level": ["x"]})
    known = model.predict_joint_log_proba(row.assign(number=0.0))
    other = BayesClassifier().fit(whole, Y)
    expected = by_hand(["number", "count", "level"], row, whole)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(row), other.predict_joint_log_proba(row) + expected, atol=1e-12
    )
    assert np.isfinite(known).all()


def test_a_column_without_a_family_stays_ignored():
    left_out = BayesClassifier({"number": None}, missing="evidence").fit(SIMPLE, Y)
    without = BayesClassifier(missing="evidence").fit(SIMPLE.drop(columns="number"), Y)
    np.testing.assert_allclose(
        left_out.predict_proba(SIMPLE), without.predict_proba(SIMPLE.drop(columns="number")), atol=1e-14
    )
    listed = BayesClassifier({"number": None}, missing=["number", "count"]).fit(SIMPLE, Y)
    only = BayesClassifier({"number": None}, missing=["count"]).fit(SIMPLE, Y)
    assert (listed.predict_proba(SIMPLE) == only.predict_proba(SIMPLE)).all()


def test_a_level_never_seen_is_there():
    model = BayesClassifier(missing="evidence").fit(SIMPLE, Y)
    rows = pd.DataFrame({"number": [np.nan] * 2, "count": [np.nan] * 2, "level": ["new", None]})
    joint = model.predict_joint_log_proba(rows)
    expected = by_hand(list(SIMPLE), rows, SIMPLE)
    np.testing.assert_allclose(joint - np.log(model.priors_), expected, atol=1e-12)


def test_contributions_add_up_and_a_missing_cell_is_shown_as_missing():
    model = BayesClassifier(FAMILIES, missing="evidence", evidence_weight=1.0).fit(TABLE, Y)
    explanation = model.explain(TABLE)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, model.predict_joint_log_proba(TABLE), atol=1e-10)
    gap = int(np.argmax(GONE[:, 0]))
    assert (explanation.contributions[gap, 0] != 0).all()
    frame = explanation.to_frame(2, against=0)
    line = frame[(frame["row"] == gap) & (frame["column"] == "number")].iloc[0]
    p = model.parameters_["number"]["presence"]
    assert line["value"] == "missing"
    assert line["nats"] == pytest.approx(np.log(1.0 - p[2]) - np.log(1.0 - p[0]))
    assert "number" in explanation.describe(gap)


def test_log_likelihood_and_parameters_count_presence():
    model = BayesClassifier(FAMILIES, missing="evidence").fit(TABLE, Y)
    ignoring = BayesClassifier(FAMILIES).fit(TABLE, Y)
    added = by_hand(TABLE.columns)[np.arange(N), Y].sum()
    assert model.log_likelihood_ == pytest.approx(ignoring.log_likelihood_ + added)
    assert model.n_parameters_ == ignoring.n_parameters_ + 3 * 8  # the Multinomial has one presence


def test_evidence_adds_the_divergence_of_presence():
    model = BayesClassifier(missing="evidence").fit(SIMPLE, Y)
    p = model.parameters_["number"]["presence"]
    added = model.evidence().kl[0] - BayesClassifier().fit(SIMPLE, Y).evidence().kl[0]
    expected = [[stats.entropy([a, 1.0 - a], [b, 1.0 - b]) for b in p] for a in p]
    np.testing.assert_allclose(added, expected, atol=1e-12)
    np.testing.assert_allclose(model.evidence().total_kl, model.evidence().kl.sum(axis=0), atol=1e-12)


def test_samples_with_gaps_are_draws_of_the_model():
    model = BayesClassifier(FAMILIES | {"words": None}, missing="evidence").fit(TABLE, Y)
    drawn, _ = model.sample(20_000, random_state=1, labels=2, missing=True)
    for name in ("number", "level", "joint1", "part0"):
        chance = model.parameters_[name]["presence"][2]
        assert drawn[name].notna().mean() == pytest.approx(chance, abs=0.015)
    assert (drawn["part0"].isna() == drawn["part1"].isna()).all()
    whole = SIMPLE.fillna({"number": 0.5, "count": 1.0, "level": "x"})[:6]
    few = BayesClassifier(missing=["number"]).fit(whole, [0, 0, 0, 1, 1, 1])
    drawn, _ = few.sample(4000, random_state=1, labels=1, missing=True)
    assert drawn["number"].isna().mean() == pytest.approx(0.2, abs=0.03)  # 1 of 3 + 2
    assert drawn["count"].notna().all()


def test_novelty_ignores_presence():
    model = BayesClassifier(missing="evidence").fit(SIMPLE, Y)
    assert (model.novelty(SIMPLE[:20]) == BayesClassifier().fit(SIMPLE, Y).novelty(SIMPLE[:20])).all()


def test_densities_are_drawn_of_what_cells_hold():
    ours, others = (
        DensityDisplay.from_estimator(BayesClassifier(missing=missing).fit(SIMPLE, Y), SIMPLE)
        for missing in ("evidence", "ignore")
    )
    for panel, other in zip(ours.panels, others.panels, strict=True):
        np.testing.assert_array_equal(panel.density, other.density)


def test_other_priors_add_to_the_same_evidence():
    model = BayesClassifier(missing="evidence").fit(SIMPLE, Y)
    other = model.with_priors([0.2, 0.3, 0.5])
    shifted = model.predict_joint_log_proba(SIMPLE) + np.log([0.2, 0.3, 0.5]) - np.log(model.priors_)
    np.testing.assert_allclose(other.predict_joint_log_proba(SIMPLE), shifted, atol=1e-12)


def test_any_batches_merging_and_forgetting_give_the_same_model(tmp_path):
    model = BayesClassifier(FAMILIES, missing="evidence").fit(TABLE, Y)
    expected = model.predict_proba(TABLE)
    schema = {"families": model.schema_, "missing": "evidence"}
    batches, halves = BayesClassifier(**schema), []
    for rows in (slice(0, 50), slice(50, 150), slice(150, N)):
        batches.partial_fit(TABLE[rows], Y[rows])
        halves.append(BayesClassifier(**schema).fit(TABLE[rows], Y[rows]))
    merged = halves[0] + halves[1] + halves[2]
    more = BayesClassifier(**schema).fit(pd.concat([TABLE, TABLE[:30]]), np.concatenate([Y, Y[:30]]))
    from_sums = BayesClassifier(FAMILIES, missing="evidence").fit_statistics(model.statistics_)
    for other in (batches, merged, more.forget(TABLE[:30], Y[:30]), from_sums):
        np.testing.assert_allclose(other.predict_proba(TABLE), expected, atol=1e-9)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.missing == "evidence"
    assert (loaded.predict_proba(TABLE) == expected).all()


def test_a_file_of_a_model_that_ignores_gaps_is_as_before(tmp_path):
    BayesClassifier().fit(SIMPLE, Y).save(tmp_path / "model")
    assert b'"missing"' not in (tmp_path / "model").read_bytes()


def test_rows_of_weight_0_or_2_count_never_or_twice():
    weights = np.resize([0.0, 1.0, 2.0], N)
    model = BayesClassifier(missing="evidence").fit(SIMPLE, Y, weights)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    other = BayesClassifier(model.schema_, missing="evidence").fit(SIMPLE.iloc[repeated], Y[repeated])
    np.testing.assert_allclose(model.predict_proba(SIMPLE), other.predict_proba(SIMPLE), atol=1e-12)


def test_a_marginal_model_scores_the_presence_of_its_columns_only():
    model = BayesClassifier(missing=["number", "level"]).fit(SIMPLE, Y)
    marginal = model._marginal([0, 1])
    other = BayesClassifier(missing=["number"]).fit(SIMPLE[["number", "count"]], Y)
    table = other._read(SIMPLE[["number", "count"]], reset=False)
    np.testing.assert_allclose(
        marginal.posteriors(table), other.predict_proba(SIMPLE[["number", "count"]]), atol=1e-12
    )


def test_sparse_rows_are_scored_as_dense_ones():
    X = np.where(GONE[:, :3], np.nan, RNG.poisson(0.5, (N, 3)).astype(float))
    model = BayesClassifier("poisson", missing="evidence").fit(sparse.csr_array(X), Y)
    dense = BayesClassifier("poisson", missing="evidence").fit(X, Y)
    for rows in (sparse.csr_array(X), sparse.csc_array(X), X):
        np.testing.assert_allclose(model.predict_proba(rows), dense.predict_proba(X), atol=1e-12)
    ignoring = BayesClassifier("poisson").fit(X, Y)
    assert np.abs(dense.predict_proba(X) - ignoring.predict_proba(X)).max() > 0.1


@pytest.mark.parametrize("posterior", ["plug-in", "predictive"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("missing", ["evidence", ["constant", "part0", "level"]])
def test_leave_one_out_equals_refits(posterior, weights, missing):
    rows, y = TABLE[["number", "count", "level", "constant", "part0", "part1"]][:60], Y[:60]
    weights = None if weights is None else weights[:60]
    families = {"number": Normal(), "constant": Normal(), ("part0", "part1"): Multinomial()}
    model = BayesClassifier(families, posterior=posterior, missing=missing)
    (found,) = model._without_each(rows, y, [{}], weights)
    assert found.exact.sum() > 20
    schema = model.fit(rows, y, weights).schema_
    for i in np.flatnonzero(found.exact)[:12].tolist():
        others = np.arange(len(rows)) != i
        refit = clone(model).set_params(families=schema)
        refit.fit(rows[others], y[others], None if weights is None else weights[others])
        np.testing.assert_allclose(
            found.posteriors(np.array([i]))[0], refit.predict_proba(rows.iloc[[i]])[0], atol=1e-9
        )


def test_a_search_over_both_answers_reads_the_rows_once_and_finds_the_evidence(monkeypatch):
    passes = []
    summed = training_sums.SplitRows._sums
    monkeypatch.setattr(
        training_sums.SplitRows, "_sums", lambda *args: (passes.append(len(args[2])), summed(*args))[1]
    )
    search = OnePassSearchCV(BayesClassifier(), {"missing": ["ignore", "evidence", ["level"]]}, cv=4)
    search.fit(SIMPLE, Y)
    assert sum(passes) <= 2 * N  # the folds once, and all rows to fit the best model
    assert search.best_params_ == {"missing": "evidence"}


def test_columns_are_selected_with_their_presence():
    model = BayesClassifier(missing=["count", "level"])
    some = model._on_columns([1, 2], list(SIMPLE), named=True)
    assert some.missing == ["count", "level"]
    assert model._on_columns([0, 2], list(SIMPLE), named=False).missing == [1]
    assert model._on_columns([0], list(SIMPLE), named=True).missing == "ignore"


def test_wrappers_pass_the_evidence_on():
    model = BayesClassifier(missing="evidence")
    fitted = clone(model).fit(SIMPLE, Y)
    costs = CostSensitive(clone(model), 1.0 - np.eye(3)).fit(SIMPLE, Y)
    assert (costs.predict_proba(SIMPLE) == fitted.predict_proba(SIMPLE)).all()
    calibrated, ignoring = (
        Calibrated(BayesClassifier(missing=missing)).fit(SIMPLE, Y).predict_proba(SIMPLE)
        for missing in ("evidence", "ignore")
    )
    truth = np.arange(N), Y
    assert np.log(calibrated[truth]).mean() > np.log(ignoring[truth]).mean() + 0.05


@pytest.mark.parametrize("missing", ["evidnce", "number", [], 3, None, [True, False, True]])
def test_a_setting_that_means_nothing_is_refused_when_fitting(missing):
    with pytest.raises(ValueError, match="missing must be 'ignore', 'evidence' or a list of columns"):
        BayesClassifier(missing=missing).fit(SIMPLE, Y)


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(ValueError, match="missing= names the column 'nmber'"):
        BayesClassifier(missing=["nmber"]).fit(SIMPLE, Y)
