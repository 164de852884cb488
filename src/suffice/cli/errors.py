"""How a command ends: with 0, or a message and 1 (data), 2 (usage), 3 (columns) or 128 + a signal."""

from __future__ import annotations

import io
import json
import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from suffice.cli.messages import in_options, tell, wants_json
from suffice.tables.wording import visible

NOT_CAUGHT = {
    *("SIGKILL", "SIGSTOP"),  # which nothing can catch
    # After these faults, the same instruction would be run again, forever; no handler of Python's can tell a
    # fault from a signal that was sent.
    *("SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV"),
    *(() if platform.machine() in ("x86_64", "AMD64", "i686") else ("SIGTRAP",)),
    *("SIGCHLD", "SIGCONT", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH", "SIGINFO"),  # no ends
}
"""Any other signal ends a command, after it has removed what it has begun to write."""


CLOSED = "stdout is closed; name a file with -o, or redirect stdout."


class DataFailure(click.ClickException):
    """Data that cannot be used."""

    exit_code = 1


class SchemaFailure(click.ClickException):
    """Columns that do not match the model."""

    exit_code = 3


class Ended(BaseException):
    """A signal has asked to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class PipeClosed(BaseException):
    """Whoever reads the results has closed the pipe."""


def exit_code_of(run: Callable[[], Any]) -> int:
    """Run a command: whatever stops it becomes a message and an exit code."""
    signals: list[int] = []
    try:
        with _ended_by_signals(signals):
            code = run()
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (BrokenPipeError, PipeClosed):
        _drop_stdout()  # the reader has what it wanted
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _told_of_signal(signal.SIGINT)
    except Ended as ended:
        return _told_of_signal(ended.number)
    except Exception as error:  # noqa: BLE001, a traceback helps no user
        # Libraries may turn the exception of a signal into one of their own.
        return _told_of_signal(signals[0]) if signals else _told(_failure(error))


def _told_of_signal(number: int) -> int:
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    words = {"SIGINT": "Interrupted.", "SIGTERM": "Terminated."}.get(name, f"Ended by {name}.")
    if wants_json():
        words = json.dumps({"error": words, "exit_code": 128 + number})
    tell(words)
    return 128 + number


@contextmanager
def _ended_by_signals(signals: list[int]) -> Iterator[None]:
    """Raise `Ended` at the first signal, note it, and ignore others, so that nothing stops cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Under nohup and in the background, some are ignored; and whoever waits for others goes on to do so.
    unheard = (signal.SIG_DFL, signal.default_int_handler)
    numbers = [one for one in signal.valid_signals() if getattr(one, "name", "") not in NOT_CAUGHT]
    former = {one: handler for one in numbers if (handler := signal.getsignal(one)) in unheard}

    def end(number: int, _: FrameType | None) -> None:
        for one in former:
            signal.signal(one, signal.SIG_IGN)
        signals.append(number)
        raise Ended(number)

    def end_again(ignored: Any) -> None:
        # In callbacks and destructors, Python ignores exceptions; so this one is raised again, elsewhere.
        if not isinstance(ignored.exc_value, Ended):
            sys.__unraisablehook__(ignored)
            return
        number = ignored.exc_value.number
        signal.signal(signal.SIGALRM, lambda _, frame: end(number, frame))
        signal.setitimer(signal.ITIMER_REAL, 0.01)

    for one in former:
        signal.signal(one, end)
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = end_again
    try:
        yield
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for one, handler in former.items():
            signal.signal(one, handler)


def open_streams() -> None:
    """Give a process that was started with closed streams others, which no file takes the place of."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_ClosedOutput()), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115, for the rest of the process


class _ClosedOutput(io.RawIOBase):
    """A closed stdout, which fails once it is written to."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise OSError(CLOSED)


def refuse_closed_stdout() -> None:
    """Refuse to write to a closed stdout, before any work is done."""
    if isinstance(getattr(getattr(sys.stdout, "buffer", None), "raw", None), _ClosedOutput):
        raise DataFailure(CLOSED)


def _drop_stdout() -> None:
    """Let the rest of what was written vanish, since flushing it at exit would fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115, for the rest of the process


def _told(error: click.ClickException) -> int:
    """Tell an error, and return its exit code."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_stdout()
    text = io.StringIO()
    if wants_json():
        text.write(json.dumps({"error": error.format_message(), "exit_code": error.exit_code}))
    else:
        vars(error).update(message=visible(error.message))  # click would leave escapes out
        error.show(text)
    tell(text.getvalue().rstrip("\n"))
    return error.exit_code


def _failure(error: Exception) -> click.ClickException:
    """An error as a message and a kind of failure."""
    from suffice.engines.model_columns import ModelColumnsError
    from suffice.storage.saved import OF_WRITING
    from suffice.tables.files.source import WrongCellError
    from suffice.tables.targets import UnknownColumnError

    if isinstance(error, click.ClickException):
        return error
    message = in_options(str(error).rstrip())
    if isinstance(error, UnknownColumnError):
        return click.UsageError(message)
    if isinstance(error, (ModelColumnsError, WrongCellError)):
        return SchemaFailure(message)
    if isinstance(error, ModuleNotFoundError):
        return DataFailure(_without(error))
    if isinstance(error, MemoryError):
        return DataFailure(f"there is not enough memory{': ' * bool(message)}{message}; use fewer rows.")
    if isinstance(error, OSError) and error.strerror:
        # Whoever writes to a file names it; help goes to stdout without.
        name = error.filename or ("stdout" if error.errno in OF_WRITING else None)
        message = f"{name}: {error.strerror}" if name else error.strerror
    if isinstance(error, (OSError, ValueError, TypeError, NotImplementedError)):
        return DataFailure(message)
    return DataFailure(_unexpected(error))


def _unexpected(error: Exception) -> str:
    """A mistake of ours, with what we need to find it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
    return f"this is a mistake in suffice; please report it: {type(error).__name__}: {error}{place}."


def _without(error: ModuleNotFoundError) -> str:
    extras = {"matplotlib": "plot", "onnx": "onnx", "onnxruntime": "onnx"}
    name = (error.name or "").partition(".")[0]
    if name not in extras:
        return str(error)
    return f"this needs {name}, which is not installed; run: pip install 'suffice[{extras[name]}]'"
