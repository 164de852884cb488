"""A table that a person can read: each piece of evidence, its weight, and what it adds to held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.arrays import Array
from suffice.estimators.evidence.learning import Level
from suffice.estimators.evidence.pieces import Piece
from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.wording import one_line

if TYPE_CHECKING:
    from suffice.plots.evidence import EvidenceDisplay

MOST_LINES = 40
NOTHING_PAYS = (
    "No piece of evidence pays on held-out rows: posteriors are the priors, which are the class shares by "
    "default."
)


@dataclass(frozen=True, eq=False, repr=False)
class WeighedEvidence(Shown):
    """The pieces of evidence that a model weighs; prints as a table, the most important first.

    Attributes
    ----------
    pieces : tuple of Piece
        What each piece is about: its group, name and columns.
    weights : ndarray of shape (n_pieces,)
        How many times its log density counts; NaN for corrections, which have no density.
    nats : ndarray of shape (n_pieces,)
        What it adds to the log posterior of the class of a held-out row, on average; NaN if no weights were
        learnt. They add up to about
        `class_shares` − `loss`: biases add a little too, and weights fit the rows that they were learnt from
        better than those held out from them, of which `loss` is the mean.
    loss, class_shares : float
        The mean log loss of held-out rows, and that of the class shares; NaN if no weights were learnt.
    levels : tuple of Level
        How the loss fell, level by level.
    n_classes : int
        The number of classes that there were rows of.

    Examples
    --------
    >>> import suffice
    >>> X, y = suffice.load_penguins()
    >>> weighed = suffice.EvidenceClassifier().fit(X, y).weights_
    >>> bool(weighed.loss < 0.1 < weighed.class_shares)
    True
    """

    pieces: tuple[Piece, ...]
    weights: Array
    nats: Array
    levels: tuple[Level, ...]
    container: Container
    n_classes: int

    @property
    def loss(self) -> float:
        """The mean log loss of held-out rows."""
        return self.levels[-1].loss if self.levels else np.nan

    @property
    def class_shares(self) -> float:
        """The mean log loss of the class shares on the same rows."""
        return self.levels[0].loss if self.levels else np.nan

    def to_frame(self) -> Any:
        """The table as a frame.

        Returns
        -------
        frame : DataFrame
            In the library that the model was fitted with.
        """
        return self.container.frame(
            {
                "evidence": [piece.group for piece in self.pieces],
                "about": [piece.name for piece in self.pieces],
                "weight": self.weights,
                "nats": self.nats,
            }
        )

    def plot(self, ax: Any = None, *, most: int = 15) -> EvidenceDisplay:
        """Draw the nats that each piece adds to held-out rows.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        most : int, default=15
            The largest number of pieces to draw, the most important first.

        Returns
        -------
        display : EvidenceDisplay
        """
        from suffice.plots.evidence import EvidenceDisplay

        if np.isnan(self.nats).all():  # of no pieces, too
            raise ValueError(f"there is nothing to draw. {self._summary()[0]}")
        names = [f"{piece.group}: {piece.name}" for piece in self.pieces]
        return EvidenceDisplay(self.container.frame({"column": names, "nats": self.nats})).plot(ax, most=most)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        # Pieces that add the same up to rounding stay in their order.
        order = np.argsort(-np.abs(self.nats).round(12), kind="stable")[:MOST_LINES].tolist()
        return [
            (
                self.pieces[i].group,
                one_line(self.pieces[i].name),
                "" if np.isnan(self.weights[i]) else f"{self.weights[i]:.3f}",
                "" if np.isnan(self.nats[i]) else f"{self.nats[i]:+.3f}",
            )
            for i in order
        ]

    def _summary(self) -> list[str]:
        if not self.levels:
            reason = (
                "All rows are of one class, so there is nothing to weigh"
                if self.n_classes < 2
                else "Too few rows to weigh, or rows of too little weight"
            )
            return [f"{reason}: all columns have the same weight."]
        fell = ", ".join(f"{level.name} {level.loss:.3f}" for level in self.levels)
        more = len(self.pieces) - MOST_LINES
        said = [f"… and {more} more pieces"] if more > 0 else [] if self.pieces else [NOTHING_PAYS]
        return [*said, f"log loss of held-out rows: {fell}"]

    def _parts(self) -> list[Part]:
        rows = [("evidence", "about", "weight", "nats"), *self._rows()]
        return [*([Cells(rows, left=2, ruled=True)] if self.pieces else []), *self._summary()]
