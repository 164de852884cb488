import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from suffice.plots import ConfusionDisplay

NOTES = np.array([[40, 20], [10, 30]])
"""40 true positives, 20 false negatives, 10 false positives, 30 true negatives: the truth in rows."""


def test_it_counts_as_scikit_learn_does(penguins):
    model, X, species = penguins
    display = ConfusionDisplay.from_estimator(model, X, species)
    assert np.array_equal(display.confusion, confusion_matrix(species, model.predict(X)))
    assert display.labels == ["Adelie", "Chinstrap", "Gentoo"]


def test_shares_are_of_the_row_the_column_or_all():
    display = ConfusionDisplay(NOTES, ["ill", "well"])
    assert display.shares("pred")[0, 0] == 0.8  # precision
    np.testing.assert_allclose(display.shares("true")[0, 0], 2 / 3)  # recall
    assert display.shares("all")[0, 0] == 0.4


def test_shares_of_nothing_are_undefined_and_written_as_a_dash():
    display = ConfusionDisplay([[3, 0], [2, 0]], ["a", "b"])
    assert np.isnan(display.shares("pred")[:, 1]).all()
    texts = [text.get_text() for text in display.plot(normalize="pred").ax_.texts]
    assert texts == ["0.60", "–", "0.40", "–"]


def test_the_picture_says_which_is_the_truth_and_writes_the_counts():
    ax = ConfusionDisplay(NOTES, ["ill", "well"]).plot().ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")
    assert [text.get_text() for text in ax.texts] == ["40", "20", "10", "30"]
    assert ax.texts[1].get_position() == (1, 0)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["ill", "well"]


def test_a_larger_share_of_the_row_is_darker_on_a_light_page():
    image = ConfusionDisplay([[90, 10], [0, 2]], ["a", "b"]).plot().ax_.images[0].get_array()
    assert image[0, 0].sum() < image[0, 1].sum() < image[1, 0].sum()
    assert image[1, 1].sum() < image[0, 0].sum()


def test_the_frame_has_a_line_for_each_pair():
    frame = ConfusionDisplay(NOTES, ["ill", "well"]).to_frame()
    assert frame["true"].to_pylist() == ["ill", "ill", "well", "well"]
    assert frame["predicted"].to_pylist() == ["ill", "well", "ill", "well"]
    assert frame["rows"].to_pylist() == [40, 20, 10, 30]


def test_what_makes_no_matrix_is_refused():
    with pytest.raises(ValueError, match="3 labels need a 3 × 3 matrix"):
        ConfusionDisplay(NOTES, ["a", "b", "c"])
    with pytest.raises(ValueError, match="normalize must be"):
        ConfusionDisplay(NOTES, ["a", "b"]).plot(normalize="rows")
