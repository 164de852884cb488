"""NumPy formulas as narwhals expressions: u(x) and h(x) of any family, run on a column of a lazy frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class UntracedError(TypeError):
    """A formula that uses something beyond what engines compute."""


class Cells(NDArrayOperatorsMixin):
    """The cells of a column, in place of an array in NumPy code.

    Parameters
    ----------
    expression : narwhals expression
        The cells.
    """

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Cells:
        written = _UFUNCS.get(ufunc.__name__)
        if written is None or method != "__call__":
            raise UntracedError(f"np.{ufunc.__name__} cannot be computed by an engine.")
        return Cells(written(*map(expression_of, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Cells:
        if function is not np.where or kwargs or len(args) != 3:
            raise UntracedError(f"np.{function.__name__} cannot be computed by an engine.")
        return Cells(_where(*map(expression_of, args)))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise UntracedError("the cells of a lazy frame are not an array.")


def expression_of(value: Any) -> Any:
    """The narwhals expression of cells or of a number."""
    import narwhals.stable.v2 as nw

    if isinstance(value, Cells):
        return value.expression
    if isinstance(value, nw.Expr):
        return value
    one = np.asarray(value)
    if one.ndim or one.dtype.kind not in "biuf":
        raise UntracedError(f"engines compute with numbers, not with {value!r}.")
    return nw.lit(bool(one) if one.dtype.kind == "b" else float(one))


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    import narwhals.stable.v2 as nw

    return nw.when(condition).then(then).otherwise(otherwise)


def _log1p(x: Any) -> Any:
    """log(1 + x) to all digits: the rounding of 1 + x is divided out again."""
    rounded = x + 1.0
    near = x * rounded.log() / _where(rounded == 1.0, expression_of(1.0), rounded - 1.0)
    return _where(rounded == 1.0, x, near)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negative": lambda a: expression_of(0.0) - a,
    "power": lambda a, b: a**b,
    "square": lambda a: a * a,
    "absolute": lambda a: a.abs(),
    "sqrt": lambda a: a.sqrt(),
    "exp": lambda a: a.exp(),
    "log": lambda a: a.log(),
    "log1p": _log1p,
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "floor": lambda a: a.floor(),
    "isfinite": lambda a: a.is_finite(),
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "invert": lambda a: ~a,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_not": lambda a: ~a,
}
