import re

import pytest

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/guide.md",
    "docs/evidence.md",
    "docs/decisions/0038-weighing-the-evidence.md",
    "docs/families.md",
    "docs/notes.md",
    "docs/discriminants.md",
    "docs/dropin.md",
    "docs/figures.md",
    "docs/plots.md",
    "docs/report.md",
    "docs/export.md",
    "docs/regression.md",
    "docs/deciding.md",
    "docs/cross-validation.md",
    "docs/text.md",
]


def anchors(text):
    """The headings of a page as its links name them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(root, page):
    text = (root / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    for link in links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (root / page).parent / path if path else root / page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link
