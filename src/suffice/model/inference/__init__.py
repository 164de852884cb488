"""Choosing a family for each column, and how much their evidence counts."""
