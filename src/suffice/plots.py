"""Pictures, by scikit-learn's Display contract; they need the extra `plot` (matplotlib).

`from_estimator` and `from_predictions` draw at once and give the display, with `.ax_`, `.figure_` and its
data (`to_frame`). `.plot(ax=None)` draws a display that was made of a result, or any display again.
"""

from suffice.evaluation import EvaluationDisplay
from suffice.learning_curves import LearningCurveDisplay
from suffice.pictures.confusion import ConfusionDisplay
from suffice.pictures.density import DensityDisplay
from suffice.pictures.evidence import EvidenceDisplay
from suffice.pictures.explanation import ExplanationDisplay
from suffice.pictures.link import LinkDisplay
from suffice.pictures.posterior import PosteriorDisplay
from suffice.pictures.reliability import ReliabilityDisplay

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
