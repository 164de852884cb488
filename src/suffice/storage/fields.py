"""A tree of named values and arrays: how the parts of a model are written, and read back with every check.

A tree is a dict of dicts and lists of dicts (branches), arrays (tensors, named by their path), `Scalars`
(strings and numbers mixed, stored as UTF-8 bytes and offsets) and `Setting`s (JSON).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from suffice.storage.format import Buffer, SufficeFileError, Tensors, pack, unpack
from suffice.storage.limits import as_set
from suffice.storage.settings import Known, encode

Shape = tuple[int | None, ...]
KINDS = (str, int, float, bool)
"""The types of scalars; a file refers to them by their position."""


@dataclass(frozen=True)
class Setting:
    """A value that goes into the header."""

    value: Any


@dataclass(frozen=True)
class Scalars:
    """Many plain values: strings, integers, floats and booleans, mixed."""

    values: list[Any]


def packed(content: Mapping[str, Any]) -> list[Buffer]:
    """The bytes of a tree, part by part."""
    tensors: Tensors = {}
    return pack(_branch(content, "", tensors), tensors)


def unpacked(file: IO[bytes], known: Any = ()) -> Fields:
    """The tree in a file; `known` holds families and functions that the file may name."""
    names = Known(known)
    return Fields(*unpack(file), names)


def _branch(content: Mapping[str, Any], path: str, tensors: Tensors) -> dict[str, Any]:
    """The part of a tree that goes into the header; its arrays go into `tensors`."""
    header: dict[str, Any] = {}
    for name, part in content.items():
        here = f"{path}{name}"
        if isinstance(part, np.ndarray):
            tensors[here] = part
        elif isinstance(part, Scalars):
            tensors |= {f"{here}.{key}": tensor for key, tensor in _encoded(part.values).items()}
        elif isinstance(part, Mapping):
            header[name] = _branch(part, f"{here}.", tensors)
        elif isinstance(part, list):
            header[name] = [_branch(one, f"{here}.{i}.", tensors) for i, one in enumerate(part)]
        else:
            header[name] = encode(part.value if isinstance(part, Setting) else part, here)
    return header


def _encoded(values: list[Any]) -> Tensors:
    kinds = [type(value) for value in values]
    for kind in set(kinds) - set(KINDS):
        raise TypeError(
            f"a file cannot hold values of type {kind.__name__}; convert them to strings or numbers."
        )
    texts = [
        (value if kind is str else repr(value)).encode("utf-8", "surrogatepass")
        for kind, value in zip(kinds, values, strict=True)
    ]
    return {
        "kind": np.array([KINDS.index(kind) for kind in kinds], dtype=np.uint8),
        "offsets": np.cumsum([0, *map(len, texts)], dtype=np.int64),
        "text": np.frombuffer(b"".join(texts), np.uint8),
    }


class Fields:
    """A branch of a tree that was read. Anything other than what is asked for raises `SufficeFileError`."""

    def __init__(self, header: dict[str, Any], tensors: Tensors, known: Known, path: str = "") -> None:
        self._header = header
        self._tensors = tensors
        self._known = known
        self._path = path

    def error(self, name: str, what: str) -> SufficeFileError:
        """An error that says what is wrong, and where."""
        return SufficeFileError(f"the file is damaged: {self._path}{name} {what}")

    def __contains__(self, name: str) -> bool:
        return name in self._header

    def __len__(self) -> int:
        return len(self._header)

    def require(self, names: Iterable[str]) -> None:
        """Refuse anything but exactly these names."""
        odd = sorted(set(names) ^ set(self._header))
        if odd:
            raise self.error(odd[0], "is missing or unexpected.")

    def is_branch(self, name: str) -> bool:
        """Whether a name is that of a branch, not of a value."""
        part = self._header.get(name)
        return isinstance(part, dict) and not any(key.startswith("$") for key in part)

    def _get(self, name: str) -> Any:
        if name not in self._header:
            raise self.error(name, "is missing.")
        return self._header[name]

    def setting(self, name: str) -> Any:
        """A value of any type."""
        value = self._get(name)
        try:
            return self._known.decode(value)
        except SufficeFileError as error:
            raise SufficeFileError(f"{self._path}{name}: {error}") from error
        except RecursionError as error:
            raise self.error(name, "is nested too deeply.") from error

    def settings(self, name: str) -> dict[str, Any]:
        """Values of any type, by name."""
        branch = self.branch(name)
        return {key: branch.setting(key) for key in branch._header}  # noqa: SLF001, of the same class

    def text(self, name: str) -> str:
        """A string."""
        text: str = self._typed(name, str, "a string")
        return text

    def flag(self, name: str) -> bool:
        """True or False."""
        flag: bool = self._typed(name, bool, "true or false")
        return flag

    def integer(self, name: str, least: int, most: int) -> int:
        """An integer within bounds."""
        value: int = self._typed(name, int, "an integer")
        if not least <= value <= most:
            raise self.error(name, f"must lie between {least} and {most}.")
        return value

    def number(self, name: str) -> float:
        """A float, finite or not."""
        value = self.setting(name)
        if type(value) is not float:
            raise self.error(name, "must be a float.")
        return value

    def _typed(self, name: str, kind: type, what: str) -> Any:
        value = self._get(name)
        if type(value) is not kind:
            raise self.error(name, f"must be {what}.")
        return value

    def branch(self, name: str) -> Fields:
        """A part of the tree."""
        return Fields(
            self._typed(name, dict, "an object"), self._tensors, self._known, f"{self._path}{name}."
        )

    def branches(self, name: str, length: int | None = None) -> list[Fields]:
        """Parts of the tree, as many as are expected."""
        parts = self._typed(name, list, "a list")
        if length is not None and len(parts) != length:
            raise self.error(name, f"must have {length} parts, but has {len(parts)}.")
        if not all(isinstance(part, dict) for part in parts):
            raise self.error(name, "must be a list of objects.")
        paths = (f"{self._path}{name}.{i}." for i in range(len(parts)))
        return [
            Fields(part, self._tensors, self._known, path) for part, path in zip(parts, paths, strict=True)
        ]

    def has_array(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return f"{self._path}{name}" in self._tensors

    def array(self, name: str, dtype: DTypeLike, shape: Shape, *, finite: bool = True) -> NDArray[Any]:
        """An array of this type and shape (None for any length), with finite values unless told otherwise."""
        array = self.any_array(name)
        if array.dtype != np.dtype(dtype):
            raise self.error(name, f"must hold {np.dtype(dtype)}, but holds {array.dtype}.")
        if array.ndim != len(shape) or any(
            n is not None and n != m for n, m in zip(shape, array.shape, strict=True)
        ):
            raise self.error(name, f"must have shape {shape}, but has {array.shape}.".replace("None", "any"))
        if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.error(name, "holds NaN or infinite values.")
        return array

    def any_array(self, name: str) -> NDArray[Any]:
        """An array of any type and shape."""
        array = self._tensors.get(f"{self._path}{name}")
        if array is None:
            raise self.error(name, "is missing.")
        return array

    def scalars(self, name: str, length: int | None = None) -> list[Any]:
        """Plain values."""
        kinds = self.array(f"{name}.kind", np.uint8, (length,))
        text = self.array(f"{name}.text", np.uint8, (None,))
        offsets = self.array(f"{name}.offsets", np.int64, (len(kinds) + 1,))
        if (
            offsets[0] != 0
            or offsets[-1] != len(text)
            or (np.diff(offsets) < 0).any()
            or (kinds >= len(KINDS)).any()
        ):
            raise self.error(name, "has offsets or types that do not match its text.")
        whole, ends = text.tobytes(), offsets.tolist()
        try:
            return [
                _decoded(KINDS[kind], whole[ends[i] : ends[i + 1]].decode("utf-8", "surrogatepass"))
                for i, kind in enumerate(kinds.tolist())
            ]
        except ValueError as error:
            raise self.error(name, f"cannot be read ({error}).") from error

    def distinct(self, name: str, values: list[Any]) -> list[Any]:
        """The values, if none of them occurs twice."""
        try:
            n_distinct = len(as_set(values))
        except SufficeFileError as error:
            raise SufficeFileError(f"{self._path}{name}: {error}") from error
        if n_distinct < len(values):
            raise self.error(name, "holds a value twice.")
        return values


def _decoded(kind: type, text: str) -> Any:
    """A plain value from its text, which must be exactly its repr."""
    if kind is str:
        return text
    value = {"True": True, "False": False}.get(text) if kind is bool else kind(text)
    if repr(value) != text or text in ("nan", "inf", "-inf"):
        raise ValueError(f"{text[:20]!r} is not a valid {kind.__name__}")
    return value
