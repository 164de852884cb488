"""Nothing that a user can type or a file can hold gives a traceback, or speaks to the terminal."""

import io
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

import suffice
from suffice.cli import inputs, outputs
from suffice.engines import predictions

ESCAPES = "\x1b[31mred\x1b[0m"
BELL = "bell\x07\x9b2J\u202eback"


@pytest.fixture
def hostile(run):
    """A model whose names, labels and levels hold escape sequences, and its data."""
    rng = np.random.default_rng(0)
    levels = np.array([ESCAPES, BELL, "plain"])
    table = pa.table(
        {
            f"x{ESCAPES}": rng.normal(size=60),
            f"level{BELL}": levels[rng.integers(0, 3, 60)],
            f"y{ESCAPES}": np.array([f"a{ESCAPES}", f"b{BELL}"])[rng.integers(0, 2, 60)],
        }
    )
    csv.write_csv(table, "d.csv")
    run("fit", "d.csv", "-y", f"y{ESCAPES}", "-o", "h.suffice", "--model", "bayes")
    return "h.suffice"


def is_safe(text):
    return not set(text) & set("\x1b\x07\x9b\u202e")


def test_terminal_escapes_are_escaped_by_every_command(run, hostile):
    fitted = run("fit", "d.csv", "-y", f"y{ESCAPES}", "-o", "n.suffice", "--model", "bayes").stderr
    assert is_safe(fitted)
    assert r"\x1b[31mred" in fitted
    for arguments in (
        ("info", hostile),
        ("explain", hostile, "d.csv", "--row", "0"),
        ("evaluate", hostile, "d.csv"),
    ):
        told = run(*arguments).stdout
        assert is_safe(told), arguments
        assert r"\x1b[31mred" in told
    for arguments in (
        ("summarize", "d.csv", "-y", f"y{ESCAPES}", "-o", "s.suffice"),
        ("update", hostile, "d.csv"),
    ):
        assert is_safe(run(*arguments).stderr)
    for code, arguments in (
        (2, ("fit", "d.csv", "-y", f"no{ESCAPES}", "-o", "k.suffice")),
        (2, ("fit", "d.csv", "-o", "k.suffice")),
        (2, ("fit", "d.csv", "--families", f"{ESCAPES}=poison", "-y", "y", "-o", "k.suffice")),
        (1, ("fit", f"{ESCAPES}.csv", "-y", "y", "-o", "k.suffice")),
        (1, ("info", f"no{ESCAPES}.suffice")),
        (2, (f"inf{ESCAPES}",)),
        (2, ("predict", hostile, "d.csv", f"--{ESCAPES}")),
        (2, (f"--{ESCAPES}",)),
        (3, ("predict", hostile, "penguins.csv")),
    ):
        told = run(*arguments, code=code).stderr
        assert told.startswith(("Error: ", "Usage: "))
        assert is_safe(told), arguments
    assert r"no\x1b[31mred" in run("info", f"no{ESCAPES}.suffice", code=1).stderr
    assert not is_safe(run("predict", hostile, "d.csv").stdout)  # results are data


def test_a_column_kept_twice_is_kept_once(run, model):
    assert run("predict", model, "part1.csv", "--keep", "year", "--keep", "year").stdout.startswith(
        "year,prediction\n"
    )


def test_a_column_of_the_model_it_is_like_holds_no_classes(run, model):
    told = run("summarize", "part1.csv", "-y", "island", "--like", model, "-o", "s.suffice", code=2).stderr
    assert "the model learns from 'island', so -y must name another column" in told
    told = run(
        *("summarize", "part1.csv", "-y", "species", "--weight", "year", "--like", model, "-o", "s.suffice"),
        code=2,
    ).stderr
    assert "--weight must name another column" in told


def test_any_number_of_rows_is_drawn_as_it_is_written(shell, model):
    assert model
    done = shell("suffice sample m.suffice -n 1000000000000 --seed 1 | head -4")
    assert done.stdout.count(b"\n") == 4
    assert done.stderr == b""


def test_rows_that_are_drawn_in_parts_are_as_many_as_asked_for(run, model, monkeypatch):
    from suffice.cli import sample

    whole = run("sample", model, "-n", "25", "--seed", "4").stdout
    monkeypatch.setattr(sample, "CELLS_AT_ONCE", 80)
    parts = run("sample", model, "-n", "25", "--seed", "4").stdout
    assert len(parts.splitlines()) == 26
    assert parts.splitlines()[0] == whole.splitlines()[0]
    assert len(set(parts.splitlines())) == 26
    assert parts == run("sample", model, "-n", "25", "--seed", "4").stdout
    run("sample", model, "-n", "25", "-o", "drawn.parquet")
    assert pq.read_table("drawn.parquet").num_rows == 25


@pytest.mark.parametrize("line, code, told", [
    ("suffice info m.suffice >&-", 1, b"Error: stdout is closed; name a file with -o, or redirect stdout.\n"),
    ("suffice predict m.suffice part1.csv >&-", 1, b"Error: stdout is closed"),
    ("suffice predict m.suffice part1.csv -o p.csv >&-", 0, b""),
    ("suffice fit part1.csv -y species -o n.suffice --model bayes >&- 2>&-", 0, b""),
    ("suffice info m.suffice 2>&-", 0, b""),
    ("suffice info nothing 2>&-", 1, b""),
    ("suffice predict m.suffice <&-", 1, b"Error: stdin is closed; name a file, or redirect stdin.\n"),
    ("suffice info - <&-", 1, b"Error: stdin is closed"),
    ("suffice fit part1.csv -y species -o n.suffice --model bayes <&- >&- 2>&-", 0, b""),
    ("suffice --help >&-", 1, b"Error: stdout is closed"),
])  # fmt: skip
def test_closed_streams_are_told_or_not_needed(shell, model, line, code, told):
    before = Path(model).read_bytes()
    assert shell(line, code=code).stderr.startswith(told)
    assert Path(model).read_bytes() == before
    if "-o n.suffice" in line:
        assert suffice.load("n.suffice").classes_.tolist()


def test_errors_name_stdin_and_not_a_temporary_file(run, model):
    for content, arguments in (
        (b"", ("fit", "-", "-y", "y", "-o", "n.suffice")),
        (b"x,y\n1,a,b\n", ("fit", "-", "-y", "y", "-o", "n.suffice")),
        (b"x,y\n1,\xff\n", ("fit", "-", "-y", "y", "-o", "n.suffice")),
        (b"\x1f\x8b\x08nonsense", ("fit", "-", "-y", "y", "-o", "n.suffice")),
        (b"PAR1nonsense", ("predict", model, "--format", "parquet")),
        (b"nonsense", ("predict", model, "--format", "arrow")),
        (b"{nonsense", ("predict", model, "--format", "jsonl")),
        (b"nonsense", ("info", "-")),
    ):
        told = run(*arguments, code=1, input=content).stderr
        assert told.startswith("Error: stdin: "), told
        assert "suffice-" not in told


def test_a_mistake_of_ours_is_told_without_a_traceback(run, model, monkeypatch):
    def wrong(*_, **__):
        raise KeyError("what")

    monkeypatch.setattr(inputs, "load", wrong)
    told = run("info", model, code=1).stderr
    assert told.startswith("Error: this is a mistake in suffice; please report it: KeyError: 'what' in ")


def test_too_little_memory_is_told(run, model, monkeypatch):
    def too_much(*_, **__):
        return np.empty(1 << 50)

    monkeypatch.setattr(inputs, "load", too_much)
    assert "there is not enough memory" in run("info", model, code=1).stderr


def test_posteriors_and_predictions_are_scored_once(run, model, monkeypatch):
    from suffice.model.solved.solution import SolvedModel

    calls = []
    real = SolvedModel.read_off
    monkeypatch.setattr(
        SolvedModel, "read_off", lambda *args, **named: (calls.append(1), real(*args, **named))[1]
    )
    run("predict", model, "penguins.csv", "--proba")
    assert len(calls) == 1


def test_equal_posteriors_are_decided_as_by_the_library(run):
    suffice.BayesClassifier(suffice.families.Normal(), priors="uniform").fit(
        pa.table({"x": [-1.0, 1.0, -1.0 + 1e-15, 1.0, -1.0, 1.0]}), ["b", "a", "b", "a", "b", "a"]
    ).save("t.suffice")
    x = np.concatenate([np.linspace(-1e-15, 1e-15, 41), [0.0, 5.0, -5.0]])
    rows = pa.table({"x": x})
    pq.write_table(rows, "d.parquet")
    wanted = suffice.load("t.suffice").predict(rows).tolist()
    run("predict", "t.suffice", "d.parquet", "--proba", "-o", "p.csv")
    assert csv.read_csv("p.csv")["prediction"].to_pylist() == wanted


def test_a_header_without_rows_gives_a_header_without_rows(run, model):
    Path("h.csv").write_text(Path("penguins.csv").read_text().splitlines()[0] + "\n")
    for options in ((), ("--proba",), ("--keep", "year")):
        found = run("predict", model, "h.csv", *options).stdout
        assert found == run("predict", model, "penguins.csv", *options).stdout.splitlines()[0] + "\n"
    run("predict", model, "h.csv", "--proba", "-o", "h.parquet")
    assert pq.read_table("h.parquet").column_names == ["prediction", "p(Adelie)", "p(Chinstrap)", "p(Gentoo)"]
    assert run("explain", model, "h.csv").stdout == "row,column,Adelie,Chinstrap,Gentoo\n"
    assert run("sample", model, "-n", "0").stdout.count("\n") == 1
    assert run("predict", model, "h.csv", "--json").stdout == ""
    for command in ("evaluate", "update"):
        assert "no rows" in run(command, model, "h.csv", "-y", "species", code=1).stderr


@pytest.mark.parametrize("ending", [".parquet.gz", ".parquet.xz", ".parquet.zst", ".csv.zst"])
def test_files_that_would_not_be_what_their_names_say_are_refused(run, model, ending):
    told = run("predict", model, "part1.csv", "-o", f"p{ending}", code=2).stderr
    assert "compressed inside; name it without" in told or "only read; write one of .gz" in told
    assert not Path(f"p{ending}").exists()


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.bz2", ".csv.xz", ".jsonl.gz", ".tsv.bz2", ".arrow.gz"])
def test_packed_results_are_what_their_names_say(run, model, ending):
    run("predict", model, "part1.csv", "--keep", "year", "-o", f"p{ending}")
    run("fit", f"p{ending}", "-y", "prediction", "-o", "n.suffice", "--model", "nb", code=0)
    assert suffice.load("n.suffice").statistics_.n_rows == 150


def test_a_packed_result_is_the_same_bytes_each_time(run, model):
    for name in ("p.csv.gz", "q.csv.gz"):
        run("predict", model, "part1.csv", "--proba", "-o", name)
    assert Path("p.csv.gz").read_bytes() == Path("q.csv.gz").read_bytes()


def test_what_sample_writes_predict_reads(run):
    rng = np.random.default_rng(0)
    n = 80
    seconds = rng.integers(0, 86_400, n)
    stamps = np.datetime64("2024-01-01", "ns") + rng.integers(0, 10**15, n).astype("m8[ns]")
    table = pa.table(
        {
            "clock": pa.array(seconds * 10**6).cast(pa.time64("us")),
            "day": pa.array(rng.integers(0, 20_000, n).astype(np.int32)).cast(pa.date32()),
            "stamp": pa.array(stamps),
            "zoned": pa.array(rng.integers(0, 10**15, n), pa.timestamp("us", "UTC")),
            "span": pa.array(rng.integers(0, 10**12, n), pa.duration("us")),
            "flag": pa.array(rng.random(n) > 0.5),
            "count": pa.array(rng.poisson(3, n)),
            "size": pa.array(rng.gamma(2.0, size=n)),
            "code": pa.array(rng.choice(["1", "02", "x y", 'a"b', "c,d"], n)),
            "y": pa.array(rng.choice(["p", "q"], n)),
        }
    )
    pq.write_table(table, "d.parquet")
    run("fit", "d.parquet", "-y", "y", "-o", "m.suffice", "--model", "nb")
    run("sample", "m.suffice", "-n", "50", "--seed", "3", "-y", "y", "-o", "s.parquet")
    wanted = run("predict", "m.suffice", "s.parquet", "--proba").stdout
    for name in ("s.csv", "s.tsv", "s.arrow", "s.jsonl"):
        run("sample", "m.suffice", "-n", "50", "--seed", "3", "-y", "y", "-o", name)
        assert run("predict", "m.suffice", name, "--proba").stdout == wanted, name
        run("evaluate", "m.suffice", name)


def test_errors_in_json_are_json(run, model):
    found = json.loads(run("predict", model, "nothing.csv", "--json", code=1).stderr)
    assert found["exit_code"] == 1
    assert "nothing.csv" in found["error"]
    assert json.loads(run("predict", model, "part1.csv", "--json", "--row", code=2).stderr)["exit_code"] == 2


def test_rows_are_asked_about_a_few_at_a_time_where_there_are_many_numbers_for_each(run, monkeypatch):
    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--drop", "year")
    lines = (
        ("predict", "m.suffice", "penguins.csv", "--proba", "--keep", "year"),
        ("evaluate", "m.suffice", "penguins.csv", "-y", "species", "--weight", "year"),
        ("explain", "m.suffice", "part1.csv"),
        ("predict", "m.suffice", "part1.csv"),
    )
    whole = [run(*line).stdout for line in lines]
    asked, posteriors = [], suffice.BayesClassifier.predict_proba
    monkeypatch.setattr(predictions, "MOST_NUMBERS", 3 * 100)
    monkeypatch.setattr(
        suffice.BayesClassifier,
        "predict_proba",
        lambda model, X: asked.append(len(X)) or posteriors(model, X),
    )
    assert [run(*line).stdout for line in lines] == whole
    suffice.load("m.suffice").predict_from("penguins.csv").read_all()
    assert asked == [100, 100, 100, 44] * 3


class Screen(io.BytesIO):
    """A stdout that is a terminal."""

    def isatty(self):
        return True


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_terminal_is_shown_cells_with_escapes_and_a_pipe_gets_their_bytes(monkeypatch, form):
    table = csv.read_csv("d.csv")
    for screen, calm in ((Screen(), True), (io.BytesIO(), False)):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, write_through=True))
        outputs.write_tables([table], "-", form)
        outputs.write_text(f"SELECT '{BELL}'\n\tFROM data", "-")
        shown = screen.getvalue().decode()
        assert is_safe(shown) == calm
        assert shown.count("\n") == table.num_rows + (form != "jsonl") + 2
        assert "\n\tFROM" in shown
        assert form != "tsv" or shown.count("\t") == 2 * (table.num_rows + 1) + 1


def test_more_rows_than_the_disk_has_room_for_are_refused(run, model, monkeypatch):
    sample = import_module("suffice.cli.sample")
    monkeypatch.setattr(sample, "CELLS_AT_ONCE", 80)
    monkeypatch.setattr(outputs.shutil, "disk_usage", lambda _: SimpleNamespace(free=20_000))
    for name in ("d.csv", "d.jsonl", "d.csv.gz"):
        told = run("sample", model, "-n", 10**12, "-o", name, code=1).stderr
        assert f"but the disk of {name} has 0 MB left; draw fewer with -n" in told
    run("sample", model, "-n", 100, "-o", "d.csv")
    assert Path("d.csv").read_text().count("\n") == 101
    assert list(Path().glob(".*.part")) == []


def test_errors_count_rows_in_their_file_whatever_batch_and_part_they_are_in(run, monkeypatch):
    from suffice.tables.files import formats

    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--unseen", "error")
    lines = Path("penguins.csv").read_text().splitlines(keepends=True)
    lines[301] = lines[301].replace("Biscoe", "Mars").replace("Dream", "Mars")
    Path("mars.csv").write_text("".join(lines))
    lines[301] = re.sub(r"\d\d\.\d", "1e999", lines[301], count=1)
    Path("far.csv").write_text("".join(lines))
    monkeypatch.setattr(formats, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(predictions, "MOST_NUMBERS", 3 * 10)
    for command in ("predict", "evaluate", "explain"):
        told = run(command, "m.suffice", "penguins.csv", "mars.csv", code=1).stderr
        assert "mars.csv" in told
        assert (
            "column 'island': the level 'Mars' (row 300) was never seen in training; suffice fit --unse"
            in told
        )
    told = run("fit", "far.csv", "-y", "species", "-o", "o.suffice", "--model", "bayes", code=1).stderr
    assert "Error: far.csv: column" in told
    assert "at row 300" in told


def test_a_wide_model_names_its_columns_once_not_once_per_column(run, monkeypatch):
    from suffice.model.columns.schema import Schema

    rows = [",".join([f"{i}.5"] * 200) + f",{'ab'[i % 2]}\n" for i in range(6)]
    Path("w.csv").write_text(",".join(f"c{i}" for i in range(200)) + ",y\n" + "".join(rows))
    run("summarize", "w.csv", "-y", "y", "-o", "w.suffice")
    asked, names = [], Schema.names.fget
    monkeypatch.setattr(Schema, "names", property(lambda schema: asked.append(1) or names(schema)))
    run("predict", "w.suffice", "w.csv")
    assert len(asked) < 50
