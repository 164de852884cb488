"""Models of every kind, small, with the rows to ask them about."""

import io

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import (
    BayesClassifier,
    Calibrated,
    GaussianDiscriminant,
    LogisticRegression,
    ProbitRegression,
    TextClassifier,
    families,
)

N = 40
TEXTS = ("good film", "bad film and bad music", "great fun", "no fun at all", "Köln is far", None)


def mixed():
    """A table with a column for every family, gaps in each, and its families."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "normal": rng.standard_normal(N),
            "shared": 1e9 + rng.standard_normal(N),
            "lognormal": rng.lognormal(size=N),
            "gamma": rng.gamma(2.0, 3.0, N),
            "inverse": rng.wald(2.0, 3.0, N),
            "exponential": rng.exponential(2.0, N),
            "beta": rng.beta(2.0, 3.0, N),
            "angle": rng.vonmises(0.5, 2.0, N),
            "flag": pd.array(rng.random(N) < 0.4, dtype="boolean"),
            "count": pd.array(rng.poisson(3.0, N), dtype="Int64"),
            "tries": rng.geometric(0.4, N) - 1.0,
            "negative": rng.negative_binomial(2, 0.4, N).astype(float),
            "hits": rng.binomial(9, 0.4, N).astype(float),
            "town": pd.Categorical(rng.choice(["Ulm", "Bonn", "Köln"], N)),
            "bins": rng.standard_normal(N),
            "steps": rng.standard_normal(N),
            "often": np.maximum(rng.standard_normal(N), 0.0),
            "one": rng.poisson(2.0, N).astype(float),
            "two": rng.poisson(2.0, N).astype(float),
            "length": rng.standard_normal(N),
            "width": rng.standard_normal(N),
            "note": rng.choice(np.array(TEXTS, dtype=object), N),
            "empty": np.full(N, np.nan),
        }
    )
    by_column = {
        "normal": families.Normal(),
        "shared": families.Normal("shared", alpha=0.5),
        "lognormal": families.LogNormal(),
        "gamma": families.Gamma(),
        "inverse": families.InverseGaussian(),
        "exponential": families.Exponential(),
        "beta": families.Beta(),
        "angle": families.VonMises(),
        "flag": families.Bernoulli(),
        "count": families.Poisson(),
        "tries": families.Geometric(),
        "negative": families.NegativeBinomial(2.0),
        "hits": families.Binomial(9),
        "town": families.Categorical(unseen="smooth"),
        "bins": families.Histogram(8),
        "steps": families.Steps(),
        "often": families.Hurdle(families.Gamma("shared", unseen="smooth"), alpha=0.5),
        ("one", "two"): families.Multinomial(),
        ("length", "width"): families.MultivariateNormal("full"),
        "note": families.Words(),
    }
    return X.mask(rng.random(X.shape) < 0.1), rng.choice(["a", "b", "c"], N), by_column


def gaussians(gaps=True):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 3))
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.integers(0, 3, 60)


def _table():
    X, y, by_column = mixed()
    return BayesClassifier(by_column).fit(X, y), X


def _inferred():
    X, y = suffice.load_penguins()
    return BayesClassifier(priors="uniform").fit(X, y), X


def _given_priors():
    X, y = gaussians()
    return BayesClassifier(families.Normal, priors={0: 0.5, 1: 0.25, 2: 0.25}).fit(X, y), X


def _gaussian(gaps=True, **settings):
    X, y = gaussians(gaps)
    return GaussianDiscriminant(**settings).fit(X, y), X


def _text(**settings):
    documents = [text for text in TEXTS for _ in range(2)]
    labels = np.array([True, False, True, False, True, False, True, True, False, False, True, False])
    return TextClassifier(**settings).fit(documents, labels), documents


def _regression(kind, n_classes):
    X, y = gaussians(gaps=False)
    return kind().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y % n_classes), pd.DataFrame(
        X, columns=["a", "b", "c"]
    )


def _drop_in(name, gaps=False, **settings):
    counted = name in ("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB")
    X, y = gaussians(gaps)
    if counted:
        X = np.abs(np.round(X))
    return getattr(suffice.dropin, name)(**settings).fit(X, y), X


def _adapted():
    X, y = gaussians()
    return BayesClassifier().fit(X, y.astype(np.float64)).adapt_priors(X[y > 0]), X


def _text_of_numbers():
    cells = [f"${1000 + 37 * i % 900:,}" for i in range(60)]
    days = [f"{1 + i % 28:02}/{1 + i % 12:02}/2024" for i in range(60)]
    X = pd.DataFrame({"price": cells, "day": days, "colour": ["red", "?", "blue"] * 20})
    X.loc[7, "price"] = "?"
    return suffice.BayesClassifier(missing_marks=["?"]).fit(X, ["a", "b"] * 30), X


def _weighed():
    X, y, by_column = mixed()
    return suffice.EvidenceClassifier(by_column, priors="uniform").fit(X, y), X


def _weighed_given():
    X, y = suffice.load_penguins()
    first = suffice.EvidenceClassifier(cv=3).fit(X, y)
    return suffice.EvidenceClassifier(pieces=first.pieces_, penalty=2.0, nonnegative=True).fit(X, y), X


MODELS = {
    "mixed table": _table,
    "inferred": _inferred,
    "text of numbers": _text_of_numbers,
    "priors by label": _given_priors,
    "weighed evidence": _weighed,
    "weighed evidence of given pieces": _weighed_given,
    "full covariance with gaps": lambda: _gaussian(covariance="full"),
    "shared covariance with gaps": lambda: _gaussian(covariance="shared", shrinkage=0.25),
    "pairwise": lambda: _gaussian(missing="pairwise", shrinkage="oas"),
    "Ledoit and Wolf": lambda: _gaussian(gaps=False, shrinkage="ledoit_wolf"),
    "groups of labels": lambda: _gaussian(covariance=[[0, 1], [2]], ddof=1),
    "Friedman": lambda: _gaussian(gaps=False, covariance="full", shrinkage=(0.5, 0.1)),
    "text": _text,
    "complement": lambda: _text(event="complement", ngram_range=(1, 2), stop_words=["and", "at"]),
    "characters": lambda: _text(analyzer="char_wb", ngram_range=(2, 3), idf=True, tf="log", length="l2"),
    "logistic": lambda: _regression(LogisticRegression, 2),
    "softmax": lambda: _regression(LogisticRegression, 3),
    "probit": lambda: _regression(ProbitRegression, 2),
    "probit against the rest": lambda: _regression(ProbitRegression, 3),
    "adapted priors, labels that are floats": _adapted,
    "drop-in GaussianNB": lambda: _drop_in("GaussianNB", gaps=True),
    "drop-in BernoulliNB": lambda: _drop_in("BernoulliNB"),
    "drop-in MultinomialNB": lambda: _drop_in("MultinomialNB"),
    "drop-in ComplementNB": lambda: _drop_in("ComplementNB", norm=True),
    "drop-in CategoricalNB": lambda: _drop_in("CategoricalNB", min_categories=9),
    "drop-in LDA": lambda: _drop_in("LinearDiscriminantAnalysis", gaps=True),
    "drop-in LDA, shrunk": lambda: _drop_in("LinearDiscriminantAnalysis", solver="lsqr", shrinkage="auto"),
    "drop-in LDA, eigen": lambda: _drop_in("LinearDiscriminantAnalysis", gaps=True, solver="eigen"),
    "drop-in QDA": lambda: _drop_in("QuadraticDiscriminantAnalysis", gaps=True, reg_param=0.1),
    "drop-in regression": lambda: _drop_in("LogisticRegression", C=0.5),
}


def calibrated(name, method="temperature", **settings):
    """A model calibrated on its predictions, of which every fifth is replaced by one class after another."""
    model, X = MODELS[name]()
    codes = np.searchsorted(model.classes_, model.predict(X))
    wrong = np.arange(len(codes)) % 5 == 0
    every = np.arange(len(codes)) // 5 % len(model.classes_)
    y = model.classes_[np.where(wrong, every, codes)]
    return Calibrated(model, method, cv="prefit", **settings).fit(X, y), X


def saved(thing):
    """The bytes of its file."""
    file = io.BytesIO()
    thing.save(file)
    return file.getvalue()


def loaded(packed, **options):
    return suffice.load(io.BytesIO(packed), **options)


@pytest.fixture(params=MODELS)
def fitted(request):
    """A model, and rows to ask it about."""
    return MODELS[request.param]()


@pytest.fixture
def small():
    """A small model's file."""
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 6.0], [5.0, 7.5]])
    return saved(BayesClassifier().fit(X, ["a", "a", "b", "b"]))
