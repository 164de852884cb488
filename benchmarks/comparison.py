"""How two ways of doing the same work are compared: in turns, in one process, by medians."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 2**20
RESET_PEAK = Path("/proc/self/clear_refs")
Deed = Callable[[], object]
Clock = Callable[[Deed], float]


@dataclass
class Comparison:
    """Medians in seconds and peaks in bytes of both sides, and what is asked of them (None: nothing).

    `limit` is the time below which the work cannot go on this machine: reading the bytes once, or the
    matrix product alone.
    """

    work: str
    rows: int
    theirs: float
    ours: float
    limit: float | None
    their_memory: int | None
    our_memory: int | None
    repeats: int
    at_least: float | None
    most_memory: int | None
    less_memory: bool

    @property
    def times_faster(self) -> float:
        return self.theirs / self.ours

    @property
    def complaints(self) -> list[str]:
        found = []
        if self.at_least is not None and self.times_faster < self.at_least:
            found.append(f"asked {self.at_least:.3g}×")
        if None not in (self.most_memory, self.our_memory) and self.our_memory > self.most_memory:
            found.append(f"asked at most {self.most_memory / MEGABYTE:.0f} MB")
        if self.less_memory and self.our_memory is not None and self.our_memory >= self.their_memory:
            found.append("asked less memory than theirs")
        return found

    def line(self) -> str:
        limit = "" if self.limit is None else f"{1e3 * self.limit:.1f} ms"
        memory = [
            "" if peak is None else f"{peak / MEGABYTE:.0f} MB"
            for peak in (self.their_memory, self.our_memory)
        ]
        asked = self.at_least is not None or self.most_memory is not None
        verdict = "; ".join(["FAIL", *self.complaints]) if self.complaints else "ok" if asked else ""
        return (
            f"{self.work:<52}{self.rows:>10,}{1e3 * self.theirs:>11.1f} ms{1e3 * self.ours:>9.1f} ms"
            f"{self.times_faster:>8.3g}×{limit:>12}{memory[0]:>10}{memory[1]:>9}  {verdict}".rstrip()
        )


HEADER = (
    f"{'work':<52}{'rows':>10}{'theirs':>14}{'suffice':>12}{'faster':>9}{'limit':>12}"
    f"{'memory':>10}{'of ours':>9}"
)


def seconds(deed: Deed) -> float:
    """Seconds of one call; short ones are repeated, to 50 ms."""
    calls, start = 0, time.perf_counter()
    while True:
        deed()
        calls += 1
        passed = time.perf_counter() - start
        if passed > 0.05:
            return passed / calls


def compare(
    work: str,
    rows: int,
    ours: Deed,
    theirs: Deed,
    *,
    limit: Deed | None = None,
    repeats: int = 5,
    at_least: float | None = None,
    most_memory: int | None = None,
    less_memory: bool = False,
    clock: Clock = seconds,
) -> Comparison:
    """Both sides, and the limit, in turns after one turn each to warm up; then the memory of each."""
    sides = [theirs, ours] if limit is None else [theirs, ours, limit]
    for side in sides:
        clock(side)
    turns = [[clock(side) for side in sides] for _ in range(repeats)]
    medians = [statistics.median(times) for times in zip(*turns, strict=True)]
    peaks = [peak_memory(side) for side in (theirs, ours)] if clock is seconds else [None, None]
    result = Comparison(
        work,
        rows,
        medians[0],
        medians[1],
        None if limit is None else medians[2],
        *peaks,
        repeats,
        at_least,
        most_memory,
        less_memory,
    )
    print(result.line(), flush=True)
    return result


def peak_memory(deed: Deed) -> int | None:
    """Bytes that a deed holds at most beyond what there was before; None where the system does not tell."""
    if not RESET_PEAK.exists():
        return None
    gc.collect()
    RESET_PEAK.write_text("5")
    before = _status("VmRSS")
    deed()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])
