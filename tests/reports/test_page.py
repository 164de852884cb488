"""What a page holds, read from its text."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

import suffice
from suffice.plots.palette import COLOURS
from suffice.reports.passing import MOST_SAMPLED, KeptRows

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def some_rows(n, n_classes=2, n_columns=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    X = pd.DataFrame({f"x{j}": rng.normal(codes, 1.0) for j in range(n_columns)})
    return X, np.array([f"class {k}" for k in codes], dtype=object)


@pytest.fixture(scope="module")
def page():
    X, species = suffice.load_penguins()
    return suffice.report(suffice.BayesClassifier().fit(X, species), X, species)


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_and_nothing_else(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.html)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    hashes = [
        [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in found]
        for found in (SCRIPT.findall(page.html), STYLE.findall(page.html))
    ]
    assert rules == {
        "default-src": "'none'",
        "script-src": " ".join(hashes[0]),
        "style-src": hashes[1][0],
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert "eval" not in page.html
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", page.html)


def test_the_data_of_the_page_is_json_without_markup(page):
    text = DATA.search(page.html)[1]
    assert not re.search("[<>&]", text)
    assert text.isascii()
    assert json.loads(text) == json.loads(json.dumps(page.data))


def test_the_metrics_are_those_of_evaluate(page):
    X, species = suffice.load_penguins()
    expected = suffice.evaluate(suffice.BayesClassifier().fit(X, species), X, species)
    first, baseline = page.data["metrics"]
    for name, value in expected.scalars().items():
        assert first[name] == value
        assert baseline[name] == getattr(expected.baseline, name)
    gained = {one["name"]: one["gained"] for one in page.data["schema"]["columns"]}
    model = suffice.BayesClassifier().fit(X, species)
    evidence = model.evidence(X, species)
    assert gained == {
        str(name): pytest.approx(value, rel=1e-3, abs=1e-6)
        for name, value in zip(evidence.columns, evidence.gained, strict=True)
    }


def test_waterfalls_are_those_of_explain(page):
    X, species = suffice.load_penguins()
    explanation = suffice.BayesClassifier().fit(X, species).explain(X)
    assert len(page.data["notable"]) == 100
    for one in page.data["notable"]:
        a, b = (page.data["classes"][one[side]] for side in ("for", "against"))
        expected = dict(zip(explanation.columns, explanation.evidence(a, b)[one["row"]], strict=True))
        assert {name: nats for name, _, nats in one["said"]} == {
            name: pytest.approx(nats, rel=1e-4, abs=1e-9) for name, nats in expected.items()
        }
        odds = one["start"][1] + sum(nats for *_, nats in one["said"]) + one["rest"][1]
        total = explanation.total[one["row"]]
        assert odds == pytest.approx(total[one["for"]] - total[one["against"]], abs=1e-3)


def test_the_most_surprising_rows_come_first(page):
    X, species = suffice.load_penguins()
    p = suffice.BayesClassifier().fit(X, species).predict_proba(X)
    classes = np.array(page.data["classes"])
    of_truth = (p * (np.asarray(species)[:, np.newaxis] == classes)).sum(axis=1)
    ranks = {
        one["why"]["surprising"]: one["row"] for one in page.data["notable"] if "surprising" in one["why"]
    }
    expected = np.argsort(of_truth, kind="stable")
    assert len(ranks) > 30
    assert ranks == {rank: expected[rank] for rank in ranks}


def test_a_page_says_how_many_rows_it_carries():
    X, y = some_rows(MOST_SAMPLED + 100)
    page = suffice.report(suffice.BayesClassifier().fit(X, y), X, y)
    assert page.data["rows"] == {"all": MOST_SAMPLED + 100, "sample": MOST_SAMPLED, "weight": None}
    scores = np.frombuffer(base64.b64decode(page.data["models"][0]["scores"]), "<f4")
    assert scores.size == MOST_SAMPLED * 2


@pytest.mark.parametrize("n, n_classes, n_columns", [(6_000, 2, 3), (3_000, 60, 4), (300, 3, 120)])
def test_a_page_is_smaller_than_a_megabyte(n, n_classes, n_columns):
    X, y = some_rows(n, n_classes, n_columns)
    model = suffice.BayesClassifier(families="normal").fit(X, y)
    assert len(suffice.report(model, X, y).html.encode()) < 1_000_000


@pytest.mark.parametrize("letters, n_classes", [(60_000, 2), (40_000, 15)])
def test_the_form_is_left_out_before_a_page_is_too_large(letters, n_classes):
    rng = np.random.default_rng(0)
    cells = pd.Categorical.from_codes(rng.integers(8, size=5000), [f"{k}" * letters for k in range(8)])
    X, y = pd.DataFrame({"a": cells}), rng.integers(n_classes, size=5000)
    model = suffice.BayesClassifier(families={"a": suffice.families.Categorical()}).fit(X, y)
    page = suffice.report(model, X, y)
    assert len(page.html.encode()) < 1_000_000
    assert "reason" in page.data["form"]


def test_without_rows_no_cell_is_on_the_page():
    X, y = some_rows(50)
    X["secret"] = [f"name {i}" for i in range(50)]
    model = suffice.BayesClassifier().fit(X, y)
    with_rows, without = (suffice.report(model, X, y, rows=rows) for rows in (True, False))
    assert "name 17" in with_rows.html
    assert not re.search(r"name \d", without.html)
    assert without.data["notable"] is None
    assert without.data["form"]["rows"] == []
    low, _, high = next(one["range"] for one in without.data["form"]["fields"] if one["name"] == "x0")
    assert X["x0"].min() < low < high < X["x0"].max()


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"analyzer": "char"}, "splits text into words"),
        ({"alpha": 0}, "alpha=0"),
        ({"unseen": "error"}, "refuses documents"),
        ({"length": "l2", "min_count": 2}, "length='l2'"),
    ],
)
def test_a_page_says_why_it_does_not_score_documents(settings, reason):
    texts, labels = ["good film", "bad film", "good fun"], ["+", "-", "+"]
    model = suffice.TextClassifier(**settings).fit(texts, labels)
    assert reason in suffice.report(model, texts, labels).data["form"]["reason"]


def test_without_rows_no_word_of_a_document_can_be_tried():
    texts = ["good film", "bad film", "good fun, call 01632"]
    model = suffice.TextClassifier().fit(texts, ["+", "-", "+"])
    assert (
        "rows are left out"
        in suffice.report(model, texts, ["+", "-", "+"], rows=False).data["form"]["reason"]
    )


def test_tabs_of_documents_are_shown_as_spaces():
    texts = ["good\tfilm\nwith\u202e more", "bad film"]
    page = suffice.report(suffice.TextClassifier().fit(texts, ["+", "-"]), texts, ["+", "-"])
    row = next(one for one in page.data["notable"] if one["row"] == 0)
    assert "".join(text for text, _ in row["text"]) == "good    film\nwith\\u202e more"


def test_a_waterfall_of_what_if_begins_as_that_of_the_model():
    X, y = some_rows(60)
    for model, start in (
        (suffice.BayesClassifier(), "(prior)"),
        (suffice.LogisticRegression(), "(intercept)"),
    ):
        assert suffice.report(model.fit(X, y), X, y, rows=False).data["form"]["start"] == start


def test_hostile_titles_and_names_are_escaped():
    X, y = some_rows(60)
    X.columns = ["</script>", "<img src=x onerror=alert(1)>"]
    title = "</title><script>alert(1)</script>"
    page = suffice.report(suffice.BayesClassifier().fit(X, y), X, y, title=title)
    assert page.html.count("<script") == 3
    assert "<img" not in page.html
    assert html.escape(title) in page.html


def test_labels_that_the_model_does_not_know_count_as_errors():
    X, y = some_rows(80)
    model = suffice.BayesClassifier().fit(X, y)
    y[:8] = "unheard of"
    page = suffice.report(model, X, y)
    assert page.data["labels"] == ["class 0", "class 1", "unheard of"]
    assert page.data["metrics"][0]["accuracy"] == suffice.evaluate(model, X, y).accuracy


def test_weights_count_as_rows():
    X, y = some_rows(80)
    model, weight = suffice.BayesClassifier().fit(X, y), np.arange(80.0)
    page = suffice.report(model, X, y, sample_weight=weight)
    expected = suffice.evaluate(model, X, y, sample_weight=weight)
    assert page.data["metrics"][0]["log_loss"] == pytest.approx(expected.log_loss)
    assert page.data["rows"]["weight"] == weight.sum()


def test_costs_of_a_model_are_where_the_sliders_start():
    X, y = some_rows(80)
    model = suffice.CostSensitive(suffice.BayesClassifier().fit(X, y), [[0, 1], [5, 0]], reject_cost=0.4)
    assert suffice.report(model, X, y).data["costs"] == {"matrix": [[0, 1], [5, 0]], "reject": 0.4}


def test_differences_of_log_losses_have_their_standard_errors():
    X, y = some_rows(200)
    model = suffice.BayesClassifier().fit(X, y)
    other = model.with_priors([0.9, 0.1])
    line = suffice.report(model, X, y, compared={"other": other}).data["metrics"][1]
    truth = (y == "class 1").astype(int)
    losses = [-np.log(one.predict_proba(X)[np.arange(200), truth]) for one in (model, other)]
    beyond = losses[1] - losses[0]
    assert line["beyond"] == pytest.approx(beyond.mean())
    assert line["error"] == pytest.approx(beyond.std() / np.sqrt(200))


def test_models_of_other_classes_are_not_compared():
    X, y = some_rows(60)
    other = suffice.BayesClassifier().fit(X, np.where(y == "class 0", "a", "b"))
    with pytest.raises(ValueError, match="'other' has the classes"):
        suffice.report(suffice.BayesClassifier().fit(X, y), X, y, compared={"other": other})


@pytest.mark.parametrize("model", [LinearSVC(), LinearRegression(), suffice.BayesClassifier])
def test_what_is_no_classifier_with_posteriors_is_refused(model):
    X, y = some_rows(20)
    with pytest.raises(TypeError, match="a report needs a fitted classifier with predict_proba"):
        suffice.report(model, X, y)


def test_no_rows_are_refused():
    X, y = some_rows(20)
    with pytest.raises(ValueError, match="there are no rows to report on"):
        suffice.report(suffice.BayesClassifier().fit(X, y), X[:0], y[:0])


def test_a_page_is_saved_and_shown_in_a_frame(page, tmp_path):
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html
    assert html.unescape(re.search('srcdoc="(.*?)"', page._repr_html_(), re.DOTALL)[1]) == page.html
    assert repr(page).startswith("Page about 344 rows, ")


def test_the_colours_are_those_of_the_pictures():
    style = files("suffice.reports").joinpath("page.css").read_text(encoding="utf-8")
    assert [re.search(rf"--c{k}: (#\w+)", style)[1] for k in range(6)] == list(COLOURS)


def test_rows_that_pass_in_batches_are_those_that_pass_at_once():
    import pyarrow as pa

    keys = np.random.default_rng(0).permutation(1000).astype(float)
    table, labels, weight = pa.table({"a": keys}), keys.astype(int), keys + 1.0
    whole, parts = KeptRows(50), KeptRows(50)
    whole.add(keys, 0, table, labels, weight)
    for start in range(0, 1000, 70):
        some = slice(start, start + 70)
        parts.add(keys[some], start, table.slice(start, 70), labels[some], weight[some])
    for kept in (whole, parts):
        assert kept.keys.tolist() == list(range(50))
        assert kept.X.column("a").to_pylist() == kept.keys.tolist()
        assert keys[kept.numbers].tolist() == kept.keys.tolist()
        assert kept.labels.tolist() == list(range(50))
        assert kept.weight.tolist() == list(range(1, 51))
