import sys

import pytest


@pytest.fixture(autouse=True)
def no_figure_is_left():
    """Every test closes the figures it drew: matplotlib warns of many open ones, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
