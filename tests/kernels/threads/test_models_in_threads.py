"""Models in many threads, in forked and fresh processes, and interrupted: nothing hangs or is half done."""

import _thread
import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info

from suffice import BayesClassifier, GaussianDiscriminant
from suffice.families import Normal
from suffice.kernels import choose as choice
from suffice.kernels.threads import one_thread_per_product, run

ROWS = 60_000
"""Enough for several parts."""
WORTH_COMPILING = 1 << 21
"""Rows that are worth it here, in every process, so that compiled kernels are tested too."""


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "WORTH_COMPILING", WORTH_COMPILING)
        yield


def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, ROWS)
    return rng.normal(size=(ROWS, 40)) + y[:, np.newaxis], y


def posteriors(number):
    choice.WORTH_COMPILING = WORTH_COMPILING  # a fresh process does not know it yet
    X, y = data()
    model = BayesClassifier(Normal()) if number % 2 else GaussianDiscriminant("full")
    return model.fit(X, y).predict_proba(X[:1000])


@pytest.fixture(scope="module")
def expected():
    return [posteriors(0), posteriors(1)]


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_sixteen_threads_at_once(expected):
    before = blas_threads()
    results = [None] * 16
    barrier = threading.Barrier(16)

    def work(number):
        barrier.wait()
        results[number] = posteriors(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number % 2])
    assert blas_threads() == before


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(expected, backend):
    results = Parallel(n_jobs=2, backend=backend)(delayed(posteriors)(number) for number in range(4))
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number % 2])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_use(expected):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(posteriors, range(4)).get(120)
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected[number % 2])


def test_products_have_their_threads_back_after_a_failure():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_thread_per_product(), one_thread_per_product():
        run(lambda part: part / 0, [1, 2, 3])
    assert blas_threads() == before


@pytest.mark.parametrize("model", [BayesClassifier(Normal()), GaussianDiscriminant("full")])
def test_an_interrupted_fit_leaves_the_model_as_it_was(model, monkeypatch, request):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    X, y = data()
    model.fit(X[:500], y[:500])
    fitted = model.statistics_
    kernels = choice.gaussian_for(X.size)
    name = "grouped" if isinstance(model, GaussianDiscriminant) else "complete_sums"
    original = getattr(kernels, name)
    calls = []

    def interrupting(*arguments):
        calls.append(name)
        if len(calls) == 2:
            _thread.interrupt_main()
        return original(*arguments)

    for deed in (model.fit, model.partial_fit):
        calls.clear()
        monkeypatch.setattr(kernels, name, interrupting)
        with pytest.raises(KeyboardInterrupt):
            deed(X, y)
        monkeypatch.undo()
        assert model.statistics_ == fitted
    monkeypatch.undo()
    assert np.isfinite(model.predict_proba(X)).all()
