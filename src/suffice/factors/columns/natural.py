"""Natural parameters of number columns, with u(x) as books write it: about 0, in the units of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from suffice.arrays import Array
from suffice.factors.columns.parameters import ColumnParameters
from suffice.factors.natural import NaturalForm, not_linear, ruled_out
from suffice.families.dispersed import DispersedFamily
from suffice.families.elementary import ElementaryFunction, elementary, rebase

WORDS = {
    "x": "{}",
    "x2": "{}²",
    "log": "log {}",
    "log2": "log² {}",
    "log1m": "log(1 − {})",
    "reciprocal": "1/{}",
    "cos": "cos {}",
    "sin": "sin {}",
}
PLAIN: dict[str, Callable[[Array], Array]] = {
    "x": np.asarray,
    "x2": np.square,
    "log": np.log,
    "log2": lambda x: np.square(np.log(x)),
    "log1m": lambda x: np.log1p(-x),
    "reciprocal": np.reciprocal,
    "cos": np.cos,
    "sin": np.sin,
}
POWERS = {"x": 1, "x2": 2}


def column_forms(factor: ColumnParameters, names: list[str], about: int | None) -> list[NaturalForm]:
    """The natural form of each column that varies; `about` a class, u(x) is of x less a value near it."""
    family, on = factor.family, np.flatnonzero(factor.active)
    if family.unseen == "smooth" and not family.takes_every_number:
        why = "unseen='smooth' gives values outside the support a share of their own"
        raise not_linear(names[0], family.name, why, "use unseen='ignore'")
    if factor.point[:, on].any():
        column = int(on[np.argmax(factor.point[:, on].any(axis=0))])
        raise ruled_out(names[column], "a class has a single value")
    chosen = elementary(family.functions)
    are_powers = {one.name for one in chosen} <= set(POWERS)
    start = 0.0 if are_powers else family.default_origin
    origin = factor.origin[about] if about is not None and are_powers else np.full(len(names), start)
    natural, log_g = _about(factor, chosen, origin)
    if not are_powers:
        natural, log_g = _plain(chosen, natural, log_g, start)
    shared = np.zeros(len(chosen), dtype=np.bool_)
    if isinstance(family, DispersedFamily) and family.dispersion == "shared":
        shared[1] = True  # (μ/s, 1/s): of these families the second belongs to the dispersion
    return [
        NaturalForm(
            columns=(j,),
            statistics=tuple(WORDS.get(one.name, one.name + "({})").format(names[j]) for one in chosen),
            natural=natural[:, :, j].T,
            log_g=log_g[:, j],
            shared=shared,
            u=_reader(factor, chosen, j),
            origin=origin[[j]],
            powers=tuple((j,) * POWERS[one.name] for one in chosen) if are_powers else None,
        )
        for j in on.tolist()
    ]


def _about(
    factor: ColumnParameters, chosen: tuple[ElementaryFunction, ...], origin: Array
) -> tuple[Array, Array]:
    """λ, (m, classes, columns), and ln g about one origin for all classes, in the units of the data."""
    target = np.broadcast_to(origin, factor.origin.shape)
    shift = rebase(
        factor.family.functions,
        np.zeros_like(factor.natural),
        np.ones_like(factor.origin),
        target,
        factor.origin,
        factor.exponent,
    )
    log_g = factor.constant + np.sum(factor.natural * shift, axis=0)
    moved = factor.moved(factor.natural, origin)
    in_units = [
        np.ldexp(row, -one.degree * factor.exponent) if factor.family.scaled else row
        for one, row in zip(chosen, moved, strict=True)
    ]
    return np.stack(in_units), log_g


def _plain(
    chosen: tuple[ElementaryFunction, ...], natural: Array, log_g: Array, origin: float
) -> tuple[Array, Array]:
    """λ and ln g of the functions as books write them, from those about an origin."""
    natural, log_g = natural.copy(), log_g.copy()
    places = {one.name: i for i, one in enumerate(chosen)}
    away = {
        "x": origin,
        "log": float(np.log(origin)) if origin > 0 else 0.0,
        "log1m": float(np.log1p(-origin)) if origin < 1 else 0.0,
    }
    for square, root in (("x2", "x"), ("log2", "log")):
        if square in places and away[root]:
            weight = natural[places[square]]
            natural[places[root]] -= 2.0 * away[root] * weight
            log_g -= np.square(away[root]) * weight  # what the linear term takes away again, below
    for name, i in places.items():
        if name == "reciprocal":
            log_g -= natural[i]
            natural[i] *= origin
        elif name == "cos":
            log_g -= natural[i]
        else:
            log_g -= away.get(name, 0.0) * natural[i]
    return natural, log_g


def _reader(
    factor: ColumnParameters, chosen: tuple[ElementaryFunction, ...], column: int
) -> Callable[[Any], Array]:
    """u(x) of one column of a batch."""

    def u(block: Any) -> Array:
        cells = block[:, [column]].toarray()[:, 0] if sparse.issparse(block) else block[:, column]
        x = np.asarray(cells, dtype=np.float64)
        x = np.where(factor.family.support(x), x, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [PLAIN[one.name](x) if one.name in PLAIN else one.value(x) for one in chosen]
        return np.column_stack(found)

    return u
