"""Command lines made at random: each ends with an exit code and a message, never with a traceback."""

import os
import random
import signal
from pathlib import Path

import click
import pytest

from suffice.cli import main
from suffice.cli.program import COMMANDS

MANY = int(os.environ.get("SUFFICE_FUZZ_FILES", "100000")) // 25
SEED = int(os.environ.get("SUFFICE_FUZZ_SEED", "100"))
FILES = (
    *(
        "penguins.csv",
        "part1.csv",
        "m.suffice",
        "s.suffice",
        "t.suffice",
        "l.suffice",
        "cut.suffice",
        "empty",
    ),
    *(
        "rows.jsonl",
        "rows.parquet",
        "rows.arrow",
        "rows.csv.gz",
        "bad.csv",
        "folder",
        "nothing.csv",
        "costs.json",
    ),
    *(
        "-",
        "",
        ".",
        "*.csv",
        "out.csv",
        "out.parquet",
        "out.suffice",
        "out.json.gz",
        "x/y/z.csv",
        "\x1b[31m.csv",
    ),
)
WORDS = (
    *("species", "island", "year", "sex", "Adelie", "", "a=b", "year=poisson", "uniform", "Adelie=1", "p(a)"),
    *(
        "0",
        "1",
        "3",
        "-1",
        "1e9",
        "999999",
        "nan",
        "inf",
        ";",
        ",",
        "\\t",
        "utf-16",
        "latin-1",
        "?,NA",
        "\ufeff",
    ),
    *("é", "x" * 300, "--", "-", "zoo.birds", '"a"', "a.b.c.d", "%s", "$HOME", "{}", "\x1b[0m", "prediction"),
)


def typed(rng, command):
    """A random command line: mostly options of the command, with values of the right kind or of any."""
    made = main.get_command(click.Context(main), command)
    line = []
    for param in made.params:
        is_argument = isinstance(param, click.Argument)
        if rng.random() > (0.9 if is_argument or param.required else 0.2):
            continue
        for _ in range(rng.choice([1, 1, 1, 2, 3]) if param.multiple or param.nargs == -1 else 1):
            name = [] if is_argument else [rng.choice(param.opts)]
            value = [] if getattr(param, "is_flag", False) else [valued(rng, param)]
            line.append([*name, *value])
    if rng.random() < 0.1:
        line.append([rng.choice(["--nonsense", "-x", "--json=1", "--proba", "extra", "--row", "-y"])])
    rng.shuffle(line)
    return [command, *(word for words in line for word in words)]


def valued(rng, param):
    chance = rng.random()
    if isinstance(param.type, click.Choice) and chance < 0.9:
        return rng.choice(list(param.type.choices))
    if isinstance(param.type, click.Path) and chance < 0.9:
        return rng.choice(FILES)
    if param.name == "n_rows" and chance < 0.9:
        return str(rng.choice([0, 1, 50, 20_000]))
    if param.name == "timeout":
        return rng.choice(["0", "0.1", "-1", "x"])
    if param.name in ("target", "keep", "drop", "weight", "columns", "key") and chance < 0.7:
        return rng.choice(["species", "island", "year", "body_mass_g"])
    return rng.choice(WORDS)


@pytest.fixture
def inputs(run, folder):
    """Files of every kind, whole and damaged."""
    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes")
    run("summarize", "part1.csv", "-y", "species", "--like", "m.suffice", "-o", "s.suffice")
    run(
        "fit",
        "penguins.csv",
        "-y",
        "species",
        "-o",
        "g.suffice",
        "--model",
        "gaussian",
        "--drop",
        "island",
        "--drop",
        "sex",
    )
    columns = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year")
    drop = [word for name in columns for word in ("--drop", name)]
    run("fit", "part2.csv", "-y", "species", "-o", "t.suffice", "--model", "text", *drop)
    Path("n.csv").write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i % 3 % 2]}\n" for i in range(40)))
    run("fit", "n.csv", "-y", "y", "-o", "l.suffice", "--model", "logistic")
    Path("cut.suffice").write_bytes(Path("m.suffice").read_bytes()[:-100])
    Path("empty").write_bytes(b"")
    Path("bad.csv").write_bytes(b'species,"isl\nand\r1,2,3\n"\xff\0')
    Path("costs.json").write_text('{"Adelie": {"Gentoo": 5}}')
    Path("folder").mkdir()
    for name in ("rows.jsonl", "rows.parquet", "rows.arrow", "rows.csv.gz"):
        run("sample", "m.suffice", "-n", "60", "-y", "species", "-o", name)
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def type_in(inputs, rng, n_cases):
    from click.testing import CliRunner

    codes = {}
    for _ in range(n_cases):
        arguments = typed(rng, rng.choice(list(COMMANDS)))
        signal.alarm(300)  # a hang ends the tests
        result = CliRunner().invoke(
            main, arguments, input=b"species,island\nAdelie,Biscoe\n", prog_name="suffice"
        )
        signal.alarm(0)
        told = result.stderr
        assert result.exit_code in (0, 1, 2, 3), (arguments, told, result.exception)
        assert isinstance(result.exception, SystemExit | None), (arguments, result.exception)
        assert "Traceback" not in told, arguments
        assert "mistake in suffice" not in told, (arguments, told)
        assert "\x1b" not in told, arguments
        assert result.exit_code == 0 or told.strip(), arguments
        codes[result.exit_code] = codes.get(result.exit_code, 0) + 1
        assert list(Path().glob(".*.part")) == [], arguments
        for path, content in inputs.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)
    return codes


def test_random_command_lines_end_with_a_message(inputs):
    assert set(type_in(inputs, random.Random(1), 60)) >= {0, 1, 2}


@pytest.mark.slow
def test_many_random_command_lines_end_with_a_message(inputs):
    codes = type_in(inputs, random.Random(SEED), MANY)
    rare = {3} if MANY >= 4000 else set()  # columns that do not match the model
    assert set(codes) >= {0, 1, 2} | rare, codes
