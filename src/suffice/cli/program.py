"""The program and its commands, each imported when it is asked for."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from suffice import __version__
from suffice.cli.errors import PipeClosed, exit_code_of, open_streams
from suffice.cli.messages import choose, in_options, say

COMMANDS = {
    "fit": ("fit", "Fit a model to labelled rows."),
    "predict": ("predict", "Predict the class of each row."),
    "evaluate": ("evaluate", "Evaluate a model on labelled rows."),
    "explain": ("evaluate", "Show how each cell speaks for or against each class."),
    "sample": ("sample", "Draw random rows from a model."),
    "summarize": ("summarize", "Reduce labelled rows to their statistics."),
    "merge": ("arithmetic", "Add models or statistics."),
    "subtract": ("arithmetic", "Remove the rows of one file from another."),
    "update": ("summarize", "Add rows to a fitted model."),
    "info": ("show", "Describe what a file holds."),
    "export": ("show", "Write a model as SQL, ONNX or JSON."),
    "plot": ("plot", "Draw a model and its data."),
    "report": ("report", "Write a page about a model and labelled rows."),
    "compare": ("report", "Write a page about several models on the same rows."),
    "demo": ("show", "Demonstrate the library on a small table."),
}


class Program(click.Group):
    """Commands by name; every error becomes a message and an exit code."""

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
        """Name the nearest command where no command has the name."""
        if args[0] not in COMMANDS:
            from suffice.tables.wording import nearest

            near = nearest(args[0], COMMANDS)
            hint = "" if near is None else f" Did you mean {near!r}?"
            ctx.fail(f"There is no command {args[0]!r}.{hint} The commands are {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; data goes to stdout, everything else to stderr."""
        warnings.showwarning = _show_warnings()
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise PipeClosed from error  # for which click would end with 1

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> NoReturn:
        """Run the program, and end the process with an exit code."""
        open_streams()
        typed = sys.argv[1:] if args is None else list(args)
        choose(
            quiet=False, alone=args is None, json="--json" in typed
        )  # also for errors of what else was typed
        named["standalone_mode"] = False
        sys.exit(exit_code_of(lambda: super(Program, self).main(args, *rest, **named)))


def _show_warnings() -> Callable[..., None]:
    """Shows warnings, of those about the same thing only the first: others come with every batch and fold."""
    seen: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        about = getattr(message, "about", str(message))
        if about not in seen:
            say(f"Warning: {in_options(str(message))}")
        seen.add(about)

    return show


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Example:
  suffice fit penguins.csv -y species -o penguins.suffice
  suffice predict penguins.suffice new.csv --proba > answers.csv

\b
Tab completion of commands, options and columns in bash (or zsh, fish):
  eval "$(_SUFFICE_COMPLETE=bash_source suffice)"

\b
Exit codes: 0 success, 1 unusable data, 2 wrong usage,
3 columns that do not match the model, 128 + N ended by signal N
(130 interrupted, 143 terminated).""",
)
@click.version_option(__version__, prog_name="suffice")
def main() -> None:
    """Probabilistic classification from sufficient statistics.

    A model is a set of sums over its rows, class by class, so models can be added, subtracted and explained.
    Data comes from csv, tsv, jsonl, parquet or arrow files, packed or not; - is stdin or stdout. Results go
    to stdout, everything else to stderr.
    """
