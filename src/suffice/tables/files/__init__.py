"""Files as rows: csv, tsv, jsonl, parquet and arrow, read in batches, repeatedly and in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy import names_of

if TYPE_CHECKING:
    from suffice.tables.files.batches import LabelledBatch, LabelledFiles, UnknownColumnError, require_column
    from suffice.tables.files.formats import FileDataError, UnknownFormatError
    from suffice.tables.files.source import FileSource, Types, WrongCellError, is_source, open_source

__all__ = [
    "FileDataError",
    "FileSource",
    "LabelledBatch",
    "LabelledFiles",
    "Types",
    "UnknownColumnError",
    "UnknownFormatError",
    "WrongCellError",
    "is_source",
    "open_source",
    "require_column",
]

# At first use, so that the command line can list the formats without loading any of this.
__getattr__ = names_of(
    __name__,
    {
        "FileDataError": "suffice.tables.files.formats",
        "FileSource": "suffice.tables.files.source",
        "LabelledBatch": "suffice.tables.files.batches",
        "LabelledFiles": "suffice.tables.files.batches",
        "Types": "suffice.tables.files.source",
        "UnknownColumnError": "suffice.tables.files.batches",
        "UnknownFormatError": "suffice.tables.files.formats",
        "WrongCellError": "suffice.tables.files.source",
        "is_source": "suffice.tables.files.source",
        "open_source": "suffice.tables.files.source",
        "require_column": "suffice.tables.files.batches",
    },
)
