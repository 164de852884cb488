"""The column functions that u(x) is made of: eight by name, each about an origin c, and one's own.

| name         | about the origin c, in units of 2^e |
|--------------|-------------------------------------|
| `x`          | (x − c)·2⁻ᵉ                         |
| `x2`         | ((x − c)·2⁻ᵉ)²                      |
| `log`        | log(x / c)                          |
| `log2`       | log²(x / c)                         |
| `log1m`      | log((1 − x) / (1 − c))              |
| `reciprocal` | c / x − 1                           |
| `cos`        | cos(x − c) − 1                      |
| `sin`        | sin(x − c)                          |

Sums about an origin near the data keep the digits that raw sums lose, and they move to another
origin by exact algebra: every function about c′ is an affine map of the same functions about c.
Each function is written once, in NumPy; SQL and ONNX come from running it on an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from suffice.arrays import Array, Exponents

FunctionName = Literal["x", "x2", "log", "log2", "log1m", "reciprocal", "cos", "sin"]

NO_SPREAD = -1100
"""The exponent of a column all of whose values lie on their origins."""
SMALLEST_UNIT = -1000
"""Units stay where 2⁻ᵉ is a float."""


@dataclass(frozen=True)
class ElementaryFunction:
    """A function of one's own that u(x) is made of, beside the eight that have names.

    It is summed as it is, whatever the origin. SQL and ONNX are written by running it on an expression
    instead of an array: use `+ - * / **`, np.where of comparisons, np.abs, np.exp, np.floor, np.log,
    np.log1p, np.power, np.sin, np.sqrt and np.square.

    Parameters
    ----------
    name : str
        Its name in messages, other than the eight.
    value : callable
        f(x), cell by cell; finite wherever x lies in the support.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import ElementaryFunction
    >>> distance = ElementaryFunction("distance from 3", lambda x: np.abs(x - 3.0))
    >>> distance.value(np.array([1.0, 3.0, 8.0]))
    array([2., 0., 5.])
    """

    name: str
    value: Callable[..., Any]

    degree: int = field(default=0, init=False, repr=False)
    """How it grows with the unit: f(2ᵉ·x) about 2ᵉ·c is 2^(degree·e) times f(x) about c."""
    root: ElementaryFunction | None = field(default=None, init=False, repr=False)
    """The function that this one is the square of."""

    def __post_init__(self) -> None:
        if not self.name or not callable(self.value):
            raise TypeError(
                f"ElementaryFunction takes a name and a function of x, got {self.name!r} and {self.value!r}."
            )

    def about(self, x: Any, origin: Any) -> Any:
        """Compute f(x) about the origin, where x is an array or an expression.

        Parameters
        ----------
        x : ndarray or expression
        origin : ndarray

        Returns
        -------
        ndarray or expression
        """
        with np.errstate(all="ignore"):
            found = self.value(x)
        if not isinstance(x, np.ndarray):
            return found
        if np.shape(found) != x.shape:
            raise ValueError(
                f"the function {self.name!r} made an array of shape {np.shape(found)} from one of shape "
                f"{x.shape}; it must give one number for each cell."
            )
        # A copy, since it may be x itself.
        return np.array(found, dtype=np.float64)

    def moved(
        self, totals: Mapping[str, Array], weight: Array, origin: Array, target: Array, exponent: Exponents
    ) -> Array:
        """Compute Σ w·f(x) about `target` from sums about `origin`.

        Parameters
        ----------
        totals : dict of str to ndarray
            The sums of all functions of u(x), by name.
        weight, origin, target, exponent : ndarray

        Returns
        -------
        ndarray
        """
        return totals[self.name]


Function: TypeAlias = FunctionName | ElementaryFunction
DevianceTerms: TypeAlias = Callable[[Any, Array], tuple[tuple[Any, Any, Any], ...]]
"""Of x and μ: a, c and a − c of each term of the deviance Σ a·log(a/c) − a + c, to all digits."""


@dataclass(frozen=True)
class _AboutOrigin(ElementaryFunction):
    """A function of x and the origin: f(x) = value(x, c)."""

    degree: int = field(default=0, kw_only=True)

    def about(self, x: Any, origin: Any) -> Any:
        return self.value(x, origin)

    def moved(
        self, totals: Mapping[str, Array], weight: Array, origin: Array, target: Array, exponent: Exponents
    ) -> Array:
        return self._turned(totals, origin, target) + weight * self.shift(origin, target, exponent)

    def shift(self, origin: Array, target: Array, exponent: Exponents) -> Array:
        """What a move to another origin adds to f(x), for each unit of weight."""
        away: Array = self.value(origin, target)
        return away * np.ldexp(1.0, -exponent) if self.degree else away

    def _turned(self, totals: Mapping[str, Array], origin: Array, target: Array) -> Array:
        """The part of the move that does not depend on Σ w."""
        return totals[self.name]


class _Reciprocal(_AboutOrigin):
    def _turned(self, totals: Mapping[str, Array], origin: Array, target: Array) -> Array:
        return np.asarray((target / origin) * totals[self.name])


class _Cosine(_AboutOrigin):
    def _turned(self, totals: Mapping[str, Array], origin: Array, target: Array) -> Array:
        turn = origin - target
        return np.asarray(totals["cos"] * np.cos(turn) - totals.get("sin", 0.0) * np.sin(turn))


class _Sine(_AboutOrigin):
    def _turned(self, totals: Mapping[str, Array], origin: Array, target: Array) -> Array:
        turn = origin - target
        return np.asarray(totals.get("cos", 0.0) * np.sin(turn) + totals["sin"] * np.cos(turn))


@dataclass(frozen=True)
class _Square(ElementaryFunction):
    """The square of another function: f(x) = value(root(x))."""

    degree: int = field(default=0, kw_only=True)
    root: _AboutOrigin = field(kw_only=True)

    def moved(
        self, totals: Mapping[str, Array], weight: Array, origin: Array, target: Array, exponent: Exponents
    ) -> Array:
        shift = self.root.shift(origin, target, exponent)
        return np.asarray(
            totals[self.name] + shift * (2.0 * totals.get(self.root.name, 0.0) + weight * shift)
        )


def log_ratio(x: Array, origin: Array) -> Array:
    """log(x / c) without cancellation near c and without overflow far from it."""
    away = x - origin
    near = np.abs(away) < 0.5 * np.abs(origin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        close = np.log1p(away / origin)
        far = np.log(x) - np.log(origin)
    return np.where(near, close, far)


def log_shift(origin: Array, shift: Array) -> Array:
    """log((c + shift) / c), for a small shift not rounded into c."""
    near = np.abs(shift) < 0.5 * np.abs(origin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(near, np.log1p(shift / origin), np.log(origin + shift) - np.log(origin))


def log_complement_ratio(x: Array, origin: Array) -> Array:
    """log((1 − x) / (1 − c)); 1 − x is never rounded near c, so small proportions keep their digits."""
    near = np.abs(x - origin) < 0.5 * (1.0 - origin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        close = np.log1p((origin - x) / (1.0 - origin))
        far = np.log1p(-x) - np.log1p(-origin)
    return np.where(near, close, far)


_X = _AboutOrigin("x", lambda x, c: x - c, degree=1)
_LOG = _AboutOrigin("log", log_ratio)
NAMED: dict[str, ElementaryFunction] = {
    function.name: function
    for function in (
        _X,
        _Square("x2", np.square, degree=2, root=_X),
        _LOG,
        _Square("log2", np.square, root=_LOG),
        _AboutOrigin("log1m", log_complement_ratio),
        _Reciprocal("reciprocal", lambda x, c: (c - x) / x),
        _Cosine("cos", lambda x, c: -2.0 * np.square(np.sin(0.5 * (x - c)))),
        _Sine("sin", lambda x, c: np.sin(x - c)),
    )
}
POSITIVE_ORIGIN = frozenset({"log", "log2", "reciprocal"})
PARTNER: dict[Function, FunctionName] = {"x2": "x", "log2": "log", "cos": "sin", "sin": "cos"}
"""What else u(x) must hold for a sum of the function to move to another origin."""


def elementary(functions: tuple[Function, ...]) -> tuple[ElementaryFunction, ...]:
    """Functions given by their names, or one's own."""
    return tuple([NAMED[one] if isinstance(one, str) else one for one in functions])


def check_functions(family: Any, name: str) -> None:
    """Raise unless u(x) of a family, or of a class of families, is made of functions that can be summed."""
    functions, origin = family.functions, family.default_origin
    # What a property computes is known only when the family is made.
    if isinstance(functions, property):
        return
    if not isinstance(functions, tuple):
        raise TypeError(f"{name}: functions must be a tuple, such as ('x', 'log'), got {functions!r}.")
    if not functions and family.factor == "columns":
        raise ValueError(f"{name}: functions is empty; name what u(x) is made of, such as ('x', 'log').")
    for one in functions:
        if not isinstance(one, ElementaryFunction) and one not in tuple(NAMED):
            raise ValueError(
                f"{name}: {one!r} is not a function that u(x) can be made of; choose from "
                f"{', '.join(NAMED)}, or define your own: ElementaryFunction(name, value)."
            )
    names = [one.name for one in elementary(functions)]
    own = {one.name for one in functions if not isinstance(one, str)}
    if len(set(names)) < len(names) or own & set(NAMED):
        raise ValueError(
            f"{name}: functions must have different names, and your own none of the eight, got "
            f"{', '.join(names)}."
        )
    if not isinstance(origin, property):
        _check_origin(name, functions, origin, centred=family.centred)


def _check_origin(name: str, functions: tuple[Function, ...], origin: float, *, centred: bool) -> None:
    """Raise unless the functions can be summed about the origin, and centred sums moved to another one."""
    if origin != 0 and not centred and set(functions) <= {"x", "x2"}:
        raise ValueError(f"{name}: sums of x and x2 are taken about 0, but default_origin is {origin}.")
    for one in functions:
        if one in POSITIVE_ORIGIN and not origin > 0:
            raise ValueError(
                f"{name}: {one!r} is taken about an origin > 0, but default_origin is {origin}; set it, for "
                "example to 1.0."
            )
        if centred and one in PARTNER and PARTNER[one] not in functions:
            raise ValueError(
                f"{name}: centred sums of {one!r} need {PARTNER[one]!r} in functions too, or centred = False."
            )


def evaluate(function: Function, x: Array, origin: Array, exponent: Exponents) -> Array:
    """One function of x about the origin, in units of 2^exponent, as a new array."""
    (one,) = elementary((function,))
    if one.root is not None:
        return np.asarray(one.value(evaluate(one.root, x, origin, exponent)))
    found = one.about(np.asarray(x, dtype=np.float64), origin)
    return np.asarray(found * np.ldexp(1.0, -exponent) if one.degree else found)


def rebase(
    functions: tuple[Function, ...],
    total: Array,
    weight: Array,
    origin: Array,
    target: Array,
    exponent: Exponents,
) -> Array:
    """Totals of the functions about `target` instead of `origin`; both in units of 2^exponent."""
    chosen = elementary(functions)
    totals = {one.name: row for one, row in zip(chosen, total, strict=True)}
    return np.array([one.moved(totals, weight, origin, target, exponent) for one in chosen])


def rescale(functions: tuple[Function, ...], total: Array, shift: Exponents) -> Array:
    """Totals in units of 2^(exponent + shift) instead of 2^exponent: exact, a power of two."""
    chosen = elementary(functions)
    return np.array([np.ldexp(row, -one.degree * shift) for one, row in zip(chosen, total, strict=True)])


def exponent_of(size: Array) -> Exponents:
    """The power of two just above a size."""
    return np.where(size > 0, np.frexp(size)[1], NO_SPREAD).astype(np.int32, copy=False)
