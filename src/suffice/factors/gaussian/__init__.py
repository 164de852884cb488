"""A block of columns that are Gaussian together."""
