"""Loading: whatever a file holds, of the classes that a file may name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from suffice.storage.format import SufficeFileError
from suffice.storage.saved import CLASSES, Path, read


def load(path: Path, *, known: Iterable[Any] = ()) -> Any:
    """Load a model or statistics from a file.

    Nothing in a file can run code: it names classes of a fixed list, and holds numbers and texts.

    Parameters
    ----------
    path : str, PathLike or binary file
        What `model.save` or `statistics.save` wrote, in this or any earlier version.
    known : families and functions, optional
        Families of your own (the classes) and tokenizers (the functions) that the file refers to by name.

    Returns
    -------
    A model, ready to predict, learn on, merge and forget, or Statistics.

    Raises
    ------
    SufficeFileError
        For a file that is damaged, or none of this library.

    Examples
    --------
    >>> import io, suffice
    >>> file = io.BytesIO()
    >>> suffice.BayesClassifier().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]).save(file)
    >>> suffice.load(io.BytesIO(file.getvalue())).predict([[1.5]])
    array(['a'], dtype=object)
    """
    fields = read(path, known)
    name = fields.text("class")
    if name not in CLASSES:
        raise SufficeFileError(
            f"the file holds a {name[:40]!r}, which this version of suffice does not know."
        )
    return _class_of(name).from_fields(fields)


def _class_of(name: str) -> Any:
    """The class of a name in the list: the package has it under that name, and imports it when asked."""
    return attrgetter(name)(sys.modules["suffice"])
