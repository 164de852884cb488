"""Rows to statistics, statistics to a solved model, and what is read off it."""
