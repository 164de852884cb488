"""Columns of text are the numbers they stand for in folds, searches, selection and leave-one-out, too."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, LeaveOneOut

from suffice import BayesClassifier, GaussianDiscriminant, OnePassSearchCV, OnePassSelector, summarize
from suffice.evaluation.cross_validation import cross_val_predict_proba
from suffice.families import Categorical, Normal
from suffice.model.folds.training_sums import SplitRows

RNG = np.random.default_rng(8)
N = 90
Y = np.where(RNG.random(N) < 0.4, "a", "b")
SHIFT = np.where(Y == "a", 1.0, 0.0)
GONE = np.arange(N) % 15 == 7
AGES = RNG.normal(40.0 + 3.0 * SHIFT, 5.0).round(2)
PRICES = RNG.normal(4000.0 + 900.0 * SHIFT, 800.0).round(1)
WIDTHS = RNG.normal(SHIFT, 2.0)
COLORS = RNG.choice(["red", "green", "blue"], N)

TEXT = pd.DataFrame(
    {
        "age": ["?" if gone else f"{age:.2f}" for age, gone in zip(AGES, GONE, strict=True)],
        "price": ["N/A" if gone else f"${price:,}" for price, gone in zip(PRICES, GONE[::-1], strict=True)],
        "width": WIDTHS,
        "color": ["?" if gone else str(color) for color, gone in zip(COLORS, GONE, strict=True)],
    }
)
MEANT = pd.DataFrame(
    {
        "age": np.where(GONE, np.nan, AGES),
        "price": np.where(GONE[::-1], np.nan, PRICES),
        "width": WIDTHS,
        "color": np.where(GONE, None, COLORS.astype(object)),
    }
)
NUMBERS = ["age", "price", "width"]
MODELS = {
    "bayes": BayesClassifier(),
    "predictive": BayesClassifier(posterior="predictive"),
    "normal": BayesClassifier("normal", columns=NUMBERS),
    "some columns": BayesClassifier(columns=["color", "price"]),
    "quadratic": GaussianDiscriminant("full", columns=NUMBERS),
    "linear": GaussianDiscriminant("shared", columns=NUMBERS),
}
WEIGHTS = {"no weights": None, "weights": RNG.integers(0, 3, N).astype(float)}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=["folds", "leave-one-out"])
@pytest.mark.parametrize("name", MODELS)
def test_text_is_answered_as_the_numbers_it_stands_for(name, cv, weights):
    settings = {"cv": cv, "sample_weight": WEIGHTS[weights]}
    read, meant = (cross_val_predict_proba(MODELS[name], X, Y, **settings) for X in (TEXT, MEANT))
    np.testing.assert_allclose(read, meant, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", MODELS)
def test_text_is_read_in_every_split_as_in_a_refit(name):
    splits = list(KFold(4).split(TEXT))
    for (train, _), model in zip(splits, MODELS[name].fit_splits(TEXT, Y, splits), strict=True):
        refitted = BayesClassifier(model.schema_).fit(TEXT.iloc[train], Y[train])
        assert model.statistics_.isclose(refitted.statistics_)
        assert model.schema_.notations.keys() & {0, 1}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ["bayes", "some columns", "quadratic"])
def test_columns_of_text_are_selected_as_the_numbers_they_stand_for(name, direction):
    settings = {"cv": KFold(4), "direction": direction, "n_features_to_select": 1}
    read, meant = (OnePassSelector(MODELS[name], **settings).fit(X, Y) for X in (TEXT, MEANT))
    assert read.history_["column"].tolist() == meant.history_["column"].tolist()
    np.testing.assert_allclose(
        read.history_["mean_test_score"], meant.history_["mean_test_score"], rtol=1e-12
    )
    np.testing.assert_array_equal(read.predict(TEXT), meant.predict(MEANT))


DECLARED = BayesClassifier().fit(MEANT.astype({"color": "category"}), Y).schema_
"""The schema of a frame whose categories are declared, so that no text of theirs stands for anything else."""
GRIDS = {
    "columns": (BayesClassifier(), {"columns": [None, ["age"], ["price", "color"]]}),
    "families": (
        BayesClassifier(columns=NUMBERS),
        {"families": ["infer", {"age": Categorical()}, {"age": "gamma"}, {"price": Normal()}]},
    ),
    "blocks": (GaussianDiscriminant(columns=NUMBERS), {"columns": [NUMBERS, NUMBERS[:2]]}),
    "marks": (BayesClassifier(), {"missing_marks": [None, ["?", "N/A", "red"], ["N/A", "?"]]}),
    "a schema without notations": (
        BayesClassifier(columns=["color", "width"]),
        {"families": ["infer", DECLARED]},
    ),
}


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=["folds", "leave-one-out"])
@pytest.mark.parametrize("name", GRIDS)
def test_settings_that_read_text_differently_score_as_each_does_alone(name, cv):
    model, grid = GRIDS[name]
    ((setting, values),) = grid.items()
    settings = {"cv": cv, "scoring": "neg_log_loss"}
    together = OnePassSearchCV(model, grid, **settings).fit(TEXT, Y).cv_results_["mean_test_score"]
    alone = [OnePassSearchCV(model, {setting: [value]}, **settings).fit(TEXT, Y) for value in values]
    np.testing.assert_allclose(together, [one.best_score_ for one in alone], rtol=1e-12)
    n_alike = name in ("families", "marks")  # the last is what is found anyway
    assert len(np.unique(together)) == len(values) - n_alike


def test_text_that_is_read_in_one_way_takes_one_pass(monkeypatch):
    summed = []
    sums = SplitRows.training_sums
    monkeypatch.setattr(SplitRows, "training_sums", lambda *args: summed.append(1) or sums(*args))
    models = {"families": [{"age": "normal"}, {"age": "gamma"}], "columns": [None, ["age", "price"]]}
    OnePassSearchCV(BayesClassifier(), models, cv=3).fit(TEXT, Y)
    assert len(summed) == 1


def test_the_schema_of_each_split_may_read_text_in_its_own_way():
    late = TEXT.assign(age=["never" if i < 30 else age for i, age in enumerate(TEXT["age"])])
    splits = list(KFold(3).split(late))
    model = BayesClassifier(columns=["age", "width"])
    found = [one for _, _, one in model.fit_grid(late, Y, splits, [{}], refit_schema=True)]
    for one, (train, _) in zip(found, splits, strict=True):
        alone = BayesClassifier(columns=["age", "width"]).fit(late.iloc[train], Y[train])
        assert one.schema_ == alone.schema_
        assert one.statistics_.isclose(alone.statistics_)
    assert {one.schema_["age"].notation.form for one in found} == {"numbers", "levels"}


@pytest.mark.parametrize("columns", [None, ["age", "price"]])
def test_directions_of_text_are_those_of_the_numbers(columns):
    model = GaussianDiscriminant("shared", columns=columns)
    read, meant = (model.fit_transform(X[NUMBERS], Y) for X in (TEXT, MEANT))
    np.testing.assert_allclose(read, meant, rtol=1e-9, atol=1e-12)


def test_statistics_of_more_columns_keep_what_text_stands_for():
    whole = summarize(TEXT, Y)
    model = BayesClassifier(columns=["age", "color"]).fit_statistics(whole)
    alone = BayesClassifier(columns=["age", "color"]).fit(TEXT, Y)
    assert model.schema_.notations == alone.schema_.notations
    np.testing.assert_array_equal(model.predict_proba(TEXT), alone.predict_proba(MEANT))
