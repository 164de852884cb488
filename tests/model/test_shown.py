"""Every result is shown in a notebook, escaped, and in the colours of the page."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Categorical, Normal, Poisson
from suffice.tables.shown import Cells, as_html, as_text

BAD = "<script>alert('x')</script>"
SLY = "a&amp;b \"quoted\" 'single' </td>\x1b[31m\n\u202eback"
LABELS = [BAD, SLY, "plain"]


class Page(HTMLParser):
    """Which tags a page opens and closes, with their attributes, and what it says."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.attributes, self.text = [], set(), [], ""
        self.feed(page)
        assert not self.open, "a tag is not closed"

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    y = np.array(LABELS, dtype=object)[np.arange(90) % 3]
    code = np.arange(90) % 3
    X = pd.DataFrame(
        {
            BAD: rng.normal(code, 1.0),
            SLY: rng.poisson(1 + code),
            "level": np.array([BAD, SLY, "c"], dtype=object)[rng.integers(0, 3, 90)],
        }
    )
    families = {BAD: Normal(), SLY: Poisson(), "level": Categorical()}
    model = suffice.BayesClassifier(families=families).fit(X, y)
    numbers = X[[BAD, SLY]]
    shared = suffice.GaussianDiscriminant().fit(numbers, y)
    logistic = suffice.LogisticRegression().fit(numbers, y)
    text = suffice.TextClassifier().fit(["good <b>film</b>", "bad & dull", "fun"], LABELS)
    curves = suffice.compare({BAD: suffice.GaussianDiscriminant()}, numbers, y, sizes=[12, 40], repeats=2)
    return {
        "explanation": model.explain(X[:2]),
        "of a regression": logistic.explain(numbers[:1]),
        "nothing explained": model.explain(X[:0]),
        "text explanation": text.explain(["good <b>film</b>"]),
        "evidence": model.evidence(),
        "weights": suffice.EvidenceClassifier(pieces=["columns"]).fit(X, y).weights_,
        "statistics": model.statistics_,
        "prior shift": model.adapt_priors(X).prior_shift_,
        "learning curves": curves,
        "summary": logistic.summary(),
        "boundary": shared.boundary(BAD, SLY),
        "evaluation": suffice.evaluate(model, X, y),
        "schema": model.schema_,
        "parameters": model.parameters_,
        "natural parameters": model.natural_parameters_[BAD],
        "linear form": model.linear_form(),
        "model": model,
        "regression": logistic,
    }


KINDS = [
    "explanation",
    "of a regression",
    "nothing explained",
    "text explanation",
    "evidence",
    "weights",
    "statistics",
    "prior shift",
    "learning curves",
    "summary",
    "boundary",
    "evaluation",
    "schema",
    "parameters",
    "natural parameters",
    "linear form",
    "model",
    "regression",
]
OURS = [kind for kind in KINDS if kind not in ("model", "regression", "text explanation")]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_text_on_the_page(results, kind):
    page = results[kind]._repr_html_()
    assert "<script>alert" not in page
    assert "\x1b" not in page
    if kind in OURS:
        found = Page(page)
        assert found.seen <= {"div", "p", "table", "tr", "td", "th"}
        assert {name for name, _ in found.attributes} <= {"style"}


@pytest.mark.parametrize("kind", OURS)
def test_a_page_has_no_colours_of_its_own(results, kind):
    page = results[kind]._repr_html_()
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|rgb\(", re.sub(r">[^<]*<", "><", page))
    colours = re.findall(r"(?:color|background):([^;\"]+)", page)
    assert set(colours) <= {"inherit", "transparent"}


@pytest.mark.parametrize("kind", [kind for kind in OURS if kind not in ("nothing explained", "statistics")])
def test_a_page_names_what_the_text_names(results, kind):
    assert "alert(" in Page(results[kind]._repr_html_()).text


def test_the_page_of_a_table_has_its_cells_in_order():
    parts = ["head", "", Cells([("name", "value"), ("a < b", "1"), ("c", " 2")]), "end"]
    assert as_text(parts) == "head\n\nname   value\na < b      1\nc          2\nend"
    page = Page(as_html(parts))
    assert page.text == "headnamevaluea < b1c2end"
    assert as_html(parts).count("<p>") == 2
    assert as_html(parts).count("<th") == 2
    assert "<th" not in as_html([Cells([("a", "b")], headed=False)])


def test_half_characters_are_escaped():
    assert as_html(["\ud800"]).encode("utf-8")


def test_frames_of_schema_parameters_and_priors(results):
    schema = results["schema"].to_frame().to_pydict()
    assert schema["family"] == ["Normal()", "Poisson()", "Categorical()"]
    shift = results["prior shift"]
    frame = shift.to_frame().to_pydict()
    assert frame["class"] == sorted(LABELS)
    np.testing.assert_array_equal(frame["now"], shift.priors)
    np.testing.assert_array_equal(frame["before"], shift.before)
    parameters = results["parameters"]
    table = parameters.to_frame()
    assert isinstance(table, pd.DataFrame)
    means = table[(table["column"] == BAD) & (table["parameter"] == "mean")]
    np.testing.assert_array_equal(means["value"], parameters[BAD]["mean"])
    of_c = table[(table["column"] == "level") & (table["parameter"] == "probability of c")]
    np.testing.assert_allclose(of_c["value"], parameters["level"]["probability"][:, -1])
    assert (
        suffice.BayesClassifier().fit(pd.DataFrame({"a": [1.5, 2.5]}), [0, 1]).schema_.to_frame().num_rows
        == 1
    )


def test_parameters_of_every_kind_have_a_frame():
    X, y = suffice.load_penguins()
    for model in (suffice.BayesClassifier(), suffice.BayesClassifier(missing="evidence")):
        assert model.fit(X, y).parameters_.to_frame().num_rows > 20
    numbers = X.select(["bill_length_mm", "body_mass_g"])
    joint = suffice.GaussianDiscriminant("full").fit(numbers, y).parameters_
    assert joint.to_frame().num_rows >= 6
    text = suffice.TextClassifier().fit(["good", "bad"], [0, 1]).parameters_
    assert text.to_frame().num_rows == 4
