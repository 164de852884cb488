"""What estimators and schemas print."""

import pandas as pd
import pytest

import suffice


@pytest.fixture
def schema():
    rows = pd.DataFrame({"a": [1.0, 2.5, 3.0], "b": ["u", "u", "u"]})
    return suffice.BayesClassifier().fit(rows, ["x", "y", "y"]).schema_


def test_a_schema_among_the_settings_takes_one_line(schema):
    model = suffice.BayesClassifier(families=schema)
    assert repr(model) == "BayesClassifier(families=<schema of 2 columns>)"
    assert str(model) == repr(model)
    assert repr(suffice.CostSensitive(model)) == f"CostSensitive(model={model!r})"


def test_long_settings_are_broken_into_lines_as_in_scikit_learn():
    model = suffice.TextClassifier("complement", alpha=0.5, ngram_range=(1, 2), lowercase=False, tf="log")
    assert repr(model) == (
        "TextClassifier(alpha=0.5, event='complement', lowercase=False,\n"
        "               ngram_range=(1, 2), tf='log')"
    )
    assert repr(suffice.BayesClassifier()) == "BayesClassifier()"


def test_one_category_is_counted_in_the_singular(schema):
    assert schema["b"].reason == "1 category"
