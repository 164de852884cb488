"""Class priors: what is known before a row is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.families.elementary import Array

Priors = Literal["uniform", "empirical"] | ArrayLike | Mapping[Any, float] | None


def class_priors(priors: Priors, classes: NDArray[Any], weight: Array) -> Array:
    """π_k for each class: N_k / N (None or "empirical"), equal ("uniform"), or as given."""
    if priors is None or (isinstance(priors, str) and priors == "empirical"):
        return np.asarray(weight / weight.sum())
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(len(classes), 1.0 / len(classes))
        raise ValueError(f"priors must be None, 'empirical', 'uniform', an array or a dict, got {priors!r}.")
    if isinstance(priors, Mapping):
        known = set(classes.tolist())
        missing = [label for label in classes.tolist() if label not in priors]
        unknown = [label for label in priors if label not in known]
        if missing or unknown:
            raise ValueError(
                f"priors must name every class once: missing {missing}, unknown {unknown}; "
                f"the classes are {classes.tolist()}."
            )
        values = np.array([priors[label] for label in classes.tolist()], dtype=np.float64)
    else:
        values = np.asarray(priors, dtype=np.float64)
    if values.shape != (len(classes),):
        raise ValueError(f"priors has shape {values.shape}, but there are {len(classes)} classes.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"priors must be finite and not negative, got {values.tolist()}.")
    if abs(values.sum() - 1.0) > 1e-8:
        raise ValueError(f"priors must sum to 1, but sum to {values.sum():.10g}.")
    return values


def are_estimated(priors: Priors) -> bool:
    """Whether the priors are K − 1 parameters of the model."""
    return priors is None or (isinstance(priors, str) and priors == "empirical")
