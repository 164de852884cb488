"""Text: raw strings to a fitted model and to posteriors, against scikit-learn; and accuracies.

Needs the public data sets in the folder named by SUFFICE_DATA.
"""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import suffice

FOLDER = Path(os.environ["SUFFICE_DATA"]) if "SUFFICE_DATA" in os.environ else None
REPEATS = 5


def table(name, part="data"):
    frame = pd.read_csv(FOLDER / name / f"{part}.csv.gz")
    return frame["text"].tolist(), frame["label"].to_numpy()


def timed(work):
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def memory_of(who, settings):
    """Bytes that a fit and a prediction hold at most beyond what they began with, in a process (Linux)."""
    command = [sys.executable, __file__, "memory", who, repr(settings)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603


def print_memory(who, settings):
    texts, labels = table("imdb", "train")
    test, _ = table("imdb", "test")
    model = suffice.TextClassifier(**settings)
    if who == "theirs":
        model = make_pipeline(CountVectorizer(**settings), MultinomialNB())
    model.fit(texts[:2000], labels[:2000]).predict_proba(test[:2000])  # compile, import
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    model.fit(texts, labels).predict_proba(test)
    print(_status("VmHWM") - before)


def _status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def speed(texts, labels, test, **settings):
    """Medians of interleaved runs: ours / theirs, for fit and predict_proba."""
    ours = suffice.TextClassifier(**settings)
    theirs = make_pipeline(CountVectorizer(**settings), MultinomialNB())
    ours.fit(texts[:2000], labels[:2000]).predict_proba(test[:2000])  # compile
    fits, predictions = [], []
    for _ in range(REPEATS):
        mine, _ = timed(lambda: ours.fit(texts, labels).solve())
        other, _ = timed(lambda: theirs.fit(texts, labels))
        fits.append((mine, other))
        mine, p = timed(lambda: ours.predict_proba(test))
        other, q = timed(lambda: theirs.predict_proba(test))
        predictions.append((mine, other))
        np.testing.assert_allclose(p, q, atol=1e-9)
    for name, pairs in (("fit", fits), ("predict_proba", predictions)):
        mine, other = np.median(pairs, axis=0)
        print(f"  {name:14} {other / mine:6.1f} times faster")
    mine, other = (memory_of(who, settings) for who in ("ours", "theirs"))
    print(f"  peak memory    {mine / other:.2f} of theirs")


def cross_validated(texts, labels, grid, folds=5):
    """The best settings on the training documents alone: the statistics of each fold are subtracted."""
    best = (-1.0, {})
    for summing in {tuple(sorted(setting["summing"].items())) for setting in grid}:
        parts = [
            (
                test,
                suffice.TextClassifier(**dict(summing))
                .fit([texts[i] for i in test], labels[test])
                .statistics_,
            )
            for _, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(texts, labels)
        ]
        total = sum((part for _, part in parts[1:]), parts[0][1])
        for setting in grid:
            if tuple(sorted(setting["summing"].items())) != summing:
                continue
            right = 0
            for test, part in parts:
                model = suffice.TextClassifier(**setting["summing"], **setting["solving"])
                model.fit_statistics(total - part)
                right += np.sum(model.predict([texts[i] for i in test]) == labels[test])
            best = max(
                best, (right / len(labels), {**setting["summing"], **setting["solving"]}), key=lambda b: b[0]
            )
    return best


def accuracy(name, settings, expected):
    train, test = table(name, "train"), table(name, "test")
    score = suffice.TextClassifier(**settings).fit(*train).score(*test)
    print(f"  {name:14} {settings!s:60} {score:.4f}  (published: {expected})")


def rt_polarity(settings, expected):
    texts, labels = table("rt_polarity")
    right = 0
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(texts, labels):
        model = suffice.TextClassifier(**settings).fit([texts[i] for i in train], labels[train])
        right += np.sum(model.predict([texts[i] for i in test]) == labels[test])
    print(f"  {'rt_polarity':14} {settings!s:60} {right / len(labels):.4f}  (published: {expected})")


def main():
    if sys.argv[1:2] == ["memory"]:
        print_memory(sys.argv[2], ast.literal_eval(sys.argv[3]))
        return
    if FOLDER is None:
        print("text: SUFFICE_DATA does not name the folder of public data sets; left out.")
        return
    texts, labels = table("imdb", "train")
    test, _ = table("imdb", "test")
    if "accuracy" not in sys.argv:
        print("imdb, raw strings, against CountVectorizer + MultinomialNB:")
        speed(texts, labels, test)
        print("the same with 1+2-grams:")
        speed(texts, labels, test, ngram_range=(1, 2))
    print("accuracy:")
    accuracy("newsgroups20", {}, 0.7728)
    accuracy("imdb", {"tf": "binary"}, "83.55 %")
    accuracy("imdb", {"tf": "binary", "ngram_range": (1, 2)}, "86.59 %")
    rt_polarity({"tf": "binary"}, "77.9 %")
    rt_polarity({"tf": "binary", "ngram_range": (1, 2), "alpha": 2.0}, "79.0 %")
    train = table("newsgroups20", "train")
    grid = [
        {"summing": {"tf": tf, "length": length}, "solving": {"event": event, "alpha": alpha, "idf": idf}}
        for tf in ("count", "log")
        for length in (None, "l2")
        for event in ("multinomial", "complement")
        for idf in (False, True)
        for alpha in (0.03, 0.1, 0.3, 1.0)
    ]
    score, settings = cross_validated(*train, grid)
    print(f"  newsgroups20 cross-validated on the training posts: {score:.4f} with {settings}")
    accuracy("newsgroups20", settings, "85.1 % by scikit-learn with log TF, L2 length, complement")


if __name__ == "__main__":
    main()
