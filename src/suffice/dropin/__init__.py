"""scikit-learn's naive Bayes, discriminant analysis and logistic regression, one import line away.

Same parameters, defaults, fitted attributes and methods; the sums and kernels are those of the library.
"""

from suffice.dropin.categorical import CategoricalNB
from suffice.dropin.counts import BernoulliNB, ComplementNB, MultinomialNB
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
