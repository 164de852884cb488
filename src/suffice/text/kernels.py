"""Which kernels do the work: compiled ones, where that is worth their import."""

from __future__ import annotations

from types import ModuleType

from suffice.kernels.choose import chosen
from suffice.text import hash_table as table

WORTH_AN_IMPORT = 1 << 18
"""Bytes of text from which importing numba takes less time than it saves."""
WORTH_A_CALL = 1 << 10
"""The same, once it has been imported."""


def is_compiled(n_bytes: int) -> bool:
    """Whether so much text is read by compiled kernels."""
    return table_kernels(n_bytes) is not table


def table_kernels(n_bytes: int) -> ModuleType:
    """The functions of a `Table`, for terms of so many bytes."""
    return chosen("suffice.text.compiled.table", n_bytes, WORTH_AN_IMPORT, WORTH_A_CALL) or table
