"""Fitting to files, which all models have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from suffice.tables.files import LabelledFiles


class FitsFiles:
    """A model that can be fitted to files."""

    def fit_from(
        self, source: Any, *, target: str, weight: str | None = None, drop: Iterable[str] = ()
    ) -> Self:
        """Fit to the rows of files, which are read in batches and never held all at once.

        Parameters
        ----------
        source : path, glob or list of them
            Of csv, tsv, jsonl, parquet or arrow files, packed by gzip or not. The first 100,000 rows (or 64
            MB in memory) decide the family of each column.
        target : str
            The column that holds the classes.
        weight : str, optional
            The column that holds the weights.
        drop : list of str, optional
            Columns to leave out.
        """
        self._learn_files(LabelledFiles.of(source, target, weight, drop))
        return self

    def _learn_files(self, files: LabelledFiles) -> None:
        """Fit afresh; where it fails, the model is as it was."""
        raise NotImplementedError

    def _cells(self, X: Any) -> Any:
        """What the model reads of a batch from files."""
        return X
