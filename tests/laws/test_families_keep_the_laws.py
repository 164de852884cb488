"""Every family keeps the laws, and the checks of the laws can fail."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from suffice import families
from suffice.families.multivariate_normal import COVARIANCES
from suffice.testing import check_classifier, check_family

REQUIRED = {"Binomial": {"n": 6}, "Hurdle": {"rest": families.LogNormal()}}
# A joint Gaussian on a handful of rows with gaps takes EM thousands of steps: few examples (below), more when
# fuzzing, and tests of its own in tests/discriminant.
# Words reads text, not numbers: its laws are in tests/text_classifier.
ONE_BY_ONE = {
    name: make for name, make in families.FAMILIES.items() if name not in ("MultivariateNormal", "Words")
}
WHOLE = dict.fromkeys(
    [
        *(make(**REQUIRED.get(name, {})) for name, make in ONE_BY_ONE.items()),
        families.Normal("shared"),
        families.Normal(ddof=1),
        families.Gamma("shared"),
        families.InverseGaussian("shared"),
        families.NegativeBinomial(2.5),
        families.Histogram(bins=4),
        families.Hurdle(families.Gamma(), at=-1),
        families.Hurdle(families.Normal("shared"), at=0.5),
        families.Hurdle(families.Beta()),
        families.Hurdle(families.Steps()),
        families.Hurdle(families.Histogram(bins=4)),
        families.Hurdle(families.Poisson(), at=-1),
        families.Hurdle(families.Hurdle(families.Exponential()), at=-1),
    ]
)
# Smoothing acts when solving: it leaves the mathematics and the sums alone.
SOLVED = dict.fromkeys(
    [
        *(make(alpha=0, **REQUIRED.get(name, {})) for name, make in ONE_BY_ONE.items()),
        *(
            make(unseen="smooth", **REQUIRED.get(name, {}))
            for name, make in ONE_BY_ONE.items()
            if not make(**REQUIRED.get(name, {})).joint and name != "Hurdle"  # whose rest has the setting
        ),
        families.Normal("shared", alpha=0),
        families.Gamma("shared", alpha=0),
        families.InverseGaussian("shared", alpha=0),
        families.Categorical(alpha=0.3),
        families.Categorical(alpha=0, unseen="smooth"),
        families.Bernoulli(alpha=0, unseen="smooth"),
        families.Histogram(alpha=0, unseen="smooth"),
        families.Multinomial(alpha=0.3),
        families.Hurdle(families.LogNormal(alpha=0), alpha=0),
        families.Hurdle(families.LogNormal(unseen="smooth")),
        families.Hurdle(families.LogNormal(alpha=0, unseen="smooth"), alpha=0),
        families.Hurdle(families.Histogram(unseen="smooth")),
        families.Hurdle(families.Poisson(alpha=0), at=-1, alpha=0),
    ]
)


@pytest.mark.parametrize("family", WHOLE, ids=str)
def test_the_family_keeps_the_laws(family):
    check_family(family, max_examples=10)


@pytest.mark.slow
@pytest.mark.parametrize("family", WHOLE, ids=str)
def test_the_family_keeps_the_laws_on_other_tables(family):
    check_family(family, max_examples=100, random_state=None)


@pytest.mark.parametrize("family", SOLVED, ids=str)
def test_the_solved_family_keeps_the_laws(family):
    check_classifier(family, max_examples=15)


@dataclass(frozen=True, repr=False)
class WrongNormalizer(families.Normal):
    def log_normalizer(self, natural, origin):
        return super().log_normalizer(natural, origin) + 0.1


@dataclass(frozen=True, repr=False)
class SteepNormalizer(families.Exponential):
    def log_normalizer(self, natural, origin):
        return 1.1 * super().log_normalizer(natural, origin)


@dataclass(frozen=True, repr=False)
class WrongSample(families.Normal):
    def sample(self, natural, origin, rng):
        return super().sample(natural, origin, rng) + 0.5


@dataclass(frozen=True, repr=False)
class SampleOutside(families.Gamma):
    def sample(self, natural, origin, rng):
        return -super().sample(natural, origin, rng)


@dataclass(frozen=True, repr=False)
class WrongInverse(families.Poisson):
    def natural_from_mean(self, mean, origin):
        return np.log(mean) + 0.01


@dataclass(frozen=True, repr=False)
class WrongMean(families.Bernoulli):
    def mean_from_natural(self, natural, origin):
        return super().mean_from_natural(natural, origin) ** 2


@dataclass(frozen=True, repr=False)
class WrongBase(families.Binomial):
    n: int = 6

    def log_base_measure(self, x):
        return np.zeros_like(x)


@dataclass(frozen=True, repr=False)
class WrongStatistics(families.Beta):
    functions: ClassVar = ("log", "x")


@dataclass(frozen=True, repr=False)
class SmoothingAcrossColumns(families.Normal):
    def smooth(self, mean, weight, pooled):
        shared = np.broadcast_to(pooled.mean(axis=-1, keepdims=True), pooled.shape)
        return super().smooth(mean, weight, shared)


@dataclass(frozen=True, repr=False)
class WrongShape(families.Normal):
    """Its samples have the right mean and variance, but are uniform."""

    def sample(self, natural, origin, rng):
        mean, variance = self.conventional(natural, origin).values()
        return mean + np.sqrt(12.0 * variance) * (rng.random(mean.shape) - 0.5)


@dataclass(frozen=True, repr=False)
class WrongCounts(families.Poisson):
    """Its samples have the right mean, but are geometric."""

    def sample(self, natural, origin, rng):
        return rng.geometric(1.0 / (1.0 + np.exp(natural[0]))) - 1.0


@dataclass(frozen=True, repr=False)
class WideSupport(families.Exponential):
    def support(self, x):
        return np.isfinite(x) & (x > -1)


@dataclass(frozen=True, repr=False)
class NarrowSupport(families.LogNormal):
    def support(self, x):
        return np.isfinite(x) & (x > 0.5)


@dataclass(frozen=True, repr=False)
class WrongPower(families.InverseGaussian):
    def log_base_measure(self, x):
        return -1.4 * np.log(x)


@dataclass(frozen=True, repr=False)
class HiddenBase(families.Gamma):
    has_base_measure: ClassVar = False


BROKEN = {
    WrongNormalizer: "density|∇A",
    SteepNormalizer: "∇A|density",
    WrongSample: "samples",
    SampleOutside: "sample",
    WrongInverse: "undo",
    WrongMean: "undo|∇A",
    WrongBase: "density|∇A|samples",
    WrongStatistics: "",
    WrongShape: "samples do not follow",
    WrongCounts: "samples do not follow",
    WideSupport: "density",
    NarrowSupport: "sample|density",
    WrongPower: "density",
    HiddenBase: "has_base_measure",
    SmoothingAcrossColumns: "without the column",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda family: family.__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_broken_family_is_found_out(broken):
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*({BROKEN[broken]})"):
        check_family(broken(), max_examples=10)


def test_the_rows_that_broke_a_law_are_shown():
    with pytest.raises(AssertionError) as caught:
        check_classifier(SmoothingAcrossColumns())
    (note,) = caught.value.__notes__
    assert note.startswith("The rows: _Rows(X=[[")


def test_sums_that_do_not_add_are_found_out(monkeypatch):
    from suffice.factors.columns.totals import ColumnTotals

    honest = ColumnTotals.add

    def forgetful(self, other, sign):
        honest(self, other, sign)
        self.total[0] *= 1.0 + 1e-9

    monkeypatch.setattr(ColumnTotals, "add", forgetful)
    with pytest.raises(AssertionError, match=r"summarize|is not"):
        check_family(families.Poisson(), max_examples=15)


def test_sums_that_do_not_subtract_are_found_out(monkeypatch):
    from suffice.factors.levels.totals import LevelCounts

    honest = LevelCounts.add

    def only_positive(self, other, sign):
        honest(self, other, sign)
        np.maximum(self.weight, 0.0, out=self.weight)

    monkeypatch.setattr(LevelCounts, "add", only_positive)
    with pytest.raises(AssertionError, match=r"signed|−"):
        check_family(families.Categorical(), max_examples=30)


@pytest.mark.parametrize("covariance", ["full", "shared", "shared_isotropic"])
def test_a_joint_gaussian_on_tiny_tables_with_gaps_keeps_the_laws(covariance):
    check_classifier(families.MultivariateNormal(covariance), max_examples=8)


@pytest.mark.slow
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_joint_gaussian_on_many_tiny_tables_with_gaps_keeps_the_laws(covariance):
    check_classifier(families.MultivariateNormal(covariance), max_examples=200)
