"""Degenerate data are handled, not refused: nothing is NaN, and what was done is on record."""

import numpy as np
import pytest
from sklearn import datasets

from suffice import GaussianDiscriminant
from suffice.factors.gaussian import totals

RUNGS = ["full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic", [[0, 2], [1]]]
with_rungs = pytest.mark.parametrize("covariance", RUNGS, ids=str)
N = 60


def rows_of(n=N, d=3, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) + 2 * np.eye(d)) + 2.0 * y[:, np.newaxis], y


def constant(X, y):
    return np.column_stack([X, np.full(len(y), 7.0)])


def constant_in_each_class(X, y):
    return np.column_stack([X, y.astype(float)])


def constant_in_one_class(X, y):
    return np.column_stack([X, np.where(y == 1, 0.1, np.random.default_rng(1).normal(size=len(y)))])


def repeated(X, _):
    return np.column_stack([X, X[:, 0]])


def collinear(X, _):
    return np.column_stack([X, X @ np.array([1.0, -2.0, 0.5]) + 3.0])


def collinear_in_one_class(X, y):
    return np.column_stack([X, np.where(y == 1, X[:, 0], np.random.default_rng(1).normal(size=len(y)))])


def nothing_varies(_, y):
    return np.full((len(y), 3), 0.1)


def more_columns_than_rows(_, y):
    return np.random.default_rng(2).normal(size=(len(y), 100)) + y[:, np.newaxis]


SPOILED = [
    constant,
    constant_in_each_class,
    constant_in_one_class,
    repeated,
    collinear,
    collinear_in_one_class,
    nothing_varies,
    more_columns_than_rows,
]


def sound(model, X):
    posteriors = model.predict_proba(X)
    assert np.isfinite(posteriors).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    assert np.isfinite(model.log_likelihood_)
    assert np.isfinite(model.covariances_).all()
    explained = model.explain(X[:5])
    np.testing.assert_allclose(
        explained.contributions.sum(axis=1) + explained.prior, explained.total, rtol=1e-6, atol=1e-6
    )
    drawn, _ = model.sample(3, random_state=0)
    assert np.isfinite(drawn).all()
    assert np.isfinite(model.transform(X)).all()


@with_rungs
@pytest.mark.parametrize("spoil", SPOILED, ids=lambda f: f.__name__)
def test_posteriors_are_finite(covariance, spoil):
    X, y = rows_of()
    X = spoil(X, y)
    model = GaussianDiscriminant(covariance).fit(X, y)
    sound(model, X)
    gaps = X.copy()
    gaps[:, 0] = np.nan
    assert np.isfinite(model.predict_proba(gaps)).all()


@with_rungs
@pytest.mark.parametrize("spoil", SPOILED[:-1], ids=lambda f: f.__name__)
def test_posteriors_are_finite_with_gaps(covariance, spoil):
    X, y = rows_of()
    X = spoil(X, y)
    X[::7, 0] = np.nan
    X[3::11, -1] = np.nan
    for missing in ("em", "pairwise"):
        model = GaussianDiscriminant(covariance, missing=missing).fit(X, y)
        posteriors = model.predict_proba(X)
        assert np.isfinite(posteriors).all()
        np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("shrinkage", [0.2, "oas", "ledoit_wolf", (0.5, 0.1), 1.0, (1, 1)])
@pytest.mark.parametrize("spoil", SPOILED, ids=lambda f: f.__name__)
def test_posteriors_are_finite_with_shrinkage(shrinkage, spoil):
    X, y = rows_of()
    X = spoil(X, y)
    for covariance in ("full", "shared"):
        sound(GaussianDiscriminant(covariance, shrinkage=shrinkage).fit(X, y), X)


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("units", [[1.0] * 4, [1e-9, 1.0, 1e9, 1e5]], ids=["plain", "units"])
def test_what_was_done_is_on_record(covariance, units):
    X, y = rows_of()
    assert GaussianDiscriminant(covariance).fit(X, y).regularized_ == []
    model = GaussianDiscriminant(covariance).fit(collinear(X, y) * units, y)
    assert [entry.label for entry in model.regularized_] == [0, 1, 2]
    for entry in model.regularized_:
        assert "singular" in entry.reason
        assert "pseudo-observation" in entry.reason


def test_only_the_class_that_lost_rank_is_on_record():
    X, y = rows_of()
    for spoil in (collinear_in_one_class, constant_in_one_class):
        model = GaussianDiscriminant("full").fit(spoil(X, y), y)
        assert [entry.label for entry in model.regularized_] == [1]
        assert model.regularized_[0].reason.endswith("the covariance shared by all classes")
        others = [0, 2]
        own = [np.cov(spoil(X, y)[y == k], rowvar=False, ddof=0) for k in others]
        np.testing.assert_allclose(model.covariances_[others], own, rtol=1e-9, atol=1e-9)


def test_a_constant_column_changes_nothing():
    X, y = rows_of()
    for covariance in RUNGS[:4]:
        plain = GaussianDiscriminant(covariance).fit(X, y)
        more = GaussianDiscriminant(covariance).fit(constant(X, y), y)
        assert [(entry.column, entry.label) for entry in more.regularized_] == [("column 3", None)]
        assert more.regularized_[0].reason.startswith("all its values are equal")
        np.testing.assert_allclose(
            more.predict_proba(constant(X, y)), plain.predict_proba(X), rtol=1e-9, atol=1e-12
        )
        other = constant(X, y)
        other[:, -1] = -3.0
        np.testing.assert_allclose(more.predict_proba(other), plain.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal"])
def test_a_column_constant_in_each_class_still_separates(covariance):
    _, y = rows_of()
    noise = np.random.default_rng(3).normal(size=(N, 2))
    X = constant_in_each_class(noise, y)
    model = GaussianDiscriminant(covariance).fit(X, y)
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("spoil", [collinear, repeated], ids=lambda f: f.__name__)
def test_a_collinear_column_hardly_changes_the_decision(covariance, spoil):
    X, y = rows_of(600)
    plain = GaussianDiscriminant(covariance).fit(X, y)
    more = GaussianDiscriminant(covariance).fit(spoil(X, y), y)
    assert np.mean(plain.predict(X) == more.predict(spoil(X, y))) > 0.97


@with_rungs
def test_one_row_in_a_class(covariance):
    X, y = rows_of()
    keep = (y != 1) | (np.arange(N) == 1)
    model = GaussianDiscriminant(covariance).fit(X[keep], y[keep])
    sound(model, X)
    if covariance == "full":
        assert [entry.label for entry in model.regularized_] == [1]


@with_rungs
@pytest.mark.parametrize("ddof", [0, 1])
def test_one_row_in_every_class(covariance, ddof):
    X = np.array([[0.0, 0.0, 1.0], [5.0, 0.1, 2.0], [9.0, -3.0, 0.1]])
    model = GaussianDiscriminant(covariance, ddof=ddof).fit(X, [0, 1, 2])
    sound(model, X)
    assert model.predict(X).tolist() == [0, 1, 2]


@with_rungs
def test_one_class(covariance):
    X, _ = rows_of()
    covariance = covariance if isinstance(covariance, str) else [[0]]
    model = GaussianDiscriminant(covariance).fit(X, np.zeros(N, dtype=int))
    assert np.array_equal(model.predict_proba(X), np.ones((N, 1)))
    assert model.transform(X).shape == (N, 0)


@with_rungs
def test_one_column(covariance):
    X, y = rows_of(d=1)
    sound(GaussianDiscriminant(covariance).fit(X, y), X)


@with_rungs
def test_a_column_missing_throughout(covariance):
    X, y = rows_of()
    gaps = np.column_stack([X, np.full(N, np.nan)])
    model = GaussianDiscriminant(covariance).fit(gaps, y)
    np.testing.assert_allclose(
        model.predict_proba(gaps), GaussianDiscriminant(covariance).fit(X, y).predict_proba(X), atol=1e-9
    )


@with_rungs
@pytest.mark.parametrize("missing", ["em", "pairwise"])
def test_a_column_missing_in_one_class(covariance, missing):
    X, y = rows_of()
    X[y == 1, 2] = np.nan
    model = GaussianDiscriminant(covariance, missing=missing).fit(X, y)
    whole, _ = rows_of()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.predict_proba(whole)).all()


@with_rungs
@pytest.mark.parametrize("missing", ["em", "pairwise"])
def test_columns_never_seen_together(covariance, missing):
    X, y = rows_of()
    X[::2, 0] = np.nan
    X[1::2, 1] = np.nan
    model = GaussianDiscriminant(covariance, missing=missing).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.predict_proba(rows_of()[0])).all()


@pytest.mark.parametrize("load", [datasets.load_breast_cancer, datasets.load_digits])
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_public_data_fit_as_they_are(load, covariance):
    X, y = load(return_X_y=True)
    model = GaussianDiscriminant(covariance).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, y) > 0.94


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal"])
def test_rank_does_not_depend_on_units(covariance):
    X, y = datasets.load_digits(return_X_y=True)
    units = 2.0 ** np.random.default_rng(0).integers(-30, 30, X.shape[1])
    plain = GaussianDiscriminant(covariance).fit(X, y)
    scaled = GaussianDiscriminant(covariance).fit(X * units, y)
    assert plain.regularized_ == scaled.regularized_
    np.testing.assert_allclose(scaled.predict_proba(X * units), plain.predict_proba(X), rtol=0, atol=1e-8)


# --- bad settings --------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["fulll", "", 3, None, [], ["ab", "c"], 0.5])
def test_an_unknown_covariance_names_the_choices(covariance):
    X, y = rows_of()
    with pytest.raises(ValueError, match=r"covariance must be one of \('full', 'shared', 'diagonal'"):
        GaussianDiscriminant(covariance).fit(X, y)


@pytest.mark.parametrize(
    "groups, complaint",
    [
        ([[0, 1]], r"missing \[2\]"),
        ([[0, 1], [1, 2]], r"repeated \['1'\]"),
        ([[0, 1], [2, 5]], r"unknown \[5\]"),
        ([["0", "1", "2"]], r"missing \[0, 1, 2\]"),
    ],
)
def test_groups_name_every_class_once(groups, complaint):
    X, y = rows_of()
    with pytest.raises(ValueError, match=complaint):
        GaussianDiscriminant(groups).fit(X, y).predict(X)


@pytest.mark.parametrize("shrinkage", [-0.1, 1.5, "ledoit", (0.5,), (0.5, 2.0), (0.1, 0.2, 0.3), np.nan, []])
def test_bad_shrinkage_names_the_choices(shrinkage):
    X, y = rows_of()
    with pytest.raises(
        ValueError, match="shrinkage must be None, a number from 0 to 1, 'ledoit_wolf', 'oas'"
    ):
        GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)


@pytest.mark.parametrize("missing", ["drop", None, 0])
def test_bad_missing_names_the_choices(missing):
    X, y = rows_of()
    with pytest.raises(ValueError, match=r"missing must be one of \('em', 'pairwise'\)"):
        GaussianDiscriminant(missing=missing).fit(X, y)


@pytest.mark.parametrize("ddof", [-1, np.inf, np.nan, "one", None])
def test_bad_ddof_is_refused(ddof):
    X, y = rows_of()
    with pytest.raises(ValueError, match="ddof must be a finite number"):
        GaussianDiscriminant(ddof=ddof).fit(X, y)


@pytest.mark.parametrize(
    "X, y",
    [
        ([[-10, -10], [-10, -10], [-10, None], [-9.875, None], [None, -9.875], [-10, -10]], [0] * 6),
        ([[8.375, None], [8.375, None], [None, -5.875], [-5.625, -6.0], [0.125, -9.25]], [1, 0, 1, 0, 0]),
    ],
    ids=["alone", "with the pooled"],
)
def test_a_covariance_that_loses_its_rank_over_gaps_is_regularised(X, y):
    X = np.array(X, dtype=float)
    model = GaussianDiscriminant("full").fit(X, y)
    assert {note.label for note in model.regularized_} == set(y)
    scores = model.predict_joint_log_proba(X)[np.arange(len(y)), y]
    np.testing.assert_allclose(model.log_likelihood_, scores.sum(), rtol=1e-11)


def test_too_many_patterns_name_the_cure(monkeypatch):
    X, y = rows_of()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    GaussianDiscriminant().fit(X, y)
    monkeypatch.setattr(totals, "PATTERN_BYTES", 100)
    with pytest.raises(ValueError, match="missing='pairwise'"):
        GaussianDiscriminant().fit(X, y)
    assert np.isfinite(GaussianDiscriminant(missing="pairwise").fit(X, y).predict_proba(X)).all()


def test_too_many_patterns_in_batches_are_refused_before_anything_changes(monkeypatch):
    X, y = rows_of()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = GaussianDiscriminant().fit(X[:20], y[:20])
    before = model.statistics_
    monkeypatch.setattr(totals, "PATTERN_BYTES", 200)
    with pytest.raises(ValueError, match="missing='pairwise'"):
        model.partial_fit(X[20:], y[20:])
    assert model.statistics_ == before


def test_the_budget_of_patterns_is_what_the_sums_weigh_in_any_batches(monkeypatch):
    X, y = rows_of(600)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    size = GaussianDiscriminant().fit(X, y).statistics_.totals[0].nbytes
    for budget, fits in ((1.1 * size, True), (0.5 * size, False)):
        monkeypatch.setattr(totals, "PATTERN_BYTES", budget)
        for n_batches in (1, 4):
            model = GaussianDiscriminant()
            try:
                for rows in np.array_split(np.arange(600), n_batches):
                    model.partial_fit(X[rows], y[rows])
            except ValueError:
                assert not fits, f"{n_batches} batches are refused within the budget"
            else:
                assert fits, f"{n_batches} batches are taken above the budget"


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_its_column(value):
    X, y = rows_of()
    X[4, 1] = value
    with pytest.raises(ValueError, match="column 1"):
        GaussianDiscriminant().fit(X, y)


def test_text_is_refused():
    with pytest.raises((ValueError, TypeError)):
        GaussianDiscriminant().fit(np.array([["a", "b"], ["c", "d"]], dtype=object), [0, 1])


def test_ledoit_wolf_with_gaps_names_the_cure():
    X, y = rows_of()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="use shrinkage='oas' or a number"):
        GaussianDiscriminant(shrinkage="ledoit_wolf").fit(X, y).predict(X)


@pytest.mark.parametrize("seed", range(10))
def test_forgetting_down_to_one_row_by_pairs_leaves_a_variance_of_zero(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((16, 2)), np.repeat([0, 1], 8)
    kept = np.array([3, *range(8, 16)])
    gone = np.setdiff1d(np.arange(16), kept)
    model = GaussianDiscriminant("full", missing="pairwise").fit(X, y).forget(X[gone], y[gone])
    refitted = GaussianDiscriminant("full", missing="pairwise").fit(X[kept], y[kept])
    np.testing.assert_allclose(model.predict_proba(X), refitted.predict_proba(X), atol=1e-9)
