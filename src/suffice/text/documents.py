"""Documents as one run of UTF-8 bytes with offsets, read from any column of strings.

UTF-8 has no lone surrogates. They are read as U+FFFD, which is not part of a word, so that each character of
a document stays where it is in the caller's string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
VALUES_AT_ONCE = 1 << 12
"""Python strings that are encoded at once, so that little of the text is in memory twice."""


@dataclass(frozen=True, eq=False)
class Documents:
    """Document i is `bytes[offsets[i]:offsets[i + 1]]`; where `missing`, it is empty and unknown."""

    bytes: Bytes
    offsets: Offsets
    missing: NDArray[np.bool_] | None = None
    first: int = 0
    """The position of the first document in the input."""
    chosen: NDArray[np.integer[Any]] | None = None
    """The position of each document in the input, after some were left out."""

    @classmethod
    def missing_ones(cls, number: int) -> Documents:
        """Documents that are all missing."""
        return cls(np.empty(0, np.uint8), np.zeros(number + 1, np.int64), np.ones(number, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_bytes(self) -> int:
        """The number of bytes of text."""
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, first: int, last: int) -> Documents:
        """Documents `first` to `last`, without a copy."""
        missing = None if self.missing is None else self.missing[first:last]
        chosen = None if self.chosen is None else self.chosen[first:last]
        return Documents(self.bytes, self.offsets[first : last + 1], missing, self.first + first, chosen)

    def number(self, i: int) -> int:
        """The position of document i in the input."""
        return self.first + i if self.chosen is None else int(self.chosen[i])

    def take(self, rows: NDArray[np.integer[Any]]) -> Documents:
        """Some documents, in this order."""
        starts, lengths = self.offsets[:-1][rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        where = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        missing = None if self.missing is None else self.missing[rows]
        chosen = self.first + rows if self.chosen is None else self.chosen[rows]
        return Documents(self.bytes[where], offsets, missing, chosen=chosen)

    def text(self, i: int) -> str:
        """Document i as a string."""
        return self.bytes[self.offsets[i] : self.offsets[i + 1]].tobytes().decode()

    def texts(self) -> Iterator[str]:
        """Each document as a string."""
        return map(self.text, range(len(self)))


@dataclass(frozen=True, eq=False)
class TermCounts:
    """Document i holds `counts[j]` times the term `terms[j]`, for j from `starts[i]` to `starts[i + 1]`.

    Terms are in the order in which they first occur in the document. `unknown` is the number of tokens
    of each document that are not in the vocabulary.
    """

    starts: Offsets
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    unknown: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.unknown)


def read_documents(column: Any) -> Documents:
    """Documents from a list, a NumPy array, or a pandas, Polars or pyarrow column of strings."""
    import pyarrow as pa

    if isinstance(column, str | bytes):
        kind, one = ("string", "text") if isinstance(column, str) else ("bytes object", "document.decode()")
        raise TypeError(
            f"a single {kind} was passed where documents were expected; pass [{one}] for one document"
        )
    if not isinstance(column, Iterable) and not hasattr(column, "__arrow_c_stream__"):
        one = "None" if _is_missing(column) else "text"
        raise TypeError(_no_documents(column, f"pass [{one}] for one document"))
    shape = getattr(column, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ValueError(
            f"documents must be one-dimensional, not of shape {tuple(shape)}; pass a single column"
        )
    if isinstance(column, np.ndarray):
        column = column.tolist()
    if isinstance(column, list | tuple):
        return _from_values(column)
    if isinstance(column, pa.Array):
        return _from_arrow(_as_strings(column))
    if str(getattr(column, "dtype", "")) == "object":
        return _from_values(column.tolist())
    if isinstance(column, pa.ChunkedArray) or hasattr(column, "__arrow_c_stream__"):
        return _from_chunks(column)
    if hasattr(column, "to_numpy"):
        return _from_values(column.to_numpy().tolist())
    raise TypeError(_no_documents(column, "pass list(documents)"))


def _no_documents(column: Any, cure: str) -> str:
    return (
        f"documents must be a list of strings or a column of strings, not a {type(column).__name__}; {cure}"
    )


def _from_chunks(column: Any) -> Documents:
    """The chunks of a column that pyarrow can read, as one."""
    import pyarrow as pa

    try:
        chunks = [_as_strings(chunk) for chunk in pa.chunked_array(column).chunks]
    except UnicodeEncodeError:  # a pandas column of Python strings
        return _from_values(column.tolist())
    return _from_arrow(pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string()))


def _from_values(values: list[Any] | tuple[Any, ...]) -> Documents:
    """Python strings, chunk by chunk, into one run of bytes; None, NaN, NaT and pandas.NA are missing."""
    text = np.empty(_most_bytes(values), np.uint8)  # untouched memory costs nothing
    offsets = np.zeros(len(values) + 1, np.int64)
    missing = np.zeros(len(values), np.bool_)
    for first in range(0, len(values), VALUES_AT_ONCE):
        chunk = _from_arrow(_encoded(values[first : first + VALUES_AT_ONCE], first))
        last, start = first + len(chunk), offsets[first]
        begin, n_bytes = chunk.offsets[0], chunk.n_bytes
        text[start : start + n_bytes] = chunk.bytes[begin : begin + n_bytes]
        offsets[first + 1 : last + 1] = chunk.offsets[1:] + (start - begin)
        if chunk.missing is not None:
            missing[first:last] = chunk.missing
    return Documents(text[: offsets[-1]], offsets, missing if missing.any() else None)


def _most_bytes(values: list[Any] | tuple[Any, ...]) -> int:
    """The most bytes that these strings can take in UTF-8."""
    try:
        if all(map(str.isascii, values)):
            return sum(map(len, values))
    except TypeError:  # something missing, or something wrong that will be refused
        pass
    return 4 * sum(len(value) for value in values if isinstance(value, str | bytes))


def _encoded(values: list[Any] | tuple[Any, ...], first: int) -> Any:
    """An Arrow array of Python strings, of which the first has this position."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.large_string(), from_pandas=True, memory_pool=pa.system_memory_pool())
    except UnicodeEncodeError:
        clean = [without_surrogates(value) if isinstance(value, str) else value for value in values]
        return _encoded(clean, first)
    except pa.ArrowException as error:
        _refuse(values, error, first)


def without_surrogates(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates."""
    return LONE_SURROGATE.sub("\ufffd", text)


def _as_strings(array: Any) -> Any:
    """An Arrow array of any string-like type as `large_string`, its UTF-8 checked."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return _as_strings(array.dictionary).take(array.indices)
    if pa.types.is_null(array.type):
        return array.cast(pa.large_string())
    name = str(array.type)
    if "string" not in name and "binary" not in name:
        raise TypeError(f"documents must be strings, not Arrow values of type {name}; cast the column first")
    try:
        strings = array.cast(pa.large_string())
        strings.validate(full=True)
    except pa.ArrowException as error:
        _refuse(array.cast(name.replace("string", "binary")).to_pylist(), error)
    return strings


def _refuse(values: Iterable[Any], error: Exception, first: int = 0) -> NoReturn:
    """Raise an error that names the document that is not a string, or not valid UTF-8."""
    for i, value in enumerate(values, first):
        if isinstance(value, bytes):
            try:
                value.decode()
            except UnicodeDecodeError as problem:
                raise ValueError(
                    f"document {i}: not valid UTF-8 at byte {problem.start}; decode it first"
                ) from error
        elif not isinstance(value, str) and not _is_missing(value):
            raise TypeError(
                f"document {i} is of type {type(value).__name__}, not a string: {value!r:.80}; "
                "convert it with str, or pass None for a missing document"
            ) from error
    raise error


def _is_missing(value: Any) -> bool:
    """Whether a value stands for a missing document."""
    import pyarrow as pa

    try:
        return bool(pa.array([value], pa.large_string(), from_pandas=True).null_count)
    except pa.ArrowException:  # it is something, but no string
        return False


def _from_arrow(strings: Any) -> Documents:
    """The buffers of a `large_string` array, without a copy."""
    import pyarrow.compute as pc

    missing = None
    if strings.null_count:
        missing = strings.is_null().to_numpy(zero_copy_only=False)
        strings = pc.fill_null(strings, "")  # a null may cover bytes that are not text
    _, offsets, data = strings.buffers()
    if len(strings) == 0:
        return Documents(np.empty(0, np.uint8), np.zeros(1, np.int64), missing)
    first = strings.offset
    return Documents(
        np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
        np.require(np.frombuffer(offsets, np.int64)[first : first + len(strings) + 1], requirements="A"),
        missing,
    )
