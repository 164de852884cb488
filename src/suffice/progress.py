"""A status line on the terminal during long work."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0
"""Seconds before anything is shown."""


class Progress:
    """A status line that appears on a terminal when work takes longer than a moment.

    Parameters
    ----------
    work : str
        What is going on, in a word or two.
    patience : float, optional
        Seconds before anything is shown; 2 unless given.
    """

    def __init__(self, work: str, patience: float | None = None) -> None:
        self.work, self.patience = work, PATIENCE if patience is None else patience
        self._started = time.monotonic()
        self._shown: Any = None

    def say(self, state: str) -> None:
        """Show how far the work has come."""
        if self._shown is None:
            if time.monotonic() - self._started < self.patience or not sys.stderr.isatty():
                return
            from rich.console import Console

            self._shown = Console(stderr=True).status(self.work)
            self._shown.start()
        self._shown.update(f"{self.work}: {state}")

    def stop(self) -> None:
        """Show it no more."""
        if self._shown is not None:
            self._shown.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
