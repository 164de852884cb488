"""The program and its commands, each imported when it is asked for."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import click

from suffice import __version__
from suffice.cli.errors import told

COMMANDS = {
    "fit": ("fit", "Fit a model to labelled rows."),
    "predict": ("predict", "Predict the class of each row."),
    "evaluate": ("predict", "Judge a model on labelled rows."),
    "explain": ("predict", "Show what each cell says about each class."),
    "sample": ("predict", "Draw rows from a model."),
    "summarize": ("fit", "Sum labelled rows into statistics."),
    "merge": ("arithmetic", "Add models or statistics."),
    "subtract": ("arithmetic", "Take the rows of one file out of another."),
    "update": ("fit", "Let a model learn more rows."),
    "info": ("show", "Tell what a file holds."),
    "export": ("show", "Write a model as SQL, ONNX or JSON."),
    "plot": ("show", "Draw a model."),
    "demo": ("show", "Show the library on a small table."),
}


class Program(click.Group):
    """Commands by name; what goes wrong becomes a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"suffice.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Name the nearest command where there is none of a name."""
        if args[0] not in COMMANDS:
            from suffice.tables.wording import nearest

            near = nearest(args[0], COMMANDS)
            hint = "" if near is None else f" Did you mean {near!r}?"
            ctx.fail(f"There is no command {args[0]!r}.{hint} The commands are {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; data go to stdout, everything else to stderr."""
        warnings.showwarning = _show_warning
        with told(ctx):
            return super().invoke(ctx)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {message}", err=True)


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Example:
  suffice fit penguins.csv -y species -o penguins.suffice
  suffice predict penguins.suffice new.csv --proba > answers.csv

\b
Completion of commands, options and columns, for bash (or zsh, fish):
  eval "$(_SUFFICE_COMPLETE=bash_source suffice)"

\b
Exit codes: 0 done, 1 data that cannot be used, 2 wrong usage,
3 columns that are not those of the model, 130 interrupted.""",
)
@click.version_option(__version__, prog_name="suffice")
def main() -> None:
    """Probabilistic classification from sufficient statistics.

    A model is what was summed, class by class: it can be added to, subtracted from and explained.
    Data are csv, tsv, jsonl, parquet or arrow files, packed by gzip or not; - is stdin or stdout. Results go
    to stdout and everything else to stderr.
    """
