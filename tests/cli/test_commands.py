"""What each command gives: the same as the library."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, ipc
from pyarrow import json as arrow_json
from pyarrow import parquet as pq
from sklearn.base import clone

import suffice


def read_csv(text):
    return csv.read_csv(pa.BufferReader(text.encode()))


def test_fit_and_predict_are_those_of_the_library(run, model):
    X, species = suffice.load_penguins()
    whole = suffice.BayesClassifier().fit(X, species)
    answers = read_csv(run("predict", model, "penguins.csv", "--proba").stdout)
    assert answers["prediction"].to_pylist() == whole.predict(X).tolist()
    posterior = np.column_stack([answers[f"p({label})"] for label in whole.classes_])
    np.testing.assert_array_equal(posterior, whole.predict_proba(X))
    np.testing.assert_array_equal(suffice.load(model).predict_proba(X), whole.predict_proba(X))


def test_fit_tells_the_schema_and_a_cross_validated_figure_beside_the_baseline(run):
    result = run("fit", "penguins.csv", "-y", "species", "-o", "m.suffice", "--model", "bayes")
    assert result.stdout == ""
    assert "whole numbers, 3 different: -0.011 nats a row" in result.stderr
    assert "Cross-validated: accuracy 0.9" in result.stderr
    assert "always 'Adelie': 0.442" in result.stderr


@pytest.mark.usefixtures("folder")
def test_cross_validation_answers_each_fold_as_a_model_refitted_to_the_others():
    from suffice.cli.cross_validation import FOLDS, Sample, cross_validated
    from suffice.tables.files.batches import LabelledFiles

    model = suffice.BayesClassifier().fit_from("penguins.csv", target="species")
    sample = LabelledFiles.of("penguins.csv", "species").through(Sample)
    found = cross_validated(model, sample)
    fold = np.random.default_rng(0).permutation(len(sample.y)) % FOLDS
    right = 0
    for number in range(FOLDS):
        here, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        refitted = clone(model).set_params(families=model.schema_).fit(sample.X.take(rest), sample.y[rest])
        right += int(np.sum(refitted.predict(sample.X.take(here)) == sample.y[here]))
    assert found.accuracy == right / len(sample.y)


def test_a_sample_of_many_rows_is_drawn_from_all_of_them(monkeypatch):
    from suffice.cli import cross_validation as folds
    from suffice.tables.files.batches import LabelledBatch

    monkeypatch.setattr(folds, "MOST_ROWS", 100)
    parts = np.array_split(np.arange(1000), 7)
    batches = (LabelledBatch(pa.table({"x": part}), part, part / 2.0) for part in parts)
    sample = folds.Sample(batches)
    assert sample.n_rows == 1000
    assert len(set(sample.y.tolist())) == 100
    assert 30 < np.sum(sample.y % 2) < 70  # every n-th row would be even, or odd
    assert 30 < np.sum(sample.y < 500) < 70
    assert sample.X["x"].to_pylist() == sample.y.tolist()
    np.testing.assert_array_equal(sample.weight, sample.y / 2.0)


@pytest.mark.parametrize(
    "kind, twin",
    [
        ("bayes", suffice.BayesClassifier()),
        ("nb", suffice.BayesClassifier()),
        ("gda", suffice.GaussianDiscriminant()),
        ("qda", suffice.GaussianDiscriminant("full")),
        ("logistic", suffice.LogisticRegression()),
    ],
)
def test_every_kind_of_model_is_that_of_the_library(run, kind, twin):
    rng = np.random.default_rng(0)
    X = pa.table({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    y = np.where(X["a"].to_numpy() + rng.normal(size=60) > 0, "yes", "no")
    csv.write_csv(X.append_column("y", pa.array(y)), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", kind)
    np.testing.assert_array_equal(
        suffice.load("m.suffice").predict_proba(X), clone(twin).fit(X, y).predict_proba(X)
    )


def test_gaussian_takes_the_covariances_that_do_better(run):
    rng = np.random.default_rng(1)
    for n, spread, wanted in ((20, 1.0, "shared"), (200, 4.0, "full")):
        rows = rng.normal(size=(2 * n, 6))
        rows[n:] = spread * rows[n:] + 0.8
        columns = {f"c{j}": rows[:, j] for j in range(6)}
        csv.write_csv(pa.table(columns | {"y": np.repeat(["a", "b"], n)}), "d.csv")
        settings = ("--model", "gaussian", "--priors", "a=0.9,b=0.1", "--force")
        run("fit", "d.csv", "-y", "y", "-o", "m.suffice", *settings)
        found = suffice.load("m.suffice")
        assert found.covariance == wanted
        assert found.priors_.tolist() == [0.9, 0.1]


def test_text_is_fitted_from_one_column(run):
    texts = ["good film", "bad film", "good fun", "bad luck"] * 5
    csv.write_csv(pa.table({"words": texts, "id": range(20), "y": ["+", "-", "+", "-"] * 5}), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "text", "--drop", "id")
    twin = suffice.TextClassifier().fit(texts, ["+", "-", "+", "-"] * 5)
    answers = read_csv(run("predict", "m.suffice", "d.csv", "--proba").stdout)
    np.testing.assert_allclose(answers["p(+)"], twin.predict_proba(texts)[:, 0], rtol=1e-13)
    assert "--drop" in run("fit", "d.csv", "-y", "y", "-o", "n.suffice", "--model", "text", code=2).stderr


def test_a_text_classifier_of_the_library_reads_the_column_text(run):
    suffice.TextClassifier().fit(["good", "bad"], ["+", "-"]).save("t.suffice")
    csv.write_csv(pa.table({"id": [1], "text": ["good"]}), "d.csv")
    assert run("predict", "t.suffice", "d.csv").stdout == "prediction\n+\n"
    assert "good" in run("explain", "t.suffice", "d.csv", "--row", 0).stdout
    csv.write_csv(pa.table({"id": [1], "words": ["good"]}), "e.csv")
    assert "'text'" in run("predict", "t.suffice", "e.csv", code=3).stderr


def test_families_weights_and_columns_to_leave_out(run):
    csv.write_csv(
        pa.table(
            {"a,b=c": [1, 2, 9, 8, 3], "w": [1, 2, 1, 1, 0], "id": range(5), "y": ["x", "x", "z", "z", "z"]}
        ),
        "d.csv",
    )
    run(
        *("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "bayes", "--weight", "w"),
        *("--drop", "id", "--families", "a,b=c=poisson"),
    )
    model = suffice.load("m.suffice")
    assert repr(model.schema_["a,b=c"].family) == "Poisson()"
    assert model.statistics_.weight.tolist() == [3.0, 2.0]
    run(
        "fit",
        "d.csv",
        "-y",
        "y",
        "-o",
        "n.suffice",
        "--model",
        "bayes",
        "--drop",
        "w",
        "--families",
        "id=none,a,b=c=binomial(9)",
    )
    assert repr(suffice.load("n.suffice").schema_["a,b=c"].family) == "Binomial(n=9)"
    run(
        "fit",
        "d.csv",
        "-y",
        "y",
        "-o",
        "o.suffice",
        "--model",
        "bayes",
        "--families",
        "a,b=c=log-normal,w=counts,id=binom(4)",
    )
    families = [repr(column.family) for column in suffice.load("o.suffice").schema_]
    assert families == ["LogNormal()", "Poisson()", "Binomial(n=4)"]


def test_parts_merge_to_the_whole_and_subtract_to_a_part(run):
    run("summarize", "penguins.csv", "-y", "species", "-o", "all.suffice")
    for part in ("part1", "part2"):
        run("summarize", f"{part}.csv", "-y", "species", "-o", f"{part}.suffice", "--like", "all.suffice")
    run("merge", "part1.suffice", "part2.suffice", "-o", "merged.suffice")
    whole = suffice.load("all.suffice")
    assert suffice.load("merged.suffice").isclose(whole)
    run("subtract", "merged.suffice", "part2.suffice", "-o", "left.suffice")
    assert suffice.load("left.suffice").isclose(suffice.load("part1.suffice"))
    assert "rows" in run("subtract", "part1.suffice", "all.suffice", "-o", "no.suffice", code=1).stderr


def test_models_merge_subtract_and_learn_on(run, model):
    whole = suffice.load(model)
    run("summarize", "part2.csv", "-y", "species", "-o", "part2.suffice", "--like", model)
    run("subtract", model, "part2.suffice", "-o", "first.suffice")
    assert suffice.load("first.suffice").statistics_.n_rows == 150
    run("merge", "first.suffice", "part2.suffice", "-o", "again.suffice")
    X = suffice.load_penguins()[0]
    np.testing.assert_allclose(
        suffice.load("again.suffice").predict_proba(X), whole.predict_proba(X), rtol=1e-9
    )
    run("update", "first.suffice", "part2.csv")
    assert suffice.load("first.suffice").statistics_.isclose(whole.statistics_)
    run("update", "part2.suffice", "part1.csv", "-y", "species", "-o", "sum.suffice")
    assert suffice.load("sum.suffice").isclose(whole.statistics_)


def test_statistics_serve_as_a_model(run):
    run("summarize", "penguins.csv", "-y", "species", "-o", "s.suffice")
    X, species = suffice.load_penguins()
    answers = read_csv(run("predict", "s.suffice", "penguins.csv").stdout)
    assert answers["prediction"].to_pylist() == suffice.BayesClassifier().fit(X, species).predict(X).tolist()
    assert "344 rows" in run("info", "s.suffice").stdout


def test_evaluate_finds_the_classes_and_gives_the_library_s_figures(run, model):
    X, species = suffice.load_penguins()
    wanted = suffice.evaluate(suffice.BayesClassifier().fit(X, species), X, species)
    assert run("evaluate", model, "penguins.csv").stdout.rstrip() == repr(wanted)
    figures = json.loads(run("evaluate", model, "penguins.csv", "-y", "species", "--json").stdout)
    assert figures["accuracy"] == wanted.accuracy
    assert figures["confusion"] == wanted.confusion.tolist()


def test_evaluate_asks_where_two_columns_could_hold_the_classes(run, model):
    table = csv.read_csv("penguins.csv")
    csv.write_csv(table.append_column("guess", table["species"]), "two.csv")
    told = run("evaluate", model, "two.csv", code=2).stderr
    assert "-y" in told
    assert "'guess'" in told


READERS = {
    "csv": pd.read_csv,
    "tsv": lambda file: pd.read_csv(file, sep="\t"),
    "jsonl": lambda file: pd.read_json(file, lines=True),
    "parquet": pd.read_parquet,
    "arrow": lambda file: ipc.open_stream(file).read_all().to_pandas(),
}


@pytest.mark.parametrize("kind, last", [("bayes", "(prior)"), ("evidence", "(prior, bias)")])
def test_explanations_add_up_to_scores(run, kind, last):
    run("fit", "penguins.csv", "-y", "species", "--model", kind, "-o", "e.suffice", "--quiet")
    explained = suffice.load("e.suffice").explain(suffice.load_penguins()[0])
    for form, read in READERS.items():
        run("explain", "e.suffice", "penguins.csv", "-o", f"explained.{form}")
        frame = read(f"explained.{form}")
        assert list(frame) == ["row", "column", *explained.classes]
        assert frame["column"].tolist()[:8] == [*explained.columns, last]
        assert frame["row"].tolist() == np.repeat(np.arange(344), 8).tolist()
        scores = frame.groupby("row")[explained.classes.tolist()].sum()
        np.testing.assert_allclose(scores, explained.total, rtol=1e-9)
    found = json.loads(run("explain", "e.suffice", "penguins.csv", "--row", 3, "--json").stdout)
    for k, label in enumerate(explained.classes):
        added = found["prior"][label] + sum(cell[label] for cell in found["contributions"].values())
        assert added == pytest.approx(found["scores"][label])
        assert added == pytest.approx(explained.total[3, k])


def test_explain_says_what_its_numbers_are(run):
    told = " ".join(run("explain", "--help").stdout.split())
    assert "the last line, (prior), holds the log priors" in told
    assert "the last line, (prior, bias), holds log priors and biases" in told


def test_words_of_documents_add_up_to_scores(run):
    documents = ["good film", "bad film", "good fun"]
    suffice.TextClassifier().fit(documents, ["+", "-", "+"]).save("words.suffice")
    csv.write_csv(pa.table({"text": documents}), "documents.csv")
    total = suffice.load("words.suffice").explain(documents).total
    frame = read_csv(run("explain", "words.suffice", "documents.csv").stdout).to_pandas()
    np.testing.assert_allclose(frame.groupby("row")[["+", "-"]].sum(), total)
    found = json.loads(run("explain", "words.suffice", "documents.csv", "--row", 0, "--json").stdout)
    assert set(found["contributions"]) == {"good", "film"}
    added = (
        found["prior"]["+"] + found["rest"]["+"] + sum(one["+"] for one in found["contributions"].values())
    )
    assert added == pytest.approx(total[0, 0])


def test_explain_tells_of_one_row(run, model):
    assert run("explain", model, "penguins.csv", "--row", 3).stdout.startswith("row 3: Adelie")
    assert "344" in run("explain", model, "penguins.csv", "--row", 344, code=2).stderr


def test_sample_draws_the_rows_of_the_library(run, model):
    drawn = read_csv(run("sample", model, "-n", 20, "--seed", 7, "-y", "species").stdout)
    X, y = suffice.load(model).sample(20, random_state=7)
    assert drawn["species"].to_pylist() == y.tolist()
    assert drawn.drop_columns("species").to_pydict() == X.to_pydict()
    assert "-y" in run("sample", model, "-y", "island", code=2).stderr


def test_results_take_every_format(run, model):
    wanted = read_csv(run("predict", model, "penguins.csv", "--keep", "year").stdout)
    assert wanted.column_names == ["year", "prediction"]
    readers = {
        "p.parquet": pq.read_table,
        "p.arrow": lambda path: ipc.open_stream(path).read_all(),
        "p.csv.gz": csv.read_csv,
        "p.tsv": lambda path: csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t")),
        "p.jsonl": arrow_json.read_json,
    }
    for name, read in readers.items():
        run("predict", model, "penguins.csv", "-o", name)
        assert read(name)["prediction"].to_pylist() == wanted["prediction"].to_pylist()
    piped = run("predict", model, "penguins.csv", "--output-format", "jsonl").stdout
    assert [json.loads(line)["prediction"] for line in piped.splitlines()] == wanted["prediction"].to_pylist()


def test_stdin_is_read_in_any_format(run, model):
    wanted = run("predict", model, "penguins.csv").stdout
    with open("penguins.csv", "rb") as file:  # noqa: PTH123
        assert run("predict", model, input=file.read()).stdout == wanted
    packed = io.BytesIO()
    pq.write_table(csv.read_csv("penguins.csv"), packed)
    assert run("predict", model, "-", "--format", "parquet", input=packed.getvalue()).stdout == wanted


def test_a_model_travels_through_stdin_and_stdout(run, model):
    with open(model, "rb") as file:  # noqa: PTH123
        content = file.read()
    assert run("info", "-", input=content).stdout == run("info", model).stdout
    merged = run("merge", "-", "-o", "-", input=content)
    assert suffice.load(io.BytesIO(merged.stdout_bytes)).statistics_ == suffice.load(model).statistics_


def test_export_writes_readable_parameters(run, model):
    content = json.loads(run("export", model, "--to", "json").stdout)
    assert content["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert content["columns"][1] == {
        "name": "bill_length_mm",
        "family": "LogNormal()",
        "why": "numbers: 0.553 nats a row",
    }
    mean = suffice.load(model).parameters_["flipper_length_mm"]["mean"]
    assert content["parameters"]["flipper_length_mm"]["mean"] == mean.tolist()


def test_export_writes_the_sql_of_the_library(run, model):
    text = run("export", model, "--to", "sql", "--table", "birds", "--dialect", "sqlite").stdout
    assert text.rstrip() == suffice.load(model).to_sql("birds", dialect="sqlite").rstrip()
    run("export", model, "--to", "sql", "--result", "label", "--key", "id", "--key", "day", "-o", "q.sql")
    with open("q.sql", encoding="utf-8") as file:  # noqa: PTH123
        wanted = suffice.load(model).to_sql("data", output="label", key=["id", "day"])
        assert file.read().rstrip() == wanted.rstrip()
    assert "mysql" in run("export", model, "--to", "sql", "--dialect", "mysql", code=2).stderr


@pytest.mark.parametrize(
    "name, parts",
    [
        ("birds", ["birds"]),
        ("zoo.birds", ["zoo", "birds"]),
        ("the catalog.zoo.birds", ["the catalog", "zoo", "birds"]),
        ('"zoo.birds"', ["zoo.birds"]),
        ('zoo."a ""b"".c"', ["zoo", 'a "b".c']),
        ("x; DROP TABLE birds", ["x; DROP TABLE birds"]),
    ],
)
def test_export_splits_the_name_of_a_table_at_dots_outside_quotes(run, model, name, parts):
    text = run("export", model, "--to", "sql", "--table", name, "--dialect", "postgres").stdout
    assert text.rstrip() == suffice.load(model).to_sql(parts, dialect="postgres").rstrip()


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", '"a', 'a"b', '""', '"a"b'])
def test_export_refuses_what_does_not_name_a_table(run, model, name):
    told = " ".join(run("export", model, "--to", "sql", "--table", name, code=2).stderr.split())
    assert "does not name a table" in told


def test_export_writes_a_graph_that_predicts_as_the_library_does(run):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    rng = np.random.default_rng(2)
    X = pa.table({"a": rng.normal(size=40), "b": rng.normal(size=40), "c": rng.choice(["x", "z"], 40)})
    y = rng.choice(["p", "q"], 40)
    csv.write_csv(X.append_column("y", pa.array(y)), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "nb")
    run("export", "m.suffice", "--to", "onnx", "-o", "m.onnx")
    with open("m.onnx", "rb") as file:  # noqa: PTH123
        graph = file.read()
    assert run("export", "m.suffice", "--to", "onnx").stdout_bytes == graph
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    columns = {name: X[name].to_numpy(zero_copy_only=False)[:, np.newaxis] for name in X.column_names}
    labels, posterior = session.run(["label", "probabilities"], columns)
    twin = suffice.load("m.suffice")
    np.testing.assert_allclose(posterior, twin.predict_proba(X), atol=1e-9)
    assert labels.tolist() == twin.predict(X).tolist()


@pytest.mark.parametrize("form", ["sql", "onnx"])
def test_a_large_joint_block_is_exported_for_whole_rows(run, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7)) @ rng.normal(size=(7, 7))
    suffice.GaussianDiscriminant("full").fit(X, rng.integers(0, 2, 60)).save("m.suffice")
    assert "pass --missing null" in run("export", "m.suffice", "--to", form, "-o", "m.out", code=1).stderr
    run("export", "m.suffice", "--to", form, "-o", "m.out", "--missing", "null")


@pytest.mark.parametrize("kind", ["gda", "logistic"])
def test_what_a_model_has_learnt_is_exported_as_json(run, kind):
    csv.write_csv(
        pa.table({"a": [0.0, 1.0, 2.5, 3.0], "b": [1.0, 0.0, 2.0, 5.0], "y": [0, 0, 1, 1]}), "d.csv"
    )
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", kind)
    content = json.loads(run("export", "m.suffice", "--to", "json").stdout)
    assert content["classes"] == [0, 1]
    assert [one["name"] if kind == "gda" else one for one in content["columns"]] == ["a", "b"]


def test_update_decides_columns_that_had_no_values_so_far(run):
    early = pa.table({"x": [1.0, 2.0, 8.0, 9.0], "late": pa.nulls(4), "y": ["a", "a", "b", "b"]})
    late = ["u", "u", "v", "v"]
    flags = pa.array([True, True, False, None])
    csv.write_csv(early.append_column("flag", pa.nulls(4)), "early.csv")
    csv.write_csv(early.set_column(1, "late", [late]).append_column("flag", flags), "late.csv")
    whole = suffice.BayesClassifier().fit_from(["late.csv"], target="y")
    for command in ("fit", "summarize"):
        of_families = ("--model", "bayes") if command == "fit" else ()
        run(command, "early.csv", "-y", "y", "-o", "m.suffice", "--force", *of_families)
        run("update", "m.suffice", "late.csv", "-y", "y")
        held = suffice.load("m.suffice")
        schema = held.schema_ if command == "fit" else held.schema
        assert [column.family.name for column in schema] == [c.family.name for c in whole.schema_]
        told = run("predict", "m.suffice", "late.csv", "--proba").stdout
        assert "p(a)" in told
        assert "class" in run("sample", "m.suffice", "-n", 3, "--seed", 0).stdout


def test_statistics_of_flags_and_dates_serve_as_a_model(run):
    days = [f"2024-0{month}-01" for month in (1, 2, 6, 7, 8, 9)]
    flags = [True, True, True, False, False, False]
    csv.write_csv(pa.table({"day": days, "flag": flags, "y": list("aaabbb")}), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "nb")
    run("summarize", "d.csv", "-y", "y", "-o", "s.suffice")
    assert run("predict", "s.suffice", "d.csv").stdout == run("predict", "m.suffice", "d.csv").stdout


def test_costs_decide(run):
    rows = pa.table({"x": [0.0, 1.0, 1.2, 2.0]})
    y = ["good", "good", "bad", "bad"]
    csv.write_csv(rows.append_column("y", pa.array(y)), "d.csv")
    run("fit", "d.csv", "-y", "y", "-o", "m.suffice", "--model", "nb")
    with open("costs.json", "w") as file:  # noqa: PTH123
        json.dump({"bad": {"good": 5}, "good": {"bad": 1}}, file)
    csv.write_csv(
        pa.table({"true": ["bad", "good"], "predicted": ["good", "bad"], "cost": [5, 1]}), "costs.csv"
    )
    careful = suffice.CostSensitive(suffice.load("m.suffice"), {("bad", "good"): 5, ("good", "bad"): 1})
    wanted = careful.predict(rows).tolist()
    assert wanted != suffice.load("m.suffice").predict(rows).tolist()
    for path in ("costs.json", "costs.csv"):
        answers = read_csv(run("predict", "m.suffice", "d.csv", "--costs", path).stdout)
        assert answers["prediction"].to_pylist() == wanted


def test_demo_runs(run):
    assert "penguins" in run("demo").stdout


def test_files_are_read_as_the_text_they_were_fitted_to(run, folder):
    days = [f"{1 + i % 28:02}/{1 + i % 12:02}/{2000 + i % 20}" for i in range(120)]
    prices = [f'"${1000 + 37 * i % 900:,}"' for i in range(120)]
    prices[7] = "?"
    lines = [f"{day},{price},{'ab'[i % 2]}" for i, (day, price) in enumerate(zip(days, prices, strict=True))]
    (folder / "sales.csv").write_text("\n".join(["day,price,kind", *lines]) + "\n")
    said = run("fit", "sales.csv", "-y", "kind", "-o", "sales.suffice", "--model", "bayes").stderr
    assert "read as dates (dd/mm/yyyy)" in said
    assert "read as numbers in $" in said
    (folder / "one.csv").write_text('day,price\n3/4/2001,"$1,100"\n05/06/2002,-\n')
    text = read_csv(run("predict", "sales.suffice", "one.csv", "--proba").stdout)
    moments = np.array(["2001-04-03", "2002-06-05"], dtype="M8[s]")
    pq.write_table(pa.table({"day": moments, "price": [1100.0, None]}), "one.parquet")
    typed = read_csv(run("predict", "sales.suffice", "one.parquet", "--proba").stdout)
    assert text == typed
    run("update", "sales.suffice", "sales.csv", "-y", "kind")
    assert suffice.load("sales.suffice").statistics_.n_rows == 240


def test_a_mark_of_missing_cells_can_be_chosen(run, folder):
    lines = [f"{'unknown' if i % 9 == 0 else i * 7 % 100},{'ab'[i % 2]}" for i in range(120)]
    (folder / "rows.csv").write_text("\n".join(["n,kind", *lines]) + "\n")
    assert "categories" in run("fit", "rows.csv", "-y", "kind", "-o", "a.suffice", "--model", "bayes").stderr
    said = run(
        "fit", "rows.csv", "-y", "kind", "-o", "b.suffice", "--model", "bayes", "--missing", "unknown"
    ).stderr
    assert "read as numbers: whole numbers" in said
    run("summarize", "rows.csv", "-y", "kind", "-o", "c.suffice", "--missing", "unknown")
    assert suffice.load("c.suffice") == suffice.load("b.suffice").statistics_
