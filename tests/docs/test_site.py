"""What the site is built from. `make docs` builds it, and checks its links."""

import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document


@pytest.fixture
def of_the_site(root, monkeypatch):
    """A module of the site by its name."""
    monkeypatch.syspath_prepend(str(root / "docs" / "_site"))
    return importlib.import_module


def test_every_page_is_in_a_table_of_contents(root):
    listed = set()
    for page in (root / "docs").rglob("*.md"):
        for entries in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            for entry in re.findall(r"^[^:\s].*$", entries, re.MULTILINE):
                listed.update(page.parent.glob(f"{entry}.md"))
    decisions = set((root / "docs" / "decisions").glob("0*.md"))
    pages = set((root / "docs").rglob("*.md")) - decisions
    assert pages - listed == {root / "docs" / "index.md"}


def test_the_front_page_calls_pages_by_their_titles(root):
    front = (root / "docs" / "index.md").read_text(encoding="utf-8")
    table = front.partition("## Where to go")[2]
    titles = {root / "docs" / "changelog.md": "Changelog"}  # the page is at the root
    links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", table)
    assert len(links) == 8
    for words, link in links:
        page = root / "docs" / link
        title = titles.get(page) or page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        assert words == title


def test_faults_that_people_would_meet_are_seen_in_a_browser(of_the_site, tmp_path, monkeypatch):
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    look = of_the_site("look")
    if look.CHROMIUM is None:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    monkeypatch.setattr(look, "WIDTHS", {"phone": look.WIDTHS["phone"]})
    head = "<!doctype html><meta name=viewport content='width=device-width'>"
    (tmp_path / "right.html").write_text(f"{head}<p>Read <a href='#'>this</a>.</p>")
    (tmp_path / "wrong.html").write_text(
        f"{head}<p style='color: #999; background: white'>faint</p>"
        "<p style='overflow: hidden; width: 90px; white-space: nowrap'>much too long for this</p>"
        "<a href='#' tabindex=-1>unreached</a> <a href='#' style='outline: none'>unseen</a>"
        "<p style='width: 600px'>wider than a phone</p>"
    )
    with ThreadPoolExecutor(1) as thread:  # the browser of other tests may hold the loop of this one
        found = thread.submit(lambda: list(look.problems(tmp_path, []))).result()
    assert not [line for line in found if line.startswith("right")]
    of_phone = [line.removeprefix("wrong.html (phone, light): ") for line in found if "phone, light" in line]
    for start in (
        "the page is 6",
        "cut off: much too long for this",
        "contrast 2.85 of rgb(153, 153, 153) on 255,255,255: faint",
        "shows no focus when it has the focus: <a href",
        "the Tab key does not reach <a href",
    ):
        assert sum(line.startswith(start) for line in of_phone) == 1, start


def test_a_broken_link_is_found_and_so_is_what_is_loaded_from_elsewhere(of_the_site, tmp_path):
    check = of_the_site("check")
    (tmp_path / "a.html").write_text(
        '<h1 id="top-of-a">A</h1><a href="b.html#here">b</a><a href="#top-of-a">a</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"><a href="https://example.org">far</a></p>')
    assert check.problems(tmp_path) == []
    (tmp_path / "b.html").write_text(
        '<a href="c.html">c</a><script src="https://example.org/x.js"></script>'
        '<a href="a.html"><code><a href="a.html">a</a></code></a>'
    )
    assert check.problems(tmp_path) == [
        "a.html links to b.html#here, a place that the page does not have",
        "b.html has a link to a.html inside another, which browsers take apart",
        "b.html links to c.html, which does not exist",
        "b.html loads https://example.org/x.js",
    ]


def test_an_empty_site_is_a_problem(of_the_site, tmp_path):
    assert of_the_site("check").problems(tmp_path) == [f"{tmp_path} has no pages"]


def test_links_to_pages_of_the_root_lead_to_their_place_on_the_site(of_the_site):
    pages = of_the_site("root_pages")

    app = SimpleNamespace(env=SimpleNamespace(note_dependency=lambda *_, **__: None))

    def read(name, text):
        source = [text]
        pages.read(app, name, source)
        return source[0]

    assert (
        read("notes", "[a](../CONTRIBUTING.md#style) [b](guide.md)")
        == "[a](contributing.md#style) [b](guide.md)"
    )
    assert read("course/index", "[a](../../README.md)") == "[a](../index.md)"
    assert "](decisions/README.md)" in read("contributing", "")
    assert "](../src/suffice/families/gamma.py)" in read("contributing", "")
    assert read("decisions/README", "").count("{toctree}") == 1


def test_formulas_are_drawn_by_the_browser_itself(of_the_site):
    formula = of_the_site("mathml").mathml(r"\begin{aligned} a &= \sigma(b) \\ &= 1 \end{aligned}", "block")
    assert formula.startswith("<math")
    assert formula.count("<mtr>") == 2
    assert "&amp;" not in formula
    assert ">{<" in of_the_site("mathml").mathml(r"\Bigl\{ x \Bigr\}", "block")


def test_a_formula_that_cannot_be_converted_stops_the_build(of_the_site):
    with pytest.raises(ValueError, match="cannot be converted"):
        of_the_site("mathml").mathml(r"\unheardof{x}", "inline")


def test_code_that_names_something_public_links_to_its_reference(of_the_site):
    entry = SimpleNamespace(docname="reference/x", node_id="there")
    known = {"suffice.Evaluation": entry, "suffice.families.Normal": entry, "suffice.links.logit": entry}
    app = SimpleNamespace(
        env=SimpleNamespace(domains={"py": SimpleNamespace(objects=known)}),
        builder=SimpleNamespace(get_relative_uri=lambda _, to: f"{to}.html"),
    )
    page = new_document("a page")
    for code in ("links.logit", 'Normal("shared")', "Evaluation.accuracy", "x + 1", "model.fit(X, y)"):
        page += nodes.paragraph("", "", nodes.literal(code, code))
    elsewhere = nodes.inline("", "", nodes.literal("links.logit", "links.logit"))
    page += nodes.paragraph("", "", nodes.reference("", "", elsewhere, refuri="elsewhere.html"))
    of_the_site("calls").link(app, page, "terms")
    linked = [reference.astext() for reference in page.findall(nodes.reference)]
    assert linked == ["links.logit", 'Normal("shared")', "Evaluation.accuracy", "links.logit"]
    leads_to = [reference["refuri"] for reference in page.findall(nodes.reference)]
    assert leads_to == [*["reference/x.html#there"] * 3, "elsewhere.html"]
