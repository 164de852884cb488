import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice.plots import EvidenceDisplay

FIELDS = {
    "column": ["age", "sex", "size", "age", "sex", "size"],
    "class": ["a", "a", "a", "b", "b", "b"],
    "against": ["b", "b", "b", "c", "c", "c"],
    "kl": [0.1, 2.0, 0.5, 0.3, 1.0, 0.7],
    "bhattacharyya": [0.01, 0.2, 0.05, 0.9, 0.1, 0.07],
}


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pa.table])
def test_bars_are_ordered_by_what_tells_most(build):
    frame = build(FIELDS)
    display = EvidenceDisplay(frame)
    assert display.measures == ["kl", "bhattacharyya"]
    columns, groups, heights = display.bars("kl", 2)
    assert columns == ["sex", "size"]
    assert groups == ["a against b", "b against c"]
    assert heights.tolist() == [[2.0, 1.0], [0.5, 0.7]]
    assert display.to_frame() is frame


def test_the_picture_draws_the_measure():
    ax = EvidenceDisplay(pa.table(FIELDS)).plot(measure="bhattacharyya").ax_
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["age", "sex", "size"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.containers[1]], [0.9, 0.1, 0.07])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a against b", "b against c"]


def test_a_frame_without_classes_has_one_bar_for_each_column():
    ax = EvidenceDisplay(pa.table({"column": ["x", "y"], "kl": [1.0, 2.0]})).plot().ax_
    assert len(ax.containers) == 1
    assert ax.get_legend() is None


def test_frames_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="field 'column'"):
        EvidenceDisplay(pa.table({"name": ["x"], "kl": [1.0]}))
    with pytest.raises(ValueError, match="needs a field of numbers"):
        EvidenceDisplay(pa.table({"column": ["x"]}))
    with pytest.raises(ValueError, match="no measure 'woe'"):
        EvidenceDisplay(pa.table(FIELDS)).plot(measure="woe")


def test_a_result_is_drawn_by_its_frame():
    class Result:
        def to_frame(self):
            return pa.table(FIELDS)

    display = EvidenceDisplay(Result())
    assert display.measures == ["kl", "bhattacharyya"]
    assert display.to_frame().equals(pa.table(FIELDS))


def test_infinite_evidence_is_drawn_longest_and_named():
    frame = pa.table({"column": ["a", "b"], "kl": [0.4, np.inf]})
    ax = EvidenceDisplay(frame).plot().ax_
    ax.figure.draw_without_rendering()
    assert [bar.get_width() for bar in ax.containers[0]] == [1.6, 0.4]
    assert [text.get_text() for text in ax.texts] == ["∞", "0.4"]
    assert ax.texts[0].get_window_extent().x1 < ax.bbox.x1


def test_every_bar_has_its_number_and_the_title_says_how_many_are_drawn():
    frame = pa.table({"column": ["a", "b", "c"], "nats": [0.4, -0.9, 0.1]})
    ax = EvidenceDisplay(frame).plot(most=2).ax_
    assert [text.get_text() for text in ax.texts] == ["-0.9", "0.4"]
    assert ax.get_title() == "2 of 3: those that say most"
    ax.figure.draw_without_rendering()
    assert ax.transData.transform((0.0, 0.0))[0] < ax.texts[0].get_window_extent().x0
    assert not EvidenceDisplay(frame).plot().ax_.get_title()


def test_names_are_cut_only_where_they_would_take_more_than_half_the_width():
    names = ["joint: one covariance for all classes", "age", "x" * 90]
    ax = EvidenceDisplay(pa.table({"column": names, "nats": [0.4, 0.2, 0.1]})).plot().ax_
    shown = [tick.get_text() for tick in ax.get_yticklabels()]
    assert shown[:2] == names[:2]
    assert "…" in shown[2]
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width > 0.4 * ax.figure.bbox.width


def test_evidence_that_cannot_be_drawn_is_refused():
    one = suffice.BayesClassifier().fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="at least two classes"):
        one.evidence().plot(pairs=True)
    with pytest.raises(ValueError, match="most must be"):
        one.evidence().plot(most=0)
    regression = suffice.LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(TypeError, match="LogisticRegression has no evidence"):
        EvidenceDisplay.from_estimator(regression)


def test_evidence_of_a_model_is_drawn(penguins):
    model, _, _ = penguins
    assert EvidenceDisplay.from_estimator(model).measures == ["weight_of_evidence", "bhattacharyya"]
    assert EvidenceDisplay.from_estimator(model, pairs=True).measures == ["kl", "bhattacharyya"]
