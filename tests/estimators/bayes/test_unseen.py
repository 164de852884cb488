"""Unseen categories and values outside the support: ignored, smoothed or refused."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier, families

TOWNS = pd.DataFrame({"town": ["Ulm", "Ulm", "Bonn", "Ulm", "Köln", "Köln", "Köln"]})
Y = np.array(["a", "a", "a", "a", "b", "b", "b"])
NEW = pd.DataFrame({"town": ["Paris"]})
OUTSIDE = {
    "Gamma": (families.Gamma, -1.0),
    "LogNormal": (families.LogNormal, 0.0),
    "InverseGaussian": (families.InverseGaussian, -2.0),
    "Exponential": (families.Exponential, -0.5),
    "Beta": (families.Beta, 1.5),
    "Poisson": (families.Poisson, -1.0),
    "Poisson half": (families.Poisson, 2.5),
    "Geometric": (families.Geometric, -1.0),
    "NegativeBinomial": (families.NegativeBinomial, 0.5),
    "Binomial": (lambda **settings: families.Binomial(5, **settings), 6.0),
    "Bernoulli": (families.Bernoulli, 2.0),
    "Histogram": (families.Histogram, 1e6),
}


def inside(make, n=40):
    rng = np.random.default_rng(2)
    family = make()
    y = rng.integers(0, 2, n)
    grid = np.arange(-40, 41) / 8.0
    values = grid[family.support(grid)]
    x = rng.choice(values[: max(2, len(values) // 2)], n)
    return np.column_stack([np.where(y == 1, rng.choice(values, n), x), rng.choice(values, n)]), y


def fitted(family, X=TOWNS, y=Y):
    return BayesClassifier(families=family).fit(X, y)


def test_an_unseen_category_is_ignored_by_default():
    model = fitted(families.Categorical())
    np.testing.assert_allclose(model.predict_proba(NEW)[0], model.priors_, rtol=1e-15)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 2.0])
def test_an_unseen_category_has_the_probability_of_a_level_without_rows(alpha):
    model = fitted(families.Categorical(alpha=alpha, unseen="smooth"))
    counts = {"a": (3, 1, 0), "b": (0, 0, 3)}  # Ulm, Bonn, Köln
    seen = pd.DataFrame({"town": ["Ulm", "Bonn", "Köln", "Paris", "Oslo"]})
    conditional = np.exp(model.predict_joint_log_proba(seen)) / model.priors_
    for k, label in enumerate("ab"):
        total = sum(counts[label]) + alpha * (3 + 1)
        expected = [(count + alpha) / total for count in (*counts[label], 0, 0)]
        np.testing.assert_allclose(conditional[:, k], expected, rtol=1e-13)


def test_an_unseen_category_is_refused_on_demand():
    model = fitted(families.Categorical(unseen="error"))
    with pytest.raises(ValueError, match=r"'town'.*'Paris'.*ignore"):
        model.predict(NEW)
    assert model.predict(TOWNS).shape == (7,)


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_unseen_categories_never_give_nan(unseen, alpha):
    model = fitted(families.Categorical(alpha=alpha, unseen=unseen))
    for method in ("predict_proba", "score_samples", "predict_joint_log_proba", "decision_function"):
        assert not np.isnan(getattr(model, method)(NEW)).any(), method
    np.testing.assert_allclose(model.predict_proba(NEW).sum(), 1.0)


def test_unseen_categories_may_be_of_another_type():
    model = fitted(families.Categorical())
    for value in (7, 2.5, True, pd.Timestamp("2024-01-01")):
        with pytest.warns(UserWarning, match=r"'town': 1 of 1 cells were never seen .* 'Bonn' \(text\)"):
            posterior = model.predict_proba(pd.DataFrame({"town": [value]}))[0]
        np.testing.assert_allclose(posterior, model.priors_)


def test_a_declared_category_without_rows_is_a_level():
    town = pd.Categorical(TOWNS["town"], categories=["Ulm", "Bonn", "Köln", "Paris"])
    model = fitted(families.Categorical(), pd.DataFrame({"town": town}))
    assert model.statistics_ == fitted(families.Categorical()).statistics_
    listed = fitted(families.Categorical(levels=["Ulm", "Bonn", "Köln", "Paris"]))
    np.testing.assert_array_equal(model.predict_proba(NEW), listed.predict_proba(NEW))
    assert not np.allclose(model.predict_proba(NEW)[0], model.priors_)


def test_an_unseen_category_is_seen_once_it_is_fitted():
    model = fitted(families.Categorical(unseen="error")).partial_fit(NEW, ["b"])
    assert model.predict(NEW).tolist() == ["b"]


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_value_outside_the_support_is_a_missing_cell_by_default(case):
    make, value = OUTSIDE[case]
    X, y = inside(make)
    model = fitted(make(), X, y)
    rows = X[:2].copy()
    rows[:, 0] = value
    gaps = rows.copy()
    gaps[:, 0] = np.nan
    assert np.array_equal(model.predict_proba(rows), model.predict_proba(gaps))
    assert np.array_equal(model.score_samples(rows), model.score_samples(gaps))
    assert np.array_equal(model.explain(rows).contributions, model.explain(gaps).contributions)


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_value_outside_the_support_is_refused_on_demand(case):
    make, value = OUTSIDE[case]
    X, y = inside(make)
    model = fitted(make(unseen="error"), X, y)
    rows = X.copy()
    rows[3, 1] = value
    with pytest.raises(ValueError, match=rf"column 1.*{value}.*row 3.*ignore"):
        model.predict(rows)


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_smoothed_value_outside_the_support_is_rare_in_every_class(case):
    make, value = OUTSIDE[case]
    X, y = inside(make)
    X = X[:, :1]
    model = fitted(make(unseen="smooth"), X, y)
    joint = model.predict_joint_log_proba([[value]])[0]
    weight = np.bincount(y)
    n_levels = 1 if case != "Histogram" else len(model.parameters_[0]["edges"]) - 1
    np.testing.assert_allclose(np.exp(joint) / model.priors_, 1.0 / (weight + n_levels + 1), rtol=1e-12)


@pytest.mark.parametrize("case", ["Poisson", "Bernoulli", "Geometric", "NegativeBinomial", "Binomial"])
def test_smoothing_what_is_outside_keeps_the_total_probability_at_one(case):
    make, value = OUTSIDE[case]
    X, y = inside(make)
    model = fitted(make(unseen="smooth"), X[:, :1], y)
    support = np.arange(3000.0)
    support = support[make().support(support)][:, np.newaxis]
    mass = np.exp(model.predict_joint_log_proba(support)).sum(axis=0)
    mass += np.exp(model.predict_joint_log_proba([[value]])[0])
    np.testing.assert_allclose(mass, model.priors_, rtol=1e-9)


def test_the_log_likelihood_of_smoothed_columns_is_that_of_the_rows():
    for make in (families.Poisson, families.Bernoulli, families.Gamma, families.Histogram):
        X, y = inside(make)
        model = fitted(make(unseen="smooth"), X, y)
        joint = model.predict_joint_log_proba(X)[np.arange(len(y)), y]
        np.testing.assert_allclose(model.log_likelihood_, joint.sum(), rtol=1e-10)


def test_a_negative_count_leaves_out_the_whole_multinomial_row():
    X = np.random.default_rng(0).poisson(3, (40, 3)).astype(float)
    y = np.arange(40) % 2
    model = fitted(families.Multinomial(), X, y)
    np.testing.assert_allclose(model.predict_proba([[1.0, -2.0, 3.0]])[0], model.priors_)
    with pytest.raises(ValueError, match=r"column 1.*-2"):
        fitted(families.Multinomial(unseen="error"), X, y).predict([[1.0, -2.0, 3.0]])


def test_a_normal_column_has_no_values_outside():
    model = fitted(families.Normal(unseen="error"), np.arange(7.0)[:, np.newaxis])
    assert np.isfinite(model.predict_proba([[1e300], [-1e300]])).all()


@pytest.mark.parametrize("n", [3, 20_000])
def test_smoothing_changes_nothing_where_no_number_is_outside(n):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), np.repeat(["a", "b"], [10, 40])
    smooth = fitted(families.Normal(unseen="smooth"), X, y)
    rows = rng.normal(size=(n, 2))
    np.testing.assert_allclose(
        smooth.predict_joint_log_proba(rows),
        fitted(families.Normal(), X, y).predict_joint_log_proba(rows),
        rtol=1e-12,
    )
