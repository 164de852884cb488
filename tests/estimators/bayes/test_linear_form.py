"""λ_k, ln g(λ_k) and the weights of u(x), read off fitted models."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import suffice
from suffice.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Exponential,
    Gamma,
    Geometric,
    Histogram,
    Hurdle,
    InverseGaussian,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    Steps,
    VonMises,
)
from suffice.links import logit, softmax

RNG = np.random.default_rng(7)
Y = np.repeat([0, 1, 2], 60)
AT = 1.0 + Y[:, np.newaxis]
SHAPE = (len(Y), 2)
ROWS = {
    Normal(): RNG.normal(AT + 5, AT, SHAPE),
    Normal("shared"): RNG.normal(AT + 5, 1, SHAPE),
    LogNormal(): np.exp(RNG.normal(AT, 1, SHAPE)),
    LogNormal("shared"): np.exp(RNG.normal(AT, 1, SHAPE)),
    Gamma(): RNG.gamma(AT, 2, SHAPE),
    Gamma("shared"): RNG.gamma(2, AT, SHAPE),
    InverseGaussian(): RNG.wald(AT, 2, SHAPE),
    InverseGaussian("shared"): RNG.wald(AT, 2, SHAPE),
    Beta(): RNG.beta(AT, 2, SHAPE),
    VonMises(): RNG.vonmises(AT, 2, SHAPE),
    Exponential(): RNG.exponential(AT, SHAPE),
    Poisson(): RNG.poisson(AT, SHAPE),
    Bernoulli(): RNG.random(SHAPE) < 0.2 * AT,
    Geometric(): RNG.geometric(0.2 * AT, SHAPE) - 1,
    NegativeBinomial(3): RNG.negative_binomial(3, 0.2 * AT, SHAPE),
    Binomial(5): RNG.binomial(5, 0.2 * AT, SHAPE),
    Categorical(): RNG.integers(0, 1 + AT, SHAPE),
    Categorical(levels=7): RNG.integers(0, 1 + AT, SHAPE),
    Categorical(unseen="smooth"): RNG.integers(0, 1 + AT, SHAPE),
    Multinomial(): RNG.poisson(AT * [0.5, 1.0, 2.0], (len(Y), 3)),
    MultivariateNormal("shared"): RNG.normal(AT, 1, (len(Y), 3)),
    MultivariateNormal("full"): RNG.normal(AT, AT, (len(Y), 3)),
    MultivariateNormal("diagonal"): RNG.normal(AT, AT, (len(Y), 3)),
    MultivariateNormal("shared_diagonal"): RNG.normal(AT, 1, (len(Y), 3)),
}


def fitted(family):
    X = np.asarray(ROWS[family], dtype=float)
    return suffice.BayesClassifier(families=family).fit(X, Y), X


@pytest.mark.parametrize("family", ROWS, ids=repr)
def test_the_softmax_of_the_linear_form_is_the_posterior(family):
    model, X = fitted(family)
    form = model.linear_form()
    assert form.u(X).shape == (len(X), len(form.statistics))
    np.testing.assert_allclose(softmax(form(X)), model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(form.u(X) @ form.w.T + form.w0, form(X))


@pytest.mark.parametrize("family", ROWS, ids=repr)
def test_the_boundary_of_two_classes_is_their_log_odds(family):
    model, X = fitted(family)
    log_p = model.predict_log_proba(X)
    odds = log_p[:, 2] - log_p[:, 0]
    np.testing.assert_allclose(model.boundary(2, 0)(X), odds, atol=1e-11)
    np.testing.assert_allclose(model.boundary(2, 0, 0.8)(X), odds - logit(0.8), atol=1e-11)
    np.testing.assert_allclose(model.boundary(0, 2)(X), -odds, atol=1e-11)


@pytest.mark.parametrize("family", [f for f in ROWS if not f.joint], ids=repr)
def test_natural_parameters_with_h_are_the_density(family):
    """log p(x | C_k) = λ_kᵀu(x) + ln g(λ_k) + log h(x), with u(x) = what its names say."""
    model, X = fitted(family)
    densities = model.predict_joint_log_proba(X) - np.log(model.priors_)
    found = np.zeros_like(densities)
    form, at = model.linear_form(), 0
    for named in model.natural_parameters_.values():
        shared = [name for name in named.statistics if name not in form.statistics]
        kept = [name in form.statistics for name in named.statistics]
        u = form.u(X)[:, at : at + sum(kept)]
        found += u @ named.natural[:, kept].T + named.log_g
        at += sum(kept)
        for name in shared:
            assert np.ptp(named.natural[:, named.statistics.index(name)]) < 1e-12
    rest = densities - found  # log h(x) and what classes share: the same for all classes
    np.testing.assert_allclose(rest, rest[:, [0, 0, 0]], atol=1e-10)


def test_natural_parameters_are_those_of_the_books():
    model, _ = fitted(Normal())
    mean, variance = (model.parameters_[0][name] for name in ("mean", "variance"))
    found = model.natural_parameters_[0]
    assert found.statistics == ("x0", "x0²")
    np.testing.assert_allclose(found.natural, np.column_stack([mean / variance, -0.5 / variance]), rtol=1e-9)
    np.testing.assert_allclose(
        found.log_g, -(mean**2) / (2 * variance) - 0.5 * np.log(2 * np.pi * variance), rtol=1e-9
    )
    model, _ = fitted(Poisson())
    rate = model.parameters_[0]["mean"]
    np.testing.assert_allclose(model.natural_parameters_[0].natural[:, 0], np.log(rate))
    np.testing.assert_allclose(model.natural_parameters_[0].log_g, -rate)
    model, _ = fitted(Gamma())
    shape, scale = model.parameters_[0]["shape"], 1.0 / model.parameters_[0]["rate"]
    found = model.natural_parameters_[0]
    np.testing.assert_allclose(found.natural, np.column_stack([-1 / scale, shape]), rtol=1e-9)
    x = np.array([0.5, 2.0, 7.0])
    for k in range(3):
        log_p = found.natural[k] @ [x, np.log(x)] + found.log_g[k] - np.log(x)
        np.testing.assert_allclose(log_p, stats.gamma(shape[k], scale=scale[k]).logpdf(x), rtol=1e-9)


def test_natural_parameters_of_a_joint_gaussian_are_those_of_the_books():
    X = ROWS[MultivariateNormal("full")]
    model = suffice.GaussianDiscriminant("full").fit(X, Y)
    (columns, found), *more = model.natural_parameters_.items()
    assert columns == (0, 1, 2)
    assert not more
    assert found.statistics == ("x0", "x1", "x2", "x0²", "x0·x1", "x0·x2", "x1²", "x1·x2", "x2²")
    for k in range(3):
        precision = np.linalg.inv(model.covariances_[k])
        np.testing.assert_allclose(found.natural[k, :3], precision @ model.means_[k], rtol=1e-8)
        half = np.zeros((3, 3))
        half[np.triu_indices(3)] = found.natural[k, 3:]
        np.testing.assert_allclose(0.5 * (half + half.T), -0.5 * precision, rtol=1e-8, atol=1e-12)
        at_zero = stats.multivariate_normal(model.means_[k], model.covariances_[k]).logpdf(np.zeros(3))
        np.testing.assert_allclose(found.log_g[k], at_zero, rtol=1e-8)


def test_the_linear_form_of_a_shared_covariance_has_the_weights_of_the_model():
    X = ROWS[MultivariateNormal("shared")]
    model = suffice.GaussianDiscriminant("shared").fit(X, Y)
    form = model.linear_form()
    assert form.statistics == ("x0", "x1", "x2")
    np.testing.assert_allclose(form.w, model.coef_, rtol=1e-8)
    np.testing.assert_allclose(np.diff(form.w0), np.diff(model.intercept_), rtol=1e-8)


def test_weights_are_those_of_scikit_learn():
    X = ROWS[Bernoulli()].astype(float)
    ours = suffice.BayesClassifier(families=Bernoulli()).fit(X, Y)
    theirs = BernoulliNB().fit(X, Y)
    p = np.exp(theirs.feature_log_prob_)
    np.testing.assert_allclose(ours.linear_form().w, logit(p))
    w0 = np.log1p(-p).sum(axis=1) + theirs.class_log_prior_
    np.testing.assert_allclose(ours.linear_form().w0, w0)
    counts = ROWS[Multinomial()].astype(float)
    ours, theirs = (
        suffice.BayesClassifier(families=Multinomial()).fit(counts, Y),
        MultinomialNB().fit(counts, Y),
    )
    np.testing.assert_allclose(ours.linear_form().w, theirs.feature_log_prob_)


def test_a_document_is_scored_by_the_weights_of_its_words():
    documents = ["good film good", "bad film", "good fun", "dull"]
    for event in ("multinomial", "bernoulli"):
        for unseen in ("ignore", "smooth"):
            model = suffice.TextClassifier(event, unseen=unseen).fit(documents, ["+", "-", "+", "-"])
            form = model.linear_form()
            assert list(form.statistics[: len(model.vocabulary_)]) == list(model.vocabulary_)
            new = ["a good new film", "dull", ""]
            np.testing.assert_allclose(softmax(form(new)), model.predict_proba(new), atol=1e-12)
            np.testing.assert_allclose(model.boundary("+", "-")(new), model.linear_form()(new) @ [1, -1])
            assert np.isnan(form(["good", None])[1]).all()


def test_mixed_tables_have_one_linear_form():
    frame = pd.DataFrame(
        {
            "height": ROWS[Normal()][:, 0],
            "visits": ROWS[Poisson()][:, 0],
            "colour": np.array(["red", "green", "blue", "grey"])[ROWS[Categorical()][:, 0]],
        }
    )
    families = {"height": Normal("shared"), "visits": Poisson(), "colour": Categorical()}
    model = suffice.BayesClassifier(families=families).fit(frame, Y)
    form = model.linear_form()
    assert set(form.statistics) == {
        "height",
        "visits",
        "[colour = blue]",
        "[colour = green]",
        "[colour = grey]",
        "[colour = red]",
    }
    np.testing.assert_allclose(softmax(form(frame)), model.predict_proba(frame), atol=1e-12)
    assert list(form.to_frame()["statistic"]) == [*form.statistics, "(constant)"]
    assert set(model.natural_parameters_) == set(frame)
    assert "height" in repr(form)
    with_gap = frame.copy()
    with_gap.loc[0, "height"] = np.nan
    assert np.isnan(form(with_gap)[0]).all()
    assert np.isfinite(form(with_gap)[1:]).all()


def test_a_weight_on_the_evidence_multiplies_the_weights():
    X = ROWS[Normal()]
    model = suffice.BayesClassifier(families=Normal(), evidence_weight=0.5).fit(X, Y)
    np.testing.assert_allclose(softmax(model.linear_form()(X)), model.predict_proba(X), atol=1e-12)
    log_p = model.predict_log_proba(X)
    np.testing.assert_allclose(model.boundary(1, 2)(X), log_p[:, 1] - log_p[:, 2], atol=1e-12)


def test_boundaries_keep_their_digits_far_from_zero():
    X = ROWS[Normal()] + 1e9
    model = suffice.BayesClassifier(families=Normal()).fit(X, Y)
    log_p = model.predict_log_proba(X)
    np.testing.assert_allclose(model.boundary(0, 1)(X), log_p[:, 0] - log_p[:, 1], atol=1e-9)


def test_boundaries_of_columns_can_be_pickled():
    model, X = fitted(Poisson())
    boundary = model.boundary(0, 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(boundary))(X), boundary(X))  # noqa: S301  our own


def test_an_equal_variance_makes_the_boundary_linear():
    assert fitted(Normal("shared"))[0].boundary(0, 1).kind == "linear"
    assert fitted(Normal())[0].boundary(0, 1).kind == "quadratic"
    assert "x0" in repr(fitted(Poisson())[0].boundary(0, 1))


@pytest.mark.parametrize(
    "settings, why",
    [
        ({"families": Histogram(5)}, "Histogram are not linear in a statistic u"),
        ({"families": Steps()}, "Steps are not linear"),
        ({"families": Hurdle(LogNormal())}, "Hurdle are not linear"),
        ({"families": Normal(), "posterior": "predictive"}, "averages over the parameters"),
        ({"families": MultivariateNormal(), "posterior": "predictive"}, "averages over the parameters"),
        ({"families": Normal(), "missing": "evidence"}, "whether a cell is there"),
        ({"families": Normal(), "bound": 1.0}, "bound= mixes"),
        ({"families": Gamma(unseen="smooth")}, "use unseen='ignore'"),
    ],
)
def test_a_model_that_is_not_linear_says_why(settings, why):
    X = np.abs(ROWS[Normal()])
    X[::9] = 0.0 if isinstance(settings["families"], Hurdle) else X[::9]
    X[::7, 0] = np.nan if "missing" in settings else X[::7, 0]
    model = suffice.BayesClassifier(**settings).fit(X, Y)
    for ask in (lambda: model.natural_parameters_, model.linear_form, lambda: model.boundary(0, 1)):
        with pytest.raises(ValueError, match=why):
            ask()


def test_an_infinite_parameter_says_why():
    counts = np.array([[0.0], [0.0], [3.0], [4.0]])
    model = suffice.BayesClassifier(families=Poisson(alpha=0)).fit(counts, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"single value.*smooth it with an alpha > 0"):
        model.linear_form()
    model = suffice.BayesClassifier(families=Categorical(alpha=0)).fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match=r"probability 0 for a.*alpha > 0"):
        model.linear_form()
    model = suffice.BayesClassifier(families=Multinomial(alpha=0)).fit([[1, 0], [1, 1]], [0, 1])
    with pytest.raises(ValueError, match=r"never has it.*alpha > 0"):
        model.linear_form()
    model = suffice.TextClassifier(alpha=0).fit(["good", "bad"], [0, 1])
    with pytest.raises(ValueError, match=r"never has some word.*alpha > 0"):
        model.linear_form()


def test_complement_naive_bayes_has_no_natural_parameters():
    model = suffice.TextClassifier("complement").fit(["good", "bad"], [0, 1])
    with pytest.raises(ValueError, match="needs a density"):
        model.linear_form()


@pytest.mark.parametrize(
    "name", ["GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "BernoulliNB"]
)
def test_drop_ins_have_linear_forms_too(name):
    X = ROWS[MultivariateNormal("full")]
    model = getattr(suffice.dropin, name)().fit(X, Y)
    np.testing.assert_allclose(softmax(model.linear_form()(X)), model.predict_proba(X), atol=1e-9)
    log_p = model.predict_log_proba(X)
    np.testing.assert_allclose(model.boundary(2, 1)(X), log_p[:, 2] - log_p[:, 1], atol=1e-9)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1, "½"])
def test_a_threshold_lies_between_0_and_1(threshold):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        fitted(Poisson())[0].boundary(0, 1, threshold)
    with pytest.raises(ValueError, match="two different classes"):
        fitted(Poisson())[0].boundary(0, 0)
