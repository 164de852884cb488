"""The settings a model was fitted with: copies, so that a fitted model depends on nothing outside.

`get_params` returns the very objects that the constructor got, as scikit-learn's `clone` expects. Their owner
may change such a list, dict or array later, and a model may be solved or saved long after it was fitted.
Files hold the copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableSequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from functools import wraps
from typing import Any, Self, TypeVar, cast

from suffice.model.schema import Schema
from suffice.storage import Fields, Setting

Kept = dict[str, tuple[Any, Any]]
"""For each setting the object that was passed, and its copy."""
Method = TypeVar("Method", bound=Callable[..., Any])
LATER_SETTINGS = {"posterior": "plug-in", "columns": None, "missing_marks": None, "bound": None}
"""Settings that older files lack, and their defaults, with which files are as they were."""


class KeepsSettings:
    """An estimator that remembers its settings as they were when it was fitted."""

    get_params: Callable[..., dict[str, Any]]
    _kept: Kept
    """Absent before fitting."""

    def _keep_settings(self, *, afresh: bool = True) -> None:
        """Copy the settings; unless `afresh`, a setting that is the same object as before keeps its copy."""
        self._kept = keep(self.get_params(deep=False), {} if afresh else vars(self).get("_kept", {}))

    def _as_fitted(self) -> Self:
        """The estimator with the settings it was fitted with, or itself before fitting."""
        if "_kept" not in vars(self):
            return self
        twin = type(self).__new__(type(self))
        copies = {name: copy for name, (_, copy) in self._kept.items()}
        twin.__dict__ = {"_copy_of": self} | vars(self) | copies
        return twin


def with_kept_settings(method: Method) -> Method:
    """Let a method read the settings that its estimator was fitted with."""

    @wraps(method)
    def as_fitted(self: KeepsSettings, *args: Any, **named: Any) -> Any:
        return method(self._as_fitted(), *args, **named)

    return cast("Method", as_fitted)


def keep(given: dict[str, Any], former: Kept) -> Kept:
    """Copy settings, except those that are the same objects as before."""
    return {
        name: former[name] if name in former and former[name][0] is value else (value, copied(value))
        for name, value in given.items()
    }


def copied(value: Any) -> Any:
    """A copy of a setting that its owner could change; functions, families and models stay as they are."""
    if isinstance(value, Mapping):
        return {key: copied(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(copied, value)) if type(value) in (list, tuple) else deepcopy(value)
    if isinstance(value, AbstractSet):
        return type(value)(value) if isinstance(value, (set, frozenset)) else set(value)
    if isinstance(value, MutableSequence) or hasattr(value, "__array__"):
        return deepcopy(value)
    return value


def state_of_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor arguments, as a file holds them; a schema passed as `families` is a branch of its own."""
    return {
        name: value._to_fields() if isinstance(value, Schema) else Setting(value)
        for name, value in settings.items()
        if name not in LATER_SETTINGS or not _is_default(value, LATER_SETTINGS[name])
    }


def settings_from_fields(names: list[str], fields: Fields) -> dict[str, Any]:
    """Restore constructor arguments of these names; those that the file may lack keep their defaults."""
    held = [name for name in names if name not in LATER_SETTINGS or name in fields]
    fields.require(held)
    return {
        name: Schema._from_fields(fields.branch(name)) if fields.is_branch(name) else fields.setting(name)
        for name in held
    }


def _is_default(value: Any, default: Any) -> bool:
    return isinstance(value, type(default)) and value == default  # an array has no single answer
