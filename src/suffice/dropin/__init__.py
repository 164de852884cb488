"""Drop-in replacements for scikit-learn's naive Bayes, discriminant analysis and logistic regression.

They have the same parameters, defaults, fitted attributes and methods; change the import and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy import names_of

if TYPE_CHECKING:
    from suffice.dropin.categorical import CategoricalNB
    from suffice.dropin.discrete import BernoulliNB, ComplementNB, MultinomialNB
    from suffice.dropin.gaussian import GaussianNB
    from suffice.dropin.linear import LinearDiscriminantAnalysis
    from suffice.dropin.logistic import LogisticRegression
    from suffice.dropin.quadratic import QuadraticDiscriminantAnalysis

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MultinomialNB",
    "QuadraticDiscriminantAnalysis",
]

_HOMES = {
    "BernoulliNB": "suffice.dropin.discrete",
    "CategoricalNB": "suffice.dropin.categorical",
    "ComplementNB": "suffice.dropin.discrete",
    "GaussianNB": "suffice.dropin.gaussian",
    "LinearDiscriminantAnalysis": "suffice.dropin.linear",
    "LogisticRegression": "suffice.dropin.logistic",
    "MultinomialNB": "suffice.dropin.discrete",
    "QuadraticDiscriminantAnalysis": "suffice.dropin.quadratic",
}
__getattr__ = names_of(__name__, _HOMES)
