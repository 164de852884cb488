"""Rows in, sums out: how tables of every kind are read."""
