"""For every family and any rows: saving and loading changes nothing, before and after going on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, Statistics, summarize
from suffice.families import FAMILIES, MultivariateNormal, Normal, Words

from .conftest import loaded, mixed, saved

LAW = settings(max_examples=8, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
TABLE, LABELS, CHOSEN = mixed()
CASES = {f"{family.name} of {columns}": (columns, family) for columns, family in CHOSEN.items()} | {
    "shared Normal": ("normal", Normal("shared", alpha=0.0)),
    "pairwise": (("length", "width"), MultivariateNormal("shared", missing="pairwise")),
    "presence of words": ("note", Words("bernoulli", ngram_range=(1, 2))),
}

rows = st.lists(st.integers(0, len(TABLE) - 1), min_size=1, max_size=25)
labels = st.sampled_from(
    [np.array([3, 1, 2]), np.array(["x", "ü", ""]), np.array([True, False, True]), np.array([3.0, 2.0, 1.0])]
)
weights = st.sampled_from([None, 0.25, 3.0])


def some(columns, at):
    return TABLE[list(columns) if isinstance(columns, tuple) else [columns]].iloc[at]


def test_the_cases_hold_every_family():
    assert {family.name for _, family in CASES.values()} == set(FAMILIES)


@pytest.mark.parametrize("case", CASES)
@LAW
@example([0, 0, 4], [8, 0, 0, 0, 0, 0, 0], np.array([3, 1, 2]), None)  # a variance forgotten to below 0
@given(rows, rows, labels, weights)
def test_saving_and_loading_changes_nothing(case, first, second, names, weight):
    columns, family = CASES[case]
    one, two = ((some(columns, at), names[np.arange(len(at)) % 3]) for at in (first, second))
    by_row = None if weight is None else np.full(len(first), weight)
    statistics = summarize(*one, families={columns: family}, sample_weight=by_row)
    packed = saved(statistics)
    twin = loaded(packed)
    assert isinstance(twin, Statistics)
    assert twin == statistics
    assert saved(twin) == packed

    model = BayesClassifier({columns: family}).fit(*one, by_row)
    again = loaded(saved(model))
    for change in ("partial_fit", "forget"):
        assert saved(again) == saved(model)
        asked = again.predict_proba(some(columns, first + second))
        assert asked.tobytes() == model.predict_proba(some(columns, first + second)).tobytes()
        for each in (model, again):
            getattr(each, change)(*two)
    assert saved(again) == saved(model)


def test_a_column_without_values_stays_undecided():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, np.nan]})
    model = loaded(saved(BayesClassifier().fit(X, [0, 1])))
    assert model.schema_["b"].undecided
    model.partial_fit(pd.DataFrame({"a": [1.0], "b": ["x"]}), [1])
    assert model.schema_["b"].family.name == "Categorical"
