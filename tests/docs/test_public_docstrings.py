"""Everything that users reach is documented as users of scikit-learn expect."""

import inspect
import re
from collections import Counter
from dataclasses import is_dataclass

import pytest

import suffice
from suffice import dropin, families, links, plots, testing
from suffice.estimators.gaussian import Boundary
from suffice.estimators.regression.summary import Summary
from suffice.factors import Regularized
from suffice.model.columns.schema import Column, Schema
from suffice.model.explaining.column_evidence import ColumnEvidence
from suffice.model.explaining.explanation import Explanation
from suffice.model.explaining.text_explanation import TextExplanation
from suffice.model.solved.linear_form import LinearForm, NaturalParameters
from suffice.model.solved.parameters import Parameters

RESULTS = [Schema, Column, Explanation, TextExplanation, ColumnEvidence, Boundary, Summary, Regularized]
RESULTS += [LinearForm, NaturalParameters, Parameters]
RESULTS.append(inspect.getmodule(suffice.adapt_priors).PriorShift)
SPACES = (suffice, families, links, plots, dropin, testing)
TITLE = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def sections(docstring):
    """The text under each title of a docstring."""
    parts = TITLE.split(docstring)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names_in(section):
    """What a section describes: the lines that are not indented, before their colon."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def is_ours(thing):
    return getattr(thing, "__module__", "").split(".")[0] == "suffice"


def names_of(module):
    """The names that a module exports, or has that do not begin with an underscore."""
    return getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def public_classes_and_functions():
    found = [getattr(space, name) for space in SPACES for name in names_of(space)]
    return dict.fromkeys(thing for thing in [*found, *RESULTS] if callable(thing) and is_ours(thing))


def members(cls):
    """The public methods and properties of a class, each with the class that it is written in."""
    for owner in filter(is_ours, cls.__mro__):
        for name, member in vars(owner).items():
            if not name.startswith("_") and not inspect.isclass(member) and _is_documentable(member):
                yield owner, name, member


def _is_documentable(member):
    plain = getattr(member, "__func__", member)
    return inspect.isfunction(plain) or isinstance(plain, property) or hasattr(plain, "attrname")


def subjects():
    found = {}
    for thing in public_classes_and_functions():
        found[f"{thing.__module__}.{thing.__qualname__}"] = (thing, None)
        for owner, name, member in members(thing) if inspect.isclass(thing) else ():
            found.setdefault(f"{owner.__module__}.{owner.__qualname__}.{name}", (member, owner))
    return found


SUBJECTS = subjects()
CLASSES = [thing for thing, _ in SUBJECTS.values() if inspect.isclass(thing)]


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_is_public_is_documented(name):
    thing, owner = SUBJECTS[name]
    if inspect.isclass(thing):
        problems = problems_of_class(thing)
    elif owner is not None and not hasattr(thing, "__func__") and not inspect.isfunction(thing):
        problems = [] if inspect.getdoc(thing) else ["has no docstring"]
    else:
        problems = problems_of_function(getattr(thing, "__func__", thing), owner)
    assert not problems, f"{name} {'; '.join(problems)}."


def test_every_public_name_has_one_entry_in_the_reference(root):
    page = (root / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    entries = Counter(re.findall(r"^   (suffice[\w.]+)$", page, re.MULTILINE))
    public = {f"{space.__name__}.{name}" for space in SPACES for name in names_of(space)}
    results = {f"{result.__module__}.{result.__qualname__}" for result in RESULTS}
    assert set(entries) == public - {space.__name__ for space in SPACES} | results
    assert max(entries.values()) == 1


def problems_of_class(cls):
    if not cls.__doc__ or issubclass(cls, Exception):
        return [] if cls.__doc__ else ["has no docstring"]
    said = sections(inspect.cleandoc(cls.__doc__))
    problems = [] if "Examples" in said else ["has no Examples"]
    bases = [base for base in cls.__mro__[1:] if base in CLASSES]  # they say what they have themselves
    written_here = [
        member for _, name, member in members(cls) if not any(hasattr(base, name) for base in bases)
    ]
    has_fields = is_dataclass(cls) and "Parameters" not in said
    has_properties = any(isinstance(member, property) for member in written_here)
    if (has_fields or has_properties) and "Attributes" not in said:
        problems.append("has no Attributes")
    named = names_in(said.get("Parameters", "") + said.get("Attributes", ""))
    return problems + missing(inspect.signature(cls).parameters, named)


def problems_of_function(function, owner):
    own = function.__doc__
    if owner is not None and (not own or is_family(owner)):  # an override may leave it to what it overrides
        inherited = [
            vars(base)[function.__name__] for base in owner.__mro__ if function.__name__ in vars(base)
        ]
        own = next((doc for one in reversed(inherited) if (doc := getattr(one, "__doc__", None))), own)
    if not own:
        return ["has no docstring"]
    said, signature = sections(inspect.cleandoc(own)), inspect.signature(function)
    parameters = [name for name in signature.parameters if name not in ("self", "cls")]
    problems = missing(parameters, names_in(said.get("Parameters", "")))
    returns = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    return problems + (["has no Returns"] if returns and "Returns" not in said else [])


def is_family(cls):
    """Whether the docstrings of overriding methods are formulas: the base class says the rest."""
    return issubclass(cls, families.Family)


def missing(parameters, named):
    left = [name for name in parameters if name not in named and not name.startswith("_")]
    return [f"does not describe {', '.join(left)}"] if left else []
