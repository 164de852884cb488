"""Push-down: the engine that holds the rows adds them up, by one GROUP BY over the classes.

Columns of numbers with a density are summed about the origin of each class: Σ w·u(x) follows from the
functions that the family declares. Categories and counts are grouped by their values, whose few rows are then
summed as any others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Counts
from suffice.engines.kinds import kind_of
from suffice.engines.traced import Cells, UntracedError, expression_of
from suffice.factors.base import Totals
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.levels.totals import LevelTotals
from suffice.families import Family
from suffice.families.elementary import elementary, exponent_of, rescale
from suffice.model.columns.column import Factor
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.table import read_table
from suffice.tables.targets import read_labels

if TYPE_CHECKING:
    from suffice.engines.lazy_rows import LazyRows
    from suffice.tables.files.batches import LabelledBatch, LabelledFiles

MOST_CLASSES = 64
"""An origin for each class is one case of an expression, so many classes make a long query."""
BY_ENGINE = ("function", "value")
CLASS, WEIGHT, ROWS = "class", "weight", "rows"


@dataclass(frozen=True)
class Plan:
    """Which factors the engine adds up: by functions of their cells, or by their values."""

    schema: Schema
    by_function: tuple[int, ...]
    by_value: tuple[int, ...]
    by_rows: tuple[int, ...]
    """Factors that the engine cannot add up."""

    @classmethod
    def of(cls, schema: Schema, first: LabelledBatch) -> Plan | None:
        """How the engine adds up rows like the first ones; None if it cannot for any column."""
        if not schema.named or schema.is_undecided:
            return None
        types = dict(zip(first.X.column_names, first.X.schema.types, strict=True))
        kinds = [kind_of(types[str(name)]) for name in schema.names]
        ways = [_way(factor, [kinds[j] for j in factor.columns], schema) for factor in schema.factors]
        plan = cls(
            schema, *(tuple(at for at, one in enumerate(ways) if one == way) for way in (*BY_ENGINE, None))
        )
        return plan if plan.by_function or plan.by_value else None

    def rest(self) -> Schema:
        """The columns that the engine cannot add up."""
        factors = [self.schema.factors[at] for at in self.by_rows]
        places = sorted(j for factor in factors for j in factor.columns.tolist())
        return Schema(
            tuple(self.schema.columns[j] for j in places), self.schema.named, marks=self.schema.marks
        )


def _way(factor: Factor, kinds: list[str | None], schema: Schema) -> str | None:
    """How the columns of a factor are added up; None if by rows only."""
    family, written = factor.family, set(factor.columns.tolist()) & set(schema.notations)
    if family.factor == "levels":
        return None if "time" in kinds else "value"
    if family.factor != "columns" or written or not set(kinds) <= {"number", "boolean"}:
        return None
    if family.discrete or family.is_binary:
        return "value"
    try:
        _sums_of_column(family, Cells(expression_of(1.0)), 1.0)
    except UntracedError:
        return None
    return "function"


def _sums_of_column(family: Family, x: Cells, origin: Any) -> dict[str, Any]:
    """What is summed of one column: u(x) about the origin, and log h(x)."""
    made: dict[str, Any] = {}
    for number, one in enumerate(elementary(family.functions)):
        value = one.about(x, origin) if one.root is None else one.value(one.root.about(x, origin))
        made[f"u{number}"] = expression_of(value)
    if family.has_base_measure:
        made["h"] = expression_of(family.log_base_measure(x))  # type: ignore[arg-type]
    return made


class GroupedSums:
    """The sums of rows like the first ones, made by the engine that holds them all."""

    def __init__(self, rows: LazyRows, labelled: LabelledFiles, plan: Plan, first: Statistics) -> None:
        import narwhals.stable.v2 as nw

        self.rows = rows
        frame = nw.from_native(rows.native)
        weight = nw.lit(1.0) if labelled.weight is None else self._column(labelled.weight).cast(nw.Float64())
        frame = frame.with_columns(weight.alias(_named(WEIGHT)))
        if labelled.weight is not None:
            frame = frame.filter(nw.col(_named(WEIGHT)) > 0)
        self.frame, self.target, self.plan, self.first = frame, labelled.target, plan, first
        self.is_weighted = labelled.weight is not None

    def _column(self, name: Hashable) -> Any:
        """A column of the rows, as an expression."""
        import narwhals.stable.v2 as nw

        return nw.col(self.rows.key(str(name)))

    def statistics(self, rest: Callable[[Schema], Statistics]) -> Statistics | None:
        """The sums, some of them of rows; None if the engine met what only reading the rows can name."""
        grouped = self._by_class()
        if grouped is None:
            return None
        classes, order, result = grouped
        schema = self.plan.schema
        parts: dict[int, Totals] = {}
        for at in self.plan.by_function:
            found = self._of_functions(at, classes, order, result)
            if found is None:
                return None
            parts[at] = found
        for at in self.plan.by_value:
            parts[at] = self._of_values(at)
        if self.plan.by_rows:
            others = rest(self.plan.rest())
            if not np.array_equal(others.classes, classes):
                return None
            parts |= dict(zip(self.plan.by_rows, others.totals, strict=True))
        totals = tuple(parts[at] for at in range(len(schema.factors)))
        support = result[ROWS][order].astype(np.int64)
        weight = result[WEIGHT][order].astype(np.float64)
        return Statistics(schema, classes, weight, support, totals)

    def _origins(self, at: int) -> Array:
        """The origin of each class and column of a factor, as in the first rows; the last is for others."""
        totals = self.first.totals[at]
        family, n_columns = totals.family, totals.n_columns
        if not isinstance(totals, ColumnTotals) or not family.centred:
            return np.full((len(self.first.classes) + 1, n_columns), family.default_origin)
        held = totals.has_origin()
        some = np.where(held.any(axis=0), totals.origin[np.argmax(held, axis=0), np.arange(n_columns)], 1.0)
        return np.vstack([np.where(held, totals.origin, some), some])

    def _by_class(self) -> tuple[NDArray[Any], NDArray[np.intp], dict[str, Any]] | None:
        """The one query: the classes, sorted, their rows in the result, and the result by column."""
        import narwhals.stable.v2 as nw

        w = nw.col(_named(WEIGHT))
        made: dict[str, Any] = {CLASS: self._column(self.target), WEIGHT: w}
        for at in self.plan.by_function:
            factor, origins = self.plan.schema.factors[at], self._origins(at)
            for place, j in enumerate(factor.columns.tolist()):
                x = self._column(self.plan.schema.names[j]).cast(nw.Float64())
                x = nw.when(~x.is_nan()).then(x)
                inside = expression_of(factor.family.support(Cells(x)))  # type: ignore[arg-type]
                made[f"o{at}_{place}"] = nw.when(~inside).then(1.0).otherwise(0.0)
                x = nw.when(inside).then(x)
                origin = self._origin_of_row(origins[:, place])
                made[f"x{at}_{place}"] = (x - origin).abs()
                made[f"w{at}_{place}"] = nw.when(~x.is_null()).then(w).otherwise(0.0)
                for name, value in _sums_of_column(factor.family, Cells(x), Cells(origin)).items():
                    made[f"{name}_{at}_{place}"] = value * w
        table = self.frame.select(**{_named(name): one for name, one in made.items()})
        sums = [nw.col(_named(name)).sum().alias(name) for name in made if name[0] not in "cx"]
        largest = [nw.col(_named(name)).max().alias(name) for name in made if name[0] == "x"]
        counts = [nw.col(_named(name)).count().alias(f"n{name[1:]}") for name in made if name[0] == "x"]
        found = table.group_by(_named(CLASS)).agg(nw.len().alias(ROWS), *sums, *largest, *counts)
        return _read_classes(_arrow(found), _named(CLASS))

    def _origin_of_row(self, origins: Array) -> Any:
        """The origin of the row's class, as an expression."""
        import narwhals.stable.v2 as nw

        expression = nw.lit(float(origins[-1]))
        for label, origin in zip(self.first.classes.tolist(), origins[:-1].tolist(), strict=True):
            if origin != origins[-1]:
                expression = nw.when(self._column(self.target) == label).then(origin).otherwise(expression)
        return expression

    def _of_functions(
        self, at: int, classes: NDArray[Any], order: NDArray[np.intp], result: dict[str, Any]
    ) -> ColumnTotals | None:
        """The sums of a factor, from the result of the query."""
        family, n_columns = self.plan.schema.factors[at].family, len(self.plan.schema.factors[at].columns)
        known = {label: k for k, label in enumerate(self.first.classes.tolist())}
        origin = self._origins(at)[[known.get(label, -1) for label in classes.tolist()]]

        def stacked(name: str) -> Array:
            columns = [result[f"{name}{at}_{place}"][order] for place in range(n_columns)]
            return np.nan_to_num(np.stack(columns, axis=-1).astype(np.float64), nan=0.0, posinf=np.inf)

        totals = ColumnTotals.empty(family, n_columns).take_classes(np.full(len(classes), -1))
        total = np.stack([stacked(f"u{number}_") for number in range(len(family.functions))])
        base = stacked("h_") if family.has_base_measure else totals.base
        if stacked("o").any() or not (np.isfinite(total).all() and np.isfinite(base).all()):
            return None
        totals.origin, totals.base, totals.weight = origin, base, stacked("w")
        totals.support = stacked("n").astype(np.int64)
        if family.scaled or family.centred:
            reach = totals.reach(origin + stacked("x"), origin)
            totals.exponent = exponent_of(reach.max(axis=0))
        totals.total = rescale(family.functions, total, totals.unit)
        return totals

    def _of_values(self, at: int) -> Totals:
        """The sums of a factor, from the rows and weights of every class and value of each column."""
        import narwhals.stable.v2 as nw

        schema = self.plan.schema
        factor, parts = schema.factors[at], []
        for j in factor.columns.tolist():
            column, value = schema.columns[j], _named("value")
            grouped = (
                self.frame.select(
                    self._column(self.target).alias(_named(CLASS)),
                    self._column(column.name).alias(value),
                    nw.col(_named(WEIGHT)),
                )
                .group_by(_named(CLASS), value)
                .agg(nw.len().alias(ROWS), nw.col(_named(WEIGHT)).sum().alias(WEIGHT))
            )
            table = _arrow(grouped)
            own = Schema((column._replace(block=None),), schema.named, marks=schema.marks)
            cells = read_table(table.select([value]).rename_columns([str(column.name)]))
            labels = read_labels(table.column(_named(CLASS)))
            weighted, counted = (
                LabelledRows(cells, labels, table.column(name).to_numpy().astype(np.float64))
                .statistics(own)
                .totals[0]
                for name in (WEIGHT, ROWS)
            )
            parts.append(_with_counts(weighted, counted))
        return _beside(parts)


def grouped_sums(
    rows: LazyRows,
    labelled: LabelledFiles,
    schema: Schema,
    first: LabelledBatch,
    sums: Statistics,
    rest: Callable[[Schema], Statistics] | None,
) -> Statistics | None:
    """The sums of all rows by the engine that holds them, of some columns by `rest`; None if it cannot."""
    if len(sums.classes) > MOST_CLASSES or kind_of(first.y.type) == "time":
        return None
    plan = Plan.of(schema, first)
    if plan is None or (plan.by_rows and rest is None):
        return None
    return GroupedSums(rows, labelled, plan, sums).statistics(rest or _nothing)


def _nothing(schema: Schema) -> Statistics:
    """The sums of columns of which there are none."""
    return Accumulator.empty(schema).statistics()


def _named(name: str) -> str:
    """A name for a column of ours, beside those of the rows."""
    return f"__suffice_{name}"


def _arrow(frame: Any) -> Any:
    """The result of a query as a pyarrow Table."""
    return frame.collect("pyarrow").to_native()


def _read_classes(table: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp], dict[str, Any]] | None:
    """Classes in order, and the result by column; None if some label is missing or is no class."""
    column = table.column(name)
    if not len(column) or column.null_count:
        return None
    labels = read_labels(column)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        return None
    order = np.argsort(labels, kind="stable")
    columns: Iterable[str] = table.column_names
    return labels[order], order, {one: table.column(one).to_numpy() for one in columns if one != name}


def _with_counts(weighted: Totals, counted: Totals) -> Totals:
    """Sums of values with their weights, whose row counts are the weights of others."""
    if isinstance(weighted, ColumnTotals) and isinstance(counted, ColumnTotals):
        weighted.support = _whole(counted.weight)
    elif isinstance(weighted, LevelTotals) and isinstance(counted, LevelTotals):
        for mine, theirs in zip(weighted.columns, counted.columns, strict=True):
            mine.support = _whole(theirs.weight)
    return weighted


def _whole(counts: Array) -> Counts:
    return np.rint(counts).astype(np.int64)


def _beside(parts: list[Any]) -> Totals:
    """The sums of several columns, from those of each."""
    one = parts[0]
    if isinstance(one, LevelTotals):
        return LevelTotals(one.family, [part.columns[0] for part in parts])
    together = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("total", "weight", "support", "origin", "exponent", "base")
    }
    return ColumnTotals(one.family, **together)
