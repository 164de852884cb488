"""A column of X as y, given by its name, for every estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import suffice
from suffice import dropin

RNG = np.random.default_rng(0)
NUMBERS = {"a": RNG.normal(size=80), "species": np.repeat(["x", "y"], 40), "b": RNG.normal(size=80)}
NUMBERS["a"][40:] += 1.0
COUNTS = {"a": RNG.poisson(3.0, 80), "species": NUMBERS["species"], "b": RNG.poisson(5.0, 80)}
TEXTS = {"text": ["good film", "bad film", "good fun", "bad luck"] * 20, "species": NUMBERS["species"]}


def by_row(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


CONTAINERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": dict,
    "rows": by_row,
}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param]


def split(columns, container):
    return container({name: columns[name] for name in columns if name != "species"}), columns["species"]


ESTIMATORS = [
    (suffice.BayesClassifier(), NUMBERS),
    (suffice.GaussianDiscriminant(), NUMBERS),
    (suffice.LogisticRegression(), NUMBERS),
    (suffice.ProbitRegression(), NUMBERS),
    (suffice.CostSensitive(suffice.BayesClassifier()), NUMBERS),
    (suffice.WithPriors(suffice.BayesClassifier(), "uniform"), NUMBERS),
    (suffice.TextClassifier(), TEXTS),
    (dropin.GaussianNB(), NUMBERS),
    (dropin.MultinomialNB(), COUNTS),
    (dropin.LinearDiscriminantAnalysis(), NUMBERS),
    (dropin.LogisticRegression(), NUMBERS),
]


@pytest.mark.parametrize("estimator, columns", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_named_column_is_taken_out_of_x(container, estimator, columns):
    X, y = split(columns, container)
    known, named = clone(estimator).fit(X, y), clone(estimator).fit(container(columns), "species")
    assert_array_equal(named.predict_proba(X), known.predict_proba(X))
    assert named.score(container(columns), "species") == known.score(X, y)
    assert suffice.evaluate(named, container(columns), "species").accuracy == known.score(X, y)


def test_rows_are_added_and_forgotten_by_the_name_of_the_target(container):
    X, y = split(NUMBERS, container)
    whole, twice = suffice.BayesClassifier().fit(X, y), suffice.BayesClassifier()
    for _ in range(2):
        twice.partial_fit(container(NUMBERS), "species")
    assert twice.forget(container(NUMBERS), "species").statistics_ == whole.statistics_
    costs = suffice.CostSensitive(whole)
    assert costs.mean_cost(container(NUMBERS), "species") == costs.mean_cost(X, y)
    detector = suffice.NoveltyDetector(suffice.BayesClassifier())
    assert_array_equal(detector.fit(container(NUMBERS), "species").predict(X), detector.fit(X, y).predict(X))
    named, known = (
        suffice.compare([suffice.BayesClassifier()], *rows, repeats=1, sizes=[20])
        for rows in ((container(NUMBERS), "species"), (X, y))
    )
    assert_array_equal(named.error, known.error)


@pytest.mark.parametrize("estimator, columns", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_misspelt_target_is_answered_with_the_nearest(container, estimator, columns):
    with pytest.raises(ValueError, match="no column 'specis'; did you mean 'species'"):
        estimator.fit(container(columns), "specis")


@pytest.mark.parametrize("X", [np.ones((3, 2)), [[1.0], [2.0]]])
def test_an_array_has_no_column_to_name(X):
    for estimator, _ in ESTIMATORS:
        with pytest.raises(ValueError, match="y is 'species', the name of a column, so X must be a table"):
            estimator.fit(X, "species")


def test_a_target_alone_leaves_nothing_to_learn_from(container):
    with pytest.raises(ValueError, match="no columns are left to learn from besides 'species'"):
        suffice.BayesClassifier().fit(container({"species": ["x", "y"]}), "species")


def test_documents_are_the_only_other_column(container):
    text = {**TEXTS, "more": TEXTS["text"]}
    with pytest.raises(ValueError, match=r"in a single column, but there are \['text', 'more'\]"):
        suffice.TextClassifier().fit(container(text), "species")


@pytest.mark.parametrize("estimator", [suffice.BayesClassifier, suffice.TextClassifier, dropin.GaussianNB])
def test_a_path_instead_of_rows_is_refused_with_the_method_that_reads_files(estimator):
    with pytest.raises(ValueError, match=r"use fit_from\('abc.csv', target='y'\)"):
        estimator().fit("abc.csv", "y")


def test_priors_of_unknown_classes_do_not_list_a_thousand_classes():
    labels = np.repeat(np.arange(1000), 2)
    model = suffice.BayesClassifier().fit(np.arange(2000.0)[:, np.newaxis], labels)
    with pytest.raises(ValueError, match="priors must name every class once") as refusal:
        model.with_priors({"nope": 1})
    assert "and 980 more" in str(refusal.value)
    assert len(str(refusal.value)) < 400
