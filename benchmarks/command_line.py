"""The command `suffice`: how long its help takes, and what a long csv file costs."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import suffice
from comparison import MEGABYTE, Comparison, compare

OURS = "from suffice.cli import main; main({})"
THEIRS = "import click; click.command()(lambda: None)(['--help'])"


def command_help() -> list[Comparison]:
    """Theirs is a program of one empty command."""
    return [_help([]), _help(["fit"])]


def _help(command) -> Comparison:
    arguments = [*command, "--help"]
    return compare(
        f"suffice {' '.join(arguments)} (an empty click program)",
        0,
        lambda: OURS.format(arguments),
        lambda: THEIRS,
        repeats=21,
        at_least=1 / 3,
        clock=process_seconds,
    )


def process_seconds(code) -> float:
    """Seconds of a whole process, the interpreter's start included."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code()], check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - start


def long_csv(n: int = 1_000_000) -> list[Comparison]:
    """Theirs reads the whole file into pandas, then fits GaussianNB to its numbers."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        for start in range(0, n, 100_000):
            size = min(100_000, n - start)
            frame = pd.DataFrame(rng.normal(size=(size, 10)).round(4)).add_prefix("x")
            frame = frame.assign(kind=rng.choice(["red", "green"], size), y=rng.choice(["a", "b"], size))
            frame.to_csv(path, mode="a", header=start == 0, index=False)
        return [
            compare(
                "fit a csv file of 10 numbers and a category (pandas)",
                n,
                lambda: suffice.BayesClassifier().fit_from(path, target="y"),
                lambda: _with_pandas(path),
                repeats=3,
                most_memory=300 * MEGABYTE,
            )
        ]


def _with_pandas(path) -> object:
    frame = pd.read_csv(path)
    return GaussianNB().fit(frame.filter(like="x").to_numpy(), frame["y"])


PARTS = (command_help, long_csv)

if __name__ == "__main__":
    sys.exit(any(c.complaints for part in PARTS for c in part()))
