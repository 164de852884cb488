"""Weighed evidence as a file holds it: settings, derived columns, sums and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from suffice.estimators.evidence.fitted import FittedEvidence, WeighsEvidence
from suffice.estimators.evidence.fitting import Options
from suffice.estimators.evidence.learning import Learnt, Level
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.sums import PieceSums
from suffice.estimators.evidence.weighed import Weights
from suffice.estimators.settings import settings_from_fields, state_of_settings, with_kept_settings
from suffice.factors.derived import CellOfPair, CoarseCell, Derived, DocumentThere, Holds, Same, There, Within
from suffice.families import Words
from suffice.model.columns.schema import Schema
from suffice.model.priors import PriorShift
from suffice.model.statistics import Statistics
from suffice.storage import Fields, SufficeFileError
from suffice.storage.fields import Scalars
from suffice.storage.labels import labels_from_fields, state_of_labels
from suffice.tables.container_words import container_from_fields, state_of_container

Levels = list[tuple[Any, ...]]
"""The levels that derived columns tell apart, each once."""
OF_A_COLUMN: dict[type[Derived], str] = {Same: "same", DocumentThere: "document"}
"""Derived columns that only their column tells apart."""


def state_of_pieces(pieces: Pieces) -> dict[str, Any]:
    """The derived columns of all pieces; the schema is that of the sums."""
    levels: Levels = []

    def listed(columns: Sequence[Derived]) -> list[dict[str, Any]]:
        return [_state(column, levels) for column in columns]

    state = {
        "steps": listed(pieces.steps),
        "presence": listed(pieces.presence),
        "joint": listed(pieces.joint),
        "own_covariances": pieces.own_covariances,
        "n_plain": pieces.n_plain,
        "gaps": pieces.gaps,
        "cells": listed(pieces.cells),
        "coarse": listed(pieces.coarse),
        "pairs": listed(pieces.pairs),
        "words": [{"column": column} for column in pieces.words],
    }
    return state | {"levels": [{"values": Scalars(list(values))} for values in levels]}


def _state(column: Derived, levels: Levels) -> dict[str, Any]:
    def place(values: tuple[Any, ...] | None) -> int:
        if values is None:
            return -1
        if values not in levels:
            levels.append(values)
        return levels.index(values)

    if type(column) in OF_A_COLUMN:
        return {"kind": OF_A_COLUMN[type(column)], "column": column.columns[0]}
    if isinstance(column, Within):
        bounds = np.array([column.low, column.high])
        return {"kind": "within", "column": column.column, "bounds": bounds}
    if isinstance(column, There):
        return {"kind": "there", "column": column.column, "levels": place(column.levels)}
    if isinstance(column, Holds):
        held = place(column.levels)
        return {"kind": "holds", "column": column.column, "levels": held, "place": column.place}
    if isinstance(column, CoarseCell):
        edges, own = np.array(column.edges, dtype=np.float64), place(column.levels or None)
        return {"kind": "cell", "column": column.column, "levels": own, "edges": edges}
    if isinstance(column, CellOfPair):
        return {
            "kind": "pair",
            "first": _state(column.first, levels),
            "second": _state(column.second, levels),
        }
    raise TypeError(f"a file cannot hold a {type(column).__name__}.")


def pieces_from_fields(fields: Fields, schema: Schema) -> Pieces:
    """The pieces from their state; `SufficeFileError` if it is not valid."""
    levels: Levels = [tuple(one.scalars("values")) for one in fields.branches("levels")]
    for at, values in enumerate(levels):
        fields.distinct(f"levels.{at}", list(values))
    texts = {j for at in schema.factors if isinstance(at.family, Words) for j in at.columns.tolist()}
    read = _Reader(len(schema), levels, texts)

    def listed(name: str, of: Callable[[Fields], Any]) -> tuple[Any, ...]:
        return tuple(of(one) for one in fields.branches(name))

    words = [read.column(one) for one in fields.branches("words")] if "words" in fields else []
    if not texts.issuperset(words) or len(set(words)) < len(words):
        raise fields.error("words", "must be columns of text.")
    joint = listed("joint", read.joint)
    return Pieces(
        schema,
        listed("steps", read.same),
        listed("presence", read.there),
        joint,
        fields.flag("own_covariances"),
        fields.integer("n_plain", 0, len(joint)) if "n_plain" in fields else 0,
        fields.flag("gaps"),
        listed("cells", read.cell),
        listed("coarse", read.cell),
        listed("pairs", read.pair),
        tuple(words),
    )


class _Reader:
    """Reads derived columns, and refuses what no model has."""

    def __init__(self, n_columns: int, levels: Levels, texts: set[int]) -> None:
        self.n_columns, self.levels, self.texts = n_columns, levels, texts

    def column(self, fields: Fields) -> int:
        """The place of a column."""
        return fields.integer("column", 0, self.n_columns - 1)

    def _levels(self, fields: Fields) -> tuple[Any, ...] | None:
        at = fields.integer("levels", -1, len(self.levels) - 1)
        return None if at < 0 else self.levels[at]

    def _require(self, fields: Fields, *kinds: str) -> str:
        kind = fields.text("kind")
        if kind not in kinds:
            raise fields.error("kind", f"must be one of {', '.join(kinds)}.")
        return kind

    def same(self, fields: Fields) -> Same:
        """The same number."""
        self._require(fields, "same")
        return Same(self.column(fields))

    def there(self, fields: Fields) -> There:
        """Whether a cell is there."""
        if self._require(fields, "there", "document") == "document":
            if self.column(fields) not in self.texts:
                raise fields.error("column", "must be a column of text.")
            return DocumentThere(self.column(fields))
        return There(self.column(fields), self._levels(fields))

    def joint(self, fields: Fields) -> Derived:
        """A column of the joint Gaussian."""
        kind = self._require(fields, "within", "there", "holds")
        if kind == "there":
            return self.there(fields)
        if kind == "within":
            low, high = fields.array("bounds", np.float64, (2,)).tolist()
            if low > high:
                raise fields.error("bounds", "must be in order.")
            return Within(self.column(fields), low, high)
        levels = self._levels(fields)
        if not levels:
            raise fields.error("levels", "must be those of a column.")
        return Holds(self.column(fields), levels, fields.integer("place", 0, len(levels) - 1))

    def cell(self, fields: Fields) -> CoarseCell:
        """The cells of a column."""
        self._require(fields, "cell")
        edges, levels = fields.array("edges", np.float64, (None,)), self._levels(fields)
        if (np.diff(edges) <= 0).any() or bool(levels) == bool(len(edges)):
            raise fields.error("edges", "must rise, and be there where there are no levels.")
        return CoarseCell(self.column(fields), tuple(edges.tolist()), levels or ())

    def pair(self, fields: Fields) -> CellOfPair:
        """The cells of two columns."""
        self._require(fields, "pair")
        return CellOfPair(self.cell(fields.branch("first")), self.cell(fields.branch("second")))


class SavedEvidence(WeighsEvidence):
    """Saving and loading."""

    pieces: Any

    def _options(self) -> Options:
        """The settings, checked."""
        raise NotImplementedError

    @with_kept_settings
    def _to_fields(self) -> dict[str, Any]:
        """Everything the model is, as a file holds it: settings, sums and weights."""
        self._require_fitted()
        learnt = self._learnt
        base, beside, pairs = learnt.sums.statistics()
        settings = self.get_params(deep=False) | (
            {"pieces": "given"} if isinstance(self.pieces, Pieces) else {}
        )
        shift = {} if learnt.shift is None else {"shift": learnt.shift._to_fields()}
        return {
            "settings": state_of_settings(settings),
            "n_features_in": hasattr(self, "n_features_in_"),
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "container": [] if learnt.container is None else [state_of_container(learnt.container)],
            "pieces": state_of_pieces(learnt.sums.pieces),
            "statistics": base._to_fields(),
            "beside": beside._to_fields(),
            "pairs": pairs._to_fields(),
            "weights": learnt.learnt.weights._to_fields(),
            "classes": state_of_labels(learnt.classes),
            "nats": learnt.learnt.nats,
            "partly": learnt.partly,
            "levels": [vars(level) for level in learnt.learnt.levels],
            **shift,
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Restore a model from a file."""
        model = cls(**settings_from_fields(cls._get_param_names(), fields.branch("settings")))
        base = Statistics._from_fields(fields.branch("statistics"))
        pieces = pieces_from_fields(fields.branch("pieces"), base.schema)
        beside = Statistics._from_fields(fields.branch("beside"))
        parts = base, beside, Statistics._from_fields(fields.branch("pairs"))
        for part, schema in zip(parts, pieces.schemas, strict=True):
            if part.schema.difference(schema) is not None or part.schema != schema:
                raise SufficeFileError("the file is damaged: its sums are not those of its pieces.")
        if model.pieces == "given":
            model.pieces = pieces
        classes = labels_from_fields(fields.branch("classes"))
        container = fields.branches("container")
        weights = Weights._from_fields(fields.branch("weights"), pieces, len(classes))
        levels = [
            Level(one.text("name"), one.number("loss"), one.number("share"))
            for one in fields.branches("levels")
        ]
        nats = fields.array("nats", np.float64, (None,))
        if len(nats) not in (0, len(pieces.listed) + len(pieces.cells) + len(weights.words)):
            raise fields.error("nats", "must have one number for each piece.")
        model._learnt = FittedEvidence(
            PieceSums.of(pieces, parts),
            Learnt(weights, np.zeros((0, len(classes))), levels, nats=nats),
            classes,
            container_from_fields(container[0], len(base.schema)) if container else None,
            "partly" in fields and fields.flag("partly"),
        )
        model._keep_settings()
        if fields.flag("n_features_in"):
            model.n_features_in_ = len(base.schema)
        model._load_names(fields, base.schema.names if base.schema.named else None)
        try:
            with np.errstate(all="ignore"):  # sums of a damaged file may overflow
                model._options()
                known = model._solved_model().classes
                if "shift" in fields:
                    model._learnt.shift = PriorShift._from_fields(fields.branch("shift"), known)
        except SufficeFileError:
            raise
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            raise SufficeFileError(f"the file does not hold a valid {cls.__name__}: {error}") from error
        return model
