"""Displays in the style of scikit-learn; they need matplotlib (`pip install suffice[plot]`).

`from_estimator` and `from_predictions` draw at once and return the display, which has `.ax_`, `.figure_` and
its data (`to_frame`). `.plot(ax=None)` draws a display made from a result, or draws any display again.
"""

from __future__ import annotations

from suffice.lazy import names_of

_HOMES = {
    "ConfusionDisplay": "suffice.plots.confusion",
    "DensityDisplay": "suffice.plots.density",
    "EvaluationDisplay": "suffice.evaluation.evaluate",
    "EvidenceDisplay": "suffice.plots.evidence",
    "ExplanationDisplay": "suffice.plots.explanation",
    "LearningCurveDisplay": "suffice.evaluation.learning_curves",
    "LinkDisplay": "suffice.plots.link",
    "PosteriorDisplay": "suffice.plots.posterior",
    "PrecisionRecallDisplay": "suffice.plots.curves",
    "ReliabilityDisplay": "suffice.plots.reliability",
    "RocCurveDisplay": "suffice.plots.curves",
    "ShapeDisplay": "suffice.plots.shapes",
    "SurfaceDisplay": "suffice.plots.surface",
}
"""Displays that live elsewhere are named, not imported, so that this package depends on nothing above it."""
__all__ = list(_HOMES)
__getattr__ = names_of(__name__, _HOMES)
