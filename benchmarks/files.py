"""Files of mixed columns against Arrow's own reading and writing of them, and the memory that they take."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, ipc, parquet

from comparison import MEGABYTE, Comparison, compare
from suffice import summarize
from suffice.families import Categorical, Normal

ROWS, MORE_ROWS, STEP = 5_000_000, 20_000_000, 250_000
LEVELS = (4, 12, 50, 200)
FAMILIES = {f"x{j}": Normal() for j in range(10)} | {f"c{j}": Categorical() for j in range(len(LEVELS))}
MOST_MEMORY, GROWTH = 700 * MEGABYTE, 1.1
RUN = "from suffice.cli import main; main()"
"""The command as it is used: alone in its process."""
MEASURE = """
import os, subprocess, sys
process = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a program from a small process: Linux counts the memory of whoever starts one as its own."""
WRITE = (
    "import sys; from pyarrow import csv, ipc; "
    "csv.write_csv(ipc.open_file(sys.argv[1]).read_all(), sys.argv[2])"
)


def tables(n_rows: int) -> Iterator[pa.Table]:
    """Ten numbers, four columns of text and a label, some rows at a time."""
    rng = np.random.default_rng(0)
    labels = np.array(["low", "mid", "high", "top"], dtype=object)
    for start in range(0, n_rows, STEP):
        n = min(STEP, n_rows - start)
        y = rng.integers(len(labels), size=n)
        columns = {f"x{j}": rng.normal(0.3 * (j % 3) * y) for j in range(10)}
        for j, n_levels in enumerate(LEVELS):
            words = np.array([f"level {i}" for i in range(n_levels)], dtype=object)
            columns[f"c{j}"] = words[np.minimum(rng.integers(n_levels, size=n) + y * (j == 1), n_levels - 1)]
        yield pa.table(columns | {"y": labels[y]})


def write(path: Path, n_rows: int) -> Path:
    """A file of so many rows."""
    some = tables(n_rows)
    first = next(some)
    make = {".parquet": parquet.ParquetWriter, ".arrow": ipc.new_file, ".csv": csv.CSVWriter}[path.suffix]
    with make(path, first.schema) as writer:
        writer.write_table(first)
        for table in some:
            writer.write_table(table)
    return path


def decode(path: Path) -> int:
    """Arrow's own reading, batch by batch.

    Arrow files need no decoding, and mapping one into memory costs nothing. Of those, every column is read
    once: numbers are added up, and text is encoded.
    """
    if path.suffix == ".csv":
        return sum(batch.num_rows for batch in csv.open_csv(path))
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as stream, ipc.open_file(stream) as reader:
            batches = map(reader.get_batch, range(reader.num_record_batches))
            return sum(_read_once(column) for batch in batches for column in batch.columns)
    with parquet.ParquetFile(path) as source:
        return sum(batch.num_rows for batch in source.iter_batches(1 << 17))


def _read_once(column: pa.Array) -> bool:
    encoded = column.dictionary_encode() if pa.types.is_string(column.type) else compute.sum(column)
    return encoded is not None


def file_reading() -> list[Comparison]:
    """Theirs is reading alone; asked is 70 % of its pace."""
    done = []
    for form in ("parquet", "arrow", "csv"):
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder) / f"rows.{form}", ROWS)
            done.append(
                compare(
                    f"summarize {form} against Arrow's reading",
                    ROWS,
                    partial(summarize, path, target="y", families=FAMILIES),
                    partial(decode, path),
                    repeats=3,
                    at_least=0.7,
                    most_memory=MOST_MEMORY,
                )
            )
    return done


def file_writing() -> list[Comparison]:
    """Theirs is Arrow's writer of the same csv file; asked is half of its pace."""
    with tempfile.TemporaryDirectory() as folder:
        path, model, out = (Path(folder) / name for name in ("rows.parquet", "m.suffice", "posteriors.csv"))
        write(path, ROWS)
        command("fit", path, "--target", "y", "-o", model)
        command("predict", model, path, "--proba", "-o", out)
        answers = csv.read_csv(out)
        # Both sides start an interpreter, so that the command is measured as it is used.
        feather = Path(folder) / "answers.arrow"
        with ipc.new_file(feather, answers.schema) as writer:
            writer.write_table(answers)
        theirs = [sys.executable, "-c", WRITE, str(feather), str(Path(folder) / "theirs.csv")]
        ours = [
            sys.executable,
            "-c",
            RUN,
            *map(str, ("predict", model, path, "--proba", "--force", "-o", out)),
        ]
        title = "predict --proba to csv against Arrow's writer"
        return [compare(title, ROWS, lambda: ours, lambda: theirs, repeats=3, at_least=0.5, clock=_seconds)]


def file_memory() -> list[Comparison]:
    """The peaks of whole processes; asked is less than 700 MB, and hardly more for four times the rows."""
    done, peaks = [], {}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "m.suffice"
        for n_rows in (ROWS, MORE_ROWS):
            path = write(Path(folder) / f"{n_rows}.parquet", n_rows)
            for deed, arguments in (
                ("fit", (path, "--target", "y", "--force", "-o", model)),
                ("evaluate", (model, path, "--target", "y")),
            ):
                seconds, peak = command(deed, *arguments)
                most = min(MOST_MEMORY, GROWTH * peaks.get(deed, np.inf))
                peaks.setdefault(deed, peak)
                title = f"suffice {deed}, against itself"
                c = Comparison(
                    title, n_rows, seconds, seconds, None, None, peak, 1, None, most, less_memory=False
                )
                print(c.line(), flush=True)
                done.append(c)
    return done


def command(*arguments: object) -> tuple[float, int]:
    """Run a command of suffice: its seconds, and its peak of memory in bytes."""
    start = time.perf_counter()
    line = [sys.executable, "-c", MEASURE, RUN, *map(str, arguments)]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE)  # noqa: S603
    return time.perf_counter() - start, 1024 * int(done.stdout)


def _seconds(line) -> float:
    start = time.perf_counter()
    subprocess.run(line(), check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.perf_counter() - start


PARTS = (file_reading, file_writing, file_memory)
