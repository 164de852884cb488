"""What can be saved: objects of a fixed list of classes, each a tree of named values."""

from __future__ import annotations

from typing import Any

from suffice.archive.fields import Path, versions, write

CLASSES = (
    "BayesClassifier",
    "GaussianDiscriminant",
    "LogisticRegression",
    "ProbitRegression",
    "Statistics",
    "TextClassifier",
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
        cls = type(self)
        if cls.__name__ not in CLASSES or cls.__module__.partition(".")[0] != "suffice":
            raise TypeError(
                f"{cls.__name__} is a class of your own, and files name only {', '.join(CLASSES)}; "
                "save one of these, or the statistics_."
            )
        write(path, {"class": cls.__name__, **self.state(), "written_with": versions()})
