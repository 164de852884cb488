"""What can be saved: objects of a fixed list of classes, each a tree of named values."""

from __future__ import annotations

from typing import Any

from suffice.storage.fields import Path, versions, write

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

    def _to_fields(self) -> dict[str, Any]:
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
        write(path, {"class": name, **self._to_fields(), "written_with": versions()})


def name_in_files(cls: type) -> str | None:
    """What files call a class of ours: estimators with scikit-learn's names say so."""
    package, _, room = cls.__module__.partition(".")
    if package != "suffice":
        return None
    return f"dropin.{cls.__name__}" if room.startswith("dropin") else cls.__name__
