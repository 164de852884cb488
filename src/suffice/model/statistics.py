"""Statistics: what a data set is worth. They add, subtract, scale and travel.

    summarize(A ∪ B) = summarize(A) + summarize(B)

`Statistics` is immutable; a model owns one `Accumulator`, which is the same sums in place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors import KINDS, Block, Totals
from suffice.factors.base import gather
from suffice.factors.checks import impossible, within
from suffice.factors.columns.totals import ColumnTotals
from suffice.model.schema import Schema
from suffice.storage import Fields, Path, Saved, SufficeFileError, read
from suffice.storage.labels import labels_from_fields, state_of_labels


class Accumulator:
    """Sums in place: a one-row update costs what the row costs. Classes in the order they came."""

    def __init__(
        self, schema: Schema, classes: NDArray[Any], weight: Array, support: Counts, totals: list[Totals]
    ) -> None:
        self.schema = schema
        self.classes = classes
        self.weight = weight
        self.support = support
        self.totals = totals
        self._places = {label: k for k, label in enumerate(classes.tolist())}

    @classmethod
    def empty(cls, schema: Schema) -> Self:
        """No rows yet."""
        totals = [KINDS[f.family.factor].totals.empty(f.family, len(f.columns)) for f in schema.factors]
        return cls(schema, np.empty(0), np.zeros(0), np.zeros(0, dtype=np.int64), totals)

    @classmethod
    def of(cls, statistics: Statistics) -> Self:
        """A mutable copy."""
        everyone = np.arange(len(statistics.classes))
        return cls(
            statistics.schema,
            statistics.classes,
            statistics.weight.copy(),
            statistics.support.copy(),
            [totals.take_classes(everyone) for totals in statistics.totals],
        )

    def update(
        self,
        blocks: list[Block],
        labels: NDArray[Any],
        codes: Codes,
        counts: Counts,
        weights: Array | None,
    ) -> None:
        """Add a batch: row i is of class labels[codes[i]], which has so many rows; all weights are positive.

        Values outside a family's support are refused before anything is changed.
        """
        places, n_classes = self._places_of(labels)
        classes = codes if np.array_equal(places, np.arange(len(labels))) else places[codes]
        prepared = [
            totals.prepare(block, self._labels(factor.columns), classes, weights, n_classes)
            for factor, totals, block in zip(self.schema.factors, self.totals, blocks, strict=True)
        ]
        self.make_room(labels)
        self.support[places] += counts
        if weights is None:
            self.weight[places] += counts
        else:
            self.weight += np.bincount(classes, weights, minlength=n_classes)
        for totals, add_to in zip(self.totals, prepared, strict=True):
            add_to(totals)

    def _places_of(self, labels: NDArray[Any]) -> tuple[Codes, int]:
        """Where each label stands or will stand, new ones last, and how many classes that makes."""
        places = dict(self._places)
        found = [places.setdefault(label, len(places)) for label in labels.tolist()]
        return np.array(found, dtype=np.intp), len(places)

    def make_room(self, labels: NDArray[Any]) -> Codes:
        """Where each label stands, after adding the new ones."""
        fresh = [i for i, label in enumerate(labels.tolist()) if label not in self._places]
        if fresh:
            added = labels[fresh]
            if _mixes_text(self.classes, added):
                raise ValueError(
                    f"the labels mix text and numbers: {self.classes[0]!r} was seen before, "
                    f"now {added[0]!r}; convert y to one type."
                )
            index = np.concatenate([np.arange(len(self.classes)), np.full(len(fresh), -1)])
            self.classes = np.concatenate([self.classes, added]) if len(self.classes) else added
            self.weight = gather(self.weight, index, 0)
            self.support = gather(self.support, index, 0)
            self.totals = [totals.take_classes(index) for totals in self.totals]
            self._places = {label: k for k, label in enumerate(self.classes.tolist())}
        return np.array([self._places[label] for label in labels.tolist()], dtype=np.intp)

    def add(self, other: Statistics, sign: int) -> None:
        """Add or subtract statistics of the same columns."""
        difference = self.schema.difference(other.schema)
        if difference is not None:
            raise ValueError(
                f"these statistics do not add: {difference}; "
                "give both the same columns with families=first.schema_."
            )
        schema = self.schema.combined(other.schema)
        self.decide(schema)
        other = other.with_schema(schema)
        rows = self.make_room(other.classes)
        index = np.full(len(self.classes), -1)
        index[rows] = np.arange(len(rows))
        self.weight += sign * gather(other.weight, index, 0)
        self.support += sign * gather(other.support, index, 0)
        for mine, theirs in zip(self.totals, other.totals, strict=True):
            mine.add(theirs.take_classes(index), sign)

    def decide(self, schema: Schema) -> None:
        """Move to a schema in which more columns are decided."""
        if schema is not self.schema and schema != self.schema:
            self.totals = list(_totals_by_schema(self.totals, self.schema, schema, len(self.classes)))
        self.schema = schema

    def problem(self) -> str | None:
        """Why no data could give these sums, or None."""
        size = float(np.abs(self.weight).sum())
        bad = impossible(self.weight, self.support, size)
        if bad.any():
            at = int(np.argmax(bad))
            return (
                f"class {self.classes.tolist()[at]!r} would have {int(self.support[at])} rows "
                f"of total weight {self.weight[at]:g}"
            )
        for factor, totals in zip(self.schema.factors, self.totals, strict=True):
            problem = totals.problem(self._labels(factor.columns), size, self.support)
            if problem is not None:
                return problem
        return None

    def _labels(self, columns: NDArray[np.intp]) -> list[str]:
        return self.schema.labels_of(columns)

    def statistics(self) -> Statistics:
        """An immutable copy, classes in order; a class whose sums are all zero leaves."""
        held = (self.support != 0) | (self.weight != 0)
        for totals in self.totals:
            held |= ~totals.vanishes()
        return self.selected(np.flatnonzero(held))

    def solvable(self, declared: NDArray[Any] | None = None) -> Statistics:
        """The statistics of the classes that have rows or were declared; refuse what no data could give."""
        problem = self.problem()
        if problem is not None:
            raise ValueError(f"no data could give these statistics: {problem}; check what was subtracted.")
        present = self.support > 0
        if not present.any():
            raise ValueError("these statistics hold no rows, so there is nothing to solve.")
        if declared is not None:
            places = self.make_room(declared)
            present = self.support > 0
            present[places] = True
        return self.selected(np.flatnonzero(present))

    def selected(self, rows: Codes) -> Statistics:
        """An immutable copy of some classes, in order."""
        order = rows[np.argsort(self.classes[rows], kind="stable")]
        return Statistics(
            self.schema,
            self.classes[order],
            self.weight[order],
            self.support[order],
            tuple(totals.take_classes(order) for totals in self.totals),
        )


class Statistics(Saved):
    """Per-class sums of sufficient statistics: an immutable element of an additive group.

    Statistics of different shards, days or sites add with `+`, whatever their classes, categories
    and origins; `-` takes rows away again, `*` scales (decay). Equality is modulo origin. Differences
    that no data could give are allowed here and refused where they are used.
    """

    def __init__(
        self,
        schema: Schema,
        classes: NDArray[Any],
        weight: Array,
        support: Counts,
        totals: tuple[Totals, ...],
    ) -> None:
        self.schema = schema
        self.classes = classes
        self.weight = weight
        self.support = support
        self.totals = totals

    @property
    def n_rows(self) -> int:
        """How many rows were summarized."""
        return int(self.support.sum())

    @property
    def nbytes(self) -> int:
        """The bytes of all sums."""
        return sum(array.nbytes for totals in self.totals for array in totals.arrays().values())

    def __add__(self, other: Statistics | int) -> Statistics:
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, Statistics):
            return NotImplemented
        return self._combined(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        return self._combined(other, -1)

    def _combined(self, other: Statistics, sign: int) -> Statistics:
        accumulator = Accumulator.of(self)
        accumulator.add(other, sign)
        return accumulator.statistics()

    def __neg__(self) -> Statistics:
        return self.zero() - self

    def zero(self) -> Statistics:
        """No rows, with the same columns: the identity of `+`."""
        return Accumulator.empty(self.schema).statistics()

    def __mul__(self, factor: float) -> Statistics:
        factor = float(factor)
        if not np.isfinite(factor):
            raise ValueError(f"statistics scale by a finite number, got {factor}.")
        accumulator = Accumulator.of(self)
        accumulator.weight *= factor
        for totals in accumulator.totals:
            totals.scale(factor)
        return accumulator.statistics()

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statistics) and self.isclose(other, rtol=0.0)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Statistics, rtol: float = 1e-12) -> bool:
        """Whether all sums agree to a relative tolerance, modulo origin; row support exactly."""
        if self.schema.difference(other.schema) is not None:
            return False
        if _mixes_text(self.classes, other.classes):
            return False
        a, b = self._beside(other), other._beside(self)
        size = float(np.abs(a.weight).max(initial=0.0))
        return (
            np.array_equal(a.support, b.support)
            and within(a.weight, b.weight, rtol, size)
            and all(one.matches(two, rtol) for one, two in zip(a.totals, b.totals, strict=True))
        )

    def _beside(self, other: Statistics) -> Statistics:
        """The same statistics over the classes of both, with the columns either has decided."""
        accumulator = Accumulator.of(self)
        accumulator.decide(self.schema.combined(other.schema))
        accumulator.make_room(other.classes)
        return accumulator.selected(np.arange(len(accumulator.classes)))

    def with_schema(self, schema: Schema) -> Statistics:
        """The same statistics under a schema in which more columns are decided."""
        if schema is self.schema or schema == self.schema:
            return self
        totals = _totals_by_schema(self.totals, self.schema, schema, len(self.classes))
        return Statistics(schema, self.classes, self.weight, self.support, tuple(totals))

    @classmethod
    def load(cls, path: Path, *, known: Iterable[Any] = ()) -> Statistics:
        """Read statistics from a file; `known` are families (and tokenizers) of your own that it names."""
        fields = read(path, known)
        kind = fields.text("class")
        if kind != "Statistics":
            raise SufficeFileError(f"the file holds no statistics but a {kind!r}; suffice.load reads it.")
        return cls._from_fields(fields)

    def _to_fields(self) -> dict[str, Any]:
        """All that the statistics are, as a file holds it."""
        return {
            "schema": self.schema._to_fields(),
            "classes": state_of_labels(self.classes),
            "weight": self.weight,
            "support": self.support,
            "totals": [totals.state() for totals in self.totals],
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Statistics:
        """The statistics from their state."""
        schema = Schema._from_fields(fields.branch("schema"))
        classes = labels_from_fields(fields.branch("classes"))
        n_classes = len(classes)
        parts = zip(schema.factors, fields.branches("totals", len(schema.factors)), strict=True)
        return cls(
            schema,
            classes,
            fields.array("weight", np.float64, (n_classes,)),
            fields.array("support", np.int64, (n_classes,)),
            tuple(
                KINDS[factor.family.factor].totals.from_fields(
                    factor.family, len(factor.columns), n_classes, part
                )
                for factor, part in parts
            ),
        )

    def rebased(self, origins: Mapping[Hashable, float]) -> Statistics:
        """The same statistics with these columns' sums about other origins: exact algebra."""
        positions = {name: j for j, name in enumerate(self.schema.names)}
        unknown = [name for name in origins if name not in positions]
        if unknown:
            raise ValueError(f"no such columns: {unknown}; the columns are {list(positions)}.")
        moved: list[Totals] = []
        for factor, totals in zip(self.schema.factors, self.totals, strict=True):
            if isinstance(totals, ColumnTotals):
                target = totals.origin.copy()
                for place, j in enumerate(factor.columns):
                    if self.schema.names[j] in origins:
                        target[:, place] = origins[self.schema.names[j]]
                moved.append(totals.rebased(target))
            else:
                moved.append(totals)
        return Accumulator.of(
            Statistics(self.schema, self.classes, self.weight, self.support, tuple(moved))
        ).statistics()

    def __repr__(self) -> str:
        size = self.nbytes
        text = (
            f"{size} bytes"
            if size < 1000
            else f"{size / 1e3:.1f} kB"
            if size < 1e6
            else f"{size / 1e6:.1f} MB"
        )
        lines = [
            f"Statistics: {self.n_rows} rows, {len(self.classes)} classes, {len(self.schema)} columns, {text}"
        ]
        for label, weight, support in list(
            zip(self.classes.tolist(), self.weight, self.support, strict=True)
        )[:10]:
            lines.append(f"  class {label!r}: {support} rows, weight {weight:g}")
        if len(self.classes) > 10:
            lines.append(f"  … {len(self.classes) - 10} more classes")
        return "\n".join(lines)


def _mixes_text(some: NDArray[Any], others: NDArray[Any]) -> bool:
    """Whether one holds text and the other numbers."""
    return bool(len(some) and len(others)) and (some.dtype.kind in "UOS") != (others.dtype.kind in "UOS")


def _totals_by_schema(
    totals: list[Totals] | tuple[Totals, ...], old: Schema, new: Schema, n_classes: int
) -> list[Totals]:
    """Sums rearranged for a schema with more columns decided, or other settings of solving."""
    arranged = []
    for factor in new.factors:
        empty = KINDS[factor.family.factor].totals.empty(factor.family, len(factor.columns))
        sums = empty.take_classes(np.full(n_classes, -1))
        for source, held in zip(old.factors, totals, strict=True):
            places = {int(j): place for place, j in enumerate(source.columns)}
            index = np.array([places.get(int(j), -1) for j in factor.columns], dtype=np.intp)
            if (index >= 0).any():
                part = held.with_family(factor.family).take_columns(index)
                sums.add(part, 1)
        arranged.append(sums)
    return arranged
