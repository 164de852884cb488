"""Every family keeps the laws, and the checks of the laws can fail."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import Phase, settings

from suffice import families
from suffice.families.multivariate_normal import COVARIANCES
from suffice.testing import check_classifier, check_family

REQUIRED = {"Binomial": {"n": 6}}
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
    ]
)
# Smoothing acts when solving: it leaves the mathematics and the sums alone.
SOLVED = dict.fromkeys(
    [
        *(make(alpha=0, **REQUIRED.get(name, {})) for name, make in ONE_BY_ONE.items()),
        *(
            make(unseen="smooth", **REQUIRED.get(name, {}))
            for name, make in ONE_BY_ONE.items()
            if not make(**REQUIRED.get(name, {})).joint
        ),
        families.Normal("shared", alpha=0),
        families.Gamma("shared", alpha=0),
        families.InverseGaussian("shared", alpha=0),
        families.Categorical(alpha=0.3),
        families.Categorical(alpha=0, unseen="smooth"),
        families.Bernoulli(alpha=0, unseen="smooth"),
        families.Histogram(alpha=0, unseen="smooth"),
        families.Multinomial(alpha=0.3),
    ]
)


@pytest.fixture
def unshrunk():
    """A failure is expected, so no time is spent on making it small."""
    settings.register_profile("unshrunk", phases=[Phase.generate], derandomize=True)
    settings.load_profile("unshrunk")
    yield
    settings.load_profile("default")


@pytest.mark.parametrize("family", WHOLE, ids=str)
def test_the_family_keeps_the_laws(family):
    check_family(family, max_examples=10)


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


BROKEN = {
    WrongNormalizer: "density|∇A",
    SteepNormalizer: "∇A|density",
    WrongSample: "samples",
    SampleOutside: "sample",
    WrongInverse: "undo",
    WrongMean: "undo|∇A",
    WrongBase: "density|∇A|samples",
    WrongStatistics: "",
    SmoothingAcrossColumns: "without the column",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda family: family.__name__)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("unshrunk")
def test_a_broken_family_is_found_out(broken):
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*({BROKEN[broken]})"):
        check_family(broken(), max_examples=10)


@pytest.mark.usefixtures("unshrunk")
def test_sums_that_do_not_add_are_found_out(monkeypatch):
    from suffice.factors.columns.totals import ColumnTotals

    honest = ColumnTotals.add

    def forgetful(self, other, sign):
        honest(self, other, sign)
        self.total[0] *= 1.0 + 1e-9

    monkeypatch.setattr(ColumnTotals, "add", forgetful)
    with pytest.raises(AssertionError, match=r"summarize|is not"):
        check_family(families.Poisson(), max_examples=15)


@pytest.mark.usefixtures("unshrunk")
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
