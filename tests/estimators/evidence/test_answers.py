"""Priors, costs, explanations and reports of weighed evidence, and what is refused in words."""

import copy
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from suffice import CostSensitive, EvidenceClassifier
from suffice.estimators.evidence.learning import Learning
from suffice.model.weighing.corrections import CorrectionSearch

from .conftest import FAMILIES, agrees, mixed, saved

# --- priors and costs -----------------------------------------------------------------------------


def test_other_priors_reweight_the_posteriors(penguins, of_penguins):
    X = penguins[0]
    new = np.array([0.7, 0.2, 0.1])
    expected = of_penguins.predict_proba(X) * new / of_penguins.priors_
    expected /= expected.sum(axis=1, keepdims=True)
    other = of_penguins.with_priors({"Adelie": 0.7, "Chinstrap": 0.2, "Gentoo": 0.1})
    np.testing.assert_allclose(other.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_allclose(other.priors_, new)
    fitted = EvidenceClassifier(priors=new).fit(*penguins)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-9)
    agrees(other.with_priors("empirical"), of_penguins, X)


def test_a_prior_of_0_rules_a_class_out(penguins, of_penguins):
    posteriors = of_penguins.with_priors([0.5, 0.0, 0.5]).predict_proba(penguins[0])
    assert (posteriors[:, 1] == 0).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)


def test_a_model_with_other_priors_learns_on_its_own(penguins, of_penguins):
    before = saved(of_penguins)
    other = of_penguins.with_priors("uniform").partial_fit(*penguins)
    np.testing.assert_allclose(other.priors_, 1 / 3)
    assert saved(of_penguins) == before


def test_priors_adapt_to_unlabelled_rows(penguins, of_penguins):
    X, y = penguins
    rows = np.concatenate([np.flatnonzero(y == "Adelie")[:20], np.flatnonzero(y == "Gentoo")])
    adapted = of_penguins.adapt_priors(X.iloc[rows])
    shares = [20 / len(rows), 0.0, 1 - 20 / len(rows)]
    np.testing.assert_allclose(adapted.priors_, shares, atol=0.03)
    np.testing.assert_array_equal(adapted.prior_shift_.priors, adapted.priors_)
    with pytest.raises(AttributeError, match=r"adapt_priors\(X\)"):
        of_penguins.prior_shift_  # noqa: B018
    loaded = suffice.load(io.BytesIO(saved(adapted)))
    assert repr(loaded.prior_shift_) == repr(adapted.prior_shift_)


def test_costs_take_its_posteriors(penguins, of_penguins):
    X, y = penguins
    costs = [[0, 1, 1], [8, 0, 1], [1, 1, 0]]
    careful = CostSensitive(of_penguins, costs, reject_cost=0.4)
    expected = of_penguins.predict_proba(X) @ np.array(costs)
    rejected = expected.min(axis=1) > 0.4
    answers = careful.predict(X)
    assert (answers[~rejected] == of_penguins.classes_[expected.argmin(axis=1)[~rejected]]).all()
    fitted = CostSensitive(EvidenceClassifier(pieces=["columns"]), costs).fit(X, y)
    assert fitted.mean_cost(X, y) < 0.1


def test_it_is_evaluated_and_calibrated_as_any_classifier(penguins, of_penguins):
    X, y = penguins
    report = suffice.evaluate(of_penguins, X, y)
    assert report.log_loss < 0.05 < report.baseline.log_loss
    X = X.drop(columns="year")
    calibrated = suffice.Calibrated(EvidenceClassifier(pieces=["columns"]), cv=2).fit(X, y)
    assert suffice.evaluate(calibrated, X, y).log_loss < 0.2


# --- the densities behind it ----------------------------------------------------------------------


def test_the_densities_behind_it_are_those_of_a_bayes_classifier(penguins, of_penguins):
    X, y = penguins
    density = of_penguins.generative_
    plain = suffice.BayesClassifier(of_penguins.schema_).fit(X, y)
    np.testing.assert_allclose(density.score_samples(X), plain.score_samples(X), rtol=1e-12)
    np.testing.assert_allclose(density.novelty(X), plain.novelty(X), rtol=1e-9)
    drawn = density.sample(5, random_state=0)
    assert type(drawn[0]) is pd.DataFrame
    assert of_penguins.predict_proba(drawn[0]).shape == (5, 3)
    assert repr(of_penguins.evidence()) == repr(plain.evidence())


# --- explanations and the table of weights --------------------------------------------------------


def test_contributions_and_prior_add_up_to_the_scores(table, of_table):
    X, _ = table
    for model in (of_table, of_table.with_priors([0.2, 0.3, 0.5])):
        explanation = model.explain(X)
        total = explanation.prior + explanation.contributions.sum(axis=1)
        np.testing.assert_allclose(total, explanation.total, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(suffice.links.softmax(total), model.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(explanation.prior, np.log(model.priors_) + model.bias_)
    assert list(explanation.columns) == list(X.columns)


def test_a_column_that_never_varies_says_nothing(penguins, of_penguins):
    X, y = penguins
    model = EvidenceClassifier().fit(X.assign(constant=4.0), y)
    np.testing.assert_array_equal(model.explain(X.assign(constant=4.0)).contributions[:, -1], 0.0)
    agrees(model, of_penguins, X.assign(constant=5.0), other_rows=X)


def interacting(n=400, seed=0):
    """Two numbers that tell the classes apart only together, and a level that says little."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"one": rng.normal(size=n), "two": rng.normal(size=n), "level": rng.choice(["p", "q"], n)}
    )
    y = (X["one"] * X["two"] + 0.2 * rng.normal(size=n) > 0).to_numpy()
    return X, y


def test_two_columns_that_speak_together_are_a_pair():
    X, y = interacting()
    model = EvidenceClassifier(pieces=["columns", "pairs"]).fit(X, y)
    assert [piece.name for piece in model.pieces_.listed if piece.group == "pairs"] == ["one × two"]
    test = interacting(seed=1)
    report = suffice.evaluate(model, *test)
    assert report.log_loss < 0.6 * report.baseline.log_loss
    alone = EvidenceClassifier(pieces=["columns"]).fit(X, y)
    assert suffice.evaluate(alone, *test).log_loss > 0.9 * report.baseline.log_loss
    says = model.explain(test[0]).contributions - alone.explain(test[0]).contributions
    assert np.ptp(says[:, 0, 1] - says[:, 0, 0]) > 1.0
    assert not EvidenceClassifier(pairs=0).fit(X, y).pieces_.pairs


def chosen_among_noise(n_true, seed):
    """The pairs chosen among fourteen columns, and those that tell the classes apart."""
    rng = np.random.default_rng(seed)
    columns = {f"c{j}": rng.integers(0, 3, 1200) for j in range(14)}
    names = [*columns]
    true = {f"{names[2 * i]} × {names[2 * i + 1]}" for i in range(n_true)}
    score = sum(0.9 * (columns[names[2 * i]] == columns[names[2 * i + 1]]) for i in range(n_true))
    y = (rng.random(1200) < suffice.links.logistic(score - np.mean(score))).astype(int)
    table = {name: values.astype(str) for name, values in columns.items()}
    model = EvidenceClassifier(pieces=["columns", "pairs"]).fit(table, y)
    return {piece.name for piece in model.pieces_.listed if piece.group == "pairs"}, true


def test_true_pairs_are_chosen_and_few_others():
    each = [chosen_among_noise(6, seed) for seed in range(6)]
    found = sum(len(chosen & true) for chosen, true in each)
    assert found >= 34  # of 36
    assert sum(len(chosen - true) for chosen, true in each) < found  # no more than half of all chosen
    assert sum(len(chosen_among_noise(0, seed)[0]) for seed in range(6)) < 6  # of 546


def test_pairs_that_do_not_pay_are_not_kept_but_where_they_are_given(monkeypatch):
    X, y = interacting()
    given = EvidenceClassifier(pieces=["columns", "pairs"]).fit(X, y).pieces_
    monkeypatch.setattr("suffice.estimators.evidence.learning.Learning._share", lambda *_: 0.0)
    chosen = EvidenceClassifier(pieces=["columns", "pairs"]).fit(X, y)
    assert not chosen.pieces_.pairs
    assert "pairs" not in repr(chosen.weights_)
    again = EvidenceClassifier(pieces=given).fit(X, y)
    assert again.pieces_.pairs == given.pairs
    np.testing.assert_allclose(again.predict_proba(X), chosen.predict_proba(X), atol=1e-9)


def test_pairs_add_subtract_and_are_saved():
    X, y = interacting()
    model = EvidenceClassifier(pieces=["columns", "pairs"]).fit(X, y)
    half = EvidenceClassifier(pieces=model.pieces_).fit(X[:200], y[:200])
    rest = copy.copy(model).forget(half)
    agrees(rest.partial_fit(X[:200], y[:200]), model, X)
    loaded = suffice.load(io.BytesIO(saved(model)))
    assert saved(loaded) == saved(model)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_the_levels_say_how_the_loss_of_held_out_rows_fell(of_table):
    weighed = of_table.weights_
    assert [level.name for level in weighed.levels][:2] == ["class shares", "one weight"]
    assert all(0.0 <= level.share <= 1.0 for level in weighed.levels)
    assert 0.0 < weighed.loss == weighed.levels[-1].loss < weighed.class_shares - 0.3
    # Weights fit the rows that they were learnt from a little better than rows held out from these.
    assert weighed.class_shares - weighed.loss - 0.02 < weighed.nats.sum() < weighed.class_shares


def test_the_table_of_weights_is_read_by_people(of_table):
    text, html = repr(of_table.weights_), of_table.weights_._repr_html_()
    for word in ("evidence", "about", "weight", "nats", "length", "log loss of held-out rows"):
        assert word in text
        assert word in html


def test_the_table_of_weights_says_when_nothing_pays():
    y = np.arange(300) % 2
    model = EvidenceClassifier().fit({"constant": np.ones(300)}, y)
    weighed, said = model.weights_, "No piece of evidence pays on held-out rows: posteriors are the priors"
    assert repr(weighed).startswith(said)
    assert said in weighed._repr_html_()
    assert "<table" not in weighed._repr_html_()
    np.testing.assert_allclose(model.predict_proba({"constant": [1.0, np.nan]}), 0.5, atol=1e-12)
    with pytest.raises(ValueError, match=f"nothing to draw. {said}"):
        weighed.plot()
    few = EvidenceClassifier().fit({"constant": np.ones(9)}, y[:9]).weights_
    with pytest.raises(ValueError, match=r"nothing to draw\. Too few rows to weigh"):
        few.plot()


def test_names_in_the_table_of_weights_are_never_markup():
    X, y = mixed(40)
    model = EvidenceClassifier(pieces=["columns"]).fit(X[["length"]].set_axis(["<b>\nx"], axis=1), y)
    assert "<b>" not in model.weights_._repr_html_()
    assert "&lt;b&gt;" in model.weights_._repr_html_()
    assert not any("<b>" in line and "x" not in line for line in repr(model.weights_).splitlines())


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"pieces": "columns"}, TypeError, r"'all' or a list of .*, got 'columns'; .*pieces=\['columns'\]\."),
        ({"pieces": "some"}, TypeError, r"pieces must be 'all' or a list of .*columns.*, got 'some'\.$"),
        (
            {"pieces": ["step"]},
            ValueError,
            r"pieces must be one or more of .*, got 'step'; did you mean 'steps'\?$",
        ),
        ({"pieces": ["words"]}, ValueError, r"pieces must be one or more of .*steps.*, got 'words'\.$"),
        ({"pieces": 3}, TypeError, r"pieces must be .* got 3"),
        ({"penalty": -1}, ValueError, "penalty must be a positive number or None, got -1"),
        ({"penalty": "x"}, ValueError, "penalty must be a positive number or None, got 'x'"),
        ({"penalty": np.nan}, ValueError, "penalty must be a positive number or None, got nan"),
        ({"penalty": 1e9}, ValueError, "penalty must be at most 1,000,000, which .* equal, got 1000000000.0"),
        ({"penalty": np.inf}, ValueError, "penalty must be at most 1,000,000, .* got inf"),
        ({"cv": 1}, ValueError, "cv must be a whole number ≥ 2, got 1"),
        ({"cv": 2.5}, ValueError, "cv must be a whole number ≥ 2, got 2.5"),
        (
            {"cv": 344},
            ValueError,
            "cv must be at most 20, since evidence is held out for every pair of folds",
        ),
        ({"pairs": -1}, ValueError, "pairs must be a whole number ≥ 0, got -1"),
        ({"pairs": True}, ValueError, "pairs must be a whole number ≥ 0, got True"),
        ({"nonnegative": "no"}, ValueError, "nonnegative must be True or False, got 'no'"),
        ({"priors": [0.5, 0.5]}, ValueError, "priors"),
        ({"families": "nonsense"}, ValueError, "nonsense"),
    ],
)
def test_wrong_settings_are_refused_in_words(penguins, settings, error, message):
    with pytest.raises(error, match=message):
        EvidenceClassifier(**settings).fit(*penguins)


@pytest.mark.parametrize("group", ["steps", "presence", "joint", "cells"])
def test_only_the_kinds_that_are_named_are_weighed(penguins, group):
    model = EvidenceClassifier(pieces=[group]).fit(*penguins)
    groups = {piece.group for piece in model.weights_.pieces}
    assert "columns" in {piece.group for piece in model.pieces_.listed}
    assert groups <= {"columns", group}


def test_a_penalty_that_is_given_is_kept(penguins):
    loose, tight = (
        EvidenceClassifier(pieces=["columns"], penalty=penalty).fit(*penguins) for penalty in (0.1, 1e6)
    )
    assert np.ptp(loose.weights_.weights) > 0.1
    assert np.ptp(tight.weights_.weights) < 0.01


@pytest.fixture
def variances(monkeypatch):
    """The variances of the common parts of weights as they are tried; the last one is kept."""
    tried, covariance = [], Learning._covariance

    def recorded(learning, penalty, common=1.0):
        tried.append(common)
        return covariance(learning, penalty, common)

    monkeypatch.setattr(Learning, "_covariance", recorded)
    return tried


def weak_signal():
    """Few rows that say little: large weights would only follow their noise."""
    rng = np.random.default_rng(0)
    classes = np.arange(80) % 2
    return rng.normal(size=(80, 6)) + 0.3 * classes[:, np.newaxis], classes


def strong_signal():
    """Rows whose classes are told apart well: evidence counts in full."""
    rng = np.random.default_rng(0)
    classes = np.arange(400) % 2
    return rng.normal(size=(400, 6)) + 3.0 * classes[:, np.newaxis], classes


def test_held_out_rows_say_how_large_the_weights_of_a_kind_are(variances):
    EvidenceClassifier("normal").fit(*weak_signal())
    assert variances[-1] < 1.0
    assert sorted(variances[:-1], reverse=True) == variances[:-1]
    variances.clear()
    EvidenceClassifier("normal", pieces=["columns"]).fit(*strong_signal())
    assert variances[-1] == 1.0


def test_many_rows_say_how_large_weights_are_by_the_weights(variances, monkeypatch):
    monkeypatch.setattr("suffice.estimators.evidence.learning.MANY_ROWS", 50)
    EvidenceClassifier("normal").fit(*weak_signal())
    assert set(variances) == {1.0}


def test_no_weight_is_negative_where_asked(penguins):
    X, y = penguins
    model = EvidenceClassifier(FAMILIES | {"note": None}, nonnegative=True)
    table = mixed(seed=5)
    assert np.nanmin(model.fit(*table).weights_.weights) >= 0
    assert np.nanmin(EvidenceClassifier(nonnegative=True).fit(X, y).weights_.weights) >= 0


# --- exports --------------------------------------------------------------------------------------


def in_duckdb(model, rows):
    """The posteriors that a database computes, with NaN where it computes none."""
    duckdb = pytest.importorskip("duckdb")
    columns = {f"c{j}": pa.array(cells, from_pandas=True) for j, cells in enumerate(rows.T)}
    relation = pa.table(columns)
    with duckdb.connect() as connection:
        connection.register("rows", relation)
        found = connection.sql(model.to_sql("rows", dialect="duckdb", columns=list(columns))).fetchnumpy()
    return np.column_stack([np.ma.filled(one, np.nan) for one in found.values()])


def gaussian_rows(n_columns, n=150, gaps=()):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(y[:, np.newaxis], 1.0, (n, n_columns)) @ np.triu(np.ones((n_columns, n_columns)))
    holes = rng.random(X.shape) < 0.3
    some = X.copy()
    some[:, list(gaps)] = np.where(holes[:, list(gaps)], np.nan, X[:, list(gaps)])
    everywhere = np.where(holes, np.nan, X)
    return some, everywhere, y


@pytest.mark.parametrize("gaps", [(), (0, 2), (0, 1, 2, 3, 4)])
def test_any_gap_in_few_columns_is_marginalised_in_sql(gaps):
    X, other, y = gaussian_rows(5, gaps=gaps)
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    assert model.weights_.pieces[0].group == "joint" or len(model.weights_.pieces) > 1
    np.testing.assert_allclose(in_duckdb(model, other), model.predict_proba(other), atol=1e-9)


def test_of_many_columns_those_with_gaps_in_training_are_marginalised_in_sql():
    X, other, y = gaussian_rows(12, gaps=(0, 1, 2, 3, 4, 5, 6))
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    found, wanted = in_duckdb(model, other), model.predict_proba(other)
    scored = ~np.isnan(other[:, 7:]).any(axis=1)
    assert 0 < scored.sum() < len(y)
    np.testing.assert_allclose(found[scored], wanted[scored], atol=1e-9)
    assert np.isnan(found[~scored]).all()
    query = model.to_sql("rows", missing="null", columns=[f"c{j}" for j in range(12)])
    assert len(query) < len(model.to_sql("rows", columns=[f"c{j}" for j in range(12)]))


def test_many_inputs_with_gaps_are_exported_for_complete_rows_only():
    X, _, y = gaussian_rows(17, gaps=range(17))
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    words = r"17 inputs with gaps.*at most 16.*missing='null'.*fill the gaps.*pieces=\['columns', 'steps'"
    for export in (lambda one: one.to_sql("rows"), lambda one: one.to_onnx()):
        with pytest.raises(ValueError, match=words):
            export(model)
    assert "SELECT" in model.to_sql("rows", missing="null")
    alone = EvidenceClassifier(pieces=["columns", "steps", "presence", "cells", "pairs"]).fit(X, y)
    assert "SELECT" in alone.to_sql("rows")


# --- likelihood and linear forms --------------------------------------------------------------------


def test_the_log_likelihood_is_that_of_the_labels(penguins, of_penguins):
    X, y = penguins
    weights = np.arange(len(y)) % 3
    places = np.searchsorted(of_penguins.classes_, y)
    own = of_penguins.predict_log_proba(X)[np.arange(len(y)), places]
    assert of_penguins.log_likelihood(X, y) == pytest.approx(own.sum())
    assert of_penguins.log_likelihood(X.assign(kind=y), "kind") == pytest.approx(own.sum())
    assert of_penguins.log_likelihood(X, y, weights) == pytest.approx(weights @ own)
    impossible = of_penguins.with_priors({"Adelie": 0.0, "Chinstrap": 0.5, "Gentoo": 0.5})
    assert impossible.log_likelihood(X, y) == -np.inf
    assert np.isfinite(impossible.log_likelihood(X, y, y != "Adelie"))
    with pytest.raises(ValueError, match="2 rows, and y has 1 labels"):
        of_penguins.log_likelihood(X[:2], y[:1])


@pytest.mark.parametrize("name", ["natural_parameters_", "linear_form", "boundary"])
def test_what_bounded_evidence_does_not_have_says_why(of_penguins, name):
    assert not hasattr(of_penguins, name)
    with pytest.raises(AttributeError, match=f"no {name}: what a piece says is bounded, so"):
        getattr(of_penguins, name)
    assert hasattr(of_penguins.generative_, name)


def test_importances_are_those_of_pieces(of_penguins):
    assert not hasattr(of_penguins, "feature_importances_")
    with pytest.raises(AttributeError, match=r"several pieces read a column.*weights_ has the nats"):
        _ = of_penguins.feature_importances_


@pytest.mark.parametrize(
    "name",
    ["sample", "novelty", "score_samples", "predict_joint_log_proba", "log_likelihood_", "parameters_"],
)
def test_what_only_a_density_has_is_asked_of_the_densities(of_penguins, name):
    for model in (of_penguins, EvidenceClassifier()):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=rf"has no density; use model\.generative_\.{name}\b"):
            getattr(model, name)
    assert hasattr(of_penguins.generative_, name)


@pytest.mark.parametrize("bumps", [False, True])
def test_of_many_rows_one_fold_shows_that_corrections_do_not_pay(bumps, monkeypatch):
    searches = []
    learn_each = CorrectionSearch.learn_each

    def counted(search, offsets, *args, **kwargs):
        searches.extend(offsets)
        return learn_each(search, offsets, *args, **kwargs)

    monkeypatch.setattr(CorrectionSearch, "learn_each", counted)
    y = np.arange(4200) % 2
    x = np.random.default_rng(1).normal(np.where(bumps, 0.0, y))
    y = np.where(bumps & (np.abs(x) < 0.3), 1, y)
    model = EvidenceClassifier("normal", pieces=["columns", "cells"]).fit(x[:, np.newaxis], y)
    assert (model.weights_.levels[-1].share > 0) == bumps
    assert len(searches) > 5 if bumps else len(searches) == 1
