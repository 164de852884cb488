"""Names with line breaks, control characters and dollar signs, or of great length, are shown in one line."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import plots
from suffice.plots.layout import fitted, literal
from suffice.tables.container import PLAIN
from suffice.tables.wording import one_line

CLASSES = ["cost $a_b$", "_hidden", "5 $"]
COLUMNS = ["price ($)", "two\nlines\tand a tab", "$\\frac{1}", "_private $x$ and $y$", "\x1b[31mred\x00"]
LONG = "word " * 5000
SHORT = {
    "two\nlines\tand a tab": "two\\nlines\\tand a tab",
    "\x1b[31mred\x00": "\\x1b[31mred\\x00",
}


def told(figure):
    """Every text of a drawn figure as matplotlib renders it, after checking that none is mathematics."""
    figure.canvas.draw()
    texts = [text for text in figure.findobj(plt.Text) if text.get_text()]
    rendered = [text._preprocess_math(text.get_text()) for text in texts]
    assert not [line for line, mathematics in rendered if mathematics]
    return [line for line, _ in rendered]


@pytest.fixture(scope="module")
def hostile():
    """A model whose classes, columns and levels have such names."""
    rng = np.random.default_rng(0)
    codes = np.arange(90) % 3
    y = np.array(CLASSES, dtype=object)[codes]
    X = pd.DataFrame({name: rng.normal(size=90) + codes for name in COLUMNS[:4]})
    X[COLUMNS[4]] = np.array(["a $ b", "new\nline", LONG], dtype=object)[(codes + (rng.random(90) < 0.3)) % 3]
    model = suffice.BayesClassifier({COLUMNS[4]: "categorical"}).fit(X, y)
    return model, X, y


def evidence_frame(model, _X, _y):
    frame = model.evidence().to_frame(pairs=True).rename(columns={"kl": "gain ($)"})
    return plots.EvidenceDisplay(frame).plot(measure="gain ($)")


DRAWN = {
    "confusion": (plots.ConfusionDisplay.from_estimator, CLASSES),
    "density": (lambda m, X, _: plots.DensityDisplay.from_estimator(m, X), [*COLUMNS, *CLASSES, "a $ b"]),
    "evaluation": (plots.EvaluationDisplay.from_estimator, CLASSES),
    "evidence": (lambda m, *_: plots.EvidenceDisplay.from_estimator(m), COLUMNS),
    "pairs": (evidence_frame, ["cost $a_b$ against _hidden", "5 $ against _hidden", "gain ($)"]),
    "explanation": (
        lambda m, X, _: plots.ExplanationDisplay.from_estimator(m, X, label="5 $", against="_hidden"),
        [*COLUMNS, "nats for 5 $ against _hidden"],
    ),
    "waterfall": (
        lambda m, X, _: plots.ExplanationDisplay.from_estimator(m, X.iloc[:1]),
        ["price ($) = ", "_private $x$ and $y$ = "],
    ),
    "posterior": (
        lambda m, X, y: plots.PosteriorDisplay.from_estimator(m, X, y, columns=COLUMNS[3:], resolution=9),
        [*COLUMNS[3:], *CLASSES, "a $ b", "new\\nline"],
    ),
    "shapes": (
        lambda m, X, y: plots.ShapeDisplay.from_estimator(
            suffice.EvidenceClassifier(m.schema_).fit(X, y), X, y
        ),
        [*COLUMNS, *CLASSES, "a $ b"],
    ),
    "reliability": (plots.ReliabilityDisplay.from_estimator, CLASSES),
    "precision and recall": (plots.PrecisionRecallDisplay.from_estimator, CLASSES),
    "roc": (plots.RocCurveDisplay.from_estimator, CLASSES),
    "surface": (
        lambda m, X, _: plots.SurfaceDisplay.from_estimator(
            m, X, columns=[COLUMNS[0], COLUMNS[3]], resolution=9
        ),
        [COLUMNS[0], COLUMNS[3], f"p({CLASSES[0]} | x)"],
    ),
}


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("kind", DRAWN)
def test_every_name_is_shown_literally_in_one_line(hostile, kind, style, tmp_path):
    draw, names = DRAWN[kind]
    with plt.style.context(style), plt.rc_context({"figure.figsize": (12.0, 9.0)}):
        figure = draw(*hostile).figure_
        figure.savefig(tmp_path / "picture.png")  # warnings are errors
        shown = told(figure)
    assert not [line for line in shown if "\n" in line or "\t" in line or "\x1b" in line]
    for name in names:
        expected = SHORT.get(name, name)
        assert any(line == expected or line.startswith(expected) for line in shown), (name, shown)
    assert max(map(len, shown)) < 200


@pytest.mark.parametrize("kind", DRAWN)
def test_a_small_picture_of_such_names_stays_within_its_page(hostile, kind, tmp_path):
    with plt.rc_context({"figure.figsize": (3.6, 3.0)}):
        figure = DRAWN[kind][0](*hostile).figure_
        figure.savefig(tmp_path / "picture.png")
        told(figure)
        page = figure.bbox.padded(1.5)
        boxes = [ax.get_tightbbox() for ax in figure.axes]
    assert all(page.contains(*box.min) and page.contains(*box.max) for box in boxes)


def test_learning_curves_name_their_models_literally():
    values = np.full((2, 2, 2), 0.2)
    curves = suffice.LearningCurves(
        ("_one $a$ $b$", "line\nbreak"), np.array([10, 20]), values, values, PLAIN
    )
    ax = curves.plot().ax_
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [literal("_one $a$ $b$"), "line\\nbreak"]


def test_a_cell_of_long_text_is_cut_beside_the_name_of_its_column(hostile):
    model, X, _ = hostile
    row = int(np.flatnonzero(X[COLUMNS[4]] == LONG)[0])
    entries = plots.ExplanationDisplay(model.explain(X)).entries(row)
    (entry,) = [one.name for one in entries if "red" in one.name]
    assert entry == f"\\x1b[31mred\\x00 = {one_line(LONG)}"


def test_a_name_is_cut_before_dollars_are_protected():
    name = "$" * 60
    short = fitted(name, 1.0)
    assert set(short) == {"$", "…"}
    assert literal(short).replace(r"\$", "$") == short
    assert fitted("a\nb", 1.0) == "a\\nb"
