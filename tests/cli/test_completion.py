"""What a shell offers for what was typed so far."""

import pytest
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from suffice.cli import main


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("shell", [BashComplete, ZshComplete, FishComplete])
@pytest.mark.parametrize(
    "typed, offered",
    [
        ("su", [("plain", "summarize"), ("plain", "subtract")]),
        ("fit penguins.csv -y spe", [("plain", "species")]),
        ("predict m.suffice penguins.csv --keep is", [("plain", "island")]),
        ("fit penguins.csv --model q", [("plain", "qda")]),
        ("export m.suffice --to o", [("plain", "onnx")]),
        ("fit pen", [("file", "pen")]),
        ("info pen", [("file", "pen")]),
        ("merge a.suffice pen", [("file", "pen")]),
        ("fit penguins.csv -y species -o pen", [("file", "pen")]),
        ("summarize penguins.csv --like pen", [("file", "pen")]),
    ],
)
def test_commands_options_columns_and_files_are_completed(shell, typed, offered):
    *words, last = typed.split()
    found = shell(main, {}, "suffice", "_SUFFICE_COMPLETE").get_completions(words, last)
    assert [(one.type, one.value) for one in found] == offered


@pytest.mark.parametrize("shell", [BashComplete, ZshComplete, FishComplete])
def test_every_shell_has_a_script(shell):
    script = shell(main, {}, "suffice", "_SUFFICE_COMPLETE").source_vars()
    assert script["prog_name"] == "suffice"
