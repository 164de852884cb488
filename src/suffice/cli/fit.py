"""The command that learns a model from labelled rows: fit."""

from __future__ import annotations

import shlex
from collections.abc import Callable
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

MODELS = ("auto", "nb", "evidence", "gda", "qda", "text", "logistic")
OF_FAMILIES = ("auto", "nb", "evidence", "text")
"""Models with a family for each column."""


@options.command(
    "suffice fit penguins.csv -y species -o penguins.suffice",
    "suffice fit 'trips-*.parquet' -y paid_by --families stops=poisson --drop id -o trips.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="The file for the model; - is stdout.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(MODELS),
    default="auto",
    show_default=True,
    help="nb: naive Bayes, with a family for each column; evidence: the same and more, each piece weighed by "
    "held-out rows, for the best probabilities; gda, qda: joint Gaussians with one covariance, "
    "or with one per class; text: the words of one column; logistic: logistic regression. auto is nb, or "
    "gda or qda if all columns are measurements and the cross-validated log loss is lower.",
)
@options.families
@click.option(
    "--alpha",
    type=click.FloatRange(min=0.0),
    help="nb, text: the smoothing of every inferred family, in pseudo-observations.",
)
@click.option(
    "--priors",
    metavar="uniform|CLASS=P,...",
    help="The class priors; by default the class frequencies. Not for logistic.",
)
@click.option(
    "--unseen",
    type=click.Choice(["ignore", "smooth", "error"]),
    help="nb, text: what to do with values that were never seen; ignore by default. With this option, DATA "
    "is read twice.",
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
    from suffice.cli.columns import named_target
    from suffice.cli.inputs import opened

    refuse_output(output, force=force)
    chosen = options.chosen_families(families)
    settings = {"--families": chosen, "--alpha": alpha, "--unseen": unseen}
    for name, value in settings.items():
        beside = (kind == "text" and name == "--families") or (kind == "evidence" and name != "--families")
        if value not in (None, {}) and (kind not in OF_FAMILIES or beside):
            raise click.UsageError(f"{name} works with --model nb, not with --model {kind}.")
    if priors is not None and kind == "logistic":
        raise click.UsageError("--priors works with the other models, not with --model logistic.")
    wish = Wish(kind, chosen, alpha, unseen, options.chosen_priors(priors), data_format.options.missing)
    rows_of = partial(opened, drop_unlabelled=drop_unlabelled, on_error=on_error)
    with rows_of(data, wish.reading(data_format), "fitting") as source:
        column = named_target(source, target)
        model, evaluation, n_rows = wish.fitted(
            source, {"target": column, "weight": weight, "drop": drop}, checkpoint
        )
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
    families: dict[str, Any]
    alpha: float | None
    unseen: str | None
    priors: Any
    """None, "uniform", or a prior for each class, by its text."""
    marks: tuple[str, ...] | None
    """Texts that stand for a missing cell."""

    def reading(self, data_format: DataFormat) -> DataFormat:
        """How files are read: a model of families reads marks of missing cells itself, and remembers them."""
        if self.kind not in OF_FAMILIES:
            return data_format
        return replace(data_format, options=replace(data_format.options, missing=None))

    def fitted(
        self, source: FileSource, columns: dict[str, Any], checkpoint: str | None
    ) -> tuple[Any, Any, int]:
        """The model, its cross-validation, and the number of rows."""
        from suffice.cli.cross_validation import Sample, cross_validated
        from suffice.tables.files.batches import LabelledFiles
        from suffice.tables.targets import require_column

        for name in self.families:
            require_column(name, source.names)
        files = LabelledFiles.of(source, **columns)
        if self.kind in ("gda", "qda", "logistic"):
            _refuse_text(files, self.kind)
        model = self._new(self.kind, source, columns)
        model.fit_from(source, **columns, checkpoint=checkpoint)
        if self.unseen is not None:
            known = _with_unseen(model.schema_, self.unseen)
            model = model.set_params(families=known, alpha=None).fit_from(source, **columns)
        priors = options.priors_of_labels(self.priors, model.classes_) if self.priors else None
        model = model if priors is None else model.with_priors(priors)
        sample = files.through(Sample)
        best = cross_validated(model, sample)
        given = self.families or self.alpha is not None or self.unseen is not None
        if self.kind == "auto" and not given and best is not None and _are_measurements(model, sample):
            for other in ("gda", "qda"):
                rival = self._new(other, source, columns).set_params(priors=priors)
                found = cross_validated(rival, sample)
                if found is not None and found.log_loss < best.log_loss:
                    model, best = rival, found
            if not model.__sklearn_is_fitted__():
                model.fit_from(source, **columns)
        return model, best, sample.n_rows

    def _new(self, kind: str, source: FileSource, columns: dict[str, Any]) -> Any:
        """A model of a kind, before it is fitted."""
        import suffice

        makers: dict[str, Callable[[], Any]] = {
            "gda": lambda: suffice.GaussianDiscriminant("shared"),
            "qda": lambda: suffice.GaussianDiscriminant("full"),
            "logistic": suffice.LogisticRegression,
        }
        if kind in makers:
            return makers[kind]()
        families: Any = self.families or "infer"
        if kind == "text":
            smoothing: dict[str, Any] = {} if self.alpha is None else {"alpha": self.alpha}
            families = {_text_column(source, columns): suffice.families.Words(**smoothing)}
        if kind == "evidence":
            return suffice.EvidenceClassifier(families, missing_marks=self.marks)
        return suffice.BayesClassifier(families, alpha=self.alpha, missing_marks=self.marks)


def _with_unseen(schema: Any, unseen: Any) -> Any:
    """The schema with what its families do with values that were never seen."""

    def of(family: Any) -> Any:
        if family is None:
            return None
        inner = "rest" if hasattr(family, "rest") else None
        return replace(family, **({"rest": of(family.rest)} if inner else {"unseen": unseen}))

    columns = tuple(column._replace(family=of(column.family)) for column in schema)
    return replace(schema, columns=columns, held_out=None)


def _refuse_text(files: LabelledFiles, kind: str) -> None:
    """Refuse columns of text for a model of numbers."""
    first = files.through(next).X
    text = [field.name for field in first.schema if str(field.type) == "string"]
    if text:
        options_to_drop = " ".join(f"--drop {shlex.quote(name)}" for name in text[:10])
        raise click.UsageError(
            f"--model {kind} needs numbers, but {', '.join(map(repr, text[:10]))} "
            f"{'holds' if len(text) == 1 else 'hold'} text; add {options_to_drop}, or use --model nb."
        )


def _are_measurements(model: Any, sample: Any) -> bool:
    """Whether every column is a measurement without gaps, so that joint Gaussians are candidates."""
    columns = list(model.schema_)
    names = {"Normal", "LogNormal", "Gamma"}
    measured = all(
        column.family is not None and column.family.name in names and column.notation is None
        for column in columns
    )
    return measured and 1 < len(columns) <= 100 and not any(column.null_count for column in sample.X.columns)


def _text_column(source: FileSource, columns: dict[str, Any]) -> str:
    used = {columns["target"], columns["weight"], *columns["drop"]}
    left = [name for name in source.names if name not in used]
    if len(left) != 1:
        raise click.UsageError(
            f"--model text needs a single column of text, but the columns are "
            f"{listed(left, brackets=False)}; drop the others with --drop, or use --model auto for all."
        )
    return left[0]
