"""The settings of weighed evidence, checked when a model is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from suffice.estimators.evidence.fitting import Options
from suffice.estimators.evidence.learning import PENALTIES
from suffice.estimators.evidence.pieces import GROUPS, Group, Pieces
from suffice.model.columns.chosen_families import AllFamilies
from suffice.model.columns.schema import Schema
from suffice.tables.table import Table
from suffice.tables.wording import did_you_mean, listed, nearest

LARGEST_PENALTY = 1e6
"""Here all weights of a kind are equal up to rounding, and beyond only rounding grows."""
MOST_FOLDS = 20
"""Evidence is held out for every pair of folds: time and memory grow with the square of their number."""


def checked_options(pieces: Any, penalty: Any, pairs: Any, cv: Any, *, nonnegative: Any) -> Options:
    """What is weighed and how, or an error in words."""
    return Options(
        _checked_groups(pieces),
        PENALTIES if penalty is None else (_penalty(penalty),),
        _whole(pairs, "pairs", 0),
        _folds(cv),
        nonnegative=_boolean(nonnegative, "nonnegative"),
    )


def chosen_families(families: AllFamilies, pieces: Any) -> AllFamilies:
    """What decides the family of each column: the pieces, if they are given."""
    if not isinstance(pieces, Pieces):
        return families
    is_inferred = isinstance(families, str) and families == "infer"
    is_same = isinstance(families, Schema) and pieces.schema.difference(families) is None
    if not is_inferred and not is_same:
        raise ValueError(
            "families= and pieces= both choose a family for each column, and differ; leave families= out, or "
            "fit without pieces= to choose other families."
        )
    return pieces.schema


def _checked_groups(pieces: Any) -> tuple[Group, ...]:
    """The kinds of evidence that a setting names."""
    if isinstance(pieces, Pieces) or (isinstance(pieces, str) and pieces in ("all", "given")):
        return GROUPS
    if isinstance(pieces, str) or not isinstance(pieces, Iterable):
        near = nearest(pieces, GROUPS)
        cure = "" if near is None else f"; pass a list, pieces=[{near!r}]"
        raise TypeError(f"pieces must be 'all' or a list of {listed(list(GROUPS))}, got {pieces!r}{cure}.")
    named = list(pieces)
    unknown = [one for one in named if one not in GROUPS]
    if unknown:
        asked = did_you_mean(unknown[0], GROUPS)
        cure = f"; {asked}" if asked else "."
        raise ValueError(f"pieces must be one or more of {listed(list(GROUPS))}, got {unknown[0]!r}{cure}")
    return tuple(group for group in GROUPS if group in named)


def require_dense(table: Table, pieces: Any) -> None:
    """Refuse to leave out kinds of evidence that were named: of sparse rows there are columns only."""
    if table.sparse is None or isinstance(pieces, (str, Pieces)):
        return
    beside = [group for group in pieces if group != "columns"]
    if beside:
        raise ValueError(
            f"pieces= names {listed(beside, brackets=False)}, which would read every zero of a sparse "
            "matrix; pass X.toarray(), or pieces=['columns']."
        )


def _boolean(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}.")  # noqa: TRY004, as below
    return bool(value)


def _penalty(value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not float(value) > 0.0:
        raise ValueError(f"penalty must be a positive number or None, got {value!r}.")
    if float(value) > LARGEST_PENALTY:
        raise ValueError(
            f"penalty must be at most {LARGEST_PENALTY:,.0f}, which makes all weights of a kind equal, got "
            f"{value!r}."
        )
    return float(value)


def _folds(value: Any) -> int:
    folds = _whole(value, "cv", 2)
    if folds > MOST_FOLDS:
        raise ValueError(
            f"cv must be at most {MOST_FOLDS}, since evidence is held out for every pair of folds, got "
            f"{value!r}."
        )
    return folds


def _whole(value: Any, name: str, least: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not is_whole or int(value) < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}.")
    return int(value)
