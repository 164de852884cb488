import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, NoveltyDetector, TextClassifier
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    LogNormal,
    Multinomial,
    Normal,
    Poisson,
    VonMises,
)


@parametrize_with_checks([NoveltyDetector(BayesClassifier(Normal()), rate=0.1)])
def test_the_detector_is_a_scikit_learn_outlier_detector(estimator, check):
    check(estimator)


def training(n=3000, d=3):
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], n, p=[0.7, 0.3])
    shift = (y == "a")[:, np.newaxis]
    return rng.normal(3.0 * shift, 1.0 + shift, (n, d)), y


CONTINUOUS = {
    "one Gaussian": (GaussianDiscriminant(), False),
    "LDA": (GaussianDiscriminant("shared"), True),
    "QDA": (GaussianDiscriminant("full"), True),
    "Gaussian naive Bayes": (BayesClassifier(Normal()), True),
    "Gamma": (BayesClassifier(Gamma()), True),
    "mixed": (BayesClassifier({0: LogNormal(), 1: Exponential(), 2: Normal()}), True),
}


def fitted(name):
    model, labelled = CONTINUOUS[name]
    X, y = training()
    return model.fit(
        np.abs(X) + 0.1 if name in ("Gamma", "mixed") else X, y if labelled else np.zeros(len(y))
    )


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rows_of_the_model_are_uniform(name):
    model = fitted(name)
    X, _ = model.sample(4000, random_state=5)
    assert stats.kstest(model.novelty(X), "uniform").pvalue > 0.005


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rows_of_the_model_with_gaps_are_uniform(name):
    model = fitted(name)
    X, _ = model.sample(4000, random_state=6)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    assert stats.kstest(model.novelty(X), "uniform").pvalue > 0.005


@pytest.mark.parametrize("name", CONTINUOUS)
def test_far_rows_are_strange_though_their_posterior_is_certain(name):
    model = fitted(name)
    far = np.array([[300.0, 300.0, 300.0], [np.nan, 500.0, np.nan]])
    assert (model.novelty(far) < 1e-6).all()
    if len(model.classes_) > 1:
        assert (model.predict_proba(far).max(axis=1) > 0.999).all()


def test_one_gaussian_is_the_chi_squared_of_the_distance():
    X, y = training()
    model = GaussianDiscriminant().fit(X, np.zeros(len(y)))
    rows = np.array([[0.0, 5.0, 2.0], [9.0, -9.0, 9.0], [40.0, 0.0, 0.0]])
    z = rows - model.means_[0]
    squares = np.einsum("ij,jk,ik->i", z, np.linalg.inv(model.covariances_[0]), z)
    np.testing.assert_allclose(model.novelty(rows), stats.chi2.sf(squares, 3), rtol=1e-10)


def test_two_gaussians_far_apart_have_the_tail_of_the_formula():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 2000)
    model = GaussianDiscriminant("full").fit(rng.normal(y * 200.0)[:, np.newaxis], y)
    x = np.array([[-8.0], [208.0], [100.0]])
    z = np.abs(x - model.means_.T) / np.sqrt(model.covariances_[:, 0, 0])
    # Equal shares, nearly equal variances: both classes count, and p(x) is that of the nearer one.
    expected = 2.0 * stats.norm.sf(z.min(axis=1))
    np.testing.assert_allclose(model.novelty(x)[:2], expected[:2], rtol=0.35)
    assert model.novelty(x)[2] < 1e-300


def test_the_tail_goes_on_where_the_drawn_rows_end():
    model = fitted("Gamma")
    rows = np.full((60, 3), 2.0)
    rows[:, 0] = np.linspace(5.0, 80.0, 60)
    novelty = model.novelty(rows)
    assert (np.diff(novelty) < 0).all()
    assert novelty[-1] < 1e-12


@pytest.mark.parametrize("family", [VonMises(), Beta()], ids=str)
def test_densities_that_end_are_uniform_as_far_as_drawn_rows_resolve_them(family):
    rng = np.random.default_rng(0)
    values = rng.beta(0.6, 2.0, (2000, 1)) if family == Beta() else rng.vonmises(0.0, 1.0, (2000, 1))
    model = BayesClassifier(family).fit(values, np.zeros(2000))
    novelty = model.novelty(model.sample(40_000, random_state=1)[0])
    assert np.mean(novelty <= 0.005) == pytest.approx(0.005, rel=0.3)


DISCRETE = [Bernoulli(), Categorical(), Poisson()]


@pytest.mark.parametrize("family", DISCRETE, ids=str)
def test_rows_of_a_discrete_model_are_not_below_uniform(family):
    rng = np.random.default_rng(2)
    y = rng.choice(["a", "b"], 2000)
    X = rng.poisson(1.0 + 2.0 * (y == "a")[:, np.newaxis], (2000, 4))
    X = (X > 1).astype(float) if isinstance(family, Bernoulli) else X.astype(float)
    model = BayesClassifier(family).fit(X, y)
    novelty = model.novelty(model.sample(4000, random_state=7)[0])
    for level in (0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9):
        allowed = stats.binom.ppf(0.9999, 4000, level) / 4000
        assert np.mean(novelty <= level) <= allowed, level


def test_the_commonest_row_of_a_discrete_model_is_not_strange_at_all():
    X = np.array([[0.0, 0.0]] * 9 + [[1.0, 1.0]])
    model = BayesClassifier(Bernoulli()).fit(X, [0] * 10)
    assert model.novelty([[0.0, 0.0]])[0] == 1.0
    assert model.novelty([[1.0, 1.0]])[0] < 0.1


def test_what_the_model_never_gives_is_as_strange_as_can_be():
    X = pd.DataFrame({"n": np.arange(100.0), "c": ["x", "y"] * 50})
    y = [0, 1] * 50
    model = BayesClassifier({"n": Histogram(), "c": Categorical()}).fit(X, y)
    rows = pd.DataFrame({"n": [5.0, 1e6, 5.0, np.nan], "c": ["x", "x", "new", None]})
    novelty = model.novelty(rows)
    assert novelty[0] > 0.01
    assert novelty[1] == novelty[2] == 0.0
    assert novelty[3] == 1.0


def test_a_mixed_table_sees_a_row_unlike_any_class():
    X, species = suffice.load_penguins()
    model = BayesClassifier().fit(X, species)
    novelty = model.novelty(X)
    assert np.mean(novelty < 0.01) < 0.04
    frame = X.to_pandas()
    frame.loc[0, ["bill_length_mm", "body_mass_g"]] = [20.0, 9000]
    strange = model.novelty(frame.astype(X.to_pandas().dtypes)[:1])
    assert strange[0] < 1e-6


def test_the_same_seed_gives_the_same_numbers():
    model = fitted("Gamma")
    X, _ = model.sample(20, random_state=1)
    assert np.array_equal(model.novelty(X), model.novelty(X))
    other = model.novelty(X, random_state=1)
    assert not np.array_equal(model.novelty(X), other)
    np.testing.assert_allclose(model.novelty(X), other, atol=0.02)


def test_a_model_without_a_density_of_rows_refuses():
    counts = np.random.default_rng(0).poisson(2.0, (20, 3))
    with pytest.raises(
        ValueError, match=r"Multinomial models counts given their sum; use Poisson columns\.$"
    ):
        BayesClassifier(Multinomial()).fit(counts, [0, 1] * 10).novelty(counts)
    documents, y = ["good film", "bad film", "good fun"], ["+", "-", "+"]
    with pytest.raises(ValueError, match="Words models counts given their sum; use event='bernoulli'"):
        TextClassifier().fit(documents, y).novelty(documents)
    with pytest.raises(ValueError, match="needs a density"):
        TextClassifier("complement").fit(documents, y).novelty(documents)


def test_presence_and_absence_of_words_has_a_novelty():
    documents, y = ["good film", "bad film", "good fun"] * 50, ["+", "-", "+"] * 50
    model = TextClassifier("bernoulli").fit(documents, y)
    novelty = model.novelty(["good film", "good bad film fun", None])
    assert novelty[0] > 0.2
    assert novelty[1] < 0.05
    assert novelty[2] == 1.0


def test_a_model_of_sums_alone_has_a_novelty():
    X, y = training()
    model = BayesClassifier(Normal()).fit(X, y)
    again = BayesClassifier().fit_statistics(model.statistics_)
    np.testing.assert_allclose(again.novelty(X[:50]), model.novelty(X[:50]), atol=1e-12)


def test_the_detector_takes_its_rate_of_rows_of_the_model():
    model = fitted("QDA")
    X, _ = model.sample(4000, random_state=9)
    for rate in (0.01, 0.1):
        detector = NoveltyDetector(model, rate)
        assert np.mean(detector.predict(X) == -1) == pytest.approx(rate, rel=0.35)
        assert np.array_equal(detector.predict(X) == -1, detector.decision_function(X) < 0)
    assert NoveltyDetector(model).predict([[99.0, 99.0, 99.0]]).tolist() == [-1]
    with pytest.raises(ValueError, match="rate"):
        NoveltyDetector(model, 0).predict(X)


def test_the_detector_needs_no_labels():
    X, y = training()
    alone = NoveltyDetector(GaussianDiscriminant()).fit(X)
    assert alone.predict([[1.0, 1.0, 1.0], [60.0, 1.0, 1.0]]).tolist() == [1, -1]
    labelled = NoveltyDetector(GaussianDiscriminant("full")).fit(X, y)
    assert labelled.classes_.tolist() == ["a", "b"]


def test_the_detector_takes_sparse_rows_without_labels():
    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.5, (200, 3)))
    detector = NoveltyDetector(BayesClassifier(Poisson())).fit(counts)
    assert detector.predict(sparse.csr_array([[0, 1, 0], [40, 0, 0]])).tolist() == [1, -1]


@pytest.mark.parametrize("rate", [0, 1.0, 2, "much", None])
def test_a_rate_that_makes_no_sense_is_refused_when_fitting(rate):
    with pytest.raises(ValueError, match="rate must be a number strictly between 0 and 1"):
        NoveltyDetector(BayesClassifier(Normal()), rate).fit([[0.0], [1.0]])


def test_a_model_that_does_not_know_its_rows_is_refused_with_the_cure():
    X, y = training()
    detector = NoveltyDetector(suffice.LogisticRegression().fit(X, y))
    with pytest.raises(AttributeError, match="LogisticRegression has no novelty; use a generative model"):
        detector.predict(X)
