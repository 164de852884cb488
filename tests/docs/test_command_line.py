"""The page on the command line is a session in a shell: its lines run, and print what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import suffice

PAGE = "docs/command-line.md"
SOURCE = str(Path(suffice.__file__).parents[1])


def sessions(text):
    """Each line after a $, with the output that stands below it."""
    lines = [
        line
        for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def run(line, folder):
    """What a line prints in bash, on stdout and stderr together."""
    command = folder / "bin" / "suffice"
    if not command.exists():
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m suffice "$@"\n')
        command.chmod(0o755)
        (folder / "bin" / "python").symlink_to(sys.executable)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "LC_ALL": "C.UTF-8"}
    environment["PATH"] = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    done = subprocess.run(  # noqa: S603
        ["bash", "-c", line],  # noqa: S607
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return [text.rstrip() for text in done.stdout.splitlines()]


@pytest.mark.slow  # every line is a process of its own
@pytest.mark.skipif(os.name != "posix", reason="a session in bash")
def test_the_lines_of_the_page_print_what_it_says(root, tmp_path):
    session = sessions((root / PAGE).read_text(encoding="utf-8"))
    assert len(session) > 15
    for line, output in session:
        assert run(line, tmp_path) == output, line
