"""Loading: the object that a file holds, of one of the classes that a file may name."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from suffice.storage.fields import Fields
from suffice.storage.format import SufficeFileError
from suffice.storage.saved import CLASSES, Path, read

VERSION = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,2}[0-9A-Za-z.+-]{0,20}")


def load(path: Path, *, known: Iterable[Any] = ()) -> Any:
    """Load a model or statistics from a file.

    Loading a file never runs code from it: a file holds numbers and strings, and names one of a fixed list of
    classes.

    Parameters
    ----------
    path : str, PathLike or binary file
        A file that `save` of a model or of statistics wrote, in this or any earlier version of suffice.
    known : iterable of families and functions, optional
        Your own families (the classes) and tokenizers (the functions) that the file refers to by name.

    Returns
    -------
    estimator or Statistics
        What was saved. A model predicts at once, and can be updated, merged and saved again.

    Raises
    ------
    SufficeFileError
        If the file is damaged, or was not written by suffice.

    Examples
    --------
    >>> import io, suffice
    >>> file = io.BytesIO()
    >>> suffice.BayesClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]).save(file)
    >>> suffice.load(io.BytesIO(file.getvalue())).predict([[1.5]])
    array(['a'], dtype=object)
    """
    fields = read(path, known)
    with newer_versions_named(fields):
        return loaded(fields)


@contextmanager
def newer_versions_named(fields: Fields) -> Iterator[None]:
    """Say that a file is from a newer version, if it is and cannot be read."""
    try:
        yield
    except SufficeFileError as error:
        own, written = sys.modules["suffice"].__version__, _written_with(fields)
        if _numbers(written) <= _numbers(own):
            raise
        raise SufficeFileError(
            f"the file was written with suffice {written}, but this is suffice {own}; install the newer "
            f"version. ({error})"
        ) from error


def _written_with(fields: Fields) -> str:
    """The version of suffice that wrote a file; nothing if it does not say."""
    try:
        version = fields.branch("written_with").text("suffice")
    except SufficeFileError:
        return ""
    return version if VERSION.fullmatch(version) else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


def loaded(fields: Fields) -> Any:
    """The object that a tree of fields describes."""
    name = fields.text("class")
    if name not in CLASSES:
        raise SufficeFileError(
            f"the file holds a {name[:40]!r}, a class that this version of suffice does not know."
        )
    return _class_of(name)._from_fields(fields)


def _class_of(name: str) -> Any:
    """The class of this name, which is an attribute of the package and imported at first use."""
    return attrgetter(name)(sys.modules["suffice"])
