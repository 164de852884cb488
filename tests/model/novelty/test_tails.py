"""Far in the tail, where no drawn row lies: never below uniform for discrete models."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

from suffice import BayesClassifier, TextClassifier
from suffice.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Exponential,
    Gamma,
    Geometric,
    Histogram,
    InverseGaussian,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    Steps,
    VonMises,
)

POWERS = np.array([0.1, 0.5, 0.9])


def rows(name, n=400):
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b"], n, p=[0.7, 0.3])
    k = (y == "b")[:, np.newaxis] * 1.0
    made = {
        "flags": (rng.random((n, 3)) < 0.05 + 0.4 * k).astype(float),
        "counts": rng.poisson(1.0 + 3.0 * k, (n, 3)).astype(float),
        "trials": rng.binomial(6, 0.1 + 0.3 * k, (n, 3)).astype(float),
        "numbers": rng.normal(3.0 * k, 1.0 + k, (n, 3)),
        "positive": rng.gamma(2.0 + k, 1.0, (n, 3)),
        "shares": rng.beta(0.7 + k, 2.0, (n, 3)),
        "angles": rng.vonmises(k, 2.0, (n, 3)),
    }
    return made[name], y


SUMS = {
    "Bernoulli": (Bernoulli(), "flags", np.arange(2.0)),
    "Bernoulli, alpha=0": (Bernoulli(alpha=0), "flags", np.arange(2.0)),
    "Categorical": (Categorical(), "trials", None),
    "Poisson": (Poisson(), "counts", np.arange(900.0)),
    "Geometric": (Geometric(), "counts", np.arange(9000.0)),
    "NegativeBinomial": (NegativeBinomial(r=0.5), "counts", np.arange(9000.0)),
    "Binomial": (Binomial(n=6), "trials", np.arange(7.0)),
}
INTEGRALS = {
    "Normal": (Normal(), "numbers", (-60.0, 60.0)),
    "Exponential": (Exponential(), "positive", (0.0, 400.0)),
    "VonMises": (VonMises(), "angles", (-np.pi, np.pi)),
    "Histogram": (Histogram(), "numbers", None),
    "Steps": (Steps(), "numbers", None),
}
STEPS = np.linspace(-100.0, 30.0, 20_001)
ON_LOG_SCALES = {
    "LogNormal": (LogNormal(), "positive", np.exp(STEPS), np.exp(STEPS)),
    "Gamma": (Gamma(), "positive", np.exp(STEPS), np.exp(STEPS)),
    "InverseGaussian": (InverseGaussian(), "positive", np.exp(STEPS), np.exp(STEPS)),
    "Beta": (Beta(), "shares", special.expit(STEPS), special.expit(STEPS) * special.expit(-STEPS)),
}


def sums_of_first_column(model):
    return model._solved_model().factors[0].log_power_sums(POWERS)[:, 0]


def log_p_of_first_column(model, values):
    X = np.full((len(values), 3), np.nan)
    X[:, 0] = values
    return model.explain(X).contributions[:, 0]


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_powers_are_those_of_the_probabilities(name):
    family, kind, values = SUMS[name]
    X, y = rows(kind)
    model = BayesClassifier(family).fit(X, y)
    log_p = log_p_of_first_column(model, np.unique(X[:, 0]) if values is None else values)
    expected = special.logsumexp(POWERS[:, np.newaxis, np.newaxis] * log_p, axis=1)
    np.testing.assert_allclose(sums_of_first_column(model), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_of_powers_are_those_of_the_density(name):
    family, kind, ends = INTEGRALS[name]
    X, y = rows(kind)
    model = BayesClassifier(family).fit(X, y)
    beyond = 0.0 if name == "Steps" else 1.0  # its ends are open: beyond the data it repeats the last value
    low, high = (X[:, 0].min() - beyond, X[:, 0].max() + beyond) if ends is None else ends
    x = np.linspace(low, high, 400_001)[1:-1]
    inside = model._solved_model().observed(model._read(np.column_stack([x, x, x]), reset=False))[0][:, 0]
    log_p = np.where(inside[:, np.newaxis], log_p_of_first_column(model, x), -np.inf)
    expected = np.log([integrate.trapezoid(np.exp(a * log_p), x, axis=0) for a in POWERS])
    np.testing.assert_allclose(sums_of_first_column(model), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ON_LOG_SCALES)
def test_integrals_of_powers_near_zero_and_far_out_are_those_of_the_density(name):
    family, kind, x, stretch = ON_LOG_SCALES[name]
    X, y = rows(kind)
    model = BayesClassifier(family).fit(X, y)
    p_to_the_power = np.exp(POWERS[:, np.newaxis, np.newaxis] * log_p_of_first_column(model, x))
    expected = np.log(integrate.trapezoid(p_to_the_power * stretch[:, np.newaxis], STEPS, axis=1))
    np.testing.assert_allclose(sums_of_first_column(model), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "shape, expected",
    [
        (1e-3, 3.8985893471195563),
        (1.0, 1.8674069081147756),
        (1e5, -3.666997017330647),
        (1e9, -8.272161579049978),
    ],
)
def test_powers_of_an_inverse_gaussian_keep_their_digits_at_any_dispersion(shape, expected):
    mean = np.array([3.0])  # expected: log(2·3^¼·K_¼(z)) + z with z = shape/6, in 40 digits
    natural = np.stack([-0.5 * shape / mean**2, -0.5 * shape / mean])
    assert InverseGaussian().log_power_integral(natural, mean, 0.5)[0] == pytest.approx(expected, rel=1e-13)


BESIDE = {"LogNormal": LogNormal(), "Gamma": Gamma(), "InverseGaussian": InverseGaussian(), "Beta": Beta()}


@pytest.mark.parametrize("name", BESIDE)
def test_a_rare_category_beside_a_skewed_column_is_no_stranger_than_it_is(name):
    X, _ = rows("shares" if name == "Beta" else "positive", 5000)
    table = pd.DataFrame({"x": X[:, 0], "c": np.where(np.arange(5000) < 1, "rare", "common")})
    model = BayesClassifier({"x": BESIDE[name], "c": Categorical(alpha=0)}).fit(table, np.zeros(5000))
    rare = model.sample(2000, random_state=0)[0].assign(c="rare")
    novelty, share = np.sort(model.novelty(rare)), np.arange(1, 2001) / 2000
    # Of the rows 1 in 5000 is rare, so that a rare one is below the level q with chance 5000·q at the most.
    assert (share - 0.05 <= 5000 * novelty).all()


def test_powers_of_documents_are_those_of_the_presence_of_their_words():
    model = TextClassifier("bernoulli").fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    words = model.vocabulary_
    everything = [
        " ".join(word for i, word in enumerate(words) if number >> i & 1) for number in range(2 ** len(words))
    ]
    log_p = np.column_stack([model.log_prob(everything, label) for label in model.classes_])
    expected = special.logsumexp(POWERS[:, np.newaxis, np.newaxis] * log_p, axis=1)
    found = model._solved_model().factors[0].log_power_sums(POWERS)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def exact_tails(model, every):
    """P(p(X′) ≤ p(x)) of all rows that there are."""
    log_p = model.score_samples(every)
    order = np.argsort(log_p)
    total = np.cumsum(np.exp(log_p[order]))
    assert total[-1] == pytest.approx(1.0)
    last = np.searchsorted(log_p[order], log_p[order] + 1e-9, side="right") - 1
    tails = np.empty_like(total)
    tails[order] = total[last]
    return tails


def rare_flags():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 20_000, p=[0.6, 0.4])
    p = np.array([0.5, 0.2, 0.05, 0.01, 2e-3, 2e-4, 2e-4, 0.4])
    X = (rng.random((20_000, 8)) < np.where((y == "a")[:, np.newaxis], p, p[::-1])).astype(float)
    return X, y


@pytest.mark.parametrize("family", [Bernoulli(), Categorical()], ids=str)
def test_no_row_of_flags_is_said_to_be_stranger_than_it_is(family):
    X, y = rare_flags()
    model = BayesClassifier(family).fit(X, y)
    every = np.array(list(np.ndindex(*[2] * 8)), dtype=float)
    novelty, exact = model.novelty(every), exact_tails(model, every)
    assert exact.min() < 1e-8
    # Above what draws resolve they err by a tenth either way; below, never downwards.
    assert (novelty >= 0.7 * exact).all()
    assert (novelty[exact < 1e-3] >= exact[exact < 1e-3]).all()
    assert novelty.min() < 1e-6


def test_no_count_is_said_to_be_stranger_than_it_is():
    X, y = rows("counts", 2000)
    model = BayesClassifier(Poisson()).fit(X[:, :2], y)
    every = np.array(list(np.ndindex(60, 60)), dtype=float)
    novelty, exact = model.novelty(every), exact_tails(model, every)
    assert (novelty >= 0.7 * exact).all()
    assert (novelty[exact < 1e-3] >= exact[exact < 1e-3] - 1e-12).all()
    assert novelty.min() < 1e-12


def test_a_rare_category_beside_numbers_is_no_stranger_than_it_is():
    rng = np.random.default_rng(1)
    n = 50_000
    X = pd.DataFrame({"x": rng.normal(size=n), "c": np.where(np.arange(n) < 10, "rare", "common")})
    model = BayesClassifier({"x": Normal(), "c": Categorical(alpha=0)}).fit(X, np.zeros(n))
    ordinary = pd.DataFrame({"x": [0.0], "c": ["rare"]})
    # Rows at least as improbable: the rare ones, nearly all of them, and the common ones beyond 4 sd.
    gap = np.log((n - 10) / 10)
    exact = 2e-4 + stats.chi2.sf(2 * gap, 1)
    assert exact <= model.novelty(ordinary)[0] < 0.01
    assert model.novelty(pd.DataFrame({"x": [9.0], "c": ["rare"]}))[0] < 1e-6


def test_a_rare_bin_is_no_stranger_than_it_is():
    x = np.append(np.random.default_rng(0).uniform(0.0, 4.0, 1998), [6.4, 6.6])
    model = BayesClassifier(Histogram(bins=8, alpha=0)).fit(x[:, np.newaxis], np.zeros(2000))
    assert 0.001 <= model.novelty([[6.5]])[0] < 0.01


DISCRETE = {
    "Bernoulli": (Bernoulli(), "flags"),
    "Categorical": (Categorical(), "trials"),
    "Poisson": (Poisson(), "counts"),
    "Geometric": (Geometric(), "counts"),
    "NegativeBinomial": (NegativeBinomial(r=2.0), "counts"),
    "Binomial": (Binomial(n=6), "trials"),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_rows_of_a_discrete_model_are_not_below_uniform_far_out(name):
    family, kind = DISCRETE[name]
    X, y = rows(kind)
    model = BayesClassifier(family).fit(X, y)
    n = 100_000
    novelty = model.novelty(model.sample(n, random_state=7)[0])
    for level in (1e-4, 2e-4, 5e-4, 1e-3, 0.01, 0.1, 0.5):
        # The 32,768 rows that it is compared with err as well.
        allowed = level + 4.0 * np.sqrt(level * (1 / n + 1 / 32_768))
        assert np.mean(novelty <= level) <= allowed, level
