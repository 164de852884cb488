"""An evaluation for people and programs: counts, a frame, plain numbers, and tables as text and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.evaluation.answers import Answers
from suffice.evaluation.metrics import Key, Metrics, confusion
from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.wording import counted, one_line, quoted

NAMES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ece": "calibration error",
    "roc_auc": "ROC AUC",
}
MOST_PRINTED = 20
"""Labels up to which the confusion matrix is printed."""
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown, Metrics):
    """The metrics of a classifier, each with its baseline and perhaps an interval."""

    answers: Answers
    baseline: Metrics
    labels: tuple[Any, ...]
    known: tuple[Any, ...]
    intervals: dict[Key, Interval]
    level: float
    container: Container

    @property
    def confusion(self) -> NDArray[Any]:
        """Rows by true label (down) and predicted label (across)."""
        return confusion(self.answers)

    @property
    def support(self) -> NDArray[Any]:
        """How many rows have each label."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def false_positives(self) -> NDArray[Any]:
        """How many rows were wrongly given each label."""
        counts = self.confusion
        return np.asarray(counts.sum(axis=0) - counts.diagonal())

    @property
    def false_negatives(self) -> NDArray[Any]:
        """How many rows of each label were given another one."""
        counts = self.confusion
        return np.asarray(counts.sum(axis=1) - counts.diagonal())

    @property
    def commonest(self) -> Any:
        """The most common class of y, which is the baseline's constant answer."""
        return self.labels[int(np.argmax(self.answers.shares()))]

    def to_frame(self) -> Any:
        """Return the metrics as a table.

        Returns
        -------
        frame
            One line per metric and class or average: figure, of, value, baseline and, with a bootstrap, low
            and high. It is in the library of X where X was a frame, else in pyarrow.
        """
        flat, baseline = self.flat(), self.baseline.flat()
        fields: dict[str, Any] = {
            "figure": [name for name, _ in flat],
            "of": [self._of(who) for _, who in flat],
            "value": list(flat.values()),
            "baseline": [baseline[key] for key in flat],
        }
        if self.intervals:
            fields["low"] = [self.intervals[key][0] for key in flat]
            fields["high"] = [self.intervals[key][1] for key in flat]
        return self.container.frame(fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as plain numbers, for JSON.

        Returns
        -------
        dict
            Every metric, its baseline and its interval; None where a metric is undefined.
        """

        def nested(metrics: Metrics) -> dict[str, Any]:
            result: dict[str, Any] = {name: _plain(value) for name, value in metrics.scalars().items()}
            result["classes"] = {
                str(self.labels[k]): {n: _plain(v[k]) for n, v in metrics.by_class().items()}
                for k in range(self.answers.n_classes)
            }
            for kind, average in metrics.averages().items():
                result[kind] = {name: _plain(value) for name, value in average._asdict().items()}
            return result

        result = nested(self)
        result |= {
            "labels": list(self.labels),
            "confusion": self.confusion.tolist(),
            "false_positives": self.false_positives.tolist(),
            "false_negatives": self.false_negatives.tolist(),
            "baseline": {"answer": self.commonest, **nested(self.baseline)},
        }
        if self.intervals:
            result["intervals"] = [
                {"figure": name, "of": self._of(who), "low": _plain(low), "high": _plain(high)}
                for (name, who), (low, high) in self.intervals.items()
            ]
        return result

    def _of(self, who: str | int | None) -> str:
        return "all rows" if who is None else str(self.labels[who]) if isinstance(who, int) else who

    def _parts(self) -> list[Part]:
        parts: list[Part] = [self._heading()]
        for title, table in self._tables():
            parts += ["", *([title] if title else []), Cells(table)]
        return [*parts, *(line for note in self._notes() for line in ("", note))]

    def _heading(self) -> str:
        rows, total = counted(self.answers.n_rows, "row"), self.answers.total_weight
        weight = "" if total is None else f" of weight {total:g}"
        return f"Evaluation of {rows}{weight}, {counted(self.answers.n_classes, 'class')}"

    def _tables(self) -> list[tuple[str, list[list[str]]]]:
        always = f"always {_name(self.commonest)}"
        overall = [["", "model", always]]
        baseline = self.baseline.scalars()
        for name, value in self.scalars().items():
            overall.append([NAMES[name], self._figure((name, None), value), _shown(baseline[name])])
        tables = [("", overall), ("", self._by_class(always))]
        if len(self.labels) <= MOST_PRINTED:
            matrix = [["", *map(_name, self.labels)]]
            lines = list(zip(self.labels, self.confusion, strict=True))[: self.answers.n_classes]
            matrix += [[_name(label), *(f"{count:g}" for count in row)] for label, row in lines]
            tables.append(("Confusion: truth in rows, prediction in columns", matrix))
        return tables

    def _by_class(self, always: str) -> list[list[str]]:
        table = [["", *(NAMES[name] for name in self.by_class()), "rows", "false +", "false −"]]
        wrong = zip(self.support, self.false_positives, self.false_negatives, strict=True)
        for k, counts in enumerate(list(wrong)[: self.answers.n_classes]):
            figures = [self._figure((n, k), float(v[k])) for n, v in self.by_class().items()]
            table.append([_name(self.labels[k]), *figures, *(f"{count:g}" for count in counts)])
        for kind, average in self.averages().items():
            figures = [self._figure((n, kind), value) for n, value in average._asdict().items()]
            table.append([f"({kind})", *figures, "", "", "", ""])
        figures = [_shown(value) for value in self.baseline.macro]
        table.append([f"({always}, macro)", *figures, _shown(self.baseline.roc_auc), "", "", ""])
        return table

    def _figure(self, key: Key, value: float) -> str:
        if key not in self.intervals or np.isnan(value):
            return _shown(value)
        low, high = self.intervals[key]
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"

    def _notes(self) -> list[str]:
        notes = []
        if self.intervals:
            notes.append(f"In brackets: {100 * self.level:g} % bootstrap intervals.")
        strange = [_name(label) for label in self.labels[len(self.known) : self.answers.n_classes]]
        if strange:
            notes.append(f"The model does not know {', '.join(strange)}; those rows count as errors.")
        refused = self.labels[self.answers.n_classes :]
        if refused:
            count = int(np.sum(self.answers.predicted >= self.answers.n_classes))
            rows = f"{counted(count, 'row')} {'was' if count == 1 else 'were'}"
            notes.append(f"{rows} answered {', '.join(map(_name, refused))}, which is not a class.")
        return notes


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _name(label: Any) -> str:
    return quoted(label, 40) if isinstance(label, str) else one_line(label)


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"
