"""Columns that are copied to the predictions are as they were written."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, ipc
from pyarrow import parquet as pq

from suffice.tables.files import formats

KEPT = [
    "01034",
    "0.960",
    "TRUE",
    "1e5",
    " padded ",
    "NA",
    "null",
    "-",
    "?",
    'quo"te',
    "com,ma",
    "new\nline",
    "car\rriage",
    "\r\n",
    "é",
    "",
]


def test_kept_columns_are_copied_cell_by_cell(run, model):
    table = csv.read_csv("penguins.csv").slice(0, len(KEPT))
    table = table.append_column("code", pa.array(KEPT))
    written = io.BytesIO()
    csv.write_csv(table, written)
    text = written.getvalue().decode().replace("18.7", "18.700").replace("2007", "02007")
    Path("d.csv").write_text(text)
    kept = ("--keep", "code", "--keep", "bill_depth_mm", "--keep", "year")
    run("predict", model, "d.csv", "--proba", *kept, "-o", "p.csv")
    verbatim = csv.ConvertOptions(
        column_types=dict.fromkeys(["code", "bill_depth_mm", "year"], pa.string()), null_values=[]
    )
    options = csv.ParseOptions(newlines_in_values=True)
    wanted, found = (
        csv.read_csv(path, parse_options=options, convert_options=verbatim) for path in ("d.csv", "p.csv")
    )
    assert found["code"].to_pylist() == KEPT
    assert found["bill_depth_mm"][0].as_py() == "18.700"
    for name in ("code", "bill_depth_mm", "year"):
        assert found[name].to_pylist() == wanted[name].to_pylist()
    assert found.select(range(3, 7)) == csv.read_csv(
        io.BytesIO(run("predict", model, "d.csv", "--proba").stdout_bytes)
    )


def test_kept_columns_of_other_formats_keep_their_types(run, model):
    table = csv.read_csv("penguins.csv").append_column("id", pa.array(range(344), pa.int32()))
    pq.write_table(table, "d.parquet", row_group_size=100)
    run("predict", model, "d.parquet", "--keep", "id", "--keep", "year", "-o", "p.parquet")
    found = pq.read_table("p.parquet")
    assert found.schema.field("id").type == pa.int32()
    assert found.select(["id", "year"]) == table.select(["id", "year"])


def test_kept_columns_stay_in_line_in_long_and_joined_files(run, model):
    lines = Path("penguins.csv").read_text().splitlines(keepends=True)
    body = [line.replace(",2007", f",{i:06}") for i, line in enumerate(lines[1:] * 200)]
    Path("long.csv").write_text("id," + lines[0] + "".join(f"{i},{line}" for i, line in enumerate(body)))
    Path("joined.csv").write_text(Path("long.csv").read_text() * 2)
    run("predict", model, "joined.csv", "long.csv", "--keep", "id", "-o", "p.csv")
    found = csv.read_csv("p.csv")["id"].to_pylist()
    assert found == [*range(len(body))] * 3


@pytest.mark.parametrize("name, options", [("prediction", ()), ("p(Adelie)", ("--proba",))])
def test_a_column_named_as_one_of_the_result_is_not_replaced(run, model, name, options):
    csv.write_csv(csv.read_csv("penguins.csv").append_column(name, pa.array(range(344))), "d.csv")
    told = run("predict", model, "d.csv", "--keep", name, *options, code=2).stderr
    assert f"--keep '{name}': the result has a column of its own with this name" in told
    run("predict", model, "d.csv", *options)


@pytest.fixture
def short(run):
    """A model of one column, x."""
    Path("t.csv").write_text("x,y\n1,a\n2,a\n8,b\n9,b\n")
    run("fit", "t.csv", "-y", "y", "-o", "s.suffice", "--model", "nb")
    return "s.suffice"


def test_kept_numbers_with_decimal_commas_are_not_rewritten(run, short):
    Path("d.csv").write_text("x;k\n1,5;2.000,25\n8,0;3,10\n")
    options = ("--sep", ";", "--decimal", ",")
    found = run("predict", short, "d.csv", "--keep", "k", "--keep", "x", *options).stdout
    assert found == 'k,x,prediction\n"2.000,25","1,5",a\n"3,10","8,0",b\n'


def test_kept_cells_of_jsonl_are_as_they_are_written(run, short):
    Path("d.jsonl").write_text(
        '{"x": 1, "n": 0.960, "b": true, "i": 12345678901234567890123, "t": "01"}\n'
        '{"x": 9, "n": 1e3, "b": null, "i": 1}\n'
    )
    kept = [word for name in "nbit" for word in ("--keep", name)]
    found = run("predict", short, "d.jsonl", *kept).stdout
    assert found == "n,b,i,t,prediction\n0.960,true,12345678901234567890123,01,a\n1e3,,1,,b\n"
    found = run("predict", short, "d.jsonl", *kept, "--output-format", "jsonl").stdout
    assert [list(json.loads(line).values()) for line in found.splitlines()] == [
        [0.96, True, 12345678901234567890123, "01", "a"],
        [1000.0, None, 1, None, "b"],
    ]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_kept_columns_of_jsonl_that_change_type_are_copied(run, short, monkeypatch, ending):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 64)
    cells = [None] * 9 + [*range(9)] + ["text"] * 9
    lines = (json.dumps({"x": 1, "k": cell, "m": i if i < 9 else i / 2}) for i, cell in enumerate(cells))
    Path("d.jsonl").write_text("\n".join(lines))
    run("predict", short, "d.jsonl", "--keep", "k", "--keep", "m", "-o", f"p.{ending}")
    if ending == "jsonl":
        found = [json.loads(line)["k"] for line in Path("p.jsonl").read_text().splitlines()]
    else:
        whole = {
            "csv": csv.read_csv,
            "parquet": pq.read_table,
            "arrow": lambda at: ipc.open_stream(at).read_all(),
        }
        table = whole[ending](f"p.{ending}")
        found = [cell or None for cell in table["k"].to_pylist()]
        assert table["m"].to_pylist() == [i if i < 9 else i / 2 for i in range(27)]
    assert found == [None if cell is None else str(cell) for cell in cells]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_cell_that_cannot_be_read_ends_a_result_without_a_traceback(shell, short, ending):
    Path("d.csv").write_text("x,pad\n" + f"1,{'p' * 500}\n" * 20_000 + "wrong,p\n")  # more than a block
    told = shell(f"suffice predict {short} d.csv -o p.{ending}", code=3).stderr
    assert told == b"Error: d.csv: column 'x' must hold numbers, but row 20000 holds 'wrong'.\n"
