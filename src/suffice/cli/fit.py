"""The command that learns a model from labelled rows: fit."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.locks import locked
from suffice.cli.outputs import refuse_output, report, save
from suffice.tables.wording import counted, listed, quoted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat
    from suffice.tables.files.batches import LabelledFiles
    from suffice.tables.files.source import FileSource

MODELS = {
    "evidence": "many kinds of evidence, each weighed by held-out rows, for the best probabilities",
    "bayes": "naive Bayes, with a family for each column",
    "gaussian": "a joint Gaussian of numbers, with one covariance (gda) or one per class (qda), whichever "
    "has the lower cross-validated log loss",
    "text": "naive Bayes on the words of one column",
    "logistic": "logistic regression of numbers",
}
"""What --model chooses from, the best first."""
OTHER_NAMES = {"auto": "evidence", "nb": "bayes"}
COVARIANCES = {"gaussian": ("shared", "full"), "gda": ("shared",), "qda": ("full",)}
"""The covariances that the models of joint Gaussians choose from."""
OF_FAMILIES = ("evidence", "bayes", "text")
"""Models with a family for each column."""
SETTINGS = {
    "--families": ("evidence", "bayes"),
    "--alpha": ("bayes", "text"),
    "--unseen": ("bayes", "text"),
    "--checkpoint": ("bayes", "text", *COVARIANCES),
}
"""The models that an option is for."""


@options.command(
    "suffice fit penguins.csv -y species -o penguins.suffice",
    "suffice fit 'trips-*.parquet' -y paid_by --families stops=poisson --drop id -o trips.suffice",
    "suffice fit tuesday.csv -y species --like monday.suffice -o tuesday.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="The file for the model; - is stdout.")
@click.option(
    "--model",
    "kind",
    type=click.Choice([*MODELS, *OTHER_NAMES, "gda", "qda"]),
    default=next(iter(MODELS)),
    show_default=True,
    metavar="|".join(MODELS),
    help="; ".join(f"{name}: {what}" for name, what in MODELS.items())
    + "".join(f"; {name}: another name for {model}" for name, model in OTHER_NAMES.items())
    + ".",
)
@options.like(
    "Use the families and pieces of evidence of this model or statistics, so that both can be merged."
)
@options.families
@click.option(
    "--alpha",
    type=options.Finite(most=2.0**53),  # beyond which one row more changes no sum
    help="bayes, text: the smoothing of every inferred family, in pseudo-observations.",
)
@click.option(
    "--priors",
    metavar="uniform|CLASS=P,...",
    help="The class priors; by default the class frequencies. Not for logistic.",
)
@click.option(
    "--unseen",
    type=click.Choice(["ignore", "smooth", "error"]),
    help="bayes, text: what to do with values that were never seen; ignore by default. With this option, "
    "DATA is read twice.",
)
@options.weight
@options.drop
@options.drop_unlabelled
@options.checkpoint
@options.on_error
@options.data_format
@options.timeout
@options.force
def fit(
    data: tuple[str, ...],
    target: str | None,
    output: str,
    kind: str,
    like: str | None,
    families: tuple[str, ...],
    alpha: float | None,
    priors: str | None,
    unseen: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    drop_unlabelled: bool,
    checkpoint: str | None,
    on_error: str,
    data_format: DataFormat,
    timeout: float,
    force: bool,
) -> None:
    """Fit a model to the labelled rows of DATA and save it.

    The rows are read in batches, so DATA may be larger than memory. The first 100,000 rows (or 64 MB of them)
    decide the family of each column. The output lists the families with their reasons, then accuracy and log
    loss in 5-fold cross-validation on up to 50,000 rows, compared with always predicting the most common
    class.
    """
    from suffice.cli.columns import named_target, rows_like
    from suffice.cli.inputs import load, opened

    refuse_output(output, force=force)
    kind = OTHER_NAMES.get(kind, kind)
    chosen = options.chosen_families(families)
    given = {"--families": chosen, "--alpha": alpha, "--unseen": unseen, "--checkpoint": checkpoint}
    for name, value in given.items():
        if value not in (None, {}) and kind not in SETTINGS[name]:
            *others, last = SETTINGS[name]
            raise click.UsageError(
                f"{name} works with --model {', '.join(others)} or {last}, not with --model {kind}."
            )
    if like is not None:
        options.refuse_beside_like(families)
        if kind not in SETTINGS["--families"] or unseen is not None or alpha is not None:
            raise click.UsageError(
                "--like works with --model evidence or bayes, without --alpha and --unseen."
            )
    if priors is not None and kind == "logistic":
        raise click.UsageError("--priors works with the other models, not with --model logistic.")
    wish = Wish(kind, chosen, alpha, unseen, options.chosen_priors(priors), data_format.options.missing)
    held = None if like is None else load(like)
    reading = wish.reading(data_format) if held is None else data_format.as_fitted(held)
    rows_of = partial(opened, drop_unlabelled=drop_unlabelled, on_error=on_error)
    with rows_of(data, reading, "fitting") as source:
        rows, column = source, named_target(source, target)
        source.marks = options.marks_of_labels(data_format, column)
        if held is not None:
            rows, schema = rows_like(held, rows, column, weight)
            wish = replace(wish, families=schema, pieces=getattr(held, "pieces_", "all"), marks=None)
        columns = {"target": column, "weight": weight, "drop": () if like else drop}
        model, evaluation, n_rows = wish.fitted(rows, columns, checkpoint)
        with locked(output, timeout):
            save(model, output)
    report(*_report(model, evaluation, n_rows, output))


def _report(model: Any, evaluation: Any, n_rows: int, output: str) -> tuple[str, dict[str, Any]]:
    """What was fitted and how good it is, in words and as facts."""
    facts = {"file": output, "model": type(model).__name__, "rows": n_rows, "classes": model.classes_}
    size = f"{counted(n_rows, 'row')}, {counted(len(model.classes_), 'class')}"
    lines = [f"{type(model).__name__} fitted to {size}."]
    if hasattr(model, "schema_"):
        lines.insert(0, f"{model.schema_!r}\n")
        facts["columns"] = described_columns(model.schema_)
        if any("decimal commas" in column.reason for column in model.schema_):
            lines.append("Numbers with decimal commas are read with --decimal ,")
    if hasattr(model, "weights_"):
        lines.insert(1, f"{model.weights_!r}\n")
    if evaluation is None:
        return "\n".join([*lines, "There are too few rows for cross-validation."]), facts
    baseline = evaluation.baseline
    lines.append(
        f"Cross-validated: accuracy {evaluation.accuracy:.3f} and log loss {evaluation.log_loss:.3f}; "
        f"always {quoted(evaluation.commonest)}: {baseline.accuracy:.3f} and {baseline.log_loss:.3f}."
    )
    facts["cross_validation"] = {**evaluation.scalars(), "baseline": baseline.scalars()}
    return "\n".join(lines), facts


def described_columns(schema: Any) -> list[dict[str, Any]]:
    """Each column with its family and why it was chosen."""
    return [
        {"name": str(one.name), "family": one.family and repr(one.family), "why": one.reason}
        for one in schema
    ]


@dataclass(frozen=True)
class Wish:
    """The model that is asked for."""

    kind: str
    families: Any
    """Families by column, or the schema of another model."""
    alpha: float | None
    unseen: str | None
    priors: Any
    """None, "uniform", or a prior for each class, by its text."""
    marks: tuple[str, ...] | None
    """Texts that stand for a missing cell."""
    pieces: Any = "all"
    """The pieces of evidence of another model."""

    def reading(self, data_format: DataFormat) -> DataFormat:
        """How files are read."""
        return data_format.left_to_model() if self.kind in OF_FAMILIES else data_format

    def fitted(
        self, source: FileSource, columns: dict[str, Any], checkpoint: str | None
    ) -> tuple[Any, Any, int]:
        """The model, its cross-validation, and the number of rows."""
        from suffice.cli.cross_validation import Sample, cross_validated
        from suffice.tables.files.batches import LabelledFiles
        from suffice.tables.targets import require_column

        for name in self.families if isinstance(self.families, dict) else ():
            require_column(name, source.names)
        if self.kind not in OF_FAMILIES:
            source = _with_numbers(source, LabelledFiles.of(source, **columns), self.kind)
        files = LabelledFiles.of(source, **columns)
        first, *rivals = self._new(source, columns)
        model = first.fit_from(source, **columns, checkpoint=checkpoint)
        if self.unseen is not None:
            known = _with_unseen(model.schema_, self.unseen)
            model = model.set_params(families=known, alpha=None).fit_from(source, **columns)
        priors = options.priors_of_labels(self.priors, model.classes_) if self.priors else None
        model = model if priors is None else model.with_priors(priors)
        sample = files.through(Sample)
        best = cross_validated(model, sample)
        for rival in rivals:
            found = cross_validated(rival.set_params(priors=priors), sample)
            if best is not None and found is not None and found.log_loss < best.log_loss:
                model, best = rival.fit_from(source, **columns), found
        return model, best, sample.n_rows

    def _new(self, source: FileSource, columns: dict[str, Any]) -> list[Any]:
        """Models of the kind to choose from, before they are fitted."""
        import suffice

        if self.kind in COVARIANCES:
            return [suffice.GaussianDiscriminant(tied) for tied in COVARIANCES[self.kind]]
        if self.kind == "logistic":
            return [suffice.LogisticRegression()]
        families = self.families or "infer"
        if self.kind == "evidence":
            return [suffice.EvidenceClassifier(families, pieces=self.pieces, missing_marks=self.marks)]
        if self.kind == "text":
            smoothing: dict[str, Any] = {} if self.alpha is None else {"alpha": self.alpha}
            families = {_text_column(source, columns): suffice.families.Words(**smoothing)}
        return [suffice.BayesClassifier(families, alpha=self.alpha, missing_marks=self.marks)]


def _with_unseen(schema: Any, unseen: Any) -> Any:
    """The schema with what its families do with values that were never seen."""

    def of(family: Any) -> Any:
        if family is None:
            return None
        inner = "rest" if hasattr(family, "rest") else None
        return replace(family, **({"rest": of(family.rest)} if inner else {"unseen": unseen}))

    columns = tuple(column._replace(family=of(column.family)) for column in schema)
    return replace(schema, columns=columns, held_out=None)


def _with_numbers(source: FileSource, files: LabelledFiles, kind: str) -> FileSource:
    """The rows for a model of numbers, with the usual marks of missing ones; columns of text are refused."""
    from suffice.tables.files.types import Wanted, read_as
    from suffice.tables.notations import MARKS

    first, number = files.through(next).X, Wanted("number", MARKS)
    written = [field.name for field in first.schema if str(field.type) == "string"]
    text = [name for name in written if read_as(first.column(name).combine_chunks(), number) is None]
    if text:
        options_to_drop = " ".join(f"--drop {shlex.quote(name)}" for name in text[:10])
        raise click.UsageError(
            f"--model {kind} needs numbers, but {', '.join(map(repr, text[:10]))} "
            f"{'holds' if len(text) == 1 else 'hold'} text; add {options_to_drop}, or use --model evidence."
        )
    return source.only(source.names, dict.fromkeys(written, number))


def _text_column(source: FileSource, columns: dict[str, Any]) -> str:
    used = {columns["target"], columns["weight"], *columns["drop"]}
    left = [name for name in source.names if name not in used]
    if len(left) != 1:
        raise click.UsageError(
            f"--model text needs a single column of text, but the columns are "
            f"{listed(left, brackets=False)}; drop the others with --drop, or use --model evidence for all."
        )
    return left[0]
