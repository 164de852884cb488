"""Levels that the types of columns declare and no row holds: they count in Categorical too."""

from __future__ import annotations

from dataclasses import replace

from suffice.families import Categorical
from suffice.model.columns.schema import Schema
from suffice.tables.declared import declared_levels
from suffice.tables.table import Table
from suffice.tables.wording import counted


def with_declared_levels(schema: Schema, table: Table) -> Schema:
    """The schema, in which Categorical columns have the levels that their types declare."""
    changed = {}
    for factor in schema.factors:
        family = factor.family
        if isinstance(family, Categorical) and family.levels is None:
            for j in factor.columns.tolist():
                declared = declared_levels(table, j)
                if declared and (more := len(set(declared).difference(table.levels(j).values))):
                    column = schema.columns[j]
                    reason = f"{column.reason}; {counted(more, 'more category')} declared"
                    levels = replace(family, levels=tuple(declared))
                    changed[j] = column._replace(family=levels, reason=reason)
    if not changed:
        return schema
    columns = tuple(changed.get(j, column) for j, column in enumerate(schema))
    return replace(schema, columns=columns)
