"""The command `suffice`. Nothing heavy is imported before a command that needs it runs."""

from suffice.cli.program import main

__all__ = ["main"]
