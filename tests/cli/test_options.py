"""Options that say how data is written, how a model is fitted, and how a command speaks."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

import suffice
from suffice import progress
from suffice.cli.program import COMMANDS


@pytest.fixture
def other(folder):
    """The penguins as another program writes them."""
    table = csv.read_csv("penguins.csv")
    lines = [";".join(table.column_names)]
    for row in table.to_pylist():
        cells = ["n. v." if cell is None else str(cell).replace(".", ",") for cell in row.values()]
        lines.append(";".join(cells).replace("Torgersen", "Törgersen"))
    (folder / "other.csv").write_bytes("\n".join(lines).encode("latin-1"))
    return ("--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", "n. v.")


def test_other_separators_decimals_encodings_and_marks_are_read(run, model, other):
    for kind in ("nb", "bayes"):
        run("fit", "other.csv", "-y", "species", "-o", "o.suffice", "--model", kind, "--force", *other)
        found = suffice.load("o.suffice")
        families = [column.family.name for column in found.schema_]
        assert families == [column.family.name for column in suffice.load(model).schema_]
    wanted = run("predict", model, "penguins.csv", "--proba").stdout
    found = run("predict", "o.suffice", "other.csv", "--proba", *other).stdout
    wanted, found = (
        np.array([line.split(",")[1:] for line in text.splitlines()[1:]], float) for text in (wanted, found)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    for command in ("evaluate", "explain", "update"):
        extra = ("-y", "species") if command != "explain" else ("--row", "0")
        run(command, "o.suffice", "other.csv", *extra, *other)
    run("summarize", "other.csv", "-y", "species", "-o", "s.suffice", *other)
    run("summarize", "other.csv", "-y", "species", "-o", "t.suffice", "--like", "o.suffice", *other)


@pytest.mark.parametrize("step", [1, 25])
def test_decimal_commas_are_told_with_their_cure(run, step):
    rows = [f"{number // step},{number // step % 9};{'ab'[number % 2]}" for number in range(100)]
    Path("d.csv").write_text("\n".join(["x;y", *rows, "?;a"]))
    arguments = ("fit", "d.csv", "-y", "y", "--sep", ";", "--model", "bayes", "-o", "n.suffice", "--force")
    told = run(*arguments).stderr
    assert "are they numbers with decimal commas?" in told
    assert "are read with --decimal ," in told
    assert "decimal" not in run(*arguments, "--decimal", ",").stderr


def test_marks_of_missing_cells_work_with_every_model(run, folder):
    lines = [f"{'unknown' if i % 9 == 0 else i * 7 % 100},{i % 5},{'ab'[i % 2]}" for i in range(120)]
    (folder / "rows.csv").write_text("\n".join(["n,m,kind", *lines]) + "\n")
    arguments = ("fit", "rows.csv", "-y", "kind", "-o", "m.suffice", "--model", "gda")
    assert "'n' holds text" in run(*arguments, code=2).stderr
    run(*arguments, "--missing", "?,unknown")
    assert suffice.load("m.suffice").means_.shape == (2, 2)


@pytest.mark.parametrize("command", ["fit", "summarize", "update", "evaluate"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_marks_of_missing_cells_are_no_labels(run, folder, command, ending):
    labels = ["?" if i % 9 == 4 else str(i % 2) for i in range(120)]
    rows = [{"n": i * 7 % 100 + i % 2, "y": label} for i, label in enumerate(labels)]
    lines = ["n,y", *(f"{row['n']},{row['y']}" for row in rows)] if ending == "csv" else map(json.dumps, rows)
    (folder / f"rows.{ending}").write_text("\n".join(lines) + "\n")
    labelled = [json.dumps(row) for row in rows if row["y"] != "?"]
    (folder / "whole.jsonl").write_text("\n".join(labelled))
    run("fit", "whole.jsonl", "-y", "y", "-o", "m.suffice")
    model = ("m.suffice",) if command in ("update", "evaluate") else ()
    output = ("-o", "n.suffice") if command != "evaluate" else ()
    arguments = (command, *model, f"rows.{ending}", "-y", "y", *output, "--missing", "?,-")
    assert "column 'y' has no label at row 4" in run(*arguments, code=1).stderr
    run(*arguments, "--drop-unlabelled")
    if command == "fit":
        assert suffice.load("n.suffice").classes_.tolist() == ([0, 1] if ending == "csv" else ["0", "1"])


@pytest.mark.parametrize("option, words", [
    (("--sep", ";;"), "--sep must be one ASCII character"),
    (("--decimal", ";"), "--decimal must be '.' or ','"),
    (("--encoding", "klingon"), "--encoding 'klingon' is not known"),
    (("--threads", "0"), "--threads"),
    (("--alpha", "-1"), "--alpha"),
    (("--model", "bayes", "--alpha", "nan"), "'--alpha': nan is not a finite number"),
    (("--model", "bayes", "--alpha", "1e308"), "'--alpha': 1e+308 is not in the range"),
    (("--timeout", "inf"), "'--timeout': inf is not a finite number"),
    (("--sep", ",", "--decimal", ","), "--sep ',' also separates decimals"),
    (("--sep", "."), "--sep '.' also separates decimals"),
    (("--priors", "a"), "write uniform, or CLASS=P"),
    (("--priors", "Adelie=0.5,Emperor=0.5"), "'Emperor'"),
    (("--priors", "Adelie=0.5"), "every class once: missing ['Chinstrap', 'Gentoo']; "),
    (("--unseen", "what"), "--unseen"),
    (("--alpha", "1"), "--alpha works with --model bayes or text, not with --model evidence"),
    (("--model", "qda", "--alpha", "0"), "--alpha works with --model bayes"),
    (("--model", "text", "--families", "sex=none"), "--families works with --model evidence"),
    (("--checkpoint", "c"), "--checkpoint works with --model bayes, text, gaussian, gda or qda, not with"),
    (("--model", "best"), "--model"),
    (("--model", "logistic", "--priors", "uniform"), "not with --model logistic"),
])  # fmt: skip
def test_settings_that_are_none_are_refused(run, option, words):
    told = run("fit", "penguins.csv", "-y", "species", "-o", "n.suffice", *option, code=2).stderr
    assert words in told


@pytest.mark.parametrize(
    "mark, options", [("?", ()), (" n/A", ()), ("-", ()), ("gone", ("--missing", "gone"))]
)
def test_a_mark_that_training_had_not_is_a_missing_cell_in_every_command(run, mark, options):
    run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", *options)
    text = Path("part1.csv").read_text()
    Path("marked.csv").write_text(text.replace("39.1,18.7,181", f"{mark},18.7,{mark}"))
    Path("empty.csv").write_text(text.replace("39.1,18.7,181", ",18.7,"))
    for command in (("predict", "--proba"), ("evaluate", "-y", "species"), ("explain",)):
        marked, empty = (run(*command, "m.suffice", name).stdout for name in ("marked.csv", "empty.csv"))
        assert marked == empty
    model, sums = suffice.load("m.suffice"), []
    for name in ("marked", "empty"):
        run("update", "m.suffice", f"{name}.csv", "-y", "species", "-o", f"{name}.suffice")
        run("summarize", f"{name}.csv", "-y", "species", "--like", "m.suffice", "-o", f"{name}.s.suffice")
        sums.append((suffice.load(f"{name}.suffice").statistics_, suffice.load(f"{name}.s.suffice")))
    assert sums[0][0].isclose(sums[1][0])
    assert sums[0][1].isclose(sums[1][1])
    frames = [{"bill_length_mm": ["40.1", cell]} for cell in (mark, None)]
    lacking = {name: [None, None] for name in model.feature_names_in_}
    np.testing.assert_array_equal(*(model.predict_proba({**lacking, **frame}) for frame in frames))


def test_chosen_marks_replace_the_usual_ones_in_every_command(run):
    rows = "".join(f"{'NA' if i % 3 else 'DE'},{i % 7}.5,{'ab'[i % 3 == 0]}\n" for i in range(60))
    Path("c.csv").write_text("country,x,y\n" + rows)
    run("fit", "c.csv", "-y", "y", "-o", "c.suffice", "--model", "bayes", "--missing", "gone")
    assert json.loads(run("evaluate", "c.suffice", "c.csv", "--json").stdout)["accuracy"] == 1.0
    run("fit", "c.csv", "-y", "y", "-o", "d.suffice", "--model", "bayes")
    assert "'NA'" not in run("export", "d.suffice", "--to", "json").stdout


@pytest.mark.filterwarnings("default")
def test_cells_that_cannot_be_read_are_told_once_for_each_column_in_words_of_the_command_line(run):
    rows = "".join(f"{'strange' if i < 2 else i}.5,{i}.25,{'ab'[i % 2]}\n" for i in range(400))
    Path("s.csv").write_text("a,b,y\n" + rows)
    told = run("fit", "s.csv", "-y", "y", "-o", "s.suffice", "--model", "bayes").stderr
    assert told.count("Warning: column 'a' is read as numbers, but 2 cells of 400 cannot be") == 1
    assert told.count("Warning") == 1
    assert "list what stands for a missing cell in --missing." in told


def test_sql_for_programs_is_json(run, model):
    plain, told = (run("export", model, "--to", "sql", *more).stdout for more in ((), ("--json",)))
    assert json.loads(told) == {"format": "sql", "text": plain.rstrip("\n")}
    told = run("export", model, "--to", "sql", "--json", "-o", "m.sql").stdout
    assert json.loads(told) == {"format": "sql", "file": "m.sql"}
    assert Path("m.sql").read_text() == plain
    assert (
        "needs a file" in json.loads(run("export", model, "--to", "onnx", "--json", code=2).stderr)["error"]
    )


def test_marks_are_missing_numbers_for_models_of_numbers_too(run):
    text = Path("penguins.csv").read_text().replace("39.1,18.7", "?,18.7")
    Path("marked.csv").write_text(text)
    Path("gaps.csv").write_text(text.replace("?,18.7", ",18.7"))
    for name in ("marked", "gaps"):
        line = ("-y", "species", "--model", "gda", "--drop", "island", "--drop", "sex")
        run("fit", f"{name}.csv", *line, "-o", f"{name}.suffice")
    sums = [suffice.load(f"{name}.suffice").statistics_ for name in ("marked", "gaps")]
    assert sums[0].isclose(sums[1])


def test_files_that_cannot_be_meant_are_refused(run, model):
    told = run("predict", "-", code=2, input=Path(model).read_bytes()).stderr
    assert "the model and the rows cannot both come from stdin" in told
    Path("sub").mkdir()
    assert "sub is a folder" in run("predict", model, "part1.csv", "-o", "sub", "--force", code=2).stderr


def test_at_least_one_column_must_be_there(run, model):
    Path("none.csv").write_text("z\n1\n")
    told = run("predict", model, "none.csv", "--allow-missing-columns", code=3).stderr
    assert "some columns may be missing, but not all: the data lacks 'island'" in told


def test_alpha_priors_and_unseen_are_those_of_the_library(run):
    X, species = suffice.load_penguins()
    priors = {"Adelie": 0.2, "Chinstrap": 0.3, "Gentoo": 0.5}
    wanted = suffice.BayesClassifier(alpha=3.0, priors=priors).fit(X, species)
    text = ",".join(f"{label}={prior}" for label, prior in priors.items())
    run(
        "fit",
        "penguins.csv",
        "-y",
        "species",
        "-o",
        "m.suffice",
        "--model",
        "bayes",
        "--alpha",
        "3",
        "--priors",
        text,
    )
    found = suffice.load("m.suffice")
    np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), rtol=1e-12)
    run(
        "fit",
        "penguins.csv",
        "-y",
        "species",
        "-o",
        "u.suffice",
        "--model",
        "bayes",
        "--priors",
        "uniform",
        "--unseen",
        "error",
    )
    strict = suffice.load("u.suffice")
    assert strict.priors_.tolist() == pytest.approx([1 / 3] * 3)
    strange = Path("part1.csv").read_text().replace("Torgersen", "Atlantis")
    Path("strange.csv").write_text(strange)
    assert "Atlantis" in run("predict", "u.suffice", "strange.csv", code=1).stderr
    run("predict", "m.suffice", "strange.csv")


def test_priors_of_classes_that_are_numbers_are_given_by_their_text(run):
    csv.write_csv(pa.table({"x": [1.0, 2.0, 8.0, 9.0, 7.5], "y": [0, 0, 1, 1, 1]}), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--priors", "0=0.9,1=0.1", "--model", "gda")
    assert suffice.load("m.suffice").priors_.tolist() == [0.9, 0.1]


@pytest.mark.parametrize("command", ["fit", "summarize", "update", "evaluate"])
def test_rows_without_a_label_are_refused_or_dropped(run, model, command):
    table = csv.read_csv("penguins.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True))
    labels = pa.array(
        [None if i % 10 == 4 else label for i, label in enumerate(table["species"].to_pylist())]
    )
    table = table.set_column(table.column_names.index("species"), "species", labels)
    csv.write_csv(table, "gaps.csv")
    data = {"fit": (), "summarize": (), "update": (model,), "evaluate": (model,)}[command]
    output = ("-o", "n.suffice") if command != "evaluate" else ()
    arguments = (command, *data, "gaps.csv", "-y", "species", *output)
    assert "no label at row 4" in run(*arguments, code=1).stderr
    run(*arguments, "--drop-unlabelled")
    if output:
        held = suffice.load("n.suffice")
        rows = getattr(held, "statistics_", held).n_rows
        assert rows == 344 - 34 + (344 if command == "update" else 0)
    csv.write_csv(table.set_column(table.column_names.index("species"), "species", pa.nulls(344)), "none.csv")
    none = (command, *data, "none.csv", "-y", "species", *output, "--drop-unlabelled", "--force")
    none = none[:-1] if command == "evaluate" else none
    assert "none.csv: no row has a label in column 'species'" in run(*none, code=1).stderr


def test_columns_that_are_not_there_may_be_taken_as_missing(run, model):
    table = csv.read_csv("penguins.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True))
    csv.write_csv(table.drop_columns(["sex", "year", "bill_depth_mm"]), "fewer.csv")
    refused = run("predict", model, "fewer.csv", code=3).stderr
    assert "as missing in every row, add --allow-missing-columns." in refused
    evaluated = run("evaluate", model, "fewer.csv", "-y", "species", code=3).stderr
    assert "--allow-missing-columns" not in evaluated
    for name in ("sex", "year", "bill_depth_mm"):
        table = table.set_column(table.column_names.index(name), name, pa.nulls(344))
    csv.write_csv(table, "gaps.csv")
    found = run("predict", model, "fewer.csv", "--allow-missing-columns", "--proba").stdout
    assert found == run("predict", model, "gaps.csv", "--proba").stdout
    csv.write_csv(pa.table({"unknown": [1]}), "nothing.csv")
    assert "the data lacks" in run("predict", model, "nothing.csv", "--allow-missing-columns", code=3).stderr
    assert "--allow-missing-columns" not in run("predict", model, "nothing.csv", code=3).stderr
    for files, told in (
        (("fewer.csv", "penguins.csv"), "penguins.csv: the data has 'bill_depth_mm', 'sex', 'year', which"),
        (("penguins.csv", "fewer.csv"), "fewer.csv: the data lacks 'bill_depth_mm', 'sex', 'year', which"),
    ):
        error = run("predict", model, *files, "--allow-missing-columns", code=3).stderr
        assert told in error
        assert "one by one" in error


ARGUMENTS = {
    "fit": ("part1.csv", "-y", "species", "-o", "n.suffice"),
    "predict": ("m.suffice", "part1.csv"),
    "evaluate": ("m.suffice", "part1.csv", "-y", "species"),
    "explain": ("m.suffice", "part1.csv", "--row", "3"),
    "sample": ("m.suffice", "-n", "3"),
    "summarize": ("part1.csv", "-y", "species", "-o", "n.suffice"),
    "merge": ("m.suffice", "m.suffice", "-o", "n.suffice"),
    "subtract": ("m.suffice", "s.suffice", "-o", "n.suffice"),
    "update": ("m.suffice", "part1.csv", "-y", "species"),
    "info": ("m.suffice",),
    "export": ("m.suffice", "--to", "json"),
    "plot": ("m.suffice", "part1.csv", "-o", "p.png"),
    "report": ("m.suffice", "part1.csv", "-o", "r.html"),
    "compare": ("part1.csv", "-m", "m.suffice", "-m", "m.suffice", "-o", "c.html"),
    "demo": (),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_in_json_and_can_be_quiet(run, model, command):
    run("summarize", "part1.csv", "-y", "species", "--like", model, "-o", "s.suffice")
    result = run(command, *ARGUMENTS[command], "--json", "--threads", "1")
    answers = [json.loads(line) for line in result.stdout.splitlines()] if command in (
        "predict", "sample"
    ) else [json.loads(result.stdout)]  # fmt: skip
    assert all(isinstance(one, dict) and one for one in answers)
    assert result.stderr == ""
    force = ("--force",) if "-o" in ARGUMENTS[command] else ()
    result = run(command, *ARGUMENTS[command], "--quiet", *force)
    assert result.stderr == ""


def test_json_tells_what_was_fitted(run):
    found = json.loads(
        run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes", "--json").stdout
    )
    assert (found["model"], found["rows"], found["file"]) == ("BayesClassifier", 344, "m.suffice")
    assert found["columns"][0] == {"name": "island", "family": "Categorical()", "why": "3 categories"}
    assert 0.95 < found["cross_validation"]["accuracy"] < 1.0
    assert "name one with -o" in run("fit", "part1.csv", "-y", "species", "-o", "-", "--json", code=2).stderr
    found = json.loads(run("explain", "m.suffice", "penguins.csv", "--row", "3", "--json").stdout)
    whole = suffice.load("m.suffice").explain(suffice.load_penguins()[0])
    assert found["contributions"]["island"]["Adelie"] == whole.contributions[3, 0, 0]
    assert found["posterior"]["Gentoo"] == whole.posterior[3, 2]
    found = json.loads(run("info", "m.suffice", "--json").stdout)
    assert (found["holds"], found["rows"], found["weight"]) == ("BayesClassifier", 344, [152.0, 68.0, 124.0])


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl"])
def test_progress_tells_the_share_and_the_time_left(run, model, monkeypatch, ending):
    from suffice.tables.files import formats

    said = []
    monkeypatch.setattr(progress.Progress, "say", lambda _, state, share=None: said.append((state, share)))
    monkeypatch.setattr(formats, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(formats, "BATCH_ROWS", 50)
    rows = run("predict", model, "penguins.csv", "--keep", "year").stdout
    assert rows
    table = csv.read_csv("penguins.csv")
    if ending == "parquet":
        pq.write_table(table, "d.parquet", row_group_size=50)
    elif ending == "jsonl":
        Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        import gzip

        packed = ending == "csv.gz"
        Path(f"d.{ending}").write_bytes(
            gzip.compress(Path("penguins.csv").read_bytes()) if packed else Path("penguins.csv").read_bytes()
        )
    said.clear()
    run("predict", model, f"d.{ending}", f"d.{ending}")
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    assert len(set(shares)) > (1 if ending == "csv.gz" else 2)
    assert shares[-1] == 1.0


def test_the_time_left_is_told(monkeypatch):
    clock = iter([0.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock, 90.0))
    with progress.Progress("reading", patience=0.0) as line:
        assert line._left(0.25) == ", 25 %, 4:30 left"
        assert line._left(0.01) == ", 1 %, 2:28:30 left"
        assert line._left(None) == ""


@pytest.mark.parametrize("kind", ["nb", "gda", "text", "evidence", "statistics"])
def test_a_model_is_asked_without_scikit_learn_and_pandas(run, shell, kind):
    drop = ("--drop", "island", "--drop", "sex") if kind == "gda" else ()
    if kind == "text":
        others = set(csv.read_csv("part1.csv").column_names) - {"island", "species"}
        drop = tuple(one for name in sorted(others) for one in ("--drop", name))
    if kind == "statistics":
        run("summarize", "penguins.csv", "-y", "species", "-o", "m.suffice")
    else:
        run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", kind, *drop)
    lines = (
        "info m.suffice",
        "predict m.suffice part1.csv",
        "predict m.suffice part1.csv --proba --keep year",
        "explain m.suffice part1.csv --row 3",
        "sample m.suffice --seed 1",
    )
    code = (
        "import sys; from suffice.cli import main\n"
        f"for line in {lines!r}:\n"
        "    sys.argv = ['suffice', *line.split()]\n"
        "    try: main(prog_name='suffice')\n"
        "    except SystemExit as end: assert not end.code, line\n"
        "print(sorted({'sklearn', 'pandas', 'scipy.stats'} & set(sys.modules)), file=sys.stderr)"
    )
    Path("asked.py").write_text(code)
    done = shell(f"{sys.executable} asked.py")
    assert done.stderr.decode().splitlines()[-1] == "[]"
    assert done.stdout == b"".join(run(*line.split()).stdout_bytes for line in lines)


def test_a_model_of_pandas_is_asked_too(run, shell):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.read_csv("penguins.csv")
    suffice.BayesClassifier().fit(frame.drop(columns="species"), frame["species"]).save("p.suffice")
    for line in ("predict p.suffice part1.csv --proba", "sample p.suffice -n 5 --seed 2", "info p.suffice"):
        assert shell(f"suffice {line}").stdout == run(*line.split()).stdout_bytes
