"""Writing data files and reading them back."""

import pyarrow as pa
import pytest

from suffice.tables.files.formats import FileDataError
from suffice.tables.files.options import ReadingOptions
from suffice.tables.files.source import open_source


def rows_of(path, form=None, **options):
    """The cells of a file, by column."""
    source = open_source(path, form, ReadingOptions(**options))
    return source.through(lambda batches: pa.concat_tables(list(batches))).to_pydict()


def write(path, content, encoding="utf-8"):
    """Write a file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def refused(path, match, **options):
    """The file is refused by its name."""
    with pytest.raises(FileDataError, match=match) as refusal:
        rows_of(path, **options)
    assert path.name in str(refusal.value)
