"""Levels, bins and words drawn from a model."""

import numpy as np
import pytest
from scipy import stats

from suffice import BayesClassifier, TextClassifier
from suffice.factors.words.language import Language
from suffice.families import Categorical, Histogram, Steps


class Chances:
    """A generator whose chances are given."""

    def __init__(self, *chances):
        self.chances = np.array(chances)

    def random(self, n):
        return np.resize(self.chances, n)


EXTREMES = Chances(0.0, np.nextafter(1.0, 0.0))


def table_of(family, values, y):
    return (
        BayesClassifier(family).fit(np.asarray(values)[:, np.newaxis], y)._solved_model().factors[0].tables[0]
    )


@pytest.mark.parametrize(
    "family, values",
    [
        (Categorical(), np.arange(5000)),
        (Histogram(bins=1024), np.linspace(0.0, 1.0, 5000)),
        (Steps(), np.linspace(0.0, 1.0, 5000)),
    ],
    ids=["levels", "bins", "steps"],
)
def test_sampling_takes_memory_for_rows_and_levels_and_not_their_product(family, values, peak_memory):
    model = BayesClassifier(family).fit(values[:, np.newaxis], np.arange(5000) % 2)
    model.sample(10, random_state=0)
    n_rows = 20_000
    assert peak_memory(lambda: model.sample(n_rows, random_state=0)) < 200 * (n_rows + 2 * 5000)


def test_novelty_takes_memory_for_drawn_rows_and_levels_and_not_their_product(peak_memory):
    values = np.arange(5000)[:, np.newaxis]
    model = BayesClassifier(Categorical()).fit(values, np.arange(5000) % 2)
    assert peak_memory(lambda: model.novelty(values[:5])) < 1000 * (32_768 + 2 * 5000)


@pytest.mark.parametrize("family", [Categorical(alpha=0.5), Histogram(bins=16), Steps()], ids=str)
def test_draws_have_the_probabilities_of_their_class(family):
    rng = np.random.default_rng(0)
    y = rng.choice([0, 1, 2], 3000)
    table = table_of(family, rng.poisson(2.0 + 3.0 * y).astype(float), y)
    codes = rng.choice([0, 1, 2], 60_000)
    drawn = table.draw(codes, rng)
    for k in range(3):
        p = table.probability[:, k]
        counts = np.bincount(drawn[codes == k], minlength=len(p))
        # Levels too rare for the χ² approximation count as one.
        rare = p * counts.sum() < 5
        observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, p * counts.sum()))
        kept = expected > 0
        assert stats.chisquare(observed[kept], expected[kept]).pvalue > 0.001


@pytest.mark.parametrize("absent", [0, 1, 2, 3])
def test_a_level_of_probability_0_is_never_drawn(absent):
    values = np.tile(np.arange(4.0), 30)
    y = np.where(values == absent, "b", np.where(np.arange(120) % 3 == 0, "b", "a"))
    table = table_of(Categorical(alpha=0), values, y)
    codes = np.zeros(20_000, dtype=np.intp)
    assert table.probability[absent, 0] == 0
    assert set(table.draw(codes, np.random.default_rng(0))) == {0, 1, 2, 3} - {absent}
    assert absent not in table.draw(codes[:2], EXTREMES)


@pytest.mark.parametrize("n_levels", [1, 3, 7, 10, 49, 1000, 4097])
def test_the_rounding_of_sums_draws_no_level_that_does_not_exist(n_levels):
    weights = np.random.default_rng(n_levels).random(n_levels) + 1e-9
    model = BayesClassifier(Categorical(alpha=1e-3))
    model.fit(np.arange(n_levels)[:, np.newaxis], np.zeros(n_levels), sample_weight=weights)
    table = model._solved_model().factors[0].tables[0]
    assert table.draw(np.zeros(2, dtype=np.intp), EXTREMES).tolist() == [0, n_levels - 1]


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_the_words_of_a_class_are_read_once_for_all_its_documents(event, monkeypatch):
    model = TextClassifier(event).fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    calls = []
    probabilities = Language.probabilities
    monkeypatch.setattr(Language, "probabilities", lambda self, k: calls.append(k) or probabilities(self, k))
    documents, labels = model.sample(500, random_state=0)
    assert sorted(calls) == [0, 1]
    assert len(documents) == len(labels) == 500


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_drawn_documents_have_the_words_of_their_class(event):
    documents, y = ["good film", "bad film", "good fun"] * 20, ["+", "-", "+"] * 20
    model = TextClassifier(event, alpha=0.0).fit(documents, y)
    drawn, labels = model.sample(4000, random_state=0)
    for label, words in (("+", {"good", "film", "fun"}), ("-", {"bad", "film"})):
        held = " ".join(text for text, own in zip(drawn, labels, strict=True) if own == label).split()
        assert set(held) == words
    share = np.mean(["film" in text.split() for text in np.array(drawn, dtype=object)[labels == "+"]])
    expected = 0.5 if event == "bernoulli" else 1.0 - np.exp(-2.0 * 0.25)
    assert share == pytest.approx(expected, abs=0.03)
