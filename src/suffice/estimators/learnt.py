"""What a generative model has learnt."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.model.priors import PriorShift
from suffice.model.solution import SavedSearches, SolvedModel
from suffice.model.statistics import Accumulator
from suffice.tables.container import Container


@dataclass
class FittedState:
    """What a model has learnt: its sums, and the parameters once they are asked for."""

    accumulator: Accumulator
    container: Container | None = None
    solution: SolvedModel | None = None
    saved_searches: SavedSearches | None = None
    """Parameters that a file brought along, until the sums change."""
    shift: PriorShift | None = None
    """How the priors were adapted to rows without labels."""
