"""Levels, outcomes and counts: compiled kernels give what the reference gives, in threads and in parts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from suffice import BayesClassifier, set_threads, summarize
from suffice.families import Bernoulli, Categorical, Histogram, Multinomial, Normal, Poisson
from suffice.kernels import discrete

discrete_compiled = pytest.importorskip(
    "suffice.kernels.discrete_compiled", reason="numba has no wheels for this machine"
)
LAW = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
NUMBERS = [np.int8, np.int64, np.uint8, np.uint64, np.float32, np.float64]


def laid_out(X, layout):
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        return np.repeat(X, 2, axis=0)[::2]
    if layout == "read-only":
        X.flags.writeable = False
    return X


@st.composite
def tables(draw, lowest, highest):
    """Whole numbers in any dtype and order, with gaps in floats, and weights or none."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([*NUMBERS, np.bool]))
    if dtype is np.bool or np.dtype(dtype).kind == "u":
        lowest, highest = max(lowest, 0), min(highest, 1) if dtype is np.bool else highest
    X = rng.integers(lowest, highest + 1, size=(n, d)).astype(dtype)
    if np.dtype(dtype).kind == "f" and draw(st.booleans()):
        X[rng.random((n, d)) < 0.3] = np.nan
    X = laid_out(X, draw(st.sampled_from(["C", "F", "strided", "read-only"])))
    weights = rng.integers(1, 9, n) / 4 if draw(st.booleans()) else None
    return X, rng.integers(0, 3, n), weights


def assert_same_bits(plain, fast):
    assert plain == fast
    for one, other in zip(plain.totals, fast.totals, strict=True):
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name], err_msg=name)


@LAW
@given(table=tables(-3, 6))
def test_counts_of_levels_are_the_same_bits(engines, table):
    X, y, weights = table
    assert_same_bits(*engines(lambda: summarize(X, y, families=Categorical(), sample_weight=weights)))


@pytest.mark.parametrize("n_levels", [16, 30, 40])
@pytest.mark.parametrize("n_columns", [1, discrete_compiled.FEWEST_COLUMNS])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_many_rows_of_integers_are_counted_as_the_reference_counts_them(dtype, n_columns, n_levels):
    rng, ends = np.random.default_rng(0), np.iinfo(dtype)
    lowest = ends.min if ends.bits == 8 else 5
    cells = (lowest + rng.integers(0, 3, size=(3000, n_columns))).astype(dtype)
    classes, weights = rng.integers(0, 2, len(cells)), np.zeros(0)
    low = np.full(n_columns, lowest - n_levels // 2 + 2)  # bounds may be wider than the type
    starts = n_levels * np.arange(n_columns + 1)

    def counted(kernels):
        support = np.zeros((2, starts[-1]), np.int64)
        known = kernels.count_levels(cells, classes, weights, low, starts, support, np.zeros((2, 0)))
        return known, support

    def assert_counted_alike():
        (known, support), (same, expected) = counted(discrete_compiled), counted(discrete)
        assert known
        assert same
        np.testing.assert_array_equal(support, expected)

    assert_counted_alike()
    cells[-1, -1] = low[-1] + n_levels - 1  # within the bounds, but far from the other levels
    assert_counted_alike()
    cells[-1, -1] = ends.max
    assert not counted(discrete_compiled)[0]
    assert not counted(discrete)[0]


@LAW
@given(table=tables(0, 1))
def test_sums_of_outcomes_are_the_same_bits(engines, table):
    X, y, weights = table
    assert_same_bits(*engines(lambda: summarize(X, y, families=Bernoulli(), sample_weight=weights)))


@LAW
@given(
    table=tables(0, 1),
    alpha=st.sampled_from([1.0, 0.0]),
    unseen=st.sampled_from(["ignore", "smooth"]),
    family=st.sampled_from([Categorical, Bernoulli, Histogram]),
)
def test_posteriors_of_discrete_columns_are_the_same(engines, table, alpha, unseen, family):
    X, y, _ = table
    settings = {} if family is Histogram else {"alpha": alpha, "unseen": unseen}
    model = BayesClassifier(family(**settings)).fit(X[: len(X) // 2 + 1], y[: len(X) // 2 + 1])
    plain, fast = engines(lambda: model.predict_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=0, atol=1e-12)
    plain, fast = engines(lambda: model.predict_joint_log_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=1e-12, atol=1e-10)


@LAW
@given(
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.int64, np.float32, np.float64]),
    layout=st.sampled_from(["csr", "csc", "coo"]),
    weighted=st.booleans(),
    gaps=st.booleans(),
    order=st.sampled_from("CF"),
)
def test_sparse_and_dense_counts_are_the_same(engines, seed, dtype, layout, weighted, gaps, order):
    rng = np.random.default_rng(seed)
    dense = (rng.integers(0, 5, (30, 6)) * (rng.random((30, 6)) < 0.4)).astype(dtype)
    if gaps and np.dtype(dtype).kind == "f":
        dense[rng.random((30, 6)) < 0.05] = np.nan
    X, y = sparse.coo_array(dense).asformat(layout), rng.integers(0, 3, 30)
    weights = rng.integers(1, 9, 30) / 4 if weighted else None
    plain, fast = engines(lambda: summarize(X, y, families=Multinomial(), sample_weight=weights))
    assert plain.isclose(fast, rtol=1e-13)
    np.testing.assert_array_equal(*(s.totals[0].arrays()["total"] for s in (plain, fast)))
    as_table = engines(
        lambda: summarize(np.asarray(dense, order=order), y, families=Multinomial(), sample_weight=weights)
    )
    for same in as_table:
        assert plain.isclose(same, rtol=1e-12)
        np.testing.assert_array_equal(same.totals[0].arrays()["total"], plain.totals[0].arrays()["total"])
    model = BayesClassifier(Multinomial()).fit(X, y)
    plain, fast = engines(lambda: model.predict_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=0, atol=1e-12)


def test_entries_of_a_sparse_row_that_repeat_a_column_are_one_count(engines):
    X = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    plain, fast = engines(lambda: summarize(X, [0, 1], families=Multinomial()))
    assert plain == fast == summarize(np.array([[0.0, 3.0], [4.0, 0.0]]), [0, 1], families=Multinomial())


@pytest.mark.parametrize(
    "column",
    [
        [2**63 - 1, -(2**63), 2**63 - 1, 0],
        [2**40, 2**40 + 1, 2**40 + 1, 5],
        [0.5, 1.0, 1.5, np.nan],
        [1e300, -1e300, 0.0, 1.0],
        [-0.0, 0.0, 1.0, np.nan],
    ],
    ids=["limits", "far apart", "halves", "huge", "zeros"],
)
def test_numbers_that_cannot_be_counted_are_encoded(engines, column):
    X, y = np.array(column)[:, np.newaxis], [0, 1, 0, 1]
    frame = pd.DataFrame({0: pd.array(column, dtype=object)})
    plain, fast = engines(lambda: summarize(X, y, families=Categorical()))
    assert_same_bits(plain, fast)
    levels = BayesClassifier(Categorical()).fit(X, y).parameters_[0]["levels"]
    assert levels == BayesClassifier(Categorical()).fit(frame, y).parameters_[0]["levels"]


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i8", ">i4", ">u2", np.float16, np.longdouble])
@pytest.mark.parametrize("family", [Categorical(), Bernoulli()], ids=lambda family: family.name)
def test_numbers_in_uncommon_bytes_are_the_numbers_they_are(engines, family, dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = (rng.integers(0, 4, (60, 3)) < y[:, np.newaxis] + 1).astype(int)

    def posteriors():
        common = BayesClassifier(family).fit(X, y).predict_proba(X)  # its kernels are compiled by now
        other = BayesClassifier(family).fit(X.astype(dtype), y)
        return common, other.predict_proba(X), other.predict_proba(X.astype(dtype))

    for common, *others in engines(posteriors):
        for other in others:
            np.testing.assert_allclose(other, common, rtol=1e-12)


@pytest.mark.parametrize("family", [Normal(), Poisson()], ids=lambda family: family.name)
def test_entries_of_a_sparse_row_that_repeat_a_column_are_one_number(family):
    entries = (np.array([1.0, 2.0, 1.0, 3.0, 1.0]), np.array([1, 1, 0, 2, 0]), np.array([0, 2, 3, 5]))
    repeated = sparse.csr_array(entries, shape=(3, 3))
    once = sparse.csr_array(repeated.toarray())
    fit = BayesClassifier(family).fit
    expected = fit(once, [0, 1, 1]).predict_proba(once)
    np.testing.assert_allclose(fit(repeated, [0, 1, 1]).predict_proba(repeated), expected, rtol=1e-12)
    assert len(repeated.data) == 5


def test_a_sparse_matrix_of_long_doubles_is_counted(engines):
    X = sparse.csr_array(np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    fit, both = BayesClassifier(Multinomial()).fit, (X, X.astype(np.longdouble))
    for ours, long in engines(lambda: [fit(A, [0, 1, 1]).predict_proba(A) for A in both]):
        assert np.array_equal(ours, long)


def test_a_level_that_the_first_rows_do_not_show_is_counted(engines):
    X = np.zeros((500, 2), dtype=np.int64)
    X[499] = 400, -400
    plain, fast = engines(lambda: summarize(X, np.arange(500) % 3, families=Categorical()))
    assert_same_bits(plain, fast)
    assert [column.levels for column in fast.totals[0].columns] == [[0, 400], [-400, 0]]


@pytest.mark.parametrize("family", [Categorical(), Bernoulli(), Multinomial()])
def test_the_number_of_threads_does_not_matter_to_discrete_columns(engines, family):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(500, 7)), rng.integers(0, 4, 500)
    X = sparse.csr_array(X.astype(np.float64)) if family == Multinomial() else X
    weights, results = rng.random(500), []
    for number in (1, 2, 5):
        set_threads(number)
        _, fast = engines(lambda: BayesClassifier(family).fit(X, y, weights).predict_proba(X))
        results.append(fast)
    set_threads(None)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("family", [Categorical(unseen="error"), Bernoulli(unseen="error")])
def test_an_unseen_value_is_named_with_its_row_in_the_whole_table(engines, family):
    X = np.arange(200).reshape(100, 2) % 4 // 2
    model = BayesClassifier(family).fit(X, np.arange(100) % 3)
    strange = X.copy()
    strange[77, 1] = 9

    def refusal():
        with pytest.raises(ValueError, match=r"column 1.*9.*row 77"):
            model.predict_proba(strange)
        return True

    assert engines(refusal) == (True, True)


@pytest.mark.parametrize("family", [Categorical(), Bernoulli()])
def test_infinities_in_discrete_columns_are_refused_when_fitting_and_predicting(engines, family):
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (20, 1))
    model = BayesClassifier(family).fit(X, np.arange(40) % 2)
    X[17, 1] = np.inf

    def refusals():
        for work in (model.predict_proba, lambda cells: summarize(cells, np.arange(40) % 2, families=family)):
            with pytest.raises(ValueError, match="column 1 contains the infinite value inf at row 17"):
                work(X)
        return True

    assert engines(refusals) == (True, True)


@pytest.mark.parametrize("kind", ["levels", "strings", "outcomes", "counts"])
def test_posteriors_need_little_more_memory_than_themselves(kind, peak_memory):
    rng = np.random.default_rng(0)
    n, n_classes = 60_000, 50
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 2, (n, 40))
    families = {"levels": Categorical(), "outcomes": Bernoulli(), "counts": Multinomial()}
    if kind == "counts":
        X = sparse.csr_array(X.astype(np.float64))
    if kind == "strings":
        X = pd.DataFrame(X[:, :10]).astype(str).add_prefix("c")
    model = BayesClassifier(families.get(kind, "infer")).fit(X, y)
    posteriors = 8 * n * n_classes
    peak = peak_memory(lambda: model.predict_proba(X))
    assert peak <= posteriors + 64e6
    assert peak <= 2 * posteriors + 8e6  # nothing else grows with the rows


def test_many_classes_of_sparse_counts_need_no_table_of_memberships(peak_memory):
    rng = np.random.default_rng(0)
    n, v, n_classes = 20_000, 200, 5_000
    X = sparse.random_array((n, v), density=0.05, format="csr", rng=rng)
    X.data = np.ceil(5 * X.data)
    y = rng.integers(0, n_classes, n)
    held = summarize(X, y, families=Multinomial()).nbytes
    # Dense memberships of rows in classes would take 800 MB.
    assert peak_memory(lambda: summarize(X, y, families=Multinomial())) <= 4 * held


@pytest.mark.parametrize("alpha", [1.0, 0.25, 0.0])
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_counts_too_many_for_plain_tables_score_as_those_do(monkeypatch, alpha, as_matrix):
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.7, (60, 9)).astype(float), rng.integers(0, 4, 60)
    X[y == 3] = 0.0  # a class without counts
    X[:, 8] = 0.0  # and a column
    plain = BayesClassifier(Multinomial(alpha=alpha)).fit(as_matrix(X), y)
    expected, log_likelihood = plain.predict_proba(as_matrix(X)), plain.log_likelihood_
    monkeypatch.setattr("suffice.factors.term_scores.DENSE_BYTES", 0)
    wide = BayesClassifier(Multinomial(alpha=alpha)).fit(as_matrix(X), y)
    np.testing.assert_allclose(wide.predict_proba(as_matrix(X)), expected, rtol=1e-12, atol=1e-15)
    assert wide.log_likelihood_ == pytest.approx(log_likelihood, rel=1e-13)


def test_what_a_class_does_not_hold_takes_no_memory(peak_memory):
    rng = np.random.default_rng(0)
    n, v, n_classes = 4_000, 30_000, 1_000
    X = sparse.random_array((n, v), density=0.001, format="csr", rng=rng)
    X.data = np.ceil(5 * X.data)
    y = np.arange(n) % n_classes
    # Plain tables of classes and columns would take 240 MB each.
    assert peak_memory(lambda: BayesClassifier(Multinomial()).fit(X, y).predict_proba(X[:10])) <= 20e6


def test_many_small_batches_of_counts_are_one_fit():
    rng = np.random.default_rng(0)
    X, y = sparse.csr_array(rng.poisson(0.3, (200, 40)).astype(float)), rng.integers(0, 3, 200)
    whole = BayesClassifier(Multinomial()).fit(X, y)
    parts = BayesClassifier(Multinomial())
    for row in range(200):
        parts.partial_fit(X[[row]], y[[row]], classes=[0, 1, 2])
    assert parts.statistics_ == whole.statistics_
    left = parts.forget(X[100:], y[100:]).statistics_.totals[0].arrays()
    expected = summarize(X[:100], y[:100], families=Multinomial()).totals[0].arrays()
    for name in ("starts", "columns", "total", "support"):
        np.testing.assert_array_equal(left[name], expected[name], err_msg=name)


@pytest.mark.parametrize("n_classes", [3, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_sparse_entries_are_the_same_bits_for_few_classes_and_for_many(n_classes, weighted):
    from suffice.kernels import discrete, discrete_compiled

    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 20), density=0.2, rng=rng, format="csr")
    X.data = rng.integers(-4, 5, X.nnz) / 8
    y, weights = rng.integers(n_classes, size=300), rng.integers(1, 5, 300) / 4 if weighted else np.empty(0)
    sums = []
    for kernels in (discrete, discrete_compiled):
        sums.append(np.zeros((n_classes, 20)))
        kernels.sum_entries(X.indptr, X.indices, X.data, y, weights, sums[-1])
    by_hand = [
        ((weights[:, None] if weighted else 1.0) * X.toarray())[y == k].sum(axis=0) for k in range(n_classes)
    ]
    np.testing.assert_array_equal(sums[0], by_hand)
    np.testing.assert_array_equal(sums[1], by_hand)


@pytest.mark.parametrize("counts", [[0.0, 1.0, 5.0, 255.0], [0.0, 256.0], [0.5, 2.0], []])
def test_factorials_from_the_table_are_those_of_the_gamma_function(counts):
    from scipy.special import gammaln

    from suffice.kernels.discrete import log_factorials

    counts = np.array(counts)
    np.testing.assert_allclose(log_factorials(counts), gammaln(counts + 1.0), rtol=1e-15)


@LAW
@given(table=tables(-3, 6), seed=st.integers(0, 2**32 - 1))
def test_scores_of_steps_are_the_same_bits_and_those_of_single_cells(table, seed):
    X, rng = np.ascontiguousarray(table[0]), np.random.default_rng(seed)
    edges = [np.unique(rng.integers(-3, 7, rng.integers(0, 6))).astype(float) for _ in range(X.shape[1])]
    sizes = [len(one) + 1 for one in edges]
    first = np.cumsum([0, *sizes])[:-1].astype(np.intp)
    first[rng.random(len(first)) < 0.2] = -1
    starts = np.cumsum([0, *map(len, edges)]).astype(np.intp)
    steps = rng.normal(size=(sum(sizes), 3))
    found = []
    for kernels in (discrete, discrete_compiled):
        out = np.ones((len(X), 3))
        kernels.add_step_scores(X, np.concatenate(edges), starts, first, steps, out)
        found.append(out)
    np.testing.assert_array_equal(*found)
    for cells, scores in zip(X.astype(float), found[0], strict=True):
        expected = np.ones(3)
        for x, own, row in zip(cells, edges, first, strict=True):
            if row >= 0 and not np.isnan(x):
                expected += steps[row + np.sum(own <= x)]
        np.testing.assert_allclose(scores, expected, atol=1e-12)
