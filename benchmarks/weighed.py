"""Weighed evidence: the fit against logistic regression, predicting against naive Bayes."""

from sklearn.linear_model import LogisticRegression

import suffice
from comparison import MEGABYTE, Comparison, compare
from dense import rows_of


def weighed() -> list[Comparison]:
    X, y = rows_of(1_000_000, 50)
    model = suffice.EvidenceClassifier().fit(X[:50_000], y[:50_000])
    plain = suffice.BayesClassifier().fit(X[:50_000], y[:50_000])
    rows = X[:200_000]
    return [
        compare(
            "weighed evidence, K = 10, d = 50, fit (LogisticRegression)",
            len(X),
            lambda: suffice.EvidenceClassifier().fit(X, y),
            lambda: LogisticRegression().fit(X, y),
            repeats=3,
            at_least=5.0,
            most_memory=1024 * MEGABYTE,
        ),
        compare(
            "weighed evidence, predict (BayesClassifier)",
            len(rows),
            lambda: model.predict(rows),
            lambda: plain.predict(rows),
            at_least=1 / 4,
        ),
    ]


PARTS = (weighed,)
