"""Every row is answered by a model that has not seen it, whatever the model, the splits and the scorer."""

import re
from functools import partial

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import naive_bayes
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.covariance import LedoitWolf
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, brier_score_loss, get_scorer_names, log_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import has_fit_parameter

import suffice
from suffice import cross_val_predict_proba, cross_val_scores, dropin, evaluate
from suffice.families import Normal

RNG = np.random.default_rng(0)
N_ROWS = 120
Y = RNG.integers(3, size=N_ROWS)
X = RNG.normal(size=(N_ROWS, 4)) + Y[:, np.newaxis]
GROUPS = np.arange(N_ROWS) // 20
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 3.0], N_ROWS)
TEXTS = [f"{'good' if label else 'bad'} {RNG.choice(['plot', 'star', 'film'])}" for label in Y]
SPLITTERS = {
    "stratified": StratifiedKFold(4, shuffle=True, random_state=0),
    "folds": KFold(5),
    "grouped": GroupKFold(4),
    "one group out": LeaveOneGroupOut(),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "overlapping": ShuffleSplit(4, test_size=0.3, random_state=0),
    "growing": TimeSeriesSplit(3),
    "predefined": PredefinedSplit(np.arange(N_ROWS) % 3 - 1),
    "listed": [(np.arange(80), np.arange(80, 100)), (np.arange(40, 120), np.arange(40))],
}


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_the_scores_of_any_splits_are_those_of_scikit_learn(splitter):
    cv = SPLITTERS[splitter]
    groups = GROUPS if splitter in ("grouped", "one group out") else None
    scoring = ["neg_log_loss", "accuracy"]
    found = cross_val_scores(dropin.GaussianNB(), X, Y, cv=cv, scoring=scoring, groups=groups)
    theirs = cross_validate(naive_bayes.GaussianNB(), X, Y, cv=cv, scoring=scoring, groups=groups)
    for name in scoring:
        np.testing.assert_allclose(found[name], theirs[f"test_{name}"], rtol=0, atol=1e-9)


def is_for_classes(name):
    kinds = ("error", "deviance", "r2", "variance", "samples", "likelihood", "max_error")
    return not any(kind in name for kind in kinds)


@pytest.mark.parametrize("scoring", [*filter(is_for_classes, get_scorer_names())])
def test_any_scorer_by_name_is_that_of_scikit_learn(scoring):
    y = Y if scoring == "top_k_accuracy" else (Y > 0).astype(int)  # some scorers are for two classes
    found = cross_val_scores(dropin.GaussianNB(), X, y, cv=5, scoring=scoring)
    theirs = cross_val_score(naive_bayes.GaussianNB(), X, y, cv=5, scoring=scoring)
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-9)
    assert found.shape == (5,)


def test_the_default_is_the_log_loss_of_ten_stratified_folds():
    found = cross_val_scores(dropin.GaussianNB(), X, Y)
    theirs = cross_val_score(naive_bayes.GaussianNB(), X, Y, cv=10, scoring="neg_log_loss")
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "model, rows",
    [
        (naive_bayes.GaussianNB(), X),
        (suffice.LogisticRegression(), X),
        (suffice.CostSensitive(suffice.BayesClassifier(), costs=1 - np.eye(3)), X),
        (make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()), TEXTS),
        (dropin.QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=LedoitWolf()), X),
    ],
    ids=["scikit-learn", "regression", "wrapper", "pipeline", "covariance estimator"],
)
def test_other_classifiers_are_refitted_to_each_split(model, rows):
    found = cross_val_scores(model, rows, Y, cv=4, scoring="accuracy")
    theirs = cross_val_score(model, rows, Y, cv=4, scoring="accuracy")
    np.testing.assert_array_equal(found, theirs)


def test_scorers_of_any_kind_are_taken():
    model, own = dropin.GaussianNB(), make_scorer(accuracy_score)
    scores = cross_val_scores(model, X, Y, cv=3, scoring="accuracy")
    np.testing.assert_array_equal(cross_val_scores(model, X, Y, cv=3, scoring=own), scores)

    def right(fitted, rows, labels):
        return np.mean(fitted.predict(rows) == labels)

    def both(fitted, rows, labels):
        return {"right": right(fitted, rows, labels), "rows": len(rows)}

    np.testing.assert_allclose(cross_val_scores(model, X, Y, cv=3, scoring=right), scores, rtol=1e-15)
    named = cross_val_scores(model, X, Y, cv=3, scoring={"a": "accuracy", "b": own})
    assert list(named) == ["a", "b"]
    np.testing.assert_array_equal(named["b"], scores)
    several = cross_val_scores(model, X, Y, cv=3, scoring=both)
    assert several["rows"].tolist() == [40, 40, 40]
    np.testing.assert_allclose(several["right"], scores, rtol=1e-15)
    alone = cross_val_scores(model, X, Y, cv=3, scoring=["accuracy"])
    assert list(alone) == ["accuracy"]


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "another"])
def test_weights_count_in_fitting_and_in_scoring(ours):
    model = dropin.GaussianNB() if ours else naive_bayes.GaussianNB()
    splits = list(StratifiedKFold(4).split(X, Y))
    found = cross_val_scores(model, X, Y, cv=splits, sample_weight=WEIGHTS)
    expected = [
        -log_loss(
            Y[test],
            clone(model).fit(X[train], Y[train], WEIGHTS[train]).predict_proba(X[test]),
            sample_weight=WEIGHTS[test],
        )
        for train, test in splits
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    repeated = np.repeat(np.arange(N_ROWS), (2 * WEIGHTS).astype(int))
    twice = evaluate(model, X, Y, cv=splits, sample_weight=2 * WEIGHTS)
    places = {row: np.flatnonzero(repeated == row) for row in range(N_ROWS)}
    copies = [tuple(np.concatenate([places[row] for row in rows]) for rows in split) for split in splits]
    again = evaluate(model, X[repeated], Y[repeated], cv=copies)
    np.testing.assert_allclose(twice.log_loss, again.log_loss, rtol=1e-9)
    np.testing.assert_allclose(twice.confusion, again.confusion)


@pytest.mark.parametrize("model", [suffice.BayesClassifier(), naive_bayes.GaussianNB()])
def test_a_class_without_training_rows_has_the_posterior_zero(model):
    y = np.repeat(["a", "b", "c"], N_ROWS // 3)
    posteriors = cross_val_predict_proba(model, X, y, cv=KFold(3))
    for k in range(3):
        rows = slice(40 * k, 40 * k + 40)
        assert not posteriors[rows, k].any()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    found = cross_val_scores(
        model, X, y, cv=KFold(3), scoring=["neg_log_loss", "neg_brier_score", "accuracy"]
    )
    classes = ["a", "b", "c"]
    for k in range(3):
        rows = slice(40 * k, 40 * k + 40)
        assert found["neg_log_loss"][k] == -log_loss(y[rows], posteriors[rows], labels=classes)
        assert found["neg_brier_score"][k] == -brier_score_loss(y[rows], posteriors[rows], labels=classes)
    assert found["accuracy"].tolist() == [0, 0, 0]


def test_a_class_without_test_rows_is_scored_too():
    y = np.where(np.arange(N_ROWS) < 30, 2, Y % 2)
    found = cross_val_scores(dropin.GaussianNB(), X, y, cv=KFold(4, shuffle=False), scoring="neg_log_loss")
    for (train, test), score in zip(KFold(4).split(X), found, strict=True):
        if 2 in y[train]:
            p = naive_bayes.GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
            np.testing.assert_allclose(score, -log_loss(y[test], p, labels=[0, 1, 2]), rtol=1e-9)


@pytest.mark.parametrize("cv", [10, KFold(7, shuffle=True, random_state=0)])
def test_posteriors_are_those_of_scikit_learn(cv):
    found = cross_val_predict_proba(dropin.GaussianNB(), X, Y, cv=cv)
    theirs = cross_val_predict(naive_bayes.GaussianNB(), X, Y, cv=cv, method="predict_proba")
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3), [([0, 1, 2], [3])]])
def test_posteriors_need_splits_that_hold_out_each_row_once(cv):
    with pytest.raises(ValueError, match=r"hold out row \d+ [1-9] times|never hold out row \d+,"):
        cross_val_predict_proba(suffice.BayesClassifier(), X, Y, cv=cv)


def test_evaluation_is_that_of_the_posteriors_out_of_fold():
    model = suffice.BayesClassifier()
    posteriors = cross_val_predict_proba(model, X, Y, cv=5, sample_weight=WEIGHTS)
    found = evaluate(model, X, Y, cv=5, sample_weight=WEIGHTS)
    expected = suffice.Evaluation.of(Y, posteriors, sample_weight=WEIGHTS)
    assert found.log_loss == expected.log_loss
    np.testing.assert_array_equal(found.confusion, expected.confusion)
    assert not hasattr(model, "classes_")


def test_evaluation_takes_splits_that_hold_out_rows_more_than_once_or_never():
    found = evaluate(suffice.BayesClassifier(), X, Y, cv=ShuffleSplit(5, test_size=30, random_state=0))
    assert found.confusion.sum() == 150
    assert evaluate(suffice.BayesClassifier(), X, Y, cv=TimeSeriesSplit(3)).confusion.sum() == 90


def test_evaluation_takes_groups_tables_and_classifiers_without_posteriors():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
    found = evaluate(suffice.BayesClassifier(), frame, "y", cv=GroupKFold(4), groups=GROUPS)
    assert isinstance(found.to_frame(), pd.DataFrame)
    theirs = cross_val_predict(LinearSVC(), X, Y, cv=4)
    alone = evaluate(LinearSVC(), X, Y, cv=4)
    assert alone.accuracy == np.mean(theirs == Y)
    assert np.isnan(alone.log_loss)
    assert suffice.evaluate(suffice.TextClassifier(), TEXTS, Y, cv=3).accuracy > 0.5


TABLES = {
    "list": X.tolist(),
    "float32": X.astype(np.float32),
    "pandas": pd.DataFrame(X, index=np.arange(N_ROWS)[::-1]),
    "polars": pl.DataFrame(X),
    "pyarrow": pa.table({f"x{j}": X[:, j] for j in range(4)}),
    "narwhals": nw.from_native(pl.DataFrame(X)),
}


@pytest.mark.parametrize("container", TABLES)
def test_any_container_is_split_by_position(container):
    found = cross_val_predict_proba(suffice.BayesClassifier(Normal()), TABLES[container], Y, cv=4)
    plain = cross_val_predict_proba(suffice.BayesClassifier(Normal()), X, Y, cv=4)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-5 if container == "float32" else 1e-12)


@pytest.mark.parametrize(
    "container", [np.array, pd.Series, pl.Series, pa.array, lambda one: pa.chunked_array([one])]
)
def test_any_column_of_documents_is_split_by_position(container):
    found = cross_val_predict_proba(suffice.TextClassifier(), container(TEXTS), Y, cv=4)
    plain = cross_val_predict_proba(suffice.TextClassifier(), TEXTS, Y, cv=4)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_are_split_by_position(form):
    counts = np.round(np.abs(X))
    found = cross_val_predict_proba(dropin.MultinomialNB(), sparse.coo_array(counts).asformat(form), Y, cv=4)
    plain = cross_val_predict_proba(dropin.MultinomialNB(), counts, Y, cv=4)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)


def test_abstaining_counts_as_an_answer_in_cross_validation():
    model = suffice.CostSensitive(
        suffice.BayesClassifier(), costs=1 - np.eye(3), reject_cost=0.1, reject_label=-1
    )
    assert evaluate(model, X, Y, cv=4).labels == (0, 1, 2, -1)


@pytest.mark.filterwarnings("ignore:column 'visits'.*never seen in training")  # the halves differ on purpose
def test_the_schema_is_that_of_all_rows_unless_refitted():
    frame = pd.DataFrame({"visits": np.r_[RNG.integers(0, 2, 60), RNG.poisson(4.0, 60)], "x": X[:, 0]})
    halves = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    model = suffice.BayesClassifier()
    schema = clone(model).fit(frame, Y).schema_
    whole = [clone(model).set_params(families=schema).fit(frame.iloc[a], Y[a]) for a, _ in halves]
    inside = [clone(model).fit(frame.iloc[a], Y[a]) for a, _ in halves]
    assert whole[0].schema_ != inside[0].schema_
    for refit_schema, fitted in ((False, whole), (True, inside)):
        found = cross_val_scores(model, frame, Y, cv=halves, refit_schema=refit_schema)
        expected = [
            -log_loss(Y[b], one.predict_proba(frame.iloc[b]))
            for one, (_, b) in zip(fitted, halves, strict=True)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        posteriors = cross_val_predict_proba(model, frame, Y, cv=halves, refit_schema=refit_schema)
        np.testing.assert_allclose(posteriors[:60], fitted[1].predict_proba(frame.iloc[:60]), atol=1e-9)
        report = evaluate(model, frame, Y, cv=halves, refit_schema=refit_schema)
        np.testing.assert_allclose(report.log_loss, -found.mean(), rtol=1e-9)


class OnlyLabels(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


@pytest.mark.parametrize("splits", [3, GroupKFold(3)])
def test_models_of_splits_need_the_splits_themselves(splits):
    for model in (suffice.BayesClassifier(), suffice.Calibrated(suffice.BayesClassifier())):
        with pytest.raises(TypeError, match=r"StratifiedKFold\(5\)\.split\(X, y\), got "):
            list(model.fit_grid(X, Y, splits, [{}]))
    with pytest.raises(TypeError, match=r"StratifiedKFold\(5\)\.split\(X, y\), got "):
        list(suffice.BayesClassifier().fit_splits(X, Y, splits))


def refusals():
    model = suffice.BayesClassifier()
    yield {"cv": 200}, "cv=200 folds need at least as many rows, but there are 120"
    yield {"cv": 100}, "the largest class has only"
    yield {"cv": 1}, "cv must be at least 2 folds"
    yield {"cv": True}, "cv must be at least 2 folds"
    yield {"cv": []}, "cv has no splits"
    yield {"scoring": "log_loss"}, "no scorer 'log_loss'; did you mean 'neg_log_loss'?"
    yield {"scoring": "Accuracy"}, "did you mean 'accuracy'?"
    yield {"scoring": "zzz"}, "get_scorer_names"
    yield {"scoring": []}, "scoring must name a scorer"
    yield {"scoring": None}, "scoring must name a scorer"
    yield {"scoring": accuracy_score}, "accuracy_score compares labels"
    yield {"scoring": "rand_score", "sample_weight": WEIGHTS}, "'rand_score' does not take sample_weight"
    yield {"sample_weight": WEIGHTS[1:]}, "sample_weight"
    yield {"sample_weight": -WEIGHTS}, "sample_weight"
    yield {"y": Y[1:]}, "X has 120 rows, but y has 119 labels"
    yield {"y": None}, "y"
    yield {"model": type(model)}, "takes a classifier first, got the class BayesClassifier"
    yield {"model": LinearRegression()}, "takes a classifier first, got a LinearRegression"
    yield {"model": LinearSVC()}, "no predict_proba; wrap it in suffice.Calibrated(LinearSVC())"
    yield {"model": OnlyLabels()}, "since OnlyLabels has no decision_function to calibrate either"
    yield (
        {"cv": [([0, 1], [500])]},
        "the test rows of split 0 must be positions or a mask of 120 rows, got 500.",
    )
    yield {"cv": [([0], [1]), ([0, -121], [2])]}, "the training rows of split 1 must be positions"
    yield {"cv": [([True, False], [1])]}, "a mask of 120 rows, got a mask of length 2"
    yield {"cv": [([0.5, 1.0], [1])]}, "a mask of 120 rows, got 0.5"
    yield {"cv": GroupKFold(3), "groups": "year"}, "groups takes one value for each of the 120 rows"
    yield {"cv": GroupKFold(3), "groups": GROUPS[1:]}, "got an array of shape (119,)"


@pytest.mark.parametrize("changed, message", [*refusals()])
def test_what_cannot_be_done_is_refused_with_its_cure(changed, message):
    arguments = {"model": suffice.BayesClassifier(), "X": X, "y": Y, **changed}
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(message)):
        cross_val_scores(**arguments)


def test_scores_of_posteriors_are_refused_where_y_has_one_class():
    alone = ["a"] * N_ROWS
    model = suffice.BayesClassifier()
    for scoring in ("neg_log_loss", "neg_brier_score", "d2_log_loss_score", ["accuracy", "neg_log_loss"]):
        with pytest.raises(ValueError, match="needs two classes or more, but y has only one class, 'a'"):
            cross_val_scores(model, X, alone, cv=3, scoring=scoring)
        with pytest.raises(ValueError, match="only one class, 'a'"):
            suffice.OnePassSearchCV(model, {}, cv=3, scoring=scoring, refit=False).fit(X, alone)
    for call in (partial(evaluate, cv=3), lambda model, *rows: suffice.compare([model], *rows)):
        with pytest.raises(ValueError, match="the log loss needs two classes or more, but y has only one"):
            call(model, X, alone)
    assert cross_val_scores(model, X, alone, cv=3, scoring="accuracy").tolist() == [1.0, 1.0, 1.0]


def test_weights_are_refused_for_models_that_do_not_take_them():
    model = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB())
    assert not has_fit_parameter(model, "sample_weight")
    with pytest.raises(TypeError, match=r"Pipeline\.fit does not take sample_weight"):
        cross_val_scores(model, TEXTS, Y, sample_weight=WEIGHTS)


def test_groups_and_refit_schema_are_refused_without_splits():
    fitted = suffice.BayesClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="pass cv= with them"):
        evaluate(fitted, X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="pass cv= with them"):
        evaluate(fitted, X, Y, refit_schema=True)


def test_an_error_names_the_split_it_happened_in():
    splits = [(np.arange(60), np.arange(60, 120)), ([0, 1], [2])]
    model = dropin.QuadraticDiscriminantAnalysis()
    with pytest.raises(ValueError, match="covariance is ill defined") as refused:
        cross_val_scores(model, X, np.arange(N_ROWS) % 2, cv=splits)
    assert refused.value.__notes__ == ["This happened in split 1 of the cross-validation."]
