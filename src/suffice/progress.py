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
    quiet : bool, optional
        Whether nothing is ever shown.
    """

    def __init__(self, work: str, patience: float | None = None, *, quiet: bool = False) -> None:
        self.work, self.patience, self.quiet = work, PATIENCE if patience is None else patience, quiet
        self._started = time.monotonic()
        self._shown: Any = None

    def say(self, state: str, share: float | None = None) -> None:
        """Show how far the work has come; with the share of it that is done, also how long the rest takes."""
        if self._shown is None:
            early = time.monotonic() - self._started < self.patience
            if early or self.quiet or not sys.stderr.isatty():
                return
            from rich.console import Console

            self._shown = Console(stderr=True).status(self.work)
            self._shown.start()
        self._shown.update(f"{self.work}: {state}{self._left(share)}")

    def rows(self, n_rows: int, share: float | None = None) -> None:
        """Show how many rows have been read, how many a second, and how long the rest takes."""
        seconds = max(time.monotonic() - self._started, 1e-3)
        self.say(f"{n_rows:,} rows, {n_rows / seconds:,.0f} a second", share)

    def _left(self, share: float | None) -> str:
        """The share in per cent, and the time left at the speed so far."""
        if share is None or not 0.0 < share <= 1.0:
            return ""
        seconds = round((time.monotonic() - self._started) * (1.0 - share) / share)
        hours, minutes = seconds // 3600, seconds // 60 % 60
        left = f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
        return f", {100 * share:.0f} %, {left} left"

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
