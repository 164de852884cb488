import sys
import types

import pytest


@pytest.fixture
def names():
    """The names of a module that exists, as dataclasses expect of the one they are written in."""
    module = types.ModuleType("rayleigh")
    sys.modules[module.__name__] = module
    yield module.__dict__
    del sys.modules[module.__name__]


def test_the_worked_family_passes_its_checks_and_is_used_as_shown(blocks, names):
    family, check, use, own = blocks("CONTRIBUTING.md")
    assert "check_family(Rayleigh()" in check.code
    assert "check_family(Weibull(2.5)" in own.code
    for block in (family, check, use, own):
        assert block.run(names) == block.output


def test_the_worked_family_is_of_sixty_lines_at_most(blocks):
    family, *_ = blocks("CONTRIBUTING.md")
    assert len(family.code.splitlines()) <= 60
