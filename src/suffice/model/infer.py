"""Choosing a family for each column from its kind and values, with the reason in words.

Where several families could hold a column they are fitted to it, class by class, from their own
sufficient statistics, and the lowest BIC decides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors import KINDS
from suffice.families import (
    Bernoulli,
    Categorical,
    Family,
    Gamma,
    LogNormal,
    Multinomial,
    Normal,
    Poisson,
    Words,
)
from suffice.families.special import LOG_TWO
from suffice.model.choose_notation import (
    choose_notations,
    is_named_like_a_code,
    may_be_dates,
    may_be_written,
    words_of,
)
from suffice.model.chosen_families import (
    AllFamilies,
    Families,
    OnlyColumns,
    Smoothed,
    families_of_columns,
    given_families,
    one_for_all,
)
from suffice.model.columns import CHOSEN, Column
from suffice.model.evidence_weight import with_evidence_weight
from suffice.model.schema import Schema
from suffice.model.shared_sums import only_columns
from suffice.tables.columns import LARGEST_EXACT, LevelCells, array_column
from suffice.tables.notations import Marks
from suffice.tables.table import Levels, Table
from suffice.tables.wording import counted, one_line, quoted
from suffice.tables.written_table import WrittenTable

IDENTIFIER_ROWS = 50
NEARLY_UNIQUE = 0.95
CATEGORY_LEVELS = 32
FEW_VALUES = 10
SKEWED = 1.0
TEXT_WORDS = 4.0
BIC_ROWS = 50_000


def choose_schema(
    table: Table,
    classes: Codes,
    n_classes: int,
    weights: Array | None,
    families: Families,
    marks: Marks | None,
) -> Schema:
    """Choose the schema of a table: what `families` says, and inference for the rest."""
    if isinstance(families, Smoothed):
        return families.on(choose_schema(table, classes, n_classes, weights, families.families, marks))
    if isinstance(families, Schema):
        return _reused(families, table)
    if isinstance(families, OnlyColumns):
        kept = families.positions(table.names)
        of_kept = _of_kept(kept, families.families, table)
        schema = choose_schema(table, classes, n_classes, weights, of_kept, marks)
        return replace(only_columns(schema, kept), evidence_weight=schema.evidence_weight)
    alike = one_for_all(families)
    if alike is not None:
        family, block = alike
        chosen = dict.fromkeys(range(table.n_columns), family) if may_be_written(table) else {}
        if not choose_notations(table, chosen, marks):
            return Schema.of_one_family(table.names, family, _reason(family), block, named=table.named)
    given = given_families(families, table.names)
    if not given and not table.named:
        whole = _plain_array(table)
        if whole is not None:
            return whole
    return _inferred(table, classes, n_classes, weights, given, marks)


def _inferred(
    table: Table,
    classes: Codes,
    n_classes: int,
    weights: Array | None,
    given: Mapping[int, tuple[Family | None, int | None]],
    marks: Marks | None,
) -> Schema:
    """The families that are given, and inference for the rest."""
    # All text columns are encoded in parallel, so that inference finds them ready.
    table.level_cells([j for j in range(table.n_columns) if j not in given and table.kind(j) == "level"])
    families_given = {j: family for j, (family, _) in given.items()}
    observed = _Observed(table, classes, n_classes, weights, marks, families_given)
    columns = []
    for j, name in enumerate(table.names):
        if j in given:
            family, block = given[j]
            columns.append(observed.written(j, Column(name, family, _reason(family), block=block)))
        else:
            columns.append(observed.infer(j, name))
    schema = Schema(tuple(columns), table.named)
    if len(given) == len(schema):
        return schema
    return with_evidence_weight(schema, observed.table, classes, n_classes, weights)


def _of_kept(kept: list[int], families: AllFamilies, table: Table) -> AllFamilies:
    """Families of some columns of a table, so that the others are not looked at."""
    inferred = isinstance(families, str) and families == "infer"
    if isinstance(families, Mapping) or (inferred and (table.named or _plain_array(table) is None)):
        chosen = {} if inferred else families_of_columns(families, kept, table.names, named=True)
        return {**chosen, **dict.fromkeys(n for j, n in enumerate(table.names) if j not in kept)}
    return families


def _reason(family: Family | None) -> str:
    """Why a column has a family that the user chose."""
    return CHOSEN if family is not None else "left out by families="


def decide_more(
    schema: Schema,
    table: Table,
    classes: Codes,
    n_classes: int,
    weights: Array | None,
    marks: Marks | None,
) -> Schema:
    """Decide the undecided columns of a schema, as far as new rows allow."""
    if not schema.is_undecided:
        return schema
    decided = {j: None for j, column in enumerate(schema) if not column.undecided}
    observed = _Observed(table, classes, n_classes, weights, marks, decided)
    columns = [
        observed.infer(j, column.name) if column.undecided else column
        for j, column in enumerate(schema.columns)
    ]
    return replace(schema, columns=tuple(columns))


def schema_of_statistics(schema: Schema, families: Families) -> Schema:
    """The schema of statistics, with the settings for solving that `families` chooses."""
    if isinstance(families, Smoothed):
        return families.on(schema_of_statistics(schema, families.families))
    kept: Sequence[int] = range(len(schema))
    if isinstance(families, OnlyColumns):
        kept, families = families.positions(schema.names), families.families
        schema = only_columns(schema, kept)
    if isinstance(families, str) and families == "infer":
        return schema
    if isinstance(families, Schema):
        chosen = {j: column.family for j, column in enumerate(families)}
    else:
        chosen = {j: family for j, (family, _) in given_families(families, schema.names).items()}
    return schema.with_families({j: f for j, f in chosen.items() if f is not None and j in kept})


def _reused(schema: Schema, table: Table) -> Schema:
    if schema.named and table.named and schema.names != table.names:
        odd = sorted({one_line(n, 80) for n in set(schema.names) ^ set(table.names)})
        raise ValueError(
            f"families= is the schema of other columns: {', '.join(odd[:5]) or 'in another order'}."
        )
    if len(schema) != table.n_columns:
        raise ValueError(
            f"families= is the schema of {counted(len(schema), 'column')}, but X has {table.n_columns}."
        )
    pairs = zip(table.names, schema.columns, strict=True)
    columns = (c._replace(name=name) for name, c in pairs)
    return replace(schema, columns=tuple(columns), named=table.named)


def _plain_array(table: Table) -> Schema | None:
    """One family for all columns of a numeric array; None for an array of objects."""
    family: Family
    block = None
    if table.sparse is not None:
        data = table.sparse.data
        if (np.isnan(data) | ((data >= 0) & (data == np.floor(data)))).all():
            family, reason, block = Multinomial(), "sparse counts", 0
        else:
            family, reason = Normal(), "sparse numbers"
    elif table.array is not None:
        boolean = table.array.dtype.kind == "b"
        family, reason = (Bernoulli(), "booleans") if boolean else (Normal(), "numbers in an array")
    else:
        return None
    return Schema.of_one_family(table.names, family, reason, block, named=table.named)


class _Observed:
    """The rows that inference looks at, with text read as what it stands for."""

    def __init__(
        self,
        table: Table,
        classes: Codes,
        n_classes: int,
        weights: Array | None,
        marks: Marks | None,
        chosen: Mapping[int, Family | None],
    ) -> None:
        self.notations = choose_notations(table, chosen, marks)
        self.held = table
        self.table = WrittenTable(table, self.notations) if self.notations else table
        step = max(1, table.n_rows // BIC_ROWS)
        self.rows = slice(None, None, step)
        self.classes = classes[self.rows]
        self.n_classes = n_classes
        self.weights = None if weights is None else weights[self.rows]

    def infer(self, j: int, name: Hashable) -> Column:
        """A family for one column, and how its cells are written."""
        return self.written(j, self._infer(j, name))

    def written(self, j: int, column: Column) -> Column:
        """The column with the notation of its cells, and what they are read as in its reason."""
        notation = self.notations.get(j)
        if notation is None or column.family is None or column.family.factor == "words":
            return column
        if notation.form != "levels":
            return column._replace(notation=notation, reason=f"read as {notation.words}: {column.reason}")
        held, known = self.held.levels(j).values, self.table.levels(j).values
        gone = [quoted(value) for value in held if value in notation.marks] if len(held) > len(known) else []
        reason = f"{column.reason}; {' and '.join(gone)} counts as missing" if gone else column.reason
        return column._replace(notation=notation, reason=reason)

    def _infer(self, j: int, name: Hashable) -> Column:
        kind = self.table.kind(j)
        if kind == "level":
            return _levels_column(name, self.table.levels(j))
        values = self.table.numbers([j])[:, 0].astype(np.float64, copy=False)
        present = values[~np.isnan(values)]
        if len(present) == 0:
            return Column(name, None, "no value yet", undecided=True)
        if kind == "boolean":
            return Column(name, Bernoulli(), "true or false")
        if kind in ("moment", "duration", "clock"):
            return Column(name, Normal(), f"a {kind}, in seconds")
        if self.table.array is not None or self.table.sparse is not None:
            return Column(name, Normal(), "numbers in an array")
        if (present == np.floor(present)).all():
            return self._whole_numbers(j, name, values, present)
        return self._measurements(name, values, present)

    def _whole_numbers(self, j: int, name: Hashable, values: Array, present: Array) -> Column:
        distinct = np.unique(present)
        low, high, n, levels = distinct[0], distinct[-1], len(distinct), values
        if max(-low, high) >= LARGEST_EXACT:  # floats may be equal where integers differ
            exact = self.table.levels(j)
            low, high, n = min(exact.values), max(exact.values), len(exact.values)
            levels = np.where(exact.codes < 0, np.nan, exact.codes)
        if low >= 0 and high <= 1:
            return Column(name, Bernoulli(), "only 0 and 1")
        code = is_named_like_a_code(name)
        if _are_nearly_unique(n, len(present)) and (high - low < 2 * n or code or _numbers_the_rows(name)):
            return Column(name, None, _identifier(n, len(present), "whole number"))
        # A density is not a probability: for few values that repeat, it would win by being narrow.
        candidates: list[Family] = [] if n <= FEW_VALUES else [Normal()]
        # Beyond this, rounding hides more than a nat of the log likelihood of counts.
        size = math.log(max(high, 2))  # whole numbers of any size have one
        if low >= 0 and math.log(len(present)) + size + math.log(size) < 52.0 * LOG_TWO:
            candidates.append(Poisson())
        if len(distinct) < n <= CATEGORY_LEVELS:  # only as categories do they stay apart
            candidates = []
        if n <= CATEGORY_LEVELS:
            candidates.append(Categorical())
        best = self._best(candidates, values, levels)
        if code and best.factor != "levels":
            return Column(name, Categorical(), f"whole numbers, {n} different: a code, by its name")
        lost = len(distinct) < n and best.factor != "levels"
        digits = " (as floats, which lose digits beyond 2⁵³)" if lost else ""
        return Column(name, best, f"whole numbers, {n} different: {best.name} fits best{digits}")

    def _measurements(self, name: Hashable, values: Array, present: Array) -> Column:
        if (present > 0).all():
            spread = present.std()
            centred = (present - present.mean()) / (spread if spread > 0 else 1.0)
            skewness = float(np.mean(centred**3))
            if skewness > SKEWED:
                best = self._best([Normal(), LogNormal(), Gamma()], values, values)
                return Column(name, best, f"positive and skewed ({skewness:.1f}): {best.name} fits best")
        return Column(name, Normal(), "numbers")

    def _best(self, candidates: list[Family], numbers: Array, levels: Array) -> Family:
        """The candidate of lowest BIC, class by class; the first of equals.

        Levels are numbers too, and different where the cells are.
        """
        if len(candidates) == 1:
            return candidates[0]
        numbers, levels = numbers[self.rows], levels[self.rows]
        scored = [(self._bic(family, numbers, levels), i) for i, family in enumerate(candidates)]
        return candidates[min(scored)[1]]

    def _bic(self, family: Family, numbers: Array, levels: Array) -> float:
        kind = KINDS[family.factor]
        values = numbers if kind.totals.reads == "numbers" else levels
        totals = kind.totals.empty(family, 1).take_classes(np.full(self.n_classes, -1))
        column = values[:, np.newaxis]
        block: Any = (
            column
            if kind.totals.reads == "numbers"
            else LevelCells(column, [array_column(values, "").levels])
        )
        try:
            totals.prepare(block, ["column"], self.classes, self.weights, self.n_classes)(totals)
            solved = kind.solve(totals, ["column"], np.arange(self.n_classes))
        except ValueError:
            return float("inf")
        size = len(values) if self.weights is None else self.weights.sum()
        return float(solved.n_parameters * np.log(size) - 2.0 * solved.log_likelihood)


def _levels_column(name: Hashable, levels: Levels) -> Column:
    n_rows = int((levels.codes >= 0).sum())
    n_levels = len(levels.values)
    if n_rows == 0:
        return Column(name, None, "no value yet", undecided=True)
    texts = [value for value in levels.values[:1000] if isinstance(value, str)]
    words = float(np.mean([len(text.split()) for text in texts])) if texts else 0.0
    if words >= TEXT_WORDS and n_levels > 0.5 * n_rows:
        return Column(
            name, Words(), f"free text: {n_levels} different values of {words:.0f} words on average"
        )
    if may_be_dates(levels):
        return Column(
            name,
            Categorical(),
            f"{counted(n_levels, 'category')}: dates whose day and month may be exchanged",
        )
    if _are_nearly_unique(n_levels, n_rows):
        return Column(name, None, _identifier(n_levels, n_rows, "value"))
    return Column(name, Categorical(), counted(n_levels, "category"))


def _are_nearly_unique(n_different: int, n_rows: int) -> bool:
    """Whether hardly any value of a column occurs twice."""
    return n_rows >= IDENTIFIER_ROWS and n_different >= NEARLY_UNIQUE * n_rows


def _identifier(n_different: int, n_rows: int, what: str) -> str:
    """Why a column of values that are nearly unique is left out."""
    if n_different == n_rows:
        return f"an identifier: {counted(n_different, what)}, all different"
    return f"an identifier: {n_different:,} of {counted(n_rows, what)} are different"


def _numbers_the_rows(name: Hashable) -> bool:
    """Whether the name of a column says that it numbers the rows, if its values are nearly unique."""
    words = {"index", "key", "number", "no", "nr"} & set(words_of(name))
    return bool(words) or str(name).endswith("ID")
