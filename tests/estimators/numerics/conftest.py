"""Exact references: the documented model in rational arithmetic on the stored floats, then 60 digits."""

from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp


@pytest.fixture(autouse=True)
def _many_digits():
    with mp.workdps(60):
        yield


def real(fraction):
    """A rational number with all the digits in use."""
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def rational(value):
    return Fraction(float(value))


def weighted_mean(values, weights):
    """Σ w·v / Σ w of rationals, or of reals."""
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


class Exact:
    """What a classifier of independent columns must say, nothing rounded on the way."""

    def __init__(self, X, y, weights=None, alpha=1):
        self.X = np.asarray(X)
        self.y = np.asarray(y)
        self.alpha = Fraction(alpha)
        n = len(self.y)
        self.weights = [Fraction(1)] * n if weights is None else [rational(w) for w in weights]
        self.classes = sorted(set(self.y.tolist()))

    def cells(self, j, label=None):
        """Values and weights of the observed cells of a column, of one class or of all."""
        rows = [i for i in range(len(self.y)) if label is None or self.y[i] == label]
        rows = [i for i in rows if not np.isnan(self.X[i, j])]
        return [rational(self.X[i, j]) for i in rows], [self.weights[i] for i in rows]

    def log_priors(self):
        per_class = defaultdict(Fraction)
        for label, weight in zip(self.y.tolist(), self.weights, strict=True):
            per_class[label] += weight
        everything = sum(per_class.values())
        return [mpmath.log(real(per_class[label] / everything)) for label in self.classes]

    def joint(self, queries, log_density):
        """Log π_k + Σ_j log p(x_j | C_k); `log_density(j, label)` gives the density of a cell, or None."""
        scores = []
        densities = {(j, c): log_density(j, c) for j in range(self.X.shape[1]) for c in self.classes}
        for row in np.asarray(queries):
            scores.append(self.log_priors())
            for k, label in enumerate(self.classes):
                for j, value in enumerate(row):
                    if not np.isnan(value) and densities[j, label] is not None:
                        scores[-1][k] += densities[j, label](rational(value))
        return scores

    def normal(self, j, label):
        """Mean = class mean, variance = (S_k + α·V)/(W_k + α), V the total variance; None for a constant."""
        mean, variance = self.mean_and_variance(j)
        if variance == 0:
            return None
        class_mean, class_variance = self.mean_and_variance(j, label)
        weight = sum(self.cells(j, label)[1])
        if weight:
            mean = class_mean
            variance = (weight * class_variance + self.alpha * variance) / (weight + self.alpha)
        log_constant = -mpmath.log(2 * mp.pi * real(variance)) / 2
        return lambda x: log_constant - real((x - mean) ** 2 / (2 * variance))

    def mean_and_variance(self, j, label=None):
        values, weights = self.cells(j, label)
        if not values:
            return Fraction(0), Fraction(0)
        mean = weighted_mean(values, weights)
        return mean, weighted_mean([(v - mean) ** 2 for v in values], weights)

    def smoothed(self, j, label, function):
        """E[f(x)] of a class with α pseudo-observations of the column's own average of f."""
        own, own_weights = self.cells(j, label)
        everyone, weights = self.cells(j)
        pooled = sum(real(w) * function(real(v)) for v, w in zip(everyone, weights, strict=True))
        pooled /= real(sum(weights))
        total = sum(real(w) * function(real(v)) for v, w in zip(own, own_weights, strict=True))
        alpha = real(self.alpha)
        return (total + alpha * pooled) / (real(sum(own_weights, Fraction(0))) + alpha)

    def log_normal(self, j, label):
        """Normal of log x, and log 1/x."""
        logs, weights = {}, {}
        for key in (None, label):
            values, w = self.cells(j, key)
            logs[key], weights[key] = [mpmath.log(real(v)) for v in values], [real(one) for one in w]
        mean = weighted_mean(logs[label], weights[label])
        own = weighted_mean([(v - mean) ** 2 for v in logs[label]], weights[label])
        middle = weighted_mean(logs[None], weights[None])
        total = weighted_mean([(v - middle) ** 2 for v in logs[None]], weights[None])
        weight, alpha = sum(weights[label]), real(self.alpha)
        variance = (weight * own + alpha * total) / (weight + alpha)

        def density(x):
            log_x = mpmath.log(real(x))
            return -((log_x - mean) ** 2) / (2 * variance) - mpmath.log(2 * mp.pi * variance) / 2 - log_x

        return density

    def gamma(self, j, label):
        mean = self.smoothed(j, label, lambda x: x)
        gap = mpmath.log(mean) - self.smoothed(j, label, mpmath.log)
        # log a − ψ(a) is about 1/(2a) for large a and 1/a for small: nearly linear in logarithms.
        log_shape = mpmath.findroot(
            lambda t: mpmath.log((t - mpmath.digamma(mpmath.exp(t))) / gap), -mpmath.log(2 * gap), tol=1e-80
        )
        shape = mpmath.exp(log_shape)
        rate = shape / mean

        def density(x):
            x = real(x)
            return shape * mpmath.log(rate) + (shape - 1) * mpmath.log(x) - rate * x - mpmath.loggamma(shape)

        return density

    def inverse_gaussian(self, j, label):
        mean = self.smoothed(j, label, lambda x: x)
        shape = 1 / (self.smoothed(j, label, lambda x: 1 / x) - 1 / mean)

        def density(x):
            x = real(x)
            return mpmath.log(shape / (2 * mp.pi * x**3)) / 2 - shape * (x - mean) ** 2 / (2 * mean**2 * x)

        return density

    def beta(self, j, label):
        log_x = self.smoothed(j, label, mpmath.log)
        log_rest = self.smoothed(j, label, lambda x: mpmath.log(1 - x))
        values, _ = self.cells(j, label)
        middle = real(sum(values) / len(values))
        # exp(E log x) + exp(E log(1 − x)) is about 1 − 1/2(a + b).
        both = 1 / (2 * (1 - mpmath.exp(log_x) - mpmath.exp(log_rest)))

        def equations(a, b):
            return (
                mpmath.digamma(a) - mpmath.digamma(a + b) - log_x,
                mpmath.digamma(b) - mpmath.digamma(a + b) - log_rest,
            )

        a, b = mpmath.findroot(equations, (both * middle, both * (1 - middle)), tol=1e-90, maxsteps=60)
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        return lambda x: (a - 1) * mpmath.log(real(x)) + (b - 1) * mpmath.log(1 - real(x)) - log_beta

    def von_mises(self, j, label):
        cos, sin = self.smoothed(j, label, mpmath.cos), self.smoothed(j, label, mpmath.sin)
        gap, direction = 1 - mpmath.hypot(cos, sin), mpmath.atan2(sin, cos)
        # 1 − I₁/I₀ = 1/2κ + 1/8κ² + 1/8κ³ + 25/128κ⁴ + …; I₀ by its own series.
        kappa = mpmath.findroot(
            lambda k: 1 / (2 * k) + 1 / (8 * k**2) + 1 / (8 * k**3) + mpmath.mpf(25) / (128 * k**4) - gap,
            1 / (2 * gap),
            tol=1e-90,
        )
        series = 1 + 1 / (8 * kappa) + mpmath.mpf(9) / (128 * kappa**2) + mpmath.mpf(75) / (1024 * kappa**3)
        log_scaled_bessel = mpmath.log(series / mpmath.sqrt(2 * mp.pi * kappa))
        return lambda x: (
            kappa * (mpmath.cos(real(x) - direction) - 1) - mpmath.log(2 * mp.pi) - log_scaled_bessel
        )


def posteriors(joint):
    """Softmax of exact scores, as floats."""
    rows = []
    for scores in joint:
        top = max(scores)
        parts = [mpmath.exp(s - top) for s in scores]
        rows.append([float(p / sum(parts)) for p in parts])
    return np.array(rows)


def floats(joint):
    return np.array([[float(s) for s in row] for row in joint])


@pytest.fixture
def exact():
    return Exact


@pytest.fixture(name="posteriors")
def _posteriors():
    return posteriors


@pytest.fixture(name="floats")
def _floats():
    return floats
