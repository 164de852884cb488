"""Counting text with numba; imported where there is enough text to be worth it."""
