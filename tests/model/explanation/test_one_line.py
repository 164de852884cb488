"""Cells, labels and names with newlines, hidden characters and much text, in what is printed."""

import numpy as np
import pandas as pd
import pytest

import suffice

TORN = "two\nlines\tand \x1b[31mred \u2028\u202e"
SHOWN = r"two\nlines\tand \x1b[31mred \u2028\u202e"
LONG = "begin " + "x" * 5000 + " end"
NAME = "col\numn"
LABELS = ["yes\nno", "b" * 300]
HIDDEN = "\t\x1b\u2028\u202e"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    cells = rng.choice([TORN, LONG, "c"], 60)
    return pd.DataFrame({NAME: cells, "n" * 200: rng.normal(size=60)})


@pytest.fixture(scope="module")
def target(frame):
    rng = np.random.default_rng(4)
    return np.where((frame[NAME] == TORN) ^ (rng.random(60) < 0.2), *LABELS)


@pytest.fixture(scope="module")
def model(frame, target):
    return suffice.BayesClassifier({NAME: "categorical"}).fit(frame, target)


def test_an_explanation_has_one_short_line_for_each_cell(model, frame):
    lines = model.explain(frame).describe(int(np.argmax(frame[NAME] == TORN))).split("\n")
    assert len(lines) == 6
    assert max(map(len, lines)) < 160
    assert any(r"col\numn" in line and SHOWN in line for line in lines)
    assert r"yes\nno" in lines[0]


@pytest.mark.parametrize("what", ["evidence", "schema", "statistics", "evaluation", "shift"])
def test_what_is_printed_has_no_torn_and_no_endless_lines(model, frame, target, what):
    printed = repr(
        {
            "evidence": model.evidence,
            "schema": lambda: model.schema_,
            "statistics": lambda: model.statistics_,
            "evaluation": lambda: suffice.evaluate(model, frame, target),
            "shift": lambda: model.adapt_priors(frame).prior_shift_,
        }[what]()
    )
    lines = printed.split("\n")
    lengths = {"evidence": 3, "schema": 4, "statistics": 3, "shift": 5}
    assert len(lines) == lengths.get(what, len(lines))
    assert max(map(len, lines)) < 160
    assert not any(hidden in printed for hidden in HIDDEN)
    assert r"yes\nno" in printed or r"col\numn" in printed
    assert "…" in printed


def test_the_summary_of_a_regression_has_one_line_for_each_column(frame, target):
    numbers = frame[["n" * 200]].assign(**{NAME: np.arange(60.0) % 7})
    printed = repr(suffice.LogisticRegression().fit(numbers, target).summary())
    assert max(map(len, printed.split("\n"))) < 160
    assert [line.split()[0] for line in printed.split("\n")[-5:-2]] == [
        "n" * 20 + "…" + "n" * 19,
        r"col\numn",
        "(intercept)",
    ]


@pytest.mark.parametrize(
    "act",
    [
        lambda model, frame: model.explain(frame).evidence(LONG),
        lambda model, frame: model.predict(frame.rename(columns={NAME: LONG})),
        lambda _, frame: suffice.BayesClassifier({LONG: "normal"}).fit(frame, frame[NAME]),
        lambda _, frame: suffice.BayesClassifier({NAME: "normal"}).fit(
            frame.assign(**{NAME: LONG}), [0] * 60
        ),
        lambda model, frame: suffice.evaluate(model, frame, LONG),
        lambda _, frame: (
            suffice.BayesClassifier({NAME: suffice.families.Categorical(unseen="error")})
            .fit(frame, frame[NAME])
            .predict(frame.assign(**{NAME: LONG + "new"}))
        ),
    ],
)
def test_messages_shorten_what_they_name(model, frame, act):
    with pytest.raises(ValueError, match="…") as refusal:
        act(model, frame)
    assert len(str(refusal.value)) < 700
    assert not any(hidden in str(refusal.value) for hidden in HIDDEN)


def test_frames_keep_the_cells_as_they_are(model, frame):
    shown = model.explain(frame).to_frame(LABELS[0])
    assert LONG in set(shown["value"])
    assert NAME in set(shown["column"])
