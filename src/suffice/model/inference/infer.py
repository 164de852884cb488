"""Choosing a family for each column from its kind and values, with the reason in words.

Where several families could hold a column, held-out rows decide which of them tells the classes apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.families import (
    Bernoulli,
    Categorical,
    Family,
    Multinomial,
    Normal,
    Words,
)
from suffice.kernels import threads
from suffice.model.columns.chosen_families import (
    AllFamilies,
    Families,
    OnlyColumns,
    Smoothed,
    families_of_columns,
    given_families,
    one_for_all,
)
from suffice.model.columns.column import CHOSEN, Column
from suffice.model.columns.schema import Schema
from suffice.model.dealt import spread_rows
from suffice.model.inference.candidates import Candidates, chosen
from suffice.model.inference.choose_notation import (
    choose_notations,
    is_named_like_a_code,
    may_be_dates,
    may_be_decimal_commas,
    may_be_written,
    not_numbers,
    words_of,
)
from suffice.model.inference.column_losses import ColumnLosses
from suffice.model.inference.evidence_weight import with_evidence_weight
from suffice.model.shared_sums import only_columns
from suffice.tables.as_arrays import LARGEST_EXACT
from suffice.tables.notations import USUAL_MARKS, Marks
from suffice.tables.row_keys import RowKeys
from suffice.tables.table import Levels, Table
from suffice.tables.wording import counted, listed, one_line, quoted
from suffice.tables.written_table import WrittenTable

IDENTIFIER_ROWS = 50
NEARLY_UNIQUE = 0.95
EXACT_LEVELS = 32
"""So many different whole numbers are categories, if some of them are the same as floats."""
TEXT_WORDS = 4.0
FEWEST_ROWS = 100
"""Rows from which held-out rows decide."""
CLASS_ROWS = 5
"""Rows, on average, that a class must have."""
MOST_SCORES = 1 << 23
"""Rows times classes, at most, that decide."""
MOST_ROWS = 20_000
"""Rows, at most, that decide."""
CELLS_AT_ONCE = 1 << 20
"""Numbers that are looked at at once."""
FIRST_ROWS = 1000
"""Rows in which most columns that are not whole numbers show it."""
NORMAL, BERNOULLI, CATEGORICAL = Normal(), Bernoulli(), Categorical()


def choose_schema(
    table: Table,
    classes: Codes,
    n_classes: int,
    weights: Array | None,
    families: Families,
    marks: Marks | None,
    *,
    weigh: bool = True,
) -> Schema:
    """Choose the schema of a table: what `families` says, and inference for the rest.

    Held-out rows then say how much the evidence of all columns counts, if it is to `weigh`.
    """
    chosen_for = partial(choose_schema, table, classes, n_classes, weights, marks=marks, weigh=weigh)
    if isinstance(families, Smoothed):
        return families.on(chosen_for(families.families))
    if isinstance(families, Schema):
        return _reused(families, table, marks)
    if isinstance(families, OnlyColumns):
        kept = families.positions(table.names)
        of_kept = _of_kept(kept, families.families, table)
        return only_columns(chosen_for(of_kept), kept)
    alike = one_for_all(families)
    if alike is not None:
        family, block = alike
        alike_all = dict.fromkeys(range(table.n_columns), family) if may_be_written(table) else {}
        if not choose_notations(table, alike_all, marks):
            whole = Schema.of_one_family(table.names, family, _reason(family), block, named=table.named)
            return replace(whole, marks=marks or USUAL_MARKS)
    given = given_families(families, table.names)
    if not given and not table.named:
        array = _plain_array(table)
        if array is not None:
            return replace(array, marks=marks or USUAL_MARKS)
    return _inferred(table, classes, n_classes, weights, given, marks, weigh=weigh)


def _inferred(
    table: Table,
    classes: Codes,
    n_classes: int,
    weights: Array | None,
    given: Mapping[int, tuple[Family | None, int | None]],
    marks: Marks | None,
    *,
    weigh: bool,
) -> Schema:
    """The families that are given, and inference for the rest."""
    # All text columns are encoded in parallel, so that inference finds them ready.
    table.level_cells([j for j in range(table.n_columns) if j not in given and table.kind(j) == "level"])
    fixed = {j: family for j, (family, _) in given.items()}
    observed = _Observed(table, classes, n_classes, weights, marks, fixed)
    columns: list[Column | None] = [None] * table.n_columns
    for j, (family, block) in given.items():
        columns[j] = observed.written(j, Column(table.names[j], family, _reason(family), block=block))
    schema = Schema(observed.filled(columns), table.named, marks=marks or USUAL_MARKS)
    # The columns of an array are not looked at.
    if not weigh or len(given) == len(schema) or not may_be_written(table):
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
    columns = [None if column.undecided else column for column in schema.columns]
    return replace(schema, columns=observed.filled(columns), held_out=None)


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
    solved = schema.with_families({j: f for j, f in chosen.items() if f is not None and j in kept})
    if isinstance(families, Schema):
        return replace(solved, evidence_weight=families.evidence_weight)
    return replace(solved, evidence_weight=1.0) if len(chosen) == len(schema) else solved


def require_columns(schema: Schema, table: Table, setting: str) -> None:
    """Refuse a table of other columns than those of a schema, which a setting holds."""
    if schema.named and table.named and schema.names != table.names:
        odd = sorted({one_line(n, 80) for n in set(schema.names) ^ set(table.names)})
        raise ValueError(f"{setting} of other columns: {', '.join(odd[:5]) or 'in another order'}.")
    if len(schema) != table.n_columns:
        raise ValueError(f"{setting} of {counted(len(schema), 'column')}, but X has {table.n_columns}.")


def require_marks(schema: Schema, marks: Marks | None, setting: str) -> None:
    """Refuse other texts for missing cells than those of a schema, which a setting holds."""
    if marks is not None and marks.chosen not in (None, schema.marks.chosen):
        raise ValueError(
            f"missing_marks= and {setting} both say which texts stand for a missing cell, and differ: "
            f"{list(marks.numbers)} and {list(schema.marks.numbers)}; leave missing_marks= out, or fit "
            f"without {setting} to choose other texts."
        )


def _reused(schema: Schema, table: Table, marks: Marks | None) -> Schema:
    require_columns(schema, table, "families= is the schema")
    require_marks(schema, marks, "families=")
    pairs = zip(table.names, schema.columns, strict=True)
    columns = (c._replace(name=name) for name, c in pairs)
    return replace(schema, columns=tuple(columns), named=table.named, held_out=None)


def _plain_array(table: Table) -> Schema | None:
    """One family for all columns of a numeric array; None for an array of objects."""
    family: Family
    block = None
    if table.stored is not None:
        data = table.sparse.data
        if (np.isnan(data) | ((data >= 0) & (data == np.floor(data)))).all():
            family, reason, block = Multinomial(), "sparse counts", 0
        else:
            family, reason = Normal(), "sparse numbers"
    elif table.array is not None:
        boolean = table.array.dtype.kind == "b"
        family, reason = (BERNOULLI, "booleans") if boolean else (NORMAL, "numbers in an array")
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
        n_rows = min(table.n_rows, MOST_ROWS, MOST_SCORES // max(n_classes, 1))
        self.rows = spread_rows(table.n_rows, n_rows)
        self.classes = classes[self.rows]
        self.n_classes = n_classes
        self.weights = None if weights is None else weights[self.rows]
        self.size = float(len(self.rows) if self.weights is None else self.weights.sum())

    def filled(self, columns: list[Column | None]) -> tuple[Column, ...]:
        """The columns, with a family for each that has none yet, and how its cells are written."""
        found: dict[int, Column | Candidates] = {}
        numbers = []
        for j, column in enumerate(columns):
            if column is None:
                if self.table.kind(j) == "level":
                    found[j] = _levels_column(self.table.names[j], self.table.levels(j))
                else:
                    numbers.append(j)
        step = max(1, CELLS_AT_ONCE // max(self.table.n_rows, 1))
        at_once = [numbers[first : first + step] for first in range(0, len(numbers), step)]
        for some in threads.run(self._numbers, at_once):
            found |= some
        several = {j: one for j, one in found.items() if isinstance(one, Candidates)}
        if several:
            is_all = len(self.rows) == self.table.n_rows
            keys = RowKeys.of(self.table if is_all else self.table.take(self.rows), several)
            rows = ColumnLosses(self.classes, keys, self.n_classes, self.weights)
            for j, (family, reason) in zip(several, chosen(list(several.values()), rows), strict=True):
                found[j] = Column(self.table.names[j], family, reason)
        decided = {j: one for j, one in found.items() if isinstance(one, Column)}
        return tuple(
            self.written(j, decided[j]) if column is None else column for j, column in enumerate(columns)
        )

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

    def _numbers(self, columns: list[int]) -> dict[int, Column | Candidates]:
        """The families of columns of numbers, or the candidates that held-out rows decide between."""
        values = self.table.numbers(columns)
        missing = np.isnan(values)
        n_present = len(values) - np.count_nonzero(missing, axis=0)
        whole = _are_whole(values[:FIRST_ROWS])
        whole[whole] = _are_whole(values[:, whole])
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        n_different = np.zeros(len(columns), dtype=np.intp)
        n_different[whole] = _n_different(values[:, whole])
        facts = map(_Numbers, *(one.tolist() for one in (n_present, whole, low, high, n_different)))
        found: dict[int, Column | Candidates] = {}
        for place, (j, numbers) in enumerate(zip(columns, facts, strict=True)):
            known = self._known(j, numbers)
            found[j] = known if isinstance(known, Column) else self._open(j, numbers, known, values[:, place])
        return found

    def _known(self, j: int, numbers: _Numbers) -> Column | str:
        """The family of a column of numbers that has no other, or what they are."""
        name, kind = self.table.names[j], self.table.kind(j)
        if numbers.n_present == 0:
            return Column(name, None, "no value yet", undecided=True)
        if kind == "boolean":
            return Column(name, BERNOULLI, "true or false")
        if self.table.array is not None or self.table.stored is not None:
            return Column(name, NORMAL, "numbers in an array")
        if kind != "number":
            return f"a {kind}, in seconds"
        return self._known_whole(j, numbers) if numbers.are_whole else "numbers"

    def _known_whole(self, j: int, numbers: _Numbers) -> Column | str:
        """The same for whole numbers."""
        name, n, low, high = self.table.names[j], numbers.n_different, numbers.low, numbers.high
        long = False
        if max(-low, high) >= LARGEST_EXACT:  # floats may be equal where integers differ
            levels = self.table.levels(j)
            low, high, n = min(levels.values), max(levels.values), len(levels.values)
            # Large floats are even, so these are integers with more digits than a measurement has.
            long = any(value % 2 == 1 and abs(value) > LARGEST_EXACT for value in levels.values)
        if low >= 0 and high <= 1:
            return Column(name, BERNOULLI, "only 0 and 1")
        code = is_named_like_a_code(name)
        in_a_row = high - low < 2 * n
        if _are_nearly_unique(n, numbers.n_present) and (in_a_row or code or long or _numbers_the_rows(name)):
            return Column(name, None, _identifier(n, numbers.n_present, "whole number"))
        what = f"whole numbers, {n} different"
        if code:
            return Column(name, CATEGORICAL, f"{what}: a code, by its name")
        if numbers.n_different == n:
            return what
        if n <= EXACT_LEVELS:  # only as categories do they stay apart
            return Column(name, CATEGORICAL, f"{what}: as floats, some would be the same")
        return f"{what} (as floats, which lose digits beyond 2⁵³)"

    def _open(self, j: int, numbers: _Numbers, what: str, values: NDArray[Any]) -> Column | Candidates:
        """The candidates of a column of numbers, or its family if there are too few rows to compare them."""
        needed = max(FEWEST_ROWS, CLASS_ROWS * self.n_classes)
        if self.size < needed:
            return Column(self.table.names[j], NORMAL, f"{what}; families are compared from {needed} rows")
        return Candidates.of(
            np.asarray(values[self.rows], dtype=np.float64),
            self.classes,
            self.weights,
            (numbers.low, numbers.high),
            what,
            kind=self.table.kind(j),
            are_whole=numbers.are_whole,
        )


class _Numbers(NamedTuple):
    """What is known of a column of numbers at a glance."""

    n_present: int
    are_whole: bool
    low: float
    high: float
    n_different: int
    """0 where they are not whole."""


def _are_whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which columns hold only whole numbers."""
    return np.asarray(((values == np.floor(values)) | np.isnan(values)).all(axis=0))


def _n_different(values: NDArray[Any]) -> Counts:
    """How many different numbers each column has."""
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[1:] > ordered[:-1]).sum(axis=0) + 1)


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
    commas = ": are they numbers with decimal commas?" if may_be_decimal_commas(levels) else ""
    if _are_nearly_unique(n_levels, n_rows):
        return Column(name, None, f"{_identifier(n_levels, n_rows, 'value')}{commas}")
    marks = not_numbers(levels)
    note = (
        f", numbers but for {listed(marks, brackets=False)}: does that mark missing cells?"
        if marks
        else commas
    )
    return Column(name, Categorical(), f"{counted(n_levels, 'category')}{note}")


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
