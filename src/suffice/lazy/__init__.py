"""Names that are imported at first use."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def names_of(module: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which imports each name from the module it lives in, or is.

    The module lists these names in `dir`.
    """

    def get(name: str) -> Any:
        if name not in homes:
            known = ", ".join(homes)
            raise AttributeError(f"module {module!r} has no attribute {name!r}; it has {known}.")
        home = _imported(homes[name])
        value = home if homes[name] == f"{module}.{name}" else getattr(home, name)
        setattr(sys.modules[module], name, value)
        return value

    vars(sys.modules[module])["__dir__"] = lambda: [*homes]
    return get


def _imported(module: str) -> ModuleType:
    """A module, imported without collecting garbage on the way: there is none, and looking takes long."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if collects:
            gc.enable()
