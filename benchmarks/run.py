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
from typing import Any

import sklearn

import command_line
import cross_validation
import dense
import discrete
import files
import frames
import regression
import suffice
import text
import weighed
from comparison import HEADER, Comparison
from compiling import compile_times
from growth import growth
from quality import quality
from text_quality import text_quality

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "bench.json"
PICTURE = ROOT / "docs" / "figures" / "benchmarks.svg"
MODULES = (dense, discrete, frames, text, regression, cross_validation, command_line, files, weighed)
PARTS: dict[str, Callable[[], list[Comparison]]] = {
    part.__name__: part for module in MODULES for part in module.PARTS
}
ANSWERS = {"quality": quality, "text_quality": text_quality}
NAMED = ["weighed", *ANSWERS]
"""Measured only where they are named: they take long, and answers need data sets."""
USUAL = [*(name for name in PARTS if name not in NAMED), "compiling", "growth"]
KNOWN = [*USUAL, *NAMED]


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in KNOWN]
    if unknown:
        print(f"there is no part {unknown[0]!r}; the parts are {', '.join(KNOWN)}.")
        return 2
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"suffice {suffice.__version__} against scikit-learn {sklearn.__version__} on {machine}")
    if not chosen or not ANSWERS.keys() >= set(chosen):
        print("Medians of runs taken in turns; memory is what a call holds at most beyond its arguments.\n")
        print(HEADER)
    failed: list[Comparison] = []
    for name in chosen or USUAL:
        if name in PARTS:
            done = PARTS[name]()
            keep(name, [asdict(c) | {"faster": c.times_faster} for c in done])
            failed += [c for c in done if c.complaints]
        elif name == "compiling":
            print("\ncompiling at first use, with an empty cache")
            keep(name, compile_times())
        elif name in ANSWERS:
            print("\nanswers on public data sets")
            answers = ANSWERS[name]()
            if not answers:
                return 1
            keep(name, answers)
        else:
            print("\ngrowth with rows n, columns d and classes K")
            keep(name, [asdict(g) | {"exponent": g.exponent} for g in growth()])
    print(f"\nwritten to {RESULTS}")
    if any(name in PARTS for name in chosen or USUAL):
        draw([c for name, part in kept().items() if name in PARTS for c in part])
        print(f"drawn in {PICTURE}")
    for c in failed:
        print(f"FAIL {c.work}: {c.times_faster:.3g}×; {'; '.join(c.complaints)}")
    return int(bool(failed))


def kept() -> dict[str, Any]:
    """What was measured last of every part."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def keep(name: str, measured: Any) -> None:
    """Put one part in the place of what was measured of it before."""
    RESULTS.parent.mkdir(exist_ok=True)
    results = kept() | {name: measured}
    in_order = {known: results[known] for known in KNOWN if known in results}
    RESULTS.write_text(json.dumps(in_order, indent=1) + "\n", encoding="utf-8")


def draw(done: list[dict[str, Any]]) -> None:
    """Times faster than scikit-learn on a logarithmic scale, with what was asked as a tick."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "suffice"
    shown = [c for c in done if "against" not in c["work"] and c["rows"]]
    figure = Figure(figsize=(8, 0.28 * len(shown) + 1), layout="constrained")
    axes = figure.subplots()
    axes.barh(range(len(shown)), [c["faster"] for c in shown], color="#0072B2", height=0.6)
    asked = [(c["at_least"], place) for place, c in enumerate(shown) if c["at_least"]]
    style = {"marker": "|", "s": 140, "color": "#D55E00", "label": "asked for", "zorder": 3}
    axes.scatter([a for a, _ in asked], [place for _, place in asked], **style)
    for place, c in enumerate(shown):
        axes.text(
            max(c["faster"], c["at_least"] or 0.0) * 1.08,
            place,
            f"{c['faster']:.3g}×",
            va="center",
            fontsize=8,
        )
    axes.set(xscale="log", xlabel="times faster than scikit-learn", yticks=range(len(shown)))
    axes.set_yticklabels([c["work"] for c in shown], fontsize=8)
    axes.set_xlim(0.3, 3 * max((c["faster"] for c in shown), default=1.0))
    axes.axvline(1, color="0.5", linewidth=1)
    axes.invert_yaxis()
    axes.legend(loc="lower right")
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
