"""The command as a process: pipes, signals, completion and what it imports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import suffice

from .conftest import hear_signals

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of a shell")


def test_parts_through_a_pipe_merge_to_the_whole(run, shell):
    run("summarize", "penguins.csv", "-y", "species", "-o", "like.suffice")
    run("summarize", "part2.csv", "-y", "species", "--like", "like.suffice", "-o", "b.suffice")
    shell("cat part1.csv | suffice summarize - -y species --like like.suffice -o a.suffice")
    run("merge", "a.suffice", "b.suffice", "-o", "merged.suffice")
    shell("cat part*.csv | suffice summarize - -y species --like like.suffice -o both.suffice")
    whole = suffice.load("like.suffice")
    assert suffice.load("merged.suffice").isclose(whole)
    assert suffice.load("both.suffice") == whole


def test_fit_and_predict_in_a_pipe(shell):
    shell("cat penguins.csv | suffice fit - -y species -o - --model bayes > m.suffice")
    X, species = suffice.load_penguins()
    wanted = suffice.BayesClassifier().fit(X, species).predict(X).tolist()
    done = shell("gzip -c penguins.csv | suffice predict m.suffice -")
    assert done.stdout.decode().splitlines() == ["prediction", *wanted]
    assert done.stderr == b""


def test_a_closed_pipe_is_no_complaint(run, shell):
    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes")
    lines = Path("penguins.csv").read_text().splitlines(keepends=True)
    Path("long.csv").write_text(lines[0] + "".join(lines[1:]) * 400)
    done = shell("suffice predict m.suffice long.csv --proba | head -1")
    assert done.stdout.startswith(b"prediction,")
    assert done.stderr == b""
    assert shell("suffice --help | head -1").stderr == b""


def test_an_interrupt_ends_with_130_and_leaves_the_old_file(run):
    run("fit", "part1.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes")
    before = Path("m.suffice").read_bytes()
    command = [
        sys.executable,
        "-m",
        "suffice",
        "fit",
        "-",
        "-y",
        "species",
        "-o",
        "m.suffice",
        "--model",
        "bayes",
        "--force",
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    with subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=hear_signals,  # noqa: PLW1509, this test starts no threads
    ) as process:
        process.stdin.write(b"x,species\n" + b"1,a\n" * 300_000)  # more than a pipe holds, so it reads
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert Path("m.suffice").read_bytes() == before


@pytest.mark.parametrize("command", ["fit", "predict", "export"])
def test_help_imports_nothing_heavy(command):
    code = (
        "import sys; from suffice.cli import main\n"
        f"try: main(['{command}', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow', 'pandas', 'numba', 'matplotlib', 'rich'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_the_shell_completes_columns(shell):
    typed = "suffice fit penguins.csv -y spe"
    done = shell(f"COMP_WORDS='{typed}' COMP_CWORD=4 _SUFFICE_COMPLETE=bash_complete suffice")
    assert done.stdout == b"plain,species\n"


@pytest.mark.parametrize(
    "typed, heavy",
    [
        ("suffice pre", {"numpy", "pyarrow", "scipy", "sklearn", "pandas"}),
        ("suffice predict --ke", {"numpy", "pyarrow", "scipy", "sklearn", "pandas"}),
        ("suffice fit penguins.csv -y spe", {"scipy", "sklearn", "pandas", "numba", "narwhals"}),
    ],
)
def test_completion_imports_little(folder, shell, typed, heavy):
    code = (
        "import sys; from suffice.cli import main\n"
        "try: main(prog_name='suffice')\n"
        f"finally: print('heavy:', sorted({heavy!r} & set(sys.modules)))"
    )
    (folder / "completed.py").write_text(code)
    place = len(typed.split()) - 1
    line = f"COMP_WORDS='{typed}' COMP_CWORD={place} _SUFFICE_COMPLETE=bash_complete {sys.executable}"
    assert shell(f"{line} completed.py").stdout.splitlines()[-1] == b"heavy: []"
