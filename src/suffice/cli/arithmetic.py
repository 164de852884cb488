"""Commands that add and subtract files: merge and subtract."""

from __future__ import annotations

from typing import Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure, SchemaFailure
from suffice.cli.locks import locked
from suffice.cli.messages import say
from suffice.cli.outputs import refuse_output, report, save
from suffice.tables.wording import counted


@options.command("suffice merge monday.suffice tuesday.suffice -o both.suffice")
@click.argument("files", nargs=-1, required=True, type=options.FilePath(), metavar="FILES...")
@options.output(required=True, text="The file for the sum; - is stdout.")
@options.timeout
@options.force
def merge(files: tuple[str, ...], output: str, timeout: float, force: bool) -> None:
    """Add models or statistics: their sums are the same as from all their rows together.

    If the first file holds a model, so does the result, with the same settings. All files must have the same
    columns and families; the option --like of suffice fit and suffice summarize takes those of another file.
    Weights of evidence are no sums: those of the larger model are kept, and a column with another family in
    the smaller one counts as missing in its rows.
    """
    refuse_output(output, force=force)
    with locked(output, timeout):  # which may be one of the files
        total, *others = [_addable(path) for path in files]
        for path, other in zip(files[1:], others, strict=True):
            kept = _what_is_kept(total, other, files[0], path)
            total = _combined(total, other, files[0], path, 1)
            if kept is not None:
                say(kept)
        save(total, output)
    _report(total, output)


@options.command("suffice subtract week.suffice monday.suffice -o rest.suffice")
@options.model_file("whole")
@options.model_file("part")
@options.output(required=True, text="The file for the difference; - is stdout.")
@options.timeout
@options.force
def subtract(whole: str, part: str, output: str, timeout: float, force: bool) -> None:
    """Remove the rows of PART from WHOLE: the result is as if WHOLE had never seen them.

    Both files hold models or statistics with the same columns and families.
    """
    refuse_output(output, force=force)
    with locked(output, timeout):
        left = _combined(_addable(whole), _addable(part), whole, part, -1)
        save(left, output)
    _report(left, output)


def _report(held: Any, output: str) -> None:
    n_rows = _statistics(held).n_rows
    report(f"{counted(n_rows, 'row')}.", {"file": output, "rows": n_rows})


def _addable(path: str) -> Any:
    from suffice.cli.inputs import load

    held = load(path)
    if not hasattr(held, "totals") and not hasattr(held, "merge"):
        raise DataFailure(
            f"{path} holds a {type(held).__name__}, which is not a sum over rows and cannot be added; fit it "
            "again to all rows."
        )
    return held


def _statistics(held: Any) -> Any:
    return getattr(held, "statistics_", held)


def _what_is_kept(one: Any, other: Any, path: str, other_path: str) -> str | None:
    """Which of two models the result is like, if one has weights and the other has none."""
    import suffice

    weighed, weighed_too = (isinstance(held, suffice.EvidenceClassifier) for held in (one, other))
    if weighed and not weighed_too:
        return (
            f"The weights are those of {path}. {other_path} has only the sums of single columns: all other "
            f"evidence is that of the rows of {path} alone."
        )
    if weighed_too and not weighed:
        return (
            f"The result is a {type(one).__name__}, as {path} is: only the sums of single columns are taken "
            f"from {other_path}, not its weights. To keep these, name {other_path} first."
        )
    return None


def _combined(one: Any, other: Any, path: str, other_path: str, sign: int) -> Any:
    import suffice

    mine, theirs = _statistics(one).schema, _statistics(other).schema
    difference = mine.difference(theirs)
    weighed = sign > 0 and isinstance(one, suffice.EvidenceClassifier) and mine.names == theirs.names
    if difference is not None and not weighed:
        raise SchemaFailure(
            f"{path} and {other_path} do not match: {difference}. Give both the same families with the "
            "option --like of suffice fit and suffice summarize."
        )
    if not isinstance(one, suffice.Statistics):
        return one.merge(other) if sign > 0 else one.forget(other)
    if sign > 0:
        return one + _statistics(other)
    # Statistics may be negative, but those in a file stand for rows.
    return suffice.BayesClassifier().fit_statistics(one).forget(other).statistics_
