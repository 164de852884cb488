"""Check the built site: every link leads somewhere, and nothing is loaded from elsewhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links of a page, the files it loads and the places in it that links may name."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.nested: set[str] = set()
        self.in_link = False
        self.anchors: set[str] = {"", "top"}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
            if self.in_link:
                self.nested.add(values["href"])
            self.in_link = True
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.add(values[LOADED[tag]])

    def handle_endtag(self, tag: str) -> None:
        self.in_link = self.in_link and tag != "a"


def problems(site: Path) -> list[str]:
    """Return what is wrong, one line each."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html"))}
    found = []
    for file, page in pages.items():
        where = file.relative_to(site.resolve())
        found += [
            f"{where} has a link to {link} inside another, which browsers take apart"
            for link in sorted(page.nested)
        ]
        for link in sorted(page.links | page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{where} loads {link}")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchors = pages[target].anchors if target in pages else {""}
            if not target.is_file():
                found.append(f"{where} links to {link}, which does not exist")
            elif target in pages and unquote(parts.fragment) not in anchors:
                found.append(f"{where} links to {link}, a place that the page does not have")
    return found if pages else [f"{site} has no pages"]


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    print("\n".join(lines) or "every link leads somewhere")
    sys.exit(bool(lines))
