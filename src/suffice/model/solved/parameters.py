"""Parameters: the usual parameters of a model by column, which can be looked at as a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tables.container import Container
from suffice.tables.shown import Cells, Part, as_html
from suffice.tables.wording import counted, one_line

MOST_LINES = 60
"""Parameters that a notebook shows."""


class Parameters(dict[Any, dict[str, Any]]):
    """The usual parameters (mean, variance, probability, …): column → name → one value per class.

    Parameters
    ----------
    named : dict
        The parameters of each column.
    classes : ndarray of shape (n_classes,)
        The classes.
    container : Container
        The kind of frame that `to_frame` returns.

    Examples
    --------
    >>> import suffice
    >>> from suffice.families import Poisson
    >>> X, y = [[1], [2], [3], [7], [8], [9]], ["few", "few", "few", "many", "many", "many"]
    >>> parameters = suffice.BayesClassifier(families=Poisson(alpha=0)).fit(X, y).parameters_
    >>> parameters
    {0: {'mean': array([2., 8.])}}
    >>> parameters.to_frame().column_names
    ['column', 'parameter', 'class', 'value']
    """

    def __init__(
        self, named: Mapping[Any, dict[str, Any]], classes: NDArray[Any], container: Container
    ) -> None:
        super().__init__(named)
        self._classes, self._container = classes, container

    def to_frame(self) -> Any:
        """The parameters as a frame.

        Returns
        -------
        frame
            One line per column, parameter and class: column, parameter, class, value. Of several values, such
            as the probabilities of levels, each has a line, named after its level.
        """
        lines = self._lines()
        names = ("column", "parameter", "class", "value")
        return self._container.frame({name: [line[i] for line in lines] for i, name in enumerate(names)})

    def _lines(self) -> list[tuple[str, str, str, float]]:
        labels = [str(label) for label in self._classes.tolist()]
        return [
            (str(column), what, label, float(value))
            for column, named in self.items()
            for what, values in _by_class(named, len(labels))
            for label, value in zip(labels, values, strict=True)
        ]

    def _repr_html_(self) -> str:
        labels = [one_line(label) for label in self._classes.tolist()]
        rows = [
            (one_line(column), one_line(what), *(f"{value:.4g}" for value in values))
            for column, named in self.items()
            for what, values in _by_class(named, len(labels))
        ]
        more = len(rows) - MOST_LINES
        rest: list[Part] = [f"… and {counted(more, 'more parameter')}"] if more > 0 else []
        return as_html([Cells([("column", "parameter", *labels), *rows[:MOST_LINES]], left=2), *rest])


def _by_class(named: Mapping[str, Any], n_classes: int) -> list[tuple[str, list[float]]]:
    """The parameters of one column with a number for each class; those of other shapes are left out."""
    levels = named.get("levels")
    found = []
    for name, values in named.items():
        if name in ("levels", "group"):
            continue
        array = np.asarray(values)
        if array.dtype.kind not in "fiub" or array.ndim == 0 or len(array) != n_classes:
            continue
        if array.ndim == 1:
            found.append((name, array.tolist()))
            continue
        flat = array.reshape(n_classes, -1)
        parts = levels if levels is not None and len(levels) == flat.shape[1] else range(flat.shape[1])
        found += [(f"{name} of {part}", flat[:, i].tolist()) for i, part in enumerate(parts)]
    return found
