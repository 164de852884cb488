"""Settings that make no sense are refused, by a message that names the family."""

import numpy as np
import pytest

from suffice.families import FAMILIES, Binomial, DispersedFamily, NegativeBinomial, Normal

NAMED = {key: family for key, family in FAMILIES.items() if family.factor in ("columns", "levels")}


def build(key: str, **settings):
    return NAMED[key](*((5,) if key == "Binomial" else ()), **settings)


@pytest.mark.parametrize("key", NAMED)
@pytest.mark.parametrize("alpha", [-1, np.nan, np.inf, "1", None])
def test_a_bad_alpha_is_refused(key, alpha):
    with pytest.raises(ValueError, match=f"^{key}: alpha must be"):
        build(key, alpha=alpha)


@pytest.mark.parametrize("key", NAMED)
@pytest.mark.parametrize("unseen", ["skip", None, 0])
def test_a_bad_unseen_is_refused(key, unseen):
    with pytest.raises(ValueError, match=f"^{key}: unseen must be"):
        build(key, unseen=unseen)


@pytest.mark.parametrize("key", [key for key, family in NAMED.items() if issubclass(family, DispersedFamily)])
@pytest.mark.parametrize("dispersion", ["tied", 0.5, None])
def test_a_bad_dispersion_is_refused(key, dispersion):
    with pytest.raises(ValueError, match=f"^{key}: dispersion must be"):
        NAMED[key](dispersion)


@pytest.mark.parametrize("ddof", [-1, np.nan, "one"])
def test_a_bad_ddof_is_refused(ddof):
    with pytest.raises(ValueError, match=r"^Normal: ddof must be"):
        Normal(ddof=ddof)


@pytest.mark.parametrize("r", [0, -2.0, np.nan, np.inf, "2", None])
def test_a_bad_r_is_refused(r):
    with pytest.raises(ValueError, match=r"^NegativeBinomial: r must be"):
        NegativeBinomial(r)


@pytest.mark.parametrize("n", [0, -3, 2.5, np.nan, np.inf, "4", None, True])
def test_a_bad_n_is_refused(n):
    with pytest.raises(ValueError, match=r"^Binomial: n must be"):
        Binomial(n)


def test_binomial_needs_its_n():
    with pytest.raises(TypeError, match="n"):
        Binomial()


def test_the_representation_shows_what_was_changed():
    assert repr(NegativeBinomial(2)) == "NegativeBinomial(r=2.0)"
    assert repr(NegativeBinomial()) == "NegativeBinomial()"
    assert repr(Binomial(np.int64(10), alpha=0.5)) == "Binomial(n=10, alpha=0.5)"
    assert repr(Normal("shared")) == "Normal(dispersion='shared')"
