"""Where a picture evaluates a model: values of the columns drawn, and what the other columns hold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families import Hurdle
from suffice.plots.layout import LABELS, fitted, literal, name_ticks, room_in_inches, width_in_inches
from suffice.tables.columns import array_column
from suffice.tables.container import Container
from suffice.tables.estimator_input import read_more_features
from suffice.tables.table import Table, read_table
from suffice.tables.wording import did_you_mean
from suffice.tables.written_table import WrittenTable

if TYPE_CHECKING:
    from matplotlib.axis import XAxis, YAxis

Kind = Literal["numbers", "moments", "counts", "levels"]
SECONDS_PER_DAY = 86400.0
MOST_LEVELS = 30
MOST_DATES = 5
JITTER = 0.3


@dataclass(frozen=True)
class Grid:
    """Values of one column, and where they lie on an axis."""

    column: int
    name: str
    kind: Kind
    values: NDArray[Any]
    """Values of the column: floats (seconds for moments), or objects for levels."""
    n_levels: int = 0
    """The number of levels of the column, of which only the most frequent are drawn."""

    @property
    def is_smooth(self) -> bool:
        """Whether anything between two values is a value too."""
        return self.kind in ("numbers", "moments")

    @property
    def positions(self) -> Array:
        """The position of each value on the axis."""
        if self.kind == "levels":
            return np.arange(len(self.values), dtype=np.float64)
        numbers = self.values.astype(np.float64)
        return numbers / SECONDS_PER_DAY if self.kind == "moments" else numbers

    @property
    def edges(self) -> Array:
        """The borders halfway between the values."""
        at = self.positions
        if len(at) == 1:
            return np.array([at[0] - 0.5, at[0] + 0.5])
        middle = 0.5 * (at[1:] + at[:-1])
        return np.concatenate([[2.0 * at[0] - middle[0]], middle, [2.0 * at[-1] - middle[-1]]])

    @property
    def widths(self) -> Array:
        """The length of the axis that belongs to each value; 1 for counts and levels."""
        return np.diff(self.edges) if self.is_smooth else np.ones(len(self.values))

    def located(self, table: Table) -> Array:
        """The position of each row of a table, NaN for gaps and for levels that are not drawn."""
        if self.kind != "levels":
            at = table.numbers([self.column])[:, 0].astype(np.float64)
            return at / SECONDS_PER_DAY if self.kind == "moments" else at
        held = table.levels(self.column)
        place = {value: float(i) for i, value in enumerate(self.values.tolist())}
        each = [*(place.get(value, np.nan) for value in held.values), np.nan]
        return np.asarray(np.array(each)[held.codes])

    def jittered(self, table: Table, rng: np.random.Generator) -> Array:
        """The same, with counts and levels moved a little, so that rows do not cover each other."""
        at = self.located(table)
        return at if self.is_smooth else at + rng.uniform(-JITTER, JITTER, len(at))

    def dress(self, axis: XAxis | YAxis) -> None:
        """Name the axis and its ticks."""
        width, height = room_in_inches(axis.axes)
        across = axis.axis_name == "x"
        many = self.n_levels > len(self.values)
        levels = f" (top {len(self.values)} of {self.n_levels})" if many else ""
        long = (0.9 * width if across else 0.6 * height) - width_in_inches(levels)
        name = literal(fitted(self.name, long) + levels)
        if across:  # a name wider than the axes extends to the left, below the tick labels
            wide = width_in_inches(name) > (1.0 - LABELS) * width
            axis.axes.set_xlabel(name, loc="right" if wide else "center")
        else:
            axis.axes.set_ylabel(name)
        if self.kind == "levels":
            name_ticks(axis, self.positions.tolist(), self.values.tolist())
        elif self.kind == "moments":
            import matplotlib.dates

            dates: Any = matplotlib.dates  # not typed
            locator = dates.AutoDateLocator(minticks=2, maxticks=MOST_DATES)
            axis.set_major_locator(locator)
            axis.set_major_formatter(dates.ConciseDateFormatter(locator))
        elif self.kind == "counts":
            from matplotlib.ticker import MaxNLocator

            axis.set_major_locator(MaxNLocator(integer=True))


@dataclass(frozen=True)
class Surroundings:
    """A model over the columns drawn, and the others: marginalised out, or held at a value."""

    estimator: Any
    table: Table
    columns: tuple[int, ...]
    """The columns of the rows that are scored, ascending: drawn and held ones, or all."""
    held: dict[int, Any]
    marginal: Any
    """The model of these columns only; None for an estimator that cannot leave columns out."""

    @classmethod
    def of(
        cls, estimator: Any, table: Table, drawn: tuple[int, ...], held: Mapping[Hashable, Any] | None = None
    ) -> Surroundings:
        """Hold some columns at values; others are left out if the model marginalises, else at the middle."""
        asked = {position(table, name): value for name, value in (held or {}).items()}
        fixed = {j: _cell(value, table.label(j)) for j, value in asked.items()}
        both = [table.names[j] for j in drawn if j in fixed]
        if both:
            raise ValueError(f"column {both[0]!r} is drawn, so it cannot be held; remove it from held=.")
        if not hasattr(estimator, "_marginal"):
            # At the middle of the data, since other models cannot leave a column out.
            others = (j for j in range(table.n_columns) if j not in fixed and j not in drawn)
            fixed |= {j: _middle(table, j) for j in others}
            return cls(estimator, table, tuple(range(table.n_columns)), fixed, None)
        columns = _with_their_blocks(estimator, {*drawn, *fixed})
        return cls(estimator, table, columns, fixed, estimator._marginal(columns))

    def rows(self, cells: Mapping[int, NDArray[Any]]) -> Any:
        """Rows with these cells in the drawn columns, in the container of the table."""
        n = len(next(iter(cells.values())))
        columns = []
        for j in self.columns:
            if j in cells:
                columns.append(cells[j])
            elif j in self.held:
                columns.append(_repeated(self.held[j], n))
            else:
                columns.append(np.full(n, np.nan))
        return self._built(self.columns, columns)

    def _built(self, columns: Sequence[int], cells: Sequence[NDArray[Any]]) -> Any:
        """Cells of some columns in the container of the table, as they are written there."""
        container, notations = self._container(columns), self.table.notations
        if any(j in notations for j in columns):
            each = zip(columns, cells, container.kinds(), strict=True)
            cells = [notations[j].written(one, kind) if j in notations else one for j, one, kind in each]
        return container.build(cells)

    def _container(self, columns: Sequence[int]) -> Container:
        """The container of some columns of the rows, if the model leaves out others or not."""
        if len(columns) == self.table.n_columns:
            return self.table.container
        return self.table.container.take_columns(columns, gaps=len(self.columns) < self.table.n_columns)

    def posteriors(self, cells: Mapping[int, NDArray[Any]]) -> tuple[Array, Array]:
        """p(C_k | x) of rows with these cells, and its logarithm."""
        rows = self.rows(cells)
        if self.marginal is not None:
            table = read_table(rows)
            return self.marginal.posteriors(table), self.marginal.log_posteriors(table)
        p = np.asarray(self.estimator.predict_proba(rows))
        if hasattr(self.estimator, "predict_log_proba"):
            return p, np.asarray(self.estimator.predict_log_proba(rows))
        with np.errstate(divide="ignore"):
            return p, np.log(p)

    def log_densities(self, cells: Mapping[int, NDArray[Any]]) -> Array:
        """Log p(x | C_k) of these cells and those held."""
        return np.asarray(self.marginal.log_densities(read_table(self.rows(cells))))

    def counts(self, grid: Grid) -> NDArray[np.bool_]:
        """The values of a column that the model does not ignore: an ignored cell adds 0 to every class."""
        rows = read_table(self.rows({grid.column: grid.values}))
        said = self.marginal.of_values().contributions(rows, base=True)[:, self.columns.index(grid.column)]
        return np.asarray(np.any(said != 0.0, axis=1))

    def named(self) -> dict[Any, Any]:
        """The values held, by name."""
        return {self.table.names[j]: value for j, value in self.held.items()}

    def grid(self, column: int, resolution: int, margin: float) -> Grid:
        """Values of a column over its range in the table."""
        table, name = self.table, str(self.table.names[column])
        kind = _kind(self.estimator, table, column)
        if kind == "levels":
            levels = table.levels(column)
            counts = np.bincount(levels.codes[levels.codes >= 0], minlength=len(levels.values))
            kept = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
            chosen = sorted(
                (levels.values[i] for i in kept), key=lambda level: (isinstance(level, str), level)
            )
            if not chosen:
                raise ValueError(f"{table.label(column)} has no value in X, so there is nothing to draw.")
            values = np.empty(len(chosen), dtype=object)
            values[:] = chosen
            return Grid(column, name, kind, values, len(levels.values))
        seen = table.numbers([column])[:, 0].astype(np.float64)
        seen = seen[~np.isnan(seen)]
        if not len(seen):
            raise ValueError(f"{table.label(column)} has no value in X, so there is nothing to draw.")
        if kind != "counts":
            rest = seen[~np.isin(seen, repeated_values(self.estimator, column))]
            seen = rest if len(rest) else seen
        low, high = float(seen.min()), float(seen.max())
        if kind == "counts":
            return Grid(column, name, kind, np.unique(np.linspace(low, high, resolution).round()))
        room = margin * (high - low) if high > low else max(abs(low), 1.0)
        wanted = np.linspace(low - room, high + room, resolution)
        # A container of integers rounds: draw where the model is evaluated.
        built = read_table(self._built([column], [wanted]))
        if column in table.notations:
            built = WrittenTable(built, {0: table.notations[column]})
        asked = built.numbers([0])[:, 0]
        return Grid(column, name, kind, np.unique(asked.astype(np.float64)))


def marginalises(estimator: Any) -> bool:
    """Whether the model reads the columns of its schema: it is generative and accepts gaps."""
    from sklearn.utils import get_tags

    return hasattr(estimator, "with_priors") and bool(get_tags(estimator).input_tags.allow_nan)


def position(table: Table, column: Hashable) -> int:
    """The position of a column given by name or position."""
    if column in table.names:
        return table.names.index(column)
    if isinstance(column, int) and 0 <= column < table.n_columns:
        return column
    asked = did_you_mean(column, table.names)
    others = f"{asked} The" if asked else "the"
    raise ValueError(f"there is no column {column!r}; {others} columns are {list(table.names)[:20]}.")


def positions(table: Table, columns: str | int | Sequence[Hashable]) -> list[int]:
    """The positions of some columns, or of a single one."""
    several: Sequence[Hashable] = [columns] if isinstance(columns, (str, int)) else columns
    return [position(table, column) for column in several]


def read_rows(estimator: Any, X: Any) -> Table:
    """X as a table, with the columns that a generative model was fitted to."""
    if not marginalises(estimator):
        return read_table(X)
    schema = estimator.schema_
    table = read_more_features(estimator, X, schema.names if schema.named else None)
    return WrittenTable(table, schema.notations) if schema.notations else table


def block_of(estimator: Any, column: int) -> list[int] | None:
    """All columns of the Multinomial that a column belongs to."""
    for factor in estimator.schema_.factors:
        if factor.family.factor == "counts" and column in factor.columns:
            return [int(j) for j in factor.columns]
    return None


def repeated_values(estimator: Any, column: int) -> tuple[float, ...]:
    """The values of a column that have probabilities beside a density."""
    schema = getattr(estimator, "schema_", None)
    family = None if schema is None else schema.columns[column].family
    return family.repeated if isinstance(family, Hurdle) and not family.discrete else ()


def _with_their_blocks(estimator: Any, columns: set[int]) -> tuple[int, ...]:
    """Columns and those they cannot be separated from, ascending."""
    together = {j for column in columns for j in block_of(estimator, column) or ()}
    return tuple(sorted(columns | together))


def _kind(estimator: Any, table: Table, column: int) -> Kind:
    """How a column is drawn: by its family if the model has one, else by its cells."""
    cells = table.kind(column)
    schema = getattr(estimator, "schema_", None)
    family = None if schema is None else schema.columns[column].family
    if schema is not None and family is not None:
        factor = next(factor for factor in schema.factors if column in factor.columns)
        if factor.reads == "documents":
            raise ValueError(
                f"{table.label(column)} holds text, which has no axis; use explain(X) or top_words() instead."
            )
        if family.factor == "counts":
            raise ValueError(
                f"{table.label(column)} belongs to a {family.name} of {len(factor.columns)} columns, which "
                "is observed or missing as a whole and has no axis; use DensityDisplay for its shares."
            )
        if factor.reads == "levels":
            return "levels"
        if family.discrete and cells == "number":
            return "counts"
    if cells in ("level", "boolean"):
        return "levels"
    return "moments" if cells == "moment" else "numbers"


def _middle(table: Table, column: int) -> Any:
    """The median of a column of numbers, or the most frequent level."""
    if table.kind(column) in ("level", "boolean"):
        levels = table.levels(column)
        counts = np.bincount(levels.codes[levels.codes >= 0], minlength=max(len(levels.values), 1))
        return levels.values[int(counts.argmax())] if levels.values else None
    numbers = table.numbers([column])[:, 0].astype(np.float64)
    return float(np.nanmedian(numbers)) if not np.isnan(numbers).all() else np.nan


def _cell(value: Any, label: str) -> Any:
    """A value as containers hold it: a level, or a number (seconds for moments and durations)."""
    cells = np.empty(1, dtype=object)
    cells[0] = value
    column = array_column(cells, label)
    return value if column.kind in ("level", "boolean") else float(column.numbers()[0])


def _repeated(value: Any, n: int) -> NDArray[Any]:
    """One value repeated n times: floats for numbers, else objects."""
    if isinstance(value, (float, int, np.number)) and not isinstance(value, bool):
        return np.full(n, float(value))
    cells = np.empty(n, dtype=object)
    cells[:] = [value] * n
    return cells
