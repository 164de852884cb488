"""Logistic, softmax and probit regression: iterated sums over blocks of rows."""

from suffice.regression.estimators import LogisticRegression, ProbitRegression

__all__ = ["LogisticRegression", "ProbitRegression"]
