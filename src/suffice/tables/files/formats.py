"""File formats by their extensions, and the errors of files that cannot be read."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.tables.files.options import DEFAULTS, ReadingOptions

FORMATS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "arrows", "feather", "ipc"),
}
"""Formats and their extensions; all but parquet files may be packed."""
TEXT = ("csv", "tsv")
"""Formats whose cells are text."""
TEXT_AS_CODES = {b"suffice": b"text"}
"""Metadata of an Arrow column whose dictionary only shortens its text: it declares no categories."""
PACKED = ("gz", "zst", "bz2", "xz")
"""The extensions of packed files."""
BLOCK_BYTES = 1 << 22
"""How much of a csv, tsv or jsonl file is read at a time; no row may be longer."""
BATCH_ROWS, BATCH_CELLS, FEWEST_ROWS = 1 << 17, 1 << 21, 1 << 13
"""The most rows and cells of a batch of a parquet file; it has some rows, however many columns there are."""
OTHER_CONTENT = ("magic bytes not found", "metadata bytes, but only read")
"""What Arrow says of files that are not in the format of their names, or not whole."""
MOST_COLUMNS = 100_000
"""The most columns of a text file; each takes some memory, even without rows."""


class FileDataError(ValueError):
    """A data file that cannot be read; the message says which one, where and why."""


class UnknownFormatError(FileDataError):
    """A file whose name does not reveal its format."""

    def __init__(self, path: Path) -> None:
        extensions = ", ".join(f".{extension}" for extension, *_ in FORMATS.values())
        super().__init__(f"{path}: the name does not reveal the format; it must end in {extensions}.")


def format_of(path: Path) -> str:
    """The format of a file, by its extension."""
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    for name, extensions in FORMATS.items():
        if suffixes and suffixes[-1] in extensions:
            return name
    raise UnknownFormatError(path)


@dataclass(frozen=True)
class DataFile:
    """A file to read."""

    path: Path
    form: str
    options: ReadingOptions = DEFAULTS
    called: str | None = None
    """What messages call it, if not by its path."""
    verbatim: tuple[str, ...] = ()
    """Columns whose text must stay as it is written, half of a surrogate pair too, which nothing can hold."""
    raw: list[Any] = field(default_factory=list, compare=False)
    """Where it is open, the open file last."""

    def __str__(self) -> str:
        return str(self.path) if self.called is None else self.called

    def error(self, what: str) -> FileDataError:
        """An error that names the file."""
        return FileDataError(f"{self}: {what}")

    @property
    def separator(self) -> str:
        """The character between cells."""
        return self.options.separator(self.form)


@contextmanager
def refusals(file: DataFile) -> Iterator[None]:
    """Name the file in the errors of Arrow, of decompression and of the decoder."""
    import pyarrow as pa

    try:
        yield
    except FileDataError:
        raise
    except MemoryError as error:  # of a size that a damaged file claims
        raise file.error("the file is damaged: it asks for more memory than there is.") from error
    except (UnicodeDecodeError, pa.ArrowException) as error:
        if any(words in str(error) for words in OTHER_CONTENT):
            raise file.error(f"this is no {file.form} file, or it is damaged.") from error
        raise file.error(f"{str(error).splitlines()[0].rstrip('.')}.") from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise file.error(f"the compressed data is damaged or truncated ({error}).") from error
    except OSError as error:
        if error.errno is not None:  # of the operating system, such as a file that does not exist
            error.filename = error.filename or str(file)
            raise
        raise file.error(f"the file is damaged or truncated ({error}).") from error


def batch_rows(n_columns: int) -> int:
    """The rows of a batch with so many columns: each batch costs some time, and each cell some memory."""
    return min(BATCH_ROWS, max(FEWEST_ROWS, BATCH_CELLS // max(n_columns, 1)))
