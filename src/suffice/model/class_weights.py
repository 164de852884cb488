"""Weights of classes: each row counts as often as the weight of its class says.

Sums of weighted rows are the sums of the rows times the weight of their class, so the weights act when a
model is solved; statistics stay those of the rows, and add and subtract as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.model.priors import as_reals
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.wording import listed, quoted

ClassWeight = Literal["balanced"] | Mapping[Any, float] | None


def class_weights(class_weight: ClassWeight, classes: NDArray[Any], weight: Array) -> Array:
    """w_k for each class: as given, 1 where none is given, or N/(K·N_k) so that all weigh the same."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        share = len(weight) * weight / weight.sum()
        return np.asarray(np.divide(1.0, share, out=np.ones_like(share), where=share > 0))
    if not isinstance(class_weight, Mapping):
        raise TypeError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}.")
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names unknown classes: {listed(unknown)}; the classes are {listed(labels)}."
        )
    weights = as_reals([class_weight.get(label, 1.0) for label in labels], "class_weight")
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"class_weight of class {quoted(labels[at])} must be a finite number > 0, got {weights[at]:g}; "
            "to leave a class out, leave out its rows."
        )
    return weights


def reweighted(statistics: Statistics, class_weight: ClassWeight) -> Statistics:
    """The statistics of rows whose weights are multiplied by those of their classes."""
    if class_weight is None:
        return statistics
    accumulator = Accumulator.of(statistics)
    accumulator.scale(class_weights(class_weight, statistics.classes, statistics.weight))
    return accumulator.selected(np.arange(len(statistics.classes)))
