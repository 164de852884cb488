"""Rows drawn from a solved model."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Codes
from suffice.families import Family, Hurdle
from suffice.lazy import scikit_learn
from suffice.model.columns.schema import Schema
from suffice.model.solved.solution import SolvedModel
from suffice.tables.container import Container
from suffice.tables.table import read_table
from suffice.tables.targets import class_codes, read_labels
from suffice.tables.wording import there_are


def draw_rows(
    solution: SolvedModel, n_samples: Any, random_state: Any, labels: Any = None, *, missing: bool = False
) -> tuple[Codes, list[NDArray[Any]]]:
    """Draw rows: the class of each row, and the columns; classes come from `labels` or from the priors."""
    solution.require_density("sample")
    if n_samples is not None and not (
        isinstance(n_samples, Real) and float(n_samples) >= 0 and float(n_samples).is_integer()
    ):
        raise ValueError(f"n_samples must be a whole number ≥ 0, got {n_samples!r}.")
    rng = generator_of(random_state)
    if labels is None:
        codes = draw_classes(solution, 1 if n_samples is None else int(float(n_samples)), rng)
    else:
        codes = _codes_of(labels, solution.classes, n_samples)
    return codes, solution.sample(codes, rng, missing=missing)


def draw_classes(solution: SolvedModel, number: int, rng: np.random.Generator) -> Codes:
    """Classes drawn from the priors."""
    return rng.choice(len(solution.classes), size=number, p=solution.priors / solution.priors.sum())


def in_container(columns: list[NDArray[Any]], schema: Schema, container: Container) -> Any:
    """Put rows in a container; in whole-number columns, values that rounding would move out of a density are
    rounded the other way.
    """
    densities = [at for at in schema.factors if at.reads == "numbers" and not at.family.discrete]
    bounded = [at for at in densities if isinstance(at.family, Hurdle) or not at.family.takes_every_number]
    whole = _whole_columns(container) if bounded else []
    moved = list(columns)
    for at in bounded:
        for j in (j for j in at.columns.tolist() if whole[j]):
            moved[j] = _rounded_within(at.family, columns[j])
    return container.build(schema.written(moved, container))


def _rounded_within(family: Family, drawn: NDArray[Any]) -> NDArray[Any]:
    """Values that rounding would move out of the support, or to a value of probability, the other way."""
    nearest = np.rint(drawn)
    leaves = family.support(drawn) & ~family.support(nearest)
    if isinstance(family, Hurdle):
        leaves |= np.isin(nearest, family.repeated) & (drawn != nearest)
    return np.where(leaves, np.where(drawn > nearest, np.ceil(drawn), np.floor(drawn)), drawn)


def _whole_columns(container: Container) -> list[bool]:
    """Which columns hold whole numbers: those that turn 0.4 into 0."""
    kinds = container.kinds()
    table = read_table(container.build([np.full(1, 0.4 if kind == "number" else None) for kind in kinds]))
    return [kind == "number" and table.numbers([j])[0, 0] == 0.0 for j, kind in enumerate(kinds)]


def _codes_of(labels: Any, classes: NDArray[Any], n_samples: Any) -> Codes:
    """The class indices of the requested labels."""
    if isinstance(labels, str) or np.ndim(labels) == 0:
        wanted = [labels] * (1 if n_samples is None else int(float(n_samples)))
    else:
        wanted = read_labels(labels).tolist()
        if n_samples not in (None, len(wanted)):
            raise ValueError(
                f"n_samples is {n_samples}, but {there_are(len(wanted), 'label')}; pass only labels."
            )
    return class_codes(wanted, classes)


def generator_of(random_state: Any) -> np.random.Generator:
    """A Generator from anything that scikit-learn accepts as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(scikit_learn.check_random_state(random_state).randint(2**31))
