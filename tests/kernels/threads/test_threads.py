"""One pool: ordered, nestable, safe after a fork, and honest about failures."""

import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from suffice.kernels.threads import _Pool, run, set_threads, threads


@pytest.fixture(autouse=True)
def _default_threads_afterwards():
    yield
    set_threads(None)


@pytest.mark.parametrize("n", [1, 2, 16])
def test_results_come_in_the_order_of_the_parts(n):
    set_threads(n)

    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0)
        return i * i

    assert run(slow_first, range(40)) == [i * i for i in range(40)]


def test_parts_run_side_by_side():
    set_threads(4)
    together = threading.Barrier(4, timeout=10)
    assert sorted(run(lambda _: together.wait(), range(4))) == [0, 1, 2, 3]


def test_one_part_runs_in_the_calling_thread():
    set_threads(4)
    assert run(lambda _: threading.current_thread(), [0]) == [threading.current_thread()]
    assert run(abs, []) == []


def test_a_number_of_threads_may_come_from_an_array():
    set_threads(np.int64(3))
    assert threads() == 3


def test_nested_calls_do_not_wait_for_each_other():
    set_threads(2)
    nested = run(lambda i: sum(run(lambda j: sum(run(lambda k: i + j + k, range(3))), range(8))), range(8))
    assert nested == [sum(i + j + k for j in range(8) for k in range(3)) for i in range(8)]


def test_many_threads_may_use_the_pool_at_once_while_its_size_changes():
    results = []

    def user(n):
        set_threads(2 + n % 3)
        results.append(run(lambda i: i + n, range(50)) == list(range(n, 50 + n)))

    users = [threading.Thread(target=user, args=(n,)) for n in range(16)]
    for one in users:
        one.start()
    for one in users:
        one.join(timeout=30)
    assert results == [True] * 16


def test_the_first_failure_is_raised_and_parts_that_have_not_begun_are_dropped():
    set_threads(2)
    begun = []

    def fails(i):
        begun.append(i)
        time.sleep(0.01)
        raise KeyError(i)

    with pytest.raises(KeyError) as failure:
        run(fails, range(200))
    assert failure.value.args[0] in {0, 1}
    assert len(begun) < 100


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot signal a thread")
def test_an_interrupt_waits_for_what_runs_drops_the_rest_and_is_raised():
    set_threads(2)
    begun, ended = [], []

    def part(i):
        begun.append(i)
        if i == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.1)
        ended.append(i)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            run(part, range(100))
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_makes_a_pool_of_its_own():
    set_threads(2)
    run(abs, [-1, -2, -3])
    child = os.fork()
    if child == 0:
        os._exit(0 if run(abs, [-1, -2, -3]) == [1, 2, 3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run(abs, [-4, -5]) == [4, 5]


def test_the_pool_still_works_in_handlers_that_run_at_exit():
    program = (
        "import atexit; from suffice.kernels.threads import run, set_threads;"
        "set_threads(2); run(abs, [-1, -2]); atexit.register(lambda: print(run(abs, [-3, -4])))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 — our own program
    assert done.stdout.strip() == "[3, 4]"


@pytest.mark.parametrize(
    "n, error", [(0, ValueError), (-1, ValueError), ("2", TypeError), (True, TypeError), (2.0, TypeError)]
)
def test_a_number_of_threads_that_makes_no_sense_is_refused(n, error):
    with pytest.raises(error, match="number of threads must be"):
        set_threads(n)


def test_the_environment_chooses_unless_the_program_does(monkeypatch):
    monkeypatch.setenv("SUFFICE_THREADS", "3")
    assert threads() == 3
    set_threads(5)
    assert threads() == 5
    set_threads(None)
    monkeypatch.setenv("SUFFICE_THREADS", "many")
    with pytest.raises(ValueError, match="SUFFICE_THREADS must be a positive integer or unset, not 'many'"):
        threads()
    monkeypatch.delenv("SUFFICE_THREADS")
    assert threads() >= 1


def test_a_finished_job_is_let_go_of_although_a_worker_comes_late(monkeypatch):
    """Rows would stay in memory until the next job."""
    late = []

    def submit(_pool, job, n):
        late.extend([job.work] * n)
        late.pop()()

    monkeypatch.setattr(_Pool, "submit", submit)
    set_threads(2)
    rows = np.zeros(3)
    left = weakref.ref(rows)
    assert run(lambda _, rows=rows: rows.sum(), [0, 1]) == [0.0, 0.0]
    del rows
    assert left() is None
    late.pop()()
