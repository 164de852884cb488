"""csv and tsv files as batches of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.threads import threads
from suffice.tables.files.formats import MOST_COLUMNS, DataFile, FileDataError
from suffice.tables.files.options import MISSING
from suffice.tables.files.packed import UTF_8, not_utf8, whole_rows
from suffice.tables.wording import counted, quoted

WRONG_LENGTH = re.compile(r"Expected (\d+) columns?, got (\d+)")
ROW_NUMBER = re.compile(r"Row #(\d+)")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""What may separate cells if it is not what was expected."""
POINTED = r"^\s*[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$"
"""A number with one point, which would be read as a decimal point."""
THOUSANDS = r"^\s*[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*|\.\d{3})(?:[eE][+-]?\d+)?\s*$"
"""A number whose points can only separate thousands."""
DECIMAL_COMMA = r"^\s*[+-]?(?:(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?\s*$"


class _Patterns(NamedTuple):
    """Regular expressions of rows in bytes. A quote opens a cell only at its start, as in Arrow's parser."""

    first: re.Pattern[bytes]
    """The first row that is not empty."""
    all: re.Pattern[bytes]
    """All whole rows."""
    cell: re.Pattern[str]
    """A cell with the separator that follows: what is in quotes, what comes after them, what has none."""


@cache
def _patterns(separator: str) -> _Patterns:
    between = re.escape(separator)
    cell = rf'(?:"[^"]*+(?:""[^"]*+)*+"[^{between}\r\n]*+|(?!")[^{between}\r\n]*+)'
    row = rf"(?:{cell}{between})*+{cell}(?:\r\n?|\n)"
    name = rf'(?:"([^"]*+(?:""[^"]*+)*+)"([^{between}]*+)|((?!")[^{between}]*+)){between}'
    return _Patterns(
        re.compile(rf"[\r\n]*+{row}".encode()), re.compile(rf"(?:{row})*+".encode()), re.compile(name)
    )


def _end_of_rows(separator: str, block: bytes) -> int:
    """Where the last whole row of a block ends."""
    quotes = _quotes(separator, block)
    if quotes is None:
        found = _patterns(separator).all.match(block)
        return 0 if found is None else found.end()
    end = len(block)
    while True:
        end = max(block.rfind(b"\n", 0, end), block.rfind(b"\r", 0, end))
        n_before = int(np.searchsorted(quotes, end))
        if end < 0 or n_before % 2 == 0:
            return end + 1
        end = int(quotes[n_before - 1])  # the row ends within quotes: look before they open


def _quotes(separator: str, block: bytes) -> NDArray[np.intp] | None:
    """The places of all quotes, if each second one closes what the one before it opened; else None.

    That is so if every other quote is where a cell starts, or follows one that would close the cell and so
    stands for a quote in it.
    """
    if b'"' not in block:
        return np.empty(0, dtype=np.intp)
    text = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    before = text[quotes[::2] - 1] if quotes[0] else np.append(np.uint8(ord("\n")), text[quotes[2::2] - 1])
    opens = np.zeros(256, dtype=np.bool_)
    opens[list(f'{separator}\n\r"'.encode())] = True
    return quotes if opens[before].all() else None


@contextmanager
def header_and_rows(file: DataFile) -> Iterator[tuple[list[str], Iterator[bytes]]]:
    """The names in the first row that is not empty, and blocks of the rows below."""
    if file.separator == file.options.decimal:
        raise file.error(
            f"cells and decimals are both separated by {quoted(file.separator)}; name what separates cells, "
            "as in --sep ';'."
        )
    with closing(whole_rows(file, partial(_end_of_rows, file.separator))) as blocks:
        for block in blocks:
            found = _patterns(file.separator).first.match(block)
            if found is not None and found[0].strip(b"\r\n"):
                break
        else:
            raise file.error("the file is empty; its first line must name the columns.")
        if b"\0" in block:
            raise file.error("the file contains NUL bytes, so it is not text.")
        names, below = _cells(file, found[0]), block[found.end() :]
        _refuse_another_separator(file, names, below)
        yield names, _below(below, blocks)


def _below(block: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of rows, without the byte-order marks and empty rows that joined files leave."""
    while True:
        if UTF_8[:1] in block and UTF_8 in block:  # a single byte is found faster
            block = block.removeprefix(UTF_8).replace(b"\n" + UTF_8, b"\n").replace(b"\r" + UTF_8, b"\r")
        if block.lstrip(b"\r\n"):  # which copies no block that begins with a cell
            yield block
        following = next(blocks, None)
        if following is None:
            return
        block = following


def _cells(file: DataFile, row: bytes) -> list[str]:
    """The cells of the header."""
    try:
        text = row.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise not_utf8(file, row, None) from error
    n_cells = text.count(file.separator) + 1
    if n_cells > MOST_COLUMNS:
        raise file.error(f"the header has {n_cells:,} cells, but a table may have {MOST_COLUMNS:,} columns.")
    cells = _patterns(file.separator).cell.findall(text + file.separator)
    return [inside.replace('""', '"') + after if inside or after else bare for inside, after, bare in cells]


def _refuse_another_separator(file: DataFile, names: list[str], below: bytes) -> None:
    """Refuse a single column whose name and first row hold another separator, unless it was chosen."""
    if len(names) > 1 or file.options.sep is not None:
        return
    found = _patterns(file.separator).first.match(below)
    row = b"" if found is None else found[0]
    for other, word in SEPARATORS.items():
        n_cells = names[0].count(other)
        if other != file.separator and n_cells and row.count(other.encode()) == n_cells:
            raise file.error(
                f"the cells seem to be separated by {word}s: the header is {quoted(names[0])}. Name the "
                f"separator with --sep {'tab' if other == chr(9) else repr(other)}."
            )


def separated_batches(file: DataFile, names: tuple[str, ...], types: Mapping[str, Any]) -> Iterator[Any]:
    """Batches of text with these columns.

    Columns whose types are known by now are numbers, where all their cells in a block are such.
    """
    n_rows = 0
    with header_and_rows(file) as (header, blocks):
        for block in blocks:
            for batch in _parsed(file, block, header, names, n_rows, types):
                n_rows += batch.num_rows
                yield batch


def _parsed(
    file: DataFile,
    block: bytes,
    header: list[str],
    names: tuple[str, ...],
    n_before: int,
    types: Mapping[str, Any],
) -> Iterator[Any]:
    import pyarrow as pa

    numbers = {name: of for name, of in types.items() if of in (pa.int64(), pa.float64()) and name in names}
    if file.options.decimal != "," and any(_is_not_a_cell(file, name) for name in numbers):
        with suppress(pa.ArrowInvalid):  # what is wrong is said of the text
            table = _read(file, block, header, names, numbers=numbers)
            yield from _without_headers(file, block, header, table).to_batches()
            return
    try:
        table = _read(file, block, header, names)
    except pa.ArrowInvalid as error:
        raise _misread(file, block, header, n_before, str(error)) from error
    for batch in _without_headers(file, block, header, table).to_batches():
        yield _with_points(file, batch, n_before) if file.options.decimal == "," else batch
        n_before += batch.num_rows


def _is_not_a_cell(file: DataFile, name: str) -> bool:
    """Whether the name of a column of numbers, in a header once more, is neither a number nor missing."""
    try:
        float(name)
    except ValueError:
        return name not in _missing(file) and name.strip() != ""
    return False


def _missing(file: DataFile) -> tuple[str, ...]:
    return MISSING if file.options.missing is None else file.options.marks


def _read(
    file: DataFile,
    block: bytes,
    header: list[str],
    names: tuple[str, ...] | list[str],
    missing: tuple[str, ...] | None = None,
    numbers: Mapping[str, Any] | None = None,
) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    return csv.read_csv(
        pa.BufferReader(block),
        # Arrow's threads share the columns, but do not tell in which row an error is.
        csv.ReadOptions(
            column_names=header,
            block_size=len(block) + 1,
            use_threads=numbers is not None and threads() > 1,
        ),
        csv.ParseOptions(delimiter=file.separator, newlines_in_values=True),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()) | dict(numbers or {}),
            include_columns=list(names),
            strings_can_be_null=True,
            null_values=_missing(file) if missing is None else missing,
        ),
    )


def _without_headers(file: DataFile, block: bytes, header: list[str], table: Any) -> Any:
    """A table without the headers of files that were joined to the first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name, column = table.column_names[0], table.column(0)
    if not pa.types.is_string(column.type):  # a header among numbers could not be read
        return table
    may_repeat = column.null_count if name in _missing(file) else pc.any(pc.equal(column, name)).as_py()
    if len(header) == 1 or not may_repeat:
        return table
    whole = _read(file, block, header, header, missing=())
    again = pc.equal(whole.column(0), header[0])
    for column, name in zip(whole.columns[1:], header[1:], strict=True):
        again = pc.and_(again, pc.equal(column, name))
    return table.filter(pc.invert(pc.fill_null(again, fill_value=False)))


def _with_points(file: DataFile, batch: Any, n_before: int) -> Any:
    """A batch in which numbers with decimal commas, such as 1.234,5, have points instead."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        is_number = pc.match_substring_regex(column, DECIMAL_COMMA)
        _refuse_points(file, name, column, is_number, n_before)
        plain = pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")
        columns.append(pc.if_else(is_number, plain, column))
    return pa.record_batch(columns, names=batch.schema.names)


def _refuse_points(file: DataFile, name: str, column: Any, is_number: Any, n_before: int) -> None:
    """Refuse numbers with a point in a column of numbers, unless other cells show that it parts thousands."""
    import pyarrow.compute as pc

    pointed = pc.match_substring_regex(column, POINTED)
    if not pc.any(pointed).as_py() or not pc.all(pc.or_(is_number, pointed)).as_py():
        return
    if pc.any(pc.match_substring_regex(column, THOUSANDS)).as_py():
        pointed = pc.and_not(pointed, is_number)
    wrong = pc.index(pointed, value=True).as_py()
    if wrong >= 0:
        raise file.error(
            f"column {quoted(name)}: row {n_before + wrong} holds {quoted(column[wrong].as_py())}, but "
            "decimals are separated by commas, and nothing in the column shows that points separate "
            "thousands; write the number without a point, or read the file without --decimal."
        )


def _misread(file: DataFile, block: bytes, header: list[str], n_before: int, message: str) -> FileDataError:
    """The error of a row that cannot be read, by its number among the rows of the file."""
    number = ROW_NUMBER.search(message)
    n_above = 0 if number is None else _n_rows(file, block, header, int(number[1]) - 1)
    row = n_before + n_above
    if "UTF8" in message:
        return not_utf8(file, block, row)
    lengths = WRONG_LENGTH.search(message)
    if lengths is None:
        return file.error(f"row {row} cannot be read ({message.rstrip('.')}).")
    text = message[lengths.end() :].removeprefix(":").strip()
    found, expected = counted(int(lengths[2]), "cell"), counted(int(lengths[1]), "column")
    return file.error(
        f"row {row} has {found}, but there are {expected}: {quoted(text)}. Correct the row; a cell that "
        f"holds {quoted(file.separator)} must be in quotes."
    )


def _n_rows(file: DataFile, block: bytes, header: list[str], n_parsed: int) -> int:
    """How many of the first rows of a block are rows of data, and not headers."""
    rows = (one[0] for one in _patterns(file.separator).first.finditer(block))
    above = b"".join(islice((row for row in rows if row.strip(b"\r\n")), n_parsed))
    if not above:
        return 0
    table = _read(file, above, header, header)
    return int(_without_headers(file, above, header, table).num_rows)
