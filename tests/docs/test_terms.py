"""The index of terms: what the lecture notes name is found there, and every call exists."""

import re

import pytest

import suffice
from suffice import families

PAGE = "docs/terms.md"
NAMED_IN_THE_NOTES = [
    "language model",
    "bag of words",
    "information content",
    "next term",
    "product rule",
    "chain rule",
    "indicator function",
    "naive Bayes assumption",
    "evidence p(x)",
    "log odds",
    "logit",
    "logistic sigmoid",
    "σ(−a) = 1 − σ(a)",
    "normalised exponential",
    "softmax",
    "Gaussian Discriminative Analysis",
    "quadratic discriminant analysis",
    "general covariance matrices",
    "diagonal GDA",
    "Σ = λI",
    "discriminant function",
    "Fisher's directions",
    "natural parameter",
    "partition function",
    "dispersion parameter",
    "i.i.d.",
    "Lagrangian",
    "one-hot",
    "generalised linear model",
    "activation function",
    "IRLS",
    "scaled probit",
    "error function erf",
    "convex error",
    "GDA against logistic regression",
    "basis functions",
    "Laplacian correction",
    "Laplace smoothing",
    "reject option",
    "confusion matrix",
    "F1 measure",
    "make_circles",
]


@pytest.fixture
def rows(root):
    """The rows of the tables: term, notes, place, call."""
    found = re.findall(r"^\| (.+) \|$", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    cells = [re.split(r" \|(?: |$)", row) for row in found]
    return [row for row in cells if row[0] != "term" and not row[0].startswith("-")]


@pytest.mark.parametrize("term", NAMED_IN_THE_NOTES)
def test_what_the_notes_name_is_found(rows, term):
    assert any(term in row[0] for row in rows)


def test_every_term_leads_to_a_page_and_every_call_exists(rows):
    names = {name: getattr(suffice, name) for name in suffice.__all__} | vars(families)
    assert len(rows) > 70
    for term, _, place, call in rows:
        assert re.fullmatch(r"\[.+\]\(\S+\.md(#\S+)?\)", place), term
        if call.strip():
            (code,) = re.findall(r"^`(.+)`$", call)
            owner, _, attribute = code.partition(".")
            fields = getattr(names.get(owner), "__dataclass_fields__", {})
            assert attribute in fields or eval(code, names) is not None, code  # noqa: S307  the page is ours
