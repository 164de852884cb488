"""Leaving for elsewhere: a fitted model as one SQL query or one ONNX graph."""

from __future__ import annotations

from suffice.export.exportable import Exportable
from suffice.export.scoring import Scoring

__all__ = ["Exportable", "Scoring"]
