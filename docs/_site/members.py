"""The reference shows methods that are ours: what scikit-learn's base classes add is documented there."""

from typing import Any

from sphinx.application import Sphinx


def skip(_app: Sphinx, _kind: str, name: str, member: Any, _skipped: bool, _options: Any) -> bool | None:
    """Leave out what starts with an underscore, and what comes from elsewhere."""
    inner = (getattr(member, attribute, None) for attribute in ("__func__", "fget", "func"))
    function = next((one for one in inner if one is not None), member)
    elsewhere = not str(getattr(function, "__module__", "")).startswith("suffice")
    linked = name == "classes_"  # by numpydoc, from the list of attributes
    return True if name.startswith("_") or (elsewhere and not linked) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
