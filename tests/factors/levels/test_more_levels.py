"""Levels without rows: listed, counted, or declared by the type of a column."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import LeaveOneOut

import suffice
from suffice import BayesClassifier, summarize
from suffice.families import Categorical

TOWNS = ["Ulm", "Ulm", "Bonn", "Ulm", "Bonn", "Bonn", "Bonn", None]
Y = np.array(["a", "a", "a", "b", "b", "b", "b", "b"])
X = pd.DataFrame({"town": TOWNS})
ASKED = pd.DataFrame({"town": ["Ulm", "Bonn", "Köln", "Rom", None]})


def fit(**settings):
    return BayesClassifier(Categorical(**settings)).fit(X, Y)


@pytest.mark.parametrize("levels", [5, ["Ulm", "Bonn", "Köln", "Rom", "Oslo"], ["Köln", "Rom", "Oslo"]])
@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_laplaces_l_is_the_number_of_values_of_the_feature(levels, alpha, unseen):
    model = fit(levels=levels, alpha=alpha, unseen=unseen)
    joint = model.predict_joint_log_proba(ASKED) - np.log(model.priors_)
    counts = np.array([[2, 1, 0, 0], [1, 3, 0, 0]])
    extra = int(unseen == "smooth" and levels != 5)
    expected = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha * (5 + extra))
    np.testing.assert_allclose(np.exp(joint[:4]), expected.T, rtol=1e-14)
    np.testing.assert_array_equal(joint[4], 0.0)


def test_the_probabilities_of_all_levels_sum_to_one():
    listed = fit(levels=["Köln", "Rom"]).parameters_["town"]
    assert listed["levels"] == ["Bonn", "Köln", "Rom", "Ulm"]
    np.testing.assert_allclose(listed["probability"].sum(axis=1), 1.0, rtol=1e-15)
    counted = fit(levels=4).parameters_["town"]
    np.testing.assert_allclose(counted["probability"], listed["probability"][:, [0, 3]], rtol=1e-15)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_number_of_levels_says_what_a_list_says(alpha):
    counted, listed = fit(levels=5, alpha=alpha), fit(levels=["Köln", "Rom", "Oslo"], alpha=alpha)
    np.testing.assert_allclose(counted.predict_proba(ASKED), listed.predict_proba(ASKED), rtol=1e-14)
    for name in ("bic_", "log_likelihood_", "n_parameters_"):
        np.testing.assert_allclose(getattr(counted, name), getattr(listed, name), rtol=1e-14)
    for name in ("kl", "bhattacharyya"):
        one, other = (getattr(model.evidence(), name) for model in (counted, listed))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


def test_fewer_levels_than_were_seen_change_nothing():
    np.testing.assert_array_equal(fit(levels=1).predict_proba(ASKED), fit().predict_proba(ASKED))
    np.testing.assert_array_equal(fit(levels=["Ulm"]).predict_proba(ASKED), fit().predict_proba(ASKED))


def test_a_listed_level_is_no_error_and_a_value_beyond_is():
    model = fit(levels=["Köln"], unseen="error")
    assert np.isfinite(model.predict_joint_log_proba(ASKED[2:3])).all()
    with pytest.raises(ValueError, match="'Rom'"):
        model.predict(ASKED)


def test_levels_act_when_solving():
    sums = summarize(X, Y, families=Categorical())
    model = BayesClassifier(Categorical(levels=5)).fit_statistics(sums)
    np.testing.assert_array_equal(model.predict_proba(ASKED), fit(levels=5).predict_proba(ASKED))
    halves = summarize(X[:4], Y[:4], families=Categorical(levels=5))
    rest = summarize(X[4:], Y[4:], families=Categorical(levels=["Köln"]))
    assert halves + rest == sums
    assert halves + rest - rest == halves


def test_a_row_left_out_keeps_the_levels():
    scores = suffice.cross_val_scores(
        BayesClassifier(Categorical(levels=5)), X[:7], Y[:7], cv=LeaveOneOut(), scoring="neg_log_loss"
    )
    for row in range(7):
        rest = np.delete(np.arange(7), row)
        refit = BayesClassifier(Categorical(levels=5)).fit(X.iloc[rest], Y[rest])
        expected = refit.predict_log_proba(X.iloc[[row]])[0, int(Y[row] == "b")]
        np.testing.assert_allclose(scores[row], expected, atol=1e-12)


def containers():
    names = ["Ulm", "Bonn", "Köln", "Rom"]
    codes = pa.array([None if town is None else names.index(town) for town in TOWNS], pa.int32())
    return {
        "pandas": pd.DataFrame({"town": pd.Categorical(TOWNS, categories=names)}),
        "ordered": pd.DataFrame({"town": pd.Categorical(TOWNS, categories=names, ordered=True)}),
        "polars": pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Enum(names))}),
        "arrow": pa.table({"town": pa.DictionaryArray.from_arrays(codes, pa.array(names))}),
    }


@pytest.mark.parametrize("families", ["infer", Categorical(), {"town": "categorical"}])
@pytest.mark.parametrize("container", ["pandas", "ordered", "polars", "arrow"])
def test_declared_categories_are_levels(container, families):
    table = containers()[container]
    model = BayesClassifier(families).fit(table, Y)
    listed = fit(levels=["Ulm", "Bonn", "Köln", "Rom"])
    assert model.parameters_["town"]["levels"] == ["Bonn", "Köln", "Rom", "Ulm"]
    np.testing.assert_array_equal(model.predict_proba(ASKED), listed.predict_proba(ASKED))
    assert "2 more categories declared" in model.schema_["town"].reason


@pytest.mark.parametrize("container", ["pandas", "polars", "arrow"])
def test_declared_categories_are_the_same_levels_in_any_batches(container):
    table = containers()[container]
    first, rest = (table[:3], table[3:])
    whole = BayesClassifier().fit(table, Y)
    batches = BayesClassifier().partial_fit(first, Y[:3]).partial_fit(rest, Y[3:])
    merged = BayesClassifier().fit(first, Y[:3]).merge(BayesClassifier().fit(rest, Y[3:]))
    fewer = BayesClassifier().fit(table, Y).forget(rest, Y[3:])
    alone = BayesClassifier().fit(first, Y[:3])
    for model in (batches, merged):
        np.testing.assert_array_equal(model.predict_proba(ASKED), whole.predict_proba(ASKED))
    np.testing.assert_array_equal(fewer.predict_proba(ASKED), alone.predict_proba(ASKED))


def test_categories_of_polars_that_are_no_enum_declare_nothing():
    pl.Series(["Rom", "Oslo"], dtype=pl.Categorical)
    model = BayesClassifier().fit(pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Categorical)}), Y)
    assert model.parameters_["town"]["levels"] == ["Bonn", "Ulm"]


@pytest.mark.parametrize("levels", [5, ["Köln", "Rom", 3]])
def test_levels_are_saved_and_loaded(levels):
    model, file = fit(levels=levels), io.BytesIO()
    model.save(file)
    file.seek(0)
    loaded = suffice.load(file)
    assert loaded.families == Categorical(levels=levels)
    np.testing.assert_array_equal(loaded.predict_proba(ASKED), model.predict_proba(ASKED))


@pytest.mark.parametrize("levels", [0, -1, True, 2.5, "Ulm", ["Ulm", None], [np.nan], {"a": 1}])
def test_levels_that_are_none_are_refused(levels):
    with pytest.raises(TypeError, match="Categorical: levels must be"):
        Categorical(levels=levels)


def test_many_levels_print_in_one_line():
    assert repr(Categorical(levels=["a", "b"])) == "Categorical(levels=('a', 'b'))"
    many = Categorical(levels=list(range(100)))
    assert repr(many) == "Categorical(levels=(0, 1, 2, 3, 4, … 100 in all))"
