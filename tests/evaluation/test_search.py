"""A search over settings finds what scikit-learn's GridSearchCV finds, with one pass over the rows."""

import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn import discriminant_analysis, naive_bayes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import suffice
from suffice import OnePassSearchCV, dropin
from suffice.families import Gamma, Histogram, MultivariateNormal, Normal
from suffice.model.folds.training_sums import SplitRows

RNG = np.random.default_rng(0)
N_ROWS = 150
Y = RNG.integers(3, size=N_ROWS)
X = RNG.normal(size=(N_ROWS, 4)) + Y[:, np.newaxis]
COUNTS = RNG.poisson(1.0 + Y[:, np.newaxis], (N_ROWS, 5))
WEIGHTS = RNG.choice([0.5, 1.0, 3.0], N_ROWS)
TEXTS = [
    " ".join(RNG.choice(["good", "bad", "film", "plot"], 5, p=[0.1 + 0.2 * k, 0.5 - 0.2 * k, 0.2, 0.2]))
    for k in Y
]
SMOOTHINGS = {"var_smoothing": [1e-9, 1e-3, 1e-1, 1.0]}
TWINS = {
    "GaussianNB": (dropin.GaussianNB(), naive_bayes.GaussianNB(), X, SMOOTHINGS),
    "MultinomialNB": (
        dropin.MultinomialNB(),
        naive_bayes.MultinomialNB(),
        COUNTS,
        {"alpha": [0.01, 1.0, 50.0], "fit_prior": [True, False]},
    ),
    "ComplementNB": (
        dropin.ComplementNB(),
        naive_bayes.ComplementNB(),
        COUNTS,
        {"alpha": [0.1, 1.0], "norm": [False, True]},
    ),
    "BernoulliNB": (
        dropin.BernoulliNB(),
        naive_bayes.BernoulliNB(),
        COUNTS,
        [{"alpha": [0.1, 5.0]}, {"binarize": [1.0, 2.0]}],
    ),
    "LDA": (
        dropin.LinearDiscriminantAnalysis("lsqr"),
        discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr"),
        X,
        {"shrinkage": [None, 0.1, 0.5, 0.9, "auto"]},
    ),
    "QDA": (
        dropin.QuadraticDiscriminantAnalysis(),
        discriminant_analysis.QuadraticDiscriminantAnalysis(),
        X,
        {"reg_param": [0.0, 0.2, 0.8]},
    ),
}


def assert_same_results(found, theirs):
    assert list(found) == list(theirs)
    for name, values in theirs.items():
        if "time" in name:
            assert np.all(np.asarray(found[name]) >= 0)
        elif "score" in name:
            np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-9)
        else:
            assert repr(found[name]) == repr(values)


@pytest.mark.parametrize("name", TWINS)
def test_everything_found_is_what_scikit_learn_finds(name):
    ours, theirs, rows, grid = TWINS[name]
    settings = {"cv": 4, "scoring": "neg_log_loss", "return_train_score": True}
    found = OnePassSearchCV(ours, grid, **settings).fit(rows, Y)
    expected = GridSearchCV(theirs, grid, **settings).fit(rows, Y)
    assert_same_results(found.cv_results_, expected.cv_results_)
    assert found.best_params_ == expected.best_params_
    assert found.best_index_ == expected.best_index_
    np.testing.assert_allclose(found.best_score_, expected.best_score_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.score(rows, Y), expected.score(rows, Y), rtol=0, atol=1e-9)
    assert found.predict(rows).tolist() == expected.predict(rows).tolist()
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert (found.n_features_in_, found.n_splits_) == (expected.n_features_in_, expected.n_splits_)
    assert found.multimetric_ is expected.multimetric_ is False
    assert callable(found.scorer_)
    assert found.refit_time_ >= 0


def test_settings_that_share_sums_read_each_row_once(monkeypatch):
    read = []
    take = suffice.tables.table.Table.take
    monkeypatch.setattr(
        suffice.tables.table.Table, "take", lambda self, rows: read.append(len(rows)) or take(self, rows)
    )
    OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=5).fit(X, Y)
    assert sum(read) == N_ROWS


@pytest.mark.parametrize(
    "model, grid",
    [
        (suffice.BayesClassifier(), {"families": ["infer", {0: None}, {0: None, 2: None}, {1: None}]}),
        (suffice.BayesClassifier(), {"families": [Normal(), Normal(alpha=9), {0: Histogram(), 3: None}]}),
        (suffice.BayesClassifier({(0, 1, 2): MultivariateNormal("shared")}), {"priors": [None, "uniform"]}),
        (
            suffice.BayesClassifier(),
            {"families": [MultivariateNormal(), {(0, 2): MultivariateNormal(shrinkage=0.1), 1: None}]},
        ),
        (
            suffice.GaussianDiscriminant(),
            {"covariance": ["full", [[0, 1], [2]]], "shrinkage": [None, 0.1, "ledoit_wolf"], "ddof": [0, 1]},
        ),
    ],
)
def test_other_columns_and_families_read_each_row_once(monkeypatch, model, grid):
    read = []
    take = suffice.tables.table.Table.take
    monkeypatch.setattr(
        suffice.tables.table.Table, "take", lambda self, rows: read.append(len(rows)) or take(self, rows)
    )
    OnePassSearchCV(model, grid, cv=5).fit(X, Y)
    assert sum(read) == N_ROWS


@pytest.mark.parametrize(
    "grid, passes",
    [
        ({"alpha": [0.1, 1.0, 10.0], "event": ["multinomial", "bernoulli", "complement"]}, 1),
        ({"tf": ["count", "log", "binary"], "length": [None, "l2"], "alpha": [0.1, 1.0]}, 1),
        ({"min_count": [1, 5], "max_vocabulary": [2, None], "idf": [False, True]}, 1),
        ({"unseen": ["ignore", "smooth"], "weight_norm": [False, True], "priors": [None, "uniform"]}, 1),
        ({"ngram_range": [(1, 1), (1, 2)], "alpha": [0.1, 1.0]}, 2),
    ],
)
def test_an_n_gram_range_is_one_pass_and_an_alpha_is_none(monkeypatch, grid, passes):
    summed = []
    sums = SplitRows.training_sums
    monkeypatch.setattr(SplitRows, "training_sums", lambda *args: summed.append(1) or sums(*args))
    search = OnePassSearchCV(suffice.TextClassifier(), grid, cv=3).fit(TEXTS, Y)
    assert len(summed) == passes
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        alone = suffice.cross_val_scores(suffice.TextClassifier(**params), TEXTS, Y, cv=3, refit_schema=True)
        np.testing.assert_allclose(score, alone.mean(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "model, rows, grid",
    [
        (
            suffice.GaussianDiscriminant(),
            X,
            {"covariance": ["full", "shared", "isotropic"], "shrinkage": [None, 0.3, "oas", "ledoit_wolf"]},
        ),
        (suffice.BayesClassifier(), X, {"families": [Normal(), Normal(alpha=9), Normal("shared")]}),
        (suffice.BayesClassifier(), np.exp(X), {"families": [Normal(), Gamma(), {0: None}]}),
        (suffice.BayesClassifier(), X, {"priors": [None, "uniform", [0.2, 0.2, 0.6]]}),
        (suffice.LogisticRegression(), X, {"C": [0.1, 10.0]}),
        (
            make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()),
            TEXTS,
            {"multinomialnb__alpha": [0.1, 9]},
        ),
        (
            suffice.CostSensitive(suffice.BayesClassifier(), costs=1 - np.eye(3)),
            X,
            {"model__priors": ["uniform"]},
        ),
    ],
    ids=["discriminant", "alphas", "families", "priors", "regression", "pipeline", "wrapper"],
)
def test_every_setting_scores_as_it_does_alone(model, rows, grid):
    search = OnePassSearchCV(model, grid, cv=3).fit(rows, Y)
    results = search.cv_results_
    for i, params in enumerate(results["params"]):
        alone = cross_val_score(clone(model).set_params(**params), rows, Y, cv=3, scoring="neg_log_loss")
        found = [results[f"split{split}_test_score"][i] for split in range(3)]
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-9)
    best = clone(model).set_params(**search.best_params_).fit(rows, Y)
    np.testing.assert_array_equal(search.predict_proba(rows), best.predict_proba(rows))


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("name", ["GaussianNB", "LDA", "theirs"])
def test_the_number_of_jobs_changes_no_number(name, n_jobs):
    model = TWINS["GaussianNB"][1] if name == "theirs" else TWINS[name][0]
    grid = TWINS["LDA" if name == "LDA" else "GaussianNB"][3]
    settings = {"cv": 4, "scoring": ["neg_log_loss", "accuracy"], "refit": "accuracy"}
    alone = OnePassSearchCV(model, grid, return_train_score=True, **settings).fit(X, Y, groups=None)
    several = clone(alone).set_params(n_jobs=n_jobs).fit(X, Y)
    for column, values in alone.cv_results_.items():
        if "time" not in column:
            assert repr(several.cv_results_[column]) == repr(values)
    assert all(np.all(several.cv_results_[c] >= 0) for c in several.cv_results_ if "time" in c)
    np.testing.assert_array_equal(several.predict_proba(X), alone.predict_proba(X))


def test_several_jobs_are_threads_and_raise_what_one_raises():
    threads = set()

    def score(model, rows, labels):
        threads.add(threading.get_ident())
        time.sleep(0.02)
        return np.mean(model.predict(rows) == labels)

    OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3, scoring=score, n_jobs=2).fit(X, Y)
    assert len(threads) == 2
    singular = np.column_stack([X, X[:, 0]])
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        OnePassSearchCV(dropin.QuadraticDiscriminantAnalysis(), {"reg_param": [0.0]}, cv=3, n_jobs=2).fit(
            singular, Y
        )
    infinite = np.where(np.arange(N_ROWS)[:, np.newaxis] == 7, np.inf, X)
    with pytest.raises(ValueError, match="row 7"):
        OnePassSearchCV(suffice.BayesClassifier(), {"priors": [None, "uniform"]}, cv=3, n_jobs=2).fit(
            infinite, Y
        )


def test_weights_and_groups_count_as_in_cross_validation():
    groups = np.arange(N_ROWS) // 10
    model, cv = suffice.GaussianDiscriminant("full"), GroupKFold(4)
    search = OnePassSearchCV(model, {"shrinkage": [0.1, 0.5]}, cv=cv).fit(X, Y, WEIGHTS, groups=groups)
    for i, shrinkage in enumerate((0.1, 0.5)):
        alone = suffice.cross_val_scores(
            clone(model).set_params(shrinkage=shrinkage), X, Y, cv=cv, groups=groups, sample_weight=WEIGHTS
        )
        np.testing.assert_allclose(search.cv_results_["mean_test_score"][i], alone.mean(), atol=1e-9)
    best = clone(model).set_params(**search.best_params_).fit(X, Y, WEIGHTS)
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))


def test_several_scorers_are_those_of_scikit_learn():
    settings = {"cv": StratifiedKFold(3), "scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss"}
    found = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, **settings).fit(X, Y)
    expected = GridSearchCV(naive_bayes.GaussianNB(), SMOOTHINGS, **settings).fit(X, Y)
    assert_same_results(found.cv_results_, expected.cv_results_)
    assert found.multimetric_
    assert list(found.scorer_) == list(expected.scorer_)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(found.score(X, Y), expected.score(X, Y), rtol=1e-9)

    def several(model, rows, labels):
        return {"right": np.mean(model.predict(rows) == labels), "rows": len(rows)}

    again = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3, scoring=several, refit="right").fit(X, Y)
    np.testing.assert_allclose(
        again.cv_results_["mean_test_right"], expected.cv_results_["mean_test_accuracy"], rtol=1e-12
    )


def test_refit_may_be_left_out_or_chosen_by_a_function():
    unfitted = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3, refit=False).fit(X, Y)
    assert unfitted.best_params_ in unfitted.cv_results_["params"]
    assert not hasattr(unfitted, "best_estimator_")
    with pytest.raises(AttributeError, match="predict"):
        unfitted.predict(X)
    last = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3, refit=lambda _: 3).fit(X, Y)
    assert last.best_params_ == {"var_smoothing": 1.0}
    assert last.best_estimator_.var_smoothing == 1.0
    assert not hasattr(last, "best_score_")


def test_any_splits_are_searched():
    cv = ShuffleSplit(3, random_state=0)
    found = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=cv).fit(X, Y)
    expected = GridSearchCV(naive_bayes.GaussianNB(), SMOOTHINGS, cv=cv, scoring="neg_log_loss").fit(X, Y)
    assert_same_results(found.cv_results_, expected.cv_results_)


def test_the_schema_may_be_inferred_inside_each_split():
    frame = pd.DataFrame({"visits": np.r_[RNG.integers(0, 2, 75), RNG.poisson(4.0, 75)], "x": X[:, 0]})
    halves = [(np.arange(75), np.arange(75, 150)), (np.arange(75, 150), np.arange(75))]
    grid, model = {"priors": [None, "uniform"]}, suffice.BayesClassifier()
    for refit_schema in (False, True):
        search = OnePassSearchCV(model, grid, cv=halves, refit_schema=refit_schema).fit(frame, Y)
        alone = suffice.cross_val_scores(model, frame, Y, cv=halves, refit_schema=refit_schema)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"][0], alone.mean(), rtol=1e-9)
    assert search.feature_names_in_.tolist() == ["visits", "x"]


def test_a_search_is_an_estimator_like_any_other():
    search = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3)
    before = dict(vars(search.estimator))
    with pytest.raises(NotFittedError):
        search.predict(X)
    inner = cross_val_score(search, X, Y, cv=3)
    assert inner.shape == (3,)
    search.fit(X, Y)
    assert vars(search.estimator) == before
    assert not hasattr(clone(search), "cv_results_")
    again = pickle.loads(pickle.dumps(search))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    nested = suffice.cross_val_scores(search, X, Y, cv=3)
    np.testing.assert_allclose(nested, inner, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"param_grid": {"var_smoothin": [1.0]}}, "var_smoothin"),
        ({"param_grid": {"var_smoothing": []}}, "var_smoothing"),
        ({"param_grid": []}, "param_grid has no settings"),
        ({"scoring": "acuracy"}, "did you mean 'accuracy'"),
        ({"scoring": ["accuracy"]}, "refit"),
        ({"cv": 1000}, "there are 150"),
        ({"estimator": dropin.GaussianNB}, "got the class GaussianNB"),
    ],
)
def test_what_cannot_be_searched_is_refused(changed, message):
    settings = {"estimator": dropin.GaussianNB(), "param_grid": SMOOTHINGS, **changed}
    with pytest.raises((TypeError, ValueError), match=message):
        OnePassSearchCV(**settings).fit(X, Y)


def test_a_setting_that_cannot_be_fitted_is_an_error():
    grid = {"reg_param": [0.0]}
    singular = np.column_stack([X, X[:, 0]])
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        OnePassSearchCV(dropin.QuadraticDiscriminantAnalysis(), grid, cv=3).fit(singular, Y)


def test_a_label_that_was_never_searched_cannot_be_scored():
    search = OnePassSearchCV(dropin.GaussianNB(), SMOOTHINGS, cv=3).fit(X, Y)
    for strange in (-1, 9):
        with pytest.raises(ValueError, match=r"labels other than \[0, 1, 2\]"):
            search.score(X[:2], [0, strange])
