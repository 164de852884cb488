"""Exact references are computed with 90 digits."""

import pytest
from mpmath import mp


@pytest.fixture(autouse=True)
def _many_digits():
    with mp.workdps(90):
        yield
