"""Sums and scores over rows: the only loops that touch every cell."""
