"""A factor: one family on some columns. Its sums, its solved parameters, and its kind.

Each kind of factor is a folder beside this file: columns, levels, counts, words, gaussian, hurdle. The kinds
do not import each other; `factors/__init__.py` lists them, and the rooms above use a factor through these
classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts
from suffice.export.expressions import Expression, Gaps, Missing, Score, Where, as_expression
from suffice.factors.blocks import FoldedCells, places
from suffice.factors.natural import NaturalForm, not_linear
from suffice.factors.scores import Scores, bounded
from suffice.families import Family
from suffice.storage import Fields

Block = Any
"""A batch of a factor's columns: an (n, d) array with NaN for missing, a sparse array, or Levels."""


class Totals(ABC):
    """Sums of one factor, by class. Private and mutable; `Statistics` shows them immutably."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]]
    refuses_infinities: ClassVar[bool] = False
    """Whether sparse cells come unchecked, because infinities are refused while they are read."""
    takes_folds: ClassVar[bool] = False
    """Whether batches side by side may come as `FoldedCells`."""
    divisible: ClassVar[bool] = True
    """Whether the sums of some of the columns can be taken from those of all."""
    family: Family

    @classmethod
    @abstractmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        """The zero: no classes, no rows."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns the factor has."""

    @property
    def takes_columns_apart(self) -> bool:
        """Whether numbers may come as `ColumnCells`, each column where it lies in memory."""
        return False

    def prepare(
        self, block: Block, labels: list[str], classes: Codes, weights: Array | None, n_classes: int
    ) -> Callable[[Any], None]:
        """Read a batch, or raise for values that cannot be summed; the function returned adds the batch.

        Neither the call nor an error changes these sums: their state, levels and vocabulary included, is the
        same before and after, byte for byte, so a batch that another factor refuses leaves no trace. The
        function returned takes these sums, once they have room for n_classes; new classes come last.
        """
        self.refuse(block, labels, classes)
        return lambda totals: totals.update(block, classes, weights)

    @classmethod
    def batches(cls, block: Block) -> Callable[[Codes], Block]:
        """The batch of some rows of a block of numbers; what batches have in common is found once.

        Rows (n, m) give m batches side by side, as one of m times the columns.
        """
        if cls.takes_folds:
            return lambda rows: FoldedCells.of(block, rows)
        return lambda rows: block[rows].reshape(len(rows), -1)

    @abstractmethod
    def refuse(self, block: Block, labels: list[str], classes: Codes) -> None:
        """Raise for values that cannot be summed, naming column, value and cure. Change nothing."""

    @abstractmethod
    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        """Add a batch of rows, all of positive weight, whose classes are known."""

    @abstractmethod
    def add(self, other: Self, sign: int) -> None:
        """Add (or subtract) sums over the same classes and columns."""

    @abstractmethod
    def scale(self, factors: Array) -> None:
        """Multiply the sums of each class by its factor; row support stays."""

    @abstractmethod
    def take_classes(self, index: Codes) -> Self:
        """A copy with these classes; −1 is a class without rows."""

    @abstractmethod
    def take_columns(self, index: Codes) -> Self:
        """A copy with these columns; −1 is a column without rows."""

    def with_family(self, family: Family) -> Self:
        """The same sums for a family that differs only in settings used when solving."""
        other = copy(self)
        other.family = family
        return other

    @abstractmethod
    def vanishes(self) -> NDArray[np.bool_]:
        """For each class, whether all its sums are exactly zero."""

    @abstractmethod
    def matches(self, other: Self, rtol: float) -> bool:
        """Whether the sums agree, modulo origin, unit and order of levels."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, which is all the memory the sums take."""

    def state(self) -> dict[str, Any]:
        """The whole state of the sums, as it is saved."""
        return dict(self.arrays())

    @classmethod
    @abstractmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        """The sums from a saved state; `SufficeFileError` if it is not valid."""

    @abstractmethod
    def presence(self) -> Array:
        """The weight of the observed cells, (classes, columns)."""

    @staticmethod
    def gaps(block: Block) -> tuple[Codes, Codes]:
        """The row and the column of each missing cell of a batch: those that `presence` does not count."""
        if not sparse.issparse(block):
            rows, columns = np.nonzero(np.isnan(block))
            return rows, columns
        missing = np.isnan(block.data)
        along, across = places(block)
        return along[missing].astype(np.intp), across[missing].astype(np.intp)

    @abstractmethod
    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        """Why no data with this total weight and these rows per class could give these sums, or None."""


@dataclass(frozen=True)
class Regularized:
    """A parameter without a maximum-likelihood estimate, and what was done instead.

    Attributes
    ----------
    column : str
        The column, as messages refer to it.
    label : object
        The class; None if it concerns all classes.
    reason : str
        What was wrong and what was done.

    Examples
    --------
    >>> import suffice
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [4.0, 1.0]]
    >>> suffice.GaussianDiscriminant().fit(X, ["a", "a", "b", "b"]).regularized_[0].reason
    'all its values are equal, so it cannot separate the classes and is left out'
    """

    column: str
    label: Any
    reason: str


@dataclass(frozen=True)
class RayScores:
    """Log p(x | C_k) at the distance r along n rays: `peak` − `slopes`·r − ½·`squares`·r²."""

    peak: Array
    """(k,)."""
    slopes: Array
    """(k, n)."""
    squares: Array
    """(k, n)."""


@dataclass(frozen=True)
class Separation:
    """How far apart a factor holds the classes: divergences of each column alone, and of all together."""

    kl: Array
    """(d, k, k), [column, true, against]."""
    bhattacharyya: Array
    """(d, k, k)."""
    joint_kl: Array
    """(k, k)."""
    joint_bhattacharyya: Array
    """(k, k)."""

    @classmethod
    def of_independent(cls, kl: Array, bhattacharyya: Array) -> Separation:
        """The separation by columns independent given the class; negative rounding errors become 0."""
        kl, bhattacharyya = np.maximum(kl, 0.0), np.maximum(bhattacharyya, 0.0)
        return cls(kl, bhattacharyya, kl.sum(axis=0), bhattacharyya.sum(axis=0))


def divergences(family: Family, natural: Array) -> tuple[Array, Array]:
    """KL divergences and Bhattacharyya distances (k, k, …) of members (m, k, …) about one origin."""
    n_classes = natural.shape[1]
    pairs = [
        (family.kl(natural[:, [k]], natural), family.bhattacharyya(natural[:, [k]], natural))
        for k in range(n_classes)
    ]
    return np.stack([one[0] for one in pairs]), np.stack([one[1] for one in pairs])


class SolvedFactor(ABC):
    """Parameters of one factor for every class."""

    family: Family
    n_parameters: int
    has_density: bool = True
    """Whether the scores are log densities; if not, they only rank the classes."""
    ignores_priors: bool = False
    """Whether the scores rank the classes without their priors."""
    is_given_length: bool = False
    """Whether the density is that of counts given their sum."""
    regularized: list[Regularized]

    @property
    def takes_columns_apart(self) -> bool:
        """Whether numbers to be scored may come as `ColumnCells`, each column where it lies in memory."""
        return False

    def saved_search(self) -> dict[str, Any]:
        """The part of the parameters that is saved: nothing, unless solving took a search."""
        return {}

    @property
    @abstractmethod
    def log_likelihood(self) -> float:
        """Log p of the summarized rows."""

    @abstractmethod
    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        """Add log p(x | C_k) to the scores; `base=False` leaves out log h(x), equal for all classes.

        A row has the same scores in any part of a table, and parts are scored in parallel. Infinite numbers
        raise an error.
        """

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        """The scores as an expression over cells, from which SQL and ONNX are written."""
        raise ValueError(
            f"{labels[0]}: {self.family.name} cannot be written as SQL or ONNX; leave the column out with "
            "families={…: None}, or score the rows in Python."
        )

    def scaled(self, by: Array, most: float) -> SolvedFactor | None:
        """A factor of the evidence of each column, bounded and times a number; None if it must be wrapped.

        It ranks the classes and has no density.
        """
        return None

    def add_bounded(self, block: Block, labels: list[str], by: Array, most: float, scores: Scores) -> None:
        """Add the evidence of each column, at most so many nats below its highest, times a number."""
        cells = bounded(self.contributions(block, labels, base=False), most)
        scores.finite += np.einsum("njk,j->nk", cells, by)

    def counted(self, j: int, column: int, label: str) -> Expression:
        """Whether the scores count a cell of the j-th column: it is neither missing nor ignored."""
        return ~Missing(column)

    def where_there(self, j: int, column: int, there: Array, gone: Array) -> Expression:
        """One of two values per class, depending on whether the cell of the j-th column is there."""
        return Where(Missing(column), as_expression(gone), as_expression(there))

    @abstractmethod
    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        """Log p of each cell: (n, d, k), 0 where missing; `base=False` leaves out log h(x)."""

    def alone(self, block: Block, labels: list[str]) -> Array:
        """Log p of each cell by itself, (n, d, k), up to what is equal for all classes; 0 where missing."""
        return self.contributions(block, labels, base=False)

    @abstractmethod
    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which cells count in the scores, and which are ignored as outside the support, both (n, d)."""

    @abstractmethod
    def take_columns(self, index: Codes) -> SolvedFactor:
        """The same on some columns, in order, the others marginalised out. It scores rows, no more."""

    def gaussian_peak(self, seen: NDArray[np.bool_]) -> tuple[int, Array] | None:
        """If the columns are Gaussian: how many vary, and the log density of each class at its mean."""
        return None

    def log_power_sums(self, powers: Array) -> Array:
        """log ∫ p(x | C_k)^a dx of each independent column, a sum where it is discrete: (powers, d, k).

        It is 0 for a column left out, and NaN where it is not known.
        """
        raise NotImplementedError

    def simulated_scores(self, seen: NDArray[np.bool_], classes: Codes, noise: Array) -> Array:
        """Log p, (n, k), on some columns of a joint factor, of rows drawn from `classes`, which are in order.

        The rows are made of standard normal `noise`, (n, d), anew for each choice of columns.
        """
        raise NotImplementedError

    def along_rays(self, seen: NDArray[np.bool_], directions: dict[int, Array]) -> Iterator[RayScores]:
        """Scores on some columns of a joint Gaussian factor, along rays from the means of classes.

        A ray of class c is μ_c + r·L_c·u, where L_c·L_cᵀ is its covariance and u one of its `directions`, of
        which as many columns are used as vary.
        """
        raise NotImplementedError

    @abstractmethod
    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """One value per row for each column, drawn from the row's class."""

    @abstractmethod
    def separation(self) -> Separation:
        """How far apart the classes are."""

    @abstractmethod
    def conventional(self) -> list[dict[str, Any]]:
        """The parameters people know, for each column: name → (k, …) array."""

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        """λ_k, ln g(λ_k) and u(x) of each distribution; raise if the scores are not linear in a u(x).

        `about` a class, u(x) is taken about a value near it, if it consists of x and its products.
        """
        why = "they are not those of one exponential family"
        raise not_linear(names[0], self.family.name, why, "choose another family, such as Normal()")


@dataclass(frozen=True)
class Kind:
    """How the statistics of a family are summed, and how the sums are solved."""

    totals: type[Totals]
    solve: Callable[[Any, list[str], NDArray[Any]], SolvedFactor]
    """(totals, labels, classes) → parameters: maximum likelihood after smoothing. Labels and classes are for
    messages."""
    solve_from_search: Callable[[Any, list[str], NDArray[Any], Fields], SolvedFactor] | None = None
    """The same, from the `saved_search` of kinds that are solved by a search."""
    predictive: Callable[[Any, list[str], NDArray[Any]], SolvedFactor] | None = None
    """(factor, labels, classes) → the factor that scores by its posterior predictive; None where that is the
    factor itself."""
    leave_out: Callable[[Any, Any], Any] | None = None
    """(totals, rows) → the scores of each row by the model of all others (`LeftOut`); None where each row is
    solved afresh."""


def gather(array: NDArray[Any], index: Codes, axis: int) -> NDArray[Any]:
    """`np.take`, with zeros where the index is −1."""
    if not array.shape[axis]:
        shape = list(array.shape)
        shape[axis] = len(index)
        return np.zeros(shape, dtype=array.dtype)
    taken, absent = array.take(index, axis=axis), index < 0
    if absent.any():
        taken[(slice(None),) * axis + (absent,)] = 0
    return taken
