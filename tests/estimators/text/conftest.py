"""Small corpora, made up with a seed."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

WORDS = [
    "good",
    "bad",
    "film",
    "plot",
    "the",
    "a",
    "of",
    "actor",
    "dull",
    "bright",
    "naïve",
    "Straße",
    "東京",
    "ночь",
    "don't",
    "it's",
    "x1",
    "99",
    "very",
    "not",
    "story",
    "slow",
    "fast",
    "music",
    "scene",
    "<br>",
    "end",
]


@dataclass
class Corpus:
    """Documents with their labels, and documents to ask about, some of whose words are new."""

    texts: list[str]
    labels: NDArray[np.str_]
    asked: list[str]

    def part(self, rows):
        """Some of the documents and their labels."""
        return [self.texts[i] for i in rows], self.labels[rows]


def make_corpus(seed, n=60, classes=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    tastes = {label: rng.dirichlet(np.full(len(WORDS), 0.4)) for label in classes}
    labels = np.array(classes)[rng.permutation(np.arange(n) % len(classes))]
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 12), p=tastes[label])) for label in labels]
    asked = [*texts[:10], "good unheard film", "unheard of", "Good GOOD good, bad!", "東京 ночь"]
    return Corpus(texts, labels, asked)


@pytest.fixture(scope="session", params=[0, 1])
def corpus(request):
    return make_corpus(request.param)


@pytest.fixture(scope="session")
def gappy():
    """A corpus with missing documents and documents without words."""
    whole = make_corpus(7)
    texts = list(whole.texts)
    for i in (3, 8, 21):
        texts[i] = None
    for i in (5, 30):
        texts[i] = ""
    return Corpus(texts, whole.labels, [*whole.asked, None, ""])
