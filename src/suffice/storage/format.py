"""The bytes of a file: safetensors, with a checksum over all of it at a fixed place.

    8 bytes   the length of the header, little-endian
    header    {"__metadata__": {"sha256": …, "suffice": "1", "content": …},
               name: {"dtype": …, "shape": …, "data_offsets": …}, …}
    tensors   one after the other, no gaps

The checksum is that of the file with 64 zeros in its place. Sizes are checked before anything is allocated,
so reading a file never takes more memory than a small multiple of its length.
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
"""The format that is written. Every earlier one can be read."""
OPENING = b'{"__metadata__":{"sha256":"'
DIGEST = slice(8 + len(OPENING), 8 + len(OPENING) + 64)
LONGEST_HEADER = 100_000_000
"""The same limit as in safetensors' own reader."""
LONGEST_MESSAGE = 1_000
"""The most characters of an error before it is shortened."""
MOST_CONTAINERS, MOST_ITEMS = 1_000_000, 4_000_000
"""The most lists and objects, and the most values, of a short header; long ones may have more."""
DTYPES = {
    "BOOL": np.dtype(np.bool),
    **{
        f"{letter}{8 * size}": np.dtype(f"<{kind}{size}")
        for letter, kind in ("Ii", "Uu")
        for size in (1, 2, 4, 8)
    },
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
METADATA = {"sha256", "suffice", "content"}

Tensors = dict[str, NDArray[Any]]
Buffer = bytes | bytearray | memoryview


class SufficeFileError(ValueError):
    """A file that is damaged, or that does not hold a model or statistics of suffice.

    It is a `ValueError`, and its message says what is wrong with the file.

    Examples
    --------
    >>> import io, suffice
    >>> try:
    ...     suffice.load(io.BytesIO(b"any other file" * 10))
    ... except suffice.SufficeFileError as error:
    ...     print(error)
    this is not a suffice file: it does not start like one.
    """

    def __init__(self, message: str) -> None:
        # A file may name its parts at any length.
        is_long = len(message) > LONGEST_MESSAGE
        super().__init__(f"{message[:LONGEST_MESSAGE]} … {message[-100:]}" if is_long else message)


def pack(content: dict[str, Any], tensors: Tensors) -> list[Buffer]:
    """The bytes of a file, part by part: the same bytes for the same content."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, "suffice": str(FORMAT), "content": text}}
    parts: list[Buffer] = []
    place = 0
    # As in safetensors' own writer the widest come first, so that each begins at a multiple of its size.
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        dtype = tensor.dtype.newbyteorder("<")
        if dtype not in NAMES:
            raise ValueError(f"{name}: a file cannot hold an array of type {tensor.dtype}.")
        data = np.ascontiguousarray(tensor, dtype).reshape(-1).view(np.uint8)
        ends = [place, place + len(data)]
        header[name] = {"dtype": NAMES[dtype], "shape": list(tensor.shape), "data_offsets": ends}
        parts.append(data.data)
        place = ends[1]
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    if len(encoded) > LONGEST_HEADER:
        raise ValueError(
            f"the header would take {len(encoded)} bytes, but safetensors allows at most {LONGEST_HEADER}."
        )
    start = bytearray(len(encoded).to_bytes(8, "little") + encoded)
    start[DIGEST] = _digest([start, *parts])
    return [start, *parts]


def _digest(parts: list[Buffer]) -> bytes:
    """The checksum of the parts of a file, of which the first holds zeros in its place."""
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode()


def unpack(file: IO[bytes]) -> tuple[dict[str, Any], Tensors]:
    """The content and the tensors of a file, once all of it has been checked."""
    start = _read(file, DIGEST.stop)
    if start[8 : DIGEST.start] != OPENING:
        raise SufficeFileError("this is not a suffice file: it does not start like one.")
    length = int.from_bytes(start[:8], "little")
    if not DIGEST.stop - 8 < length <= LONGEST_HEADER:
        raise SufficeFileError(f"the file is damaged: its header claims a length of {length} bytes.")
    start += _read(file, length + 8 - len(start))
    try:
        text = start[8:].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise SufficeFileError(f"the file is damaged: its header is not UTF-8 ({error.reason}).") from error
    header = _parse(text)
    del text
    content = _content(header.pop("__metadata__"))
    size = _checked_layout(header)
    body = _read(file, size)
    if file.read(1):
        raise SufficeFileError(
            f"the file is damaged: it is longer than the {len(start) + size} bytes it describes."
        )
    blank = bytearray(start)
    blank[DIGEST] = b"0" * 64
    if _digest([blank, body]) != start[DIGEST]:
        raise SufficeFileError("the file is damaged: its checksum does not match its contents.")
    return _parse(content), {name: _tensor(name, entry, body) for name, entry in header.items()}


def _read(file: IO[bytes], size: int) -> bytes:
    """Exactly `size` bytes, read piece by piece: the file may hold fewer than it claims."""
    parts, left = [], size
    while left:
        part = file.read(min(left, 1 << 24))
        if not part:
            raise SufficeFileError(
                f"the file is truncated, or is not a suffice file: {left} more bytes were expected."
            )
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _parse(text: str) -> dict[str, Any]:
    """A JSON object without repeated names and without NaN."""
    # An empty list of two characters takes 64 bytes, so their number is bounded before there are any.
    n_containers, n_items = text.count("[") + text.count("{"), text.count(",")
    if n_containers > max(MOST_CONTAINERS, len(text) // 24) or n_items > max(MOST_ITEMS, len(text) // 8):
        raise SufficeFileError("the file is damaged: its header has more parts than any model.")
    try:
        parsed = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise SufficeFileError(f"the file is damaged: its header is not valid JSON ({error}).") from error
    if not isinstance(parsed, dict):
        raise SufficeFileError("the file is damaged: its header is not a JSON object.")
    return parsed


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not valid JSON")


def _content(metadata: Any) -> str:
    """The content as text, if it is in a format that this version reads."""
    if not (isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())):
        raise SufficeFileError("the file is damaged: its metadata must be strings.")
    version = metadata.get("suffice", "")
    if version.isascii() and version.isdigit() and 0 < len(version) < 10 and int(version) > FORMAT:
        raise SufficeFileError(
            f"the file has format {version}, but this version of suffice reads only up to {FORMAT}; "
            "install a newer version."
        )
    if version != str(FORMAT) or set(metadata) != METADATA:
        raise SufficeFileError("this is not a suffice file: its metadata is that of another program.")
    content: str = metadata["content"]
    return content


def _checked_layout(header: dict[str, Any]) -> int:
    """The bytes of all tensors, which must follow each other without gaps."""
    ends = []
    for name, entry in header.items():
        if not (isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}):
            raise SufficeFileError(
                f"the file is damaged: {name!r} must have a dtype, a shape and data_offsets."
            )
        shape, offsets = entry["shape"], entry["data_offsets"]
        if not (_are_sizes(shape) and len(shape) <= 8 and _are_sizes(offsets) and len(offsets) == 2):
            raise SufficeFileError(f"the file is damaged: {name!r} has an invalid shape or data_offsets.")
        if not (isinstance(entry["dtype"], str) and entry["dtype"] in DTYPES):
            raise SufficeFileError(f"the file is damaged: {name!r} has the unknown dtype {entry['dtype']!r}.")
        if offsets[1] - offsets[0] != math.prod(shape) * DTYPES[entry["dtype"]].itemsize:
            raise SufficeFileError(f"the file is damaged: {name!r} has a size that does not match its shape.")
        ends.append(offsets)
    ends.sort()
    if ends and ends[0][0] != 0:
        raise SufficeFileError("the file is damaged: its tensors do not start where its header ends.")
    if any(before[1] != after[0] for before, after in pairwise(ends)):
        raise SufficeFileError("the file is damaged: its tensors overlap or leave gaps.")
    return ends[-1][1] if ends else 0


def _are_sizes(numbers: Any) -> bool:
    """Whether these are sizes that a file can have."""
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 1 << 48 for n in numbers)


def _tensor(name: str, entry: dict[str, Any], body: bytes) -> NDArray[Any]:
    dtype, (start, stop) = DTYPES[entry["dtype"]], entry["data_offsets"]
    if dtype.kind == "b" and set(body[start:stop]) - {0, 1}:
        raise SufficeFileError(f"the file is damaged: {name!r} has booleans that are neither 0 nor 1.")
    count = (stop - start) // dtype.itemsize
    return np.frombuffer(body, dtype, count, start).reshape(entry["shape"]).astype(dtype.newbyteorder("="))
