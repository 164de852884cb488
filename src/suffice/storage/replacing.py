"""Files that change all at once or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file beside the old one, which takes its place when all is on the disk.

    What is no plain file, such as a pipe or a device, is written to as it is: nothing takes its place.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():
        with place.open("wb") as file:
            yield file
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            beside.chmod(place.stat().st_mode)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
