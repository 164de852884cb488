"""Class labels in a file: numbers and booleans as they are, strings as UTF-8, with their dtype."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.storage.fields import Fields, Scalars
from suffice.storage.settings import MOST_TEXT

FIXED_WIDTH = re.compile(r"<U[1-9]\d{0,6}")


def state_of_labels(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels as a file holds them."""
    if labels.dtype.kind in "UO":
        dtype = labels.dtype.newbyteorder("<").str if labels.dtype.kind == "U" else "object"
        return {"dtype": dtype, "texts": Scalars([str(label) for label in labels.tolist()])}
    return {"labels": labels}


def labels_from_fields(fields: Fields) -> NDArray[Any]:
    """Labels, all different and none of them missing."""
    if "dtype" not in fields:
        labels = fields.any_array("labels")
        if labels.ndim != 1 or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise fields.error("labels", "must be finite numbers, one per class.")
        fields.distinct("labels", labels.tolist())
        return labels
    dtype, texts = fields.text("dtype"), fields.scalars("texts")
    if not all(type(text) is str for text in texts):
        raise fields.error("texts", "must all be strings.")
    fields.distinct("texts", texts)
    if dtype == "object":
        labels = np.empty(len(texts), dtype=object)
        labels[:] = texts
        return labels
    width = max(map(len, texts), default=0)
    if (
        not FIXED_WIDTH.fullmatch(dtype)
        or int(dtype[2:]) < width
        or 4 * int(dtype[2:]) * len(texts) > MOST_TEXT
    ):
        raise fields.error("dtype", f"{dtype!r} cannot hold the labels.")
    labels = np.array(texts, dtype=dtype)
    if labels.tolist() != texts:
        raise fields.error("texts", "end in NUL characters, which labels of this dtype cannot.")
    return labels
