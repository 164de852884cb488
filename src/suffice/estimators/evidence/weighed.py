"""The scores of weighed evidence: a_k(x) = b_k + Σ_f w_f · log p_f(x | C_k) + Σ_j δ_jk(x_j)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.sums import SolvedPieces, rows_of_pairs
from suffice.estimators.evidence.word_corrections import WordCorrections, read_weights
from suffice.export.expressions import (
    Expression,
    Gaps,
    Lookup,
    Missing,
    Score,
    Where,
    as_expression,
    nodes,
    total_score,
    with_cells,
)
from suffice.factors import SolvedFactor
from suffice.factors.base import gather
from suffice.factors.derived import NOTHING, CellReader, CoarseCell, Derived, There, index_of, table_of
from suffice.factors.gaussian.export import marginal_log_density
from suffice.factors.gaussian.parameters import Gaussians
from suffice.factors.levels.step_tables import StepTables
from suffice.factors.scores import Scores
from suffice.factors.weighed import WeighedFactor, weighed
from suffice.factors.words.scores import SolvedWords
from suffice.links import softmax
from suffice.model.explaining.explanation import Explanation
from suffice.model.solved.solution import SolvedModel
from suffice.storage import Fields
from suffice.tables.table import Table

FEW_COLUMNS = 8
"""Inputs of the joint Gaussian up to which any of them may be missing in SQL and ONNX."""
MOST_WITH_GAPS = 16
"""Inputs of which a formula marginalises gaps: it has about n³/6 terms, each a column of the query."""


@dataclass(frozen=True, eq=False)
class Weights:
    """What was learnt from held-out rows: few numbers, like hyper-parameters."""

    pieces: Array
    """One weight for each piece."""
    bias: Array
    """One for each class, beside its log prior."""
    corrections: Array
    """Nats for each coarse cell and class, (cells, classes)."""
    power: float = 0.0
    """The power of the number of words that the evidence of a document is divided by."""
    words: tuple[WordCorrections, ...] = ()

    def times(self, share: float) -> Weights:
        """The same, of which only a share counts."""
        return replace(
            self,
            pieces=share * self.pieces,
            bias=share * self.bias,
            corrections=share * self.corrections,
            words=tuple(one.times(share) for one in self.words),
        )

    def for_classes(self, known: NDArray[Any], classes: NDArray[Any]) -> Weights:
        """The same for other classes; what is not known of a class is 0."""
        if np.array_equal(known, classes):
            return self
        places = {label: k for k, label in enumerate(known.tolist())}
        index = np.array([places.get(label, -1) for label in classes.tolist()], dtype=np.intp)
        return replace(
            self,
            bias=gather(self.bias, index, 0),
            corrections=gather(self.corrections, index, 1),
            words=tuple(one.of_classes(index) for one in self.words),
        )

    def _to_fields(self) -> dict[str, Any]:
        return {
            "pieces": self.pieces,
            "bias": self.bias,
            "corrections": self.corrections,
            "power": self.power,
            "words": [one._to_fields() for one in self.words],
        }

    @classmethod
    def _from_fields(cls, fields: Fields, pieces: Pieces, n_classes: int) -> Self:
        n_cells = sum(cell.size for cell in pieces.cells)
        words = fields.branches("words") if "words" in fields else []
        return cls(
            read_weights(fields, "pieces", (len(pieces.listed),)),
            read_weights(fields, "bias", (n_classes,)),
            read_weights(fields, "corrections", (n_cells, n_classes)),
            _power(fields) if "power" in fields else 0.0,
            tuple(WordCorrections._from_fields(one, pieces.words, n_classes) for one in words),
        )


class WeighedModel(SolvedModel):
    """Solved pieces with their weights. It scores rows; the densities are those of the model without them."""

    def __init__(self, solved: SolvedPieces, weights: Weights) -> None:
        vars(self).update(vars(solved.base))
        self.solved, self.bias = solved, weights.bias
        self.evidence_weight = 1.0
        pieces = solved.pieces
        most = solved.most
        of_columns, of_beside, of_further, self._of_pairs = _weights_of_parts(pieces, weights.pieces)
        self.factors = [
            weighed(_tempered(factor, weights.power), of_columns[at.columns], most)
            for at, factor in zip(self.schema.factors, solved.base.factors, strict=True)
        ]
        self._beside: list[tuple[Any, SolvedFactor, list[str]]] = []
        beside = solved.beside
        for at, factor, labels in zip(
            beside.schema.factors, beside.factors, beside.factor_labels, strict=True
        ):
            by = of_beside[at.columns]
            used = np.flatnonzero(by)
            if len(used) == len(by):
                self._beside.append((at, weighed(factor, by, most), labels))
            elif len(used):  # columns without a weight need not be read
                part = factor.take_columns(used)
                where = replace(at, columns=at.columns[used])
                self._beside.append((where, weighed(part, by[used], most), [labels[j] for j in used]))
            if at.family.joint:
                plain = replace(at, columns=at.columns[: pieces.n_plain])
                for one, weight, further in zip(
                    pieces.joint_solves[1:], of_further, solved.further, strict=True
                ):
                    where, by = at if one.n_columns == len(labels) else plain, np.full(one.n_columns, weight)
                    if weight:
                        self._beside.append((where, weighed(further, by, most), labels[: len(by)]))
        self._cells = _used_cells(pieces.cells, weights.corrections)
        families = {j: at.family for at in self.schema.factors for j in at.columns.tolist()}
        self._words = [(one, families[one.column]) for one in weights.words]
        intervals = [(cell, own) for cell, own in self._cells if not cell.levels]
        self._intervals = [cell.column for cell, _ in intervals]
        tables = [np.zeros((0, len(self.classes))), *(own for _, own in intervals)]
        first = np.cumsum([len(own) for own in tables], dtype=np.intp)[:-1]
        self._steps_of_cells = StepTables.of(
            [np.array(cell.edges) for cell, _ in intervals], first, np.vstack(tables)
        )

    @property
    def offset(self) -> Array:
        """The score of every row before its cells."""
        return self.log_priors + self.bias

    def scores(
        self, table: Table, *, base: bool, compared: bool = False, into: Array | None = None
    ) -> Scores:
        """The scores that posteriors compare."""
        table = self.schema.read(table)
        scores = super().scores(table, base=False, compared=compared, into=into)
        reader = CellReader(table)
        beside, read, cells = self.solved.pieces.beside, None, np.zeros((0, 0))
        for at, factor, labels in self._beside:
            if at is not read:  # both joint Gaussians are of the same cells
                read, cells = at, table_of([beside[j] for j in at.columns.tolist()], reader)
            factor.add_scores(cells, labels, scores, base=False)
        pairs = self.solved.pieces.pairs
        for j in np.flatnonzero(self._of_pairs).tolist():
            rows = rows_of_pairs([pairs[j]], table_of([pairs[j]], reader))[:, 0]
            scores.finite += self._of_pairs[j] * self.solved.pair_tables[j][rows]
        if self._intervals:
            self._steps_of_cells.add_to(reader.all_numbers(self._intervals), scores.finite)
        for cell, corrections in self._cells:
            if cell.levels:
                scores.finite += corrections[_rows_of(cell, reader)]
        for words, family in self._words:
            scores.finite += words.added(table, family)
        return scores

    def contributions(self, table: Table, *, base: bool) -> Array:
        """What the cells of each column add to the scores; what two columns say together is shared evenly."""
        table = self.schema.read(table)
        found = super().contributions(table, base=False)
        reader, pieces = CellReader(table), self.solved.pieces
        self._add_beside(found, table, reader, joint=True)
        for j in np.flatnonzero(self._of_pairs).tolist():
            pair = pieces.pairs[j]
            rows = rows_of_pairs([pair], table_of([pair], reader))[:, 0]
            for column in pair.columns:
                found[:, column] += 0.5 * self._of_pairs[j] * self.solved.pair_tables[j][rows]
        return found

    def shapes(self, table: Table) -> Array:
        """What the cells of each column add whatever the others hold: without joint densities and pairs."""
        table = self.schema.read(table)
        found = super().contributions(table, base=False)
        for at in self.schema.factors:
            if at.family.joint:
                found[:, at.columns] = 0.0
        self._add_beside(found, table, CellReader(table), joint=False)
        return found

    def _add_beside(self, found: Array, table: Table, reader: CellReader, *, joint: bool) -> None:
        """Add what derived columns say, with joint densities or without, and all corrections."""
        beside = self.solved.pieces.beside
        derived = table_of(beside, reader) if self._beside else np.zeros((0, 0))
        for at, factor, labels in self._beside:
            if at.family.joint and not joint:
                continue
            cells = factor.contributions(derived[:, at.columns], labels, base=False)
            for j, source in enumerate(at.columns.tolist()):
                found[:, beside[source].columns[0]] += cells[:, j]
        for cell, corrections in self._cells:
            found[:, cell.column] += corrections[_rows_of(cell, reader)]
        for words, family in self._words:
            found[:, words.column] += words.added(table, family)

    def explain(self, table: Table, *, base: bool) -> Explanation:
        """What the cells of each column add to the scores, and the bias."""
        scores, cells = self.scores(table, base=False), self.contributions(table, base=False)
        return Explanation(
            contributions=cells,
            prior=self.offset,
            total=self.offset + cells.sum(axis=1),
            posterior=softmax(scores.comparable()),
            columns=self.schema.names,
            classes=self.classes,
            values=tuple(table.values(j) for j in range(table.n_columns)),
            container=table.container,
            start="(prior, bias)",
            rows=table.row_labels,
        )

    @cached_property
    def _with_gaps(self) -> set[int]:
        """The columns of the table that had gaps in training, among those that joint Gaussians read."""
        beside = self.solved.beside
        joint = next(i for i, one in enumerate(beside.schema.factors) if one.family.joint)
        there = beside.presence[joint].sum(axis=0)
        partly = there < self.weight.sum() * (1.0 - np.finfo(np.float64).eps * self.weight.size)
        sources = beside.schema.factors[joint].columns[partly]
        return {self.solved.pieces.beside[source].columns[0] for source in sources.tolist()}

    def expression(self, gaps: Gaps) -> Score:
        """The scores as an expression over the cells of a row."""
        parts = [super().expression(gaps)]
        pieces = self.solved.pieces
        for at, factor, labels in self._beside:
            sources = [pieces.beside[j] for j in at.columns.tolist()]
            if at.family.factor == "steps":
                parts.append(factor.expression([one.columns[0] for one in sources], labels, gaps))
            elif at.family.is_binary:
                gone, there = factor.contributions(np.eye(2)[:, [1] * len(sources)], labels, base=False)
                parts += [
                    Score(Where(one.is_gone(), as_expression(gone[j]), as_expression(there[j])))
                    for j, one in enumerate(sources)
                    if isinstance(one, There)
                ]
            elif isinstance(factor, WeighedFactor):
                parts.append(_joint_score(factor, sources, labels, gaps, self._with_gaps))
        for j in np.flatnonzero(self._of_pairs).tolist():
            table = self._of_pairs[j] * self.solved.pair_tables[j]
            parts.append(Score(Lookup(index_of(pieces.pairs[j]), table)))
        parts += [Score(Lookup(index_of(cell), corrections)) for cell, corrections in self._cells]
        return total_score(parts)


def _power(fields: Fields) -> float:
    power = fields.number("power")
    if not 0.0 <= power <= 1.0:
        raise fields.error("power", "must be between 0 and 1.")
    return power


def _tempered(factor: SolvedFactor, power: float) -> SolvedFactor:
    """A factor of text, whose evidence is divided by a power of the number of words; any other as it is."""
    return factor.tempered(power) if power and isinstance(factor, SolvedWords) else factor


def _weights_of_parts(pieces: Pieces, weights: Array) -> tuple[Array, Array, Array, Array]:
    """The weight of each column, of each derived column, of further joint Gaussians, and of each pair."""
    of_columns = np.zeros(len(pieces.schema))
    n = len(pieces.of_columns)
    for columns, weight in zip(pieces.of_columns, weights[:n].tolist(), strict=True):
        of_columns[columns] = weight
    single = len(pieces.steps) + len(pieces.presence)
    of_beside = np.zeros(len(pieces.beside))
    of_beside[:single] = weights[n : n + single]
    of_joint, of_pairs = np.split(weights[n + single :], [len(pieces.joint_solves)])
    if pieces.joint:
        of_beside[single:] = of_joint[0]
    return of_columns, of_beside, of_joint[1:], of_pairs


def _used_cells(cells: Sequence[CoarseCell], corrections: Array) -> list[tuple[CoarseCell, Array]]:
    """The corrections of each column, with none where its cell is missing."""
    found, first = [], 0
    for cell in cells:
        own = corrections[first : first + cell.size]
        first += cell.size
        if own.any():
            found.append((cell, np.vstack([own, np.zeros(own.shape[1])])))
    return found


def _rows_of(cell: CoarseCell, reader: CellReader) -> Any:
    """The row of its corrections that each cell of a column reads."""
    codes = cell.values(reader)
    return np.where(np.isnan(codes), cell.size, codes).astype(np.intp)


def _joint_score(
    weighed_factor: WeighedFactor,
    sources: Sequence[Derived],
    labels: list[str],
    gaps: Gaps,
    with_gaps: Collection[int],
) -> Score:
    """The scores of a joint Gaussian of derived columns, with gaps marginalised.

    Of many columns, only those that had gaps in training are; a row with a gap elsewhere has no score.
    """
    factor, weight = weighed_factor.inner, float(weighed_factor.by[0])
    if gaps == "observed":
        score = factor.expression(list(range(len(sources))), labels, gaps)
        if not any(isinstance(node, Missing) for node in nodes(score.finite)):
            seen = with_cells(score.finite, lambda cell: _if_there(sources[cell.column]))
            return weighed_factor.bounded_score(Score(seen), weight)
    gone = [_is_gone(one) if gaps == "marginal" else None for one in sources]
    if sum(one is not None for one in gone) > FEW_COLUMNS:
        gone = [
            is_gone if one.columns[0] in with_gaps else None
            for one, is_gone in zip(sources, gone, strict=True)
        ]
    n_gaps = sum(one is not None for one in gone)
    if n_gaps > MOST_WITH_GAPS:
        raise ValueError(
            f"the joint Gaussian has {n_gaps} inputs with gaps, and a formula that marginalises them grows "
            f"with their cube; at most {MOST_WITH_GAPS} are supported. Pass missing='null' to score complete "
            "rows only, fill the gaps before fitting, or fit without the joint Gaussian: "
            "EvidenceClassifier(pieces=['columns', 'steps', 'presence', 'cells', 'pairs'])."
        )
    places = list(range(len(sources)))
    if n_gaps and isinstance(factor, Gaussians):
        score = Score(marginal_log_density(factor, places, gone))
    else:
        score = factor.expression(places, labels, "null")
    score = Score(with_cells(score.finite, lambda cell: sources[cell.column].expression()), score.order)
    return weighed_factor.bounded_score(score, weight)


def _is_gone(column: Derived) -> Expression | None:
    """Whether a derived column is missing, with what that takes to find out computed once."""
    missing = column.is_missing()
    if missing is None or isinstance(missing, Missing):
        return missing
    return Where(missing, as_expression(1.0), as_expression(0.0)) == 1.0


def _if_there(source: Derived) -> Expression:
    """A derived column, missing where its cell is."""
    missing = source.is_missing()
    return source.expression() if missing is None else Where(missing, NOTHING, source.expression())
