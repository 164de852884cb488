"""What the cells of a row say about the classes: its joint score, split into contributions in nats."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.links import difference, log_softmax, log_sum
from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, Shown, as_text
from suffice.tables.targets import class_index
from suffice.tables.wording import counted, one_line

if TYPE_CHECKING:
    from suffice.plots.explanation import ExplanationDisplay

MOST_LINES = 20
MOST_LETTERS = 72
"""How much of a cell is shown: more than of a name, for cells may be text."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """Contributions of every cell to the score of every class.

    Attributes
    ----------
    contributions : ndarray of shape (n_samples, n_features, n_classes)
        log p(cell | class); 0 if the cell is missing or the column is left out. In a model of weighed
        evidence it is what the cell adds once everything is weighed, gaps included.
    prior : ndarray of shape (n_classes,)
        The log prior of each class, with its bias if evidence is weighed; the intercepts of a regression.
    total : ndarray of shape (n_samples, n_classes)
        prior + Σ contributions, which equals `predict_joint_log_proba` if the model has it.
    posterior : ndarray of shape (n_samples, n_classes)
        Equal to `predict_proba`.
    columns : tuple
        The names of the columns.
    classes : ndarray of shape (n_classes,)
        The class labels.
    values : tuple of ndarray
        The cells that are explained, by column.
    container : Container
        The kind of frame that `to_frame` returns.
    unit : str
        The unit of the contributions: nats, or standard deviations for a probit regression.
    start : str
        The name of `prior` in tables: "(prior)", "(prior, bias)" of weighed evidence, or "(intercept)".
    rows : Index or None
        The index of the rows, if they came in a pandas frame.

    Examples
    --------
    >>> import suffice
    >>> X = [[1.0, 5.0], [1.2, 6.0], [3.0, 9.0], [3.1, 8.0]]
    >>> model = suffice.BayesClassifier().fit(X, ["a", "a", "b", "b"])
    >>> explanation = model.explain([[1.1, 8.5]])
    >>> explanation.evidence("a", against="b").round(2)
    array([[ 5.92, -4.5 ]])
    """

    contributions: Array
    prior: Array
    total: Array
    posterior: Array
    columns: tuple[Hashable, ...]
    classes: NDArray[Any]
    values: tuple[NDArray[Any], ...]
    container: Container
    unit: str = "nats"
    """The unit of the contributions."""
    start: str = "(prior)"
    """The name of `prior` in tables: "(prior, bias)" of weighed evidence, "(intercept)" of a regression."""
    rows: Any = None
    """The labels of the rows, if they have any."""

    def evidence(self, label: Any, against: Any = None) -> Array:
        """How much each cell speaks for a class, against another class or against its prior.

        Against another class it is the cell's part of their log odds. Against the prior it is log p(cell |
        class)/p(cell) = log p(class | cell)/p(class): how the cell alone changes the probability of the
        class. `overlap` is the rest of the log posterior.

        Parameters
        ----------
        label : label
            A class.
        against : label, optional
            The class it is compared with; by default the class's own prior.

        Returns
        -------
        evidence : ndarray of shape (n_samples, n_features)
            In nats.
        """
        a = class_index(label, self.classes)
        if against is None:
            other = self._log_p_of_cells()
        else:
            other = self.contributions[:, :, class_index(against, self.classes)]
        return difference(self.contributions[:, :, a], other)

    def overlap(self) -> Array:
        """log Π_j p(x_j)/p(x) of each row: the correction for cells that say the same thing.

        It is the same for all classes: log posterior = log prior + Σ evidence against the prior + overlap.

        Returns
        -------
        overlap : ndarray of shape (n_samples,)
        """
        self._log_p_of_cells()
        rows = np.arange(len(self.total))
        best = np.argmax(self.posterior, axis=1)
        alone = np.stack([self.evidence(label).sum(axis=1) for label in self.classes.tolist()], axis=1)
        return np.asarray(np.log(self.posterior[rows, best]) - self._log_prior()[best] - alone[rows, best])

    def _rescaled(self, slope: float, bias: Array, posterior: Array) -> Explanation:
        """The explanation of slope·score + bias, whose posteriors are given."""
        return replace(
            self,
            contributions=slope * self.contributions,
            prior=slope * self.prior + bias,
            total=slope * self.total + bias,
            posterior=posterior,
        )

    def _log_prior(self) -> Array:
        """The prior as normalised log probabilities."""
        return np.asarray(log_softmax(self.prior[np.newaxis])[0])

    def _log_p_of_cells(self) -> Array:
        """log Σ_k π_k·p(cell | C_k), (n, d)."""
        if self.unit != "nats":
            raise ValueError(
                f"these contributions are in {self.unit}, not in nats, so they cannot be compared with a "
                "prior; name another class with against=."
            )
        n, d, k = self.contributions.shape
        with np.errstate(invalid="ignore"):
            joint = self.contributions + self._log_prior()
        return log_sum(np.where(np.isnan(joint), -np.inf, joint).reshape(n * d, k)).reshape(n, d)

    def to_frame(self, label: Any = None, against: Any = None) -> Any:
        """The contributions, or the evidence for a class, as a frame.

        Parameters
        ----------
        label : label, optional
            A class. Without it, there is one line per row and column and one for `start`, and one field per
            class; the lines of a row add up to the scores in `total`. With it, the lines are the evidence of
            each cell for the class, and those of a row add up to the log odds or log posterior.
        against : label, optional
            The class it is compared with; by default the class's own prior.

        Returns
        -------
        frame : DataFrame
            In the library that the model was fitted with. The field `row` holds the index of a pandas frame,
            and the positions of other rows.
        """
        n, d, k = self.contributions.shape
        names = [str(name) for name in self.columns]
        if label is None:
            if against is not None:
                raise ValueError("against= needs a label to compare it with.")
            start = np.broadcast_to(self.prior, (n, 1, k))
            added = np.concatenate([self.contributions, start], axis=1).reshape(n * (d + 1), k)
            fields: dict[str, Any] = {"row": self._row_labels(d + 1), "column": [*names, self.start] * n}
            fields |= {str(one): added[:, j] for j, one in enumerate(self.classes.tolist())}
            return self.container.frame(fields)
        gains, ends = self.evidence(label, against), self._ends(label, against)
        nats = np.column_stack([gains, *(np.broadcast_to(value, n) for value in ends.values())])
        shown = [[_shown(values[row]) for values in self.values] + [""] * len(ends) for row in range(n)]
        return self.container.frame(
            {
                "row": self._row_labels(nats.shape[1]),
                "column": [*names, *ends] * n,
                "value": [cell for row in shown for cell in row],
                self.unit: nats.reshape(-1),
            }
        )

    def _row_labels(self, times: int) -> Any:
        """The label of each row, or its position, each of them repeated."""
        if self.rows is None:
            return np.repeat(np.arange(len(self.total)), times)
        labels = self.rows.to_flat_index().repeat(times)
        return labels if self.container.library == "pandas" else labels.map(str).tolist()

    def _ends(self, label: Any, against: Any) -> dict[str, Any]:
        """The terms that complete the evidence of the cells."""
        a = class_index(label, self.classes)
        if against is None:
            return {self.start: self._log_prior()[a], "(overlap)": self.overlap()}
        return {self.start: difference(self.prior[a], self.prior[class_index(against, self.classes)])}

    def plot(self, ax: Any = None, **options: Any) -> ExplanationDisplay:
        """Draw one row, or a summary of all rows.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        **options : dict
            The other options of `ExplanationDisplay.plot`.

        Returns
        -------
        display : ExplanationDisplay
        """
        from suffice.plots.explanation import ExplanationDisplay

        return ExplanationDisplay(self).plot(ax, **options)

    def describe(self, row: int = 0, label: Any = None, against: Any = None) -> str:
        """One row in words: its posterior, and what each cell adds to the log odds of two classes.

        Parameters
        ----------
        row : int, default=0
            The position of the row.
        label : label, optional
            A class; by default the most probable.
        against : label, optional
            The class it is compared with; by default the most probable other one.

        Returns
        -------
        text : str
        """
        return as_text(self._told(row, label, against))

    def _told(self, row: int, label: Any = None, against: Any = None) -> list[Part]:
        """One row in lines, and a table of what its cells add."""
        n_rows = len(self.total)
        if not isinstance(row, Integral) or not 0 <= row < n_rows:
            rows = f"row must be a position from 0 to {n_rows - 1}" if n_rows else "no rows were explained"
            raise ValueError(f"there is no row {row!r}; {rows}.")
        posterior = self.posterior[row]
        names = self.classes.tolist()
        order = np.argsort(-posterior, kind="stable").tolist()
        shares = ", ".join(f"{one_line(names[k])} {posterior[k]:.4g}" for k in order[:5])
        name = row if self.rows is None else one_line(self.rows[[row]].to_flat_index()[0])
        head = f"row {name}: {one_line(names[order[0]])}  (posterior: {shares})"
        if len(order) == 1:
            return [head]
        a = order[0] if label is None else class_index(label, self.classes)
        b = next(k for k in order if k != a) if against is None else class_index(against, self.classes)
        gains = self.evidence(names[a], names[b])[row]
        entries = [
            (one_line(c), one_line(_shown(v[row]), MOST_LETTERS), g)
            for c, v, g in zip(self.columns, self.values, gains, strict=True)
        ]
        entries.sort(key=lambda entry: -abs(entry[2]))
        if len(entries) > MOST_LINES:
            rest = sum(entry[2] for entry in entries[MOST_LINES - 1 :])
            entries = [
                *entries[: MOST_LINES - 1],
                (counted(len(entries) - MOST_LINES + 1, "other"), "", float(rest)),
            ]
        entries.append((self.start, "", float(difference(self.prior[a], self.prior[b]))))
        with np.errstate(invalid="ignore", divide="ignore"):
            odds = float(self.total[row, a] - self.total[row, b])
            if np.isnan(odds):  # both are ruled out, the one perhaps less so
                odds = float(np.log(posterior[a]) - np.log(posterior[b]))
        if not np.isnan(odds):
            entries.append(("log odds" if self.unit == "nats" else "score", "", odds))
        compared = f"{self.unit} for {one_line(names[a])} against {one_line(names[b])}:"
        cells = [(name, value, f"{gain:+8.3f}") for name, value, gain in entries]
        return [head, compared, Cells(cells, headed=False, indent="  ")]

    def _parts(self) -> list[Part]:
        n, d, k = self.contributions.shape
        sizes = counted(n, "row"), counted(d, "column"), counted(k, "class")
        return [f"Explanation of {' × '.join(sizes)}", *(self._told(0) if n else [])]


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
