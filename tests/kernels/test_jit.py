"""Importing and compiling kernels: an interrupt breaks nothing, and what takes long is said."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="numba has no wheels for this machine")

INTERRUPTED = """
import os, signal, sys
import numpy as np
import suffice
from suffice.families import Normal

signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1] and self in sys.meta_path:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

rng = np.random.default_rng(0)
X, y = rng.normal(size=(1 << 16, 128)).astype(np.float32), np.arange(1 << 16) % 3
model = suffice.BayesClassifier(Normal())
os.environ["SUFFICE_DISABLE_JIT"] = "1"
expected = model.fit(X, y).predict_proba(X)
os.environ["SUFFICE_DISABLE_JIT"] = "0"
finder = Interrupting()
sys.meta_path.insert(0, finder)
try:
    model.predict_proba(X)
except KeyboardInterrupt:
    print("interrupted")
assert finder not in sys.meta_path
np.testing.assert_allclose(model.fit(X, y).predict_proba(X), expected, rtol=0, atol=1e-12)
assert "suffice.kernels.gaussian_compiled" in sys.modules
print("fine")
"""
KERNEL = """
import io, sys, warnings
from suffice.kernels.jit import kernel
class Terminal(io.StringIO):
    def isatty(self):
        return True
warnings.simplefilter("always")
def doubled(x):
    return 2 * x
def tripled(x):
    return 3 * x
for function in (doubled, tripled):
    function.__module__ = "suffice.anything"
sys.stderr = Terminal()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(kernel(doubled)(2), kernel(tripled)(2))
print(len(said), *(warning.message for warning in said))
print("doubled" in sys.stderr.getvalue(), "once for this installation" in sys.stderr.getvalue())
"""


def run(program, *arguments, environment=None):
    """What a program prints in a fresh process."""
    command = [sys.executable, "-c", program, *arguments]
    # S603: the programs are ours.
    done = subprocess.run(  # noqa: S603
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | (environment or {}),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(os.name == "nt", reason="a process cannot interrupt itself there")
@pytest.mark.parametrize(
    "moment",
    [
        "numba.core.types",
        "numba.core.typing.templates",
        "numba.np.ufunc",
        "suffice.kernels.jit",
        "numba.cpython.charseq",  # imported when the first function is compiled, or loaded from disk
    ],
)
def test_an_interrupt_while_numba_is_imported_breaks_nothing(moment):
    assert run(INTERRUPTED, moment) == ["interrupted", "fine"]


def test_where_nothing_can_be_kept_it_is_said_once():
    results, warning, _ = run(KERNEL)  # a program without a file has no place beside it
    assert results == "4 6"
    assert warning.startswith("1 compiled kernels cannot be kept on disk")
    assert "NUMBA_CACHE_DIR" in warning


def test_compiling_is_shown_on_a_terminal():
    assert run(KERNEL)[-1] == "True True"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a directory that nobody can write to")
def test_a_zipped_package_without_a_home_compiles_and_says_that_nothing_is_kept(tmp_path):
    with zipfile.ZipFile(tmp_path / "packages.zip", "w") as packed:
        packed.writestr("tripling.py", "def tripled(x):\n    return 3 * x\n")
    program = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
from tripling import tripled
from suffice.kernels.jit import kernel
tripled.__module__ = "suffice.anything"
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(kernel(tripled)(2), *(warning.message for warning in said))
"""
    home = {"HOME": "/proc", "XDG_CACHE_HOME": "/proc"}
    (line,) = run(program, str(tmp_path / "packages.zip"), environment=home)
    assert line.startswith("6 compiled kernels cannot be kept on disk")
