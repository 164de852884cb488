"""Exponential families: the mathematics of one distribution each.

`FAMILIES` is the registry: a family added here is known by name everywhere. `ALIASES` are other names that
people use; case, spaces, hyphens and underscores do not matter.
"""

from __future__ import annotations

from suffice.families.base import Family
from suffice.families.bernoulli import Bernoulli
from suffice.families.beta import Beta
from suffice.families.binomial import Binomial
from suffice.families.categorical import Categorical
from suffice.families.dispersed import DispersedFamily
from suffice.families.elementary import ElementaryFunction
from suffice.families.exponential import Exponential
from suffice.families.gamma import Gamma
from suffice.families.geometric import Geometric
from suffice.families.histogram import Histogram
from suffice.families.hurdle import Hurdle
from suffice.families.inverse_gaussian import InverseGaussian
from suffice.families.multinomial import Multinomial
from suffice.families.multivariate_normal import MultivariateNormal
from suffice.families.negative_binomial import NegativeBinomial
from suffice.families.normal import LogNormal, Normal
from suffice.families.poisson import Poisson
from suffice.families.steps import Steps
from suffice.families.von_mises import VonMises
from suffice.families.words import Words

FAMILIES: dict[str, type[Family]] = {
    family.__name__: family
    for family in (
        Normal,
        LogNormal,
        Gamma,
        Exponential,
        InverseGaussian,
        Beta,
        VonMises,
        Bernoulli,
        Categorical,
        Poisson,
        Geometric,
        NegativeBinomial,
        Binomial,
        MultivariateNormal,
        Multinomial,
        Histogram,
        Steps,
        Hurdle,
        Words,
    )
}

ALIASES: dict[str, str] = {
    "gaussian": "Normal",
    "gauss": "Normal",
    "numeric": "Normal",
    "continuous": "Normal",
    "norm": "Normal",
    "lognorm": "LogNormal",
    "expon": "Exponential",
    "invgauss": "InverseGaussian",
    "wald": "InverseGaussian",
    "circular": "VonMises",
    "angle": "VonMises",
    "binary": "Bernoulli",
    "bool": "Bernoulli",
    "boolean": "Bernoulli",
    "flag": "Bernoulli",
    "category": "Categorical",
    "cat": "Categorical",
    "nominal": "Categorical",
    "count": "Poisson",
    "counts": "Poisson",
    "geom": "Geometric",
    "nbinom": "NegativeBinomial",
    "negbin": "NegativeBinomial",
    "binom": "Binomial",
    "mvn": "MultivariateNormal",
    "multinormal": "MultivariateNormal",
    "multivariategaussian": "MultivariateNormal",
    "hist": "Histogram",
    "binned": "Steps",
    "text": "Words",
}


def family_named(name: str) -> type[Family] | None:
    """The family of a name or an alias, None if there is none."""
    plain = "".join(letter for letter in name.casefold() if letter not in " -_")
    by_name = {known.casefold(): family for known, family in FAMILIES.items()}
    return by_name.get(ALIASES.get(plain, plain).casefold())


__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "DispersedFamily",
    "ElementaryFunction",
    "Exponential",
    "Family",
    "Gamma",
    "Geometric",
    "Histogram",
    "Hurdle",
    "InverseGaussian",
    "LogNormal",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "Poisson",
    "Steps",
    "VonMises",
    "Words",
]
