"""Every page is run: a new one needs no test of its own, and no block of code is forgotten."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
ROOT = Path(__file__).parents[2]
PAGES = [
    str(page.relative_to(ROOT)) for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
]
WITH_CODE = [page for page in PAGES if "```python" in (ROOT / page).read_text(encoding="utf-8")]
WITH_TESTS_OF_THEIR_OWN = {"CONTRIBUTING.md", "README.md"}
NEEDS = {"docs/export.md": ("duckdb", "onnx", "onnxruntime")}
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,}|:{3,})([^\n`]*)$", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in WITH_CODE if page not in WITH_TESTS_OF_THEIR_OWN])
def test_every_example_of_a_page_prints_what_it_shows(check_page, page):
    for module in NEEDS.get(page, ()):
        pytest.importorskip(module, reason=f"{module} is not installed")
    check_page(page)


@pytest.mark.parametrize("page", PAGES)
def test_no_block_of_code_is_left_out(root, page):
    text = (root / page).read_text(encoding="utf-8")
    opening = FENCE.findall(text)[::2]
    allowed = {"python", "text", "console"} if page == "docs/command-line.md" else {"python", "text"}
    for indent, marks, language in opening:
        assert not indent, f"{page} has an indented block, which is not run"
        assert marks == "```", f"{page} has a block that starts with {marks}, which is not run"
        assert language in allowed or re.fullmatch(r"\{(toctree|eval-rst)\}", language), language
    indented = re.findall(r"(?:^|\n\n)((?:(?: {4}|\t).*\n)+)", FENCED.sub("", text))
    assert not [block for block in indented if re.search(r"^\s*(>>>|import |from \w+ import )", block)], page


@pytest.mark.parametrize("page", PAGES)
def test_no_line_of_a_paragraph_starts_a_list(root, page):
    text = FENCED.sub("", (root / page).read_text(encoding="utf-8"))
    assert not re.findall(r"^[^\W\d].*\n\d+[.)] .*", text, re.MULTILINE), "a number at the start of a line"


def test_pages_are_found():
    assert {"README.md", "docs/guide.md", "docs/course/index.md", "docs/decisions/README.md"} <= set(PAGES)
    assert len(WITH_CODE) > 15
