"""What columns say about the classes in general: what the model expects, and what rows held out show."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.wording import counted, one_line

if TYPE_CHECKING:
    from suffice.plots.evidence import EvidenceDisplay

MOST_LINES = 20
WORDS = {
    "nats_gained": "nats gained",
    "nats_believed": "nats believed",
    "weight_of_evidence": "nats for the truth",
    "bhattacharyya": "Bhattacharyya",
}


@dataclass(frozen=True, eq=False, repr=False)
class ColumnEvidence(Shown):
    """How well each column, by itself, tells the classes apart; prints as a table, strongest column first.

    Attributes
    ----------
    columns : tuple
        The names of the columns.
    classes : ndarray of shape (n_classes,)
        The class labels.
    priors : ndarray of shape (n_classes,)
        The class priors.
    kl : ndarray of shape (n_features, n_classes, n_classes)
        [column, true, against]: the Kullback–Leibler divergence, which is the expected weight of evidence for
        the true class against the other, in nats.
    bhattacharyya : ndarray of shape (n_features, n_classes, n_classes)
        −log ∫√(p·q): symmetric, and a bound: the error rate of two classes is at most
        √(π_k·π_l)·exp(−distance).
    total_kl, total_bhattacharyya : ndarray of shape (n_classes, n_classes)
        The same for whole rows; the sum over the columns if they are independent given the class.
    weight : ndarray of shape (n_features,)
        Expected nats for the true class against another one, both drawn from the priors.
    container : Container
        The kind of frame that `to_frame` returns.
    gained : ndarray of shape (n_features,) or None
        The nats per row that the column, by itself, really adds to rows held out: the mean of
        log p(true class | cell) − log p(true class).
    believed : ndarray of shape (n_features,) or None
        The nats per row that the model believes it adds: the mean of
        Σ_k p(C_k | cell)·log p(C_k | cell)/p(C_k). A column that gains less promises more than it holds.

    Examples
    --------
    >>> import suffice
    >>> X = [[1.0, 5.0], [1.2, 6.0], [3.0, 9.0], [3.1, 8.0]]
    >>> suffice.BayesClassifier().fit(X, ["a", "a", "b", "b"]).evidence().weight.round(2)
    array([5.88, 4.5 ])
    """

    columns: tuple[Hashable, ...]
    classes: NDArray[Any]
    priors: Array
    kl: Array
    bhattacharyya: Array
    total_kl: Array
    total_bhattacharyya: Array
    container: Container
    gained: Array | None = None
    believed: Array | None = None

    @property
    def weight(self) -> Array:
        """Expected nats for the true class against another one, by column."""
        return self._mean(self.kl)

    def _mean(self, pairs: Array) -> Array:
        """The mean over pairs of different classes, both drawn from the priors."""
        p = self.priors
        rest = np.where(p < 1.0, 1.0 - p, 1.0)
        share = np.where(np.eye(len(p), dtype=np.bool_), 0.0, np.outer(p / rest, p))
        return np.asarray(np.sum(np.where(share > 0, pairs, 0.0) * share, axis=(1, 2)))

    def to_frame(self, *, pairs: bool = True) -> Any:
        """The evidence as a frame.

        Parameters
        ----------
        pairs : bool, default=True
            Whether there is a line per column and ordered pair of classes, or one per column: the mean over
            the pairs.

        Returns
        -------
        frame : DataFrame
            In the library that the model was fitted with.
        """
        if not pairs:
            names = [str(name) for name in self.columns]
            return self.container.frame({"column": names} | self._measures())
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
        """Draw the evidence of the columns.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        pairs : bool, default=False
            Whether to draw it for every pair of classes.
        **options : dict
            The other options of `EvidenceDisplay.plot`.

        Returns
        -------
        display : EvidenceDisplay
        """
        from suffice.plots.evidence import EvidenceDisplay

        return EvidenceDisplay(self.to_frame(pairs=pairs)).plot(ax, **options)

    def _measures(self) -> dict[str, Array]:
        """The measures of each column, the one that sorts them first."""
        rows = {"nats_gained": self.gained, "nats_believed": self.believed}
        of_rows = {name: values for name, values in rows.items() if values is not None}
        pairs = {"weight_of_evidence": self.weight, "bhattacharyya": self._mean(self.bhattacharyya)}
        return of_rows | pairs

    def _lines(self) -> list[tuple[str, ...]]:
        """The table that is shown, strongest column first."""
        measures = self._measures()
        order = np.argsort(-next(iter(measures.values())), kind="stable")[:MOST_LINES]
        cells = [[f"{value:.4g}" for value in values[order]] for values in measures.values()]
        names = [one_line(self.columns[j]) for j in order]
        return [("column", *(WORDS[name] for name in measures)), *zip(names, *cells, strict=True)]

    def _rest(self) -> list[str]:
        weaker = len(self.columns) - MOST_LINES
        return [f"… and {counted(weaker, 'weaker column')}"] if weaker > 0 else []

    def _parts(self) -> list[Part]:
        return [Cells(self._lines()), *self._rest()]
