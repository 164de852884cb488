"""Class priors: what is known before a row is seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array

Priors = Literal["uniform", "empirical"] | ArrayLike | Mapping[Any, float] | None


def class_priors(priors: Priors, classes: NDArray[Any], weight: Array) -> Array:
    """π_k for each class: N_k / N (None or "empirical"), equal ("uniform"), or as given."""
    if priors is None or (isinstance(priors, str) and priors == "empirical"):
        return np.asarray(weight / weight.sum())
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(len(classes), 1.0 / len(classes))
        raise ValueError(f"priors must be None, 'empirical', 'uniform', an array or a dict, got {priors!r}.")
    named = _by_label(priors, len(classes))
    if named is not None:
        known = set(classes.tolist())
        missing = [label for label in classes.tolist() if label not in named]
        unknown = [label for label in named if label not in known]
        if missing or unknown:
            raise ValueError(
                f"priors must name every class once: missing {missing}, unknown {unknown}; "
                f"the classes are {classes.tolist()}."
            )
        priors = [named[label] for label in classes.tolist()]
    values = as_reals(priors, "priors")
    if values.shape != (len(classes),):
        raise ValueError(f"priors has shape {values.shape}, but there are {len(classes)} classes.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"priors must be finite and not negative, got {values.tolist()}.")
    if abs(values.sum() - 1.0) > 1e-8:
        raise ValueError(f"priors must sum to 1, but sum to {values.sum():.10g}.")
    return values


def as_reals(values: Any, name: str) -> Array:
    """Turn an argument into an array of real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must hold numbers, got {values!r}.")


def _by_label(priors: Any, n_classes: int) -> dict[Any, float] | None:
    """The priors of a dict, or of a pandas Series unless its index is that of no names, by label."""
    if not hasattr(priors, "items"):
        return None
    named = dict(priors.items())
    return named if isinstance(priors, Mapping) or list(named) != list(range(n_classes)) else None


def are_estimated(priors: Priors) -> bool:
    """Whether the priors are K − 1 parameters of the model."""
    return priors is None or (isinstance(priors, str) and priors == "empirical")
