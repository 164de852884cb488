"""Natural parameters of a joint Gaussian block: λ_k = (Σ_k⁻¹μ_k, −½Σ_k⁻¹), u(x) = (x, xxᵀ)."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.factors.blocks import dense
from suffice.factors.gaussian.parameters import Gaussians
from suffice.factors.natural import NaturalForm


def quadratic(gaussian: Gaussians, k: int, centre: Array) -> tuple[Array, Array, float]:
    """−½Σ⁻¹, Σ⁻¹(μ − c) and the constant of log p(x | C_k) as a function of x − c, in units of the data."""
    on = gaussian.active
    whitening = gaussian.whitenings[gaussian.group[k]]
    d, scale = len(gaussian.scale), gaussian.scale[on]
    precision, linear = np.zeros((d, d)), np.zeros(d)
    with np.errstate(over="ignore"):
        precision[np.ix_(on, on)] = whitening.inverse.T @ whitening.inverse / scale / scale[:, np.newaxis]
    away = whitening.inverse @ ((gaussian.centre[k] - centre) / gaussian.scale + gaussian.shift[k])[on]
    linear[on] = away @ whitening.inverse / scale
    return -0.5 * precision, linear, whitening.constant - 0.5 * float(away @ away)


def gaussian_form(gaussian: Gaussians, names: list[str], about: int | None) -> NaturalForm:
    """λ and ln g of the columns that vary, taken about 0 or about the mean of a class."""
    on, n_classes = gaussian.active, len(gaussian.group)
    centre = np.zeros(len(gaussian.scale)) if about is None else gaussian.mean[about]
    parts = [quadratic(gaussian, k, centre) for k in range(n_classes)]
    squares = np.stack([square for square, _, _ in parts])
    first, second = np.triu_indices(len(on))
    first, second = on[first], on[second]
    held = (first == second) | squares[:, first, second].any(axis=0)
    first, second = first[held], second[held]
    products = np.where(first == second, 1.0, 2.0) * squares[:, first, second]
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    words = [f"{names[i]}²" if i == j else f"{names[i]}·{names[j]}" for i, j in pairs]

    def u(block: Any) -> Array:
        x = np.asarray(dense(block), dtype=np.float64)
        return np.hstack([x[:, on], x[:, first] * x[:, second]])

    return NaturalForm(
        columns=tuple(range(len(names))),
        statistics=(*(names[j] for j in on.tolist()), *words),
        natural=np.hstack([np.stack([linear for _, linear, _ in parts])[:, on], products]),
        log_g=np.array([constant for _, _, constant in parts]),
        shared=np.repeat([False, not gaussian.group.any()], [len(on), len(pairs)]),
        u=u,
        origin=centre,
        powers=(*((j,) for j in on.tolist()), *pairs),
    )
