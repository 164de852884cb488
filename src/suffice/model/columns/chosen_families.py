"""What the user says about the families of the columns, and which columns are used."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from suffice.families import ALIASES, FAMILIES, Family, family_named
from suffice.model.columns.column import AlikeColumns, Column
from suffice.model.columns.schema import Schema
from suffice.tables.wording import did_you_mean, listed, quoted, there_are

FamilySpec = Family | str | None
AllFamilies = FamilySpec | Mapping[Any, FamilySpec] | Schema


@dataclass(frozen=True)
class OnlyColumns:
    """Families of some columns, by name or position; all others are left out."""

    columns: tuple[Hashable, ...]
    families: AllFamilies
    mask_length: int | None = None
    """The number of entries of the mask that gave these positions, if they were given by one."""

    @classmethod
    def of(cls, columns: Any, families: AllFamilies) -> OnlyColumns:
        """Read a list or an array of columns, or a mask."""
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise TypeError(f"columns= must be None, a list of columns or a mask, got {columns!r}.")
        given = tuple(columns.tolist() if hasattr(columns, "tolist") else columns)
        truths = sum(isinstance(one, (bool, np.bool_)) for one in given)
        if not truths:
            return cls(given, families)
        if truths < len(given):
            raise TypeError(
                "columns= mixes True or False with other values; pass names, positions, or a mask with one "
                f"True or False for each column, got {list(given)}."
            )
        return cls(tuple(j for j, used in enumerate(given) if used), families, len(given))

    def positions(self, names: tuple[Hashable, ...]) -> list[int]:
        """Where these columns are among others."""
        if self.mask_length not in (None, len(names)):
            raise ValueError(
                f"columns= is a mask of length {self.mask_length}, but {there_are(len(names), 'column')}; a "
                "mask has one True or False for each column."
            )
        known = names if self.mask_length is None else range(len(names))
        places = {name: position for position, name in enumerate(known)}
        found = [position_of(column, places, "columns=") for column in self.columns]
        if not found or len(set(found)) < len(found):
            raise ValueError(f"columns= must name some columns, each once, got {list(self.columns)}.")
        return found


@dataclass(frozen=True)
class Smoothed:
    """Families, of which those that nobody chose have this alpha."""

    families: AllFamilies | OnlyColumns
    alpha: float

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha must be None or a finite number ≥ 0, got {self.alpha!r}.")

    def on(self, schema: Schema) -> Schema:
        """The schema with this alpha in the families that inference chose."""
        columns = schema.columns
        if isinstance(columns, AlikeColumns):
            one = self._column(columns[0]) if len(columns) else None
            if one is None or one.family == columns.family:
                return schema
            return replace(schema, columns=replace(columns, family=one.family), held_out=None)
        smoothed = tuple(map(self._column, columns))
        return schema if smoothed == columns else replace(schema, columns=smoothed, held_out=None)

    def _column(self, column: Column) -> Column:
        if column.is_chosen or column.family is None or column.family.alpha == self.alpha:
            return column
        return column._replace(family=replace(column.family, alpha=self.alpha))


Families = AllFamilies | OnlyColumns | Smoothed


def families_of_columns(
    families: AllFamilies, columns: Sequence[int], names: Sequence[Hashable], *, named: bool
) -> Any:
    """The families of a table of some of the columns, which have names or else new positions."""
    if isinstance(families, Schema):
        return replace(families, columns=tuple(families.columns[j] for j in columns))
    if not isinstance(families, Mapping):
        return families
    given = given_families(families, tuple(names))
    singly: dict[Any, FamilySpec] = {}
    blocks: dict[int, tuple[tuple[Any, ...], FamilySpec]] = {}
    for place, j in enumerate(columns):
        family, block = given.get(j, (None, None))
        key = names[j] if named else place
        if block is not None:
            blocks[block] = (*blocks.get(block, ((), None))[0], key), family
        elif j in given:
            singly[key] = family
    return singly | dict(blocks.values())


def family_from(spec: FamilySpec | type[Family]) -> Family | None:
    """A family from an instance, a class, a name such as "poisson" or "counts", or None for no family."""
    if spec is None or isinstance(spec, Family):
        return spec
    family = family_named(spec) if isinstance(spec, str) else spec
    if isinstance(family, type) and issubclass(family, Family):
        try:
            return family()
        except TypeError:
            name, given = family.__name__, repr(spec) if isinstance(spec, str) else family.__name__
            raise ValueError(f"{name} needs a parameter: write {name}(…) instead of {given}.") from None
    near = did_you_mean(spec, [*map(str.lower, FAMILIES), *ALIASES])
    hint = f" {near} Otherwise" if near else ""
    raise ValueError(
        f"{spec!r} is not a family;{hint} choose one of {', '.join(FAMILIES)}, or None to leave a column out."
    )


def one_for_all(
    families: FamilySpec | Mapping[Any, FamilySpec],
) -> tuple[Family | None, int | None] | None:
    """The family and block number of all columns, if the user chose one for all."""
    if isinstance(families, Mapping) or (isinstance(families, str) and families == "infer"):
        return None
    if families is None:
        raise ValueError("families must be 'infer', a family, a dict or a schema, got None.")
    family = family_from(families)
    return family, 0 if family is not None and family.joint else None


def given_families(
    families: FamilySpec | Mapping[Any, FamilySpec], names: tuple[Hashable, ...]
) -> dict[int, tuple[Family | None, int | None]]:
    """What the user chose, by position: (family, block number)."""
    alike = one_for_all(families)
    if alike is not None:
        return dict.fromkeys(range(len(names)), alike)
    if not isinstance(families, Mapping):
        return {}
    places = {name: position for position, name in enumerate(names)}
    chosen: dict[int, tuple[Family | None, int | None]] = {}
    for number, (key, spec) in enumerate(families.items()):
        family = family_from(spec)
        keys = key if isinstance(key, tuple) and key not in places else (key,)
        block = number if family is not None and family.joint else None
        for one in keys:
            position = position_of(one, places)
            if position in chosen:
                raise ValueError(f"families= lists column {quoted(names[position])} twice.")
            chosen[position] = (family, block)
    return chosen


def position_of(key: Hashable, places: dict[Hashable, int], setting: str = "families=") -> int:
    """A column's position from its name, or from a position."""
    if key in places:
        return places[key]
    if isinstance(key, int) and -len(places) <= key < len(places):
        return key % len(places)
    near = did_you_mean(key, places)
    raise ValueError(
        f"{setting} names the column {quoted(key)}, but the columns are {listed(places)}"
        f"{f'; {near}' if near else '.'}"
    )
