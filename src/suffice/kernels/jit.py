"""How kernels are compiled. Importing this imports numba, so only compiled kernels do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile at first call, to run without the interpreter's lock; kept on disk where that is possible."""
    return _compiled(function)


def reassociating(function: Function) -> Function:
    """A `kernel` that may add the terms of a sum in any order, so that the processor adds several at once."""
    return _compiled(function, fastmath={"reassoc", "contract"})


def contracting(function: Function) -> Function:
    """A `kernel` that may round a product and a sum once instead of twice."""
    return _compiled(function, fastmath={"contract"})


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: to pass arrays on would cost more than a step of their loops."""
    return cast("Function", njit(forceinline=True)(function))


def _compiled(function: Function, **options: Any) -> Function:
    try:
        return cast("Function", njit(nogil=True, cache=True, **options)(function))
    except RuntimeError:  # a read-only installation, and no home to write to
        return cast("Function", njit(nogil=True, **options)(function))
