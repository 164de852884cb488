"""Reading one step ahead of the work."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")


def one_ahead(steps: Generator[T, Any, Any]) -> Generator[T]:
    """The same items, each made in a thread while the one before it is worked on.

    Only that thread runs the generator, one step at a time. Whoever stops early waits for the step that runs,
    and the generator is closed, so that its files are.
    """
    with ThreadPoolExecutor(1, "suffice-ahead") as thread:
        following: Future[T | None] = thread.submit(next, steps, None)
        try:
            while (item := following.result()) is not None:
                following = thread.submit(next, steps, None)
                yield item
        finally:
            wait([following])
            steps.close()
            del following  # an error that it holds would hold it, and open files, until garbage is collected
