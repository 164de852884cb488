"""Numbers at the edge of the floats: rows far away, tiny and huge units, heavy weights, rows taken away."""

import numpy as np
import pytest

from suffice import GaussianDiscriminant

RUNGS = ["full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic", [[0, 2], [1]]]
with_rungs = pytest.mark.parametrize("covariance", RUNGS, ids=str)


def rows_of(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) * (1.0 + 0.3 * y[:, np.newaxis]) + 2.0 * y[:, np.newaxis], y


# --- rows far away -------------------------------------------------------------------------------


def limit_of(model, direction):
    """The class of the least (or, where all share Σ, the most linear) score along a ray from 0."""
    precision = np.linalg.inv(model.covariances_)
    distance = np.einsum("i,kij,j->k", direction, precision, direction)
    linear = np.einsum("i,kij,kj->k", direction, precision, model.means_)
    nearest = np.isclose(distance, distance.min(), rtol=1e-9)
    return model.classes_[np.argmax(np.where(nearest, linear, -np.inf))]


@with_rungs
@pytest.mark.parametrize("far", [1e20, 1e100, 1e155, 1e200, 1e300])
def test_far_away_the_scaled_distance_decides(covariance, far):
    X, y = rows_of()
    model = GaussianDiscriminant(covariance).fit(X, y)
    rays = np.random.default_rng(1).normal(size=(20, 3))
    posteriors = model.predict_proba(rays * far)
    expected = [limit_of(model, ray) for ray in rays]
    np.testing.assert_array_equal(posteriors.max(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[posteriors.argmax(axis=1)], expected)
    np.testing.assert_array_equal(model.predict(rays * far), expected)


@with_rungs
@pytest.mark.parametrize("far", [1e100, 1e155, 1e300, 1.7e308])
def test_far_away_nothing_is_nan(covariance, far):
    X, y = rows_of()
    model = GaussianDiscriminant(covariance, priors=[0.5, 0.5, 0.0]).fit(X, y)
    rows = np.vstack([X[:2], far * np.eye(3), -far * np.ones((1, 3)), [[far, -far, np.nan]]])
    posteriors = model.predict_proba(rows)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, rtol=1e-12)
    assert (posteriors[:, 2] == 0).all()
    assert np.isfinite(model.predict_joint_log_proba(rows)[:, :2]).all()
    assert np.isfinite(model.score_samples(rows)).all()
    explained = model.explain(rows)
    assert np.isfinite(explained.contributions).all()
    total = (explained.contributions.sum(axis=1) + explained.prior)[:, :2]
    np.testing.assert_allclose(total, explained.total[:, :2], rtol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "shared", [[0, 2], [1]]], ids=str)
def test_one_row_far_away_does_not_change_the_others(covariance):
    X, y = rows_of(200)
    model = GaussianDiscriminant(covariance).fit(X, y)
    alone = model.predict_proba(X)
    with_one = model.predict_proba(np.vstack([X[:50], [[1e200, 0.0, -1e250]], X[50:]]))
    np.testing.assert_allclose(np.delete(with_one, 50, axis=0), alone, rtol=1e-10, atol=1e-14)


def test_classes_further_apart_than_squares_reach():
    X, y = rows_of()
    X[y == 1] += 1e200
    for covariance in ("full", "shared", "diagonal"):
        model = GaussianDiscriminant(covariance).fit(X, y)
        assert set(model.predict(X[y == 1])) == {1}
        assert np.isfinite(model.predict_proba(X)).all()


# --- units ---------------------------------------------------------------------------------------


@with_rungs
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e299])
def test_any_unit_gives_the_same_posteriors(covariance, unit):
    X, y = rows_of()
    plain, scaled = (
        GaussianDiscriminant(covariance).fit(X, y),
        GaussianDiscriminant(covariance).fit(X * unit, y),
    )
    np.testing.assert_allclose(scaled.predict_proba(X * unit), plain.predict_proba(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(scaled.transform(X * unit), plain.transform(X), rtol=1e-6, atol=1e-9)
    gaps = np.where(np.arange(180).reshape(60, 3) % 7 == 0, np.nan, X)
    np.testing.assert_allclose(scaled.transform(gaps * unit), plain.transform(gaps), rtol=1e-6, atol=1e-9)
    with pytest.raises(
        ValueError, match=r"column 0: the square of its standard deviation.* rescale the column"
    ):
        _ = scaled.covariances_


@with_rungs
def test_numbers_with_few_digits_left_have_posteriors(covariance):
    X, y = rows_of()
    unit = 2.0**-1045
    gaps = np.where(np.arange(180).reshape(60, 3) % 7 == 0, np.nan, X)
    plain = GaussianDiscriminant(covariance).fit(X, y)
    small = GaussianDiscriminant(covariance).fit(X * unit, y)
    for rows in (X, gaps):
        np.testing.assert_allclose(small.predict_proba(rows * unit), plain.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize("covariance", ["isotropic", "shared_isotropic"])
def test_one_variance_for_columns_of_any_size(covariance):
    X, y = rows_of()
    large = GaussianDiscriminant(covariance).fit(X[:, :2] * 1e200, y)
    beside = np.column_stack([X[:, :2] * 1e200, X[:, 2] * 1e-200])
    model = GaussianDiscriminant(covariance).fit(beside, y)
    both = GaussianDiscriminant(covariance).fit(X[:, :2], y).covariances_[:, 0, 0]
    three = GaussianDiscriminant(covariance).fit(np.column_stack([X[:, :2], np.zeros(60)]), y)
    assert len(three.regularized_) == 1
    np.testing.assert_allclose(three.covariances_[:, 0, 0], both)
    assert np.isfinite(model.predict_log_proba(beside)).all()
    assert (model.predict(beside) == large.predict(X[:, :2] * 1e200)).mean() > 0.9


def test_a_linear_boundary_has_any_unit_and_a_curve_says_where_it_ends():
    X, y = rows_of()
    unit = 1e-200
    line = GaussianDiscriminant("shared").fit(X * unit, y).boundary(0, 1)
    plain = GaussianDiscriminant("shared").fit(X, y).boundary(0, 1)
    np.testing.assert_allclose(line.w * unit, plain.w, rtol=1e-9)
    np.testing.assert_allclose(line(X * unit), plain(X), rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="measure the columns in other units"):
        GaussianDiscriminant("full").fit(X * unit, y).boundary(0, 1)


# --- weights and ddof ----------------------------------------------------------------------------


@with_rungs
@pytest.mark.parametrize("weight", [1e-160, 1e160, 1e300])
def test_the_size_of_weights_does_not_matter(covariance, weight):
    X, y = rows_of()
    plain = GaussianDiscriminant(covariance).fit(X, y)
    heavy = GaussianDiscriminant(covariance).fit(X, y, sample_weight=np.full(60, weight))
    np.testing.assert_allclose(heavy.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-9)


def test_heavy_rows_of_a_singular_covariance_have_posteriors():
    X, y = rows_of()
    twice = np.column_stack([X, X[:, 0]])
    model = GaussianDiscriminant("full").fit(twice, y, sample_weight=np.full(60, 1e160))
    assert np.isfinite(model.predict_log_proba(twice)).all()
    assert {entry.label for entry in model.regularized_} == {0, 1, 2}


def test_weights_that_add_up_to_no_float_are_refused():
    X, y = rows_of()
    with pytest.raises(ValueError, match="sample_weight adds up to more than a float"):
        GaussianDiscriminant().fit(X, y, sample_weight=np.full(60, 1e308))


def test_ddof_that_leaves_no_rows_is_on_record():
    X, y = rows_of()
    plain = GaussianDiscriminant("full").fit(X, y)
    model = GaussianDiscriminant("full", ddof=20).fit(X, y)
    np.testing.assert_array_equal(model.covariances_, plain.covariances_)
    assert [entry.label for entry in model.regularized_] == [0, 1, 2]
    assert model.regularized_[0].reason.startswith("ddof=20 leaves none of the 20 rows")
    assert GaussianDiscriminant("shared", ddof=19).fit(X, y).regularized_ == []
    assert len(GaussianDiscriminant("shared", ddof=20).fit(X, y).regularized_) == 3


# --- rows taken away -----------------------------------------------------------------------------


@with_rungs
@pytest.mark.parametrize("missing", ["em", "pairwise"])
@pytest.mark.parametrize("far", [1e7, 1e8, 1e9, 1e12])
def test_what_rows_far_away_leave_behind_is_said(covariance, missing, far):
    X, y = rows_of()
    gone = np.random.default_rng(5).normal(size=(3, 3)) * far
    model = GaussianDiscriminant(covariance, missing=missing).fit(np.vstack([X, gone]), np.r_[y, 0, 1, 2])
    assert not any("rounding" in entry.reason for entry in model.regularized_)
    model.forget(gone, [0, 1, 2])
    assert np.isfinite(model.predict_log_proba(X)).all()
    said = [entry for entry in model.regularized_ if "rounding error from removed rows" in entry.reason]
    assert {entry.column for entry in said} == {"column 0", "column 1", "column 2"}


@with_rungs
def test_rows_near_by_leave_nothing_behind(covariance):
    X, y = rows_of()
    gone = np.random.default_rng(5).normal(size=(3, 3)) * 100.0
    model = (
        GaussianDiscriminant(covariance).fit(np.vstack([X, gone]), np.r_[y, 0, 1, 2]).forget(gone, [0, 1, 2])
    )
    assert model.regularized_ == []
    np.testing.assert_allclose(
        model.predict_proba(X), GaussianDiscriminant(covariance).fit(X, y).predict_proba(X), atol=1e-9
    )


def test_what_is_lost_with_gaps_is_said():
    X, y = rows_of()
    X[::7, 1] = np.nan
    gone = np.array([[1e9, np.nan, 1e9], [1e9, -1e9, 0.0], [0.0, 1e9, 1e9]])
    model = GaussianDiscriminant("full").fit(np.vstack([X, gone]), np.r_[y, 0, 1, 2]).forget(gone, [0, 1, 2])
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert any("rounding error from removed rows" in entry.reason for entry in model.regularized_)


# --- groups --------------------------------------------------------------------------------------


def test_groups_name_classes_that_are_yet_to_come():
    X, y = rows_of()
    labels = np.array(["a", "b", "c"])[y]
    groups = [["a", "c"], ["b"]]
    early = labels != "c"
    model = GaussianDiscriminant(groups).partial_fit(X[early], labels[early], classes=["a", "b", "c"])
    own = GaussianDiscriminant("full").fit(X[early], labels[early])
    np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), rtol=1e-9, atol=1e-12)
    model.partial_fit(X[~early], labels[~early])
    whole = GaussianDiscriminant(groups).fit(X, labels)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)
    model.forget(X[~early], labels[~early])
    np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), rtol=1e-7, atol=1e-9)
    alone = GaussianDiscriminant([["a"], ["b"]]).partial_fit(X, labels)
    with pytest.raises(ValueError, match=r"missing \['c'\]"):
        alone.predict(X)
