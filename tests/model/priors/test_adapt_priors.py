import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier, WithPriors, adapt_priors
from suffice.families import Normal
from suffice.model.priors import estimate_shift

LABELS = np.array(["a", "b", "c"])
OLD = np.array([0.5, 0.3, 0.2])


@parametrize_with_checks([WithPriors(LogisticRegression())])
def test_reweighting_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def rows(n, priors, seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=priors)
    X = rng.normal(np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 2.0]])[codes], 1.0)
    return X, LABELS[codes]


@pytest.fixture(scope="module")
def training():
    return rows(20_000, OLD, 0)


MODELS = [
    BayesClassifier(suffice.families.Normal()),
    GaussianDiscriminant("full"),
    suffice.LogisticRegression(),
    GaussianNB(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("new", [(0.1, 0.1, 0.8), (0.05, 0.9, 0.05), (1 / 3, 1 / 3, 1 / 3)])
def test_shifted_priors_are_found_to_two_percent(training, model, new):
    X, y = rows(20_000, new, 1)
    adapted = adapt_priors(clone(model).fit(*training), X)
    shares = np.array([(y == label).mean() for label in LABELS])
    np.testing.assert_allclose(adapted.priors_, shares, atol=0.02)
    np.testing.assert_allclose(adapted.priors_, new, atol=0.02)
    assert adapted.prior_shift_.p_value < 1e-6
    assert adapted.prior_shift_.degrees_of_freedom == 2


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_without_a_shift_nothing_happens_to_sampling_error(training, model):
    fitted = clone(model).fit(*training)
    X, _ = rows(20_000, OLD, 2)
    adapted = adapt_priors(fitted, X)
    np.testing.assert_allclose(adapted.priors_, OLD, atol=0.015)
    assert adapted.prior_shift_.p_value > 0.01


def test_without_a_shift_the_p_values_are_uniform():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(300):
        truth = rng.choice(2, 400, p=[0.4, 0.6])
        x = rng.normal(truth * 1.5)
        log_joint = np.log([0.4, 0.6]) + stats.norm.logpdf(x[:, np.newaxis], [0.0, 1.5])
        log_posterior = log_joint - np.logaddexp(*log_joint.T)[:, np.newaxis]
        p.append(estimate_shift(log_posterior, np.array([0.4, 0.6]), LABELS[:2]).p_value)
    assert stats.kstest(p, "uniform").pvalue > 0.01


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_estimate_is_the_maximum_of_the_likelihood(seed):
    rng = np.random.default_rng(seed)
    before = rng.dirichlet([2.0, 2.0])
    posterior = rng.dirichlet([0.7, 0.7], size=30)
    shift = estimate_shift(np.log(posterior), before, LABELS[:2])

    def loss(q):
        return -np.log(posterior @ (np.array([q, 1 - q]) / before)).sum()

    best = optimize.minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert loss(shift.priors[0]) <= min(best.fun, loss(before[0])) + 1e-6


def test_the_score_test_compares_the_mean_posteriors_with_the_priors():
    rng = np.random.default_rng(5)
    before = np.array([0.3, 0.7])
    posterior = rng.dirichlet([0.7, 0.7], size=30)
    above = posterior[:, 0] - before[0]
    known = estimate_shift(np.log(posterior), before, LABELS[:2])
    assert known.test == "score"
    assert known.statistic == pytest.approx(30 * above.mean() ** 2 / np.mean(above**2), rel=1e-8)
    # Shares of 60 rows are as uncertain as a mean of 60 labels; posteriors follow them by the slope.
    slope = np.mean(above**2) / (before[0] * before[1])
    variance = np.mean(above**2) / 30 + slope**2 * before[0] * before[1] / 60
    counted = estimate_shift(np.log(posterior), before, LABELS[:2], counted=60.0)
    assert counted.statistic == pytest.approx(above.mean() ** 2 / variance, rel=1e-8)


def test_adapted_posteriors_are_those_of_a_model_with_these_priors(training):
    fitted = BayesClassifier(suffice.families.Normal()).fit(*training)
    X, _ = rows(500, (0.1, 0.1, 0.8), 1)
    adapted = fitted.adapt_priors(X)
    given_priors = fitted.with_priors(adapted.priors_)
    reweighted = WithPriors(fitted, adapted.priors_)
    np.testing.assert_allclose(adapted.predict_proba(X), given_priors.predict_proba(X), atol=1e-15)
    np.testing.assert_allclose(adapted.predict_proba(X), reweighted.predict_proba(X), atol=1e-12)
    assert np.array_equal(reweighted.predict(X), adapted.predict(X))
    assert fitted.priors_ == pytest.approx(OLD, abs=0.02)


def test_other_priors_solve_nothing_again(training, monkeypatch):
    fitted = GaussianDiscriminant("full").fit(*training)
    fitted._solved_model()
    monkeypatch.setattr("suffice.factors.solve", None)
    moved = fitted.with_priors("uniform")
    assert moved.priors_.tolist() == [1 / 3] * 3
    assert moved.n_parameters_ == fitted.n_parameters_ - 2
    assert np.array_equal(moved.means_, fitted.means_)


def test_the_report_reads_as_a_table_and_goes_with_the_model(training):
    fitted = BayesClassifier(suffice.families.Normal()).fit(*training)
    X, y = rows(500, (0.1, 0.1, 0.8), 1)
    adapted = fitted.adapt_priors(X)
    text = repr(adapted.prior_shift_)
    assert "score test of no shift" in text
    assert "500 rows" in text
    pickled = pickle.loads(pickle.dumps(adapted))  # noqa: S301
    for other in (copy(adapted), pickled):
        assert other.prior_shift_.statistic == adapted.prior_shift_.statistic
    with pytest.raises(AttributeError, match="adapt_priors"):
        _ = fitted.prior_shift_
    assert not hasattr(adapted.fit(X, y), "prior_shift_")


def test_frames_with_gaps_and_categories_are_adapted_to():
    rng = np.random.default_rng(3)
    y = rng.choice(["x", "y"], 6000, p=[0.5, 0.5])
    X = pd.DataFrame({"n": rng.normal((y == "x") * 2.0), "c": np.where(y == "x", "p", "q")})
    X["c"] = np.where(rng.random(6000) < 0.3, rng.choice(["p", "q"], 6000), X["c"])
    X = X.mask(rng.random(X.shape) < 0.2)
    model = BayesClassifier().fit(X[:3000], y[:3000])
    kept = np.flatnonzero((y[3000:] == "x") | (rng.random(3000) < 0.2)) + 3000
    adapted = model.adapt_priors(X.iloc[kept])
    assert adapted.priors_[0] == pytest.approx((y[kept] == "x").mean(), abs=0.02)


def test_documents_are_adapted_to_and_the_complement_event_refuses():
    documents, y = ["good film fun", "bad film", "good fun", "bad bad"], ["+", "-", "+", "-"]
    adapted = TextClassifier().fit(documents, y).adapt_priors(["good fun", "good good", "fun film good"])
    assert adapted.priors_[0] > 0.9
    complement = TextClassifier("complement").fit(documents, y)
    for refused in (complement.adapt_priors, lambda X: adapt_priors(complement, X)):
        with pytest.raises(ValueError, match="adapt_priors needs a density"):
            refused(["good"])


def test_a_class_ruled_out_stays_ruled_out(training):
    fitted = BayesClassifier(suffice.families.Normal(), priors=[0.5, 0.5, 0.0]).fit(*training)
    X, _ = rows(500, (0.1, 0.1, 0.8), 1)
    adapted = fitted.adapt_priors(X)
    assert adapted.priors_[2] == 0.0
    assert adapted.prior_shift_.degrees_of_freedom == 1


def test_the_priors_of_training_are_found_or_asked_for(training):
    X, y = training
    counted = WithPriors(LogisticRegression(), [0.1, 0.1, 0.8]).fit(X, y)
    np.testing.assert_allclose(counted.training_priors_, [(y == label).mean() for label in LABELS])
    weight = np.where(y == "a", 3.0, 1.0)
    weighted = WithPriors(LogisticRegression()).fit(X, y, sample_weight=weight)
    assert weighted.training_priors_[0] == pytest.approx(weight[y == "a"].sum() / weight.sum())
    words = MultinomialNB().fit(np.abs(X), y)
    np.testing.assert_allclose(WithPriors(words).training_priors_, np.exp(words.class_log_prior_))
    alone = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="training_priors="):
        adapt_priors(alone, X)
    adapted = adapt_priors(alone, X, training_priors=dict(zip(LABELS, OLD, strict=True)))
    np.testing.assert_allclose(adapted.priors_, OLD, atol=0.015)


def test_what_cannot_be_done_is_refused(training):
    X, y = training
    model = BayesClassifier(suffice.families.Normal()).fit(X, y)
    with pytest.raises(ValueError, match="no rows"):
        model.adapt_priors(X[:0])
    with pytest.raises(ValueError, match="leave training_priors out"):
        adapt_priors(model, X, training_priors=OLD)
    with pytest.raises(AttributeError, match=r"suffice\.Calibrated"):
        adapt_priors(LinearSVC().fit(X, y), X, training_priors=OLD)
    ruled_out = WithPriors(model, "uniform", training_priors=[0.5, 0.5, 0.0])
    with pytest.raises(ValueError, match="class 'c' had prior 0"):
        ruled_out.predict(X)


def test_a_drop_in_adapts_as_the_model_that_it_stands_for():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 2)) + 1.5 * y[:, np.newaxis]
    new = np.concatenate([X[:60], X[-180:]])
    ours = BayesClassifier(families=Normal(alpha=0)).fit(X, y).adapt_priors(new)
    drop_in = suffice.dropin.GaussianNB(var_smoothing=0).fit(X, y).adapt_priors(new)
    assert np.allclose(drop_in.priors_, ours.priors_, rtol=1e-9)
    assert drop_in.prior_shift_.p_value == pytest.approx(ours.prior_shift_.p_value, rel=1e-6)
    assert np.array_equal(drop_in.priors, drop_in.priors_)


class Certain:
    """Posteriors of 0 and 1, as trees have them."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, X):
        return np.eye(3)[np.asarray(X)[:, 0]]


def test_a_row_certain_of_a_class_ruled_out_says_nothing_about_the_others():
    X = np.array([[0], [1], [2], [1]])
    reweighted = WithPriors(Certain(), [0.0, 0.25, 0.75], training_priors=OLD)
    np.testing.assert_allclose(reweighted.predict_proba(X)[:2], [[0.0, 0.25, 0.75], [0.0, 1.0, 0.0]])
    adapted = adapt_priors(Certain(), X, training_priors=[0.0, 0.5, 0.5])
    np.testing.assert_allclose(adapted.priors_, [0.0, 2 / 3, 1 / 3], atol=1e-4)


def test_posteriors_of_zero_raise_no_warning(training):
    X, y = training
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert (forest.predict_proba(X) == 0).any()
    assert np.isfinite(adapt_priors(forest, X, training_priors=OLD).priors_).all()
