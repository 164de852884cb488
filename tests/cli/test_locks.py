"""Several commands that change one file, one after the other."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import suffice

fcntl = pytest.importorskip("fcntl", reason="locks of Unix")
SOURCE = str(Path(suffice.__file__).parents[1])


def start(*arguments):
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "suffice", *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE, "SUFFICE_THREADS": "1"},
        stderr=subprocess.PIPE,
    )


def test_eight_updates_at_once_lose_no_row(run, model):
    run("fit", "penguins.csv", "-y", "species", "-o", "whole.suffice", "--model", "bayes")
    updates = [start("update", model, "part1.csv", "-y", "species") for _ in range(8)]
    told = [one.communicate(timeout=300)[1] for one in updates]
    assert [one.returncode for one in updates] == [0] * 8, told
    assert suffice.load(model).statistics_.n_rows == 344 + 8 * 150
    assert list(Path().glob(".*.part")) == []


@pytest.fixture
def held(model):
    """A file that another command is changing."""
    with Path(model).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield model


@pytest.mark.parametrize(
    "arguments",
    [
        ("update", "m.suffice", "part1.csv", "-y", "species"),
        ("merge", "m.suffice", "m.suffice", "-o", "m.suffice", "--force"),
        ("subtract", "m.suffice", "m.suffice", "-o", "m.suffice", "--force"),
        ("fit", "part1.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--force"),
        ("summarize", "part1.csv", "-y", "species", "-o", "m.suffice", "--force"),
    ],
)
def test_a_file_that_is_being_changed_is_waited_for_until_the_timeout(run, held, arguments):
    before = Path(held).read_bytes()
    told = run(*arguments, "--timeout", "0.2", code=1).stderr
    assert "m.suffice is being changed by another command; waiting up to 0.2 seconds." in told
    assert "wait longer with --timeout" in told
    assert Path(held).read_bytes() == before


def test_a_wait_ends_when_the_other_command_does(run, model):
    with Path(model).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiting = start("update", model, "part1.csv", "-y", "species")
        assert b"waiting" in waiting.stderr.readline()
        run("fit", "part2.csv", "-y", "species", "-o", "other.suffice", "--model", "nb")
        Path("other.suffice").replace(model)  # as the other command replaces it before it ends
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert suffice.load(model).statistics_.n_rows == 194 + 150


def test_reading_needs_no_lock(run, held):
    began = time.monotonic()
    run("predict", held, "part1.csv")
    run("info", held)
    run("update", held, "part1.csv", "-y", "species", "-o", "new.suffice")
    assert time.monotonic() - began < 60


def test_quiet_waiting_says_nothing(run, held):
    told = run("update", held, "part1.csv", "-y", "species", "--timeout", "0", "--quiet", code=1).stderr
    assert "waiting" not in told
    assert "is being changed" in told
