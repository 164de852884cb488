"""families= overrides inference by name, position, tuple, instance, class, text or None."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from suffice import BayesClassifier
from suffice.families import (
    ALIASES,
    FAMILIES,
    Categorical,
    Gamma,
    Multinomial,
    Normal,
    Poisson,
    family_named,
)

RNG = np.random.default_rng(11)
Y = RNG.integers(0, 2, 60)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 60),
        "income": np.exp(RNG.normal(Y, 1.0)),
        "visits": RNG.poisson(2 + Y),
        "town": RNG.choice(["Ulm", "Bonn"], 60),
    }
)
ARRAY = FRAME[["age", "income", "visits"]].to_numpy(float)


def families_of(families, X=FRAME):
    return [column.family for column in BayesClassifier(families=families).fit(X, Y).schema_]


INFERRED = families_of("infer")


@pytest.mark.parametrize(
    "spec",
    [{"age": Gamma()}, {0: Gamma()}, {-4: Gamma()}, {"age": "gamma"}, {"age": "Gamma"}, {"age": Gamma}],
    ids=str,
)
def test_one_column_is_chosen_and_the_rest_inferred(spec):
    assert families_of(spec) == [Gamma(), *INFERRED[1:]]


@pytest.mark.parametrize("spec", ["negative_binomial", "NegativeBinomial", "negativebinomial"])
def test_names_of_families_are_forgiving(spec):
    assert families_of({"visits": spec})[2].name == "NegativeBinomial"


@pytest.mark.parametrize("key", [("age", "visits"), (0, 2), ("age", -2)], ids=str)
def test_a_tuple_chooses_for_several_columns(key):
    assert families_of({key: Poisson()}) == [Poisson(), INFERRED[1], Poisson(), INFERRED[3]]


@pytest.mark.parametrize("spec", [Normal(), Normal, "normal"], ids=str)
def test_one_family_is_for_all_columns(spec):
    assert families_of(spec, ARRAY) == [Normal()] * 3


def test_settings_of_a_family_are_kept():
    chosen = Normal("shared", alpha=0.5, ddof=1)
    assert families_of({"age": chosen})[0] is chosen


def test_none_leaves_a_column_out():
    model = BayesClassifier(families={"town": None}).fit(FRAME, Y)
    assert model.schema_["town"].family is None
    without = BayesClassifier().fit(FRAME.drop(columns="town"), Y)
    changed = FRAME.assign(town="anything")
    assert np.array_equal(model.predict_proba(changed), without.predict_proba(FRAME.drop(columns="town")))


def test_an_identifier_can_be_used_after_all():
    frame = pd.DataFrame({"key": np.arange(60)})
    assert families_of("infer", frame) == [None]
    assert families_of({"key": Normal()}, frame) == [Normal()]


def test_integers_may_be_categories_and_text_of_numbers_too():
    model = BayesClassifier(families={"visits": Categorical()}).fit(FRAME, Y)
    assert model.parameters_["visits"]["levels"] == sorted(FRAME["visits"].unique().tolist())


def test_a_block_of_columns_is_one_multinomial():
    frame = pd.DataFrame(RNG.poisson(2, (60, 3)), columns=["a", "b", "c"]).assign(x=RNG.normal(size=60))
    model = BayesClassifier(families={("a", "b"): Multinomial(), "c": Poisson()}).fit(frame, Y)
    assert [c.family for c in model.schema_] == [Multinomial(), Multinomial(), Poisson(), Normal()]
    theta = np.stack([model.parameters_[name]["probability"] for name in ("a", "b")])
    np.testing.assert_allclose(theta.sum(axis=0), 1.0)


def test_two_blocks_of_one_family_stay_apart():
    frame = pd.DataFrame(RNG.poisson(2, (60, 4)), columns=list("abcd"))
    model = BayesClassifier(families={("a", "b"): Multinomial(), ("c", "d"): Multinomial()}).fit(frame, Y)
    theta = np.stack([model.parameters_[name]["probability"] for name in "abcd"])
    np.testing.assert_allclose(theta[:2].sum(axis=0), 1.0)
    np.testing.assert_allclose(theta[2:].sum(axis=0), 1.0)


def test_columns_that_are_named_by_tuples_are_found():
    frame = pd.DataFrame({("a", 1): RNG.normal(size=60), ("a", 2): RNG.normal(size=60)})
    frame.columns = frame.columns.to_flat_index()
    assert families_of({("a", 1): Normal(alpha=3)}, frame)[0] == Normal(alpha=3)


def test_a_name_wins_over_a_position():
    frame = pd.DataFrame({1: RNG.normal(size=60), 0: RNG.normal(size=60)})
    assert families_of({0: Normal(alpha=3)}, frame) == [Normal(), Normal(alpha=3)]


def test_another_models_schema_is_reused():
    first = BayesClassifier(families={"age": Gamma()}).fit(FRAME, Y)
    second = BayesClassifier(families=first.schema_).fit(FRAME[:3], Y[:3])
    assert [c.family for c in second.schema_] == [c.family for c in first.schema_]
    assert (first + second).classes_.tolist() == [0, 1]


def test_a_schema_survives_cloning():
    first = BayesClassifier().fit(FRAME, Y)
    again = clone(BayesClassifier(families=first.schema_)).fit(FRAME, Y)
    assert again.statistics_ == first.statistics_


@pytest.mark.parametrize(
    "families, words",
    [
        ({"wage": Normal()}, ["'wage'", "'age'"]),
        ({9: Normal()}, ["9"]),
        ({"age": "normall"}, ["'normall'", "Normal"]),
        ({"age": 3}, ["3"]),
        ({"age": Normal(), 0: Gamma()}, ["'age'", "twice"]),
        ("normall", ["'normall'"]),
        (None, ["None", "infer"]),
        ([Normal()], ["Normal()"]),
    ],
    ids=str,
)
def test_a_wrong_choice_is_named(families, words):
    with pytest.raises((ValueError, TypeError)) as error:
        BayesClassifier(families=families).fit(FRAME, Y)
    message = str(error.value)
    assert all(word in message for word in words), message
    assert len(message) < 400


def test_a_schema_of_other_columns_is_refused_with_their_names():
    schema = BayesClassifier().fit(FRAME, Y).schema_
    with pytest.raises(ValueError, match="years"):
        BayesClassifier(families=schema).fit(FRAME.rename(columns={"age": "years"}), Y)
    with pytest.raises(ValueError, match=r"4 columns.*3"):
        BayesClassifier(families=schema).fit(ARRAY, Y)


@pytest.mark.parametrize("arguments", [{"alpha": -1}, {"alpha": np.nan}, {"alpha": "1"}, {"unseen": "drop"}])
def test_wrong_settings_of_a_family_are_refused(arguments):
    with pytest.raises(ValueError, match=r"Normal: (alpha|unseen)"):
        Normal(**arguments)


@pytest.mark.parametrize(
    "name, family",
    [
        ("gaussian", "Normal"),
        ("Gaussian", "Normal"),
        ("normal", "Normal"),
        ("log-normal", "LogNormal"),
        ("log_normal", "LogNormal"),
        ("Log Normal", "LogNormal"),
        ("lognorm", "LogNormal"),
        ("count", "Poisson"),
        ("counts", "Poisson"),
        ("binary", "Bernoulli"),
        ("flag", "Bernoulli"),
        ("Boolean", "Bernoulli"),
        ("category", "Categorical"),
        ("nominal", "Categorical"),
        ("inverse-gaussian", "InverseGaussian"),
        ("von mises", "VonMises"),
        ("negative_binomial", "NegativeBinomial"),
    ],
)
def test_a_family_is_known_by_its_usual_names(name, family):
    model = BayesClassifier(families={"a": name}).fit(pd.DataFrame({"a": [1.0, 1.0]}), ["p", "q"])
    assert [column.family.name for column in model.schema_] == [family]


def test_every_other_name_stands_for_a_family_and_hides_none():
    assert set(ALIASES.values()) <= set(FAMILIES)
    assert not set(ALIASES) & {name.casefold() for name in FAMILIES}
    for alias, name in ALIASES.items():
        assert family_named(alias.upper()) is FAMILIES[name]


def test_a_name_that_needs_a_parameter_says_so_by_any_name():
    with pytest.raises(
        ValueError, match=r"Binomial needs a parameter: write Binomial\(…\) instead of 'binom'"
    ):
        families_of({"visits": "binom"})


def test_a_misspelt_other_name_is_suggested():
    with pytest.raises(ValueError, match=r"'gausian' is not a family; did you mean 'gaussian'\?"):
        families_of({"age": "gausian"})
