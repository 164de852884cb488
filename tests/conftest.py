import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run, so that a failure is of the change at hand; `make fuzz` draws new ones.
settings.register_profile("same examples", derandomize=True, deadline=None)
settings.register_profile("new examples", deadline=None)
settings.load_profile("same examples")


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order(request):
    """Every test starts its generators anew: what it draws does not depend on the tests before it."""
    for name, value in vars(request.module).items():
        if isinstance(value, np.random.Generator):
            setattr(request.module, name, np.random.default_rng(0))


@pytest.fixture(autouse=True)
def no_figure_is_left():
    """Every test closes the figures it drew: matplotlib warns of many open ones, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def peak_memory():
    """The most memory that some work needs; the least of three runs, for other threads allocate too."""

    def once(work):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return lambda work, runs=3: min(once(work) for _ in range(runs))
