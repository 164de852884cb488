"""One pool of threads for the whole library."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from numbers import Integral
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


class _Job(Generic[Part, Result]):
    """A function of several parts, worked on by whoever calls `work`."""

    def __init__(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> None:
        self.function, self.parts = function, parts
        self.results: dict[int, Result] = {}
        self.failures: dict[int, BaseException] = {}
        self.left = list(range(len(parts)))[::-1]
        self.running = 0
        self.changed = threading.Condition()

    def work(self) -> None:
        """Take one part after another until none is left."""
        while True:
            with self.changed:
                if not self.left:
                    return
                i = self.left.pop()
                self.running += 1
            try:
                self.results[i] = self.function(self.parts[i])
            except BaseException as failure:  # noqa: BLE001 — it is raised where the job was given
                self.failures[i] = failure
                self.drop()
            with self.changed:
                self.running -= 1
                if not self.left and not self.running:
                    self.changed.notify_all()

    def drop(self) -> None:
        """Leave out the parts that have not begun."""
        with self.changed:
            self.left.clear()

    def wait(self) -> None:
        """Return when no part is left or running."""
        with self.changed:
            # A signal that comes just before the wait is seen only after it, so no wait is long.
            while not self.changed.wait_for(lambda: not self.left and not self.running, timeout=0.05):
                pass


class _Pool:
    """Threads that wait for jobs; started when first needed, and again in a forked child, which has none."""

    def __init__(self, chosen: int | None = None) -> None:
        self.chosen = chosen
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.n_workers = 0
        self.lock = threading.Lock()
        self.here = threading.local()

    def work(self) -> None:
        """Serve jobs forever."""
        self.here.is_worker = True
        while True:
            self.jobs.get()()

    def submit(self, job: _Job[Part, Result], n: int) -> None:
        """Let n workers work on a job."""
        with self.lock:
            while self.n_workers < n:
                threading.Thread(target=self.work, name="suffice", daemon=True).start()
                self.n_workers += 1
        for _ in range(n):
            self.jobs.put(job.work)


class _Products:
    """The threads of matrix products: one while any caller asks for that, then as many as before."""

    def __init__(self) -> None:
        self.n_asking = 0
        self.limit: Any = None
        self.lock = threading.Lock()

    def enter(self) -> None:
        """Ask for one thread."""
        with self.lock:
            if self.n_asking == 0:
                self.limit = _blas().limit(limits=1, user_api="blas")
            self.n_asking += 1

    def leave(self) -> None:
        """Ask no more; the last one puts things back."""
        with self.lock:
            self.n_asking -= 1
            if self.n_asking == 0:
                self.limit.restore_original_limits()


_pools = [_Pool()]
_products = [_Products()]


def _forget_the_parent() -> None:
    _pools[0] = _Pool(_pools[0].chosen)
    asked = _products[0]
    _products[0] = _Products()
    if asked.n_asking:
        asked.limit.restore_original_limits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parent)


def set_threads(n: int | None) -> None:
    """Set the number of threads that the library uses, for the whole process.

    Results do not depend on it.

    Parameters
    ----------
    n : int or None
        The number of threads. None restores the default: the environment variable `SUFFICE_THREADS`, or
        else all cores that the process may use.

    Examples
    --------
    >>> import suffice
    >>> suffice.set_threads(1)
    >>> suffice.set_threads(None)
    """
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, Integral):
            raise TypeError(f"the number of threads must be an integer or None, not {n!r}")
        if n < 1:
            raise ValueError(f"the number of threads must be at least 1, not {n}")
        n = int(n)
    _pools[0].chosen = n


def threads() -> int:
    """The number of threads that work is shared among."""
    if _pools[0].chosen is not None:
        return _pools[0].chosen
    asked = os.environ.get("SUFFICE_THREADS", "")
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise ValueError(f"SUFFICE_THREADS must be a positive integer or unset, not {asked!r}")
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """`function` of each part, in order, in the threads of the pool.

    When a part fails, or the caller is interrupted, parts that have not begun are dropped, those that
    run are waited for, and the failure is raised. Inside a worker the parts run one after another, so
    that nested calls cannot wait for each other.
    """
    pool = _pools[0]
    alone = len(parts) <= 1 or getattr(pool.here, "is_worker", False)
    n = 1 if alone else min(threads(), len(parts))
    if n <= 1:
        return [function(part) for part in parts]
    job = _Job(function, parts)
    try:
        pool.submit(job, n)
        job.wait()
    finally:
        job.drop()
        job.wait()
        del job.function, job.parts  # a worker that comes late still holds the job
    if job.failures:
        raise job.failures[min(job.failures)]
    return [job.results.pop(i) for i in range(len(parts))]


def uninterrupted(work: Callable[[], Result]) -> Result:
    """`work()`, finished even if the caller is interrupted, which is then raised.

    Signals reach only the main thread, so the work is done in another.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    job = _Job(lambda _: work(), [None])
    threading.Thread(target=job.work, name="suffice", daemon=True).start()
    try:
        job.wait()
    finally:
        job.wait()
    if job.failures:
        raise job.failures[0]
    return job.results[0]


@contextmanager
def one_thread_per_product() -> Iterator[None]:
    """Run matrix products in one thread each, for parts that run side by side and would wait for each other.

    The setting belongs to the process: it also limits the products of other threads. When several callers
    overlap, the last one to leave restores it.
    """
    products = _products[0]
    products.enter()
    try:
        yield
    finally:
        products.leave()


@cache
def _blas() -> Any:
    """The controller of the threads of matrix products; finding the libraries takes a while."""
    return import_module("threadpoolctl").ThreadpoolController()
