"""The settings a model was fitted with: copies, so that a fitted model depends on nothing outside.

`get_params` returns the very objects that the constructor got, as scikit-learn's `clone` expects. Their owner
may change such a list, dict or array later, and a model may be solved or saved long after it was fitted.
Files hold the copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableSequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import replace
from functools import wraps
from typing import Any, Self, TypeVar, cast

from suffice.families import Family
from suffice.model.columns.saved import schema_from_fields, state_of_schema
from suffice.model.columns.schema import Schema
from suffice.storage import Fields, Setting

Kept = dict[str, tuple[Any, Any]]
"""For each setting the object that was passed, and its copy."""
Method = TypeVar("Method", bound=Callable[..., Any])
LATER_SETTINGS = {
    "posterior": "plug-in",
    "columns": None,
    "missing_marks": None,
    "alpha": None,
    "class_weight": None,
    "evidence_weight": None,
    "missing": "ignore",
    "bound": None,
}
"""Settings that older files lack, and their defaults, with which files are as they were."""
NESTED = "families__"
"""How the settings of a single family begin among those of its estimator."""


class KeepsSettings:
    """An estimator that remembers its settings as they were when it was fitted."""

    get_params: Callable[..., dict[str, Any]]
    _kept: Kept
    """Absent before fitting."""

    def _keep_settings(self, *, afresh: bool = True) -> None:
        """Copy the settings; unless `afresh`, a setting that is the same object as before keeps its copy."""
        self._kept = keep(self.get_params(deep=False), {} if afresh else vars(self).get("_kept", {}))

    def _as_fitted(self) -> Self:
        """The estimator with the settings it was fitted with; itself before fitting, or if it has them."""
        if "_kept" not in vars(self) or "_copy_of" in vars(self):
            return self
        twin = type(self).__new__(type(self))
        copies = {name: copy for name, (_, copy) in self._kept.items()}
        twin.__dict__ = {"_copy_of": self} | vars(self) | copies
        return twin


class NestedFamily:
    """An estimator whose `families`, if one family, has settings with names such as families__alpha."""

    families: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add those of `families`, if it is one family, and of nested estimators.

        Returns
        -------
        settings : dict
        """
        settings: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        family = settings.get("families")
        if deep and isinstance(family, Family):
            settings |= {f"{NESTED}{name}": value for name, value in family.settings().items()}
        return settings

    def set_params(self, **params: Any) -> Self:
        """Change settings; those of a single family make another one of it.

        Parameters
        ----------
        **params : dict
            The settings by name.

        Returns
        -------
        self : object
        """
        nested = {name: value for name, value in params.items() if name.startswith(NESTED)}
        super().set_params(**{name: params[name] for name in params if name not in nested})  # type: ignore[misc]
        if nested:
            self.families = self._with_settings(nested)
        return self

    def _with_settings(self, nested: dict[str, Any]) -> Family:
        """The family of all columns with other settings."""
        family = vars(self).get("families")
        if not isinstance(family, Family):
            raise TypeError(
                f"{min(nested)} needs a single family as families=, such as Categorical(), got {family!r}."
            )
        given = {name.removeprefix(NESTED): value for name, value in nested.items()}
        known = family.settings()
        for name in given:
            if name not in known:
                raise ValueError(f"{family.name} has no setting {name!r}; it has {', '.join(known)}.")
        return replace(family, **given)


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
    if value is None or isinstance(value, (str, int, float)):
        return value
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
        name: state_of_schema(value) if isinstance(value, Schema) else Setting(value)
        for name, value in settings.items()
        if name not in LATER_SETTINGS or not _is_default(value, LATER_SETTINGS[name])
    }


def settings_from_fields(names: list[str], fields: Fields) -> dict[str, Any]:
    """Restore constructor arguments of these names; those that the file may lack keep their defaults."""
    held = [name for name in names if name not in LATER_SETTINGS or name in fields]
    fields.require(held)
    return {
        name: schema_from_fields(fields.branch(name)) if fields.is_branch(name) else fields.setting(name)
        for name in held
    }


def _is_default(value: Any, default: Any) -> bool:
    return isinstance(value, type(default)) and value == default  # an array has no single answer
