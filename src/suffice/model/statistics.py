"""Statistics: all that a model needs to know of a data set. They add, subtract, scale and travel.

    summarize(A ∪ B) = summarize(A) + summarize(B)

`Statistics` is immutable; a model owns one `Accumulator`, which is the same sums in place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors import KINDS, Block, Totals
from suffice.factors.base import gather
from suffice.factors.checks import ImpossibleSumsError, impossible, within
from suffice.factors.columns.totals import ColumnTotals
from suffice.model.columns.saved import schema_from_fields, state_of_schema
from suffice.model.columns.schema import Schema
from suffice.model.shared_sums import arranged
from suffice.storage import Fields, Path, Saved, SufficeFileError, read
from suffice.storage.labels import labels_from_fields, state_of_labels
from suffice.storage.load import newer_versions_named
from suffice.tables.shown import as_html
from suffice.tables.targets import are_alike, joined_labels, require_one_kind
from suffice.tables.wording import counted, quoted


class Accumulator:
    """Sums that are updated in place: adding a row costs what the row costs."""

    def __init__(
        self, schema: Schema, classes: NDArray[Any], weight: Array, support: Counts, totals: list[Totals]
    ) -> None:
        self.schema = schema
        self.classes = classes
        self.weight = weight
        self.support = support
        self.totals = totals
        self._places = {label: k for k, label in enumerate(classes.tolist())}
        self._is_of_rows = False

    @classmethod
    def empty(cls, schema: Schema) -> Self:
        """No rows yet."""
        totals = [KINDS[f.family.factor].totals.empty(f.family, len(f.columns)) for f in schema.factors]
        nothing = cls(schema, np.empty(0), np.zeros(0), np.zeros(0, dtype=np.int64), totals)
        nothing._is_of_rows = True
        return nothing

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
        """Add a batch: row i has class labels[codes[i]], class k has counts[k] rows; weights are positive.

        Values outside a family's support are refused before anything changes.
        """
        places, n_classes = self._places_of(labels)
        classes = codes if np.array_equal(places, np.arange(len(places))) else places[codes]
        prepared = [
            totals.prepare(block, self.schema.labels_of(factor.columns), classes, weights, n_classes)
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
        """The place of each label, new ones last, and the number of classes that results."""
        require_one_kind(self.classes, labels)
        places = dict(self._places)
        found = [places.setdefault(label, len(places)) for label in labels.tolist()]
        return np.array(found, dtype=np.intp), len(places)

    def make_room(self, labels: NDArray[Any]) -> Codes:
        """The place of each label, after new ones have been added."""
        (places, n_classes), n_known = self._places_of(labels), len(self.classes)
        if n_classes > n_known:
            index = np.array([*range(n_known), *[-1] * (n_classes - n_known)], dtype=np.intp)
            self.classes = joined_labels([self.classes, labels[places >= n_known]])
            self.weight = gather(self.weight, index, 0)
            self.support = gather(self.support, index, 0)
            self.totals = [totals.take_classes(index) for totals in self.totals]
            self._places = {label: k for k, label in enumerate(self.classes.tolist())}
        return places

    def add(self, other: Statistics, sign: int) -> None:
        """Add or subtract statistics of the same columns."""
        difference = self.schema.difference(other.schema)
        if difference is not None:
            raise ValueError(
                f"these statistics cannot be {'added' if sign > 0 else 'subtracted'}: {difference}; "
                "give both the same columns with families=first.schema_."
            )
        self._is_of_rows = False
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

    def scale(self, factors: Array) -> None:
        """Multiply the sums of each class by its factor; row support stays."""
        self._is_of_rows = False
        self.weight *= factors
        for totals in self.totals:
            totals.scale(factors)

    def decide(self, schema: Schema) -> None:
        """Switch to a schema in which more columns are decided."""
        if schema is not self.schema and schema != self.schema:
            self.totals = arranged([(self.schema, self.totals)], schema, len(self.classes))
        self.schema = schema

    def problem(self, labels: Sequence[str] | None = None) -> str | None:
        """Why no data could produce these sums, or None; the columns may have other labels."""
        if self._is_of_rows:
            return None
        size = float(np.abs(self.weight).sum())
        bad = impossible(self.weight, self.support, size)
        if bad.any():
            at = int(np.argmax(bad))
            label, n_rows = quoted(self.classes.tolist()[at]), counted(int(self.support[at]), "row")
            return f"class {label} would have {n_rows} of total weight {self.weight[at]:g}"
        for factor, totals in zip(self.schema.factors, self.totals, strict=True):
            own = factor.columns.tolist()
            named = self.schema.labels_of(factor.columns) if labels is None else [labels[j] for j in own]
            problem = totals.problem(named, size, self.support)
            if problem is not None:
                return problem
        return None

    def statistics(self) -> Statistics:
        """An immutable copy with the classes sorted; a class whose sums are all zero is left out."""
        held = (self.support != 0) | (self.weight != 0)
        for totals in self.totals:
            held |= ~totals.vanishes()
        return self.selected(np.flatnonzero(held))

    def solvable(self, declared: NDArray[Any] | None = None) -> Statistics:
        """The statistics of the classes that have rows or were declared, if any data could produce them."""
        problem = self.problem()
        if problem is not None:
            raise ImpossibleSumsError.of(problem)
        present = self.support > 0
        if not present.any():
            raise ValueError("these statistics have no rows, so no model can be fitted to them.")
        if declared is not None:
            places = self.make_room(declared)
            present = self.support > 0
            present[places] = True
        return self.selected(np.flatnonzero(present))

    def selected(self, rows: Codes) -> Statistics:
        """An immutable copy of some classes, sorted."""
        order = rows[np.argsort(self.classes[rows], kind="stable")]
        return Statistics(
            self.schema,
            self.classes[order],
            self.weight[order],
            self.support[order],
            tuple(totals.take_classes(order) for totals in self.totals),
        )


class Statistics(Saved):
    """Sums of sufficient statistics for each class: everything that a model needs to know of a data set.

    Statistics of different shards, days or sites are added with `+`, whatever their classes, categories and
    origins; `-` removes rows again, and `*` scales all weights (decay). Equality is up to the choice of
    origins. Differences that no data could produce are allowed, but no model can be fitted to them.

    Attributes
    ----------
    schema : Schema
        The columns and their families.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    weight, support : ndarray of shape (n_classes,)
        The total weight and the number of rows of each class; scaling changes only the weight.
    totals : tuple of Totals
        The sums, one element for each factor of the schema.
    n_rows, nbytes : int
        The number of rows, and the size of all sums in bytes.

    Examples
    --------
    >>> import suffice
    >>> monday = suffice.summarize([[1.0], [2.0], [9.0]], ["low", "low", "high"])
    >>> tuesday = suffice.summarize([[3.0], [8.0]], ["low", "high"])
    >>> week = monday + tuesday
    >>> week
    Statistics: 5 rows, 2 classes, 1 column, 84 bytes
      class 'high': 2 rows, weight 2
      class 'low': 3 rows, weight 3
    >>> week - tuesday == monday
    True
    >>> suffice.BayesClassifier().fit_statistics(week).predict([[2.5]])
    array(['low'], dtype=object)
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
        self.classes = read_only(classes)
        self.weight = weight
        self.support = support
        self.totals = totals

    @property
    def n_rows(self) -> int:
        """The number of rows that were summarized."""
        return int(self.support.sum())

    @property
    def nbytes(self) -> int:
        """The size of all sums in bytes."""
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
        """Statistics of the same columns without rows: the identity of `+`.

        Returns
        -------
        zero : Statistics
        """
        return Accumulator.empty(self.schema).statistics()

    def __mul__(self, factor: float) -> Statistics:
        factor = float(factor)
        if not np.isfinite(factor):
            raise ValueError(f"statistics can only be multiplied by a finite number, got {factor}.")
        accumulator = Accumulator.of(self)
        accumulator.scale(np.full(len(self.classes), factor))
        return accumulator.statistics()

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statistics) and self.isclose(other, rtol=0.0)

    __hash__ = None  # type: ignore[assignment]

    def isclose(self, other: Statistics, rtol: float = 1e-12) -> bool:
        """Whether all sums agree up to a relative tolerance, whatever their origins.

        Parameters
        ----------
        other : Statistics
            The statistics to compare with.
        rtol : float, default=1e-12
            The relative tolerance; row counts must agree exactly.

        Returns
        -------
        close : bool
        """
        if self.schema.difference(other.schema) is not None or not are_alike(self.classes, other.classes):
            return False
        a, b = self._beside(other), other._beside(self)
        size = float(np.abs(a.weight).max(initial=0.0))
        return (
            np.array_equal(a.support, b.support)
            and within(a.weight, b.weight, rtol, size)
            and all(one.matches(two, rtol) for one, two in zip(a.totals, b.totals, strict=True))
        )

    def _beside(self, other: Statistics) -> Statistics:
        """The same statistics over the classes of both, with the columns that either has decided."""
        accumulator = Accumulator.of(self)
        accumulator.decide(self.schema.combined(other.schema))
        accumulator.make_room(other.classes)
        return accumulator.selected(np.arange(len(accumulator.classes)))

    def with_schema(self, schema: Schema) -> Statistics:
        """The same statistics under another schema for the same columns.

        Parameters
        ----------
        schema : Schema
            A schema in which more columns are decided, or some left out, or with other settings for solving.

        Returns
        -------
        statistics : Statistics
        """
        return joined([self], schema)

    @classmethod
    def load(cls, path: Path, *, known: Iterable[Any] = ()) -> Statistics:
        """Read statistics from a file.

        Parameters
        ----------
        path : str, PathLike or binary file
            What `save` wrote.
        known : iterable of families and functions, optional
            Your own families (classes) and tokenizers (functions) that the file refers to by name.

        Returns
        -------
        statistics : Statistics
        """
        fields = read(path, known)
        kind = fields.text("class")
        if kind != "Statistics":
            raise SufficeFileError(f"the file holds a {kind}, not Statistics; read it with suffice.load.")
        with newer_versions_named(fields):
            return cls._from_fields(fields)

    def _to_fields(self) -> dict[str, Any]:
        """Everything the statistics are, as a file holds it."""
        return {
            "schema": state_of_schema(self.schema),
            "classes": state_of_labels(self.classes),
            "weight": self.weight,
            "support": self.support,
            "totals": [totals.state() for totals in self.totals],
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Statistics:
        """Restore statistics from a file."""
        schema = schema_from_fields(fields.branch("schema"))
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
        """The same statistics with the sums of some columns about other origins; the algebra is exact.

        Parameters
        ----------
        origins : dict
            The new origin of each column, by name.

        Returns
        -------
        statistics : Statistics
        """
        positions = {name: j for j, name in enumerate(self.schema.names)}
        unknown = [name for name in origins if name not in positions]
        if unknown:
            raise ValueError(f"there are no columns {unknown}; the columns are {list(positions)}.")
        accumulator = Accumulator.of(self)
        for at, (factor, totals) in enumerate(zip(self.schema.factors, self.totals, strict=True)):
            if isinstance(totals, ColumnTotals):
                target = totals.origin.copy()
                for place, j in enumerate(factor.columns):
                    if self.schema.names[j] in origins:
                        target[:, place] = origins[self.schema.names[j]]
                accumulator.totals[at] = totals.rebased(target)
        return accumulator.statistics()

    def __repr__(self) -> str:
        size = self.nbytes
        large = f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
        sizes = (self.n_rows, "row"), (len(self.classes), "class"), (len(self.schema), "column")
        shape = ", ".join(counted(*size) for size in sizes)
        lines = [f"Statistics: {shape}, {f'{size} bytes' if size < 1000 else large}"]
        known = zip(self.classes.tolist()[:10], self.weight[:10], self.support[:10], strict=True)
        lines += [
            f"  class {quoted(label, 40)}: {counted(n, 'row')}, weight {weight:g}"
            for label, weight, n in known
        ]
        if len(self.classes) > 10:
            lines.append(f"  … {counted(len(self.classes) - 10, 'more class')}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_html(repr(self).splitlines())


def joined(parts: Sequence[Statistics], schema: Schema) -> Statistics:
    """The statistics of a schema, from those of the same rows under others that sum what it needs."""
    one = parts[0]
    if len(parts) == 1 and (schema is one.schema or schema == one.schema):
        return one
    totals = arranged([(part.schema, part.totals) for part in parts], schema, len(one.classes))
    return Statistics(schema, one.classes, one.weight, one.support, tuple(totals))
