"""Which kernels do the work: compiled ones, where that is worth their import."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from types import ModuleType

from suffice.text import table

WORTH_AN_IMPORT = 1 << 18
"""Bytes of text from which importing numba takes less time than it saves."""
WORTH_A_CALL = 1 << 10
"""The same, once it has been imported."""


def is_compiled(n_bytes: int) -> bool:
    """Whether so much text is read by compiled kernels."""
    if n_bytes < WORTH_A_CALL or os.environ.get("SUFFICE_DISABLE_JIT", "0") not in {"", "0"}:
        return False
    if n_bytes < WORTH_AN_IMPORT and "suffice.text.compiled_table" not in sys.modules:
        return False
    return _compiled_table() is not None


def table_kernels(n_bytes: int) -> ModuleType:
    """The functions of a `Table`, for terms of so many bytes."""
    return (is_compiled(n_bytes) and _compiled_table()) or table


@cache
def _compiled_table() -> ModuleType | None:
    try:
        return import_module("suffice.text.compiled_table")
    except ImportError:  # numba publishes nothing for this machine, or not yet for this NumPy
        return None
