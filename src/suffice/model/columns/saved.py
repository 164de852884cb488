"""A schema as a file holds it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from suffice.factors import KINDS
from suffice.families import Family
from suffice.model.columns.column import Column, notations_from_fields, state_of_notations
from suffice.model.columns.schema import Schema
from suffice.model.mean_posteriors import HeldOutPosteriors
from suffice.storage import Fields, Scalars, Setting
from suffice.tables.notations import Marks, checked_marks
from suffice.tables.wording import quoted


def state_of_schema(schema: Schema) -> dict[str, Any]:
    """The columns, as a file holds them: what many share is written once."""
    families = list(dict.fromkeys(column.family for column in schema.columns))
    reasons = list(dict.fromkeys(column.reason for column in schema.columns))
    number = {family: i for i, family in enumerate(families)}
    why = {reason: i for i, reason in enumerate(reasons)}
    blocks = [-1 if column.block is None else column.block for column in schema.columns]
    state = {
        "named": schema.named,
        "families": Setting(families),
        "reasons": Setting(reasons),
        "family": np.array([number[column.family] for column in schema.columns], dtype=np.int32),
        "reason": np.array([why[column.reason] for column in schema.columns], dtype=np.int32),
        "undecided": np.array([column.undecided for column in schema.columns], dtype=np.bool),
        "block": np.array(blocks, dtype=np.int32),
        **state_of_notations(schema.columns),
        **({} if schema.evidence_weight == 1.0 else {"evidence_weight": schema.evidence_weight}),
        **({} if schema.marks.chosen is None else {"marks": Setting(list(schema.marks.chosen))}),
        **({} if schema.nats is None else {"nats": schema.nats}),
        **({} if schema.held_out is None else {"held_out": schema.held_out._to_fields()}),
    }
    if not schema.named:
        return state
    plain = all(type(name) in (str, int, float, bool) for name in schema.names)
    return state | {"names": Scalars(list(schema.names)) if plain else Setting(list(schema.names))}


def schema_from_fields(fields: Fields) -> Schema:
    """Restore a schema from a file."""
    families, reasons = fields.setting("families"), fields.setting("reasons")
    if not (isinstance(families, list) and all(f is None or isinstance(f, Family) for f in families)):
        raise fields.error("families", "must be a list of families.")
    if not (isinstance(reasons, list) and all(isinstance(reason, str) for reason in reasons)):
        raise fields.error("reasons", "must be a list of strings.")
    family = fields.array("family", np.int32, (None,))
    reason = fields.array("reason", np.int32, family.shape)
    undecided = fields.array("undecided", np.bool, family.shape).tolist()
    block = fields.array("block", np.int32, family.shape)
    for name, numbers, most in (("family", family, len(families)), ("reason", reason, len(reasons))):
        if ((numbers < 0) | (numbers >= most)).any():
            raise fields.error(name, "refers to something that does not exist.")
    named = fields.flag("named")
    names = _names(fields, len(family)) if named else list(range(len(family)))
    written, nats = notations_from_fields(fields, len(family)), _nats(fields, len(family))
    columns = tuple(
        Column(
            names[j],
            families[f],
            reasons[reason[j]],
            undecided[j],
            int(b) if b >= 0 else None,
            written[j],
            nats[j],
        )
        for j, (f, b) in enumerate(zip(family.tolist(), block.tolist(), strict=True))
    )
    for column in columns:
        if column.family is None:
            continue
        if column.undecided or column.family.joint != (column.block is not None):
            raise fields.error("block", f"does not match {column.family} of column {quoted(column.name)}.")
    for one in families:
        _check_summed(fields, one)
    held_out = HeldOutPosteriors._from_fields(fields.branch("held_out")) if "held_out" in fields else None
    return Schema(columns, named, _evidence_weight(fields), held_out, _marks(fields))


def _nats(fields: Fields, n_columns: int) -> list[Any]:
    """What each column added to held-out rows; None where that was not asked."""
    if not fields.has_array("nats"):
        return [None] * n_columns
    return list(fields.array("nats", np.float64, (n_columns,)).tolist())


def _marks(fields: Fields) -> Marks:
    marks = fields.setting("marks") if "marks" in fields else None
    if not (marks is None or (isinstance(marks, list) and all(isinstance(mark, str) for mark in marks))):
        raise fields.error("marks", "must be a list of strings.")
    return checked_marks(marks)


def _evidence_weight(fields: Fields) -> float:
    weight = fields.number("evidence_weight") if "evidence_weight" in fields else 1.0
    if not 0 < weight < math.inf:
        raise fields.error("evidence_weight", "must be positive and finite.")
    return weight


def _check_summed(fields: Fields, family: Family | None) -> None:
    """Refuse a family that no kind of factor can add up."""
    try:
        if family is not None:
            KINDS[family.factor].totals.empty(family, 1)
    except (KeyError, TypeError, ValueError) as error:
        raise fields.error("families", f"has {family}, which cannot be summed: {error}") from error


def _names(fields: Fields, n_columns: int) -> list[Hashable]:
    names = fields.setting("names") if "names" in fields else fields.scalars("names", n_columns)
    if not isinstance(names, list) or len(names) != n_columns:
        raise fields.error("names", f"must hold {n_columns} names.")
    return fields.distinct("names", names)
