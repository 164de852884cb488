"""The data files in a folder, and the columns that the names of its folders hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from suffice.tables.files.formats import FORMATS, UnknownFormatError, format_of

Partition = Mapping[str, str | None]
"""Columns and the text that all rows of a file have there."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive writes for a missing cell."""


def files_in(folder: Path, form: str | None = None) -> dict[Path, Partition]:
    """The files of a known format in a folder and the folders within, each with what their names hold.

    As in Spark and Arrow, year=2024 holds a column, and names that begin with a dot or an underscore are no
    data.
    """
    found: dict[Path, Partition] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if any(part.startswith((".", "_")) for part in inside) or not path.is_file():
            continue
        if form is not None or _is_known(path):
            found[path] = _columns(inside[:-1])
    if not found:
        extensions = ", ".join(f".{extension}" for extension, *_ in FORMATS.values())
        raise FileNotFoundError(f"{folder}: the folder holds no files that end in {extensions}.")
    return found


def _is_known(path: Path) -> bool:
    try:
        format_of(path)
    except UnknownFormatError:
        return False
    return True


def _columns(folders: tuple[str, ...]) -> Partition:
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    texts = {unquote(key): unquote(text) for key, _, text in pairs}
    return {key: None if text in (NO_VALUE, "") else text for key, text in texts.items()}
