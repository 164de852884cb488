"""The laws that every family and every model obeys, as checks that anyone can run on a family of their own.

    suffice.testing.check_family(MyFamily())

raises an AssertionError that names the first law that does not hold. The data are multiples of 1/8, so
sums of x and x² are exact and the laws of addition hold with `==`; statistics such as log x agree
to 1e-12. The tables grow from one example to the next, so the first that breaks a law is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from suffice.arrays import Array
from suffice.engines.summarize import summarize
from suffice.estimators.bayes import BayesClassifier
from suffice.families import Family, Hurdle
from suffice.model.statistics import Statistics

__all__ = ["check_classifier", "check_family", "check_mathematics", "check_statistics"]

_EXACT = frozenset({"x", "x2"})
_GRID = np.arange(-80, 81) / 8.0
_LABELS = np.array(["a", "b", "c"])
_DRAWS = 20_000
_COUNTS = 100_000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def check_family(family: Family, *, max_examples: int = 50, random_state: int | None = 0) -> None:
    """Check a family: its mathematics, its statistics, and a classifier that uses it.

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try for each group of laws.
    random_state : int or None, default=0
        The seed of these tables; None for others in each call.

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
    check_statistics(family, max_examples=max_examples, random_state=random_state)
    check_classifier(family, max_examples=max_examples, random_state=random_state)


def check_mathematics(family: Family) -> None:
    """Check the mathematics of a family.

    The gradient ∇A(λ) is the mean E[u], the maps between λ and E[u] are inverse to each other, the density
    sums or integrates to 1, samples follow it and have the mean E[u], and KL(p ‖ p) = 0.

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
    assert len(inside), f"{family}: its support holds no multiple of 1/8 between −10 and 10"
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
        drawn = _checked_samples(family, natural, origin, mean)
        _check_density(_Density(family, natural, origin), drawn)
        _assert_close(family.kl(natural, natural, origin), 0.0, 1e-9, f"{family}: KL(p ‖ p) is not 0")


def check_statistics(family: Family, *, max_examples: int = 50, random_state: int | None = 0) -> None:
    """Check that the statistics of a family add, subtract and scale.

    The statistics of any two parts add up to those of the whole, subtracting a part undoes adding it, there
    is a zero, and a row of weight k counts as k rows.

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try.
    random_state : int or None, default=0
        The seed of these tables; None for others in each call.

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
    summed = family
    while isinstance(summed, Hurdle):  # the outcomes are exact sums, the rest those of its family
        summed = summed.rest
    exact = set(summed.functions) <= _EXACT and not summed.has_base_measure
    rtol = 0.0 if exact else 1e-12

    def same(a: Statistics, b: Statistics, law: str) -> None:
        assert a.isclose(b, rtol=rtol), f"{family}: {law}"

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
        broken = f"{family}: a row of weight k does not count as k rows"
        assert _same_sums(weighted, repeated, max(rtol, 1e-13)), broken

    for size, rng in _examples(max_examples, random_state):
        first, second = _table(family, rng, size), _table(family, rng, size)
        with _naming(first, second):
            laws(first, second, int(rng.integers(0, size + 1)))


def check_classifier(family: Family, *, max_examples: int = 50, random_state: int | None = 0) -> None:
    """Check a classifier that uses a family for every column.

    Any batches give the same model, a missing cell is marginalised out, contributions add up to the joint
    score, posteriors are finite and sum to 1, and `log_likelihood_` is Σ log p(x, y).

    Parameters
    ----------
    family : Family
        An instance of the family.
    max_examples : int, default=50
        The number of random tables to try.
    random_state : int or None, default=0
        The seed of these tables; None for others in each call.

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

    def laws(rows: _Rows, batch: int) -> None:
        whole = BayesClassifier(families=family).fit(rows.X, rows.y)
        _check_columns_apart(family, whole, rows)
        parts = BayesClassifier(families=family)
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
        broken = f"{family}: contributions do not add up to the joint score"
        _assert_close(added, explained.total, 1e-10, broken)
        nothing = np.full_like(rows.X[:1], None if rows.X.dtype == object else np.nan)
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

    for size, rng in _examples(max_examples, random_state):
        rows = _table(family, rng, max(2, size))
        with _naming(rows):
            laws(rows, int(rng.integers(1, 6)))


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


def _examples(n: int, random_state: int | None) -> Iterator[tuple[int, np.random.Generator]]:
    """The numbers of rows, which grow from 1 to 12, with the generator that draws them."""
    rng = np.random.default_rng(random_state)
    for example in range(n):
        yield 1 + round(11 * (example / max(1, n - 1)) ** 0.5), rng


@contextmanager
def _naming(*tables: _Rows) -> Iterator[None]:
    """Say which rows broke a law."""
    try:
        yield
    except AssertionError as error:
        error.add_note(f"The rows: {', '.join(map(repr, tables))}.")
        raise


def _table(family: Family, rng: np.random.Generator, n_rows: int) -> _Rows:
    """Two columns of dyadic values in the family's support, few or many, with gaps, labels and weights."""
    if family.factor == "levels":
        cells = np.array(["red", "green", "blue"], dtype=object)
    else:
        cells = _GRID[family.support(_GRID)]
        assert len(cells), f"{family}: its support holds no multiple of 1/8 between −10 and 10"
    some = rng.permutation(cells)[: rng.choice([1, 3, len(cells), len(cells)])]
    X = rng.choice(some, (n_rows, 2))
    X[rng.random(X.shape) < rng.choice([0.0, 0.2, 0.5, 0.9])] = None if X.dtype == object else np.nan
    y = rng.choice(rng.permutation(_LABELS)[: rng.choice([1, 2, 3, 3, 3])], n_rows)
    weights = rng.integers(0, 4, n_rows).astype(np.float64)
    weights[rng.integers(n_rows)] += not weights.any()
    return _Rows(X, y, weights)


def _members(family: Family) -> list[tuple[Array, Array]]:
    """Some members of a family, solved from values on the grid, about two origins."""
    members, inside = [], _GRID[family.support(_GRID)]
    for values in (inside, inside[: max(3, len(inside) // 3)], inside[-max(3, len(inside) // 2) :]):
        for place in (0, -1):
            origin = np.asarray(values[place] if family.centred else family.default_origin, dtype=np.float64)
            u = family.statistics(values, origin)
            assert np.isfinite(u).all(), f"{family}: u(x) is not finite for some x in the support"
            mean = u.mean(axis=1)
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


def _checked_samples(family: Family, natural: Array, origin: Array, mean: Array) -> Array:
    """Samples, whose mean u lies within six standard errors of E[u]."""
    members = np.repeat(natural[:, np.newaxis], _DRAWS, axis=1)
    drawn = family.sample(members, origin, np.random.default_rng(0))
    assert family.support(drawn).all(), f"{family}: a sample lies outside the support"
    u = family.statistics(drawn, origin)
    error = u.std(axis=1) / np.sqrt(_DRAWS) + 1e-12
    assert (np.abs(u.mean(axis=1) - mean) < 6.0 * error).all(), f"{family}: samples do not have the mean E[u]"
    return drawn


class _Density:
    """The density of one member of a family, with its integrals."""

    def __init__(self, family: Family, natural: Array, origin: Array) -> None:
        self.family, self._natural, self._origin = family, natural, origin

    def __call__(self, x: Array) -> Array:
        """p(x)."""
        with np.errstate(all="ignore"):
            natural = self._natural.reshape(-1, *(1,) * np.ndim(x))
            return np.exp(self.family.log_density(x, natural, self._origin))

    def between(self, edges: Array) -> Array:
        """The integrals from each edge to the next."""
        return np.array([integrate.quad(self, a, b, limit=200)[0] for a, b in pairwise(edges.tolist())])

    def beyond(self, edge: float, scale: float, sign: float) -> float:
        """The integral from an edge to the end of the support, which may be infinite.

        The substitution x = c ± eˢ keeps heavy tails and poles at the end of the support smooth.
        """
        end = self._end(edge, scale, sign)
        if np.isfinite(end):
            least = max(np.finfo(np.float64).eps * abs(end), 1e-307)
            return self._exponential(lambda away: end - sign * away, least, abs(end - edge))
        return self._exponential(lambda away: edge + sign * away, 1e-18 * scale, 1e290)

    def beyond_counts(self) -> float:
        """The sum over the counts from `_COUNTS` on, of which there may be infinitely many."""
        if self(np.asarray(_COUNTS - 1.0)) * _COUNTS < 1e-12:
            return 0.0
        # An integral over p(⌊x⌋) is the sum over p.
        return self._exponential(np.floor, _COUNTS, 1e290)

    def _exponential(self, x_of: Callable[[Array], Array], low: float, high: float) -> float:
        """∫ p(x(eˢ))·eˢ ds from log `low` to log `high`, by Gauss–Legendre in steps of at most about ½."""
        if high <= low:
            return 0.0
        start, stop = np.log([low, high])
        edges = np.linspace(start, stop, 2 + int(2.0 * (stop - start)))
        half = 0.5 * np.diff(edges)[:, np.newaxis]
        away = np.exp(edges[:-1, np.newaxis] + half * (1.0 + _NODES))
        return float(np.sum(self(x_of(away)) * away * half * _WEIGHTS))

    def _end(self, inside: float, scale: float, sign: float) -> float:
        """Where the support ends, in one direction."""
        support: Callable[[Any], Any] = self.family.support
        steps = inside + sign * np.ldexp(scale, np.arange(-60, 900))
        outside = np.flatnonzero(~support(steps))
        if not len(outside) or not np.isfinite(steps[outside[0]]):
            return sign * np.inf
        near, far = inside, float(steps[outside[0]])
        while (middle := 0.5 * (near + far)) not in (near, far):
            near, far = (middle, far) if support(np.asarray(middle)) else (near, middle)
        return near


def _check_density(density: _Density, drawn: Array) -> None:
    """The density sums or integrates to 1, and as many samples lie in each interval as it says."""
    family = density.family
    if family.discrete:
        p = density(np.arange(float(_COUNTS)))
        whole = float(p.sum()) + density.beyond_counts()
        found = np.bincount(np.minimum(drawn, _COUNTS - 1.0).astype(np.intp), minlength=_COUNTS) / _DRAWS
        likely = p > 0.005
        expected, found = p[likely], found[likely]
    else:
        periodic = set(family.functions) <= {"cos", "sin"}
        if periodic:
            drawn, edges = np.mod(drawn + np.pi, 2.0 * np.pi) - np.pi, np.linspace(-np.pi, np.pi, 30)
        else:
            edges = np.quantile(drawn, np.linspace(0.03, 0.97, 30))
        expected, found = density.between(edges), np.histogram(drawn, edges)[0] / _DRAWS
        whole = float(expected.sum())
        if not periodic:
            ends = zip(edges[[0, -1]].tolist(), (-1.0, 1.0), strict=True)
            whole += sum(density.beyond(edge, float(np.ptp(edges)) or 1.0, sign) for edge, sign in ends)
    _assert_close(whole, 1.0, 1e-6, f"{family}: the density does not sum to 1")
    room = 6.0 * np.sqrt(expected * (1.0 - expected) / _DRAWS) + 1e-9
    assert (np.abs(found - expected) <= room).all(), f"{family}: samples do not follow the density"


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
