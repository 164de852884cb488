"""Why a row was classified as it was: contributions in nats that add up to the joint score."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.container import Container
from suffice.families.elementary import Array

MOST_LINES = 20


@dataclass(frozen=True)
class Explanation:
    """Contributions of every row × column × class.

    Attributes
    ----------
    contributions : ndarray of shape (n, d, k)
        Log p(cell | class), 0 where the cell is missing or the column left out.
    prior : ndarray of shape (k,)
        Log prior of each class.
    total : ndarray of shape (n, k)
        prior + Σ contributions = `predict_joint_log_proba`.
    posterior : ndarray of shape (n, k)
        `predict_proba`.
    """

    contributions: Array
    prior: Array
    total: Array
    posterior: Array
    columns: tuple[Hashable, ...]
    classes: NDArray[Any]
    values: tuple[NDArray[Any], ...]
    container: Container

    def evidence(self, label: Any, against: Any) -> Array:
        """Contributions to the log odds of one class against another, (n, d)."""
        a, b = self._class_index(label), self._class_index(against)
        with np.errstate(invalid="ignore"):
            gap = self.contributions[:, :, a] - self.contributions[:, :, b]
        # Two cells that are both impossible, or both certain, say nothing about the two classes.
        return np.where(np.isnan(gap), 0.0, gap)

    def to_frame(self) -> Any:
        """One line per row and column, one field per class, in the library the model was fitted with."""
        n, d, _ = self.contributions.shape
        fields: dict[str, Any] = {
            "row": np.repeat(np.arange(n), d),
            "column": [str(name) for name in self.columns] * n,
        }
        for k, label in enumerate(self.classes.tolist()):
            fields[str(label)] = self.contributions[:, :, k].reshape(-1)
        return self.container.frame(fields)

    def describe(self, row: int = 0) -> str:
        """One row in words: its posterior, and what each cell adds to the log odds of the two best."""
        if not 0 <= row < len(self.total):
            raise ValueError(f"there is no row {row}: {len(self.total)} were explained.")
        posterior = self.posterior[row]
        order = np.argsort(-posterior, kind="stable")
        best = self.classes.tolist()[order[0]]
        shares = ", ".join(f"{self.classes.tolist()[k]} {posterior[k]:.4g}" for k in order[:5])
        lines = [f"row {row}: {best}  (posterior: {shares})"]
        if len(order) == 1:
            return lines[0]
        other = self.classes.tolist()[order[1]]
        gains = self.evidence(best, other)[row]
        prior = float(self.prior[order[0]] - self.prior[order[1]])
        entries = [
            (str(c), _shown(v[row]), g) for c, v, g in zip(self.columns, self.values, gains, strict=True)
        ]
        entries.sort(key=lambda entry: -abs(entry[2]))
        if len(entries) > MOST_LINES:
            rest = sum(entry[2] for entry in entries[MOST_LINES - 1 :])
            entries = [
                *entries[: MOST_LINES - 1],
                (f"{len(entries) - MOST_LINES + 1} others", "", float(rest)),
            ]
        entries.append(("(prior)", "", prior))
        with np.errstate(invalid="ignore"):
            odds = float(self.total[row, order[0]] - self.total[row, order[1]])
        entries.append(("log odds", "", odds))
        widths = [max(len(entry[i]) for entry in entries) for i in range(2)]
        lines.append(f"nats for {best} against {other}:")
        lines += [
            f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {gain:+8.3f}" for name, value, gain in entries
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        n, d, k = self.contributions.shape
        head = f"Explanation of {n} rows × {d} columns × {k} classes"
        return head if n == 0 else f"{head}\n{self.describe(0)}"

    def _class_index(self, label: Any) -> int:
        found = np.flatnonzero(self.classes == label)
        if len(found) == 0:
            raise ValueError(f"there is no class {label!r}; the classes are {self.classes.tolist()}.")
        return int(found[0])


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
