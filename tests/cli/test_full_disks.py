"""A disk that is full or read-only at any write: a message, the old file, and no litter."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import suffice

WRITES = {
    "update": ("update", "m.suffice", "part1.csv", "-y", "species"),
    "fit": ("fit", "part1.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--force"),
    "merge": ("merge", "m.suffice", "m.suffice", "-o", "m.suffice", "--force"),
    "predict": ("predict", "b.suffice", "part1.csv", "--proba", "-o", "m.csv", "--force"),
    "predict parquet": ("predict", "b.suffice", "part1.csv", "--proba", "-o", "m.parquet", "--force"),
    "export": ("export", "b.suffice", "--to", "json", "-o", "m.json", "--force"),
    "sample": ("sample", "b.suffice", "-o", "m.jsonl", "--force"),
}


@pytest.fixture
def old(model):
    """A file for every command to replace, and one that stays."""
    shutil.copy(model, "b.suffice")
    for name in ("m.csv", "m.parquet", "m.json", "m.jsonl"):
        Path(name).write_bytes(b"old")
    return {path: path.read_bytes() for path in Path().glob("m.*")}


STEPS = {
    "open": (os, "open", errno.EROFS),
    "fsync": (os, "fsync", errno.EIO),
    "chmod": (Path, "chmod", errno.EROFS),
    "rename": (Path, "replace", errno.ENOSPC),
}


@pytest.mark.parametrize("command", WRITES)
def test_whatever_step_fails_the_old_file_stays(run, old, monkeypatch, command):
    for owner, name, number in STEPS.values():
        real = getattr(owner, name)

        def fails(*given, real=real, name=name, number=number, **named):
            if name == "open" and not given[1] & os.O_CREAT:
                return real(*given, **named)
            raise OSError(number, os.strerror(number), "here")

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fails)
            told = run(*WRITES[command], code=1).stderr
        assert told == f"Error: here: {os.strerror(number)}\n"
        assert {path: path.read_bytes() for path in old} == old
        assert list(Path().glob(".*.part")) == []


def can_mount():
    if shutil.which("unshare") is None:
        return False
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(tried, check=False, capture_output=True).returncode == 0  # noqa: S603


@pytest.mark.parametrize(
    "command",
    [
        "suffice fit penguins.csv -y species -o small/m.suffice --model bayes --force",
        "suffice predict m.suffice long.csv --proba -o small/m.csv",
        "suffice predict m.suffice long.csv --proba -o small/m.parquet",
        "suffice predict m.suffice long.csv --proba -o small/m.csv.gz",
        "suffice sample m.suffice -n 10000 -o small/m.csv",
        "PYTHONUNBUFFERED=1 suffice sample m.suffice -n 10000 > small/out.csv",
        "suffice summarize long.csv -y species -o small/s.suffice",
        "cat long.csv | TMPDIR=small suffice predict m.suffice",
    ],
)
@pytest.mark.usefixtures("model")
def test_a_disk_that_is_really_full_is_told(shell, command):
    if not can_mount():
        pytest.skip("namespaces are not allowed here")
    lines = Path("penguins.csv").read_text().splitlines(keepends=True)
    Path("long.csv").write_text(lines[0] + "".join(lines[1:]) * 100)
    Path("small").mkdir()
    mounted = "mount -t tmpfs -o size=64k none small"
    mounted += " && head -c 57000 /dev/zero > small/most && echo old > small/m.suffice"
    line = f"unshare -rm sh -c '{mounted}; {command}; code=$?; ls -A small >&2; exit $code'"
    told = shell(line, code=1).stderr
    assert b"No space left on device" in told
    assert b"Traceback" not in told
    assert b".part" not in told
    assert b"suffice-" not in told


def test_a_full_stdout_is_told(run, model, shell):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    told = shell("suffice info m.suffice > /dev/full", code=1).stderr
    assert told == b"Error: stdout: No space left on device\n"
    assert shell("suffice --help > /dev/full", code=1).stderr == told
    told = run("predict", model, "part1.csv", "-o", "/dev/full", "--output-format", "csv", code=1).stderr
    assert told == "Error: /dev/full: No space left on device\n"
    assert shell("suffice info m.suffice 2> /dev/full").stdout.startswith(b"BayesClassifier")
    assert suffice.load(model).classes_.tolist()
