"""Files as streams of bytes, unpacked where they are packed, and as text in UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.tables.files import formats
from suffice.tables.files.formats import DataFile

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""How packed files start."""
UTF_8, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""The byte-order marks of text."""


@contextmanager
def opened(file: DataFile) -> Iterator[Any]:
    """The bytes of a file, unpacked if it starts like a packed one.

    Nothing but the caller reads from it: Arrow's own threads, when they read ahead through a Python object,
    wait forever if the reading ends early.
    """
    import pyarrow as pa

    with file.path.open("rb") as raw:
        file.raw.append(raw)
        if not raw.seekable():
            raise file.error(
                "rows are read twice, which a pipe cannot be; send it to stdin (-) instead, alone."
            )
        start = raw.read(10)
        raw.seek(0)
        kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)
        # Text may start with BZh, but not with what follows in a packed file.
        if kind == "bz2" and start[4:] != b"1AY&SY":
            kind = None
        if kind == "zstd":
            with pa.CompressedInputStream(raw, "zstd") as stream:
                yield stream
        else:
            unpack: dict[str | None, Callable[[Any], Any]] = {
                "gzip": lambda raw: gzip.GzipFile(fileobj=raw),
                "bz2": bz2.BZ2File,
                "xz": lzma.LZMAFile,
            }
            yield unpack.get(kind, lambda raw: raw)(raw)


def chunks(file: DataFile) -> Iterator[bytes]:
    """The text of a file in UTF-8, some of it at a time, without a byte-order mark at its beginning."""
    with opened(file) as stream:
        first, place = True, 0
        decoder = None if file.options.is_utf8 else codecs.getincrementaldecoder(file.options.encoding)()
        while chunk := stream.read(formats.BLOCK_BYTES):
            if first and file.options.is_utf8 and chunk.startswith(UTF_16):
                raise not_utf8(file, chunk, None)
            text = chunk if decoder is None else _decoded(file, decoder, chunk, place)
            yield text.removeprefix(UTF_8) if first else text
            first, place = False, place + len(chunk)
        if decoder is not None:
            yield _decoded(file, decoder, b"", place, final=True)


def _decoded(file: DataFile, decoder: Any, chunk: bytes, place: int, *, final: bool = False) -> bytes:
    try:
        text: str = decoder.decode(chunk, final)
    except UnicodeError as error:
        at = place + getattr(error, "start", 0)
        raise file.error(
            f"the file is not {file.options.encoding} ({getattr(error, 'reason', error)} near byte {at}); "
            "name its encoding with --encoding."
        ) from error
    return text.encode("utf-8", "replace")


def not_utf8(file: DataFile, block: bytes, row: int | None) -> formats.FileDataError:
    """The error of text that is in another encoding, in a row or in the header."""
    likely = "utf-16" if block.startswith(UTF_16) else "latin-1"
    place = " in the header" if row is None else f" in row {row}"
    return file.error(
        f"the text is not UTF-8{place}; name its encoding, as in --encoding {likely}, or convert the file "
        f"with iconv -f {likely.replace('latin-1', 'latin1')} -t utf-8."
    )


def whole_rows(file: DataFile, end_of_rows: Callable[[bytes], int]) -> Generator[bytes]:
    """The text of a file in blocks that end where a row does."""
    rest = b""
    for chunk in chunks(file):
        block = rest + chunk
        end = end_of_rows(block)
        if end == 0 and len(block) > formats.BLOCK_BYTES:
            raise file.error(
                f"a row is longer than {formats.BLOCK_BYTES >> 20} MB, or a quote is never closed; it begins "
                f"with {block[:30].decode('utf-8', 'replace')!r}."
            )
        if end:
            yield block[:end]
        rest = block[end:]
    if rest:
        rest += b"\n"
        if end_of_rows(rest) < len(rest):
            raise file.error(
                f"a quote is never closed, after {rest[:30].decode('utf-8', 'replace')!r} near the end."
            )
        yield rest
