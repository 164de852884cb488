"""Two pages at the root of the repository belong to the site too, and links lead to them there."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
PAGES = {"changelog": ROOT / "CHANGELOG.md", "contributing": ROOT / "CONTRIBUTING.md"}
HOMES = {file: DOCS / f"{name}.md" for name, file in PAGES.items()} | {ROOT / "README.md": DOCS / "index.md"}
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)")
TABLES_OF_CONTENTS = {"decisions/README": "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"}
"""Where a code host would show the directive as a block of code."""


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the text of a page in its place, with links as they are on the site."""
    here = DOCS / f"{name}.md"
    if not here.exists():  # a page of the reference, written by Sphinx
        return
    file = PAGES.get(name, here)

    def on_the_site(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(file.parent / link[0]))
        return Path(os.path.relpath(HOMES.get(target, target), here.parent)).as_posix()

    text = file.read_text(encoding="utf-8") if name in PAGES else source[0]
    source[0] = LINK.sub(on_the_site, text) + TABLES_OF_CONTENTS.get(name, "")
    app.env.note_dependency(str(file), docname=name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
