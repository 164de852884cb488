"""Pages in a real browser: what they show is what the library says, whatever is moved or typed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import suffice

from .conftest import by_position, shown

UNNAMED = """[...document.querySelectorAll("input, select")]
    .filter(one => !one.labels.length && !one.ariaLabel).length"""
EVERYTHING = """() => {
    const found = [], look = () => {
        suffice.change({});  // at once, not in the next frame
        found.push(...document.querySelector("main").textContent.match(/NaN|undefined|Infinity|null/g) || []);
    };
    for (const slider of document.querySelectorAll("input[type=range]")) {
        slider.value = slider.max;  // where one prior is 1, another is 0
        slider.dispatchEvent(new Event("input"));
        look();
    }
    for (const button of document.querySelectorAll("main .buttons button, .pick button")) {
        button.click();
        look();
    }
    return found;
}"""
"""Move every slider to its end and press every button; what is shown that nobody should see."""
ODD = ("one row", "one class", "unknown labels", "gaps")
HOSTILE = [
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "{{constructor.constructor('alert(1)')()}}",
    "line\u2028separator",
    "\u202egnorw\u202c",
    "x" * 10_000,
    "%%data%%",
    "' onclick='alert(1)",
]


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(700) < 0.3, "yes", "no")
    X = pd.DataFrame(
        {
            "a": rng.normal(y == "yes", 1.0),
            "b": rng.poisson(2.0 + (y == "yes")),
            "c": np.where(y == "yes", "u", rng.choice(["u", "v"], 700)),
        }
    )
    model = suffice.BayesClassifier().fit(X[:350], y[:350])
    return model, X[350:], y[350:]


def wait_for_drawing(tab):
    """Wait until a setting that was changed is drawn: the page draws once a frame."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def slide(tab, label, value):
    tab.get_by_label(label, exact=True).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
        value,
    )
    wait_for_drawing(tab)


def rest(tab):
    """Wait until what follows a slider that rests has been done: a later timer is called after it."""
    tab.evaluate("new Promise(done => setTimeout(done, 160))")


def confusion(tab):
    cells = tab.locator(".confusion [data-cell]").all()
    found = {
        tuple(map(int, cell.get_attribute("data-cell").split(","))): int(cell.inner_text().replace(",", ""))
        for cell in cells
    }
    matrix = np.zeros(np.max(list(found), axis=0) + 1, dtype=int)
    for place, count in found.items():
        matrix[place] = count
    return matrix


def test_the_metrics_on_the_page_are_those_of_evaluate(opened, penguins):
    model, X, species, page = penguins
    tab, expected = opened(page), suffice.evaluate(model, X, species)
    for name, value in expected.scalars().items():
        assert shown(tab, f".tile[data-metric={name}] b") == f"{value:.3f}"
    assert confusion(tab).tolist() == expected.confusion.tolist()
    found = tab.evaluate("suffice.results({})")
    for name in ("accuracy", "log_loss", "brier", "ece"):
        assert found[name] == pytest.approx(getattr(expected, name), abs=1e-6)
    np.testing.assert_allclose([one["recall"] for one in found["byClass"]], expected.recall)
    np.testing.assert_allclose([one["precision"] for one in found["byClass"]], expected.precision)
    areas = tab.evaluate("[0, 1, 2].map(k => suffice.curves(suffice.results({}).posteriors, k).area)")
    np.testing.assert_allclose(areas, expected.roc_auc_by_class, atol=1e-6)


def test_sliders_of_priors_give_what_with_priors_gives(opened, penguins):
    model, X, species, page = penguins
    tab = opened(page)
    slide(tab, "Prior of Gentoo", 0.05)
    priors = tab.evaluate("suffice.settings().priors")
    assert priors[2] == pytest.approx(0.05)
    assert sum(priors) == pytest.approx(1.0)
    expected = suffice.evaluate(model.with_priors(priors), X, species)
    assert confusion(tab).tolist() == expected.confusion.tolist()
    assert shown(tab, "[data-live=log_loss]") == f"{expected.log_loss:.3f}"
    assert shown(tab, "[data-live=ece]") == f"{expected.ece:.3f}"


def test_sliders_of_costs_and_refusal_give_what_cost_sensitive_gives(opened, two_classes):
    model, X, y = two_classes
    tab = opened(suffice.report(model, X, y))
    slide(tab, "Cost of missing yes", 6)
    careful = suffice.CostSensitive(model, {("yes", "no"): 6, ("no", "yes"): 1})
    assert confusion(tab).tolist() == suffice.evaluate(careful, X, y).confusion.tolist()
    assert shown(tab, "[data-live=mean_cost]") == f"{careful.mean_cost(X, y):.3f}"
    tab.get_by_label("Refuse rows whose decision has a higher expected cost than").check()
    slide(tab, "Refusal threshold: the expected cost above which a row is refused", 0.3)
    careful.reject_cost = 0.3
    decided = careful.predict(X)
    assert confusion(tab).tolist() == [
        [int(np.sum((y == truth) & (decided == said))) for said in ("no", "yes", "reject")]
        for truth in ("no", "yes")
    ]
    assert shown(tab, "[data-live=mean_cost]") == f"{careful.mean_cost(X, y):.3f}"
    slide(tab, "Prior of yes", 0.6)
    both = suffice.CostSensitive(model.with_priors({"yes": 0.6, "no": 0.4}), careful.costs, reject_cost=0.3)
    assert shown(tab, "[data-live=mean_cost]") == f"{both.mean_cost(X, y):.3f}"
    assert shown(tab, "[data-live=refused]") == f"{100 * np.mean(both.predict(X) == 'reject'):.1f} %"


def test_a_view_travels_in_the_address(opened, two_classes):
    model, X, y = two_classes
    page = suffice.report(model, X, y)
    tab = opened(page)
    tab.get_by_label("a", exact=True).fill("2.5")
    slide(tab, "Prior of yes", 0.7)
    slide(tab, "Cost of missing no", 3)
    rest(tab)
    settings, cost = tab.evaluate("suffice.settings()"), shown(tab, "[data-live=mean_cost]")
    tab = opened(page, tab.evaluate("location.hash"))
    found = tab.evaluate("suffice.settings()")
    assert found.pop("priors") == pytest.approx(settings.pop("priors"), abs=1e-6)
    assert found == settings
    assert shown(tab, "[data-live=mean_cost]") == cost
    assert tab.get_by_label("a", exact=True).input_value() == "2.5"


def test_an_address_that_says_nothing_sensible_is_ignored(opened, penguins):
    fragments = [
        "#priors=1,x",
        "#costs=1",
        "#cells={",
        "#row=-1&class=99&why=__proto__",
        "#refuse=NaN&model=7",
        "#%",
    ]
    for fragment in fragments:
        tab = opened(penguins[3], fragment)
        assert tab.evaluate("suffice.settings().priors") is None
        assert tab.locator(".confusion").count() == 1


def test_figures_out_of_sight_follow_when_a_slider_rests(opened, penguins):
    tab = opened(penguins[3])
    before = tab.locator("#probabilities figure path").nth(1).get_attribute("d")
    slide(tab, "Prior of Adelie", 0.02)
    rest(tab)
    p = "suffice.results(suffice.settings()).posteriors"
    rows = tab.evaluate(f"suffice.curves({p}, 0).bins.map(bin => String(bin.n))")
    table = tab.locator("#probabilities figure").nth(1).locator("tbody tr")
    assert [
        line.split("\t")[1]
        for line in table.evaluate_all(
            "all => all.map(one => [...one.cells].map(cell => cell.textContent).join('\\t'))"
        )
    ] == rows
    assert tab.locator("#probabilities figure path").nth(1).get_attribute("d") != before


def test_priors_that_rule_out_the_likely_class_leave_the_others_apart(opened):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = pd.DataFrame({"x": rng.normal(np.repeat([0.0, 100.0, 103.0], 40))})
    model = suffice.BayesClassifier(families="normal").fit(X, y)
    tab = opened(suffice.report(model, X, y))
    for priors in ([1e-300, 0.5, 0.5], [0.0, 0.5, 0.5]):  # rows of a are e^-5000 in b and c
        found = tab.evaluate("priors => suffice.results({priors})", priors)
        expected = suffice.evaluate(model.with_priors(priors), X, y)
        assert found["log_loss"] == pytest.approx(expected.log_loss, abs=1e-5)
        assert np.array(found["confusion"])[:, :3].tolist() == expected.confusion.tolist()


def hostile_table():
    rng = np.random.default_rng(0)
    y = np.array([HOSTILE[0], HOSTILE[1], HOSTILE[5]])[rng.integers(3, size=120)]
    columns = {name: rng.normal(size=120) + (y == HOSTILE[0]) for name in HOSTILE}
    columns["levels"] = np.array(HOSTILE, dtype=object)[rng.integers(len(HOSTILE), size=120)]
    return pd.DataFrame(columns), y


def test_names_labels_and_cells_are_data_and_never_markup(opened):
    X, y = hostile_table()
    model = suffice.BayesClassifier(families={"levels": suffice.families.Categorical()}).fit(X, y)
    page = suffice.report(model, X, y, title="</title><script>document.title = 'broken'</script>{{1}}")
    assert len(page.html.encode()) < 1_000_000
    tab = opened(page)
    assert tab.title().startswith("</title><script>")
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 3
    assert tab.locator("[onclick], [onerror]").count() == 0
    assert "</script><script>" in shown(tab, "#summary")
    assert "\u202e" not in tab.content().replace("\\u202e", "")
    posterior = tab.evaluate("rows => rows.map(suffice.posterior)", by_position(model, X))
    np.testing.assert_allclose(posterior, model.predict_proba(X), rtol=0, atol=1e-9)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.fixture(scope="module")
def pages(two_classes):
    model, X, y = two_classes
    documents = [f"{'good' if one == 'yes' else 'bad'} film number {i % 7}" for i, one in enumerate(y)]
    numbers = X[["a", "b"]]
    other = LogisticRegression().fit(numbers, y)
    return {
        "text": suffice.report(suffice.TextClassifier().fit(documents[:200], y[:200]), documents, y),
        "scikit-learn": suffice.report(other, numbers, y),
        "regression": suffice.report(suffice.LogisticRegression().fit(numbers, y), numbers, y),
        "gaussian": suffice.report(suffice.GaussianDiscriminant().fit(numbers, y), numbers, y),
        "calibrated": suffice.report(suffice.Calibrated(model, cv=2).fit(X, y), X, y),
        "weighted": suffice.report(model, X, y, sample_weight=np.arange(1.0, len(y) + 1)),
        "compared": suffice.report(
            model, X, y, compared={"the same": model, "other priors": model.with_priors([0.5, 0.5])}
        ),
        "one row": suffice.report(model, X[:1], y[:1]),
        "one class": suffice.report(
            suffice.BayesClassifier().fit(X, ["only"] * len(X)), X, ["only"] * len(X)
        ),
        "unknown labels": suffice.report(model, X[:20], ["other"] * 20),
        "gaps": suffice.report(model, X[:20].assign(a=np.nan, b=np.nan, c=None), y[:20]),
        "no rows": suffice.report(model, X, y, rows=False),
    }


def test_every_kind_of_model_has_a_page_of_any_width(opened, pages):
    for name, page in pages.items():
        tab = opened(page)
        for width, scheme in ((1280, "light"), (390, "dark")):
            tab.set_viewport_size({"width": width, "height": 844})
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
        assert tab.locator("#decide table").count() >= 2, name
        # Every figure is named for those who do not see it, and has a table behind it.
        assert tab.locator("figure svg:not([role=img][aria-label])").count() == 0, name
        assert tab.locator("figure:not(:has(table))").count() == 0, name
        assert tab.evaluate(UNNAMED) == 0, name
        if name in ODD:
            assert tab.evaluate(EVERYTHING) == [], name


def test_models_are_compared_on_the_same_rows(opened, two_classes):
    model, X, y = two_classes
    other = model.with_priors([0.5, 0.5])
    tab = opened(suffice.report(model, X, y, compared={"even": other}))
    first, second = suffice.evaluate(model, X, y), suffice.evaluate(other, X, y)
    line = tab.locator(".metrics tr", has_text="even").inner_text().split("\t")
    assert line[2] == f"{second.log_loss:.3f}"
    assert float(line[-1].split(" ± ")[0].replace("−", "-")) == pytest.approx(
        second.log_loss - first.log_loss, abs=0.005
    )
    tab.locator("#pick-model").select_option("even")
    wait_for_drawing(tab)
    assert confusion(tab).tolist() == second.confusion.tolist()


def test_the_keyboard_moves_sliders_and_opens_rows(opened, penguins):
    tab = opened(penguins[3])
    slider = tab.get_by_label("Prior of Adelie", exact=True)
    slider.focus()
    before = tab.evaluate("suffice.data.models[0].priors[0]")
    slider.press("ArrowRight")
    wait_for_drawing(tab)
    assert tab.evaluate("suffice.settings().priors[0]") > before
    tab.locator(".list button").nth(1).focus()
    tab.keyboard.press("Enter")
    second = tab.locator(".list button").nth(1)
    assert second.get_attribute("aria-pressed") == "true"
    assert second.evaluate("button => button === document.activeElement")
    tab.keyboard.press("ArrowDown")
    assert tab.locator(".list button").nth(2).get_attribute("aria-pressed") == "true"
    tab.keyboard.press("Tab")  # the list is one stop of the tab key
    assert tab.evaluate("document.activeElement.textContent") == "try this row in what if"


def models_with_priors(two_classes):
    model, X, y = two_classes
    numbers = X[["a", "b"]]
    yield model, X
    yield suffice.EvidenceClassifier().fit(X, y), X
    yield suffice.GaussianDiscriminant().fit(numbers, y), numbers
    yield suffice.Calibrated(model, cv=2).fit(X, y), X


def test_priors_act_on_every_model_as_its_own_do(opened, two_classes):
    y, priors = two_classes[2], [0.2, 0.8]
    for model, X in models_with_priors(two_classes):
        tab = opened(suffice.report(model, X, y, rows=False))
        found = tab.evaluate("priors => suffice.results({priors})", priors)
        expected = suffice.evaluate(model.with_priors(priors), X, y)
        assert found["log_loss"] == pytest.approx(expected.log_loss, abs=1e-6)
        assert np.array(found["confusion"])[:, :2].tolist() == expected.confusion.tolist()
    other = LogisticRegression().fit(X[["a", "b"]], y)
    shares = np.unique(y, return_counts=True)[1] / len(y)
    expected = suffice.WithPriors(other, priors, training_priors=shares)
    tab = opened(suffice.report(other, X[["a", "b"]], y))
    found = tab.evaluate("priors => suffice.results({priors})", priors)
    assert found["log_loss"] == pytest.approx(suffice.evaluate(expected, X[["a", "b"]], y).log_loss, abs=1e-6)
    assert "does not report the priors" in shown(tab, "#decide")
