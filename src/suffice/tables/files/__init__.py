"""Files as rows: csv, tsv, jsonl, parquet and arrow, read in batches again and again with bounded memory."""

from suffice.tables.files.batches import LabelledBatch, LabelledFiles, UnknownColumnError, require_column
from suffice.tables.files.formats import FORMATS, FileDataError, UnknownFormatError
from suffice.tables.files.source import FileSource, Types, WrongCellError, is_source, open_source

__all__ = [
    "FORMATS",
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
