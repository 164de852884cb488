"""One family for all columns: they are made when asked for, and are what a column at a time would give."""

import numpy as np
import pytest
from scipy import sparse

from suffice import BayesClassifier
from suffice.families import Multinomial, Normal, Poisson
from suffice.model.columns.schema import AlikeColumns, Schema

NAMES = ("a", "b", "c")


@pytest.mark.parametrize("family", [Poisson(), Multinomial(), None])
@pytest.mark.parametrize("named", [True, False])
def test_alike_columns_are_the_schema_of_the_same_columns_one_by_one(family, named):
    alike = Schema.of_one_family(NAMES, family, "because", 0, named=named)
    single = Schema(tuple(alike), named)
    assert isinstance(alike.columns, AlikeColumns)
    assert not isinstance(single.columns, AlikeColumns)
    assert alike == single
    assert single == alike
    assert hash(alike) == hash(single)
    assert repr(alike) == repr(single)
    assert alike.names == single.names == NAMES
    assert alike.labels == single.labels
    assert alike["b"] == single["b"]
    assert alike.is_undecided == single.is_undecided
    assert [(f.family, f.columns.tolist()) for f in alike.factors] == [
        (f.family, f.columns.tolist()) for f in single.factors
    ]
    assert alike.difference(single) is None
    assert tuple(alike.columns[1:]) == single.columns[1:]


def test_alike_columns_differ_by_family_name_and_block():
    one = Schema.of_one_family(NAMES, Poisson(), "because", None, named=True)
    others = [
        Schema.of_one_family(("a", "b", "d"), Poisson(), "because", None, named=True),
        Schema.of_one_family(NAMES, Normal(), "because", None, named=True),
        Schema.of_one_family(NAMES, Poisson(), "because", 0, named=True),
    ]
    for other in others:
        assert one != other
        assert one.difference(other) is not None
    assert one.columns != list(one.columns)


def test_one_column_of_many_may_be_given_other_settings():
    schema = Schema.of_one_family(NAMES, Poisson(), "because", None, named=True)
    changed = schema.with_families({1: Poisson(alpha=3.0)})
    assert [column.family.alpha for column in changed] == [1.0, 3.0, 1.0]


@pytest.mark.parametrize("families", ["infer", Multinomial()])
def test_a_million_words_are_not_a_million_columns(families):
    X = sparse.csr_array((np.ones(4), ([0, 0, 1, 1], [0, 999_999, 5, 7])), shape=(2, 1_000_000))
    model = BayesClassifier(families).fit(X, ["a", "b"])
    assert isinstance(model.schema_.columns, AlikeColumns)
    assert model.schema_[999_999].family == Multinomial()
