import io
from copy import deepcopy

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice import (
    BayesClassifier,
    Calibrated,
    CostSensitive,
    GaussianDiscriminant,
    ProbitRegression,
    TextClassifier,
    dropin,
    links,
)
from suffice.families import Bernoulli, Normal
from suffice.model.folds.worse_than_shares import unchecked
from suffice.model.weighing.calibration import CalibrationRows, Scaling

METHODS = ["temperature", "vector", "isotonic"]
LINEAR = METHODS[:2]


@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@parametrize_with_checks(
    [
        Calibrated(BayesClassifier()),
        Calibrated(LogisticRegression(), "vector"),
        Calibrated(BayesClassifier(Normal()), "isotonic"),
    ]
)
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def drawn(n=600, n_classes=3, seed=0):
    """Columns that repeat each other, so that naive Bayes is too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    column = rng.standard_normal(n) + 1.2 * y
    X = column[:, np.newaxis] + 0.3 * rng.standard_normal((n, 6))
    return X, np.array(["a", "b", "c", "d"])[y]


def out_of_fold(model, X, y, cv=5):
    found = np.empty((len(y), len(np.unique(y))))
    for train, test in StratifiedKFold(cv).split(X, y):
        with unchecked():
            found[test] = clone(model).fit(X[train], y[train]).predict_log_proba(X[test])
    return found


def loss_of(scores, codes, slope, bias):
    """The negative log likelihood of the rows, and of one pseudo-row of which each row is a share."""
    rows = np.arange(len(codes))
    log_p = links.log_softmax(slope * scores + bias)
    return -log_p[rows, codes].sum() - np.sum(links.softmax(scores) * log_p) / len(rows)


@pytest.mark.parametrize(
    "model", [BayesClassifier(), GaussianDiscriminant(), dropin.GaussianNB(), suffice.LogisticRegression()]
)
@pytest.mark.parametrize("method", LINEAR)
def test_the_map_is_the_most_likely_one_of_the_scores_out_of_fold(model, method):
    X, y = drawn()
    scores = out_of_fold(model, X, y)
    codes = np.searchsorted(["a", "b", "c"], y)
    biased = method == "vector"

    def objective(point):
        bias = np.array([*point[1:], 0.0]) if biased else np.zeros(3)
        return loss_of(scores, codes, point[0], bias)

    best = minimize(objective, [1.0, 0.0, 0.0] if biased else [1.0], method="Nelder-Mead", tol=1e-12)
    fitted = Calibrated(model, method).fit(X, y)
    found = loss_of(scores, codes, 1.0 / fitted.temperature_, fitted.bias_)
    assert found <= best.fun + 1e-7
    assert fitted.temperature_ == pytest.approx(1.0 / best.x[0], rel=1e-4)
    assert abs(fitted.bias_.sum()) < 1e-9


def test_an_overconfident_model_becomes_less_sure_and_predicts_the_same():
    X, y = drawn()
    fitted = Calibrated(BayesClassifier()).fit(X[:400], y[:400])
    before, after = (suffice.evaluate(one, X[400:], y[400:]) for one in (fitted.model_, fitted))
    assert fitted.temperature_ > 1.5
    assert after.ece < 0.5 * before.ece
    assert after.log_loss < before.log_loss
    assert np.array_equal(fitted.predict(X), fitted.model_.predict(X))


def test_isotonic_of_two_classes_is_isotonic_regression_and_one_pseudo_row():
    X, y = drawn(300, 2)
    p = np.exp(out_of_fold(BayesClassifier(), X, y)[:, 1])
    steps = IsotonicRegression(out_of_bounds="clip").fit(p, y == "b")
    fitted = Calibrated(BayesClassifier(), "isotonic").fit(X, y)
    before = fitted.model_.predict_proba(X)[:, 1]
    expected = (300 * steps.predict(before) + before) / 301
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_posteriors_are_normalised_and_finite_in_the_log_far_from_all_rows(method):
    X, y = drawn()
    fitted = Calibrated(BayesClassifier(), method).fit(X, y)
    far = np.concatenate([X, 1e3 * X, [[np.nan] * 6]])
    np.testing.assert_allclose(fitted.predict_proba(far).sum(axis=1), 1.0, rtol=1e-12)
    assert not np.isnan(fitted.predict_log_proba(far)).any()
    assert np.isfinite(fitted.predict_log_proba(X)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(5, 60), st.floats(-3.0, 6.0), st.integers(0, 2**32 - 1), st.booleans())
def test_any_scores_have_a_map_no_worse_than_leaving_them(n_classes, n_rows, size, seed, biased):
    rng = np.random.default_rng(seed)
    scores = 10.0**size * rng.standard_normal((n_rows, n_classes))
    codes = rng.integers(0, n_classes, n_rows)
    found = Scaling.fitted(CalibrationRows.of(scores, codes, np.ones(n_rows)), biased=biased)
    assert 0 < found.slope < np.inf
    assert np.isfinite(found.bias).all()
    before, after = loss_of(scores, codes, 1.0, 0.0), loss_of(scores, codes, found.slope, found.bias)
    assert after <= before + 1e-6 * n_rows


def test_scores_that_separate_the_classes_leave_as_many_errors_as_one_row_of_the_model_has():
    # The model errs with probability e; after n rows without an error, one pseudo-row leaves e / (n + 1).
    gap = 3.0
    scores = np.array([[gap, 0.0], [0.0, gap]] * 50)
    found = Scaling.fitted(CalibrationRows.of(scores, np.array([0, 1] * 50), np.ones(100)), biased=False)
    error = links.logistic(-gap)
    assert np.exp(found.log_posteriors(scores))[0, 1] == pytest.approx(error / 101, rel=1e-6)


def test_scores_that_cannot_be_told_apart_by_likelihood_stay_as_they_are():
    X = np.r_[np.zeros((40, 1)), np.full((40, 1), 60.0)] + np.random.default_rng(0).standard_normal((80, 1))
    fitted = Calibrated(BayesClassifier(Normal())).fit(X, np.repeat([0, 1], 40))
    assert fitted.temperature_ == 1.0


@pytest.mark.parametrize("method", LINEAR)
def test_scores_worse_than_chance_give_the_class_frequencies_in_the_order_of_the_scores(method):
    scores = np.array([[1.0, 0.0], [0.0, 1.0]] * 40 + [[1.0, 0.0]] * 10)
    codes = np.array([1, 0] * 40 + [1] * 10)
    found = Scaling.fitted(CalibrationRows.of(scores, codes, np.ones(90)), biased=method == "vector")
    p = np.exp(found.log_posteriors(scores))
    share = (50 + links.softmax(scores)[:, 1].mean()) / 91
    np.testing.assert_allclose(p[:, 1], share if method == "vector" else 0.5, atol=1e-5)
    assert p[0, 0] > p[1, 0]


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_k_is_k_rows(method):
    X, y = drawn(300)
    weight = np.random.default_rng(3).integers(0, 4, 300)
    folds = np.arange(300) % 5
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
    again = np.repeat(np.arange(300), weight)
    repeated = [(np.flatnonzero(folds[again] != k), np.flatnonzero(folds[again] == k)) for k in range(5)]
    one = Calibrated(BayesClassifier(Normal()), method, cv=splits).fit(X, y, sample_weight=weight)
    other = Calibrated(BayesClassifier(Normal()), method, cv=repeated).fit(X[again], y[again])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(one.priors_, other.priors_, rtol=1e-12)


def test_one_pass_equals_refitting_every_fold():
    X, y = drawn()

    class Refitted(BayesClassifier):
        fit_splits = fit_grid = property()

    one, other = Calibrated(BayesClassifier()).fit(X, y), Calibrated(Refitted()).fit(X, y)
    assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-9)


def test_rows_held_out_several_times_count_once():
    X, y = drawn(200)
    once = StratifiedKFold(4, shuffle=True, random_state=0)
    splits = list(once.split(X, y))
    single, double = (Calibrated(BayesClassifier(), "vector", cv=cv).fit(X, y) for cv in (splits, splits * 2))
    assert double.temperature_ == pytest.approx(single.temperature_, rel=1e-9)
    repeated = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    assert Calibrated(BayesClassifier(), cv=repeated).fit(X, y).temperature_ > 1


def test_groups_stay_together():
    X, y = drawn(200)
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(200), 3)
    splits = list(GroupKFold(4).split(X, y, groups))
    grouped = Calibrated(BayesClassifier(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert grouped.temperature_ == Calibrated(BayesClassifier(), cv=splits).fit(X, y).temperature_


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(20, random_state=0),
        LinearSVC(),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        suffice.LogisticRegression(),
        ProbitRegression(),
        dropin.QuadraticDiscriminantAnalysis(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_classifier_can_be_calibrated(model, method, n_classes):
    X, y = drawn(400, n_classes)
    fitted = Calibrated(model, method, cv=3).fit(X[:300], y[:300])
    report = suffice.evaluate(fitted, X[300:], y[300:])
    assert report.log_loss < report.baseline.log_loss
    assert report.ece < 0.2


def test_no_votes_of_a_forest_are_an_unlikely_class_and_not_an_impossible_one():
    X, y = drawn(300, 2)
    forest = RandomForestClassifier(10, random_state=0)
    fitted = Calibrated(forest).fit(X, y)
    assert (fitted.model_.predict_proba(X) == 0).any()
    assert fitted.predict_proba(X).min() > 1e-9


def test_no_vote_of_a_forest_for_the_true_class_does_not_rule_the_temperature():
    X, y = load_breast_cancer(return_X_y=True)
    losses = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        seen, unseen = order[:284], order[284:]
        fitted = Calibrated(RandomForestClassifier(50, random_state=0)).fit(X[seen, :10], y[seen])
        reports = [suffice.evaluate(one, X[unseen, :10], y[unseen]) for one in (fitted.model_, fitted)]
        losses.append([report.log_loss for report in reports])
    raw, calibrated = np.mean(losses, axis=0)
    assert calibrated < raw


@pytest.mark.parametrize("cv", [3, "prefit"])
def test_posteriors_from_elsewhere_are_as_precise_as_their_rows_allow(cv):
    X, y = drawn(300)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    weight = np.full(300, 2.0)
    fitted = Calibrated(forest, cv=cv).fit(X, y, weight)
    p = (600 * fitted.model_.predict_proba(X) + 1 / 3) / 601
    expected = links.log_softmax(np.log(p) / fitted.temperature_)
    np.testing.assert_allclose(fitted.predict_log_proba(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "wrapped",
    [
        make_pipeline(StandardScaler(), BayesClassifier(Normal())),
        suffice.WithPriors(BayesClassifier(Normal()), "empirical"),
        GridSearchCV(BayesClassifier(Normal()), {"priors": ["uniform"]}, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_log_scores_behind_a_wrapper_are_taken_as_they_are(wrapped):
    X, y = drawn()
    fitted = Calibrated(wrapped, cv=3).fit(X, y)
    far = 100.0 * X[:5]
    expected = links.log_softmax(fitted.model_.predict_log_proba(far) / fitted.temperature_)
    np.testing.assert_allclose(fitted.predict_log_proba(far), expected, rtol=1e-9)
    assert fitted.predict_log_proba(far).min() < -100.0


def test_leaving_one_row_out_takes_log_scores_as_they_are():
    X, y = drawn(60)
    once = Calibrated(BayesClassifier(Normal()), cv=LeaveOneOut()).fit(X, y)
    splits = [(np.delete(np.arange(60), row), [row]) for row in range(60)]
    pipeline = make_pipeline("passthrough", BayesClassifier(Normal()))
    refitted = Calibrated(pipeline, cv=splits).fit(X, y)
    assert once.temperature_ == pytest.approx(refitted.temperature_, rel=1e-9)


def test_a_fitted_model_is_calibrated_on_the_rows_that_are_given():
    X, y = drawn()
    with pytest.warns(UserWarning, match="too sure"):
        model = BayesClassifier().fit(X[:300], y[:300])
    fitted = Calibrated(model, cv="prefit").fit(X[300:], y[300:])
    assert fitted.model_ is model
    codes = np.searchsorted(["a", "b", "c"], y[300:])
    scores = model.predict_log_proba(X[300:])
    best = minimize(lambda t: loss_of(scores, codes, t[0], 0.0), [1.0], method="Nelder-Mead", tol=1e-12)
    assert fitted.temperature_ == pytest.approx(1 / best.x[0], rel=1e-4)


def test_a_class_without_calibration_rows_keeps_a_finite_bias():
    X, y = drawn()
    with pytest.warns(UserWarning, match="too sure"):
        model = BayesClassifier().fit(X[:300], y[:300])
    rows = np.flatnonzero(y[300:] != "b") + 300
    fitted = Calibrated(model, "vector", cv="prefit").fit(X[rows], y[rows])
    assert np.isfinite(fitted.bias_).all()
    assert fitted.bias_[1] == fitted.bias_.min()
    with pytest.raises(ValueError, match="class 'b' had prior 0"):
        fitted.with_priors("uniform")


def test_a_class_that_only_one_fold_has_is_left_out_of_the_calibration():
    X, y = drawn(100)
    X, y = np.concatenate([X, [[9.0] * 6]]), np.append(y, "d")
    splits = list(StratifiedKFold(5).split(X[:100], y[:100]))
    splits = [(train, test) for train, test in splits[:-1]] + [(splits[-1][0], np.append(splits[-1][1], 100))]
    fitted = Calibrated(BayesClassifier(), cv=splits).fit(X, y)
    assert fitted.classes_.tolist() == ["a", "b", "c", "d"]
    assert 1 < fitted.temperature_ < 100


@pytest.mark.parametrize("method", LINEAR)
def test_contributions_add_up_to_the_calibrated_score(method):
    X, y = suffice.load_penguins()
    fitted = Calibrated(BayesClassifier(), method).fit(X, y).with_priors([0.5, 0.2, 0.3])
    explanation, own = fitted.explain(X), fitted.model_.explain(X)
    parts = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(parts, explanation.total, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(links.softmax(explanation.total), fitted.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(explanation.contributions * fitted.temperature_, own.contributions)
    assert np.array_equal(explanation.posterior, fitted.predict_proba(X))


def test_words_add_up_to_the_calibrated_score():
    texts = ["good fun", "good film", "bad film", "bad bad music", "fun and music", "no good"] * 3
    fitted = Calibrated(TextClassifier(), "vector", cv=3).fit(texts, ["+", "+", "-", "-", "+", "-"] * 3)
    explanation, own = fitted.explain(["good bad music"]), fitted.model_.explain(["good bad music"])
    words, gains = explanation.words(0)
    assert words == own.words(0)[0]
    np.testing.assert_allclose(gains * fitted.temperature_, own.words(0)[1])
    total = explanation.prior + gains.sum(axis=0) + explanation.rest(0)
    np.testing.assert_allclose(links.softmax(total), fitted.predict_proba(["good bad music"])[0])


@pytest.mark.parametrize("method", METHODS)
def test_other_priors_reweight_calibrated_posteriors(method):
    X, y = drawn()
    fitted = Calibrated(BayesClassifier(), method).fit(X, y)
    new = np.array([0.7, 0.2, 0.1])
    expected = fitted.predict_proba(X) * new / fitted.priors_
    other = fitted.with_priors({"a": 0.7, "b": 0.2, "c": 0.1})
    np.testing.assert_allclose(other.predict_proba(X), expected / expected.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(other.priors_, new)
    assert Calibrated(BayesClassifier(), method, priors=new).fit(X, y).predict_proba(X) == pytest.approx(
        other.predict_proba(X)
    )
    np.testing.assert_allclose(
        suffice.WithPriors(fitted, new).predict_proba(X), other.predict_proba(X), rtol=1e-9
    )
    np.testing.assert_array_equal(other.with_priors(None).predict_proba(X), fitted.predict_proba(X))


def test_a_prior_of_0_rules_a_class_out():
    X, y = drawn()
    other = Calibrated(BayesClassifier()).fit(X, y).with_priors([0.5, 0.0, 0.5])
    assert (other.predict_proba(X)[:, 1] == 0).all()
    assert not np.isnan(other.predict_proba(X)).any()


def test_what_the_model_rules_out_stays_ruled_out():
    X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]] * 20)
    y = np.array(["a", "a", "b", "a"] * 20)
    fitted = Calibrated(BayesClassifier(Bernoulli(alpha=0.0))).fit(X, y)
    p = fitted.predict_proba(X)
    np.testing.assert_array_equal(p == 0, fitted.model_.predict_proba(X) == 0)
    assert (p == 0).any()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_labels_may_be_a_column_of_the_frame(library):
    table, species = suffice.load_penguins()
    frame = table.append_column("species", [species])
    frame = {"pandas": frame.to_pandas, "polars": lambda: pl.from_arrow(frame), "pyarrow": lambda: frame}[
        library
    ]()
    expected = Calibrated(BayesClassifier()).fit(table, species)
    fitted = Calibrated(BayesClassifier()).fit(frame, "species")
    assert fitted.temperature_ == expected.temperature_
    assert fitted.feature_names_in_.tolist() == table.column_names
    assert fitted.score(frame, "species") == expected.score(table, species)
    prefit = Calibrated(expected.model_, cv="prefit").fit(frame, "species")
    assert prefit.temperature_ == Calibrated(expected.model_, cv="prefit").fit(table, species).temperature_


def test_rows_may_be_a_dict_of_columns():
    X, y = drawn(200)
    columns = {f"c{j}": X[:, j].tolist() for j in range(X.shape[1])}
    model = Calibrated(BayesClassifier("normal"))
    found = model.fit(columns, y).temperature_
    assert found == pytest.approx(model.fit(X, y).temperature_, rel=1e-12)


def test_a_fitted_classifier_depends_on_its_settings_no_more():
    X, y = drawn(200)
    priors = {"a": 0.2, "b": 0.3, "c": 0.5}
    fitted = Calibrated(BayesClassifier(), priors=priors).fit(X, y)
    before = fitted.predict_proba(X)
    priors["a"], priors["c"] = 0.5, 0.2
    fitted.set_params(method="isotonic")
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    np.testing.assert_array_equal(fitted.priors_, [0.2, 0.3, 0.5])
    file = io.BytesIO()
    fitted.save(file)
    loaded = suffice.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(loaded.predict_proba(X), before)
    assert loaded.method == "temperature"
    given = np.array([0.6, 0.3, 0.1])
    other = fitted.with_priors(given)
    given[:] = [0.1, 0.3, 0.6]
    np.testing.assert_array_equal(other.priors_, [0.6, 0.3, 0.1])
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_partial_fit_is_refused_with_the_cure():
    X, y = drawn(100)
    fitted = Calibrated(BayesClassifier()).fit(X, y)
    assert not hasattr(fitted, "partial_fit")
    with pytest.raises(
        AttributeError, match=r"Calibrated has no partial_fit.*fit with all rows.*cv='prefit'"
    ):
        fitted.partial_fit(X, y)


def test_labels_that_are_measurements_are_refused():
    X, _ = drawn(60)
    y = np.linspace(0.0, 1.0, 60)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        Calibrated(BayesClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        suffice.cross_val_scores(BayesClassifier(), X, y)


def test_costs_take_calibrated_posteriors():
    X, y = drawn(400, 2)
    fitted = Calibrated(BayesClassifier()).fit(X, y)
    careful = CostSensitive(fitted, [[0, 1], [5, 0]])
    assert np.array_equal(careful.predict(X) == "b", fitted.predict_proba(X)[:, 1] > 1 / 6)
    assert CostSensitive(Calibrated(BayesClassifier()), [[0, 1], [5, 0]]).fit(X, y).mean_cost(X, y) < 1


@pytest.mark.parametrize("method", METHODS)
def test_a_copy_and_a_file_hold_the_same_posteriors(method):
    X, y = suffice.load_penguins()
    fitted = Calibrated(BayesClassifier(), method).fit(X, y).with_priors("uniform")
    file = io.BytesIO()
    fitted.save(file)
    for same in (deepcopy(fitted), suffice.load(io.BytesIO(file.getvalue()))):
        np.testing.assert_array_equal(same.predict_proba(X), fitted.predict_proba(X))
        assert same.get_params(deep=False)["method"] == method
        assert same.cv == 5
        assert same.priors == "uniform"
    assert clone(fitted).get_params()["method"] == method
    assert not hasattr(clone(fitted), "model_")


def test_what_cannot_be_saved_is_refused_with_the_cure():
    X, y = drawn(100)
    with pytest.raises(TypeError, match="LogisticRegression is not a class of suffice"):
        Calibrated(LogisticRegression()).fit(X, y).save(io.BytesIO())
    fitted = Calibrated(BayesClassifier(), cv=StratifiedKFold(4)).fit(X, y)
    with pytest.raises(TypeError, match="Calibrated of a Calibrated; calibrate the inner model"):
        Calibrated(Calibrated(BayesClassifier())).fit(X, y).save(io.BytesIO())
    with pytest.raises(TypeError, match=r"cv is a StratifiedKFold.*set_params\(cv=5\)"):
        fitted.save(io.BytesIO())
    for cv in (5, None, "prefit"):
        file = io.BytesIO()
        fitted.set_params(cv=cv).save(file)
        assert suffice.load(io.BytesIO(file.getvalue())).cv == cv


def test_what_needs_linear_scores_is_refused_for_isotonic():
    X, y = drawn(100)
    fitted = Calibrated(BayesClassifier(), "isotonic").fit(X, y)
    for ask in (fitted.explain, lambda _: fitted.to_sql("rows"), lambda _: fitted.to_onnx()):
        with pytest.raises(AttributeError, match=r"linear.*method='isotonic'.*'temperature' or 'vector'"):
            ask(X)
    assert not hasattr(fitted, "temperature_")


@pytest.mark.parametrize(
    "changed, error, message",
    [
        (
            {"method": "platt"},
            ValueError,
            "method must be one of 'temperature', 'vector', 'isotonic', got 'pl",
        ),
        (
            {"cv": "none"},
            ValueError,
            "cv must be a number of folds, a splitter, splits or 'prefit', got 'none'",
        ),
        ({"cv": "prefit"}, NotFittedError, "BayesClassifier.*not fitted yet, as cv='prefit' needs it to be"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
        ({"priors": [0.5, 0.6, 0.1]}, ValueError, "priors must sum to 1"),
        ({"model": BayesClassifier}, TypeError, "class BayesClassifier|instance"),
        ({"model": LinearRegression()}, TypeError, "takes a classifier.* got a LinearRegression"),
        ({"model": "naive"}, TypeError, "takes a classifier.* got a str"),
        ({"cv": 500}, ValueError, "cv=500 folds need at least as many rows, but there are 60"),
    ],
)
def test_wrong_settings_are_refused_in_words(changed, error, message):
    X, y = drawn(60)
    with pytest.raises(error, match=message):
        Calibrated(BayesClassifier()).set_params(**changed).fit(X, y)


def test_a_label_that_a_fitted_model_does_not_know_is_named():
    X, y = drawn(60)
    model = BayesClassifier().fit(X, y)
    with pytest.raises(ValueError, match="label 'z', which the model does not know"):
        Calibrated(model, cv="prefit").fit(X, np.where(y == "a", "z", y))


def test_a_failed_fit_leaves_the_classifier_as_it_was():
    X, y = drawn(100)
    fitted = Calibrated(BayesClassifier()).fit(X, y)
    before = fitted.predict_proba(X)
    with pytest.raises(ValueError, match=r"100 rows|labels"):
        fitted.fit(X, y[:50])
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_scores_in_other_units_are_not_explained():
    X, y = drawn(200, 2)
    fitted = Calibrated(ProbitRegression()).fit(X, y)
    with pytest.raises(ValueError, match=r"standard deviations.*explain the model itself"):
        fitted.explain(X)
    with pytest.raises(AttributeError, match="LogisticRegression has no explain"):
        Calibrated(LogisticRegression()).fit(X, y).explain(X)
