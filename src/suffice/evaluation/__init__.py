"""How good a model is: evaluations, their metrics, comparisons and learning curves.

A result and its display make each other (`plot`, `from_estimator`), so each pair shares a file.
"""
