"""The shape of the source: imports run in one direction, the first floor is small, no file is long."""

import ast
from collections.abc import Iterator
from pathlib import Path

import suffice

HOUSE = Path(suffice.__file__).parent
MOST_ENTRIES = 23
MOST_LINES = 450

Graph = dict[str, set[str]]


def test_no_module_imports_itself_by_way_of_others():
    found = cycle(imports(HOUSE))
    assert found is None, "an import cycle: " + " → ".join(found)


def test_the_first_floor_holds_few_entries():
    entries = {path.name for path in HOUSE.iterdir()} - {"py.typed", "__pycache__"}
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


def test_no_source_file_is_too_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in HOUSE.rglob("*.py")}
    long = {str(path.relative_to(HOUSE)): length for path, length in lengths.items() if length > MOST_LINES}
    assert not long


def test_an_import_counts_wherever_it_stands(tmp_path):
    house = tmp_path / "house"
    (house / "room").mkdir(parents=True)
    (house / "__init__.py").touch()
    (house / "room" / "__init__.py").write_text("from house.room.late import f\n")
    (house / "room" / "late.py").write_text("def f():\n    from house.room import typed\n")
    (house / "room" / "typed.py").write_text(
        "import numpy\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .. import room\n"
    )
    graph = imports(house)
    assert graph["house.room.typed"] == {"house.room"}
    assert cycle(graph) == ["house.room", "house.room.late", "house.room.typed", "house.room"]


def imports(house: Path) -> Graph:
    """Which modules each module imports, wherever in the file: at the top, within functions, for types.

    A package stands for its `__init__.py`, which may import the modules of the package: these may import each
    other, but not the package. That Python runs it before any of them is not counted.
    """
    files = {name_of(path, house): path for path in sorted(house.rglob("*.py"))}
    return {
        name: set(imported(ast.parse(path.read_text(encoding="utf-8")), package_of(name, path), set(files)))
        for name, path in files.items()
    }


def name_of(path: Path, house: Path) -> str:
    parts = [house.name, *path.relative_to(house).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(name: str, path: Path) -> str:
    return name if path.name == "__init__.py" else name.rpartition(".")[0]


def imported(tree: ast.AST, package: str, modules: set[str]) -> Iterator[str]:
    """The modules of ours that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, package)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield from (name for name in (inner if inner in modules else source,) if name in modules)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The module that a `from … import` names; each dot beyond the first climbs one package."""
    if node.level == 0:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def cycle(graph: Graph) -> list[str] | None:
    """The shortest way from a module back to itself, or None."""
    ways = (way for name in graph if (way := way_back(graph, name)) is not None)
    return min(ways, key=len, default=None)


def way_back(graph: Graph, start: str) -> list[str] | None:
    ways, seen = [[start]], {start}
    for way in ways:  # which grows: breadth first
        for name in sorted(graph[way[-1]]):
            if name == start:
                return [*way, start]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return None
