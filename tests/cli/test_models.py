"""The models that `suffice fit` chooses from; the default one, weighed evidence, takes every command."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import suffice
from suffice.cli import main
from suffice.cli.fit import MODELS
from suffice.cli.plot import PICTURES


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with the penguins, and models of all and of the odd ones; what was said of the first."""
    folder = tmp_path_factory.mktemp("models")
    X, species = suffice.load_penguins()
    table = X.append_column("species", pa.array(species))
    csv.write_csv(table, folder / "penguins.csv")
    csv.write_csv(table.take(list(range(1, 344, 2))), folder / "odd.csv")
    csv.write_csv(table.take(list(range(0, 344, 3))), folder / "third.csv")
    for name, file in (("penguins", "m"), ("odd", "odd")):
        arguments = ["fit", f"{folder}/{name}.csv", "-y", "species", "-o", f"{folder}/{file}.suffice"]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        (folder / f"{file}.txt").write_text(result.stderr)
    return folder


@pytest.fixture
def here(fitted, run, folder):
    """The same files in the folder of a test."""
    for file in fitted.iterdir():
        shutil.copy(file, folder)
    return run


def test_the_default_is_weighed_evidence(here):
    held = suffice.load("m.suffice")
    assert isinstance(held, suffice.EvidenceClassifier)
    X, species = suffice.load_penguins()
    assert suffice.EvidenceClassifier().fit(X, species).predict(X).tolist() == held.predict(X).tolist()
    told = Path("m.txt").read_text()
    assert "one covariance for all classes" in told
    assert "Cross-validated: accuracy 0.9" in told
    assert "|".join(MODELS) in here("fit", "--help").stdout


@pytest.mark.filterwarnings("always:evidence was not weighed")
def test_weights_that_add_up_to_1_are_warned_of_once(here):
    table = csv.read_csv("penguins.csv")
    csv.write_csv(table.append_column("w", pa.array(np.full(344, 1 / 344))), "light.csv")
    told = here("fit", "light.csv", "-y", "species", "--weight", "w", "-o", "light.suffice").stderr
    assert told.count("evidence was not weighed") == 1
    assert "344 rows have a total weight of 1, and a row of weight w counts as w rows" in told


def test_auto_is_another_name_for_it(here):
    assert "auto: another name for evidence" in " ".join(here("fit", "--help").stdout.split())
    here("fit", "third.csv", "-y", "species", "-o", "a.suffice", "--model", "auto")
    assert isinstance(suffice.load("a.suffice"), suffice.EvidenceClassifier)


@pytest.mark.parametrize("arguments", [
    ("predict", "m.suffice", "penguins.csv", "--proba"),
    ("evaluate", "m.suffice", "penguins.csv"),
    ("explain", "m.suffice", "penguins.csv", "--row", "3"),
    ("sample", "m.suffice", "-n", "2", "--seed", "1", "-y", "species"),
    ("info", "m.suffice"),
    ("export", "m.suffice", "--to", "json"),
    ("export", "m.suffice", "--to", "sql", "--dialect", "duckdb"),
    ("update", "m.suffice", "penguins.csv", "-y", "species"),
    ("summarize", "third.csv", "-y", "species", "--like", "m.suffice", "-o", "s.suffice"),
])  # fmt: skip
def test_it_takes_every_command(here, arguments):
    said = here(*arguments)
    assert said.stdout or said.stderr


@pytest.mark.parametrize("what", list(PICTURES))
def test_every_picture_is_drawn(here, what):
    columns = ("--columns", "bill_length_mm,body_mass_g")
    data = () if PICTURES[what].rows == "none" else ("third.csv",)
    here("plot", "m.suffice", *data, "--what", what, *columns, "-o", "p.png")
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"


def test_models_that_were_fitted_apart_are_merged(here):
    here("fit", "third.csv", "-y", "species", "-o", "third.suffice")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        said = here("merge", "third.suffice", "m.suffice", "-o", "both.suffice").stderr
    assert "There, only the rows of one model count" in said
    assert "459 rows." in said
    both, m = suffice.load("both.suffice"), suffice.load("m.suffice")
    assert both.statistics_.n_rows == 459
    np.testing.assert_array_equal(both.weights_.weights, m.weights_.weights)
    here("evaluate", "both.suffice", "penguins.csv")
    X, species = suffice.load_penguins()
    assert suffice.evaluate(both, X, species).log_loss < 0.05


def test_a_model_like_another_adds_to_the_sums_of_all_rows(here):
    here("fit", "third.csv", "-y", "species", "--like", "odd.suffice", "-o", "third.suffice")
    assert here("merge", "third.suffice", "odd.suffice", "-o", "both.suffice").stderr == "287 rows.\n"
    here("subtract", "both.suffice", "third.suffice", "-o", "left.suffice")
    X, _ = suffice.load_penguins()
    left, odd = suffice.load("left.suffice"), suffice.load("odd.suffice")
    np.testing.assert_allclose(left.predict_proba(X), odd.predict_proba(X), atol=1e-9)
    here("fit", "third.csv", "-y", "species", "--like", "m.suffice", "--model", "bayes", "-o", "b.suffice")
    said = here("merge", "b.suffice", "m.suffice", "-o", "c.suffice").stderr
    assert "The result is a BayesClassifier, as b.suffice is" in said
    assert "To keep these, name m.suffice first." in said
    assert said.endswith("459 rows.\n")
    said = here("merge", "m.suffice", "b.suffice", "-o", "d.suffice").stderr
    assert "The weights are those of m.suffice. b.suffice has only the sums of single columns" in said
    weighed = suffice.load("d.suffice").weights_.weights
    np.testing.assert_array_equal(weighed, suffice.load("m.suffice").weights_.weights)


@pytest.mark.parametrize("options, words", [
    (("--families", "sex=none"), "--like and --families both set the families"),
    (("--model", "gaussian"), "--like works with --model evidence or bayes"),
    (("--model", "bayes", "--alpha", "1"), "--like works with"),
])  # fmt: skip
def test_what_contradicts_another_model_is_refused(here, options, words):
    arguments = ("fit", "third.csv", "-y", "species", "--like", "m.suffice", "-o", "n.suffice", *options)
    assert words in here(*arguments, code=2).stderr


def test_a_model_of_other_columns_is_not_merged(here):
    here("fit", "third.csv", "-y", "species", "-o", "n.suffice", "--drop", "sex", "--model", "bayes")
    told = here("merge", "m.suffice", "n.suffice", "-o", "o.suffice", code=3).stderr
    assert "'sex' in only one of them" in told
