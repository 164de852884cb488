"""Saving and reading files: objects of a fixed list of classes, each a tree of named values."""

from __future__ import annotations

import errno
import os
import pathlib
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Any

import numpy as np

from suffice.storage.fields import Fields, packed, unpacked

Path = str | os.PathLike[str] | IO[bytes]
OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""Errors that only writing can have."""

CLASSES = (
    "BayesClassifier",
    "Calibrated",
    "EvidenceClassifier",
    "GaussianDiscriminant",
    "LogisticRegression",
    "ProbitRegression",
    "Statistics",
    "TextClassifier",
    "dropin.BernoulliNB",
    "dropin.CategoricalNB",
    "dropin.ComplementNB",
    "dropin.GaussianNB",
    "dropin.LinearDiscriminantAnalysis",
    "dropin.LogisticRegression",
    "dropin.MultinomialNB",
    "dropin.QuadraticDiscriminantAnalysis",
)
"""The classes that a file may name."""


class Saved:
    """An object that a file can hold."""

    def _to_fields(self) -> dict[str, Any]:
        """The whole object as a tree of fields."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Save to a file that `suffice.load` reads. The file holds data only, no code.

        Parameters
        ----------
        path : str, PathLike or binary file
            Where to write. An existing file is replaced only once the new one is complete.
        """
        write(path, {**named_fields(self), "written_with": versions()})


def named_fields(saved: Any) -> dict[str, Any]:
    """An object as a tree of fields, with the name of its class."""
    name = name_in_files(type(saved))
    if name not in CLASSES:
        raise TypeError(
            f"{type(saved).__name__} is not a class of suffice, and a file can only hold one of "
            f"{', '.join(CLASSES)}; save one of these, or its statistics_."
        )
    fields: dict[str, Any] = saved._to_fields()
    return {"class": name, **fields}


def name_in_files(cls: type) -> str | None:
    """The name of one of our classes in files; those named after scikit-learn's have a prefix."""
    package, _, room = cls.__module__.partition(".")
    if package != "suffice":
        return None
    return f"dropin.{cls.__name__}" if room.startswith("dropin") else cls.__name__


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Save a tree. An existing file is replaced only once the new one is complete."""
    parts = packed(content)
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "write"):
        path.writelines(parts)
        return
    with replacing(_path(path)) as file:
        file.writelines(parts)


def read(path: Path, known: Any = ()) -> Fields:
    """Load a tree; `known` holds families and functions that the file may name."""
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "read"):
        return unpacked(path, known)
    with open(_path(path), "rb") as file:  # noqa: PTH123, a path of any kind
        return unpacked(file, known)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file next to the old one, which it replaces once everything is on the disk.

    It gets the mode and the owner of the old one, and until then nobody else may read it. Anything but a
    regular file, such as a pipe or a device, is written to directly.
    """
    place = pathlib.Path(path).resolve()
    if place.exists() and not place.is_file():
        with naming(path, place.open("wb")) as file:
            yield file
        return
    beside = place.with_name(f".{place.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        with naming(path, open(beside, "xb", opener=_private if place.exists() else None)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            _take_over(beside, place.stat())
        beside.replace(place)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (str(beside), beside):
            error.filename = path
        raise


@contextmanager
def naming(path: str, opened: AbstractContextManager[IO[bytes]]) -> Iterator[IO[bytes]]:
    """An open file, whose name errors of writing to it get, which come without any."""
    try:
        with opened as file:
            yield file
    except OSError as error:
        if error.filename is None and error.errno in OF_WRITING:
            error.filename = path
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _take_over(path: pathlib.Path, old: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of the one that it will replace."""
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "chown"):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(PermissionError):
                os.chown(path, owner, group)
        if path.stat().st_gid != old.st_gid:  # another group may do no more than everyone
            mode = mode & ~0o070 | (mode & 0o007) << 3
    path.chmod(mode)


def versions() -> dict[str, str]:
    """The versions a file was written with, for anyone who looks into it."""
    return {"suffice": sys.modules["suffice"].__version__, "numpy": np.__version__}


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a path or a binary file, got {type(path).__name__}.")
    name = os.fsdecode(path)
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise ValueError(f"{name!r} cannot be the name of a file: {error.reason}; choose another.") from error
    return name
