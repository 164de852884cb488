"""Logistic, softmax and probit regression: iterated sums over blocks of rows."""

from suffice.estimators.regression.estimators import LogisticRegression, ProbitRegression

__all__ = ["LogisticRegression", "ProbitRegression"]
