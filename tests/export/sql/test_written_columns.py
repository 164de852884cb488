"""Columns of text that a model reads as numbers or dates, in databases and in ONNX."""

import numpy as np
import pandas as pd
import pytest

import suffice

RNG = np.random.default_rng(5)
N = 200
Y = np.where(RNG.random(N) < 0.4, "a", "b")
SHIFT = np.where(Y == "a", 2.0, 0.0)
GONE = np.arange(N) % 20 == 7


def frame_of():
    """Numbers as text with marks, units and separators, and levels with marks."""
    frame = pd.DataFrame(
        {
            "age": [f"{age:.2f}" for age in RNG.normal(40.0 + SHIFT, 3.0)],
            "price": [f"${price:,.0f}" for price in RNG.gamma(4.0, 900.0 * (1.0 + SHIFT))],
            "share": [f"{share:.1f} %" for share in RNG.uniform(0.0, 50.0, N)],
            "rooms": RNG.choice(["1", "2", "3"], N),
            "color": RNG.choice(["red", "green", " ?"], N),
        }
    )
    frame.loc[GONE, ["age", "price", "share", "rooms"]] = "N/A"
    frame.loc[20:24, "price"] = ["-$5", "$ 7.25", "1,200", None, " 9e2 "]
    return frame


FRAME = frame_of()
DAYS = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 700, N), unit="D")


def strange_rows():
    """Cells that the model cannot read are missing in the database too."""
    rows = FRAME[:6].copy()
    rows["price"] = ["1,2,3", "€5", "$", "1e3", "12,00", "$1,200.50"]
    rows["color"] = ["?", "", " ?", "never seen", None, "red"]
    return rows


@pytest.mark.parametrize("name", ["duckdb", "postgres"])
def test_a_database_reads_text_as_the_model_does(name, request):
    database = request.getfixturevalue(name)
    model = suffice.BayesClassifier().fit(FRAME, Y)
    database.create("rows", FRAME)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(FRAME), rtol=1e-12)
    rows = strange_rows()
    with pytest.warns(UserWarning, match="column 'price' is read as numbers in"):
        expected = model.predict_proba(rows)
    database.create("rows", rows)
    np.testing.assert_allclose(database.scores(model, "rows"), expected, rtol=1e-12)


@pytest.mark.parametrize("dialect", ["sqlite", "spark", "bigquery", "snowflake"])
def test_a_dialect_without_patterns_refuses_text_of_numbers(dialect):
    model = suffice.BayesClassifier().fit(FRAME, Y)
    with pytest.raises(ValueError, match=f"'age' is read as numbers, which cannot be written for {dialect}"):
        model.to_sql("rows", dialect=dialect)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%Y%m%d"])
def test_dates_as_text_are_refused_in_sql(form):
    model = suffice.BayesClassifier().fit(pd.DataFrame({"day": DAYS.strftime(form)}), Y)
    with pytest.raises(ValueError, match=r"'day' is read as dates \(.*fit the model on dates that are"):
        model.to_sql("rows")


def test_marks_are_missing_levels_in_every_database(database):
    frame = FRAME[["color"]]
    model = suffice.BayesClassifier().fit(frame, Y)
    rows = strange_rows()[["color"]]
    database.create("rows", rows)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(rows), rtol=1e-12)


def test_marks_are_missing_levels_in_onnx():
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = suffice.BayesClassifier().fit(FRAME[["color"]], Y)
    rows = strange_rows()[["color"]]
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    cells = np.array([cell or "" for cell in rows["color"].where(rows["color"].notna(), "")])
    found = session.run(["probabilities"], {"color": cells.reshape(-1, 1).astype(object)})[0]
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=1e-12)


def test_onnx_takes_numbers_for_text_that_is_read_as_numbers_or_dates():
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    frame = FRAME[["age", "share"]].assign(day=DAYS.strftime("%Y-%m-%d"))
    model = suffice.BayesClassifier().fit(frame, Y)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    numbers = {
        "age": pd.to_numeric(frame["age"], errors="coerce"),
        "share": pd.to_numeric(frame["share"].str.rstrip(" %"), errors="coerce"),
        "day": (DAYS - pd.Timestamp(0)) / pd.Timedelta(seconds=1),
    }
    inputs = {name: np.array(cells, dtype=np.float64).reshape(-1, 1) for name, cells in numbers.items()}
    found = session.run(["probabilities"], inputs)[0]
    np.testing.assert_allclose(found, model.predict_proba(frame), rtol=1e-9)


def test_onnx_refuses_days_that_look_like_numbers():
    model = suffice.BayesClassifier().fit(pd.DataFrame({"day": DAYS.strftime("%Y%m%d").astype(int)}), Y)
    with pytest.raises(ValueError, match=r"'day' is read as dates \(yyyymmdd\), which cannot be written in"):
        model.to_onnx()
