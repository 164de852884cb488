"""Sums that models of different columns or families share: what each of them needs is summed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from suffice.arrays import Codes
from suffice.factors import KINDS, Totals
from suffice.families import Family
from suffice.model.columns.column import Column, Factor
from suffice.model.columns.schema import Schema
from suffice.tables.notations import Notation

Summed = tuple[Schema, Sequence[Totals]]
"""A schema, and the sums of each of its factors."""


def only_columns(schema: Schema, kept: Iterable[int]) -> Schema:
    """The same schema, with all but some of its columns left out.

    What held-out rows said of all of them together says nothing of fewer.
    """
    inside = set(kept)
    columns = tuple(
        c if j in inside else Column(c.name, None, "left out by columns=") for j, c in enumerate(schema)
    )
    if all(j in inside for factor in schema.factors for j in factor.columns.tolist()):
        return replace(schema, columns=columns)
    return Schema(columns, schema.named, marks=schema.marks)


def share_a_pass(schemas: Sequence[Schema]) -> bool:
    """Whether all that these schemas need is summed in one pass over the rows.

    In each pass, what text stands for is read in one way, and documents are split in one way: the sums of all
    their terms may take much memory.
    """
    for j in set[int]().union(*(schema.notations for schema in schemas)):
        used = (column for schema in schemas if (column := schema.columns[j]).family is not None)
        if len({column.notation for column in used}) > 1:
            return False
    terms: dict[int, object] = {}
    for schema in schemas:
        for factor in schema.factors:
            if factor.family.factor == "words":
                settings = [one for one in factor.family.summed[1] if one[0] not in ("tf", "length")]
                if any(terms.setdefault(j, settings) != settings for j in factor.columns.tolist()):
                    return False
    return True


def need_same_sums(one: Schema, other: Schema) -> bool:
    """Whether the sums of the same rows under these schemas are the same, up to settings for solving."""
    if one is other or one == other:
        return True
    if one.is_undecided or other.is_undecided or one.notations != other.notations:
        return False
    return one.difference(other) is None


def layers_of(schemas: Sequence[Schema]) -> list[Schema]:
    """Schemas, as few as may be, whose sums are all that these schemas need.

    A layer has one family for each column, so another family of the column is in another layer.
    """
    first = schemas[0]
    if all(need_same_sums(first, schema) for schema in schemas):
        return [first]
    notations = {j: notation for schema in schemas for j, notation in schema.notations.items()}
    layers: list[_Layer] = []
    for need in _needs(schemas):
        left = need.columns
        for at in range(len(layers) + 1):
            if at == len(layers):
                layers.append(_Layer())
            left = layers[at].take(Factor(need.family, left))
            if not len(left):
                break
    return [layer.schema(first, notations) for layer in layers]


def _needs(schemas: Sequence[Schema]) -> list[Factor]:
    """What is summed: each column once for all families that need the same sums, and each joint block.

    A block is not needed where it can be taken from a larger one.
    """
    columns: dict[object, tuple[Family, set[int]]] = {}
    blocks: list[Factor] = []
    factors = [factor for schema in schemas for factor in schema.factors]
    for factor in sorted(factors, key=lambda one: -len(one.columns)):
        if not factor.family.joint:
            columns.setdefault(factor.family.summed, (factor.family, set()))[1].update(
                factor.columns.tolist()
            )
        elif not any(_places(factor, block) is not None for block in blocks):
            blocks.append(factor)
    singly = [Factor(family, np.array(sorted(held), dtype=np.intp)) for family, held in columns.values()]
    return [*blocks, *singly]


@dataclass
class _Layer:
    """The families that one layer has for some of the columns."""

    families: dict[int, tuple[Family, int | None]] = field(default_factory=dict)

    def take(self, need: Factor) -> Codes:
        """Make room for a factor, and return its columns that have to go elsewhere."""
        taken = np.array([j in self.families for j in need.columns.tolist()], dtype=np.bool_)
        if need.family.joint and taken.any():
            return need.columns
        block = int(need.columns[0]) if need.family.joint else None
        self.families |= dict.fromkeys(need.columns[~taken].tolist(), (need.family, block))
        return need.columns[taken]

    def schema(self, like: Schema, notations: Mapping[int, Notation]) -> Schema:
        """The schema of the layer, with the names of another, and the notations of its own columns."""
        columns = []
        for j, name in enumerate(like.names):
            family, block = self.families.get(j, (None, None))
            notation = notations.get(j) if j in self.families else None
            columns.append(Column(name, family, "", block=block, notation=notation))
        return Schema(tuple(columns), like.named, marks=like.marks)


def arranged(parts: Sequence[Summed], schema: Schema, n_classes: int) -> list[Totals]:
    """The sums of a schema, taken from those of schemas that have what it needs."""
    totals = []
    for factor in schema.factors:
        empty = KINDS[factor.family.factor].totals.empty(factor.family, len(factor.columns))
        sums = empty.take_classes(np.full(n_classes, -1))
        found = np.zeros(len(factor.columns), dtype=np.bool_)
        for source, held in ((f, t) for part in parts for f, t in zip(part[0].factors, part[1], strict=True)):
            index = _places(factor, source)
            if index is not None and not found.all():
                sums.add(held.with_family(factor.family).take_columns(index), 1)
                found |= index >= 0
        for j in factor.columns[~found].tolist():
            if not any(part.columns[j].undecided for part, _ in parts):  # one that is has no sums yet
                raise ValueError(
                    f"{schema.labels[j]} was not summed as {factor.family} needs; summarize the rows again."
                )
        totals.append(sums)
    return totals


def _places(factor: Factor, source: Factor) -> Codes | None:
    """Where the columns of a factor are among those of another, −1 if nowhere; None if it takes none.

    A joint factor is taken from one that has all its columns, or not at all.
    """
    if factor.family.summed != source.family.summed:
        return None
    places = np.minimum(np.searchsorted(source.columns, factor.columns), len(source.columns) - 1)
    held = source.columns[places] == factor.columns
    if factor.family.joint:
        whole = len(factor.columns) == len(source.columns)
        divisible = KINDS[factor.family.factor].totals.divisible
        return places if held.all() and (whole or divisible) else None
    return np.where(held, places, -1) if held.any() else None
