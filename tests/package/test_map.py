"""The map in CONTRIBUTING is the tree, and its picture is what the linter checks."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "suffice"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<room>[\w/]+/|suffice/)` \| (?P<files>.*) \|$", re.MULTILINE)


def mapped():
    """The files of the table, by their paths in the source."""
    for row in ROW.finditer(PAGE):
        room = "" if row["room"] == "suffice/" else row["room"]
        yield from (f"{room}{name}.py" for name in re.findall(r"`([\w/]+)`", row["files"]))


def test_the_table_lists_every_file_of_the_source_once():
    files = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    assert sorted(mapped()) == [
        name for name in files if name == "__init__.py" or not name.endswith("/__init__.py")
    ]


def test_every_file_named_under_where_do_i_go_exists():
    section = PAGE.partition("### Where do I go to")[2].partition("\n###")[0]
    named = re.findall(r"`([\w/]+(?:\.py|/))`", section)
    assert len(named) > 12
    for name in named:
        assert (SOURCE / name).exists(), name


def test_the_picture_shows_the_layers_that_the_linter_checks():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = [set(layer.split(" | ")) for layer in contracts[0]["layers"]]
    rooms = set().union(*layers)
    picture = re.search(r"```text\n(    cli .*?)```", PAGE, re.DOTALL)[1]
    drawn = [set(re.split(r"\s{2,}", line.strip())) & rooms for line in picture.splitlines()]
    assert drawn == layers
    assert len(layers) <= 11
