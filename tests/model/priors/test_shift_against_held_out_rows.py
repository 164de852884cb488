"""Where families are inferred, mean posteriors are compared with those of training rows held out."""

import io
import os
import pickle
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import suffice
from suffice import BayesClassifier
from suffice.model.mean_posteriors import HeldOutPosteriors

DATA = Path(os.environ.get("SUFFICE_DATA", "/nowhere"))


def rows(n, seed, share=0.4, copies=3):
    """One fact told several times, so that a product of columns is too sure; it also leans to one class."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) > share).astype(int)
    fact = rng.gamma(np.where(y, 4.0, 1.5))
    return pd.DataFrame({f"told {i}": fact * np.exp(0.1 * rng.normal(size=n)) for i in range(copies)}), y


@pytest.fixture(scope="module")
def fitted():
    return BayesClassifier().fit(*rows(600, 0))


def p_values(n_draws, new_share):
    found = []
    for seed in range(n_draws):
        X, y = rows(500, 2 * seed)
        found.append(BayesClassifier().fit(X, y).adapt_priors(rows(500, 2 * seed + 1, new_share)[0]))
    assert {model.prior_shift_.test for model in found} == {"two-sample"}
    return np.array([model.prior_shift_.p_value for model in found])


def test_rows_like_those_of_training_raise_few_alarms_although_posteriors_are_too_sure():
    assert np.mean(p_values(40, 0.4) < 0.05) <= 0.1


def test_a_class_half_as_common_is_found_in_most_draws():
    assert np.mean(p_values(20, 0.25) < 0.05) >= 0.8


def test_the_statistic_is_that_of_two_samples_of_labels_if_posteriors_are_certain():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    certain = np.where(np.eye(3, dtype=bool)[y], 0.0, -np.inf)
    held_out = HeldOutPosteriors.of(certain, y, np.ones(100))
    assert np.array_equal(held_out.mean, np.eye(3))
    new = np.repeat([0, 1, 2], [40, 60, 20])
    evidence = np.where(np.eye(3, dtype=bool)[new], 0.0, -np.inf)
    before, now = np.array([0.5, 0.3, 0.2]), np.array([1 / 3, 1 / 2, 1 / 6])
    covariance = np.diag(before) - np.outer(before, before)
    apart = np.eye(3)[new] - before
    pooled = (100 * covariance + apart.T @ apart) / 220
    for counted, extra in ((None, 0.0), (100.0, 1 / 100)):
        variance = (pooled / 120 + extra * covariance)[:2, :2]
        gap = (now - before)[:2]
        expected = gap @ np.linalg.solve(variance, gap)
        assert held_out.gap(evidence, before, counted) == pytest.approx(expected, rel=1e-8)


def test_other_priors_are_tested_as_such(fitted):
    """The comparison is with the mean posteriors that rows would have under the priors of the model."""
    X, _ = rows(2000, 99, share=0.15)
    assert fitted.adapt_priors(X).prior_shift_.p_value < 1e-6
    moved = fitted.with_priors([0.15, 0.85]).adapt_priors(X).prior_shift_
    assert moved.test == "two-sample"
    assert moved.p_value > 0.05


def test_the_comparison_goes_with_copies_files_and_statistics(fitted):
    X, y = rows(300, 5)
    expected = fitted.adapt_priors(X).prior_shift_
    packed = io.BytesIO()
    fitted.save(packed)
    packed.seek(0)
    loaded = suffice.load(packed)
    again = io.BytesIO()
    loaded.save(again)
    assert again.getvalue() == packed.getvalue()
    others = [
        copy(fitted),
        loaded,
        pickle.loads(pickle.dumps(fitted)),  # noqa: S301
        BayesClassifier().fit_statistics(fitted.statistics_),
    ]
    for other in others:
        shift = other.adapt_priors(X).prior_shift_
        assert (shift.test, shift.statistic) == ("two-sample", expected.statistic)
    assert copy(fitted).partial_fit(X, y).adapt_priors(X).prior_shift_.test == "two-sample"


def fitted_with(key, value):
    def change(X):
        return BayesClassifier(**{key: value}).fit(*rows(600, 0)).adapt_priors(X).prior_shift_

    return change


OTHERWISE_SCORED = {
    "bound": fitted_with("bound", 1.0),
    "weight": fitted_with("evidence_weight", 1.0),
    "predictive": fitted_with("posterior", "predictive"),
    "presence": fitted_with("missing", "evidence"),
    "alpha": fitted_with("alpha", 3.0),
    "class weights": fitted_with("class_weight", "balanced"),
    "given families": fitted_with("families", "normal"),
    "schema of other rows": lambda X: (
        BayesClassifier(BayesClassifier().fit(*rows(600, 0)).schema_)
        .fit(*rows(600, 1))
        .adapt_priors(X)
        .prior_shift_
    ),
    "a class more": lambda X: (
        BayesClassifier().fit(*rows(600, 0)).partial_fit(X, np.full(len(X), 2)).adapt_priors(X).prior_shift_
    ),
}


@pytest.mark.filterwarnings("ignore:on 500 of its rows.*too sure. Columns 'told")
@pytest.mark.parametrize("name", OTHERWISE_SCORED)
def test_posteriors_of_other_settings_classes_or_rows_are_compared_with_the_priors(name):
    assert OTHERWISE_SCORED[name](rows(300, 5)[0]).test == "score"


@pytest.mark.parametrize("name, by", [("weight", -1e3), ("mean", 0.1), ("within", -1.0)])
def test_a_file_with_impossible_held_out_posteriors_is_refused(fitted, name, by):
    schema = fitted.schema_
    wrong = replace(schema.held_out, **{name: getattr(schema.held_out, name) + by})
    statistics, packed = copy(fitted.statistics_), io.BytesIO()
    statistics.schema = replace(schema, held_out=wrong)
    statistics.save(packed)
    packed.seek(0)
    with pytest.raises(suffice.SufficeFileError, match=rf"held_out\.{name}"):
        suffice.load(packed)


def test_columns_that_say_nothing_find_no_shift():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"noise": rng.normal(size=600), "more": rng.normal(size=600)})
    model = BayesClassifier().fit(X[:300], rng.integers(2, size=300))
    assert model.adapt_priors(X[300:]).prior_shift_.p_value > 0.01


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="needs SUFFICE_DATA")
@pytest.mark.parametrize("name, target", [("vehicle", "Class"), ("credit_approval", "class")])
def test_random_halves_of_real_tables_raise_few_alarms(name, target):
    frame = pd.read_csv(DATA / name / "data.csv.gz")
    X, y = frame.drop(columns=target), frame[target].astype(str).to_numpy()
    rng = np.random.default_rng(0)
    alarms = []
    for _ in range(40):
        order = rng.permutation(len(y))
        half, other = order[: len(y) // 2], order[len(y) // 2 :]
        adapted = BayesClassifier().fit(X.iloc[half], y[half]).adapt_priors(X.iloc[other])
        alarms.append(adapted.prior_shift_.p_value < 0.05)
    # At a rate of 10 % more alarms than this are as rare as one draw in twenty.
    assert np.sum(alarms) <= stats.binom.ppf(0.95, 40, 0.1)
