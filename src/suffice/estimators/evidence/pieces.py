"""Pieces of evidence: what there is to weigh, chosen by the first rows without a look at their labels.

Each column under its family is a piece. Beside these there are, where the columns allow it: numbers once more
in steps, whether cells are there, a joint Gaussian of all numbers and levels (with one covariance for all
classes, and with one for each), corrections for single cells, and pairs of columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.described import DescribedNumbers, described_columns
from suffice.factors.derived import (
    CellOfPair,
    CellReader,
    CoarseCell,
    Derived,
    DocumentThere,
    Holds,
    Same,
    There,
    table_of,
)
from suffice.families import Bernoulli, Categorical, Family, MultivariateNormal, Steps, Words
from suffice.model.columns.column import Column
from suffice.model.columns.schema import Schema
from suffice.tables.table import Table, read_table

Group = Literal["columns", "steps", "presence", "joint", "cells", "pairs"]
GROUPS: tuple[Group, ...] = get_args(Group)

MOST_LEVELS = 60
"""Levels of one column that have an indicator or a correction: the most frequent ones."""
MOST_IN_PAIRS = 12
"""Levels of one column that pairs tell apart; the others are missing there."""
MOST_JOINT = 300
"""Columns of a joint Gaussian: numbers, and indicators as far as there is room."""
MOST_APART = 200
"""Columns that have a weight each, and more than one kind of evidence; more have one weight together."""
COMMON = 0.05
"""The share of rows that both values of an indicator need: a Gaussian does not describe rare ones."""
FEW = 12
"""Different numbers up to which a column of numbers also has indicators."""
FEWEST_CELLS, MOST_CELLS = 4, 16
"""Intervals of a column that have corrections."""
DIGITS = 9
"""Decimals of a share that matter."""
CELLS_IN_PAIRS = 8
ONE_COVARIANCE = "one covariance for all classes", "one covariance of plain numbers"
OWN_COVARIANCES = "a covariance for each class", "own covariances of plain numbers"
SHARED = MultivariateNormal("shared", shrinkage="bayes")
FULL = MultivariateNormal("full", shrinkage="bayes")
WIDE = MultivariateNormal("shared", shrinkage="oas")
"""The joint Gaussian of more columns than that: rows are fewer, and are solved in their own space."""


POWERS = (0.25, 0.5, 0.75)
"""Powers of the number of words that the evidence of a document may be divided by."""


class JointSolve(NamedTuple):
    """A Gaussian that is solved from the sums of the joint columns, or of the first ones of them."""

    name: str
    family: MultivariateNormal
    n_columns: int


class Piece(NamedTuple):
    """A piece of evidence that has a weight."""

    group: Group
    name: str
    """What it is about."""
    columns: tuple[int, ...]
    """The columns that it reads."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Everything that may be weighed: the families of the columns, and what is derived from them."""

    schema: Schema
    steps: tuple[Same, ...] = ()
    presence: tuple[There, ...] = ()
    joint: tuple[Derived, ...] = ()
    own_covariances: bool = True
    """Whether the joint Gaussian is also solved for a covariance of each class."""
    n_plain: int = 0
    """How many columns of it, the first ones, are also solved by themselves; 0 if none are left out there."""
    gaps: bool = False
    """Whether the columns of the joint Gaussian have gaps: then it sums pairs of columns."""
    cells: tuple[CoarseCell, ...] = ()
    coarse: tuple[CoarseCell, ...] = ()
    """The cells that pairs may be made of."""
    pairs: tuple[CellOfPair, ...] = ()
    words: tuple[int, ...] = ()
    """The columns of text whose words may have corrections."""

    @classmethod
    def of(
        cls, schema: Schema, table: Table, groups: Sequence[Group], weights: Array | None = None
    ) -> Pieces:
        """The pieces that the columns of a table allow, without pairs."""
        if table.sparse is not None:
            return cls(schema)
        found = _Columns(schema, schema.read(table), weights)
        if len(found.families) > MOST_APART:
            groups = [group for group in groups if group == "joint"]
        return cls(
            schema,
            steps=tuple(found.steps()) if "steps" in groups else (),
            presence=tuple(found.presence()) if "presence" in groups else (),
            joint=(joint := tuple(found.joint()) if "joint" in groups else ()),
            n_plain=found.n_plain(joint),
            gaps=bool(np.isnan(table_of(joint, found.reader)).any()),
            cells=tuple(found.cells(MOST_LEVELS, found.most_cells)) if "cells" in groups else (),
            coarse=tuple(found.cells(MOST_IN_PAIRS, CELLS_IN_PAIRS)) if "pairs" in groups else (),
            words=tuple(found.words()) if "cells" in groups else (),
        )

    def with_pairs(self, pairs: Sequence[CellOfPair]) -> Pieces:
        """The same with pairs of columns."""
        return replace(self, pairs=tuple(pairs))

    def difference(self, other: Pieces) -> str | None:
        """The first difference between two lists of pieces, in words; None if their sums can be added."""
        found = self.schema.difference(other.schema)
        if found is not None:
            return found
        for name in ("steps", "presence", "joint", "own_covariances", "n_plain", "gaps", "cells", "pairs"):
            if getattr(self, name) != getattr(other, name):
                return f"the {name} differ"
        return None

    @property
    def beside(self) -> tuple[Derived, ...]:
        """The derived columns that are summed beside the table, pairs excepted."""
        return (*self.steps, *self.presence, *self.joint)

    @cached_property
    def joint_solves(self) -> list[JointSolve]:
        """What is solved from the sums of the joint columns; each is a piece."""
        if len(self.joint) > MOST_JOINT:
            return [JointSolve(ONE_COVARIANCE[0], WIDE, len(self.joint))]
        found = []
        for n, of in ((len(self.joint), 0), (self.n_plain, 1)):
            named = [(ONE_COVARIANCE[of], SHARED)] + [(OWN_COVARIANCES[of], FULL)] * self.own_covariances
            alike = [(name, replace(one, missing="pairwise" if self.gaps else "em")) for name, one in named]
            found += [JointSolve(name, one, n) for name, one in alike if n]
        return found

    @cached_property
    def beside_schema(self) -> Schema:
        """The families of the derived columns."""
        families: list[tuple[Family, int | None]] = [
            *[(Steps(), None)] * len(self.steps),
            *[(Bernoulli(), None)] * len(self.presence),
            *[(self.joint_solves[0].family, 0) for _ in self.joint],
        ]
        columns = [Column(j, family, "", block=block) for j, (family, block) in enumerate(families)]
        return Schema(tuple(columns), named=False)

    @cached_property
    def pairs_schema(self) -> Schema:
        """The family of the pairs: each cell of the table of two columns is a level."""
        return Schema.of_one_family(
            tuple(range(len(self.pairs))), Categorical() if self.pairs else None, "", None, named=False
        )

    @property
    def schemas(self) -> tuple[Schema, Schema, Schema]:
        """The schemas of the table, of the derived columns, and of pairs."""
        return self.schema, self.beside_schema, self.pairs_schema

    def tables(self, table: Table) -> tuple[Table, Table, Table]:
        """The rows under each schema."""
        table = self.schema.read(table)
        cells = CellReader(table)
        return table, read_table(table_of(self.beside, cells)), read_table(table_of(self.pairs, cells))

    def table_of_pairs(self, table: Table) -> Table:
        """The rows under the schema of pairs."""
        return read_table(table_of(self.pairs, CellReader(self.schema.read(table))))

    @cached_property
    def of_columns(self) -> list[Codes]:
        """The columns of each piece of the table: one by one, or a joint block together."""
        found: list[Codes] = []
        everything = np.sort(
            np.concatenate([np.zeros(0, np.intp), *(f.columns for f in self.schema.factors)])
        )
        if len(everything) > MOST_APART:
            return [everything]
        for factor in self.schema.factors:
            together = factor.family.joint
            found += [factor.columns] if together else list(factor.columns[:, np.newaxis])
        return sorted(found, key=lambda columns: int(columns[0]))

    @cached_property
    def texts(self) -> Codes:
        """The places of the pieces that are a column of text."""
        texts = {j for f in self.schema.factors if f.reads == "documents" for j in f.columns.tolist()}
        found = [i for i, columns in enumerate(self.of_columns) if texts.issuperset(columns.tolist())]
        return np.array(found, dtype=np.intp)

    @cached_property
    def listed(self) -> list[Piece]:
        """Every piece that has a weight, in the order of the weights."""
        name = [str(one) for one in self.schema.names]
        everything = tuple(sorted({j for one in self.joint for j in one.columns}))
        found = [
            Piece("columns", _named([name[j] for j in columns.tolist()]), tuple(columns.tolist()))
            for columns in self.of_columns
        ]
        found += [Piece("steps", name[one.column], one.columns) for one in self.steps]
        found += [Piece("presence", name[one.column], one.columns) for one in self.presence]
        found += [Piece("joint", one.name, everything) for one in self.joint_solves]
        found += [
            Piece("pairs", " × ".join(name[j] for j in pair.columns), pair.columns) for pair in self.pairs
        ]
        return found

    def places(self, group: Group) -> Codes:
        """Where the weights of a group are."""
        return np.array([i for i, piece in enumerate(self.listed) if piece.group == group], dtype=np.intp)

    @cached_property
    def alike_groups(self) -> list[Codes]:
        """Pieces whose weights are alike before any row is seen; pairs are learnt by themselves.

        One group is that of all columns, another that of all columns with steps in place of families.
        """
        columns, steps = self.places("columns"), self.places("steps")
        twins = {one.column for one in self.steps}
        others = [i for i in columns.tolist() if not twins.intersection(self.listed[i].columns)]
        groups = [columns, self.places("presence"), *self.places("joint")[:, np.newaxis]]
        if len(steps):
            groups.append(np.array([*others, *steps.tolist()], dtype=np.intp))
        return [group for group in groups if len(group)]


def _named(names: list[str]) -> str:
    """Columns in a few words."""
    return " + ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2:,} more"


class _Columns:
    """The columns of a table, and what can be derived from each."""

    def __init__(self, schema: Schema, table: Table, weights: Array | None) -> None:
        self.schema, self.table, self.reader = schema, table, CellReader(table)
        self.weights = weights
        self.n_rows = float(table.n_rows if weights is None else weights.sum())
        families = {j: f.family for f in schema.factors for j in f.columns.tolist() if f.reads != "documents"}
        self.families = dict(sorted(families.items()))
        # Text alone may be a list of documents, which has a column for each of its families.
        texts = [f.columns.tolist() for f in schema.factors if f.reads == "documents" and self.families]
        self.documents = [j for columns in texts for j in columns]
        self.numbers = dict.fromkeys(j for j in self.families if table.kind(j) != "level")
        self._by_frequency: dict[int, tuple[Any, ...]] = {}
        """The levels of columns that were asked for, the most frequent ones first."""
        self.most_cells = int(np.clip(self.n_rows**0.5 / 2, FEWEST_CELLS, MOST_CELLS))

    def _is_levels(self, j: int) -> bool:
        """Whether a column is told apart by its levels."""
        return j not in self.numbers or self.families[j].factor == "levels"

    def steps(self) -> Iterator[Same]:
        """Columns of numbers whose family has a shape."""
        for j in self.numbers:
            family = self.families[j]
            if family.factor in ("columns", "hurdle") and not family.is_binary:
                yield Same(j)

    def presence(self) -> Iterator[There]:
        """Columns with gaps."""
        for j in self.families:
            one = There(j) if j in self.numbers else There(j, self._levels(j, MOST_LEVELS))
            if not one.values(self.reader).all():
                yield one
        for j in self.documents:
            if not self.reader.documents_there(j).all():
                yield DocumentThere(j)

    def joint(self) -> Iterator[Derived]:
        """Numbers, whether they are there, and indicators of levels; not of many columns with gaps."""
        if len(self.numbers) > MOST_JOINT and self._gone:
            return
        within = {j: one for j in self.numbers if (one := self._described[j].within) is not None}
        there = self._often_gone(list(within), MOST_JOINT - len(within))
        for j, one in within.items():
            yield one
            if j in there:
                yield There(j)
        indicators = [*self._indicators(MOST_JOINT - len(within) - len(there))]
        yield from sorted(indicators, key=self._bends)

    def _bends(self, one: Derived) -> bool:
        """Whether a column is a level of a number of more than two: then it tells more than its size."""
        return isinstance(one, Holds) and one.column in self.numbers and len(one.levels) > 2

    def n_plain(self, joint: Sequence[Derived]) -> int:
        """How many joint columns tell no more of a number than its size; 0 if all do."""
        return next((i for i, one in enumerate(joint) if self._bends(one)), 0)

    @cached_property
    def _gone(self) -> dict[int, NDArray[np.bool_]]:
        """Where the numbers with gaps are missing."""
        gone = {j: np.isnan(self.reader.numbers(j)) for j in self.numbers}
        return {j: one for j, one in gone.items() if one.any()}

    @cached_property
    def _described(self) -> dict[int, DescribedNumbers]:
        """What is known of each column of numbers."""
        return described_columns(self.reader, [*self.numbers], self._gone, self.weights)

    def _often_gone(self, columns: list[int], room: int) -> set[int]:
        """The numbers that are often missing, those with most gaps where there is not room for all."""
        rows = np.ones(self.table.n_rows) if self.weights is None else self.weights
        shares = {j: self._share(float(rows[gone].sum())) for j, gone in self._gone.items()}
        common = [j for j in columns if _is_common(shares.get(j, 0.0))]
        return set(sorted(common, key=lambda j: -shares[j])[: max(room, 0)])

    def _share(self, times: float) -> float:
        """The share of so many rows, without the rounding of weights: three thirds are a row."""
        return round(float(times / self.n_rows), DIGITS)

    def _indicators(self, room: int) -> Iterator[Holds]:
        found: list[tuple[float, Holds]] = []
        for j in self.families:
            if j in self.numbers and self._described[j].n_different > FEW:
                continue
            levels = self._levels(j, MOST_LEVELS)
            times = np.bincount(self.reader.places(j, levels), self.weights, len(levels) + 2)
            # All rows but those of the others hold the last of two levels.
            kept = len(levels) - (len(levels) == 2 and not times[2:].any())
            found += [
                (share, Holds(j, levels, i))
                for i, share in enumerate(map(self._share, times[:kept]))
                if _is_common(share)
            ]
        found.sort(key=lambda one: -one[0])
        yield from (one for _, one in found[: max(room, 0)])

    def cells(self, most_levels: int, most_cells: int) -> Iterator[CoarseCell]:
        """The levels of a column, or intervals with about as many rows each."""
        edges = self._edges([j for j in self.families if not self._is_levels(j)], most_cells)
        for j in self.families:
            if self._is_levels(j):
                levels = self._levels(j, most_levels)
                if len(levels) > 1:
                    yield CoarseCell(j, levels=levels)
                continue
            if len(edges[j]):
                yield CoarseCell(j, tuple(edges[j].tolist()))

    def _edges(self, columns: Sequence[int], n_cells: int) -> dict[int, Array]:
        """Between so many cells of each column of numbers, with about as many rows each."""
        shares, found = np.arange(1, n_cells) / n_cells, {}
        seen = {j: ~np.isnan(self.reader.numbers(j)) for j in columns}
        whole = [j for j in columns if self.weights is None and seen[j].all()]
        if whole:  # at once, since a call takes longer than the few rows of a column
            numbers = np.stack([self.reader.numbers(j) for j in whole])
            found = dict(zip(whole, np.quantile(numbers, shares, axis=1).T, strict=True))
        for j in columns:
            there = self.reader.numbers(j)[seen[j]]
            if not len(there):
                found[j] = np.zeros(0)
                continue
            if j not in found:
                weights = None if self.weights is None else self.weights[seen[j]]
                found[j] = _quantiles(there, weights, shares)
            edges = np.unique(found[j])
            found[j] = edges[(edges > there.min()) & (edges <= there.max())]
        return found

    def words(self) -> Iterator[int]:
        """Columns of text that count single words."""
        for factor in self.schema.factors:
            family = factor.family
            if isinstance(family, Words) and family.event != "bernoulli" and family.ngram_range[0] == 1:
                yield from factor.columns.tolist()

    def _levels(self, j: int, most: int) -> tuple[Any, ...]:
        """The most frequent levels of a column."""
        if j not in self._by_frequency:
            read = self.reader.levels(j)
            weights = None if self.weights is None else self.weights[read.codes >= 0]
            times = np.bincount(read.codes[read.codes >= 0], weights, len(read.values))
            order = np.argsort(-times, kind="stable")[:MOST_LEVELS].tolist()
            self._by_frequency[j] = tuple(read.values[i] for i in order)
        return self._by_frequency[j][:most]


def _is_common(share: float) -> bool:
    """Whether an indicator that is 1 in this share of rows is neither nearly always 1 nor nearly always 0."""
    return COMMON <= share <= 1.0 - COMMON


def _quantiles(numbers: Array, weights: Array | None, shares: Array) -> Array:
    """Quantiles of numbers, of which one of weight k counts as k."""
    if weights is None:
        return np.asarray(np.quantile(numbers, shares))
    order = np.argsort(numbers, kind="stable")
    ends, held = np.cumsum(weights[order]), numbers[order]
    ends = np.where(np.abs(ends - np.rint(ends)) < 1e-9 * ends, np.rint(ends), ends)
    places = shares * max(ends[-1] - 1.0, 0.0)
    below = np.floor(places)
    low, high = (
        held[np.minimum(np.searchsorted(ends, at, side="right"), len(held) - 1)]
        for at in (below, below + 1.0)
    )
    return np.asarray(low + (places - below) * (high - low))
