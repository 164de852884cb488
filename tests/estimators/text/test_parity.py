"""The same posteriors as scikit-learn's CountVectorizer in front of its naive Bayes."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize

from suffice import TextClassifier

FOLDER = os.environ.get("SUFFICE_DATA")
ANALYSES = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"stop_words": "english"},
    {"stop_words": ["good", "film"], "ngram_range": (1, 2)},
    {"lowercase": False},
]
ALPHAS = [1.0, 0.1, 1e-10, 7.5]
with_alphas = pytest.mark.parametrize("alpha", ALPHAS)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


def matrices(corpus, analysis):
    """Their counts of the documents fitted and asked about."""
    vectorizer = CountVectorizer(**analysis)
    fitted = vectorizer.fit_transform(corpus.texts)
    return vectorizer, fitted, vectorizer.transform(corpus.asked)


@pytest.mark.parametrize("analysis", ANALYSES, ids=str)
@with_alphas
def test_counts_give_the_posteriors_of_multinomial_nb(corpus, analysis, alpha):
    vectorizer, fitted, asked = matrices(corpus, analysis)
    theirs = MultinomialNB(alpha=alpha).fit(fitted, corpus.labels)
    ours = TextClassifier(alpha=alpha, **analysis).fit(corpus.texts, corpus.labels)
    assert ours.vocabulary_ == vectorizer.vocabulary_
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(asked))
    close(ours.predict_joint_log_proba(corpus.asked), theirs.predict_joint_log_proba(asked))


@pytest.mark.parametrize("analysis", ANALYSES, ids=str)
@with_alphas
def test_presence_gives_the_posteriors_of_bernoulli_nb(corpus, analysis, alpha):
    _, fitted, asked = matrices(corpus, analysis)
    theirs = BernoulliNB(alpha=alpha).fit(fitted, corpus.labels)
    ours = TextClassifier("bernoulli", alpha=alpha, **analysis).fit(corpus.texts, corpus.labels)
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(asked))


@pytest.mark.parametrize("analysis", ANALYSES[:4], ids=str)
@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-5, 7.5])  # theirs loses the digits of smaller ones
def test_the_other_classes_give_the_posteriors_of_complement_nb(corpus, analysis, norm, alpha):
    _, fitted, asked = matrices(corpus, analysis)
    theirs = ComplementNB(alpha=alpha, norm=norm).fit(fitted, corpus.labels)
    ours = TextClassifier("complement", alpha=alpha, weight_norm=norm, priors="uniform", **analysis)
    ours.fit(corpus.texts, corpus.labels)
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(asked))
    assert ours.predict(corpus.asked).tolist() == theirs.predict(asked).tolist()


@pytest.mark.parametrize(
    "event, theirs, priors",
    [
        ("multinomial", MultinomialNB(), None),
        ("bernoulli", BernoulliNB(), None),
        ("complement", ComplementNB(), "uniform"),
    ],
)
def test_weights_mean_what_they_mean_in_scikit_learn(corpus, event, theirs, priors):
    weights = np.random.default_rng(0).random(len(corpus.texts)) * 3
    _, fitted, asked = matrices(corpus, {})
    theirs.fit(fitted, corpus.labels, weights)
    ours = TextClassifier(event, priors=priors).fit(corpus.texts, corpus.labels, weights)
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(asked))


def transformed(counts, settings, idf):
    """Tf, then length, then idf."""
    x = counts.astype(float)
    if settings["tf"] == "log":
        x = x.log1p()
    elif settings["tf"] == "binary":
        x.data[:] = 1.0
    if settings["length"] == "l2":
        x = normalize(x)
    return x.multiply(idf).tocsr()


@pytest.mark.parametrize("tf", ["count", "log", "binary"])
@pytest.mark.parametrize("length", [None, "l2"])
@pytest.mark.parametrize("with_idf", [False, True])
@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_transforms_equal_transformed_counts(corpus, tf, length, with_idf, event):
    _, fitted, asked = matrices(corpus, {})
    idf = np.log(fitted.shape[0] / (fitted > 0).sum(axis=0)) if with_idf else np.ones((1, fitted.shape[1]))
    settings = {"tf": tf, "length": length}
    theirs = {"multinomial": MultinomialNB, "complement": ComplementNB}[event](alpha=0.3)
    theirs.fit(transformed(fitted, settings, idf), corpus.labels)
    priors = "uniform" if event == "complement" else None
    ours = TextClassifier(event, alpha=0.3, idf=with_idf, priors=priors, **settings)
    ours.fit(corpus.texts, corpus.labels)
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(transformed(asked, settings, idf)))


def test_weight_norm_divides_the_weights_of_each_class_by_their_size(corpus):
    _, fitted, asked = matrices(corpus, {})
    theirs = MultinomialNB(alpha=0.5).fit(fitted, corpus.labels)
    weights = theirs.feature_log_prob_ / np.abs(theirs.feature_log_prob_).sum(axis=1, keepdims=True)
    ours = TextClassifier(alpha=0.5, weight_norm=True).fit(corpus.texts, corpus.labels)
    close(ours.predict_joint_log_proba(corpus.asked), asked @ weights.T + theirs.class_log_prior_)


@pytest.mark.parametrize("min_count", [2, 5])
def test_min_count_is_min_df(corpus, min_count):
    vectorizer = CountVectorizer(min_df=min_count)
    theirs = MultinomialNB().fit(vectorizer.fit_transform(corpus.texts), corpus.labels)
    ours = TextClassifier(min_count=min_count).fit(corpus.texts, corpus.labels)
    assert ours.vocabulary_ == vectorizer.vocabulary_
    close(ours.predict_proba(corpus.asked), theirs.predict_proba(vectorizer.transform(corpus.asked)))


@pytest.mark.data
@pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets")
@pytest.mark.parametrize("event, theirs", [("multinomial", MultinomialNB()), ("bernoulli", BernoulliNB())])
def test_text_messages_have_the_posteriors_of_scikit_learn(event, theirs):
    messages = pd.read_csv(Path(FOLDER) / "sms_spam/data.csv.gz").iloc[::3]
    texts, labels = messages["text"].tolist(), messages["label"].to_numpy()
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    theirs.fit(vectorizer.fit_transform(texts), labels)
    ours = TextClassifier(event, ngram_range=(1, 2)).fit(texts, labels)
    close(ours.predict_proba(texts), theirs.predict_proba(vectorizer.transform(texts)))
