"""The commands that write pages."""

import json
import re

import pytest

import suffice

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def data_of(path):
    return json.loads(DATA.search(path.read_text(encoding="utf-8"))[1])


def test_report_writes_the_page_of_the_library(run, model, folder):
    told = run("report", model, "penguins.csv", "-y", "species", "-o", "report.html").stderr
    assert re.fullmatch(r"report.html: 344 rows, \d+ kB\n", told)
    found = data_of(folder / "report.html")
    assert found["title"] == "m on penguins.csv"
    expected = suffice.evaluate(suffice.load(model), *suffice.load_penguins())
    assert found["metrics"][0]["log_loss"] == pytest.approx(expected.log_loss, rel=1e-12)
    assert found["rows"] == {"all": 344, "sample": 344, "weight": None}


def test_rows_in_several_batches_make_the_page_of_one(run, model, folder):
    run("report", model, "penguins.csv", "--title", "one", "-o", "one.html")
    run("report", model, "part1.csv", "part2.csv", "--title", "one", "-o", "two.html")
    one, two = (data_of(folder / name) for name in ("one.html", "two.html"))
    assert one["metrics"] == two["metrics"]
    assert [row["row"] for row in one["notable"]] == [row["row"] for row in two["notable"]]


def test_no_rows_leaves_every_row_out(run, model, folder):
    run("report", model, "penguins.csv", "--no-rows", "-o", "report.html")
    found = data_of(folder / "report.html")
    assert found["notable"] is None
    assert found["form"]["rows"] == []


def test_a_page_can_be_piped(run, model, folder):
    rows = (folder / "penguins.csv").read_text()
    assert run("report", model, "-", "-o", "-", input=rows).stdout.startswith("<!doctype")


def test_a_page_replaces_no_file_unasked(run, model, folder):
    (folder / "report.html").write_text("mine")
    told = run("report", model, "penguins.csv", "-o", "report.html", code=2).stderr
    assert "report.html exists already; add --force to overwrite it" in told
    assert (folder / "report.html").read_text() == "mine"


def test_compare_writes_a_page_of_several_models(run, model, folder):
    lines = (folder / "penguins.csv").read_text().splitlines(keepends=True)
    (folder / "two.csv").write_text("".join(line for line in lines if "Gentoo" not in line))
    run("fit", "two.csv", "-y", "species", "-o", "other.suffice")
    told = run("compare", "penguins.csv", "-m", model, "-m", "other.suffice", "-o", "c.html", code=1).stderr
    assert "compare models of the same classes" in told
    run("fit", "penguins.csv", "-y", "species", "-o", "other.suffice", "--model", "evidence", "--force")
    run("compare", "penguins.csv", "-m", model, "-m", "other.suffice", "-o", "c.html")
    found = data_of(folder / "c.html")
    assert [one["name"] for one in found["models"]] == ["m", "other"]
    expected = suffice.evaluate(suffice.load("other.suffice"), *suffice.load_penguins())
    assert found["metrics"][1]["log_loss"] == pytest.approx(expected.log_loss, rel=1e-12)


def test_compare_needs_two_models(run, model):
    told = run("compare", "penguins.csv", "-m", model, "-o", "c.html", code=2).stderr
    assert "name at least two models" in told
