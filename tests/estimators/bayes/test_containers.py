"""The same rows in any container are the same model, and sampled rows come back in it."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffice import BayesClassifier, EvidenceClassifier, LogisticRegression
from suffice.families import Bernoulli, Exponential, Histogram, Multinomial, Normal, Poisson


def dtypes_of(X):
    if isinstance(X, pd.DataFrame):
        return dict(X.dtypes)
    if isinstance(X, pl.DataFrame):
        return dict(X.schema)
    if isinstance(X, pa.Table):
        return dict(zip(X.schema.names, X.schema.types, strict=True))
    return X.dtype


def rows_of(X, at):
    return X.iloc[at] if isinstance(X, pd.DataFrame) else X.take(at) if isinstance(X, pa.Table) else X[at]


def test_every_frame_gives_the_identical_model(frame, table, labels):
    model = BayesClassifier().fit(frame, labels)
    reference = BayesClassifier().fit(table, labels)
    assert [c.family for c in model.schema_] == [c.family for c in reference.schema_]
    assert model.statistics_ == reference.statistics_
    assert np.array_equal(model.predict_proba(frame), reference.predict_proba(table))
    assert model.log_likelihood_ == reference.log_likelihood_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("estimator", [BayesClassifier, EvidenceClassifier, LogisticRegression])
def test_a_record_batch_has_the_names_of_its_columns(estimator):
    rng = np.random.default_rng(0)
    batch = pa.record_batch({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    X, y = pa.Table.from_batches([batch]), np.arange(40) % 2
    model = estimator().fit(batch, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    for same in (X, X.to_pandas(), pl.from_arrow(X)):
        np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(batch))
        np.testing.assert_array_equal(
            estimator().fit(same, y).predict_proba(batch), model.predict_proba(batch)
        )


def test_every_column_of_the_mixed_table_takes_part(table, labels):
    model = BayesClassifier().fit(table, labels)
    assert all(column.family is not None for column in model.schema_), model.schema_


def test_a_frame_of_another_library_is_predicted_alike(frame, table, labels):
    model = BayesClassifier().fit(table, labels)
    assert np.array_equal(model.predict_proba(frame), model.predict_proba(table))


def test_an_array_of_objects_with_the_same_schema_gives_the_same_posteriors(objects, table, labels):
    reference = BayesClassifier().fit(table, labels)
    model = BayesClassifier(families=reference.schema_).fit(objects, labels)
    assert np.array_equal(model.predict_proba(objects), reference.predict_proba(table))
    assert model.log_likelihood_ == reference.log_likelihood_
    assert model.n_parameters_ == reference.n_parameters_


def test_an_array_of_objects_is_inferred_like_a_frame(objects, table, labels):
    model = BayesClassifier().fit(objects, labels)
    reference = BayesClassifier().fit(table, labels)
    assert [c.family for c in model.schema_] == [c.family for c in reference.schema_]


def test_partial_fit_and_forget_take_every_frame(frame, table, labels):
    first, second = np.arange(0, 70), np.arange(70, 120)
    reference = BayesClassifier().fit(table, labels)
    model = BayesClassifier(families=reference.schema_)
    model.partial_fit(rows_of(frame, first), labels[first])
    before = model.predict_proba(frame)
    model.partial_fit(rows_of(frame, second), labels[second])
    assert model.statistics_.isclose(reference.statistics_, rtol=1e-12)
    model.forget(rows_of(frame, second), labels[second])
    np.testing.assert_allclose(model.predict_proba(frame), before, atol=1e-9)


def test_samples_come_back_in_the_container_with_its_dtypes(frame, labels):
    model = BayesClassifier().fit(frame, labels)
    X, y = model.sample(30, random_state=0)
    assert type(X) is type(frame)
    assert dtypes_of(X) == dtypes_of(frame)
    assert len(y) == 30
    assert set(y) <= set(labels)
    assert model.predict_proba(X).shape == (30, 3)


def test_samples_of_an_array_of_objects_hold_the_same_types(objects, labels):
    X, _ = BayesClassifier().fit(objects, labels).sample(20, random_state=0)
    assert X.dtype == object
    kinds = [type(cell) for cell in X[0]]
    assert kinds == [float, float, int, bool, str, str, dt.date, dt.datetime, dt.timedelta, dt.time]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_samples_of_a_plain_array_have_its_dtype(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype == "bool" else 9, (40, 3)).astype(dtype)
    sampled, _ = BayesClassifier().fit(X, rng.integers(0, 2, 40)).sample(25, random_state=1)
    assert isinstance(sampled, np.ndarray)
    assert sampled.dtype == X.dtype
    assert sampled.shape == (25, 3)


def test_float32_rows_are_summed_in_float64():
    rng = np.random.default_rng(0)
    X = (1e4 + rng.normal(size=(20_000, 2))).astype(np.float32)
    y = rng.integers(0, 2, 20_000)
    narrow = BayesClassifier().fit(X, y)
    wide = BayesClassifier().fit(X.astype(np.float64), y)
    np.testing.assert_allclose(narrow.predict_proba(X), wide.predict_proba(X.astype(np.float64)), rtol=1e-12)


def test_an_empty_table_is_predicted_with_no_rows(frame, labels):
    model = BayesClassifier().fit(frame, labels)
    nothing = rows_of(frame, np.arange(0))
    assert model.predict_proba(nothing).shape == (0, 3)
    assert model.predict(nothing).shape == (0,)
    assert model.score_samples(nothing).shape == (0,)
    assert model.explain(nothing).contributions.shape == (0, 10, 3)


SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
}
FAMILIES = {
    "normal": Normal(),
    "normal shared": Normal("shared"),
    "normal ml": Normal(alpha=0),
    "poisson": Poisson(),
    "poisson ml": Poisson(alpha=0),
    "bernoulli": Bernoulli(),
    "bernoulli ml": Bernoulli(alpha=0),
    "multinomial": Multinomial(),
    "multinomial ml": Multinomial(alpha=0),
}


def counts(family, gaps):
    rng = np.random.default_rng(3)
    X = rng.poisson(0.6, (60, 7)).astype(np.float64)
    y = rng.integers(0, 3, 60)
    X[:, 2] *= y != 1  # a column that is constant in one class
    X[:, 5] = 0.0  # and one that is constant everywhere
    if family.name == "Bernoulli":
        X = np.minimum(X, 1.0)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("as_sparse", SPARSE.values(), ids=SPARSE)
def test_sparse_rows_are_the_same_model_as_dense_rows(as_sparse, family, gaps):
    X, y = counts(family, gaps)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    dense = BayesClassifier(families=family).fit(X, y, weights)
    model = BayesClassifier(families=family).fit(as_sparse(X), y, weights)
    assert model.statistics_.isclose(dense.statistics_, rtol=1e-12)
    expected = dense.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(as_sparse(X)), expected, atol=1e-12)
    np.testing.assert_allclose(dense.predict_proba(as_sparse(X)), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(as_sparse(X)), dense.score_samples(X), rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood_, dense.log_likelihood_, rtol=1e-12)
    np.testing.assert_allclose(
        model.explain(as_sparse(X)).contributions, dense.explain(X).contributions, atol=1e-10
    )


@pytest.mark.parametrize("as_sparse", SPARSE.values(), ids=SPARSE)
def test_sparse_samples_come_back_sparse_with_the_same_interface(as_sparse):
    X, y = counts(Poisson(), gaps=False)
    matrix = as_sparse(X)
    sampled, _ = BayesClassifier(families=Poisson()).fit(matrix, y).sample(10, random_state=0)
    assert sparse.issparse(sampled)
    assert isinstance(sampled, sparse.sparray) == isinstance(matrix, sparse.sparray)
    assert sampled.shape == (10, 7)
    assert sampled.dtype == matrix.dtype


def test_sparse_counts_are_multinomial_and_other_sparse_numbers_normal():
    X, y = counts(Poisson(), gaps=False)
    assert BayesClassifier().fit(sparse.csr_array(X), y).schema_[0].family == Multinomial()
    assert BayesClassifier().fit(sparse.csr_array(X - 0.5 * (X > 0)), y).schema_[0].family == Normal()
    assert BayesClassifier().fit(sparse.csr_array(-X), y).schema_[0].family == Normal()


def test_sparse_counts_with_an_explicit_gap_are_still_counts():
    X, y = counts(Poisson(), gaps=True)
    assert BayesClassifier().fit(sparse.csr_array(X), y).schema_[0].family == Multinomial()


@pytest.mark.parametrize("family", [Normal(), Poisson(), Multinomial()], ids=str)
def test_sparse_batches_and_forgotten_sparse_rows_equal_one_fit(family):
    X, y = counts(family, gaps=True)
    X = sparse.csr_array(X)
    whole = BayesClassifier(families=family).fit(X, y)
    parts = BayesClassifier(families=family).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    parts.forget(X[20:], y[20:])
    first = BayesClassifier(families=family).fit(X[:20], y[:20])
    np.testing.assert_allclose(parts.predict_proba(X), first.predict_proba(X), atol=1e-9)


def test_dense_rows_after_sparse_rows_continue_the_same_sums():
    X, y = counts(Normal(), gaps=False)
    mixed = BayesClassifier(families=Normal()).partial_fit(sparse.csr_array(X[:30]), y[:30])
    mixed.partial_fit(X[30:], y[30:])
    whole = BayesClassifier(families=Normal()).fit(X, y)
    np.testing.assert_allclose(mixed.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_a_wide_sparse_matrix_is_never_made_dense():
    n_columns = 200_000  # with an inner quadratic loop over columns this would take minutes
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (np.ones(2000), (rng.integers(0, 100, 2000), rng.integers(0, n_columns, 2000))),
        shape=(100, n_columns),
    )
    y = rng.integers(0, 2, 100)
    proba = BayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("family", [Exponential(), Histogram()], ids=str)
def test_a_family_without_sparse_sums_says_so(family):
    X, y = counts(Poisson(), gaps=False)
    if family.name == "Exponential":
        dense = BayesClassifier(families=family).fit(X, y)
        model = BayesClassifier(families=family).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), dense.predict_proba(X))
    else:
        with pytest.raises(ValueError, match=r"sparse.*dense"):
            BayesClassifier(families=family).fit(sparse.csr_array(X), y)
