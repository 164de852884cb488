"""Terms that differ only in their column and their numbers, so that one tensor operation computes many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.export.expressions import Apply, Cell, Clip, Expression, Linear, Missing, Number, Where, nodes

ELEMENTWISE = (Number, Cell, Missing, Apply, Clip, Where, Linear)
"""The nodes that are computed alike for many columns at once."""


def alike(terms: Sequence[Expression]) -> list[list[int]]:
    """The places of terms, those of one form together; a term of no such form is alone."""
    groups: dict[Any, list[int]] = {}
    for place, term in enumerate(terms):
        form = form_of(term)
        groups.setdefault(place if form is None else form, []).append(place)
    return list(groups.values())


def form_of(term: Expression) -> tuple[Any, ...] | None:
    """What a term is apart from its column and its numbers; None if it does not read one column of numbers.

    Nodes are named by their place, so that terms of one form share the same nodes.
    """
    places: dict[int, int] = {}
    columns: set[int] = set()
    form = []
    for node in nodes(term):
        if not isinstance(node, ELEMENTWISE):
            return None
        if isinstance(node, (Cell, Missing)):
            columns.add(node.column)
        own = node.function if isinstance(node, Apply) else node.is_vector
        form.append((type(node), own, tuple(places[id(part)] for part in node.parts)))
        places[id(node)] = len(places)
    return tuple(form) if len(columns) == 1 else None
