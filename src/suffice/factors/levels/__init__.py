"""Columns of categories, and numbers in bins: counts of levels."""
