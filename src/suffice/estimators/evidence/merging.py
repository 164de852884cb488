"""Models that were fitted apart: what one of them has summed of the pieces of the other.

Models of the same columns may have chosen other families and pieces. What both have summed is added. Any
other column or derived column is missing in the rows of the other model: its sums are those of the rows that
have it, as with any other gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from suffice.estimators.evidence.pieces import MOST_JOINT, Pieces
from suffice.estimators.evidence.sums import Parts, PieceSums
from suffice.factors import KINDS, Totals
from suffice.factors.derived import Derived, Holds, There, Within
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.model.columns.column import Column
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Statistics
from suffice.tables.notations import Notation, differently_read
from suffice.tables.wording import quoted


def merged_sums(pieces: Pieces, parts: Parts, others: Pieces, added: Parts, sign: int = 1) -> PieceSums:
    """The sums of the pieces of one model, with what another one has summed of them."""
    summed = {_meaning(column) for column in others.joint}
    kept = [_meaning(column) in summed for column in pieces.joint]
    joint, n_plain = tuple(compress(pieces.joint, kept)), sum(kept[: pieces.n_plain])
    fresh = set(added[0].classes.tolist()) - set(parts[0].classes.tolist())
    if fresh and not all(now for now, before in ((joint, pieces.joint), (n_plain, pieces.n_plain)) if before):
        raise ValueError(
            f"class {quoted(min(fresh, key=str))} is in one of them only, which has no sums for the joint "
            "Gaussian of the other; merge models of weighed evidence, or fit again to all rows."
        )
    # A Gaussian of a class needs its rows in every column.
    wanted = replace(pieces, joint=joint, n_plain=n_plain) if fresh else pieces
    same = [_meaning(column) for column in wanted.joint] == [_meaning(column) for column in others.joint]
    if 0 < len(wanted.joint) <= MOST_JOINT and (pieces.gaps or others.gaps or not same):
        wanted = replace(wanted, gaps=True)
    sums = PieceSums.of(wanted, of_pieces(wanted, pieces, parts))
    sums.add(of_pieces(wanted, others, added), sign)
    return sums


def of_pieces(pieces: Pieces, others: Pieces, parts: Parts) -> Parts:
    """Sums as those of other pieces; what was not summed is missing."""
    base, beside, pairs = parts
    odd = odd_columns(pieces.schema, others.schema)
    waiting = tuple(
        Column(one.name, None, one.reason, undecided=True) if j in odd else one
        for j, one in enumerate(base.schema.columns)
    )
    known = Schema(waiting, base.schema.named, marks=base.schema.marks) if odd else base.schema
    read = [differently_read(*both) is None for both in _notations(pieces.schema, others.schema)]
    return (
        base.with_schema(known).with_schema(pieces.schema),
        _arranged(pieces.beside_schema, pieces.beside, beside, others.beside, read),
        _arranged(pieces.pairs_schema, pieces.pairs, pairs, others.pairs, read),
    )


def odd_columns(one: Schema, other: Schema) -> set[int]:
    """The columns whose sums under two schemas cannot be added; columns of a block go together."""
    odd = {
        j
        for j, (mine, theirs) in enumerate(zip(one.columns, other.columns, strict=True))
        if not (mine.undecided or theirs.undecided) and mine.summed != theirs.summed
    }
    odd |= {j for j, both in enumerate(_notations(one, other)) if differently_read(*both) is not None}
    blocks = [set(f.columns.tolist()) for f in (*one.factors, *other.factors) if f.family.joint]
    for _ in blocks:
        odd = odd.union(*(block for block in blocks if block & odd))
    return odd


def _notations(one: Schema, other: Schema) -> Iterator[tuple[Notation | None, Notation | None]]:
    """How both read each column."""
    return ((mine.notation, theirs.notation) for mine, theirs in zip(one.columns, other.columns, strict=True))


def alone(base: Statistics) -> Parts:
    """The sums of columns, without any that are derived."""
    beside, pairs = (_arranged(one, (), base, (), ()) for one in Pieces(base.schema).schemas[1:])
    return base, beside, pairs


def _arranged(
    schema: Schema,
    wanted: Sequence[Derived],
    held: Statistics,
    derived: Sequence[Derived],
    read: Sequence[bool],
) -> Statistics:
    """Sums of derived columns under another list of them; `read` says which columns are read alike."""
    everyone = np.arange(len(held.classes))
    found: list[Totals] = []
    for factor in schema.factors:
        totals = KINDS[factor.family.factor].totals.empty(factor.family, len(factor.columns))
        totals = totals.take_classes(np.full(len(everyone), -1))
        for source, part in zip(held.schema.factors, held.totals, strict=True):
            if source.family.factor != factor.family.factor:
                continue
            places = {
                _meaning(derived[column]): j
                for j, column in enumerate(source.columns.tolist())
                if all(read[one] for one in derived[column].columns)
            }
            index = np.array([places.get(_meaning(wanted[column]), -1) for column in factor.columns.tolist()])
            if not isinstance(part, GaussianTotals):
                totals.add(part.take_columns(index), 1)
            elif factor.family == source.family and np.array_equal(index, np.arange(part.n_columns)):
                totals = part.take_classes(everyone)
            elif len(index) <= MOST_JOINT:
                totals = part.by_pairs(index)
        found.append(totals)
    return Statistics(schema, held.classes, held.weight, held.support, tuple(found))


def _meaning(column: Derived) -> Any:
    """What a derived column says of a row, up to where numbers far out are cut off."""
    if isinstance(column, (There, Within)):
        return type(column), column.columns
    if isinstance(column, Holds):
        level = column.levels[column.place]
        return Holds, column.columns, type(level), level
    return column
