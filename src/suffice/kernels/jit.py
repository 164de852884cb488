"""How kernels are compiled. Importing this imports numba, so only compiled kernels do."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

from suffice.kernels.threads import uninterrupted
from suffice.progress import Progress

NOT_KEPT = (
    "compiled kernels cannot be kept on disk, since neither the installation nor the home directory can be "
    "written to: every process compiles them again, which takes seconds. Set the environment variable "
    "NUMBA_CACHE_DIR to a directory that can be written to, or SUFFICE_DISABLE_JIT=1 to do without."
)

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
        dispatcher = njit(nogil=True, cache=True, **options)(function)
        _make_writable(dispatcher.stats.cache_path)
    except (RuntimeError, OSError):  # a read-only installation, and no home to write to
        _compiling.is_kept = False
        dispatcher = njit(nogil=True, **options)(function)
    compile_for = dispatcher.compile
    # Interrupted, numba would lack what it had begun to register, for the rest of the process.
    dispatcher.compile = lambda signature: uninterrupted(lambda: compile_for(signature))
    return cast("Function", dispatcher)


@cache
def _make_writable(path: str) -> None:
    """Raise unless a directory can be written to: for a zipped package, numba would find out too late."""
    Path(path).mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=path).close()


class _Compiling(event.Listener):
    """Shows on a terminal what is being compiled, and says once where that cannot be kept.

    numba compiles one function at a time, and within it those that it calls.
    """

    def __init__(self) -> None:
        self.is_kept = True
        self.is_said = False
        self.running: list[Progress] = []

    def on_start(self, event: Any) -> None:
        """Say which function is being compiled."""
        function = event.data["dispatcher"].py_func
        self.running.append(Progress("compiling, once for this installation", patience=0.0))
        if not function.__module__.startswith("suffice."):
            return
        if len(self.running) == 1:
            self.running[0].say(function.__name__)
        if not self.is_kept and not self.is_said:
            self.is_said = True
            warnings.warn(NOT_KEPT, stacklevel=2)

    def on_end(self, event: Any) -> None:
        """Say no more."""
        self.running.pop().stop()


_compiling = _Compiling()
listen: Callable[..., None] = event.register
listen("numba:compile", _compiling)
