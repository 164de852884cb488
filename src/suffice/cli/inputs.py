"""What commands read: rows of files or stdin, and models."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.errors import DataFailure
from suffice.cli.messages import is_alone, is_quiet

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat
    from suffice.storage.fields import Fields
    from suffice.tables.files.source import FileSource

WITHOUT_SCIKIT_LEARN = (
    "BayesClassifier",
    "EvidenceClassifier",
    "GaussianDiscriminant",
    "Statistics",
    "TextClassifier",
)
"""What can be asked without scikit-learn, by the names in files."""


@contextmanager
def opened(
    data: tuple[str, ...],
    data_format: DataFormat,
    work: str,
    *,
    drop_unlabelled: bool = False,
    on_error: str = "raise",
) -> Iterator[FileSource]:
    """The rows of files; stdin or a pipe goes to a temporary file first, since rows may be read twice."""
    from suffice.progress import Progress
    from suffice.tables.files.formats import format_of
    from suffice.tables.files.source import open_source

    if "-" in data and len(data) > 1:
        raise click.UsageError("stdin (-) cannot be combined with files.")
    typed = click.get_current_context().params
    if "-" in data and "-" in (typed.get("model"), typed.get("like"), *typed.get("models", ())):
        raise click.UsageError("the model and the rows cannot both come from stdin (-); name a file for one.")
    piped = data[0] if len(data) == 1 and (data[0] == "-" or Path(data[0]).is_fifo()) else None
    form = data_format.form
    if piped is not None and form is None:
        with _formats_asked_for():
            form = "csv" if piped == "-" else format_of(Path(piped))
    spooled = nullcontext(None) if piped is None else _spool(piped)
    with spooled as spool, Progress(work, quiet=is_quiet()) as progress:
        source = open_source(spool or list(data), form, data_format.options)
        _refuse_to_replace_rows(source, typed.get("output"))
        source.called = "stdin" if piped == "-" else piped
        source.drop_unlabelled = drop_unlabelled
        source.skipped = {} if on_error == "skip" else None
        with _formats_asked_for():
            _ = source.names
        yield replace(source, said=progress.rows)


@contextmanager
def _formats_asked_for() -> Iterator[None]:
    """Ask for the format of a file whose name does not reveal it."""
    from suffice.tables.files.formats import UnknownFormatError

    try:
        yield
    except UnknownFormatError as error:
        raise click.UsageError(f"{str(error).rstrip('.')}, or name the format with --format.") from error


def _refuse_to_replace_rows(source: FileSource, output: str | None) -> None:
    """Refuse to write the result over the rows that it is made of, which nobody means."""
    if output is None or output == "-" or not Path(output).is_file():
        return
    if any(Path(output).samefile(path) for path in source.paths):
        raise click.UsageError(f"{output} holds the rows; name another file for the result.")


@contextmanager
def _spool(path: str) -> Iterator[str]:
    """A temporary file with what comes from stdin, or from a pipe."""
    from suffice.storage.saved import naming

    name = "stdin" if path == "-" else path
    try:
        spool = tempfile.NamedTemporaryFile(prefix="suffice-")  # noqa: SIM115, it is entered below
    except OSError as error:
        raise DataFailure(
            f"{name} is copied to a temporary file, since rows may be read twice, but no folder for it can "
            f"be written to ({error.strerror}); set TMPDIR to one, or name a file instead of {path}."
        ) from error
    with spool:
        place = f"{Path(spool.name).parent}, which keeps a copy of {name}"
        with (
            nullcontext(_stdin()) if path == "-" else Path(path).open("rb") as pipe,
            naming(place, nullcontext(spool)),
        ):
            shutil.copyfileobj(pipe, spool)
            spool.flush()
        yield spool.name


def _stdin() -> Any:
    if sys.stdin is None:
        raise DataFailure("stdin is closed; name a file, or redirect stdin.")
    return sys.stdin.buffer


def load(path: str, *, to_ask: bool = False) -> Any:
    """A model or statistics from a file or stdin; one that is only asked does without scikit-learn."""
    import suffice
    from suffice.storage.load import loaded, newer_versions_named
    from suffice.storage.saved import read

    name = "stdin" if path == "-" else path
    try:
        fields = read(io.BytesIO(_stdin().read()) if path == "-" else path)
        if to_ask and is_alone():
            _do_without(fields)
        with newer_versions_named(fields):
            return loaded(fields)
    except suffice.SufficeFileError as error:
        raise DataFailure(f"{name}: {error} Models are written by suffice fit.") from error
    except OSError as error:
        error.filename = error.filename or name
        raise


def _do_without(fields: Fields) -> None:
    """Do without what takes longer to import than a model to answer, if nothing in the file needs it."""
    from suffice.lazy.scikit_learn import stand_in

    if fields.text("class") in WITHOUT_SCIKIT_LEARN:
        stand_in()
    containers = fields.branches("container") if "container" in fields else []
    if not any(one.text("library") == "pandas" for one in containers):
        sys.meta_path.insert(0, _WithoutPandas())


class _WithoutPandas:
    """Lets pandas seem not to be installed, which pyarrow would import at its first array."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse to find pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)


def as_model(held: Any) -> Any:
    """A model unchanged; statistics as a model of the families they were summed for."""
    import suffice

    return suffice.BayesClassifier().fit_statistics(held) if isinstance(held, suffice.Statistics) else held


def load_model(path: str, *, to_ask: bool = False) -> Any:
    """A model from a file with a model or statistics."""
    return as_model(load(path, to_ask=to_ask))
