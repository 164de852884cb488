"""Classes far apart, huge and tiny values, constant columns: the documented model to 1e-9, never NaN."""

import mpmath
import numpy as np
import pytest

from suffice import BayesClassifier
from suffice.families import (
    Beta,
    Exponential,
    Gamma,
    Histogram,
    InverseGaussian,
    LogNormal,
    Normal,
    Steps,
    VonMises,
)

TWO = np.array(["a", "a", "b", "b"])
THREE = np.array(["a", "a", "a", "b", "b", "b", "c", "c", "c"])


def apart(distance, n_rows=12, seed=0):
    """Classes of unit deviation, a distance apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    return rng.standard_normal((n_rows, 2)) + distance * y[:, np.newaxis], np.array(["a", "b", "c"])[y]


def columns(*values):
    return np.array(values, dtype=np.float64).T


SIX = np.array(["a", "a", "a", "b", "b", "b"])
TABLES = {
    "1e6 deviations apart": apart(1e6),
    "1e8 deviations apart": apart(1e8),
    "1e12 deviations apart": apart(1e12),
    "huge and tiny columns": (
        columns(
            [1e200, 1.5e200, 2e200, 1.1e200, 3e200, 2.5e200],
            [1e-200, 3e-200, 2e-200, 5e-200, 4e-200, 3.5e-200],
        ),
        SIX,
    ),
    "huge and tiny rows of one column": (columns([1e200, 1.2e200, 3e200, 1e-200, 2e-200, 5e-200]), SIX),
    "huge and tiny rows of one class": (columns([1e200, 1e-200, 1.0, -1e200, 2e-200, 7.0]), SIX),
    "constant in each class": (columns([0.1] * 3 + [0.3] * 3, [1.0, 2.0, 2.5, 1.5, 2.2, 0.4]), SIX),
    "constant in one class": (columns([0.1] * 3 + [0.3, 0.7, 0.6]), SIX),
    "constant in each class, far apart": (columns([1e-9] * 3 + [1e9] * 3), SIX),
    "constant in each class, at an offset": (columns([1e9 + 1e-6] * 3 + [1e9] * 3), SIX),
    "constant everywhere": (columns([0.1] * 6, [1.0, 2.0, 2.5, 1.5, 2.2, 0.4]), SIX),
    "constant everywhere, huge": (columns([1e308] * 6, [1.0, 2.0, 2.5, 1.5, 2.2, 0.4]), SIX),
    "all columns constant": (columns([0.1] * 6, [-7.3] * 6), SIX),
    "subnormal": (columns([5e-324, 1e-323, 3e-323, 2e-322, 3e-322, 5e-322]), SIX),
    "zero and subnormal": (columns([0.0, 5e-324, 0.0, 1e-310, 3e-310, 2e-310]), SIX),
    "1e308": (columns([1e308, 1.1e308, 1.05e308, 1.2e308, 1.7e308, 1.3e308]), SIX),
    "near the largest float": (columns([1.79e308, 1.5e308, 1.6e308, 1.7e308, 1.1e308, 1.3e308]), SIX),
    "1e308 of both signs": (columns([8e307, 7e307, -8e307, -7e307, -6e307, 5e307]), SIX),
    "one row of each class": (columns([1.0, 5.0]), np.array(["a", "b"])),
    "gaps": (
        columns([1.0, np.nan, 3.0, np.nan, 1e9, np.nan], [np.nan, np.nan, np.nan, 1.0, 2.0, 4.0]),
        SIX,
    ),
}
with_table = pytest.mark.parametrize("X, y", TABLES.values(), ids=TABLES.keys())


def queries_of(X):
    """The rows themselves, points between them, and the middle."""
    between = 0.5 * X[:-1] + 0.5 * X[1:]
    return np.vstack([X, between, 0.9 * X])


def close(found, expected, size=1.0):
    """Right to 1e-9 of the size of the numbers."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * size)


@with_table
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_normal_scores_and_posteriors(X, y, alpha, exact, posteriors, floats):
    queries = queries_of(X)
    model = BayesClassifier(families=Normal(alpha=alpha)).fit(X, y)
    truth = exact(X, y, alpha=alpha)
    joint = truth.joint(queries, truth.normal)
    close(model.predict_joint_log_proba(queries), floats(joint))
    close(model.predict_proba(queries), posteriors(joint))
    assert np.isfinite(model.log_likelihood_)


@with_table
def test_normal_parameters(X, y, exact):
    model = BayesClassifier(families=Normal()).fit(X, y)
    truth = exact(X, y)
    for j, parameters in model.parameters_.items():
        _, total = truth.mean_and_variance(j)
        for k, label in enumerate(truth.classes):
            mean, variance = truth.mean_and_variance(j, label)
            weight = sum(truth.cells(j, label)[1])
            if total == 0 or weight == 0:
                continue
            variance = (weight * variance + total) / (weight + 1)
            # One unit serves the whole column, so a mean is known to 1e-12 or to the rounding of the column.
            room = max(5e-324, 1e-300 * float(mpmath.sqrt(total)))
            assert float(parameters["mean"][k]) == pytest.approx(float(mean), rel=1e-12, abs=room)
            if 1e-300 < variance < 1e300:
                assert float(parameters["variance"][k]) == pytest.approx(float(variance), rel=1e-9)


@pytest.mark.parametrize("distance", [1e6, 1e8, 1e12])
def test_maximum_likelihood_of_classes_far_apart(distance, exact, posteriors, floats):
    """Without smoothing the class variance is all there is, and it keeps its digits."""
    X, y = apart(distance, n_rows=30, seed=7)
    model = BayesClassifier(families=Normal(alpha=0.0)).fit(X, y)
    truth = exact(X, y, alpha=0)
    joint = truth.joint(X, truth.normal)
    close(model.predict_proba(X), posteriors(joint))
    own = [[row[truth.classes.index(label)]] for row, label in zip(joint, y, strict=True)]
    found = model.predict_joint_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    close(found[:, np.newaxis], floats(own))


@pytest.mark.parametrize("distance", [1e6, 1e8, 1e12])
def test_maximum_likelihood_of_classes_far_apart_after_merging_and_forgetting(distance, exact, floats):
    X, y = apart(distance, n_rows=60, seed=8)
    model = BayesClassifier(families=Normal(alpha=0.0)).fit(X[:20], y[:20])
    for row in range(20, 60):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    model.forget(X[:30], y[:30])
    truth = exact(X[30:], y[30:], alpha=0)
    own = [
        row[truth.classes.index(c)] for row, c in zip(truth.joint(X[30:], truth.normal), y[30:], strict=True)
    ]
    found = model.predict_joint_log_proba(X[30:])[np.arange(30), np.searchsorted(model.classes_, y[30:])]
    close(found[:, np.newaxis], floats([[s] for s in own]))


def test_a_column_constant_within_each_class_separates_whatever_its_unit(exact, posteriors):
    for unit in (1.0, 1e-300, 1e300, 2.0**-1000):
        X = columns([unit * 1] * 3 + [unit * 3] * 3)
        model = BayesClassifier(families=Normal()).fit(X, SIX)
        truth = exact(X, SIX)
        found = model.predict_proba(X)
        close(found, posteriors(truth.joint(X, truth.normal)))
        assert (model.predict(X) == SIX).all()


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-300, 2.0**300, 2.0**900])
@pytest.mark.parametrize("family", [Normal(), Gamma(), InverseGaussian(), Exponential()], ids=repr)
def test_posteriors_do_not_depend_on_the_unit(family, unit):
    rng = np.random.default_rng(0)
    X = rng.gamma(3.0, 2.0, (30, 2))
    y = np.arange(30) % 3
    plain = BayesClassifier(families=family).fit(X, y)
    scaled = BayesClassifier(families=family).fit(X * unit, y)
    close(scaled.predict_proba(X * unit), plain.predict_proba(X))
    shift = 2 * np.log(unit)
    close(scaled.predict_joint_log_proba(X * unit), plain.predict_joint_log_proba(X) - shift)
    assert scaled.log_likelihood_ == pytest.approx(plain.log_likelihood_ - 30 * shift, rel=1e-9)


REACH = [1e160, -1e160, 1e200, -1e200, 1e308, -1e308, 1.7e308]


@pytest.mark.parametrize("value", REACH)
@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_a_query_far_outside_the_data_has_the_exact_posterior(value, unit, exact, posteriors):
    """However far: the squares overflow, and the wider class wins."""
    X = unit * columns([1.0, 2.0, 4.0, 3.0, 5.0, 9.0])
    model = BayesClassifier(families=Normal()).fit(X, SIX)
    truth = exact(X, SIX)
    queries = np.array([[value]])
    close(model.predict_proba(queries), posteriors(truth.joint(queries, truth.normal)))
    close(np.exp(model.predict_log_proba(queries)), model.predict_proba(queries))
    assert not np.isnan(model.predict_joint_log_proba(queries)).any()
    assert not np.isnan(model.score_samples(queries)).any()
    assert not np.isnan(model.decision_function(queries)).any()


@pytest.mark.parametrize("value", [5e-324, 1e-308, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize(
    "family, reference",
    [(LogNormal(), "log_normal"), (Gamma(), "gamma"), (InverseGaussian(), "inverse_gaussian")],
    ids=["LogNormal", "Gamma", "InverseGaussian"],
)
def test_a_positive_query_far_outside_the_data(family, reference, value, exact, posteriors):
    X = columns([1.0, 2.0, 4.0, 3.0, 5.0, 9.0])
    model = BayesClassifier(families=family).fit(X, SIX)
    truth = exact(X, SIX)
    queries = np.array([[value]])
    expected = posteriors(truth.joint(queries, getattr(truth, reference)))
    close(model.predict_proba(queries), expected)
    assert not np.isnan(model.predict_joint_log_proba(queries)).any()


@pytest.mark.parametrize(
    "family",
    [LogNormal(), Gamma(), InverseGaussian(), Exponential(), Normal(), Histogram(8), Steps()],
    ids=repr,
)
@pytest.mark.parametrize(
    "values",
    [
        [1e200, 1.1e200, 2e-200, 1e-200],
        [1e200, 1e-200, 2e-200, 1e200],
        [5e-324, 1e-323, 2e-310, 1.5e-310],
        [1e308, 1.1e308, 1.2e308, 1.3e308],
        [1.79e308, 5e-324, 1.0, 1e308],
        [1.0, 1.0, 3.0, 3.0],
        [0.3, 0.3, 0.3, 0.3],
    ],
    ids=["1e200 1e-200", "1e200 1e-200 mixed", "subnormal", "1e308", "all", "constant in class", "constant"],
)
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_extreme_positive_values_give_posteriors(family, values, alpha):
    """Each works, or says in a sentence why not; nothing is NaN and nothing warns."""
    X = columns(values)
    try:
        model = BayesClassifier(families=type(family)(alpha=alpha)).fit(X, TWO)
        posterior = model.predict_proba(X)
    except ValueError as error:
        assert isinstance(family, (Gamma, InverseGaussian))
        assert "column 0" in str(error)  # noqa: PT017
        assert "floating point" in str(error)  # noqa: PT017
        return
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    assert not np.isnan(model.predict_joint_log_proba(X)).any()
    assert not np.isnan(model.predict_log_proba(X)).any()
    assert not np.isnan(model.explain(X).contributions).any()
    assert not np.isnan(model.log_likelihood_)


@pytest.mark.parametrize(
    "family, reference, reach",
    [(Gamma(), "gamma", 1e3), (Gamma(), "gamma", 1e60), (InverseGaussian(), "inverse_gaussian", 1e3)],
)
def test_huge_and_tiny_positive_classes(family, reference, reach, exact, posteriors):
    X = columns([reach, 1.1 * reach, 2 * reach, 1 / reach, 2 / reach, 1.5 / reach])
    model = BayesClassifier(families=family).fit(X, SIX)
    truth = exact(X, SIX)
    close(model.predict_proba(X), posteriors(truth.joint(X, getattr(truth, reference))))


@pytest.mark.parametrize("family", [Normal(), Normal(alpha=0.0), Normal("shared")], ids=repr)
def test_opposite_ends_of_the_floats_work_or_are_refused_in_words(family):
    """The difference of two values may be no float; then one sentence says so, and no warning comes."""
    for values in (
        [1.7e308, 1.6e308, -1.7e308, -1.6e308],
        [1.7e308, -1.6e308, -1.7e308, 1.6e308],
        [1e308, 1.1e308, -1.2e308, -1.3e308],
    ):
        X = columns(values)
        try:
            model = BayesClassifier(families=family).fit(X, TWO)
            posterior = model.predict_proba(X)
        except ValueError as error:
            assert "float" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(posterior).all()


def test_a_refused_batch_leaves_the_model_as_it_was():
    model = BayesClassifier(families=Normal()).fit(columns([1.0, 2.0, 3.0, 5.0]), TWO)
    before = model.statistics_
    posterior = model.predict_proba([[2.5]])
    try:
        model.partial_fit(columns([1.7e308, -1.7e308]), ["a", "a"])
    except ValueError:
        assert model.statistics_ == before
        np.testing.assert_array_equal(model.predict_proba([[2.5]]), posterior)
    else:
        assert np.isfinite(model.predict_proba([[2.5]])).all()


@pytest.mark.parametrize("family", [Beta(), VonMises()], ids=repr)
def test_bounded_families_at_their_bounds(family):
    if isinstance(family, Beta):
        X = columns([5e-324, 1e-300, 1e-200, 1.0 - 2.0**-53])
    else:
        X = columns([1e15, 1e-300, np.pi, -np.pi])
    model = BayesClassifier(families=family).fit(X, TWO)
    posterior = model.predict_proba(X)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)


def test_many_columns_of_very_different_units_in_one_factor(exact, posteriors):
    rng = np.random.default_rng(3)
    units = np.array([2.0**e for e in range(-1000, 1000, 125)])
    X = rng.standard_normal((20, len(units))) * units
    y = np.arange(20) % 2
    model = BayesClassifier(families=Normal()).fit(X, y)
    truth = exact(X, y)
    close(model.predict_proba(X[:6]), posteriors(truth.joint(X[:6], truth.normal)))
