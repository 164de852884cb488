"""The page on the command line is a session in a shell: its lines run, and print what it says."""

import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import suffice
from suffice.cli import main

PAGE = "docs/command-line.md"
SOURCE = str(Path(suffice.__file__).parents[1])
OWN_PROCESS = f'#!/bin/sh\nexec "{sys.executable}" -m suffice "$@"\n'
CLIENT = f"""#!{sys.executable} -SE
import os, socket, sys
with socket.create_connection(("127.0.0.1", {{port}})) as server:
    words = b"\\0".join(map(os.fsencode, sys.argv[1:]))
    typed = sys.stdin.buffer.read() if "-" in sys.argv[1:] else b""
    server.sendall(b"%d\\n%d\\n" % (len(words), len(typed)) + words + typed)
    answer = server.makefile("rb")
    code, *lengths = (int(answer.readline()) for _ in range(3))
    for fd, length in zip((1, 2), lengths):
        text = answer.read(length)
        while text:
            text = text[os.write(fd, text):]
sys.exit(code)
"""
"""The command, if this process is to run it: what it is given goes there, and what comes of it comes back."""


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


def put_on_path(folder, script):
    """The environment in which `suffice` is this script."""
    command = folder / "bin" / "suffice"
    command.parent.mkdir()
    command.write_text(script)
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": SOURCE, "LC_ALL": "C.UTF-8"}


def run(line, environment, serve=None):
    """What a line prints in bash, on stdout and stderr together."""
    with subprocess.Popen(  # noqa: S603
        ["bash", "-c", line],  # noqa: S607
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while serve is not None and process.poll() is None:
            serve()
        return [text.rstrip() for text in process.communicate(timeout=120)[0].splitlines()]


def answer_one(listener):
    """Run a command that asks for it within a moment."""
    if not select.select([listener], [], [], 0.01)[0]:
        return
    connection, _ = listener.accept()
    with connection, connection.makefile("rwb") as file:
        lengths = [int(file.readline()) for _ in range(2)]
        words, typed = (file.read(length) for length in lengths)
        arguments = [word.decode() for word in words.split(b"\0")]
        result = CliRunner().invoke(main, arguments, input=typed, prog_name="suffice")
        file.write(b"%d\n" % result.exit_code)
        file.write(b"%d\n%d\n" % (len(result.stdout_bytes), len(result.stderr_bytes)))
        file.write(result.stdout_bytes + result.stderr_bytes)


@pytest.fixture
def session(root, tmp_path, monkeypatch):
    """The lines of the page with what they print; they run in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    found = sessions((root / PAGE).read_text(encoding="utf-8"))
    assert len(found) > 15
    return found


@pytest.mark.skipif(os.name != "posix", reason="a session in bash")
def test_the_lines_of_the_page_print_what_it_says(session, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        environment = put_on_path(tmp_path, CLIENT.format(port=listener.getsockname()[1]))
        for line, output in session:
            assert run(line, environment, lambda: answer_one(listener)) == output, line


@pytest.mark.slow  # every command is a process of its own
@pytest.mark.skipif(os.name != "posix", reason="a session in bash")
def test_they_do_so_where_every_command_is_a_process(session, tmp_path):
    environment = put_on_path(tmp_path, OWN_PROCESS)
    for line, output in session:
        assert run(line, environment) == output, line
