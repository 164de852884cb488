"""What-if in a real browser: what is typed gets the posterior of the model itself."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.reports.documents import document_code

from .conftest import by_position, shown

FOLDER = os.environ.get("SUFFICE_DATA")
TARGETS = {
    "adult/train": "income",
    "credit_approval/data": "class",
    "german_credit/data": "class",
    "heart_cleveland/data": "num",
    "horse_colic/data": "surgical_lesion",
    "house_votes84/data": "Class",
    "penguins/data": "species",
    "titanic1309/data": "survived",
    "weather_aus/data": "RainTomorrow",
    "vehicle/data": "Class",
}


def test_a_typed_row_gets_the_posterior_of_predict_proba(opened, penguins):
    model, X, _, page = penguins
    tab = opened(page)
    tab.get_by_role("button", name="all missing").click()
    row = {
        "island": "Dream",
        "bill_length_mm": 47.5,
        "bill_depth_mm": None,
        "flipper_length_mm": 193.0,
        "body_mass_g": None,
        "sex": None,
        "year": None,
    }
    tab.get_by_label("island", exact=True).select_option("Dream")
    tab.get_by_label("bill_length_mm", exact=True).press_sequentially("47.5")
    tab.get_by_label("flipper_length_mm", exact=True).press_sequentially("193")
    expected = model.predict_proba(type(X).from_pylist([row], schema=X.schema))[0]
    said = [float(shown(tab, f"[data-posterior='{k}']")) for k in range(3)]
    np.testing.assert_allclose(said, expected, atol=5e-5)
    assert "bill_length_mm" in shown(tab, "#whatif .waterfall")


@pytest.mark.data
@pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets")
@pytest.mark.filterwarnings("ignore")  # of levels that were never seen
@pytest.mark.parametrize("file", TARGETS)
def test_what_if_equals_predict_proba_on_public_tables(opened, file):
    rng, target = np.random.default_rng(0), TARGETS[file]
    frame = pd.read_csv(Path(FOLDER, f"{file}.csv.gz")).dropna(subset=[target])
    frame = frame.sample(frac=1, random_state=0)[:600]
    X, y = frame.drop(columns=target), frame[target].astype(str).to_numpy()
    kind = suffice.EvidenceClassifier if file.startswith("titanic") else suffice.BayesClassifier
    model = kind().fit(X[:-200], y[:-200])
    rows = X[-200:].copy()
    for name in X.columns:
        if X[name].dtype.kind not in "iuf":
            rows[name] = rows[name].astype(object)
            rows.loc[rows.index[:5], name] = "never seen"
        rows.loc[rng.random(200) < 0.1, name] = None
    tab = opened(suffice.report(model, rows, y[-200:], rows=False))
    posterior = tab.evaluate("rows => rows.map(suffice.posterior)", by_position(model, rows))
    np.testing.assert_allclose(posterior, model.predict_proba(rows), rtol=0, atol=1e-9)


def test_a_typed_document_gets_the_posterior_of_predict_proba(opened, tab):
    texts = ["good film, good fun", "bad film", "a GOOD story, ça va", "bad bad end 2nd"]
    labels = np.array(["+", "-", "+", "-"])
    asked = [*texts, "", None, "nothing known", "ÇA ΣΑΣ good-bad_film bad film", "good film story"]
    settings = [
        {"event": "bernoulli", "ngram_range": (1, 2)},
        {"event": "complement", "tf": "log", "length": "l2", "idf": True, "weight_norm": True},
        {"unseen": "smooth", "length": "l2", "tf": "binary", "stop_words": ["film"]},
        {"min_count": 2, "lowercase": False, "unseen": "smooth"},
    ]
    for some in settings:
        model = suffice.TextClassifier(**some).fit(texts, labels)
        code = document_code(model)
        found = tab.evaluate(f"texts => texts.map(one => {code}([one]).posterior)", asked)
        np.testing.assert_allclose(found, model.predict_proba(asked), rtol=0, atol=1e-9)
    model = suffice.TextClassifier().fit(texts, labels)
    opened(suffice.report(model, texts, labels))
    found = tab.evaluate("texts => texts.map(one => suffice.posterior([one]))", asked)
    np.testing.assert_allclose(found, model.predict_proba(asked), rtol=0, atol=1e-9)
    tab.get_by_label("document").fill("Such a Good Film")
    expected = model.predict_proba(["Such a Good Film"])[0]
    said = [float(shown(tab, f"[data-posterior='{k}']")) for k in range(2)]
    np.testing.assert_allclose(said, expected, atol=5e-5)


def test_of_many_columns_those_that_are_looked_for_are_shown(opened):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    X = pd.DataFrame({f"column_{j}": rng.normal(size=80) for j in range(50)})
    X["column_33"] += 4.0 * y
    model = suffice.BayesClassifier(families="normal").fit(X, y)
    tab = opened(suffice.report(model, X, y))
    fields = tab.locator("#whatif .fields label:visible")
    assert fields.count() == 40
    assert fields.first.inner_text() == "column_33"
    tab.get_by_label("Find a column").fill("n_4")
    assert set(fields.all_inner_texts()) == {"column_4", *(f"column_4{i}" for i in range(10))}
    tab.get_by_label("column_4", exact=True).fill("1.5")
    row = X.iloc[[tab.evaluate("suffice.data.notable[0].row")]].assign(column_4=1.5)
    said = [float(shown(tab, f"[data-posterior='{k}']")) for k in range(2)]
    np.testing.assert_allclose(said, model.predict_proba(row)[0], atol=5e-5)
