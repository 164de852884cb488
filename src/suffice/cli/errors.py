"""How a command ends: with 0, or a message and 1 (data), 2 (usage), 3 (columns) or 130 (interrupted)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

INTERRUPTED = 130


class DataFailure(click.ClickException):
    """Data that cannot be used."""

    exit_code = 1


class SchemaFailure(click.ClickException):
    """Columns that do not match the model."""

    exit_code = 3


@contextmanager
def told(context: click.Context) -> Iterator[None]:
    """Turn whatever stops a command into a message and an exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted, and flushing the rest at exit must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        context.exit(0)
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        context.exit(INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except ModuleNotFoundError as error:
        raise DataFailure(_without(error)) from error
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise _failure(error) from error


def _failure(error: Exception) -> click.ClickException:
    from suffice.tables.files.source import WrongCellError
    from suffice.tables.targets import UnknownColumnError

    message = str(error).rstrip()
    if isinstance(error, UnknownColumnError):
        return click.UsageError(message)
    if isinstance(error, WrongCellError):
        return SchemaFailure(message)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return DataFailure(message)


def _without(error: ModuleNotFoundError) -> str:
    extras = {"matplotlib": "plot", "onnx": "onnx", "onnxruntime": "onnx"}
    name = (error.name or "").partition(".")[0]
    if name not in extras:
        return str(error)
    return f"this needs {name}, which is not installed; run: pip install 'suffice[{extras[name]}]'"
