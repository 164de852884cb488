"""Measure suffice against scikit-learn on this machine: `make bench`, or some parts by name.

The sides of a comparison take turns in one process, and the medians are compared, so that a busy machine
slows both. Only ratios are asked for; seconds depend on the machine and are there to be read.
"""

import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import sklearn

import command_line
import dense
import discrete
import regression
import suffice
import text
from comparison import HEADER, Comparison
from compiling import compile_times
from growth import growth

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "bench.json"
PICTURE = ROOT / "docs" / "figures" / "benchmarks.svg"
MODULES = (dense, discrete, text, regression, command_line)
PARTS: dict[str, Callable[[], list[Comparison]]] = {
    part.__name__: part for module in MODULES for part in module.PARTS
}


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in {*PARTS, "compiling", "growth"}]
    if unknown:
        print(f"there is no part {unknown[0]!r}; the parts are {', '.join([*PARTS, 'compiling', 'growth'])}.")
        return 2
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"suffice {suffice.__version__} against scikit-learn {sklearn.__version__} on {machine}")
    print("Medians of runs taken in turns; memory is what a call holds at most beyond its arguments.\n")
    print(HEADER)
    done = [c for name, part in PARTS.items() if not chosen or name in chosen for c in part()]
    results = {"machine": machine, "comparisons": [asdict(c) | {"faster": c.times_faster} for c in done]}
    if not chosen or "compiling" in chosen:
        print("\ncompiling at first use, with an empty cache")
        results["compiling"] = compile_times()
    if not chosen or "growth" in chosen:
        print("\ngrowth with rows n, columns d and classes K")
        results["growth"] = [asdict(g) | {"exponent": g.exponent} for g in growth()]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {RESULTS}")
    if not chosen:
        draw(done)
        print(f"drawn in {PICTURE}")
    failed = [c for c in done if c.complaints]
    for c in failed:
        print(f"FAIL {c.work}: {c.times_faster:.3g}×; {'; '.join(c.complaints)}")
    return int(bool(failed))


def draw(done: list[Comparison]) -> None:
    """Times faster than scikit-learn on a logarithmic scale, with what was asked as a tick."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "suffice"
    shown = [c for c in done if "against" not in c.work and c.rows]
    figure = Figure(figsize=(8, 0.28 * len(shown) + 1), layout="constrained")
    axes = figure.subplots()
    places = range(len(shown))
    axes.barh(places, [c.times_faster for c in shown], left=0, color="#0072B2", height=0.6)
    asked = [(place, c.at_least) for place, c in zip(places, shown, strict=True) if c.at_least]
    axes.scatter(
        [a for _, a in asked],
        [p for p, _ in asked],
        marker="|",
        s=140,
        color="#D55E00",
        label="asked for",
        zorder=3,
    )
    for place, c in zip(places, shown, strict=True):
        axes.text(c.times_faster * 1.05, place, f"{c.times_faster:.3g}×", va="center", fontsize=8)
    axes.set(xscale="log", xlabel="times faster than scikit-learn", yticks=list(places))
    axes.set_yticklabels([c.work for c in shown], fontsize=8)
    axes.set_xlim(0.3, 3 * max(c.times_faster for c in shown))
    axes.axvline(1, color="0.5", linewidth=1)
    axes.invert_yaxis()
    axes.legend(loc="lower right")
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
