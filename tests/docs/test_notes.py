import re

import numpy as np
import pytest

PAGE = "docs/notes.md"


@pytest.fixture
def names(blocks):
    """What the page defines for its tables."""
    defined = {}
    for block in blocks(PAGE):
        block.run(defined)
    return defined


def last_cells(text, header):
    """The code in the last column of the tables with this header."""
    tables = re.findall(rf"^\| .* \| {header} \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    return re.findall(r"`([^`]+)` \|$", "".join(tables), re.MULTILINE)


def test_every_line_of_code_runs(root, names):
    lines = last_cells((root / PAGE).read_text(encoding="utf-8"), "write")
    assert len(lines) > 30
    for line in lines:
        value = eval(line, names)  # noqa: S307  the page is ours
        assert value is not None
        assert value is not False, line
        assert value is not np.False_, line


def test_every_check_of_a_slip_is_true(root, names):
    checks = last_cells((root / PAGE).read_text(encoding="utf-8"), "check")
    assert len(checks) > 10
    for check in checks:
        assert eval(check, names), check  # noqa: S307
