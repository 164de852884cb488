"""Probabilistic generative classification from sufficient statistics.

    p(x | C_k) = h(x)·exp(λ_kᵀ u(x) − A(λ_k))

Fitting adds up u(x) per class; predicting is one linear map of u(x) and a softmax. So a data set is
worth exactly its sufficient statistics, which add, subtract, travel and can be solved for any model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy import names_of

if TYPE_CHECKING:
    from suffice.datasets import load_penguins
    from suffice.engines.summarize import summarize
    from suffice.estimators.bayes import BayesClassifier
    from suffice.estimators.calibrated import Calibrated
    from suffice.estimators.costs import CostSensitive, thresholds_from_costs
    from suffice.estimators.evidence.classifier import EvidenceClassifier
    from suffice.estimators.gaussian import GaussianDiscriminant
    from suffice.estimators.novelty_detector import NoveltyDetector
    from suffice.estimators.other_priors import WithPriors, adapt_priors
    from suffice.estimators.regression import LogisticRegression, ProbitRegression
    from suffice.estimators.text import TextClassifier
    from suffice.evaluation.cross_validation import cross_val_predict_proba, cross_val_scores
    from suffice.evaluation.evaluate import Evaluation, evaluate
    from suffice.evaluation.learning_curves import LearningCurves, compare
    from suffice.evaluation.search import OnePassSearchCV
    from suffice.evaluation.selection import OnePassSelector
    from suffice.kernels.threads import set_threads
    from suffice.model.statistics import Statistics
    from suffice.reports.report import report
    from suffice.storage import SufficeFileError
    from suffice.storage.load import load

__version__ = "0.1.0"
__all__ = [
    "BayesClassifier",
    "Calibrated",
    "CostSensitive",
    "Evaluation",
    "EvidenceClassifier",
    "GaussianDiscriminant",
    "LearningCurves",
    "LogisticRegression",
    "NoveltyDetector",
    "OnePassSearchCV",
    "OnePassSelector",
    "ProbitRegression",
    "Statistics",
    "SufficeFileError",
    "TextClassifier",
    "WithPriors",
    "adapt_priors",
    "compare",
    "cross_val_predict_proba",
    "cross_val_scores",
    "dropin",
    "evaluate",
    "families",
    "links",
    "load",
    "load_penguins",
    "plots",
    "report",
    "set_threads",
    "summarize",
    "testing",
    "thresholds_from_costs",
]

_HOMES = {
    "BayesClassifier": "suffice.estimators.bayes",
    "Calibrated": "suffice.estimators.calibrated",
    "CostSensitive": "suffice.estimators.costs",
    "Evaluation": "suffice.evaluation.evaluate",
    "EvidenceClassifier": "suffice.estimators.evidence.classifier",
    "GaussianDiscriminant": "suffice.estimators.gaussian",
    "LearningCurves": "suffice.evaluation.learning_curves",
    "LogisticRegression": "suffice.estimators.regression",
    "NoveltyDetector": "suffice.estimators.novelty_detector",
    "OnePassSearchCV": "suffice.evaluation.search",
    "OnePassSelector": "suffice.evaluation.selection",
    "ProbitRegression": "suffice.estimators.regression",
    "Statistics": "suffice.model.statistics",
    "SufficeFileError": "suffice.storage",
    "TextClassifier": "suffice.estimators.text",
    "WithPriors": "suffice.estimators.other_priors",
    "adapt_priors": "suffice.estimators.other_priors",
    "compare": "suffice.evaluation.learning_curves",
    "cross_val_predict_proba": "suffice.evaluation.cross_validation",
    "cross_val_scores": "suffice.evaluation.cross_validation",
    "dropin": "suffice.dropin",
    "evaluate": "suffice.evaluation.evaluate",
    "families": "suffice.families",
    "links": "suffice.links",
    "load": "suffice.storage.load",
    "load_penguins": "suffice.datasets",
    "plots": "suffice.plots",
    "report": "suffice.reports.report",
    "set_threads": "suffice.kernels.threads",
    "summarize": "suffice.engines.summarize",
    "testing": "suffice.testing",
    "thresholds_from_costs": "suffice.estimators.costs",
}
__getattr__ = names_of(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
