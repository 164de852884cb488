"""Classifiers around a model are cross-validated with the folds of the model, and equal refits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import suffice
from suffice import (
    BayesClassifier,
    Calibrated,
    CostSensitive,
    GaussianDiscriminant,
    OnePassSearchCV,
    TextClassifier,
    WithPriors,
    cross_val_predict_proba,
    cross_val_scores,
    dropin,
)
from suffice.families import Normal
from suffice.model.summarize import LabelledRows

RNG = np.random.default_rng(0)
N_ROWS = 150
Y = np.array(["a", "b", "c"])[RNG.integers(3, size=N_ROWS)]
PLACE = np.searchsorted(["a", "b", "c"], Y)
X = RNG.normal(size=(N_ROWS, 4)) + PLACE[:, np.newaxis]
X[RNG.random(X.shape) < 0.05] = np.nan
FULL = np.nan_to_num(X)
TABLE = pd.DataFrame({"size": X[:, 0], "colour": RNG.choice(["red", "blue"], N_ROWS), "y": Y})
TEXTS = [
    " ".join(RNG.choice(["good", "bad", "film"], 5, p=[0.1 + 0.2 * k, 0.6 - 0.2 * k, 0.3])) for k in PLACE
]
WEIGHTS = RNG.choice([0.0, 1.0, 3.0], N_ROWS)
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
WRAPPED = {
    "costs": (CostSensitive(BayesClassifier(Normal()), COSTS), X),
    "costs, refusing": (CostSensitive(GaussianDiscriminant(), COSTS, reject_cost=0.3), X),
    "costs of text": (CostSensitive(TextClassifier(), COSTS), TEXTS),
    "other priors": (WithPriors(dropin.GaussianNB()), FULL),
    "calibrated": (Calibrated(BayesClassifier(Normal())), X),
    "calibrated text": (Calibrated(TextClassifier(), "isotonic", cv=3), TEXTS),
    "calibrated table": (Calibrated(BayesClassifier(), "vector"), TABLE.drop(columns="y")),
    "costs of calibrated": (CostSensitive(Calibrated(BayesClassifier(Normal()), cv=4), COSTS), X),
    "costs of another library": (CostSensitive(LogisticRegression(), COSTS), FULL),
    "calibrated of another library": (Calibrated(GaussianNB()), FULL),
}


def taken(rows, places):
    if hasattr(rows, "iloc"):
        return rows.iloc[places]
    return rows[places] if hasattr(rows, "shape") else [rows[i] for i in places]


def refits(model, rows, splits, weights=None):
    """A clone fitted to the training rows of each split, with its test rows."""
    for train, test in splits:
        weight = {} if weights is None else {"sample_weight": weights[train]}
        yield clone(model).fit(taken(rows, train), Y[train], **weight), test


@pytest.fixture
def summed(monkeypatch):
    """The numbers of rows that were summed, run by run."""
    counts = []
    add = LabelledRows.add_to

    def counting(self, accumulator):
        counts.append(len(self.codes))
        add(self, accumulator)

    monkeypatch.setattr(LabelledRows, "add_to", counting)
    return counts


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("name", WRAPPED)
def test_posteriors_out_of_fold_are_those_of_refits(name, weights):
    model, rows = WRAPPED[name]
    found = cross_val_predict_proba(model, rows, Y, cv=4, sample_weight=weights)
    for fitted, test in refits(model, rows, StratifiedKFold(4).split(FULL, Y), weights):
        expected = fitted.predict_proba(taken(rows, test))
        np.testing.assert_allclose(found[test], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", WRAPPED)
def test_scores_and_decisions_are_those_of_refits(name):
    model, rows = WRAPPED[name]
    splits = list(ShuffleSplit(3, random_state=0).split(FULL))
    found = cross_val_scores(model, rows, Y, cv=splits, scoring="accuracy")
    expected = [one.score(taken(rows, test), Y[test]) for one, test in refits(model, rows, splits)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    report = suffice.evaluate(model, rows, Y, cv=splits)
    assert report.accuracy == pytest.approx(np.mean(found), abs=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        CostSensitive(BayesClassifier(Normal()), COSTS),
        WithPriors(BayesClassifier(Normal())),
        CostSensitive(WithPriors(GaussianDiscriminant()), COSTS),
    ],
    ids=repr,
)
def test_a_wrapped_model_reads_each_row_once(model, summed):
    for run in (cross_val_scores, cross_val_predict_proba, suffice.evaluate):
        summed.clear()
        run(model, X, Y, cv=5)
        assert sum(summed) == N_ROWS


def test_a_calibrated_model_reads_each_row_once_for_all_folds_and_itself(summed):
    fitted = Calibrated(BayesClassifier(Normal())).fit(X, Y)
    assert sum(summed) == N_ROWS
    alone = BayesClassifier(Normal()).fit(X, Y)
    np.testing.assert_allclose(fitted.model_.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-12)
    summed.clear()
    cross_val_scores(CostSensitive(Calibrated(BayesClassifier(Normal())), COSTS), X, Y, cv=5)
    assert sum(summed) == 4 * N_ROWS  # each split calibrates on its training rows, four fifths of all


@pytest.mark.parametrize(
    "model, grid, passes",
    [
        (
            CostSensitive(dropin.GaussianNB()),
            {"costs": [None, COSTS], "model__var_smoothing": [1e-9, 0.1, 1.0]},
            1,
        ),
        (
            WithPriors(dropin.GaussianNB()),
            {"priors": ["uniform", [0.2, 0.3, 0.5]], "training_priors": [None]},
            1,
        ),
        (
            CostSensitive(dropin.GaussianNB()),
            {"model": [dropin.GaussianNB(), dropin.GaussianNB(var_smoothing=0.3)]},
            2,
        ),
        (
            Calibrated(dropin.GaussianNB()),
            {"method": ["temperature", "vector", "isotonic"], "model__var_smoothing": [1e-9, 0.5]},
            3,
        ),
        (
            CostSensitive(Calibrated(dropin.GaussianNB()), COSTS),
            {"reject_cost": [None, 0.5], "model__method": ["temperature", "vector"], "model__cv": [3]},
            3,
        ),
    ],
    ids=["costs", "priors", "models", "calibrated", "costs of calibrated"],
)
def test_a_search_finds_what_refits_find(model, grid, passes, summed):
    """Settings are those of scikit-learn's search, whose clones are fitted to the rows of each split."""
    found = OnePassSearchCV(model, grid, cv=4, return_train_score=True).fit(FULL, Y)
    assert sum(summed) == (passes + 1) * N_ROWS  # one more to fit the best of them
    settings = {"scoring": "neg_log_loss", "return_train_score": True}
    theirs = GridSearchCV(model, grid, cv=4, **settings).fit(FULL, Y)
    assert found.cv_results_.keys() == theirs.cv_results_.keys()
    for name, values in theirs.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(found.cv_results_[name], values, rtol=0, atol=1e-9)
    assert repr(found.best_params_) == repr(theirs.best_params_)
    np.testing.assert_allclose(found.predict_proba(FULL), theirs.predict_proba(FULL), rtol=0, atol=1e-9)
    assert found.predict(FULL).tolist() == theirs.predict(FULL).tolist()


def test_settings_of_the_wrapper_alone_share_the_models_of_any_library():
    fits = []

    class Counted(LogisticRegression):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    grid = {"reject_cost": [None, 0.1, 0.5], "model__C": [0.1, 1.0]}
    OnePassSearchCV(CostSensitive(Counted()), grid, cv=3, scoring="accuracy", refit=False).fit(FULL, Y)
    assert len(fits) == 2 * 3
    fits.clear()
    grid = {"method": ["temperature", "vector", "isotonic"], "priors": [None, "uniform"]}
    OnePassSearchCV(Calibrated(Counted(), cv=4), grid, cv=3, refit=False).fit(FULL, Y)
    assert len(fits) == 3 * (4 + 1)


def test_the_models_of_a_grid_have_their_settings_and_leave_the_wrapper_as_it_is():
    wrapper = CostSensitive(BayesClassifier(), COSTS)
    settings = [{"costs": None, "model__priors": "uniform"}, {"reject_cost": 0.2}]
    splits = list(StratifiedKFold(3).split(FULL, Y))
    made = {(number, split): one for number, split, one in wrapper.fit_grid(TABLE, "y", splits, settings)}
    assert sorted(made) == [(number, split) for number in (0, 1) for split in (0, 1, 2)]
    assert made[0, 1].costs is None
    assert made[0, 1].model.priors == made[0, 1].model_.priors == "uniform"
    assert made[1, 2].reject_cost == 0.2
    assert made[1, 2].model_.statistics_.n_rows == len(splits[2][0])
    assert not hasattr(wrapper, "model_")


def test_families_of_a_calibrated_model_are_inferred_from_training_rows():
    rows = TABLE.assign(number=np.where(np.arange(N_ROWS) < 30, 0.5, np.arange(N_ROWS)))
    splits = [(np.arange(30, N_ROWS), np.arange(30))]
    made = next(Calibrated(BayesClassifier()).fit_grid(rows, "y", splits, [{}]))[2]
    alone = Calibrated(BayesClassifier()).fit(rows.iloc[30:], "y")
    assert made.model_.schema_ == alone.model_.schema_
    assert made.temperature_ == alone.temperature_


class Plain:
    """A classifier that knows nothing of scikit-learn."""

    def fit(self, X, y):
        self.classes_, self.shares = np.unique(y, return_counts=True)
        return self

    def predict_proba(self, X):
        return np.tile(self.shares / self.shares.sum(), (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_objects_that_are_not_of_scikit_learn_are_copied():
    share = np.bincount(PLACE).max() / N_ROWS
    for model in (Plain(), CostSensitive(Plain()), WithPriors(Plain(), "empirical"), Calibrated(Plain())):
        found = cross_val_scores(model, FULL, Y, cv=3, scoring=lambda m, X, y: np.mean(m.predict(X) == y))
        np.testing.assert_allclose(found, share, atol=0.02)
    assert Calibrated(Plain().fit(FULL, Y), cv="prefit").fit(FULL, Y).temperature_ > 0


def test_a_fitted_model_stays_fitted_in_cross_validation_only_if_it_is_frozen():
    model = BayesClassifier(Normal()).fit(X[:75], Y[:75])
    with pytest.raises(NotFittedError, match="cv='prefit' needs it to be"):
        cross_val_scores(Calibrated(model, cv="prefit"), X, Y, cv=3)
    frozen = Calibrated(FrozenEstimator(model), cv="prefit")
    found = cross_val_predict_proba(frozen, X[75:], Y[75:], cv=3)
    for fitted, test in refits_of_half(frozen):
        np.testing.assert_allclose(found[test], fitted.predict_proba(X[75:][test]), rtol=0, atol=1e-9)


def refits_of_half(model):
    for train, test in StratifiedKFold(3).split(X[75:], Y[75:]):
        yield clone(model).fit(X[75:][train], Y[75:][train]), test


@pytest.mark.parametrize("frame", [TABLE, TABLE.to_dict("list"), TABLE.to_dict("records")], ids=type)
def test_labels_may_be_a_column_and_rows_may_be_dicts(frame):
    rows = TABLE.drop(columns="y")
    for model in (BayesClassifier(), CostSensitive(BayesClassifier()), Calibrated(BayesClassifier())):
        expected = cross_val_scores(model, rows, Y, cv=3)
        np.testing.assert_allclose(cross_val_scores(model, frame, "y", cv=3), expected, rtol=0, atol=1e-12)
        found = cross_val_predict_proba(model, frame, "y", cv=3)
        np.testing.assert_allclose(found, cross_val_predict_proba(model, rows, Y, cv=3), rtol=0, atol=1e-12)
        search = OnePassSearchCV(model, {}, cv=3).fit(frame, "y")
        assert search.best_score_ == pytest.approx(expected.mean(), abs=1e-12)
