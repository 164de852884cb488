"""What commands say on stderr, and whether they speak to people or, in JSON, to programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from suffice.tables.wording import visible

OPTIONS = {
    r"fill them in \(SimpleImputer\), drop the column": "fill them in, --drop the column",
    r"(column .(.+?). must hold .*)choose a family for levels such as Categorical\(\)": r"\1use --families "
    r"\2=categorical",
    r"encode the column \(OneHotEncoder\), drop it": "--drop the column",
    r"use EvidenceClassifier, BayesClassifier or GaussianDiscriminant": "use --model evidence, bayes or "
    "gaussian",
    r"use EvidenceClassifier or BayesClassifier": "use --model evidence or bayes",
    r"\bmissing_marks=": "--missing",
    r"\bmissing='null'": "--missing null",
    r"\bunseen='(\w+)'": r"suffice fit --unseen \1",
    r"replace (the value|it) with NaN, which is treated as missing": "leave the cell empty (in jsonl, null)",
    r"(has no label at row \d+; add one), or remove the row": r"\1, or use --drop-unlabelled",
}
"""What messages of the library name, and how to choose it here."""
_CHOSEN = {"quiet": False, "json": False, "alone": False}
"""How the command speaks; for the whole process, since errors are told after the command has ended."""


def choose(**chosen: bool) -> None:
    """Set whether to be quiet, to answer in JSON, and whether the process runs nothing but the command."""
    _CHOSEN.update(chosen)


def is_quiet() -> bool:
    """Whether only errors are told."""
    return _CHOSEN["quiet"]


def wants_json() -> bool:
    """Whether the answer is to be JSON."""
    return _CHOSEN["json"]


def is_alone() -> bool:
    """Whether the process runs nothing but the command."""
    return _CHOSEN["alone"]


def in_options(text: str) -> str:
    """A message of the library in which settings are options of the command line."""
    for setting, option in OPTIONS.items():
        text = re.sub(setting, option, text)
    return text


def say(text: str) -> None:
    """Tell something that is no result, unless it should be quiet."""
    if not is_quiet():
        tell(text)


def tell(text: str) -> None:
    """Write a message to stderr; one that nobody can read is no reason to fail."""
    with suppress(OSError, ValueError):
        click.echo(visible(text), file=sys.stderr)


def as_json(value: Any) -> str:
    """A value as JSON; NaN and infinities are null."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else str(name): plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)
