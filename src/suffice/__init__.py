"""Probabilistic generative classification from sufficient statistics.

    p(x | C_k) = h(x)·exp(λ_kᵀ u(x) − A(λ_k))

Fitting adds up u(x) per class; predicting is one linear map of u(x) and a softmax. So a data set is
worth exactly its sufficient statistics, which add, subtract, travel and can be solved for any model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.first_use import names_of

if TYPE_CHECKING:
    from suffice.archive import SufficeFileError
    from suffice.classifier import BayesClassifier
    from suffice.datasets import load_penguins
    from suffice.decide import CostSensitive, thresholds_from_costs
    from suffice.evaluation import Evaluation, evaluate
    from suffice.learning_curves import LearningCurves, compare
    from suffice.models import GaussianDiscriminant
    from suffice.outliers import NoveltyDetector
    from suffice.regression import LogisticRegression, ProbitRegression
    from suffice.reweighting import WithPriors, adapt_priors
    from suffice.rows import summarize
    from suffice.statistics import Statistics
    from suffice.storage import load
    from suffice.text_classifier import TextClassifier
    from suffice.threads import set_threads

__version__ = "0.1.0"
__all__ = [
    "BayesClassifier",
    "CostSensitive",
    "Evaluation",
    "GaussianDiscriminant",
    "LearningCurves",
    "LogisticRegression",
    "NoveltyDetector",
    "ProbitRegression",
    "Statistics",
    "SufficeFileError",
    "TextClassifier",
    "WithPriors",
    "adapt_priors",
    "compare",
    "dropin",
    "evaluate",
    "families",
    "links",
    "load",
    "load_penguins",
    "plots",
    "set_threads",
    "summarize",
    "testing",
    "thresholds_from_costs",
]

_HOMES = {
    "BayesClassifier": "suffice.classifier",
    "CostSensitive": "suffice.decide",
    "Evaluation": "suffice.evaluation",
    "GaussianDiscriminant": "suffice.models",
    "LearningCurves": "suffice.learning_curves",
    "LogisticRegression": "suffice.regression",
    "NoveltyDetector": "suffice.outliers",
    "ProbitRegression": "suffice.regression",
    "Statistics": "suffice.statistics",
    "SufficeFileError": "suffice.archive",
    "TextClassifier": "suffice.text_classifier",
    "WithPriors": "suffice.reweighting",
    "adapt_priors": "suffice.reweighting",
    "compare": "suffice.learning_curves",
    "dropin": "suffice.dropin",
    "evaluate": "suffice.evaluation",
    "families": "suffice.families",
    "links": "suffice.links",
    "load": "suffice.storage",
    "load_penguins": "suffice.datasets",
    "plots": "suffice.plots",
    "set_threads": "suffice.threads",
    "summarize": "suffice.rows",
    "testing": "suffice.testing",
    "thresholds_from_costs": "suffice.decide",
}
__getattr__ = names_of(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
