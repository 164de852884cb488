"""The command in this process (`run`) and in one of its own (`shell`)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import suffice
from suffice.cli import main

SOURCE = str(Path(suffice.__file__).parents[1])


def hear_signals():
    """Undo, in a program that a test starts, what nohup and shells do to tests that run unattended."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def environment(folder):
    """The environment of a shell in which `suffice` is this program."""
    command = folder / "bin" / "suffice"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m suffice "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": SOURCE, "PYTHONWARNINGS": "default"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An own folder, with the penguins whole and in two parts."""
    monkeypatch.chdir(tmp_path)
    X, species = suffice.load_penguins()
    table = X.append_column("species", pa.array(species))
    csv.write_csv(table, "penguins.csv")
    csv.write_csv(table.slice(0, 150), "part1.csv")
    csv.write_csv(table.slice(150), "part2.csv")
    return tmp_path


@pytest.fixture
def run(folder):  # noqa: ARG001  the commands run there
    """Run a command here; it must end with the code that is said."""

    def runs(*arguments, code=0, input=None):  # noqa: A002  as CliRunner calls it
        result = CliRunner().invoke(main, [str(one) for one in arguments], input=input, prog_name="suffice")
        assert result.exit_code == code, result.output + repr(result.exception)
        return result

    return runs


@pytest.fixture
def model(run):
    """A fitted model's file."""
    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes")
    return "m.suffice"


@pytest.fixture
def shell(folder):
    """Run a line in bash, in a process of its own."""

    def runs(line, code=0, **options):
        done = subprocess.run(  # noqa: S603
            ["bash", "-c", f"set -o pipefail; {line}"],  # noqa: S607
            env=environment(folder),
            capture_output=True,
            check=False,
            timeout=120,
            **options,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return runs
