"""Pictures, by scikit-learn's Display contract; they need the extra `plot` (matplotlib).

A display is made from a model or from predictions, holds its data (`to_frame`), and draws itself:
`.plot(ax=None)` gives the display back, with `.ax_` and `.figure_`.
"""

from suffice.plots.confusion import ConfusionDisplay
from suffice.plots.density import DensityDisplay
from suffice.plots.evaluation import EvaluationDisplay
from suffice.plots.evidence import EvidenceDisplay
from suffice.plots.explanation import ExplanationDisplay
from suffice.plots.learning_curve import LearningCurveDisplay
from suffice.plots.link import LinkDisplay
from suffice.plots.posterior import PosteriorDisplay
from suffice.plots.reliability import ReliabilityDisplay

__all__ = [
    "ConfusionDisplay",
    "DensityDisplay",
    "EvaluationDisplay",
    "EvidenceDisplay",
    "ExplanationDisplay",
    "LearningCurveDisplay",
    "LinkDisplay",
    "PosteriorDisplay",
    "ReliabilityDisplay",
]
