"""The examples in docstrings run and give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import suffice

HOME = Path(suffice.__file__).parent
MODULES = [
    ".".join(["suffice", *path.relative_to(HOME).with_suffix("").parts])
    for path in sorted(HOME.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_a_module(module):
    done = doctest.testmod(import_module(module))
    assert done.attempted > 0
    assert done.failed == 0
