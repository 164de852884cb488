"""Text: raw strings to a fitted model and to posteriors, against scikit-learn."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import suffice
from comparison import Comparison, compare

FOLDER = Path(os.environ["SUFFICE_DATA"]) if "SUFFICE_DATA" in os.environ else None


def table(name, part="data"):
    """Texts and labels of a data set."""
    frame = pd.read_csv(FOLDER / name / f"{part}.csv.gz")
    return frame["text"].tolist(), frame["label"].to_numpy()


def documents() -> list[Comparison]:
    if FOLDER is None:
        print("imdb: left out, SUFFICE_DATA does not name the folder of public data sets")
        return []
    texts, labels = table("imdb", "train")
    test, _ = table("imdb", "test")
    done = []
    for title, settings, asked in (
        ("imdb, words", {}, (12, 10)),
        ("imdb, 1+2-grams", {"ngram_range": (1, 2)}, (None, None)),
    ):
        ours = suffice.TextClassifier(**settings)
        theirs = make_pipeline(CountVectorizer(**settings), MultinomialNB())
        pairs = {
            "fit": (
                lambda ours=ours: ours.fit(texts, labels).priors_,
                lambda theirs=theirs: theirs.fit(texts, labels),
            ),
            "predict_proba": (
                lambda ours=ours: ours.predict_proba(test),
                lambda theirs=theirs: theirs.predict_proba(test),
            ),
        }
        for (deed, (mine, yours)), least in zip(pairs.items(), asked, strict=True):
            done.append(
                compare(
                    f"{title}, {deed} from raw strings",
                    len(texts),
                    mine,
                    yours,
                    at_least=least,
                    less_memory=least is not None,
                    repeats=5 if least else 2,
                )
            )
        np.testing.assert_allclose(ours.predict_proba(test), theirs.predict_proba(test), atol=1e-9)
    return done


PARTS = (documents,)
