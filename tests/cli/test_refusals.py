"""What goes wrong: the exit code tells which kind, and the message what to type instead."""

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import suffice
from suffice.cli.errors import DataFailure, _ClosedOutput
from suffice.cli.outputs import refuse_output
from suffice.cli.program import COMMANDS

HOSTILE = ['a"; drop table x; --', "a,b", "a=b", "new\nline", " space ", "Ünïcode ☃", "--help", "a.b[0]", "-"]


def test_a_misspelt_target_is_answered_with_the_columns_and_the_nearest(run):
    told = run("fit", "penguins.csv", "-y", "specis", "-o", "m.suffice", code=2).stderr
    assert "did you mean 'species'" in told
    assert "'bill_length_mm'" in told


@pytest.mark.parametrize("option", ["--weight", "--drop"])
def test_so_is_any_other_column(run, option):
    told = run("fit", "penguins.csv", "-y", "species", option, "yaer", "-o", "m.suffice", code=2).stderr
    assert "did you mean 'year'" in told


def test_a_misspelt_command_is_answered_with_the_nearest(run):
    assert "Did you mean 'summarize'" in run("summarise", "penguins.csv", code=2).stderr


@pytest.mark.parametrize(
    "families, words",
    [
        ("year=poison", "did you mean 'poisson'?"),
        ("year", "COLUMN=FAMILY"),
        ("yaer=poisson", "did you mean 'year'"),
    ],
)
def test_families_that_are_none_are_refused(run, families, words):
    told = run("fit", "penguins.csv", "-y", "species", "-o", "m", "--families", families, code=2).stderr
    assert words in told


def test_an_existing_file_is_not_replaced_unless_forced(run, model):
    before = Path(model).read_bytes()
    for arguments in (
        ("fit", "part1.csv", "-y", "species", "-o", model, "--model", "bayes"),
        ("summarize", "part1.csv", "-y", "species", "-o", model),
        ("predict", model, "penguins.csv", "-o", model),
        ("merge", model, model, "-o", model),
    ):
        assert "--force" in run(*arguments, code=2).stderr
        assert Path(model).read_bytes() == before
    run("fit", "part1.csv", "-y", "species", "-o", model, "--model", "bayes", "--force")
    assert Path(model).read_bytes() != before


def test_a_column_that_the_data_lack_is_named(run, model):
    csv.write_csv(csv.read_csv("penguins.csv").rename_columns({"sex": "Sex"}), "other.csv")
    told = run("predict", model, "other.csv", code=3).stderr
    assert "'sex'" in told
    assert "If you meant 'Sex', rename it" in told


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_columns_that_a_file_lacks_are_named_with_the_file_whatever_its_place(run, model, command):
    rest = ["species", "island", "bill_length_mm", "year"]
    csv.write_csv(csv.read_csv("part1.csv").select(rest), "few.csv")
    for files in (["few.csv"], ["few.csv", "part2.csv"], ["part2.csv", "few.csv"]):
        told = run(command, model, *files, code=3).stderr
        assert told.startswith("Error: few.csv: the data lacks 'bill_depth_mm', 'flipper_length_mm', ")


def test_cells_of_another_kind_are_named(run, model):
    Path("other.csv").write_text(Path("part1.csv").read_text().replace("3750", "heavy", 1))
    told = run("predict", model, "other.csv", code=3).stderr
    assert "'body_mass_g' must hold numbers, but row 0 holds 'heavy'" in told


def test_text_that_looks_like_numbers_stays_text_for_a_model_of_text(run):
    codes = ["7", "8", "A7"] * 10
    csv.write_csv(pa.table({"code": codes, "y": ["p", "q", "q"] * 10}), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "bayes")
    csv.write_csv(pa.table({"code": [7, 8]}), "numbers.csv")
    assert run("predict", "m.suffice", "numbers.csv").stdout == "prediction\np\nq\n"


def test_files_of_other_columns_do_not_merge(run):
    run("summarize", "penguins.csv", "-y", "species", "-o", "a.suffice")
    run("summarize", "penguins.csv", "-y", "species", "--drop", "year", "-o", "b.suffice")
    for command in ("merge", "subtract"):
        assert "'year'" in run(command, "a.suffice", "b.suffice", "-o", "c.suffice", code=3).stderr
    assert not Path("c.suffice").exists()


def test_a_regression_does_not_add(run):
    X = pa.table({"a": [1.0, 2.0, 3.0, 4.0]})
    suffice.LogisticRegression().fit(X, ["x", "y", "x", "y"]).save("r.suffice")
    assert "again" in run("merge", "r.suffice", "r.suffice", "-o", "s.suffice", code=1).stderr


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "empty"),
        (b"x,y\n", "no rows"),
        (b"x,y\n1,a\n2\n", "there are 2 columns"),
        (b"x,y\n1,a\n2,b,c\n", "there are 2 columns"),
        (b"x,y\n1,a\n2,\n", "no label at row 1; add one, or use --drop-unlabelled."),
        (b"x,y\n1,\xff\n", "UTF-8"),
        (b"x,y\ninf,a\n2,b\n", "infinite value inf at row 0; drop the row, or leave the cell empty"),
        (
            b"x,y\n1.5,a\n%s,b\n" % (b"9" * 400),
            "9999', which is too large for a number, at row 1; drop the row",
        ),
        (b"y\na\n", "no columns are left"),
    ],
)
def test_data_that_cannot_be_used_end_with_1_and_the_reason(run, content, words):
    Path("d.csv").write_bytes(content)
    told = run("fit", "d.csv", "-y", "y", "-o", "m.suffice", code=1).stderr
    assert words in told
    assert not Path("m.suffice").exists()


@pytest.mark.parametrize(
    "line, words",
    [
        (b'{"x": 1e999, "y": "b"}', "column 'x': row 1 holds '1e999', which is too large for a number"),
        (b'{"x": 1e999"2", "y": "b"}', "row 1 cannot be read as a JSON object"),
    ],
)
def test_numbers_that_are_too_large_are_named_unless_the_line_is_broken(run, line, words):
    Path("d.jsonl").write_bytes(b'{"x": 1, "y": "a"}\n' + line + b"\n")
    assert words in run("fit", "d.jsonl", "-y", "y", "-o", "m.suffice", code=1).stderr


def test_a_byte_order_mark_quotes_and_newlines_are_read(run):
    Path("d.csv").write_bytes('\ufeffx,"the\nname",y\n"1,5",a,p\n2,"b\nc",q\n'.encode() * 1)
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "bayes")
    assert suffice.load("m.suffice").schema_.names == ("x", "the\nname")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b"[]", b"[" * 100_000, b'{"Adelie": 3}', b'{"Adelie": {"Gentoo": "x"}}'],
    ids=lambda content: content[:30].decode(),
)
def test_costs_that_are_none_are_answered_with_an_example(run, model, content):
    Path("costs.json").write_bytes(content)
    told = run("predict", model, "penguins.csv", "--costs", "costs.json", code=1).stderr
    assert "costs.json" in told
    assert '{"bad": {"good": 5}' in told
    assert "attribute" not in told
    Path("costs.json").write_bytes(b'{"Adelie": {"Gentoo": 1e999}}')
    assert "costs.json" in run("predict", model, "penguins.csv", "--costs", "costs.json", code=1).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "", "-y", "y", "-o", "n.suffice"),
        ("fit", "penguins.csv", "-y", "species", "-o", ""),
        ("predict", "m.suffice", ""),
        ("predict", "", "penguins.csv"),
        ("sample", "m.suffice", "-y", ""),
    ],
)
def test_an_empty_name_is_no_folder_and_no_column(run, arguments):
    assert "the name is empty" in run(*arguments, code=2).stderr


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("d.jsonl", b'{"a": {"b": 1}}\n{"a": [1]}\n', "column 'a' changes from object to array at row 1;"),
        ("d.jsonl", b'{"x": 1, "y": "a"}\n{"x": %s, "y": "b"}\n' % (b"9" * 5000), "column 'x' holds '999"),
        ("d.parquet", b"x,y\n1,a\n", "this is no parquet file, or it is damaged."),
        ("d.arrow", b"x,y\n1,a\n2,b\n", "this is no arrow file, or it is damaged."),
    ],
)
def test_what_arrow_refuses_is_told_in_plain_words(run, name, content, words):
    Path(name).write_bytes(content)
    assert f"{name}: {words}" in run("fit", name, "-y", "y", "-o", "m.suffice", code=1).stderr


def test_weights_that_are_no_numbers_are_told_with_their_place(run):
    told = run("fit", "penguins.csv", "-y", "species", "--weight", "island", "-o", "n.suffice", code=1).stderr
    assert "such as 'Torgersen' at row 0 of penguins.csv; give one number per row" in told


@pytest.mark.parametrize("place", [2, 12, 40, -3])
def test_damaged_gzip_is_told_with_the_name_of_the_file(run, place):
    packed = bytearray(gzip.compress(Path("penguins.csv").read_bytes()))
    packed[place] ^= 255
    Path("d.csv.gz").write_bytes(packed)
    assert "d.csv.gz" in run("fit", "d.csv.gz", "-y", "species", "-o", "m.suffice", code=1).stderr


@pytest.mark.parametrize("path", ["nothing.csv", "empty"])
def test_files_that_are_not_there_and_folders_without_any(run, path):
    Path("empty").mkdir()
    assert path in run("fit", path, "-y", "y", "-o", "m.suffice", code=1).stderr


def test_the_file_that_was_meant_is_named(run):
    told = run("fit", "pengiuns.csv", "-y", "y", "-o", "m.suffice", code=1).stderr
    assert told == "Error: no file matches 'pengiuns.csv'; did you mean 'penguins.csv'?\n"


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_rows_are_not_replaced_by_what_is_made_of_them(run, model, command):
    Path("again.csv").symlink_to("part1.csv")
    for output in ("part1.csv", "again.csv"):
        told = run(command, model, "part2.csv", "part1.csv", "-o", output, "--force", code=2).stderr
        assert f"{output} holds the rows" in told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_read_as_stdin_is(run, model):
    os.mkfifo("pipe.csv")
    rows = Path("part1.csv").read_bytes()
    writer = threading.Thread(target=lambda: Path("pipe.csv").write_bytes(rows))
    writer.start()
    assert run("predict", model, "pipe.csv").stdout == run("predict", model, "part1.csv").stdout
    writer.join()


def test_a_closed_stdout_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(_ClosedOutput())))
    with pytest.raises(DataFailure, match="stdout is closed"):
        refuse_output("-", force=False)


def test_a_file_without_an_extension_asks_for_its_format(run, model):
    Path("data").write_bytes(Path("penguins.csv").read_bytes())
    assert "with --format" in run("fit", "data", "-y", "species", "-o", "n.suffice", code=2).stderr
    told = run("predict", model, "penguins.csv", "-o", "answers", code=2).stderr
    assert "with --output-format" in told
    assert ".parquet" in told
    run("fit", "data", "-y", "species", "-o", "n.suffice", "--model", "bayes", "--format", "csv")


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "info"])
def test_a_file_that_is_no_model_is_refused(run, command):
    arguments = ("penguins.csv",) if command != "info" else ()
    assert (
        "penguins.csv: this is not a suffice file" in run(command, "penguins.csv", *arguments, code=1).stderr
    )
    assert run(command, "nothing.suffice", *arguments, code=1).stderr


def test_hostile_names_of_columns_are_data(run):
    rng = np.random.default_rng(0)
    names = [*HOSTILE, "a; rm -rf /"]
    rows = pa.table({name: rng.normal(size=20) for name in names})
    y = rng.choice(["p", "q"], 20)
    csv.write_csv(rows.append_column("-y", pa.array(y)), "d.csv")
    run(
        "fit",
        "d.csv",
        "--target=-y",
        "-o",
        "m.suffice",
        "--model",
        "nb",
        "--families",
        "a,b=normal,a=b=normal",
    )
    wanted = suffice.BayesClassifier().fit(rows, y).predict(rows).tolist()
    answers = run("predict", "m.suffice", "d.csv").stdout.splitlines()
    assert answers == ["prediction", *wanted]


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_explains_itself_with_an_example(run, command):
    told = run(command, "--help").stdout
    assert "Example" in told
    assert f"suffice {command}" in told
    assert COMMANDS[command][1].split()[0] in told


def test_nothing_but_data_goes_to_stdout(run, model):
    result = run("predict", model, "penguins.csv")
    assert len(result.stdout.splitlines()) == 345
    assert result.stderr == ""


@pytest.mark.parametrize("command", ["fit", "summarize"])
def test_a_target_that_is_not_named_is_asked_for_with_the_columns(run, command):
    told = run(command, "penguins.csv", "-o", "m.suffice", code=2).stderr
    assert "Name it with -y; the columns are 'island', 'bill_length_mm'" in told


@pytest.mark.parametrize(
    "arguments",
    [("fit", "penguins.csv", "-y", "species"), ("merge", "a"), ("subtract", "a", "b"), ("plot", "a", "b")],
)
def test_an_output_that_is_needed_is_asked_for(run, arguments):
    assert "'-o'" in run(*arguments, code=2).stderr


@pytest.mark.parametrize("command", ["evaluate", "update"])
@pytest.mark.parametrize("option", ["-y", "--weight"])
def test_a_column_that_the_model_learns_from_holds_neither_classes_nor_weights(run, model, command, option):
    told = run(command, model, "penguins.csv", option, "year", code=2).stderr
    assert f"learns from 'year', so {option} must name another column" in told


@pytest.mark.parametrize("options", [("--weight", "species"), ("--drop", "species")])
def test_the_classes_are_neither_weights_nor_left_out(run, options):
    told = run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", *options, code=1).stderr
    assert "must all be different columns" in told


def test_measurements_are_no_classes(run):
    told = run("fit", "penguins.csv", "-y", "bill_length_mm", "-o", "m.suffice", code=1).stderr
    assert "no label at row 3" in told
    Path("d.csv").write_text("x,y\n1,2.5\n2,3.0\n")
    told = run("fit", "d.csv", "-y", "y", "-o", "m.suffice", code=1).stderr
    assert "'y' holds measurements such as 2.5" in told


@pytest.mark.parametrize("kind", ["gda", "qda", "logistic"])
def test_a_model_of_numbers_says_which_columns_to_leave_out(run, kind):
    told = run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", kind, code=2).stderr
    assert "--drop island --drop sex, or use --model evidence" in told


@pytest.mark.parametrize(
    "content, words",
    [(b"\0" * 3000, "not text"), ("a,b\n1,2\n".encode("utf-16"), "iconv -f utf-16"), (b"\xe4,b\n", "latin1")],
)
def test_files_that_are_no_utf8_are_told_apart(run, content, words):
    Path("d.csv").write_bytes(content)
    assert words in run("fit", "d.csv", "-y", "b", "-o", "m.suffice", code=1).stderr


def test_costs_in_a_table_of_other_columns_are_refused(run, model):
    told = run("predict", model, "penguins.csv", "--costs", "part1.csv", code=1).stderr
    assert "part1.csv: costs need the columns true, predicted and cost" in told


def test_a_row_that_is_not_there_is_not_drawn(run, model):
    arguments = ("plot", model, "penguins.csv", "--what", "explanation", "--row", "400", "-o", "p.png")
    assert "the data has 344 rows" in run(*arguments, code=2).stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--what", "roc"), "roc needs rows; pass files as DATA"),
        (("penguins.csv", "--what", "weights"), "weights takes no DATA"),
        (("--what", "weights"), "BayesClassifier weighs no evidence; fit the model with --model evidence"),
        (("penguins.csv", "--what", "surface", "--columns", "sex"), "surface needs two columns"),
    ],
)
def test_a_picture_says_what_it_needs(run, model, arguments, words):
    assert words in run("plot", model, *arguments, "-o", "p.png", code=2).stderr


def test_commas_separate_columns_unless_they_are_part_of_a_name(run, model):
    told = run("plot", model, "penguins.csv", "--columns", "sex,yaer", "-o", "p.png", code=1).stderr
    assert "there is no column 'yaer'; did you mean 'year'?" in told
    Path("d.csv").write_text('"a,b",c,y\n' + "1.5,2.5,p\n3.5,1.5,q\n2.5,2.0,p\n" * 9)
    run("fit", "d.csv", "-y", "y", "-o", "d.suffice", "--model", "bayes")
    both = ("--columns", "a,b", "--columns", "c")
    run("plot", "d.suffice", "d.csv", "--what", "posterior", *both, "-o", "d.png")


def test_a_model_of_numbers_that_has_gaps_is_told_of_models_in_options(run):
    Path("gap.csv").write_text("a,y\n" + "1.5,p\n,q\n2.5,p\n" * 9)
    told = run("fit", "gap.csv", "-y", "y", "--model", "logistic", "-o", "g.suffice", code=1).stderr
    assert "fill them in, --drop the column, or use --model evidence, bayes or gaussian, which" in told
    days = pa.table({"day": pa.array(range(18), pa.date32()), "y": ["p", "q"] * 9})
    parquet.write_table(days, "days.parquet")
    told = run("fit", "days.parquet", "-y", "y", "--model", "logistic", "-o", "g.suffice", code=1).stderr
    assert "needs numbers; --drop the column, or use --model evidence or bayes, which take it" in told


@pytest.mark.parametrize("kind", ["evidence", "bayes"])
def test_a_family_of_numbers_for_text_is_answered_with_an_option(run, kind):
    families = ("--families", "island=poisson", "--model", kind)
    told = run("fit", "penguins.csv", "-y", "species", *families, "-o", "p.suffice", code=1).stderr
    assert "column 'island' must hold numbers, but holds the text" in told
    assert "convert it to numbers, or use --families island=categorical.\n" in told


def test_a_table_of_four_parts_is_refused(run, model):
    refused = run("export", model, "--to", "sql", "--table", "a.b.c.d", code=2)
    assert "'a.b.c.d' does not name a table" in refused.stderr
    run("export", model, "--to", "sql", "--table", "b.c.d")


def test_one_row_is_not_rows(run, model):
    table = csv.read_csv("penguins.csv").slice(0, 1)
    csv.write_csv(table, "one.csv")
    assert "Evaluation of 1 row," in run("evaluate", model, "one.csv", "-y", "species").output
    run("summarize", "one.csv", "-y", "species", "-o", "one.suffice", "--like", model)
    refused = run("explain", model, "one.csv", "--row", 3, code=2)
    assert "the data has 1 row, and" in refused.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_that_cannot_be_copied_is_refused_where_it_is_kept(run, model, ending):
    row = '{"island": "Biscoe", "bill_length_mm": 40.0, "bill_depth_mm": 18.0, "flipper_length_mm": 190, '
    row += '"body_mass_g": 4000, "sex": "male", "year": 2008, '
    Path("d.jsonl").write_text(row + '"a": "x", "b": "x"}\n' + row + '"a": "x\\ud800", "b": "x"}\n')
    arguments = ("predict", model, "d.jsonl", "-o", f"answers.{ending}", "--keep")
    told = run(*arguments, "a", code=1).stderr
    assert "d.jsonl: column 'a': row 1 holds half of a surrogate pair" in told
    run(*arguments, "b")


def test_a_model_that_cannot_be_read_is_named(run, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("suffice.storage.saved.unpacked", fails)
    assert run("info", "penguins.csv", code=1).stderr == "Error: penguins.csv: Input/output error\n"
