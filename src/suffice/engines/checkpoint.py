"""A checkpoint of long summing: the sums so far and the place in the files, written every few seconds.

After any interruption, the same call goes on from there, and ends in the same sums, bit by bit: a file's
batches are the same in every run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from suffice.engines.partial_sums import Merge
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Statistics
from suffice.storage import SufficeFileError
from suffice.storage.fields import Fields, Setting
from suffice.storage.saved import read, versions, write
from suffice.tables.files.batches import LabelledFiles
from suffice.tables.files.source import FileSource

SECONDS = 5.0
"""The time between two checkpoints."""


@dataclass
class Checkpoint:
    """Where sums are kept on the way, and what they are sums of."""

    path: Path
    run: dict[str, Any]
    """The target, the columns, and the files with their sizes and times."""
    files: FileSource
    row: int = 0
    """The rows that have been read."""
    saved: Fields | None = None
    _written: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, path: str | PathLike[str], labelled: LabelledFiles) -> Checkpoint:
        """The checkpoint of a run over files, which goes on where an earlier one stopped."""
        files = labelled.files
        if not isinstance(files, FileSource):
            raise TypeError("checkpoint= works for files only: other sources may give rows in another order.")
        stats = [(str(one), one.stat()) for one in files.paths]
        run = {
            "target": labelled.target,
            "weight": labelled.weight,
            "features": list(labelled.features),
            "files": [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats],
        }
        checkpoint = cls(Path(path), run, files)
        if checkpoint.path.exists():
            checkpoint.saved = checkpoint._fields(())
        return checkpoint

    def _fields(self, known: tuple[Any, ...]) -> Fields:
        fields = read(self.path, known)
        if fields.text("class") != "Checkpoint":
            raise SufficeFileError(f"{self.path} is not a checkpoint; name another file.")
        if fields.setting("run") != self.run:
            raise ValueError(
                f"the checkpoint {self.path} is of other files or columns, or the files have changed; delete "
                "it to start over."
            )
        return fields

    def sums(self, schema: Schema) -> Statistics | None:
        """The sums of the rows that an earlier run has read; None if there was none."""
        if self.saved is None:
            return None
        fields = self._fields(Merge.under(schema).known)
        return Statistics._from_fields(fields.branch("statistics"))

    def note(self, sums: Callable[[], Statistics]) -> None:
        """Write the sums of all rows read so far, if the last time is long ago."""
        if time.monotonic() - self._written < SECONDS:
            return
        held, there = self.files.locate(self.row - 1)
        place = {"row": self.row, "file": [str(one) for one in self.files.paths].index(str(held.path))}
        content = {
            "class": "Checkpoint",
            "run": Setting(self.run),
            "place": Setting({**place, "rows": there + 1}),
            "statistics": sums()._to_fields(),
            "written_with": versions(),
        }
        write(self.path, content)
        self._written = time.monotonic()

    def tables(self, tables: Iterator[Any]) -> Iterator[Any]:
        """All batches, after the first one only those that the saved sums lack."""
        for number, table in enumerate(tables):
            self.row += table.num_rows
            yield table
            if number == 0 and self.saved is not None:
                break
        else:
            return
        yield from self._others(self.saved.setting("place"))

    def _others(self, place: dict[str, int]) -> Iterator[Any]:
        """The batches behind a place."""
        left, self.row = place["rows"], place["row"]
        for table in self.files.after(place["file"], place["row"] - place["rows"]):
            if left > 0:
                left -= table.num_rows
            else:
                self.row += table.num_rows
                yield table

    def start_over(self) -> None:
        """Forget the saved sums, since all rows are read again."""
        self.saved, self.row = None, 0

    def done(self) -> None:
        """Remove the checkpoint, which nobody needs any more."""
        self.path.unlink(missing_ok=True)
