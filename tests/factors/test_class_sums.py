"""Sparse rows summed by class: the same bits compiled or not, in one run of classes or in many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import gammaln

from suffice import BayesClassifier
from suffice.factors import class_sums
from suffice.factors.class_sums import RowSums, SparseRows
from suffice.families import Multinomial
from suffice.kernels import discrete

pytest.importorskip("numba", reason="numba has no wheels for this machine")
from suffice.kernels import discrete_compiled


@st.composite
def labelled_rows(draw):
    """Rows of counts, some of them with a gap, or empty; of few or many classes; columns at most once."""
    n, n_columns = draw(st.integers(0, 30)), draw(st.sampled_from([1, 5, 200]))
    n_classes = draw(st.sampled_from([1, 3, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    held = rng.random((n, n_columns)) < draw(st.sampled_from([0.02, 0.5]))
    starts = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    columns = np.nonzero(held)[1].astype(np.int32)
    x = rng.integers(0, 4, len(columns)).astype(draw(st.sampled_from([np.int32, np.float64])))
    if x.dtype.kind == "f":
        x *= rng.random(len(x))
        x[rng.random(len(x)) < 0.03] = np.nan
    weights = rng.random(n) if draw(st.booleans()) else None
    return SparseRows(starts, columns, x, n_columns), rng.integers(0, n_classes, n), weights, n_classes


def plain_sums(rows, classes, weights, n_classes):
    """Σw·x, the rows with x > 0 and Σw·[x > 0] in plain tables, and the rows of each class, one by one."""
    tables = np.zeros((3, n_classes, rows.n_columns))
    own = np.zeros((2, n_classes))
    for i, k in enumerate(classes.tolist()):
        mine = slice(rows.starts[i], rows.starts[i + 1])
        w = 1.0 if weights is None else weights[i]
        if np.isnan(rows.x[mine]).any():
            continue
        own[:, k] += w, 1
        for j, x in zip(rows.columns[mine], rows.x[mine], strict=True):
            tables[:, k, j] += w * x, x > 0, w * (x > 0)
    return tables, own


@pytest.mark.parametrize("kernels", [discrete, discrete_compiled], ids=["NumPy", "numba"])
@pytest.mark.parametrize("of_words", [False, True], ids=["counts", "words"])
@pytest.mark.parametrize("n_runs", [1, 16])
def test_the_sums_are_those_of_one_row_after_the_other(kernels, of_words, n_runs):
    @settings(max_examples=60, deadline=None, database=None)
    @given(labelled_rows())
    def check(labelled):
        rows, classes, weights, n_classes = labelled
        tables, own = plain_sums(*labelled)
        row_sums = RowSums(np.zeros(n_classes), np.zeros(n_classes, np.int64), np.zeros(n_classes))
        more = {"of_words": True} if of_words else {"row_sums": row_sums}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(class_sums, "discrete_for", lambda _: kernels)
            patch.setattr(class_sums, "RUNS", n_runs)
            patch.setattr(class_sums, "ENTRIES_PER_RUN", 1)
            found = class_sums.class_sums(rows, classes, weights, n_classes, **more)
        names = ("total", "support", "present") if of_words else ("total", "support")
        for name, table in zip(names, tables, strict=False):
            table[tables[1] == 0] = 0.0  # what no row holds is not kept
            dense = found.table(getattr(found, name), n_classes, rows.n_columns)
            np.testing.assert_array_equal(dense, table, err_msg=name)
        assert found.are_positive()
        assert (np.diff(found.keys()) > 0).all()
        if not of_words:
            np.testing.assert_allclose(row_sums.weight, own[0], rtol=1e-14)
            np.testing.assert_array_equal(row_sums.rows, own[1])

    check()


def test_wide_rows_are_summed_in_few_runs_so_that_memory_stays_bounded():
    filled = np.arange(1001) * 10_000
    assert len(class_sums._runs(filled, 1000)) == class_sums.RUNS
    assert len(class_sums._runs(filled, 10**6)) <= 5
    assert class_sums._runs(filled, 10**9) == [(0, 1000)]


@pytest.mark.parametrize("classes", [[0], [1], [2], [0, 2]])
def test_few_entries_are_summed_in_one_run_whichever_classes_have_rows(classes, monkeypatch):
    run, parts = class_sums.threads.run, []
    monkeypatch.setattr(class_sums.threads, "run", lambda f, runs: run(f, parts.extend(runs) or runs))
    n = len(classes)
    rows = SparseRows(np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), 5)
    class_sums.class_sums(rows, np.array(classes), None, 3)
    assert len(parts) == 1


@pytest.mark.parametrize("most", [1, 3, 255, 256, 10**9])
@pytest.mark.parametrize("of_words", [False, True], ids=["counts", "words"])
@pytest.mark.parametrize("zeros", [False, True], ids=["", "stored zeros"])
def test_whole_counts_of_few_classes_are_summed_exactly_in_parts(most, of_words, zeros, monkeypatch):
    monkeypatch.setattr(class_sums, "ENTRIES_PER_PART", 64)
    monkeypatch.setattr(discrete, "ENTRIES_IN_CACHE", 16)
    rng = np.random.default_rng(0)
    held = rng.random((200, 7)) < 0.4
    starts = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    x = rng.integers(0 if zeros else 1, most, int(starts[-1]), endpoint=True).astype(np.float64)
    rows = SparseRows(starts, np.nonzero(held)[1].astype(np.int32), x, 7)
    classes = rng.integers(0, 3, 200)
    tables, own = plain_sums(rows, classes, None, 3)
    sums = RowSums(np.zeros(3), np.zeros(3, np.int64), np.zeros(3))
    found = class_sums.class_sums(rows, classes, None, 3, row_sums=sums, of_words=of_words)
    np.testing.assert_array_equal(found.table(found.total, 3, 7), np.where(tables[1] > 0, tables[0], 0.0))
    np.testing.assert_array_equal(found.table(found.support, 3, 7), tables[1])
    np.testing.assert_array_equal(sums.rows, own[1])
    dense = np.zeros((200, 7))
    dense[held] = x
    base = gammaln(dense.sum(axis=1) + 1.0) - gammaln(dense + 1.0).sum(axis=1)
    np.testing.assert_allclose(sums.base, np.bincount(classes, base), rtol=1e-13)


@pytest.mark.parametrize("odd", [-1.0, 0.5, -0.5, 256.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weights", [None, np.ones(6)], ids=["", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 40], ids=["in tables", "class by class"])
def test_a_check_is_made_before_anything_but_small_whole_numbers_is_summed(odd, weights, n_classes):
    def refuse():
        raise ValueError("not a count")

    x = np.array([1.0, 2.0, 3.0, 255.0, 1.0, 1.0])
    rows = SparseRows(np.arange(7), np.zeros(6, np.int32), x, 1)
    classes = np.array([0, 1, 0, 1, 0, 1])
    if n_classes == 2:
        found = class_sums.class_sums(rows, classes, weights, n_classes, check=refuse)
        np.testing.assert_array_equal(found.total, [5.0, 258.0])
    x[4] = odd
    with pytest.raises(ValueError, match="not a count"):
        class_sums.class_sums(rows, classes, weights, n_classes, check=refuse)


@pytest.mark.parametrize("kernels", [discrete, discrete_compiled], ids=["NumPy", "numba"])
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_in_their_order_have_the_same_posteriors_and_another_likelihood(kernels, weighted, monkeypatch):
    monkeypatch.setattr(class_sums, "discrete_for", lambda _: kernels)
    monkeypatch.setattr("suffice.factors.counts.totals.discrete_for", lambda _: kernels)
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 7)).astype(np.float64), rng.integers(3, size=60)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    log_orders = gammaln(X.sum(axis=1) + 1.0) - gammaln(X + 1.0).sum(axis=1)
    for held in (np.asarray, sparse.csr_array):
        counts, draws = (
            BayesClassifier(Multinomial(in_order=in_order)).fit(held(X), y, sample_weight=weights)
            for in_order in (False, True)
        )
        np.testing.assert_allclose(draws.predict_proba(held(X)), counts.predict_proba(held(X)), rtol=1e-12)
        apart = counts.score_samples(held(X)) - draws.score_samples(held(X))
        np.testing.assert_allclose(apart, log_orders, atol=1e-12)
        np.testing.assert_allclose(
            counts.log_likelihood_ - draws.log_likelihood_, weights @ log_orders, rtol=1e-12
        )
        explained = draws.explain(held(X)).total
        np.testing.assert_allclose(explained, draws.predict_joint_log_proba(held(X)), rtol=1e-12)
        rest = draws.forget(held(X[:20]), y[:20], sample_weight=weights[:20])
        wanted = BayesClassifier(Multinomial(in_order=True)).fit(
            held(X[20:]), y[20:], sample_weight=weights[20:]
        )
        assert rest.statistics_.isclose(wanted.statistics_, 1e-9)


def test_in_order_is_true_or_false():
    with pytest.raises(TypeError, match="in_order must be True or False, got 1"):
        Multinomial(in_order=1)
