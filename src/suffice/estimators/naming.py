"""Errors of wrong calls that name the class they were made on."""

from __future__ import annotations

from functools import update_wrapper
from inspect import getattr_static
from types import FunctionType
from typing import Any


class NamesItself:
    """Methods that a class inherits, called with wrong arguments, are reported under its own name.

    Python names the class where a method was written, which users of the class need not know.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in dir(cls):
            method = getattr_static(cls, name)
            if name not in vars(cls) and isinstance(method, FunctionType) and _is_ours(name, method):
                setattr(cls, name, _renamed(method, f"{cls.__qualname__}.{name}"))


def _is_ours(name: str, method: FunctionType) -> bool:
    """Whether users call the method, and this library wrote it."""
    is_called = name == "__init__" or not name.startswith("_")
    return is_called and method.__module__.startswith("suffice.")


def _renamed(method: FunctionType, title: str) -> FunctionType:
    """The same function under another name."""
    function = FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__
    )
    update_wrapper(function, method)
    function.__kwdefaults__ = method.__kwdefaults__
    function.__qualname__ = title
    del vars(function)["__wrapped__"]  # it wraps nothing: the code is the same
    return function
