"""Models of many columns and classes stay within the limits of every database."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Categorical, Gamma, Normal


def noise(n_columns, n_classes, rows_per_class=100):
    """Numbers that barely depend on the class, so that posteriors are spread over many classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), rows_per_class)
    X = rng.normal(12.3, 0.37, (len(y), n_columns))
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(n_columns)]), y


def assert_parity(database, model, rows, **settings):
    database.create("rows", rows)
    expected = model.predict_proba(rows)
    assert (expected.max(axis=1) < 0.999).any()
    np.testing.assert_allclose(
        np.array(database.scores(model, "rows", **settings), dtype=float), expected, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("n_columns, n_classes", [(100, 20), (200, 10), (500, 50)])
def test_hundreds_of_normal_columns_run(n_columns, n_classes, database):
    X, y = noise(n_columns, n_classes)
    model = suffice.BayesClassifier(families=Normal()).fit(X, y)
    rows = X.iloc[:4].copy()
    rows.iloc[1, ::7] = np.nan
    assert_parity(database, model, rows)


def test_columns_with_many_shared_parts_run(database):
    X, y = noise(60, 20)
    model = suffice.BayesClassifier(families=Gamma()).fit(X, y)
    assert_parity(database, model, X.iloc[:4])


def test_columns_with_impossible_levels_run(database):
    X, y = noise(40, 30, rows_per_class=10)
    levels = (X > 12.6).astype(int) + (X > 12.7)
    model = suffice.BayesClassifier(families=Categorical(alpha=0)).fit(levels, y)
    assert_parity(database, model, levels.iloc[:4])


def test_a_joint_block_of_many_columns_and_classes_runs(database):
    X, y = noise(45, 45)
    model = suffice.GaussianDiscriminant("full").fit(X, y)
    assert_parity(database, model, X.iloc[:4], missing="null")


def test_as_many_classes_run_as_a_result_has_columns(database):
    X, y = noise(2, 1500, rows_per_class=3)
    model = suffice.BayesClassifier(families=Normal()).fit(X, y)
    assert_parity(database, model, X.iloc[:4])


@pytest.mark.parametrize("dialect, most", [("postgres", "1,664"), ("sqlite", "2,000")])
def test_more_columns_than_a_database_allows_are_refused_in_words(dialect, most):
    X, y = noise(2, 2100, rows_per_class=2)
    model = suffice.BayesClassifier(families=Normal()).fit(X, y)
    with pytest.raises(ValueError, match=rf"needs .* columns at once, but {dialect} allows {most}; export"):
        model.to_sql("rows", dialect=dialect)
