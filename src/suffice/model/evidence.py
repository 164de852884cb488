"""What each column says about the classes in general: expected weight of evidence, and separation."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.tables.container import Container
from suffice.tables.wording import aligned

if TYPE_CHECKING:
    from suffice.plots.evidence import EvidenceDisplay

MOST_LINES = 20


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
    """How far apart each column, alone, holds the classes; prints as a table, strongest column first.

    Attributes
    ----------
    kl : ndarray of shape (d, k, k)
        [column, true, against]: the Kullback–Leibler divergence, which is the expected weight of evidence for
        the true class against the other, in nats.
    bhattacharyya : ndarray of shape (d, k, k)
        −log ∫√(p·q): symmetric, and a bound: two classes err at most √(π_k·π_l)·exp(−distance) of all rows.
    total_kl, total_bhattacharyya : ndarray of shape (k, k)
        Of whole rows; the sum over the columns where these are independent given the class.
    weight : ndarray of shape (d,)
        Expected nats for the true class, drawn by the priors, against another one, drawn likewise.
    """

    columns: tuple[Hashable, ...]
    classes: NDArray[Any]
    priors: Array
    kl: Array
    bhattacharyya: Array
    total_kl: Array
    total_bhattacharyya: Array
    container: Container

    @property
    def weight(self) -> Array:
        """Expected nats for the true class against another one, by column."""
        return self._mean(self.kl)

    def _mean(self, pairs: Array) -> Array:
        """The mean over pairs of different classes, drawn by the priors."""
        p = self.priors
        rest = np.where(p < 1.0, 1.0 - p, 1.0)
        share = np.where(np.eye(len(p), dtype=np.bool_), 0.0, np.outer(p / rest, p))
        return np.asarray(np.sum(np.where(share > 0, pairs, 0.0) * share, axis=(1, 2)))

    def to_frame(self, *, pairs: bool = True) -> Any:
        """One line per column and ordered pair of classes, in the library the model was fitted with.

        With pairs=False one line per column, the mean over the pairs.
        """
        if not pairs:
            return self.container.frame(
                {
                    "column": [str(name) for name in self.columns],
                    "weight_of_evidence": self.weight,
                    "bhattacharyya": self._mean(self.bhattacharyya),
                }
            )
        d, k = len(self.columns), len(self.classes)
        true, against = np.nonzero(~np.eye(k, dtype=np.bool_))
        names = [str(label) for label in self.classes.tolist()]
        return self.container.frame(
            {
                "column": [str(name) for name in self.columns for _ in true],
                "class": [names[i] for i in true] * d,
                "against": [names[i] for i in against] * d,
                "kl": self.kl[:, true, against].reshape(-1),
                "bhattacharyya": self.bhattacharyya[:, true, against].reshape(-1),
            }
        )

    def plot(self, ax: Any = None, *, pairs: bool = False, **options: Any) -> EvidenceDisplay:
        """Draw the evidence of the columns, or of each for pairs of classes.

        The other options are those of `EvidenceDisplay.plot`.
        """
        from suffice.plots.evidence import EvidenceDisplay

        return EvidenceDisplay(self.to_frame(pairs=pairs)).plot(ax, **options)

    def __repr__(self) -> str:
        weight, distance = self.weight, self._mean(self.bhattacharyya)
        order = np.argsort(-weight, kind="stable")[:MOST_LINES]
        rows = [(str(self.columns[j]), f"{weight[j]:.4g}", f"{distance[j]:.4g}") for j in order]
        lines = aligned([("column", "nats for the truth", "Bhattacharyya"), *rows])
        if len(self.columns) > MOST_LINES:
            lines.append(f"… and {len(self.columns) - MOST_LINES} weaker columns")
        return "\n".join(lines)
