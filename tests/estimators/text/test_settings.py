"""Settings that change after fitting are followed or refused, never ignored."""

import numpy as np
import pytest

from suffice import TextClassifier

TEXTS, LABELS = ["good film", "bad film", "good"], ["+", "-", "+"]


@pytest.mark.parametrize(
    "name, value",
    [
        ("ngram_range", (1, 2)),
        ("analyzer", "char"),
        ("lowercase", False),
        ("stop_words", ["film"]),
        ("strip_html", True),
        ("tokenizer", str.split),
        ("tf", "log"),
        ("length", "l2"),
    ],
)
def test_what_the_sums_were_made_with_cannot_change(name, value):
    model = TextClassifier().fit(TEXTS, LABELS)
    before, other = model.statistics_, TextClassifier().fit(TEXTS, LABELS)
    model.set_params(**{name: value})
    for deed in (
        lambda: model.partial_fit(["more"], ["+"]),
        lambda: model.forget(["good"], ["+"]),
        lambda: model.merge(other),
    ):
        with pytest.raises(ValueError, match=rf"{name} was .* is .* now; set it back, or fit again"):
            deed()
    assert model.statistics_ == before


@pytest.mark.parametrize(
    "later", [{"alpha": 0.1}, {"event": "bernoulli"}, {"min_count": 2}, {"unseen": "smooth"}], ids=str
)
@pytest.mark.parametrize("deed", ["partial_fit", "forget"])
def test_what_acts_at_solve_is_followed_at_the_next_change(later, deed):
    model = TextClassifier().fit(TEXTS, LABELS).set_params(**later)
    getattr(model, deed)(["good film"], ["+"])
    texts, labels = [*TEXTS, "good film"], [*LABELS, "+"]
    if deed == "forget":
        texts, labels = TEXTS[1:], LABELS[1:]
    whole = TextClassifier(**later).fit(texts, labels)
    asked = ["good film", "bad", "zebra"]
    np.testing.assert_allclose(model.predict_proba(asked), whole.predict_proba(asked), rtol=0, atol=1e-12)
    assert model.vocabulary_ == whole.vocabulary_


def test_weights_whose_sums_would_overflow_are_refused_and_change_nothing():
    model = TextClassifier().fit(TEXTS, LABELS)
    before = model.statistics_
    for deed in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"1e\+308 at document 1.*Divide all weights"):
            deed(TEXTS, LABELS, sample_weight=[1.0, 1e308, 1.0])
    assert model.statistics_ == before
    with pytest.raises(ValueError, match="sample_weight has shape"):
        model.fit(TEXTS, LABELS, sample_weight=[1.0, 1.0])
    for size in (1e100, 1e-300):
        p = TextClassifier(alpha=size).fit(TEXTS, LABELS, [size] * 3).predict_proba(["good", "bad"])
        np.testing.assert_allclose(p, model.predict_proba(["good", "bad"]))
