"""Commands in processes of their own that have imported everything before: each is a fork of this one.

Each line of stdin is a JSON object: the `arguments` of a command, its `folder`, and the `signal` that it is
sent after so many `seconds` of its own time and a `delay`; 0 sends none. Each line of stdout is the exit
code, negative for a signal, and the seconds of processor time. What a command says is in the file `told`.
"""

import gc
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from suffice.cli import main

EVERYTHING = (
    *("numba", "sklearn.base", "pyarrow.csv", "suffice.estimators.evidence.classifier"),
    *(f"suffice.cli.{name}" for name in ("arithmetic", "fit", "inputs", "predict", "summarize")),
)


def run(arguments, folder):
    """The command, in a process that has just been forked."""
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open("told", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.environ["TMPDIR"] = str(Path("tmp").resolve())
    sys.argv = ["suffice", *arguments]
    main(prog_name="suffice")


def has_ended(process):
    """Whether a child has ended; it stays to be waited for."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def processor_time(process):
    """The seconds of processor time that a process has taken, by its clock in Linux."""
    return time.clock_gettime((~process << 3) | 2)


for module in EVERYTHING:
    import_module(module)
gc.freeze()  # so that collecting garbage copies no memory of this process
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        run(asked["arguments"], asked["folder"])
    if asked["signal"]:
        while not has_ended(child) and processor_time(child) < asked["seconds"]:
            time.sleep(0.001)
        time.sleep(asked["delay"])
        os.kill(child, asked["signal"])
    _, status, used = os.wait4(child, 0)
    answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
