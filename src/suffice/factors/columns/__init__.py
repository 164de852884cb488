"""Families of one column each, independent given the class."""
