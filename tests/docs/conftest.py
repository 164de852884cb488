"""Pages are programs: their Python blocks run in order, and print what the page says they print."""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FENCED = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


@dataclass
class Block:
    """A Python block of a page, with the ```text block that follows it (nothing, where none does)."""

    page: str
    line: int
    code: str
    output: str

    def run(self, names: dict[str, Any]) -> str:
        """Execute the block in these names; give what it prints."""
        printed = io.StringIO()
        # Blank lines in front, so that a traceback shows the page's own line numbers.
        source = "\n" * self.line + self.code
        with contextlib.redirect_stdout(printed):
            exec(compile(source, self.page, "exec"), names)  # noqa: S102  the pages are ours
        return printed.getvalue()


@pytest.fixture
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture
def blocks():
    """The Python blocks of a page, by its path from the root of the repository."""

    def read(page: str) -> list[Block]:
        text = (ROOT / page).read_text(encoding="utf-8")
        return [
            Block(page, text.count("\n", 0, found.start()) + 1, found["code"], found["output"] or "")
            for found in FENCED.finditer(text)
        ]

    return read


@pytest.fixture
def check_page(blocks, tmp_path, monkeypatch):
    """Run all blocks of a page, one after the other, in an empty folder, and compare what each prints."""

    def check(page: str) -> None:
        monkeypatch.chdir(tmp_path)
        names: dict[str, Any] = {"__name__": page}
        found = blocks(page)
        assert found, f"{page} has no Python blocks"
        with np.printoptions():  # a page may choose how arrays are printed
            for block in found:
                printed = block.run(names)
                assert printed == block.output, f"{page}, line {block.line}: it prints something else"

    return check
