"""The sums of all pieces, made by workers where the rows are, with some rows to learn the weights from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from suffice.engines.kept_rows import KeptRows, merge_kept
from suffice.engines.partial_sums import Merge, MergeSeveral, labelled_table, packed
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.rows import Rows
from suffice.estimators.evidence.sums import PieceSums
from suffice.tables.files.batches import Labelled, LabelledBatch


@dataclass(frozen=True)
class PiecesOfPart:
    """The sums of a part under given pieces, and some of its rows; it is sent to workers."""

    pieces: Pieces
    most: int
    """How many rows are kept."""

    def __call__(self, batches: Iterable[LabelledBatch], part: int) -> bytes:
        """Sums and rows, packed."""
        sums, kept = PieceSums.empty(self.pieces), KeptRows(self.most, part)
        for batch in batches:
            kept.add(batch)
            Rows(labelled_table(batch)).add_to(sums, np.zeros(0, dtype=np.intp))
        return MergeSeveral.packed([*map(packed, sums.statistics()), kept.packed()])


def summed_by_workers(labelled: Labelled, pieces: Pieces, most: int) -> tuple[PieceSums, KeptRows]:
    """The sums of all parts, and at most so many rows of them."""
    merges = [Merge.under(schema) for schema in pieces.schemas]
    merge = MergeSeveral((*merges, merge_kept))
    # Rows are larger than sums, so groups of parts keep some of theirs before all do.
    *parts, rows = merge.unpacked(labelled.reduced(PiecesOfPart(pieces, most), merge, is_large=True))
    sums = PieceSums.empty(pieces)
    base, beside, pairs = (one.unpacked([part]) for one, part in zip(merges, parts, strict=True))
    sums.add((base, beside, pairs), 1)
    return sums, KeptRows.unpacked([rows])
