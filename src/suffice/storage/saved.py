"""Saving and reading files: objects of a fixed list of classes, each a tree of named values."""

from __future__ import annotations

import os
import pathlib
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np

from suffice.storage.fields import Fields, packed, unpacked

Path = str | os.PathLike[str] | IO[bytes]

CLASSES = (
    "BayesClassifier",
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
    """Something that a file can hold."""

    def state(self) -> dict[str, Any]:
        """All that the object is, as a file holds it."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Write the object to a file, which `suffice.load` reads again. Nothing in the file can run code.

        Parameters
        ----------
        path : str, PathLike or binary file
            An existing file stays as it is until the new one is whole.
        """
        name = name_in_files(type(self))
        if name not in CLASSES:
            raise TypeError(
                f"{type(self).__name__} is a class of your own, and files name only {', '.join(CLASSES)}; "
                "save one of these, or the statistics_."
            )
        write(path, {"class": name, **self.state(), "written_with": versions()})


def name_in_files(cls: type) -> str | None:
    """What files call a class of ours: estimators with scikit-learn's names say so."""
    package, _, room = cls.__module__.partition(".")
    if package != "suffice":
        return None
    return f"dropin.{cls.__name__}" if room.startswith("dropin") else cls.__name__


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Save a tree. The old file stays as it is until the new one is whole."""
    parts = packed(content)
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "write"):
        path.writelines(parts)
        return
    with replacing(_path(path)) as file:
        file.writelines(parts)


def read(path: Path, known: Any = ()) -> Fields:
    """Load a tree; `known` are families and functions that it may name."""
    if not isinstance(path, (str, os.PathLike)) and hasattr(path, "read"):
        return unpacked(path, known)
    with open(_path(path), "rb") as file:  # noqa: PTH123, a path of any kind
        return unpacked(file, known)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file beside the old one, which takes its place when all is on the disk.

    What is no plain file, such as a pipe or a device, is written to as it is: nothing takes its place.
    """
    place = pathlib.Path(path).resolve()
    if place.exists() and not place.is_file():
        with place.open("wb") as file:
            yield file
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            beside.chmod(place.stat().st_mode)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def versions() -> dict[str, str]:
    """The versions a file was written with, for people who wonder."""
    return {"suffice": sys.modules["suffice"].__version__, "numpy": np.__version__}


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path or a binary file was expected, got {type(path).__name__}.")
    return os.fsdecode(path)
