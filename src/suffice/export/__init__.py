"""Export: a fitted model as one SQL query or one ONNX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy import names_of

if TYPE_CHECKING:
    from suffice.export.exportable import Exportable
    from suffice.export.scoring import Scoring

__all__ = ["Exportable", "Scoring"]

# At first use, so that the command line can list the dialects without loading any of this.
__getattr__ = names_of(
    __name__, {"Exportable": "suffice.export.exportable", "Scoring": "suffice.export.scoring"}
)
