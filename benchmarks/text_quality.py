"""Log loss and accuracy on public documents: `make bench PARTS=text_quality`.

`python benchmarks/text_quality.py [data set …]` measures some of them. It needs the data sets in the folder
named by SUFFICE_DATA. Published test sets are used where there are any; of others, half of the documents are
held out. Choices were made on the data sets named in DEVELOP; the others only confirm them.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline

import suffice

FOLDER = os.environ.get("SUFFICE_DATA")
DEVELOP = ("sms_spam", "trec_qc", "reuters_r8", "banking77", "ag_news")
CONFIRM = ("rt_polarity", "newsgroups20", "imdb")
STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0)
MEASURES = ("log loss", "accuracy")


def parts(name):
    """Texts and labels to fit, and to answer."""
    files = {file.name.removesuffix(".csv.gz"): file for file in Path(FOLDER, name).glob("*.csv.gz")}
    frames = {part: pd.read_csv(file, keep_default_na=False) for part, file in files.items()}
    if "data" in frames:
        frame = frames["data"]
        fit, test = train_test_split(frame, test_size=0.5, random_state=0, stratify=frame["label"])
    else:
        fit, test = frames.get("train", frames.get("train_subset")), frames["test"]
    return [(part["text"].tolist(), part["label"].astype(str).to_numpy()) for part in (fit, test)]


class TunedRegression:
    """Logistic regression on tf-idf, with the strength of least loss in a quarter of the documents."""

    def __init__(self, n_words: int) -> None:
        self.n_words = n_words

    def _model(self, strength):
        words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, self.n_words), min_df=self.n_words)
        return make_pipeline(words, LogisticRegression(C=strength, max_iter=300))

    def fit(self, texts, y):
        train, test = next(StratifiedKFold(4, shuffle=True, random_state=0).split(y, y))
        some, others = ([texts[i] for i in rows] for rows in (train, test))
        losses = []
        for strength in STRENGTHS:
            posteriors = self._model(strength).fit(some, y[train]).predict_proba(others)
            losses.append(suffice.Evaluation.of(y[test], posteriors).log_loss)
            if losses[-1] > min(losses):
                break
        self.model = self._model(STRENGTHS[int(np.argmin(losses))]).fit(texts, y)
        return self

    def predict_proba(self, texts):
        return self.model.predict_proba(texts)


MODELS = {
    "TextClassifier()": suffice.TextClassifier,
    "EvidenceClassifier()": suffice.EvidenceClassifier,
    "logistic regression, words": lambda: TunedRegression(1),
    "logistic regression, and pairs": lambda: TunedRegression(2),
}


def measured(name):
    """The measures of each model, (models, measures)."""
    (texts, y), (others, answers) = parts(name)
    found = []
    for make in MODELS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = suffice.Evaluation.of(answers, make().fit(texts, y).predict_proba(others))
        found.append([report.log_loss, report.accuracy])
    return found


def text_quality(names=()):
    """Measure all data sets or some, print the results, and return them for each data set and model."""
    if FOLDER is None:
        print("SUFFICE_DATA does not name the folder of public data sets.")
        return {}
    print(f"log loss and accuracy\n| documents | {' | '.join(MODELS)} |\n|{'---|' * (1 + len(MODELS))}")
    results = {}
    for name in names or (*DEVELOP, *CONFIRM):
        found = measured(name)
        shown = " | ".join(f"{loss:.3f}, {100 * accuracy:.1f} %" for loss, accuracy in found)
        print(f"| {name}{'' if name in DEVELOP else ' (c)'} | {shown} |", flush=True)
        each = zip(MODELS, found, strict=True)
        results[name] = {model: dict(zip(MEASURES, one, strict=True)) for model, one in each}
    return results


def main() -> int:
    return int(not text_quality(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
