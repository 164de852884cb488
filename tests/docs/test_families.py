import re

import numpy as np
import pytest

from suffice import BayesClassifier
from suffice.families import ALIASES, FAMILIES, DispersedFamily, Exponential

CLASSES, COLUMNS = 3, 2
SHARING = [name for name, family in FAMILIES.items() if issubclass(family, DispersedFamily)]


@pytest.fixture
def page(root):
    return (root / "docs" / "families.md").read_text(encoding="utf-8")


def section(page, title):
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def test_its_code_runs(check_page):
    check_page("docs/families.md")


def test_the_table_has_one_row_for_each_family(page):
    rows = re.findall(r"^\| `(\w+)\(\w*\)` \|", section(page, "The mathematics"), re.MULTILINE)
    assert rows == list(FAMILIES)


def test_the_page_lists_all_other_names(page):
    rows = re.findall(r"^\| ([A-Z]\w+) \| (.+) \|$", section(page, "Names"), re.MULTILINE)
    assert {alias: name for name, aliases in rows for alias in aliases.split(", ")} == ALIASES


def test_the_page_names_the_families_that_share_a_dispersion(page):
    named = re.findall(r'`(\w+)\("shared"\)`', section(page, "Dispersion shared by the classes"))
    assert named == SHARING


def test_the_page_says_how_each_family_is_smoothed(page):
    rows = re.findall(r"^\| ([A-Z][\w, ]+) \|", section(page, "Smoothing"), re.MULTILINE)
    assert sorted(", ".join(rows).split(", ")) == sorted(FAMILIES)


FORMULAE = {
    "K": lambda _size: CLASSES,
    "2K": lambda _size: 2 * CLASSES,
    "K + 1": lambda _size: CLASSES + 1,
    "K(L − 1)": lambda size: CLASSES * (size - 1),
    "K(B − 1)": lambda size: CLASSES * (size - 1),
    "K(S − 1)": lambda size: CLASSES * (size - 1),
    "K more than the rest": lambda _size: CLASSES + CLASSES,
    "K(V − 1)": lambda _size: CLASSES * (3 - 1),
    "K(d − 1) for the whole block": lambda _size: CLASSES * (COLUMNS - 1) / COLUMNS,
    "Kd + K·d(d + 1)/2 for the whole block; with one shared Σ, Kd + d(d + 1)/2": lambda _size: (
        CLASSES + CLASSES * (COLUMNS + 1) / 2
    ),
}
"""What the cells of the page mean for one column, given how many levels, bins or steps it has."""


@pytest.mark.parametrize(
    "name, shared", [*((name, False) for name in FAMILIES), *((name, True) for name in SHARING)]
)
def test_the_page_counts_free_parameters_as_the_model_does(page, name, shared):
    rows = re.findall(r"^\| ([A-Z].*) \| (.*) \|$", section(page, "Free parameters"), re.MULTILINE)
    (formula,) = [cell for who, cell in rows if name in re.split(r"\W+", who) and ("shared" in who) == shared]

    values = np.random.default_rng(0).integers(1, 4, size=(60, COLUMNS))
    words = np.array(["", "one", "two", "three"], dtype=object)
    X = {"Bernoulli": values % 2, "Beta": values / 4, "Words": words[values], "Hurdle": values - 1}.get(
        name, values
    )
    settings = {"Binomial": (5,), "Hurdle": (Exponential(),)}.get(name, ("shared",) if shared else ())
    family = FAMILIES[name](*settings)
    model = BayesClassifier(family).fit(X, np.arange(60) % CLASSES)
    sizes = [np.shape(column.get("probability"))[-1:] for column in model.parameters_.values()]
    columns = sum(FORMULAE[formula](*(size or (0,))) for size in sizes)
    assert model.n_parameters_ == columns + CLASSES - 1


def test_words_that_are_there_or_not_have_a_probability_each(page):
    assert "so there are KV." in section(page, "Free parameters")
    words = ["one two", "two three", "three", "one"]
    model = BayesClassifier(FAMILIES["Words"]("bernoulli")).fit({"text": words}, ["a", "b", "a", "b"])
    assert model.n_parameters_ == 2 * 3 + 2 - 1
