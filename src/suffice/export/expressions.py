"""Scores as expressions over the cells of one row, which SQL and ONNX are written from.

A value is one number, or one number per class (a K-vector constant makes everything above it a vector).
A factor writes its scores with these few nodes; the exporters know the nodes, but no factor.

A cell may be missing. Arithmetic with a missing cell is missing, a comparison with one is not true, and
`Where` takes its second branch unless the condition is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, reduce
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.elementary import ElementaryFunction

Function = Literal[
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "log",
    "exp",
    "sin",
    "floor",
    "absolute",
    "square",
    "less",
    "less_equal",
    "equal",
    "logical_and",
    "logical_or",
    "logical_not",
]
"""NumPy's names."""
FUNCTIONS: dict[str, Function] = {name: name for name in get_args(Function)} | {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
}
TRUTHS = frozenset({"less", "less_equal", "equal", "logical_and", "logical_or", "logical_not"})
Gaps = Literal["marginal", "null", "observed"]
"""What a gap in a joint block does: a formula for each pattern, no score, or one node that sees the gaps."""
RULED_OUT = -1e300
"""The score of a class that is ruled out, since databases do not agree on how to write −∞."""
FARTHEST = 1e290
"""Where powers and exponentials are cut off: larger ones overflow in the next step."""
SWAPPED: dict[str, Function] = {"greater": "less", "greater_equal": "less_equal"}
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Expression:
    """A node. Operators and the NumPy functions of the same names build larger ones."""

    @cached_property
    def parts(self) -> tuple[Expression, ...]:
        """The nodes that this one is made of, in the order of its fields."""
        held = [getattr(self, one.name) for one in fields(self)]
        groups = [value if isinstance(value, tuple) else (value,) for value in held]
        return tuple(value for group in groups for value in group if isinstance(value, Expression))

    @cached_property
    def is_vector(self) -> bool:
        """Whether there is one value per class."""
        if isinstance(self, Number):
            return self.value.ndim == 1
        return any(part.is_vector for part in self.parts)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """A NumPy function of expressions is an expression, so that a family's support can be written out."""
        name = ufunc.__name__
        if method != "__call__" or settings:
            return NotImplemented
        if name == "isfinite" and isinstance(self, Cell):
            return ~Missing(self.column)
        arguments = tuple(as_expression(value) for value in inputs)
        if name in SWAPPED:
            return Apply(SWAPPED[name], arguments[::-1])
        if name in COMPOSED:
            return COMPOSED[name](*arguments)
        return Apply(FUNCTIONS[name], arguments) if name in FUNCTIONS else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: Any, settings: Any) -> Any:
        """`np.where` of expressions is `Where`."""
        if function is not np.where or len(inputs) != 3 or settings:
            return NotImplemented
        return Where(*(as_expression(value) for value in inputs))

    def __add__(self, other: Value) -> Expression:
        return Apply("add", (self, as_expression(other)))

    def __sub__(self, other: Value) -> Expression:
        return Apply("subtract", (self, as_expression(other)))

    def __rsub__(self, other: Value) -> Expression:
        return Apply("subtract", (as_expression(other), self))

    def __mul__(self, other: Value) -> Expression:
        return Apply("multiply", (self, as_expression(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Value) -> Expression:
        return Apply("divide", (self, as_expression(other)))

    def __rtruediv__(self, other: Value) -> Expression:
        return Apply("divide", (as_expression(other), self))

    def __pow__(self, other: float) -> Expression:
        return power(self, as_expression(other))

    def __neg__(self) -> Expression:
        return 0.0 - self

    def __abs__(self) -> Expression:
        return absolute(self)

    def __lt__(self, other: Value) -> Expression:
        return Apply("less", (self, as_expression(other)))

    def __le__(self, other: Value) -> Expression:
        return Apply("less_equal", (self, as_expression(other)))

    def __gt__(self, other: Value) -> Expression:
        return Apply("less", (as_expression(other), self))

    def __ge__(self, other: Value) -> Expression:
        return Apply("less_equal", (as_expression(other), self))

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return Apply("equal", (self, as_expression(other)))

    __hash__ = object.__hash__

    def __and__(self, other: Expression) -> Expression:
        return Apply("logical_and", (self, other))

    def __or__(self, other: Expression) -> Expression:
        return Apply("logical_or", (self, other))

    def __invert__(self) -> Expression:
        return Apply("logical_not", (self,))


Value = Expression | Array | float


@dataclass(frozen=True, eq=False)
class Number(Expression):
    """A constant: a number, or one per class; NaN is missing."""

    value: Array


@dataclass(frozen=True, eq=False)
class Cell(Expression):
    """The number in a column, by its position."""

    column: int


@dataclass(frozen=True, eq=False)
class Missing(Expression):
    """Whether the cell of a column is missing."""

    column: int


@dataclass(frozen=True, eq=False)
class LevelNumber(Expression):
    """The position of a cell among L levels; L if it is none of them, L + 1 if it is missing."""

    column: int
    levels: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Apply(Expression):
    """A function under NumPy's name; `add`, `logical_and` and `logical_or` take any number of arguments."""

    function: Function
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        arithmetic = not self.function.startswith("logical")
        if arithmetic and any(isinstance(one, Apply) and one.function in TRUTHS for one in self.arguments):
            raise TypeError("a comparison is not a number; choose one with np.where.")


@dataclass(frozen=True, eq=False)
class Clip(Expression):
    """A value clipped below and above."""

    inner: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Where(Expression):
    """One of two values, depending on a condition."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False)
class Lookup(Expression):
    """The row of a table (rows, classes) at an index."""

    index: Expression
    table: Array
    is_vector = True


@dataclass(frozen=True, eq=False)
class Linear(Expression):
    """Σ_j w_jk·term_j, with weights (terms, classes)."""

    terms: tuple[Expression, ...]
    weights: Array
    is_vector = True


@dataclass(frozen=True, eq=False)
class SquaredNorm(Expression):
    """‖M_k·(term_1, …, term_d)‖² with matrices (classes, d, d)."""

    terms: tuple[Expression, ...]
    matrices: Array
    is_vector = True


@dataclass(frozen=True, eq=False)
class AcrossClasses(Expression):
    """The largest value among the classes, or their sum: one number."""

    function: Literal["max", "sum"]
    inner: Expression
    is_vector = False


@dataclass(frozen=True)
class Score:
    """Finite parts of the scores, and orders where some cell can be impossible (see `factors.scores`)."""

    finite: Expression
    order: Expression | None = None

    @property
    def parts(self) -> list[Expression]:
        """The finite parts, and the orders if there are any."""
        return [self.finite] if self.order is None else [self.finite, self.order]

    def rescaled(self, slope: float, bias: Array | float = 0.0) -> Score:
        """slope·score + bias, for a positive slope."""
        return Score(total([_times(self.finite, slope), as_expression(bias)]), self.order)


def as_expression(value: Any) -> Expression:
    """A value as a node; if its numbers are equal for all classes, it is one number."""
    if isinstance(value, Expression):
        return value
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 1 and len(array) and (array == array[0]).all():
        array = array[0]
    return Number(np.asarray(array))


def total(terms: list[Expression]) -> Expression:
    """The sum of any number of terms."""
    if not terms:
        return as_expression(0.0)
    return terms[0] if len(terms) == 1 else Apply("add", tuple(terms))


def _times(node: Expression, factor: float) -> Expression:
    """A product; a sum stays a sum, whose terms can be computed side by side."""
    if isinstance(node, Apply) and node.function == "add":
        return Apply("add", tuple(_times(part, factor) for part in node.arguments))
    if isinstance(node, Linear):  # onnxruntime rounds a factor of a matrix product to single precision
        return Linear(node.terms, node.weights * factor)
    return node * factor


def total_score(scores: list[Score]) -> Score:
    """The sum of scores, part by part."""
    orders = [score.order for score in scores if score.order is not None]
    return Score(total([score.finite for score in scores]), total(orders) if orders else None)


def terms_of(node: Expression) -> list[Expression]:
    """The terms of a sum, including those of nested sums."""
    if isinstance(node, Apply) and node.function == "add":
        return [term for part in node.arguments for term in terms_of(part)]
    return [node]


def all_of(conditions: list[Expression]) -> Expression:
    """Whether all conditions are true."""
    return conditions[0] if len(conditions) == 1 else Apply("logical_and", tuple(conditions))


def absolute(a: Expression) -> Expression:
    """|a|."""
    return Apply("absolute", (a,))


def log(a: Expression) -> Expression:
    """The natural logarithm."""
    return Apply("log", (a,))


def exp(a: Expression) -> Expression:
    """eᵃ."""
    return Apply("exp", (a,))


def square(a: Expression) -> Expression:
    """a²."""
    return Apply("square", (a,))


def sin(a: Expression) -> Expression:
    """The sine."""
    return Apply("sin", (a,))


def floor(a: Expression) -> Expression:
    """The whole number at or below."""
    return Apply("floor", (a,))


def log1p(a: Expression) -> Expression:
    """log(1 + a) without cancellation: rounding affects 1 + a and (1 + a) − 1 alike."""
    one_more = 1.0 + a
    # Where 1 + a rounds to 1, the quotient is not used, but must not divide by 0.
    moved = Where(one_more == 1.0, as_expression(1.0), one_more - 1.0)
    return Where(one_more == 1.0, a, log(one_more) * (a / moved))


def power(a: Expression, exponent: Expression) -> Expression:
    """aᵖ for a constant p, cut off where it under- or overflows, which is an error in some databases."""
    if not isinstance(exponent, Number) or exponent.is_vector:
        raise TypeError("the exponent must be a number.")
    p = float(exponent.value)
    if abs(p) <= 1.0:
        return Apply("power", (a, exponent))
    least, most = FARTHEST ** (-1.0 / abs(p)), FARTHEST ** (1.0 / abs(p))
    far = Apply("power", (Clip(a, -most, most), exponent))
    pole = Where(a < 0.0, as_expression(-FARTHEST), as_expression(FARTHEST)) if p % 2 == 1 else FARTHEST
    return Where(absolute(a) < least, as_expression(0.0 if p > 0 else pole), far)


COMPOSED: dict[str, Callable[..., Expression]] = {
    "exp": lambda a: exp(Clip(a, -np.log(FARTHEST), np.log(FARTHEST))),
    "log1p": log1p,
    "negative": lambda a: 0.0 - a,
    "power": power,
    "reciprocal": lambda a: 1.0 / a,
    "sqrt": lambda a: Apply("power", (a, as_expression(0.5))),
}
"""NumPy functions made of others, as one's own functions of u(x) call them."""


def polynomial(x: Expression, coefficients: tuple[float, ...]) -> Expression:
    """A polynomial by Horner's rule, highest power first."""
    return reduce(lambda value, c: value * x + c, coefficients[1:], as_expression(coefficients[0]))


def scaled(x: Expression, exponent: int) -> Expression:
    """x·2⁻ᵉ, in two steps where 2⁻ᵉ is not a float."""
    half = -exponent // 2
    if abs(exponent) <= 1000:
        return x if exponent == 0 else x * 2.0**-exponent
    return x * 2.0**half * 2.0 ** (-exponent - half)


def statistics(
    functions: tuple[ElementaryFunction, ...], x: Expression, origin: Array, exponent: int
) -> tuple[Expression, ...]:
    """u(x) about origins by class, by running its functions on the expression; a square shares its root."""

    @cache
    def of(function: ElementaryFunction) -> Expression:
        if function.root is not None:
            return as_expression(function.value(of(function.root)))
        return scaled(as_expression(function.about(x, origin)), function.degree * exponent)

    return tuple(of(function) for function in functions)


def nodes(expression: Expression) -> Iterator[Expression]:
    """Every node once, parts before the nodes that contain them."""
    seen: set[int] = set()
    waiting = [(expression, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in reversed(node.parts))


def with_cells(expression: Expression, read: Callable[[Cell], Expression]) -> Expression:
    """The expression with another one in place of each cell."""
    made: dict[int, Expression] = {}

    def swapped(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(swapped, value))
        return made[id(value)] if isinstance(value, Expression) else value

    for node in nodes(expression):
        if isinstance(node, Cell):
            made[id(node)] = read(node)
        else:
            made[id(node)] = replace(
                node, **{one.name: swapped(getattr(node, one.name)) for one in fields(node)}
            )
    return made[id(expression)]


def columns_of(expression: Expression) -> set[int]:
    """The columns that an expression reads."""
    return {node.column for node in nodes(expression) if isinstance(node, (Cell, Missing, LevelNumber))}


def balanced(items: list[T], join: Callable[[T, T], T]) -> T:
    """Join items in pairs of pairs, so that a long sum is not deeply nested."""
    while len(items) > 1:
        joined = [join(a, b) for a, b in zip(items[::2], items[1::2], strict=False)]
        items = joined + items[len(joined) * 2 :]
    return items[0]


def mask(values: NDArray[np.bool_]) -> Array:
    """1 where true, 0 elsewhere."""
    return values.astype(np.float64)
