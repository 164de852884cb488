"""Which column has which family, and why."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors import Block, SolvedFactor, Totals
from suffice.factors.words.totals import TextBlock
from suffice.families import Family
from suffice.kernels.columns import ColumnCells
from suffice.model.columns.column import CHOSEN, AlikeColumns, Column, Factor
from suffice.model.mean_posteriors import HeldOutPosteriors
from suffice.tables.container import PLAIN, Container
from suffice.tables.notations import USUAL_MARKS, Marks, Notation, differently_read
from suffice.tables.row_keys import RowKeys
from suffice.tables.shown import Cells, Part, Shown
from suffice.tables.table import Table
from suffice.tables.wording import one_line, quoted
from suffice.tables.written_table import WrittenTable, as_text

SILENT = 1e-6
"""A weight of the evidence that changes no posterior."""


@dataclass(frozen=True, repr=False)
class Schema(Shown):
    """The columns of a model, in order, with the family of each and the reason for it; prints as a table.

    Pass it as `families=` to give another model the same columns.

    Attributes
    ----------
    columns : sequence of Column
        The columns, in order.
    named : bool
        Whether the columns have names, as in frames.
    evidence_weight : float
        How much the evidence of all columns counts in posteriors; below 1 where they repeat each other.
    nats : ndarray of shape (n_features,) or None
        What each column by itself added to held-out rows, if families were inferred from such.
    held_out : HeldOutPosteriors or None
        What posteriors are like on the rows that the weight was learnt from.
    marks : Marks
        The texts that stand for a missing cell, also in columns that had no text in training.
    names : tuple
        The names of the columns; their positions in arrays.
    factors : tuple of Factor
        The columns grouped by family, in the order of their first column.
    labels : tuple of str
        How messages refer to each column.
    factor_labels : list of list of str
        How messages refer to the columns of each factor.
    is_undecided : bool
        Whether some column still waits for its first value.

    Examples
    --------
    >>> import suffice
    >>> X = [[1.0, 5.0], [1.2, 6.0], [3.0, 9.0]]
    >>> model = suffice.BayesClassifier({1: "poisson"}).fit(X, ["a", "a", "b"])
    >>> model.schema_
    column  family     why
    ──────  ─────────  ───────────────────
    0       Normal()   numbers in an array
    1       Poisson()  chosen by families=
    """

    columns: Sequence[Column]
    named: bool
    evidence_weight: float = 1.0
    held_out: HeldOutPosteriors | None = field(default=None, compare=False, repr=False)
    marks: Marks = field(default=USUAL_MARKS, compare=False)

    @classmethod
    def of_one_family(
        cls,
        names: tuple[Hashable, ...],
        family: Family | None,
        reason: str,
        block: int | None,
        *,
        named: bool,
    ) -> Schema:
        """A schema whose columns all have the same family.

        Parameters
        ----------
        names : tuple
            The names of the columns.
        family : Family or None
            Their family; None leaves them out.
        reason : str
            Why they have it.
        block : int or None
            The number of their block, if they are modelled jointly.
        named : bool
            Whether the columns have names.

        Returns
        -------
        schema : Schema
        """
        return cls(AlikeColumns(names, family, reason, block), named)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The columns grouped by family, in the order of their first column."""
        if isinstance(self.columns, AlikeColumns):
            family = self.columns.family
            return () if family is None or not len(self) else (Factor(family, np.arange(len(self))),)
        groups: dict[tuple[Family, int | None], list[int]] = {}
        for position, column in enumerate(self.columns):
            if column.family is not None:
                groups.setdefault((column.family, column.block), []).append(position)
        return tuple(
            Factor(family, np.array(positions, dtype=np.intp)) for (family, _), positions in groups.items()
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """How messages refer to each column."""
        if not self.named:
            return _numbered_labels(len(self))
        return tuple(f"column {quoted(name)}" for name in self.names)

    @cached_property
    def nats(self) -> Array | None:
        """What each column by itself added to held-out rows; None unless families were inferred from such."""
        if isinstance(self.columns, AlikeColumns) or all(column.nats is None for column in self.columns):
            return None
        return np.array([column.nats or 0.0 for column in self.columns])

    def labels_of(self, columns: NDArray[np.intp]) -> list[str]:
        """How messages refer to some columns.

        Parameters
        ----------
        columns : ndarray of int
            The positions of the columns.

        Returns
        -------
        labels : list of str
        """
        return list(self.labels) if len(columns) == len(self) else [self.labels[j] for j in columns]

    @property
    def factor_labels(self) -> list[list[str]]:
        """How messages refer to the columns of each factor."""
        return [self.labels_of(factor.columns) for factor in self.factors]

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the columns; their positions in arrays."""
        if isinstance(self.columns, AlikeColumns):
            return self.columns.names
        return tuple(column.name for column in self.columns)

    @property
    def is_undecided(self) -> bool:
        """Whether some column still waits for its first value."""
        return not isinstance(self.columns, AlikeColumns) and any(c.undecided for c in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: Hashable) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @cached_property
    def notations(self) -> dict[int, Notation]:
        """How the cells of columns of text are written, by position."""
        if isinstance(self.columns, AlikeColumns):
            return {}
        return {j: column.notation for j, column in enumerate(self.columns) if column.notation is not None}

    def read(self, table: Table) -> Table:
        """The same rows, with text read as the model reads it; a warning names the cells it cannot read.

        Parameters
        ----------
        table : Table
            The rows.

        Returns
        -------
        table : Table
        """
        if table.notations or isinstance(self.columns, AlikeColumns):
            return table
        notations = self.notations | as_text(table, self._unwritten)
        return WrittenTable(table, notations) if notations else table

    def keys(self, table: Table) -> RowKeys:
        """A key for each row, by what is in the cells that the model reads.

        Parameters
        ----------
        table : Table
            The rows, as `read` returns them.

        Returns
        -------
        keys : RowKeys
        """
        reads = {j: factor.reads for factor in self.factors for j in factor.columns.tolist()}
        return RowKeys.of(table, reads, [j for j, what in reads.items() if what == "documents"])

    @cached_property
    def _unwritten(self) -> dict[int, Notation]:
        """How numbers and flags would be written, in columns of numbers that were not text in training."""
        numbers: dict[int, Notation] = {}
        for factor in self.factors:
            if factor.reads == "numbers":
                notation = Notation("flags" if factor.family.is_binary else "numbers", self.marks.numbers)
                numbers |= dict.fromkeys(factor.columns.tolist(), notation)
        return {j: notation for j, notation in numbers.items() if j not in self.notations}

    def written(self, columns: list[NDArray[Any]], container: Container) -> list[NDArray[Any]]:
        """Columns as a container holds them, text in the notation that the model reads.

        Parameters
        ----------
        columns : list of ndarray
            Numbers or levels, one array for each column.
        container : Container
            What they are for.

        Returns
        -------
        columns : list of ndarray
        """
        kinds = container.kinds() if self.notations else ()
        return [
            self.notations[j].written(cells, kinds[j]) if j in self.notations else cells
            for j, cells in enumerate(columns)
        ]

    def blocks(self, table: Table, readers: Sequence[Totals | SolvedFactor] = ()) -> list[Block]:
        """The cells of each factor, in the form that it reads; infinities are left for it to refuse.

        Parameters
        ----------
        table : Table
            The rows.
        readers : sequence of Totals or SolvedFactor, optional
            Who reads them; those that can get columns where they lie in memory.

        Returns
        -------
        blocks : list
            One element for each factor.
        """
        table = self.read(table)
        blocks: list[Block] = []
        for i, factor in enumerate(self.factors):
            columns = factor.columns
            everything = len(columns) == table.n_columns
            if factor.reads == "levels":
                blocks.append(table.level_cells(columns.tolist()))
            elif factor.reads == "documents":
                blocks.append([TextBlock(table.documents(j)) for j in columns.tolist()])
            elif table.stored is not None:
                cells = table.stored if factor.refuses_infinities else table.sparse
                blocks.append(cells if everything else cells[:, columns])
            elif factor.family.is_binary and (cells := table.cells(columns.tolist())) is not None:
                blocks.append(cells)
            elif readers and readers[i].takes_columns_apart:
                blocks.append(table.columns_apart(columns.tolist()))
            else:
                blocks.append(table.numbers(slice(None) if everything else columns.tolist(), infinities=True))
        return blocks

    def blocks_of_some(
        self, table: Table, rows: NDArray[np.intp], readers: Sequence[SolvedFactor]
    ) -> list[Block]:
        """The same of some rows; columns that are all read where they lie in memory are not opened again.

        Parameters
        ----------
        table : Table
            The table.
        rows : ndarray of int
            The positions of the rows, in order.
        readers : sequence of SolvedFactor
            Who reads them.

        Returns
        -------
        blocks : list
            One element for each factor.
        """
        if len(rows) == table.n_rows:
            return self.blocks(table, readers)
        is_apart = table.cells([]) is None and table.stored is None and self.read(table) is table
        if is_apart and all(reader.takes_columns_apart for reader in readers):
            apart = (table.columns_apart(factor.columns.tolist()) for factor in self.factors)
            return [cells.take(rows) if isinstance(cells, ColumnCells) else cells[rows] for cells in apart]
        return self.blocks(table.take(rows), readers)

    def difference(self, other: Schema) -> str | None:
        """The first difference between two schemas, in words; an undecided column matches any family.

        Parameters
        ----------
        other : Schema
            The schema to compare with.

        Returns
        -------
        difference : str or None
            None if sums under both schemas can be added.
        """
        if self.columns == other.columns:
            return None
        if self.names != other.names:
            odd = [
                quoted(n) for n in (*self.names, *other.names) if n not in self.names or n not in other.names
            ]
            detail = f"{', '.join(odd[:5])} in only one of them" if odd else "the same names in another order"
            return f"the columns differ: {detail}"
        for label, mine, theirs in zip(self.labels, self.columns, other.columns, strict=True):
            if mine.undecided or theirs.undecided:
                continue
            if mine.summed != theirs.summed:
                one, another = (column.family or "left out" for column in (mine, theirs))
                return f"{label} is {one} in one and {another} in the other"
            differs = differently_read(mine.notation, theirs.notation)
            if differs is not None:
                return f"{label} {differs}"
        return None

    def combined(self, other: Schema) -> Schema:
        """Decide the undecided columns, and read text, as another schema does.

        Parameters
        ----------
        other : Schema
            A schema of the same columns.

        Returns
        -------
        schema : Schema
        """
        if not self.is_undecided and other.notations.keys() <= self.notations.keys():
            return self
        pairs = zip(self.columns, other.columns, strict=True)
        columns = (
            theirs if mine.undecided else mine._replace(notation=mine.notation or theirs.notation)
            for mine, theirs in pairs
        )
        return replace(self, columns=tuple(columns), held_out=None if self.is_undecided else self.held_out)

    def with_families(self, chosen: Mapping[int, Family]) -> Schema:
        """The same columns with other settings for solving; their sums must stay the same.

        Parameters
        ----------
        chosen : dict of int to Family
            The new families, by position.

        Returns
        -------
        schema : Schema
        """
        columns = list(self.columns)
        for position, family in chosen.items():
            old = columns[position]
            if old.family is None or old.family.summed != family.summed:
                raise ValueError(
                    f"{self.labels[position]} was summed as {old.family or 'left out'}, "
                    f"but {family} needs other sums; summarize the rows again."
                )
            columns[position] = old._replace(family=family, reason=CHOSEN)
        return replace(self, columns=tuple(columns), held_out=None)

    def _rows(self) -> list[tuple[str, str, str]]:
        def family(column: Column) -> str:
            return "undecided" if column.undecided else repr(column.family) if column.family else "left out"

        return [(one_line(column.name), family(column), column.reason) for column in self.columns]

    def to_frame(self) -> Any:
        """The family of each column and why it was chosen, as a frame.

        Returns
        -------
        frame
            A pyarrow Table with one line per column: column, family, why, and nats where families were
            inferred from rows held out.
        """
        columns, families, reasons = zip(*self._rows(), strict=True) if self.columns else ((), (), ())
        fields: dict[str, Any] = {"column": columns, "family": families, "why": reasons}
        return PLAIN.frame(fields if self.nats is None else fields | {"nats": self.nats})

    def _parts(self) -> list[Part]:
        rows = [("column", "family", "why"), *self._rows()]
        shown = rows if len(rows) <= 61 else [*rows[:51], ("…", f"{len(rows) - 51} more", "")]
        return [Cells(shown, left=3, ruled=True), *self._weight_in_words()]

    def _weight_in_words(self) -> list[str]:
        if self.evidence_weight == 1.0:
            return []
        if self.evidence_weight <= SILENT:
            return ["Held-out rows find no evidence in the columns: posteriors are the class shares."]
        return [f"The evidence of the columns counts {self.evidence_weight:.3g} times: held-out rows say so."]


@lru_cache(maxsize=1)
def _numbered_labels(n_columns: int) -> tuple[str, ...]:
    """How messages refer to columns without names; kept for the next of as many."""
    return tuple([f"column {j}" for j in range(n_columns)])
