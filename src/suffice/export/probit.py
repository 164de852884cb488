"""log Φ(a) as an expression, for languages without Φ or erf."""

from __future__ import annotations

import numpy as np

from suffice.export.expressions import (
    Clip,
    Expression,
    Where,
    absolute,
    as_expression,
    exp,
    log,
    log1p,
    polynomial,
    square,
)

_ERF = (
    (
        9.604973739870516,
        90.02601972038427,
        2232.005345946843,
        7003.325141128051,
        55592.30130103949,
    ),
    (
        1.0,
        33.56171416475031,
        521.3579497801527,
        4594.323829709801,
        22629.000061389095,
        49267.39426086359,
    ),
)
"""erf(z)/z as a quotient of polynomials in z², for z < 1 (Moshier's Cephes library)."""
_ERFC = (
    (
        2.461969814735305e-10,
        0.5641895648310689,
        7.463210564422699,
        48.63719709856814,
        196.5208329560771,
        526.4451949954773,
        934.5285271719576,
        1027.5518868951572,
        557.5353353693994,
    ),
    (
        1.0,
        13.228195115474499,
        86.70721408859897,
        354.9377788878199,
        975.7085017432055,
        1823.9091668790973,
        2246.3376081871097,
        1656.6630919416134,
        557.5353408177277,
    ),
)
"""exp(z²)·erfc(z) in z, for 1 ≤ z < 8."""
_FAR_ERFC = (
    (
        0.5641895835477551,
        1.275366707599781,
        5.019050422511805,
        6.160210979930536,
        7.4097426995044895,
        2.9788666537210022,
    ),
    (
        1.0,
        2.2605286322011726,
        9.396035249380015,
        12.048953980809666,
        17.08144507475659,
        9.608968090632859,
        3.369076451000815,
    ),
)
"""exp(z²)·erfc(z) in z, for z ≥ 8."""


def log_probit_expression(a: Expression) -> Expression:
    """log Φ(a) written with arithmetic, log and exp only."""
    z = Clip(absolute(a) * float(np.sqrt(0.5)), 0.0, 1e40)
    square_of_z = square(z)
    near = log(0.5 - 0.5 * z * _quotient(square_of_z, _ERF))
    tail = Where(z < 8.0, _quotient(z, _ERFC), _quotient(z, _FAR_ERFC))
    below = Where(z < 1.0, near, log(0.5 * tail) - square_of_z)
    # Some databases raise an error where exp underflows, and this far out 1 − Φ is 0.
    above = Where(below < -700.0, as_expression(0.0), log1p(0.0 - exp(below)))
    return Where(a < 0.0, below, above)


def _quotient(x: Expression, polynomials: tuple[tuple[float, ...], tuple[float, ...]]) -> Expression:
    numerator, denominator = polynomials
    return polynomial(x, numerator) / polynomial(x, denominator)
