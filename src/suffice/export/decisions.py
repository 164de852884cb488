"""Decisions by least expected cost in SQL, around a query of posteriors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from suffice.arrays import Array
from suffice.export.dialects import DIALECTS, Dialect
from suffice.export.expressions import balanced
from suffice.export.scoring import Decision


def names_of_posteriors(keys: Sequence[Any], n_classes: int) -> list[str]:
    """Labels for the classes, such that a column proba_<label> has the name of no key."""
    prefix = "class"
    while any(str(key).lower().startswith(f"proba_{prefix}") for key in keys):
        prefix += "_"
    return [f"{prefix}{k}" for k in range(n_classes)]


def decided(posteriors: str, decision: Decision, names: list[str], keys: Sequence[str], dialect: str) -> str:
    """The SELECT of the decisions, around the SELECT of the posteriors proba_<name>."""
    writer, decision = DIALECTS[dialect], decision.scaled()
    kept = _kept_names(keys, writer)
    shown = [f"{writer.identifier(name)} AS k{i}" for i, name in enumerate(kept)]
    p = [writer.identifier(f"proba_{name}") for name in names]
    compared = [f"{_sum(writer, column, p)} AS d{j}" for j, column in enumerate(decision.compared.T)]
    refused = [] if decision.reject_cost is None else list(enumerate(decision.costs.T))
    expected = [f"{_sum(writer, column, p)} AS c{j}" for j, column in refused]
    lowest = balanced([f"d{j}" for j in range(len(p))], lambda a, b: f"{writer.least}({a}, {b})")
    label = _label(writer, decision, len(p))
    results = [f"k{i} AS {writer.identifier(name)}" for i, name in enumerate(kept)]
    results.append(f"{label} AS {writer.identifier('label')}")
    inner = ", ".join([*shown, *compared, *expected])
    return "\n".join(
        [
            f"SELECT {', '.join(results)}",
            f"FROM (SELECT expected.*, {lowest} AS d",
            f"FROM (SELECT {inner}",
            f"FROM ({posteriors}) AS posteriors) AS expected) AS decided",
        ]
    )


def _kept_names(keys: Sequence[str], dialect: Dialect) -> list[str]:
    """What the columns of keys are called in a result."""
    names = [re.sub(r"\W", "_", key, flags=re.ASCII) if dialect.plain_names else key for key in keys]
    if len({name.lower() for name in [*names, "label"]}) <= len(names):
        raise ValueError(
            f"key must have names that differ from each other and from 'label', got {list(keys)}; rename a "
            "column."
        )
    return names


def _sum(dialect: Dialect, weights: Array, columns: list[str]) -> str:
    products = [
        f"({dialect.number(float(weight))} * {column})"
        for weight, column in zip(weights.tolist(), columns, strict=True)
        if weight != 0
    ]
    # Nothing to pay still needs a posterior: without one there is no decision.
    return balanced(products or [f"({dialect.number(0.0)} * {columns[0]})"], lambda a, b: f"({a} + {b})")


def _label(dialect: Dialect, decision: Decision, n_classes: int) -> str:
    answers = [dialect.label(answer) for answer in decision.answers.tolist()]
    cases = []
    for j in range(n_classes):
        answer = answers[j]
        if decision.reject_cost is not None:
            limit = dialect.number(decision.reject_cost)
            answer = f"CASE WHEN c{j} > {limit} THEN {answers[-1]} ELSE {answer} END"
        cases.append(f"WHEN d{j} = d THEN {answer}")
    return f"CASE {' '.join(cases)} END"
