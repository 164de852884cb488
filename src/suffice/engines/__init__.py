"""Rows from anywhere: files, streams, lazy frames, databases, Dask and Spark.

`sources` finds the engine of an object; each engine is one file, which makes it a `RowSource`.
"""
