"""The fixed set of column functions that u(x) is made of, each taken about an origin c.

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
Kernels, SQL and ONNX are derived from these names, so a family never writes its own.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from suffice.arrays import Array, Exponents

FunctionName = Literal["x", "x2", "log", "log2", "log1m", "reciprocal", "cos", "sin"]

NO_SPREAD = -1100
"""The exponent of a column all of whose values lie on their origins."""
SMALLEST_UNIT = -1000
"""Units stay where 2⁻ᵉ is a float."""

DEGREE: dict[FunctionName, int] = {
    "x": 1,
    "x2": 2,
    "log": 0,
    "log2": 0,
    "log1m": 0,
    "reciprocal": 0,
    "cos": 0,
    "sin": 0,
}
"""How each function grows with the unit: f(2ᵉ·x) about 2ᵉ·c is 2^(degree·e) times f(x) about c."""


def log_ratio(x: Array, origin: Array) -> Array:
    """log(x / c) without cancellation near c and without overflow far from it."""
    near = np.abs(x - origin) < 0.5 * np.abs(origin)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        close = np.log1p((x - origin) / origin)
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


def evaluate(function: FunctionName, x: Array, origin: Array, exponent: Exponents) -> Array:
    """One elementary function of x about the origin, in units of 2^exponent."""
    if function == "x":
        return (x - origin) * np.ldexp(1.0, -exponent)
    if function == "x2":
        return np.square((x - origin) * np.ldexp(1.0, -exponent))
    x = np.asarray(x, dtype=np.float64)
    if function == "log":
        return log_ratio(x, origin)
    if function == "log2":
        return np.square(log_ratio(x, origin))
    if function == "log1m":
        return log_complement_ratio(x, origin)
    if function == "reciprocal":
        return (origin - x) / x
    if function == "cos":
        return -2.0 * np.square(np.sin(0.5 * (x - origin)))
    return np.sin(x - origin)


def rebase(
    functions: tuple[FunctionName, ...],
    total: Array,
    weight: Array,
    origin: Array,
    target: Array,
    exponent: Exponents,
) -> Array:
    """Totals of the functions about `target` instead of `origin`; both in units of 2^exponent."""
    by_name = dict(zip(functions, total, strict=True))
    moved = np.empty_like(total)
    for row, name in enumerate(functions):
        old = by_name[name]
        if name == "x":
            moved[row] = old + weight * ((origin - target) * np.ldexp(1.0, -exponent))
        elif name == "x2":
            shift = (origin - target) * np.ldexp(1.0, -exponent)
            moved[row] = old + shift * (2.0 * by_name.get("x", 0.0) + weight * shift)
        elif name == "log":
            moved[row] = old + weight * log_ratio(origin, target)
        elif name == "log2":
            shift = log_ratio(origin, target)
            moved[row] = old + shift * (2.0 * by_name["log"] + weight * shift)
        elif name == "log1m":
            moved[row] = old + weight * log_complement_ratio(origin, target)
        elif name == "reciprocal":
            moved[row] = (target / origin) * old + weight * ((target - origin) / origin)
        else:
            turn = origin - target
            from_cos = np.cos(turn) if name == "cos" else np.sin(turn)
            from_sin = -np.sin(turn) if name == "cos" else np.cos(turn)
            constant = -2.0 * np.square(np.sin(0.5 * turn)) if name == "cos" else np.sin(turn)
            moved[row] = by_name["cos"] * from_cos + by_name["sin"] * from_sin + weight * constant
    return moved


def rescale(functions: tuple[FunctionName, ...], total: Array, shift: Exponents) -> Array:
    """Totals in units of 2^(exponent + shift) instead of 2^exponent: exact, a power of two."""
    return np.stack(
        [np.ldexp(row, -DEGREE[name] * shift) for name, row in zip(functions, total, strict=True)]
    )


def exponent_of(size: Array) -> Exponents:
    """The power of two just above a size."""
    return np.where(size > 0, np.maximum(np.frexp(size)[1], NO_SPREAD), NO_SPREAD).astype(np.int32)
