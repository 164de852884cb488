"""How often each term occurs in each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.text.documents import Offsets
from suffice.text.hash_table import Ids


@dataclass(frozen=True, eq=False)
class Counts:
    """Document i has `counts[j]` times the term `terms[j]`, for j from `starts[i]` to `starts[i + 1]`.

    Terms are in the order in which they first occur in the document. `unknown` is the number of tokens
    of each document that are not in the vocabulary.
    """

    starts: Offsets
    terms: Ids
    counts: NDArray[np.int32]
    unknown: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.unknown)
