"""Arrow: streams of any library (`__arrow_c_stream__`), readers, datasets and scanners."""

from __future__ import annotations

from typing import Any

from suffice.engines.streams import BatchRows, FrameRows, ScannedRows


def rows(source: Any) -> BatchRows:
    """The rows of an Arrow stream, which can be read once, or of a dataset, which can be read again."""
    import pyarrow as pa

    if hasattr(source, "scanner"):
        return ScannedRows(
            source.schema.names,
            lambda names: source.scanner(columns=list(names)).to_batches(),
            "the dataset",
        )
    if hasattr(source, "to_reader") and not hasattr(source, "__arrow_c_stream__"):
        source = source.to_reader()
    reader = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    found = FrameRows(iter(reader))
    found.title = "the stream"
    return found
