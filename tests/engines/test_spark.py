"""Spark in local mode: partial sums by mapInArrow, push-down, answers, tasks that fail, and Connect."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.engines.predictions import Answers
from suffice.engines.sources import rows_of
from suffice.engines.spark import SparkRows, _answering, _summing

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "rows.parquet"
    rows.to_parquet(path, index=False)
    return path


@pytest.fixture(scope="module")
def frame(spark, path):
    """All rows, in three partitions."""
    return spark.read.parquet(str(path)).repartition(3)


ODD = "the.height `in` m"


def with_odd_name(frame, table, families):
    """The same with a name in which Spark sees the parts of a name."""
    source = frame.select(*table.columns).withColumnRenamed("height", ODD)
    renamed = {ODD if name == "height" else name: family for name, family in families.items()}
    return source, table.rename(columns={"height": ODD}), renamed


@pytest.mark.parametrize("how", ["batches", "pushdown"])
def test_spark_sums_its_partitions_to_the_statistics_of_all_rows(how, frame, table, families, monkeypatch):
    source, table, families = with_odd_name(frame, table, families)
    whole = suffice.summarize(table, target="kind", families=families)
    partial = []
    reduced = SparkRows.reduced

    def counted(self, *args, **settings):
        partial.append(1)
        return reduced(self, *args, **settings)

    monkeypatch.setattr(SparkRows, "reduced", counted)
    found = suffice.summarize(source, target="kind", families=families, how=how)
    assert found.isclose(whole, rtol=1e-12)
    assert partial == [1] * (how == "batches")


def test_words_are_merged_in_groups_and_identical(frame, rows):
    found = suffice.TextClassifier().fit_from(frame.select("note", "kind"), target="kind")
    expected = suffice.TextClassifier().fit(rows.note, rows.kind)
    assert found.statistics_ == expected.statistics_
    assert found.vocabulary_ == expected.vocabulary_


@pytest.fixture
def failing(tmp_path):
    """Makes a frame of which two tasks fail, after so many others have begun; both must have rows."""

    def made(source, after=0):
        folder = str(tmp_path)

        def fails_twice(batches):
            from pathlib import Path
            from uuid import uuid4

            for number, batch in enumerate(batches):
                if batch.num_rows and not number:
                    begun = len(list(Path(folder).iterdir()))
                    (Path(folder) / uuid4().hex).touch()
                    if begun in (after, after + 1):
                        raise OSError("the disk is gone")
                yield batch

        return source.mapInArrow(fails_twice, source.schema)

    yield made
    assert len(list(tmp_path.iterdir())) > 4


def test_a_task_that_fails_twice_changes_nothing(frame, table, whole, families, failing):
    source = failing(frame.select(*table.columns))
    assert suffice.summarize(source, target="kind", families=families, how="batches").isclose(whole)


def test_answers_are_a_spark_frame(frame, table, families):
    source, table, families = with_odd_name(frame, table, families)
    model = suffice.BayesClassifier(families).fit(table, "kind")
    answers = model.predict_from(source, keep=[ODD]).toArrow().to_pandas()
    assert list(answers.columns) == [ODD, "prediction", "p(a)", "p(b)", "p(c)"]
    found = answers.sort_values(ODD).reset_index(drop=True)
    rows = table.sort_values(ODD).reset_index(drop=True)
    assert found.prediction.tolist() == model.predict(rows.drop(columns="kind")).tolist()
    expected = model.predict_proba(rows.drop(columns="kind"))
    np.testing.assert_allclose(found[["p(a)", "p(b)", "p(c)"]], expected, rtol=1e-12)


def test_passes_of_a_regression_are_made_by_workers_even_if_tasks_fail(frame, rows, failing, monkeypatch):
    monkeypatch.setattr("suffice.estimators.regression.worker_rows.KEPT_BYTES", 0)
    X = rows[["calls", "paid"]].assign(calls=rows.calls.astype(float))
    source = failing(frame.select("calls", "paid", "kind"), after=4).withColumnRenamed("paid", ODD)
    found = suffice.LogisticRegression().fit_from(source, target="kind")
    expected = suffice.LogisticRegression().fit(X, rows.kind)
    unit = expected.standard_errors_
    np.testing.assert_allclose(found.coef_ / unit, expected.coef_ / unit, atol=1e-8)
    assert found.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-12)


def test_evidence_of_all_partitions_is_that_of_batches_even_if_tasks_fail(frame, table, failing, monkeypatch):
    monkeypatch.setattr("suffice.engines.spark.SCHEMA_ROWS", 300)
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 300)
    source = frame.select(*table.columns)
    found = suffice.EvidenceClassifier().fit(failing(source, after=3), "kind")
    first = source.limit(300).toArrow()
    pieces = suffice.EvidenceClassifier().fit(first.drop(["kind"]), first["kind"]).pieces_
    parts = [table.iloc[:500], table.iloc[500:]]
    expected = suffice.EvidenceClassifier(pieces=pieces).fit_from(parts, target="kind")
    for sums, others in zip(found._learnt.sums.statistics(), expected._learnt.sums.statistics(), strict=True):
        assert sums.isclose(others, rtol=1e-12)
    X = table.drop(columns="kind")
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_workers_say_why_they_refuse_rows(frame):
    with pytest.raises(ValueError, match=r"^partition \d of the Spark DataFrame: column 'town' holds"):
        suffice.LogisticRegression().fit(frame.select("calls", "town", "kind"), "kind")
    with pytest.raises(ValueError, match="the Spark DataFrame has two columns 'kind'; rename one of them"):
        suffice.BayesClassifier().fit(frame.select("calls", "kind", "kind"), "kind")


def test_rows_are_counted_from_the_start_of_their_partition(spark):
    infinite = "IF(id = 550, DOUBLE('Infinity'), id % 7) AS x"
    source = spark.range(0, 600, 1, 2).selectExpr(infinite, "IF(id % 3 = 0, 'a', 'b') AS kind")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100)
    try:
        for model in (suffice.EvidenceClassifier(), suffice.LogisticRegression()):
            with pytest.raises(ValueError, match=r"^partition 1 of the Spark DataFrame: .* inf at row 250;"):
                model.fit(source, "kind")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_rows_that_cannot_be_answered_are_counted_too(rows):
    model = suffice.LogisticRegression().fit(rows[["calls"]], rows.kind)
    cells = pa.table({"calls": [1.0, 2.0, 3.0, float("nan")]})
    answering = _answering(Answers.of(model, rows_of([cells]), (), proba=True))
    refusal = r"^a partition of the Spark DataFrame: column 'calls' has missing .* at row 3, which"
    with pytest.raises(ValueError, match=refusal):
        list(answering(iter(cells.to_batches(max_chunksize=2))))


def test_workers_without_the_library_are_named(spark, frame, tmp_path, monkeypatch):
    (tmp_path / "suffice.py").write_text("raise ModuleNotFoundError(\"No module named 'suffice'\")")
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    with pytest.raises(ModuleNotFoundError, match=r"another Python, without suffice; .* PYSPARK_PYTHON"):
        suffice.LogisticRegression().fit(frame.select("calls", "kind"), "kind")


def test_parts_without_a_number_are_told_apart_by_their_rows():
    parts = [pa.record_batch({"c0": [float(number), 1.0]}) for number in range(3)]

    def run(batches):
        (cell,) = _summing(lambda rows, part: f"{part} {rows.title}".encode(), ("x",))(iter(batches))
        number, _, title = cell.column("part")[0].as_py().decode().partition(" ")
        assert title == "a partition of the Spark DataFrame"
        return number

    assert len({run([part]) for part in parts}) == 3
    assert run(parts) == run(parts[:1])
    assert run([]) == "0"


CONNECT = """
import sys, warnings
warnings.simplefilter("ignore")
import suffice
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
assert "connect" in type(session).__module__
frame = session.read.parquet(sys.argv[1]).select("height", "calls", "town", "kind")
families = {"height": "normal", "calls": "poisson", "town": "categorical"}
for how in ("batches", "pushdown"):
    suffice.summarize(frame, target="kind", families=families, how=how).save(sys.argv[2] + how)
model = suffice.BayesClassifier().fit_statistics(suffice.Statistics.load(sys.argv[2] + how))
from suffice.estimators.regression import worker_rows
worker_rows.KEPT_BYTES = 0
suffice.LogisticRegression().fit(frame.select("calls", "kind"), "kind").save(sys.argv[2] + "regression")
suffice.EvidenceClassifier().fit(frame, "kind").save(sys.argv[2] + "evidence")
print(model.predict_from(frame).count())
session.stop()
"""


@pytest.mark.skipif(not shutil.which("java"), reason="Spark's Connect server needs Java 17")
def test_connect_gives_the_same_models(path, rows, java, tmp_path):
    pytest.importorskip("grpc")
    source = os.path.dirname(os.path.dirname(suffice.__file__))  # noqa: PTH120
    setting = {**os.environ, **java, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    setting["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(  # noqa: S603, our own code
        [sys.executable, "-c", CONNECT, str(path), str(tmp_path / "sums-")],
        capture_output=True,
        text=True,
        check=False,
        env=setting,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-1] == str(len(rows))
    data = rows[["height", "calls", "town", "kind"]]
    families = {"height": "normal", "calls": "poisson", "town": "categorical"}
    expected = suffice.summarize(data, target="kind", families=families)
    for how in ("batches", "pushdown"):
        assert suffice.Statistics.load(tmp_path / f"sums-{how}").isclose(expected, rtol=1e-12)
    found = suffice.load(tmp_path / "sums-regression")
    expected = suffice.LogisticRegression().fit(rows[["calls"]], rows.kind)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8)
    X = data.drop(columns="kind")
    found, expected = suffice.load(tmp_path / "sums-evidence"), suffice.EvidenceClassifier().fit(X, rows.kind)
    assert found.pieces_.difference(expected.pieces_) is None
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-6, atol=1e-9)
