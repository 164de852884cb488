"""Locks of models: learning and solving in several threads take turns."""

from __future__ import annotations

import os
from threading import Lock, RLock
from weakref import WeakKeyDictionary

_LOCKS: WeakKeyDictionary[object, RLock] = WeakKeyDictionary()
_NEW_LOCK = Lock()


def lock_of(model: object) -> RLock:
    """The lock of a model, which is no part of it, so that it is neither copied nor saved."""
    with _NEW_LOCK:
        return _LOCKS.setdefault(model, RLock())


def _forget_locks() -> None:
    """In a child that was forked: locks of threads that it does not have would never be freed."""
    global _NEW_LOCK  # noqa: PLW0603, the lock itself may be held
    _LOCKS.clear()
    _NEW_LOCK = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
