"""The statistics of some columns are a part of those of all columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import suffice
from suffice import families
from suffice.model.shared_sums import layers_of, only_columns, share_a_pass
from suffice.model.statistics import joined

FAMILIES = {
    "normal": families.Normal(),
    "categorical": families.Categorical(),
    "histogram": families.Histogram(),
    "steps": families.Steps(),
    "hurdle": families.Hurdle(families.Normal()),
    "by patterns": families.MultivariateNormal("full"),
    "by pairs": families.MultivariateNormal("shared", missing="pairwise"),
    "fourth moments": families.MultivariateNormal("shared", shrinkage="ledoit_wolf"),
}
EIGHTHS = st.integers(-800, 800).map(lambda n: n / 8.0)


@st.composite
def tables(draw, gaps):
    shape = draw(st.tuples(st.integers(1, 12), st.integers(2, 5)))
    cells = draw(npst.arrays(np.float64, shape, elements=EIGHTHS))
    if gaps:
        cells[draw(npst.arrays(np.bool_, shape))] = np.nan
    labels = draw(st.lists(st.sampled_from("ab"), min_size=shape[0], max_size=shape[0]))
    weights = draw(npst.arrays(np.float64, shape[0], elements=st.sampled_from([0.5, 1.0, 3.0])))
    kept = draw(st.sets(st.integers(0, shape[1] - 1), min_size=1))
    return cells, labels, weights, sorted(kept)


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data())
def test_the_sums_of_some_columns_are_those_of_a_table_of_them(name, data):
    family = FAMILIES[name]
    X, y, weights, kept = data.draw(tables(gaps=name != "fourth moments"))
    whole = suffice.summarize(X, y, families=family, sample_weight=weights)
    some = whole.with_schema(only_columns(whole.schema, kept))
    alone = suffice.summarize(X[:, kept], y, families=family, sample_weight=weights)
    assert len(some.totals) == 1
    assert some.totals[0].matches(alone.totals[0], rtol=1e-12)
    assert (-whole).with_schema(some.schema) == -some
    assert (whole + whole).with_schema(some.schema) == some + some


@given(data=st.data())
def test_layers_hold_what_every_schema_needs_and_nothing_twice(data):
    X, y, weights, _ = data.draw(tables(gaps=True))
    d = X.shape[1]
    singles = st.sampled_from([None, "normal", "categorical", families.Normal(alpha=7.0)])
    chosen = [
        *({j: data.draw(singles) for j in range(d)} for _ in range(3)),
        *(
            {tuple(block): FAMILIES["by patterns"], **{j: None for j in range(d) if j not in block}}
            for block in (data.draw(st.sets(st.integers(0, d - 1), min_size=1)) for _ in range(3))
        ),
    ]
    alone = [suffice.summarize(X, y, families=one, sample_weight=weights) for one in chosen]
    layers = layers_of([one.schema for one in alone])
    held = [
        (column.name, column.family.summed, column.block is None)
        for layer in layers
        for column in layer
        if column.family is not None and column.block is None
    ]
    assert len(set(held)) == len(held)
    parts = [suffice.summarize(X, y, families=layer, sample_weight=weights) for layer in layers]
    for one in alone:
        found = joined(parts, one.schema)
        assert found.schema == one.schema
        assert found.isclose(one, rtol=1e-12)


def test_sums_that_are_not_there_are_refused_by_the_name_of_the_column():
    X, y = np.random.default_rng(0).gamma(2.0, size=(20, 3)), np.arange(20) % 2
    normal = suffice.summarize(X, y)
    for other in (families.Gamma(), families.Exponential(), families.MultivariateNormal()):
        schema = suffice.summarize(X, y, families=other).schema
        with pytest.raises(ValueError, match="column 0 was not summed as"):
            normal.with_schema(schema)
    without = suffice.summarize(X, y, families={1: None})
    with pytest.raises(ValueError, match="column 1 was not summed as"):
        without.with_schema(normal.schema)
    counts = suffice.summarize(np.floor(X), y, families=families.Multinomial())
    with pytest.raises(ValueError, match="column 0 was not summed as"):
        counts.with_schema(only_columns(counts.schema, [0, 1]))


def test_text_that_is_split_in_another_way_takes_a_pass_of_its_own():
    texts, y = [["good film"], ["bad film"], ["good fun"]], [1, 0, 1]

    def schema(**settings):
        return suffice.summarize(texts, y, families=families.Words(**settings)).schema

    assert share_a_pass(
        [schema(), schema(tf="log"), schema(length="l2"), schema(event="bernoulli", alpha=3.0)]
    )
    for settings in ({"ngram_range": (1, 2)}, {"lowercase": False}, {"stop_words": ["good"]}):
        assert not share_a_pass([schema(), schema(**settings)])
