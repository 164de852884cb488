"""Columns with one value that repeats, and a family for the rest."""
