import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run, so that a failure is of the change at hand; `make fuzz` draws new ones.
settings.register_profile("same examples", derandomize=True, deadline=None)
settings.register_profile("new examples", deadline=None)
settings.load_profile("same examples")


TOGETHER = {
    "tests/engines/test_spark.py": "Spark",
    "tests/engines/test_dask.py": "Dask",
    "tests/engines/test_workers.py": "Dask",
}
"""Files whose tests run in one process, which starts the engine once. The mark xdist_group would say so, but
has no effect with pytest 9.2 and xdist 3.8: it changes the identifiers of tests, which are now fixed."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give out tests one by one, but those of an engine together, and first, for they take longest."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class EnginesOnce(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return TOGETHER.get(nodeid.partition("::")[0], nodeid)

        def mark_test_complete(self, node, item_index, duration=0):
            super().mark_test_complete(node, item_index, duration)
            # It counts all it ever gave out after every test: what is done is forgotten.
            given = self.assigned_work[node]
            scope = self._split_scope(self.registered_collections[node][item_index])
            if all(given[scope].values()):
                del given[scope]

    return EnginesOnce(config, log)


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
