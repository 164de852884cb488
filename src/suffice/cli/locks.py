"""A file that one process at a time may change."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from suffice.cli.errors import DataFailure
from suffice.cli.messages import say

PAUSE = 0.05
"""Seconds between two attempts, on average."""


@contextmanager
def locked(path: str, timeout: float) -> Iterator[None]:
    """Wait until no other command is changing a file, and keep others from it; a new file needs no lock.

    The lock is on the file itself, so that it ends with the process, however that ends, and leaves nothing
    behind.
    """
    file = _lock_of(path, timeout) if os.path.isfile(path) and sys.platform != "win32" else None  # noqa: PTH113
    try:
        yield
    finally:
        if file is not None:
            os.close(file)


def _lock_of(path: str, timeout: float) -> int:
    """The open file that holds the lock."""
    began, told = time.monotonic(), False
    while True:
        file = _open(path)
        # Whoever held the lock may have replaced the file, and a lock on the old one locks nothing.
        if _is_taken(file) and _is_still(file, path):
            return file
        os.close(file)
        waited = time.monotonic() - began
        if waited >= timeout:
            raise DataFailure(
                f"{path} is being changed by another command, for more than {timeout:g} seconds; try again "
                "later, or wait longer with --timeout."
            )
        if not told:
            say(f"{path} is being changed by another command; waiting up to {timeout:g} seconds.")
            told = True
        time.sleep(min(PAUSE * random.uniform(0.5, 1.5), timeout - waited))  # noqa: S311, no secret


def _open(path: str) -> int:
    with suppress(PermissionError):
        return os.open(path, os.O_RDWR)  # which locks of network file systems need
    return os.open(path, os.O_RDONLY)


def _is_taken(file: int) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(file: int, path: str) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), os.stat(path))  # noqa: PTH116
    return False
