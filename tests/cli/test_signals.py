"""What signals leave behind: the old file or the new one, and no litter."""

import json
import os
import platform
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from subprocess import PIPE

import pytest

import suffice

from .conftest import hear_signals

SEED = int(os.environ.get("SUFFICE_FUZZ_SEED", "100"))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of Unix")

COMMANDS = {
    "fit": ["fit", "long.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--force"],
    "update": ["update", "m.suffice", "long.csv", "-y", "species"],
    "merge": ["merge", "m.suffice", "b.suffice", "-o", "m.suffice", "--force"],
    "predict": ["predict", "b.suffice", "long.csv", "-o", "m.suffice", "--force", "--output-format", "csv"],
}


def start(arguments, folder, **options):
    """Start a command, with a folder of its own for temporary files."""
    (folder / "tmp").mkdir(exist_ok=True)
    source = str(Path(suffice.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "TMPDIR": str(folder / "tmp")}
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "suffice", *arguments],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        preexec_fn=hear_signals,  # noqa: PLW1509, these tests start no threads
        **{"stdout": subprocess.DEVNULL, **options},
    )


def litter(folder):
    """Files that nobody asked for."""
    return [*folder.glob(".*.part"), *(folder / "tmp").glob("*")]


@pytest.fixture
def models(run, folder):
    """Two models and a long file of rows."""
    run("fit", "part1.csv", "-y", "species", "-o", "b.suffice", "--model", "nb")
    lines = Path("penguins.csv").read_text().splitlines(keepends=True)
    Path("long.csv").write_text(lines[0] + "".join(lines[1:]) * 20)
    return folder


@pytest.fixture(scope="module")
def nursery():
    """Runs a command in a fork of a process that has imported everything: see nursery.py."""
    source = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    script = [sys.executable, Path(__file__).with_name("nursery.py")]
    with subprocess.Popen(script, env=source, stdin=PIPE, stdout=PIPE, text=True) as process:  # noqa: S603

        def runs(arguments, folder, number=0, seconds=0.0, delay=0.0):
            """The exit code of a command and its processor time."""
            asked = {"arguments": arguments, "folder": str(folder), "signal": int(number)}
            process.stdin.write(json.dumps({**asked, "seconds": seconds, "delay": delay}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield runs
        process.stdin.close()


def end_at_random_moments(nursery, folder, rng, command, numbers):
    """End a command at moments drawn over all of its time, check what each leaves, and count exit codes."""
    (folder / "tmp").mkdir()
    before = (folder / "b.suffice").read_bytes()
    shutil.copy(folder / "b.suffice", folder / "m.suffice")
    _, whole = nursery(COMMANDS[command], folder)
    codes = Counter()
    for number in numbers:
        shutil.copy(folder / "b.suffice", folder / "m.suffice")
        moment, delay = rng.uniform(0.0, 1.2 * whole), rng.uniform(0.0, 0.01)
        code, _ = nursery(COMMANDS[command], folder, number, moment, delay)
        told = (folder / "told").read_text()
        assert "Traceback" not in told, told
        assert code in (0, -number, 128 + number), told
        after = (folder / "m.suffice").read_bytes()
        if after != before and command == "predict":
            assert after.count(b"\n") == 344 * 20 + 1
        elif after != before:
            assert suffice.load(folder / "m.suffice").classes_.tolist()
        assert code != 0 or after != before
        if number == signal.SIGKILL:
            for path in litter(folder):
                path.unlink()
        assert litter(folder) == [], told
        codes[code] += 1
    return codes


@pytest.mark.skipif(sys.platform != "linux", reason="needs the clocks of other processes")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_leaves_the_old_file_or_the_new_one(nursery, models, command):
    numbers = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]
    end_at_random_moments(nursery, models, random.Random(command), command, numbers)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the clocks of other processes")
@pytest.mark.parametrize("command", COMMANDS)
def test_125_signals_at_random_moments(nursery, models, command):
    rng = random.Random(SEED)
    numbers = rng.choices([signal.SIGKILL, signal.SIGTERM], k=125)
    codes = end_at_random_moments(nursery, models, rng, command, numbers)
    assert set(codes) >= {0, -signal.SIGKILL, 128 + signal.SIGTERM}, codes


ENDINGS = {"INT": "Interrupted.", "TERM": "Terminated.", "HUP": "Ended by SIGHUP."}
ENDINGS |= {name: f"Ended by SIG{name}." for name in ("QUIT", "XCPU")}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_signal_removes_what_came_from_stdin(models, name):
    number = getattr(signal, f"SIG{name}")
    process = start(
        ["fit", "-", "-y", "species", "-o", "new.suffice", "--model", "bayes"], models, stdin=subprocess.PIPE
    )
    process.stdin.write(b"x,species\n" + b"1,a\n" * 300_000)  # more than a pipe holds, so it reads
    process.stdin.flush()
    assert litter(models) != []
    process.send_signal(number)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    assert told.decode() == f"{ENDINGS[name]}\n"
    assert litter(models) == []
    assert not (models / "new.suffice").exists()


def test_every_signal_that_ends_a_process_and_can_be_caught_is():
    from suffice.cli.errors import Ended, exit_code_of

    deaf = {"KILL", "STOP", "ILL", "BUS", "FPE", "SEGV"}
    deaf |= set() if platform.machine() == "x86_64" else {"TRAP"}  # elsewhere, a fault that is met again
    deaf |= {"CHLD", "CONT", "TSTP", "TTIN", "TTOU", "URG", "WINCH", "INFO"}
    kept = {one for one in signal.valid_signals() if signal.getsignal(one) == signal.SIG_DFL}
    numbers = [one for one in kept if getattr(one, "name", "").removeprefix("SIG") not in deaf]
    assert len(numbers) > 10

    def ends(number):
        with pytest.raises(Ended):
            os.kill(os.getpid(), number)
        raise Ended(number)

    assert [exit_code_of(partial(ends, one)) for one in numbers] == [128 + one for one in numbers]
    assert {one for one in signal.valid_signals() if signal.getsignal(one) == signal.SIG_DFL} == kept


def test_a_signal_in_a_callback_is_not_lost(models):
    code = (
        "import os, signal, sys, weakref\n"
        "from suffice.cli import main, inputs\n"
        "class Held: pass\n"
        "def loads(*_, **__):\n"
        "    one = Held()\n"
        "    ended = lambda _: (os.kill(os.getpid(), signal.SIGTERM), sum(range(10**6)))\n"
        "    watched = weakref.ref(one, ended)\n"
        "    del one\n"
        "    while True: sum(range(1000))\n"
        "inputs.load = loads\n"
        "main(prog_name='suffice')"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, "info", "b.suffice"],
        cwd=models,
        env=environment,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (143, b"Terminated.\n")


def test_a_signal_that_a_library_takes_for_its_own_failure_is_told_as_what_it_is(run, models, monkeypatch):
    from suffice.cli import errors, inputs

    def loads(*_, **__):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except errors.Ended:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr(inputs, "load", loads)
    assert run("info", models / "b.suffice", code=143).stderr == "Terminated.\n"


def test_a_hangup_under_nohup_is_ignored(models):
    line = f"trap '' HUP; exec {sys.executable} -m suffice fit - -y species -o new.suffice --model bayes"
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    process = subprocess.Popen(  # noqa: S603
        ["bash", "-c", line],  # noqa: S607
        cwd=models,
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    rows = Path("penguins.csv").read_bytes()
    process.stdin.write(rows + rows[rows.index(b"\n") + 1 :] * 30)
    process.stdin.flush()
    process.send_signal(signal.SIGHUP)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 0, told
    assert (models / "new.suffice").exists()


def test_named_files_need_no_temporary_file(models):
    with start(["predict", "b.suffice", "part1.csv"], models) as process:
        while process.poll() is None:
            assert litter(models) == []
            time.sleep(0.01)
    assert process.returncode == 0


@pytest.mark.usefixtures("models")
def test_a_read_only_root_is_enough_to_predict(shell):
    read_only = "mount -o remount,ro,bind / && mount --bind . . && mount -o remount,ro,bind . && cd $PWD"
    line = "unshare -rm sh -c '" + read_only + " && {}'"
    tried = ["unshare", "-rm", "sh", "-c", read_only]
    if shutil.which("unshare") is None or subprocess.run(tried, check=False).returncode:  # noqa: S603
        pytest.skip("namespaces are not allowed here")
    done = shell(line.format("suffice predict b.suffice part1.csv"))
    assert done.stdout == shell("suffice predict b.suffice part1.csv").stdout
    assert done.stderr == b""
    told = shell(line.format("cat part1.csv | suffice predict b.suffice"), code=1).stderr
    assert b"set TMPDIR" in told
    told = shell(line.format("suffice update b.suffice part1.csv -y species"), code=1).stderr
    assert b"Read-only file system" in told
    assert b"Traceback" not in told


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_keeps_its_mode_and_is_never_shown_to_others(models, mode, monkeypatch):
    path = models / "b.suffice"
    path.chmod(mode)
    seen, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append(os.fstat(file).st_mode), fsync(file)))
    suffice.load(path).save(path)
    assert [stat.S_IMODE(one) for one in seen] == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_follows_the_umask(models):
    old = os.umask(0o027)
    try:
        suffice.load("b.suffice").save("new.suffice")
    finally:
        os.umask(old)
    assert stat.S_IMODE((models / "new.suffice").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(models):
    os.chown("b.suffice", 12345, 23456)
    suffice.load("b.suffice").save("b.suffice")
    found = (models / "b.suffice").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


def test_a_group_that_cannot_be_kept_sees_no_more_than_everyone(models, monkeypatch):
    path = models / "b.suffice"
    path.chmod(0o664)
    real = path.stat()

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    from suffice.storage import saved

    old = os.stat_result((*real[:5], real.st_gid + 1, *real[6:]))
    saved._take_over(path, old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    saved._take_over(path, os.stat_result((0o100660, *old[1:])))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_long_name_can_be_replaced(models):
    name = "é" * 127
    suffice.load("b.suffice").save(name)
    suffice.load("b.suffice").save(name)
    assert (models / name).exists()
    assert litter(models) == []
