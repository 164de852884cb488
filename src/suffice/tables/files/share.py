"""How much of some files has been read, for those who wait."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suffice.tables.files.formats import DataFile


class Share:
    """The share of files that has been read: in bytes, and in rows within a parquet file."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._sizes = [path.stat().st_size for path in paths]
        self._n_rows: dict[Path, int] = {}

    def of(self, number: int, file: DataFile, n_rows: int) -> float | None:
        """The share, when so many rows of a file and all files before it have been read; None if unknown."""
        within, total = self._within(file, n_rows, self._sizes[number]), sum(self._sizes)
        before = sum(self._sizes[:number])
        return None if within is None or not total else (before + within * self._sizes[number]) / total

    def _within(self, file: DataFile, n_rows: int, size: int) -> float | None:
        if file.form == "parquet":
            if file.path not in self._n_rows:
                import pyarrow.parquet as pq

                self._n_rows[file.path] = pq.read_metadata(file.path).num_rows
            return n_rows / max(self._n_rows[file.path], n_rows, 1)
        if not file.raw:
            return None
        raw = file.raw[-1]
        return 1.0 if raw.closed or not size else min(1.0, raw.tell() / size)
