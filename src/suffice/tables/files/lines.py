"""jsonl files as batches: one object per line, its keys the columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from suffice.tables.files.formats import MOST_COLUMNS, DataFile, FileDataError
from suffice.tables.files.packed import UTF_8, not_utf8, whole_rows
from suffice.tables.wording import is_utf8, quoted

LARGEST_INTEGER = 2.0**63
"""Beyond this, Arrow reads the integers of jsonl files as floats."""
DEEPEST = 100
"""How deep lists and objects may be nested: Arrow's parser calls itself for each level, until it crashes."""
ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape of JSON; its group is half of a surrogate pair that stands alone."""
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
KEY = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t]*+:', re.DOTALL)
MOST_CELLS = 1 << 24
"""The most cells of some lines; Arrow's parser makes one for each line and each key of any line."""
TWICE = re.compile(r"Column\(/(.*)\) was specified twice", re.DOTALL)
TOO_LARGE = "which is too large for a number; drop the row, or write null for a missing cell."
CHANGED = re.compile(r"Column\(/(.*)\) changed from (\w+) to (\w+)", re.DOTALL)
ROW_NUMBER = re.compile(r"[.]? in row (\d+)$")
LF, CR = b"\n\r"
WHOLE = re.compile(r"-?[0-9]{1,38}")
SPACE = re.compile(r"[ \t\r\n]*")


def lines_batches(file: DataFile, types: dict[str, Any]) -> Generator[Any]:
    """Batches of the columns that occur in each, some in given types."""
    n_rows = 0
    for block in whole_rows(file, _end_of_lines):
        text = block.removeprefix(UTF_8).replace(b"\n" + UTF_8, b"\n").replace(b"\r" + UTF_8, b"\r")
        if not text.strip():
            continue
        for batch in _parsed(file, text, types, n_rows):
            n_rows += batch.num_rows
            yield batch


def _end_of_lines(block: bytes) -> int:
    return max(block.rfind(b"\n"), block.rfind(b"\r")) + 1


def _parsed(file: DataFile, block: bytes, types: dict[str, Any], n_before: int) -> Iterator[Any]:
    import pyarrow as pa

    _refuse_other_encodings(file, block, n_before)
    _refuse_other_values(file, block, n_before)
    _refuse_deep_nesting(file, block)
    _refuse_many_keys(file, block, n_before)
    try:
        table = _table(file, block, types, n_before)
    except pa.ArrowInvalid as error:
        raise _misread(file, block, n_before, str(error)) from error
    yield from table.to_batches()


def _misread(file: DataFile, block: bytes, n_before: int, said: str) -> FileDataError:
    """The error of a line that the parser refuses."""
    message = said.removeprefix("JSON parse error: ")
    number = ROW_NUMBER.search(message)
    row, reason = 0 if number is None else int(number[1]), ROW_NUMBER.sub("", message).rstrip(".")
    twice = TWICE.fullmatch(reason)
    if twice is not None:
        return file.error(f"row {n_before + row} has the key {quoted(twice[1])} twice; each may occur once.")
    changed = CHANGED.fullmatch(reason)
    if changed is not None:
        return file.error(
            f"column {quoted(changed[1])} changes from {changed[2]} to {changed[3]} at row {n_before + row}; "
            "each cell must be a number, a text or a time."
        )
    if "too big" in reason:
        lines = [one for one in re.split(rb"[\r\n]+", block) if one.strip()]
        for name, cell in _too_large(b"".join(lines[row : row + 1])):
            place = f"column {quoted(name)}: row {n_before + row}"
            return file.error(f"{place} holds {quoted(cell)}, {TOO_LARGE}")
    return file.error(f"row {n_before + row} cannot be read as a JSON object ({reason}).")


def _refuse_other_encodings(file: DataFile, block: bytes, n_before: int) -> None:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(file, block, n_before + _n_lines(block[: error.start])) from error


def _refuse_other_values(file: DataFile, block: bytes, n_before: int) -> None:
    """Refuse lines that are not of the form {…}.

    Arrow's parser crashes on null, and objects of many lines could be nested deeper than any line shows.
    """
    marks = np.frombuffer(b"\n" + block.strip() + b"\n", np.uint8)
    ends = np.flatnonzero((marks == LF) | (marks == CR))
    before, after = marks[ends[1:] - 1], marks[ends[:-1] + 1]
    empty = (LF, CR)
    if np.isin(before, [ord("}"), *empty]).all() and np.isin(after, [ord("{"), *empty]).all():
        return
    # Only spaces, or lines of another form, lead here.
    lines = (line for line in map(bytes.strip, re.split(rb"[\r\n]", block)) if line)
    for row, line in enumerate(lines, n_before):
        if not (line.startswith(b"{") and line.endswith(b"}")):
            shown = quoted(line[:200].decode("utf-8", "replace"))
            raise file.error(f"row {row} is not a JSON object in one line: {shown}.")


def _n_lines(text: bytes) -> int:
    """How many lines that are not empty end in a text."""
    return len(re.split(rb"[ \t]*[\r\n]\s*", text.lstrip())) - 1


def _refuse_deep_nesting(file: DataFile, block: bytes) -> None:
    marks = np.frombuffer(block, np.uint8)
    opening = np.flatnonzero((marks == ord("[")) | (marks == ord("{")))
    if len(opening) <= DEEPEST:
        return
    ends = np.flatnonzero((marks == LF) | (marks == CR))
    for line in np.flatnonzero(np.bincount(np.searchsorted(ends, opening)) > DEEPEST).tolist():
        start, stop = (ends[line - 1] if line else 0), (ends[line] if line < len(ends) else len(block))
        # What a string holds nests nothing; a quote that is never closed is refused by the parser.
        bare = np.frombuffer(STRING.sub(b"", block[start:stop]), np.uint8)
        steps = np.isin(bare, [ord("["), ord("{")]).astype(int) - np.isin(bare, [ord("]"), ord("}")])
        if steps.cumsum().max(initial=0) > DEEPEST:
            raise file.error(f"lists and objects are nested more than {DEEPEST} deep.")


def _refuse_many_keys(file: DataFile, block: bytes, n_before: int) -> None:
    n_keys, n_lines = len(set(KEY.findall(block))), max(block.count(b"\n"), block.count(b"\r"))
    if n_keys > MOST_COLUMNS:
        raise file.error(
            f"there are {n_keys:,} keys from row {n_before} on, but a table may have {MOST_COLUMNS:,} "
            "columns."
        )
    if n_keys * n_lines > MOST_CELLS:
        raise file.error(
            f"the {n_lines:,} lines from row {n_before} on hold {n_keys:,} different keys, each a column of "
            "its own; that is too wide a table to be read from jsonl, so convert the file to parquet."
        )


def _table(file: DataFile, block: bytes, types: dict[str, Any], n_before: int) -> Any:
    """Some lines, in which lone surrogates are read as U+FFFD, as in lists of texts."""
    import pyarrow as pa

    try:
        return _widened_table(block, types)
    except pa.ArrowInvalid as error:
        if "surrogate" not in str(error):
            raise
    for row, pairs in enumerate(_objects(block) if file.verbatim else (), n_before):
        for name, cell in pairs:
            if name in file.verbatim and isinstance(cell, str) and not is_utf8(cell):
                raise file.error(
                    f"column {quoted(name)}: row {row} holds half of a surrogate pair, which is no character "
                    f"and cannot be copied: {quoted(cell)}."
                )
    return _widened_table(ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], block), types)


def _widened_table(block: bytes, types: dict[str, Any]) -> Any:
    """Some lines, in which cells of different kinds in one column are text, as in a csv file."""
    import pyarrow as pa

    try:
        return _exact_table(block, types)
    except pa.ArrowInvalid as error:
        if CHANGED.search(str(error)) is None:
            raise
        try:
            objects = _objects(block)
        except ValueError:
            raise error from None
    texts = {name for name, of in types.items() if pa.types.is_string(of)}
    return _exact_table(_with_text(objects, texts | _mixed(objects)), types)


def _exact_table(block: bytes, types: dict[str, Any]) -> Any:
    """Some lines, in which integers of more than 64 bits keep their digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = _read(block, types)
    large = [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in types
        and pa.types.is_floating(column.type)
        and (pc.max(pc.abs(column)).as_py() or 0.0) >= LARGEST_INTEGER
    ]
    if not large:
        return table
    fractions = {
        name
        for pairs in _objects(block)
        for name, cell in pairs
        if isinstance(cell, _Number) and WHOLE.fullmatch(cell) is None
    }
    whole = {name: pa.decimal128(38, 0) for name in large if name not in fractions}
    return _read(block, {**types, **whole}).select(table.column_names) if whole else table


def _read(block: bytes, types: dict[str, Any]) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    schema = pa.schema(list(types.items())) if types else None
    return arrow_json.read_json(
        pa.BufferReader(block),
        arrow_json.ReadOptions(block_size=len(block) + 1, use_threads=False),
        arrow_json.ParseOptions(explicit_schema=schema, newlines_in_values=False),
    )


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, repeated keys too, which the parser refuses."""

    __slots__ = ()


def _objects(block: bytes) -> list[Any]:
    """The objects in some lines."""
    decoder = json.JSONDecoder(
        parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=_Pairs
    )
    text, place, objects = block.decode(), 0, []
    while place < len(text):
        start = SPACE.match(text, place)
        place = place if start is None else start.end()
        if place < len(text):
            one, place = decoder.raw_decode(text, place)
            objects.append(one if isinstance(one, _Pairs) else _Pairs())
    return objects


def _too_large(line: bytes) -> list[tuple[str, str]]:
    """The numbers of a line that are too large, with their keys; none where the line is broken besides."""
    try:
        objects = _objects(line)
    except ValueError:
        return []
    return [
        (name, cell)
        for pairs in objects
        for name, cell in pairs
        if isinstance(cell, _Number) and math.isinf(float(cell))
    ]


def _mixed(objects: list[Any]) -> set[str]:
    """The columns whose cells are of several kinds, each one value."""
    kinds: dict[str, set[type]] = {}
    for pairs in objects:
        for name, cell in pairs:
            if cell is not None:
                kinds.setdefault(name, set()).add(type(cell))
    return {name for name, found in kinds.items() if len(found) > 1 and not found & {list, _Pairs}}


def _with_text(objects: list[Any], texts: set[str]) -> bytes:
    """The lines of objects, in which the cells of some columns are text as it was written."""
    return "".join(
        "{" + ",".join(f"{json.dumps(name)}:{_written(cell, name in texts)}" for name, cell in pairs) + "}\n"
        for pairs in objects
    ).encode()


def _written(value: Any, as_text: bool = False) -> str:
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(part)}" for name, part in value) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    text = str(value) if isinstance(value, _Number) else json.dumps(value)
    return json.dumps(text) if as_text and not (value is None or type(value) is str) else text
