"""Pictures, by scikit-learn's Display contract; they need the extra `plot` (matplotlib).

`from_estimator` and `from_predictions` draw at once and give the display, with `.ax_`, `.figure_` and its
data (`to_frame`). `.plot(ax=None)` draws a display that was made of a result, or any display again.
"""

from __future__ import annotations

from suffice.lazy import names_of

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

_HOMES = {
    "ConfusionDisplay": "suffice.plots.confusion",
    "DensityDisplay": "suffice.plots.density",
    "EvaluationDisplay": "suffice.evaluation.evaluate",
    "EvidenceDisplay": "suffice.plots.evidence",
    "ExplanationDisplay": "suffice.plots.explanation",
    "LearningCurveDisplay": "suffice.evaluation.learning_curves",
    "LinkDisplay": "suffice.plots.link",
    "PosteriorDisplay": "suffice.plots.posterior",
    "ReliabilityDisplay": "suffice.plots.reliability",
}
"""The displays of other rooms are named, not imported, so that this room knows nothing of those above it."""
__getattr__ = names_of(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
