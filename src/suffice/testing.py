"""The laws that every family and every model obeys, as checks that anyone can run on a family of their own.

    suffice.testing.check_family(MyFamily())

raises an AssertionError that names the first law that does not hold. The data are multiples of 1/8, so
sums of x and x² are exact and the laws of addition hold with `==`; statistics such as log x agree
to 1e-13. Needs hypothesis, which draws the examples.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate

from suffice.arrays import Array
from suffice.estimators.bayes import BayesClassifier
from suffice.families import Family
from suffice.model.statistics import Statistics
from suffice.model.summarize import summarize

__all__ = ["check_classifier", "check_family", "check_mathematics", "check_statistics"]

_EXACT = frozenset({"x", "x2"})
_GRID = np.arange(-80, 81) / 8.0
_LABELS = np.array(["a", "b", "c"])


def check_family(family: Family, *, max_examples: int = 50) -> None:
    """Check a family: its mathematics, its statistics, and a classifier that uses it.

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try for each group of laws.

    Raises
    ------
    AssertionError
        If a law does not hold; the message names it.

    Examples
    --------
    >>> from suffice.families import Poisson
    >>> from suffice.testing import check_family
    >>> check_family(Poisson(), max_examples=2)
    """
    if family.factor == "columns":
        check_mathematics(family)
    check_statistics(family, max_examples=max_examples)
    check_classifier(family, max_examples=max_examples)


def check_mathematics(family: Family) -> None:
    """Check the mathematics of a family.

    The gradient ∇A(λ) is the mean E[u], the maps between λ and E[u] are inverse to each other, the density
    sums or integrates to 1, samples have the mean E[u], and KL(p ‖ p) = 0.

    Parameters
    ----------
    family : Family
        An instance of a family of single columns.

    Raises
    ------
    AssertionError
        If a law does not hold; the message names it.

    Examples
    --------
    >>> from suffice.families import Exponential
    >>> from suffice.testing import check_mathematics
    >>> check_mathematics(Exponential())
    """
    assert not (family.scaled and family.has_base_measure), f"{family}: a scaled family must have h ≡ 1"
    inside = _GRID[family.support(_GRID)]
    base = family.log_base_measure(inside)
    assert family.has_base_measure or not base.any(), f"{family}: h is not 1, but has_base_measure is False"
    for natural, origin in _members(family):
        mean = family.mean_from_natural(natural, origin)
        back = family.mean_from_natural(family.natural_from_mean(mean, origin), origin)
        _assert_close(back, mean, 1e-8, f"{family}: natural_from_mean does not undo mean_from_natural")
        _assert_close(
            _gradient(family, natural, origin),
            mean,
            1e-4,
            f"{family}: ∇A(λ) is not E[u] at λ = {natural.ravel()}",
        )
        _assert_close(_mass(family, natural, origin), 1.0, 1e-6, f"{family}: the density does not sum to 1")
        _check_samples(family, natural, origin, mean)
        _assert_close(family.kl(natural, natural, origin), 0.0, 1e-9, f"{family}: KL(p ‖ p) is not 0")


def check_statistics(family: Family, *, max_examples: int = 50) -> None:
    """Check that the statistics of a family add, subtract and scale.

    The statistics of any two parts add up to those of the whole, subtracting a part undoes adding it, there
    is a zero, and a row of weight k counts as k rows.

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try.

    Raises
    ------
    AssertionError
        If a law does not hold; the message names it.

    Examples
    --------
    >>> from suffice.families import Normal
    >>> from suffice.testing import check_statistics
    >>> check_statistics(Normal(), max_examples=2)
    """
    exact = set(family.functions) <= _EXACT
    rtol = 0.0 if exact and not family.has_base_measure else 1e-12

    def same(a: Statistics, b: Statistics, law: str) -> None:
        assert a.isclose(b, rtol=rtol), f"{family}: {law}"

    @settings(max_examples=max_examples, deadline=None, database=None)
    @given(_tables(family), _tables(family), st.integers(0, 20))
    def laws(first: _Rows, second: _Rows, cut: int) -> None:
        a, b = first.statistics(family), second.statistics(family)
        both = first.then(second).statistics(family)
        same(a + b, both, "summarize(A) + summarize(B) is not summarize(A ∪ B)")
        same(b + a, both, "a + b is not b + a")
        same(both - b, a, "(a + b) − b is not a")
        negative = -a
        same(a + a.zero(), a, "0 is not the identity")
        same((a - b) + b, a, "(a − b) + b is not a: signed statistics do not add")
        same(-negative, a, "−(−a) is not a")
        same(0.5 * (2.0 * a), a, "scaling by 2 and ½ does not cancel")
        left, right = first.split(min(cut, len(first.y)))
        same(left.statistics(family) + right.statistics(family), a, "two parts do not add up to the whole")
        repeated = first.repeated().statistics(family)
        weighted = first.statistics(family, weights=first.weights)
        assert _same_sums(weighted, repeated, max(rtol, 1e-13)), (
            f"{family}: a row of weight k does not count as k rows"
        )

    laws()


def check_classifier(family: Family, *, max_examples: int = 50) -> None:
    """Check a classifier that uses a family for every column.

    Any batches give the same model, a missing cell is marginalised out, contributions add up to the joint
    score, posteriors are finite and sum to 1, and `log_likelihood_` is Σ log p(x, y).

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try.

    Raises
    ------
    AssertionError
        If a law does not hold; the message names it.

    Examples
    --------
    >>> from suffice.families import Normal
    >>> from suffice.testing import check_classifier
    >>> check_classifier(Normal(), max_examples=2)
    """

    @settings(max_examples=max_examples, deadline=None, database=None)
    @given(_tables(family, min_rows=2), st.integers(1, 5))
    def laws(rows: _Rows, batch: int) -> None:
        def model() -> BayesClassifier:
            return BayesClassifier(families=family)

        whole = model().fit(rows.X, rows.y)
        parts = model()
        for start in range(0, len(rows.y), batch):
            parts.partial_fit(rows.X[start : start + batch], rows.y[start : start + batch])
        posterior = whole.predict_proba(rows.X)
        _assert_close(
            parts.predict_proba(rows.X), posterior, 1e-9, f"{family}: partial_fit in batches differs from fit"
        )
        assert np.isfinite(posterior).all(), f"{family}: a posterior is not finite"
        _assert_close(posterior.sum(axis=1), 1.0, 1e-12, f"{family}: posteriors do not sum to 1")
        explained = whole.explain(rows.X)
        added = explained.prior + explained.contributions.sum(axis=1)
        _assert_close(
            added, explained.total, 1e-10, f"{family}: contributions do not add up to the joint score"
        )
        nothing = rows.X[:1].copy()
        nothing[:] = None if nothing.dtype == object else np.nan
        _assert_close(
            whole.predict_proba(nothing)[0],
            whole.priors_,
            1e-12,
            f"{family}: the posterior of an all-missing row is not the prior",
        )
        joint = whole.predict_joint_log_proba(rows.X)[
            np.arange(len(rows.y)), np.searchsorted(whole.classes_, rows.y)
        ]
        # Pairwise sums of rows with gaps have no likelihood.
        if not np.isnan(whole.log_likelihood_):
            broken = f"{family}: log_likelihood_ is not Σ log p(x, y)"
            _assert_close(whole.log_likelihood_, joint.sum(), 1e-9, broken)
        _check_columns_apart(family, whole, rows)

    laws()


def _check_columns_apart(family: Family, whole: BayesClassifier, rows: _Rows) -> None:
    """A missing cell gives the posterior of a model without that column (independent columns only)."""
    if family.joint:
        return
    gone = rows.X.copy()
    gone[:, 0] = None if gone.dtype == object else np.nan
    without = BayesClassifier(families=family).fit(rows.X[:, 1:], rows.y)
    _assert_close(
        whole.predict_proba(gone),
        without.predict_proba(rows.X[:, 1:]),
        1e-10,
        f"{family}: a missing cell differs from a model without the column",
    )


class _Rows:
    """A small table with labels and whole-number weights."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any], weights: Array) -> None:
        self.X, self.y, self.weights = X, y, weights

    def __repr__(self) -> str:
        return f"_Rows(X={self.X.tolist()}, y={self.y.tolist()}, weights={self.weights.tolist()})"

    def statistics(self, family: Family, weights: Array | None = None) -> Statistics:
        """Summarize with one family for all columns."""
        return summarize(self.X, self.y, families=family, sample_weight=weights)

    def then(self, other: _Rows) -> _Rows:
        """These rows, then others."""
        return _Rows(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weights, other.weights]),
        )

    def split(self, at: int) -> tuple[_Rows, _Rows]:
        """The first rows, and the others."""
        parts = [_Rows(self.X[s], self.y[s], self.weights[s]) for s in (slice(None, at), slice(at, None))]
        return parts[0], parts[1]

    def repeated(self) -> _Rows:
        """Each row as many times as its weight."""
        times = self.weights.astype(np.intp)
        return _Rows(self.X.repeat(times, axis=0), self.y.repeat(times), np.ones(times.sum()))


@st.composite
def _tables(draw: Callable[..., Any], family: Family, min_rows: int = 1) -> _Rows:
    """Two columns of dyadic values in the family's support, with gaps, labels and weights."""
    n_rows = draw(st.integers(min_rows, 12))
    if family.factor == "levels":
        cell = st.sampled_from(["red", "green", "blue", None])
        dtype: Any = object
    else:
        inside = _GRID[family.support(_GRID)]
        assert len(inside), f"{family}: its support holds no multiple of 1/8 between −10 and 10"
        cell = st.one_of(st.sampled_from(inside.tolist()), st.just(np.nan))
        dtype = np.float64
    cells = draw(st.lists(st.tuples(cell, cell), min_size=n_rows, max_size=n_rows))
    X = np.empty((n_rows, 2), dtype=dtype)
    for i, pair in enumerate(cells):
        X[i] = pair
    y = _LABELS[draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))]
    weights = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows).filter(any))
    return _Rows(X, y, np.array(weights, dtype=np.float64))


def _members(family: Family) -> list[tuple[Array, Array]]:
    """Some members of a family, solved from values on the grid, about two origins."""
    inside = _GRID[family.support(_GRID)]
    members = []
    for values in (inside, inside[: max(3, len(inside) // 3)], inside[-max(3, len(inside) // 2) :]):
        for place in (0, -1):
            origin = np.asarray(values[place] if family.centred else family.default_origin, dtype=np.float64)
            mean = family.statistics(values, origin).mean(axis=1)
            if not family.boundary(mean, origin):
                members.append((family.natural_from_mean(mean, origin), origin))
    assert members, f"{family}: no member can be solved from values in its support"
    return members


def _gradient(family: Family, natural: Array, origin: Array) -> Array:
    """∇A by central differences."""
    slopes = np.empty_like(natural)
    for i in range(len(natural)):
        step = np.zeros_like(natural)
        step[i] = 1e-5 * max(1e-3, abs(float(natural[i])))
        up, down = (family.log_normalizer(natural + s, origin) for s in (step, -step))
        slopes[i] = (up - down) / (2.0 * step[i])
    return slopes


def _mass(family: Family, natural: Array, origin: Array) -> float:
    """The sum or integral of the density over its support."""

    def density(x: Array) -> Array:
        return np.exp(family.log_density(x, natural.reshape(-1, *(1,) * np.ndim(x)), origin))

    if family.discrete:
        return float(density(np.arange(0.0, 100_000.0)).sum())
    drawn = family.sample(np.repeat(natural[:, np.newaxis], 4000, axis=1), origin, np.random.default_rng(0))
    if family.functions == ("cos", "sin"):
        edges = np.linspace(-np.pi, np.pi, 30)
    else:
        reach = float(np.ptp(drawn)) * np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
        quantiles = np.quantile(drawn, np.linspace(0.0, 1.0, 30))
        small = drawn.min() * np.array([0.0, 1e-8, 1e-4, 0.1]) if drawn.min() > 0 else drawn.min() - reach
        edges = np.unique(np.concatenate([small, quantiles, drawn.max() + reach, [0.0, 1.0]]))
    with np.errstate(all="ignore"):
        return float(sum(integrate.quad(density, a, b, limit=200)[0] for a, b in pairwise(edges)))


def _check_samples(family: Family, natural: Array, origin: Array, mean: Array) -> None:
    """The sample mean of u lies within six standard errors of E[u]."""
    size = 20_000
    drawn = family.sample(np.repeat(natural[:, np.newaxis], size, axis=1), origin, np.random.default_rng(0))
    assert family.support(drawn).all(), f"{family}: a sample lies outside the support"
    u = family.statistics(drawn, origin)
    error = u.std(axis=1) / np.sqrt(size) + 1e-12
    assert (np.abs(u.mean(axis=1) - mean) < 6.0 * error).all(), f"{family}: samples do not have the mean E[u]"


def _same_sums(a: Statistics, b: Statistics, rtol: float) -> bool:
    """Equal sums, whatever the row counts: a row of weight 3 is one row, and three equal rows are three."""
    if not np.array_equal(a.classes, b.classes) or not np.allclose(a.weight, b.weight, rtol=rtol):
        return False
    difference = a - b
    return all(
        np.allclose(array, 0.0, atol=rtol * max(1.0, float(a.weight.sum())) * 100.0)
        for totals in difference.totals
        for name, array in totals.arrays().items()
        if not name.startswith(("support", "origin", "exponent", "rows", "starts", "columns"))
    )


def _assert_close(actual: Any, expected: Any, tolerance: float, message: str) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    room = tolerance * (1.0 + np.abs(expected))
    with np.errstate(invalid="ignore"):
        close = (np.abs(actual - expected) <= room) | (actual == expected)
    assert close.all(), (
        f"{message}: got {actual.ravel()[:6]}, not {np.broadcast_to(expected, actual.shape).ravel()[:6]}"
    )
