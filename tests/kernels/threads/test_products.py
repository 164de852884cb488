"""Matrix products run in one thread while blocks of rows run side by side, and as before afterwards."""

import os
from contextlib import ExitStack
from multiprocessing import get_context

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from suffice.kernels.threads import one_thread_per_product


def product_threads():
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        before = product_threads()
        if 2 not in before:
            pytest.skip("this BLAS has no threads to limit")
        yield before


def test_products_have_one_thread_inside_and_theirs_again_outside(two_threads):
    with one_thread_per_product():
        assert set(product_threads()) == {1}
    assert product_threads() == two_threads


def test_one_that_began_first_and_ends_first_does_not_lift_the_limit_of_the_other(two_threads):
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_thread_per_product())
    second.enter_context(one_thread_per_product())
    first.close()
    assert set(product_threads()) == {1}
    second.close()
    assert product_threads() == two_threads


def test_a_failure_inside_puts_the_threads_back(two_threads):
    with pytest.raises(RuntimeError), one_thread_per_product():
        raise RuntimeError
    assert product_threads() == two_threads


def _tell(queue):
    with one_thread_per_product():
        inside = product_threads()
    queue.put((inside, product_threads()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_inside_is_not_limited_for_ever(two_threads):
    context = get_context("fork")
    queue = context.SimpleQueue()
    with one_thread_per_product():
        child = context.Process(target=_tell, args=(queue,))
        child.start()
        child.join()
    inside, afterwards = queue.get()
    assert set(inside) == {1}
    assert afterwards == two_threads
