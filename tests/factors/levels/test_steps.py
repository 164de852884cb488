"""Steps: fine cells that add exactly, and steps that are the shortest description of the classes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from suffice import BayesClassifier
from suffice.factors.levels import fine_cells, joining
from suffice.factors.levels.joining import joined
from suffice.factors.levels.steps import StepTotals
from suffice.families import Steps

LAW = settings(max_examples=60, deadline=None, database=None)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-5, 5).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308]),
)


def description(counts, starts):
    """The length in nats of the classes given the steps, term by term."""
    cells = np.add.reduceat(counts, starts, axis=1)
    n_classes, n_steps = cells.shape
    rows, all_rows = cells.sum(axis=0), cells.sum()

    def log_choices(n, k):
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    return (
        np.log(all_rows)
        + log_choices(all_rows + n_steps - 1, n_steps - 1)
        + log_choices(rows + n_classes - 1, n_classes - 1).sum()
        + (gammaln(rows + 1) - gammaln(cells + 1).sum(axis=0)).sum()
    )


def steps_of(counts):
    """Where the steps of one column begin."""
    return np.flatnonzero(joined(counts, np.array([counts.shape[1]])))


@LAW
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 7))
def test_no_pair_of_steps_has_a_shorter_description_together(seed, n_classes, n_cells):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, (n_classes, n_cells)).astype(float)
    counts[0] += 1.0
    starts = steps_of(counts)
    found = description(counts, starts)
    for gone in range(1, len(starts)):
        assert found <= description(counts, np.delete(starts, gone)) + 1e-9
    assert found <= description(counts, np.array([0])) + 1e-9


def test_classes_that_change_at_two_places_have_three_steps():
    rng = np.random.default_rng(0)
    x = np.arange(600.0)
    y = np.where((x >= 150) & (x < 420), 1, 0) ^ (rng.random(600) < 0.05)
    model = BayesClassifier(Steps()).fit(x[:, np.newaxis], y)
    edges = model.parameters_[0]["edges"]
    assert len(edges) == 4
    np.testing.assert_allclose(edges, [0.0, 150.0, 420.0, 599.0], atol=12.0)


def test_the_greedy_steps_are_the_best_of_all_where_classes_differ_clearly():
    counts = np.array([[9.0, 8, 1, 0, 9, 9], [0, 1, 9, 9, 1, 0]])
    starts = steps_of(counts)
    partitions = [np.array([0, *inner]) for n in range(6) for inner in combinations(range(1, 6), n)]
    best = min(partitions, key=lambda one: description(counts, one))
    np.testing.assert_array_equal(starts, best)


def test_a_column_that_says_nothing_has_one_step_and_adds_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1)), rng.integers(0, 3, 400)
    model = BayesClassifier(Steps()).fit(X, y)
    assert len(model.parameters_[0]["edges"]) == 2
    np.testing.assert_allclose(model.predict_proba(X), np.tile(model.priors_, (400, 1)), rtol=1e-12)


@pytest.mark.parametrize("at_once", [joining.COLUMNS_AT_ONCE, 2], ids=["all", "two"])
def test_columns_are_joined_side_by_side_as_they_are_alone(at_once, monkeypatch):
    monkeypatch.setattr(joining, "COLUMNS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    columns = [rng.poisson(3 + 4 * (np.arange(n) % 5 > 2), (3, n)).astype(float) for n in (1, 4, 40, 200, 3)]
    sizes = np.array([counts.shape[1] for counts in columns])
    together = np.split(joined(np.hstack(columns), sizes), np.cumsum(sizes[:-1]))
    for counts, begins in zip(columns, together, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(begins), steps_of(counts))


@LAW
@given(st.lists(st.tuples(NUMBERS, st.integers(0, 1)), min_size=2, max_size=40), st.integers(1, 39))
def test_cells_do_not_depend_on_the_batches(rows, cut):
    X = np.array([[x] for x, _ in rows])
    y = np.array([k for _, k in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_cells, "CELLS", 5)
        whole = BayesClassifier(Steps()).fit(X, y, sample_weight=np.ones(len(y)))
        parts = BayesClassifier(Steps()).fit(X[:cut], y[:cut])
        if len(y[cut:]):
            parts.partial_fit(X[cut:], y[cut:])
        assert parts.statistics_ == whole.statistics_
        cells = whole.statistics_.totals[0].columns[0]
        distinct = np.unique(X)
        assert len(cells.cells) == min(len(distinct), len(cells.cells)) <= 5
        low, beyond = fine_cells.edges_of(cells.cells, np.int64(cells.shift))
        inside = (low <= X) & ((beyond > X) | (beyond == np.finfo(float).max))
        np.testing.assert_array_equal(inside.sum(axis=0), cells.support.sum(axis=0))


@LAW
@given(st.lists(NUMBERS, min_size=1, max_size=30, unique=True))
def test_the_order_of_the_bits_is_the_order_of_the_numbers(values):
    x = np.sort(np.array(values))
    order = fine_cells._in_order(x)
    assert ((order[1:] > order[:-1]) == (x[1:] > x[:-1])).all()
    np.testing.assert_array_equal(fine_cells._numbers(order), x)


@pytest.mark.parametrize("unseen", ["smooth", "error"])
def test_every_number_is_in_a_step_whatever_is_said_of_unseen_ones(unseen):
    x = np.concatenate([np.arange(30.0), np.arange(40.0, 50.0)])[:, np.newaxis]
    y = np.repeat(["few", "many"], [10, 30])
    expected, model = (BayesClassifier(family).fit(x, y) for family in (Steps(), Steps(unseen=unseen)))
    np.testing.assert_array_equal(model.predict_proba(x + 20.0), expected.predict_proba(x + 20.0))


def test_a_value_beyond_the_data_is_read_as_the_nearest_one():
    X, y = np.arange(40.0)[:, np.newaxis], np.arange(40) >= 20
    model = BayesClassifier(Steps()).fit(X, y)
    ends = model.predict_proba([[0.0], [39.0]])
    np.testing.assert_array_equal(model.predict_proba([[-1e300], [1e300]]), ends)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 10.0])
def test_a_cell_never_speaks_louder_than_its_class_has_rows(alpha):
    X = np.concatenate([np.zeros(1000), np.linspace(1e3, 1e6, 50)])[:, np.newaxis]
    y = np.repeat([0, 1], [1000, 50])
    model = BayesClassifier(Steps(alpha=alpha), priors="uniform").fit(X, y)
    loudest = np.abs(np.diff(model.predict_log_proba(X), axis=1)).max()
    assert loudest <= np.log1p(1000 / alpha) + np.log1p(1050 / 50) + 1e-9


def test_steps_near_zero_are_fine_and_far_out_they_are_wide():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0.0, 1e-3, 20_000), rng.uniform(1e6, 2e6, 20_000)])
    y = np.where(x < 1e-3, x < 4e-4, x < 1.3e6).astype(int)
    edges = BayesClassifier(Steps()).fit(x[:, np.newaxis], y).parameters_[0]["edges"]
    assert np.abs(edges - 4e-4).min() < 2e-5
    assert np.abs(edges - 1.3e6).min() < 2e4


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_weights_of_any_size_give_posteriors(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), np.arange(60) % 2
    posterior = BayesClassifier(Steps()).fit(X, y, sample_weight=np.full(60, scale)).predict_proba(X)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)


def test_forgotten_rows_leave_the_steps_of_the_others():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)).round(2), rng.integers(0, 2, 300)
    X[y == 1] += 1.0
    model = BayesClassifier(Steps()).fit(X, y).forget(X[200:], y[200:])
    fresh = BayesClassifier(Steps()).fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.predict_proba(X), fresh.predict_proba(X))


@LAW
@given(
    st.lists(
        st.tuples(NUMBERS | st.just(np.nan), st.integers(0, 2), st.floats(0.1, 3.0)), min_size=1, max_size=40
    ),
    st.data(),
)
def test_batches_of_rows_that_are_sorted_once_give_the_same_counts(rows, data):
    X, y, weights = np.array([[x] for x, _, _ in rows]), *map(np.array, list(zip(*rows, strict=True))[1:])
    some = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True, min_size=1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_cells, "CELLS", 5)
        for w in (None, weights[some]):
            states = []
            for batch in (X[some], StepTotals.batches(X)(some)):
                totals = StepTotals.empty(Steps(), 1).take_classes(np.full(3, -1))
                totals.prepare(batch, ["x"], y[some], w, 3)(totals)
                states.append(totals.state()["columns"][0])
            for name, value in states[0].items():
                np.testing.assert_array_equal(states[1][name], value)
