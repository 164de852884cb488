"""A crash while saving leaves the old file."""

import io
import os
import subprocess
import sys
import threading
import time

import pytest

import suffice
from suffice import BayesClassifier

from .conftest import loaded

SAVE = """
import os, signal, sys
import numpy as np, suffice
model = suffice.BayesClassifier().fit(np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])
{sabotage}
model.save(sys.argv[1])
"""


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_killed_while_saving_leaves_the_old_file(tmp_path, small, call):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)
    sabotage = f"os.{call} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", SAVE.format(sabotage=sabotage), path], check=False)  # noqa: S603
    assert done.returncode == -9
    assert path.read_bytes() == small
    assert suffice.load(path).classes_.tolist() == ["a", "b"]


@pytest.mark.slow  # starts and kills many processes
def test_killed_at_any_moment_leaves_an_old_or_a_new_file(tmp_path, small):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)
    endless = SAVE.format(sabotage="print('ready', flush=True)\nwhile True:\n    model.save(sys.argv[1])")
    for milliseconds in (1, 4, 11, 23):
        with subprocess.Popen([sys.executable, "-c", endless, path], stdout=subprocess.PIPE) as process:  # noqa: S603
            assert process.stdout.readline() == b"ready\n"
            time.sleep(milliseconds / 1000)
            process.kill()
        assert suffice.load(path).classes_.tolist() in (["a", "b"], [0, 1])


def test_a_save_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, small, monkeypatch):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        BayesClassifier().fit([[1.0], [2.0]], [0, 1]).save(path)
    assert path.read_bytes() == small
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.suffice"]


def test_a_link_and_the_permissions_of_the_old_file_stay(tmp_path, small):
    path, link = tmp_path / "m.suffice", tmp_path / "link"
    path.write_bytes(small)
    path.chmod(0o640)
    link.symlink_to(path)
    loaded(small).partial_fit([[1.0, 1.0]], ["c"]).save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert suffice.load(path).classes_.tolist() == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    model = suffice.BayesClassifier().fit([[1.0], [2.0]], [0, 1])
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    model.save(pipe)
    reader.join(30)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert suffice.load(io.BytesIO(received[0])).classes_.tolist() == [0, 1]
