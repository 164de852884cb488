"""Accuracy of text models on public data sets, beside what was published: `python benchmarks/accuracy.py`.

Needs the data sets in the folder named by SUFFICE_DATA. Settings are chosen on training documents alone.
"""

import sys

import numpy as np
from sklearn.model_selection import StratifiedKFold

import suffice
from text import FOLDER, table


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


def main() -> int:
    if FOLDER is None:
        print("SUFFICE_DATA does not name the folder of public data sets.")
        return 1
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

    return 0


if __name__ == "__main__":
    sys.exit(main())
