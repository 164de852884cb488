import numpy as np
import pytest

import suffice
from suffice.families import Categorical
from suffice.plots import ExplanationDisplay


@pytest.fixture(scope="module")
def display(penguins):
    model, X, _ = penguins
    return ExplanationDisplay(model.explain(X))


def test_the_bars_of_a_row_add_up_to_its_log_odds(display):
    explanation = display.explanation
    for row in (0, 3, 200):
        label, against = display.pair(row)
        odds = np.log(explanation.posterior[row]).tolist()
        known = explanation.classes.tolist()
        expected = odds[known.index(label)] - odds[known.index(against)]
        for most in (None, 3):
            total = sum(entry.nats for entry in display.entries(row, most=most))
            np.testing.assert_allclose(total, expected, rtol=1e-9)


def test_the_waterfall_starts_at_nothing_and_ends_at_the_log_odds(display):
    ax = display.plot(row=0).ax_
    bars = [bar for container in ax.containers for bar in container]
    entries = display.entries(0)
    assert len(bars) == len(entries) + 1
    ends = np.cumsum([entry.nats for entry in entries])
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in bars[:-1]], ends, atol=1e-12)
    np.testing.assert_allclose([bars[-1].get_x(), bars[-1].get_width()], [0.0, ends[-1]], atol=1e-12)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[:2] == ["(prior)", "bill_length_mm = 39.1"]
    assert names[-1] == "log odds"
    assert ax.get_xlabel() == "nats for Adelie against Chinstrap"


def test_classes_may_be_chosen(display):
    ax = display.plot(row=0, label="Gentoo", against="Adelie").ax_
    assert ax.get_xlabel() == "nats for Gentoo against Adelie"
    assert display.pair(0, against="Adelie") == ("Chinstrap", "Adelie")
    assert sum(entry.nats for entry in display.entries(0, "Gentoo", "Adelie")) < 0


def test_the_summary_has_a_point_for_each_row_and_column(display):
    ax = display.plot().ax_
    names, gains = display.strongest()
    assert sorted(names) == sorted(display.explanation.columns)
    strength = np.abs(gains).mean(axis=0)
    assert (np.diff(strength) <= 0).all()
    assert sum(len(part.get_offsets()) for part in ax.collections[:2]) == np.count_nonzero(gains)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == names
    np.testing.assert_allclose(ax.collections[2].get_offsets()[:, 0], gains.mean(axis=0))


def test_the_summary_says_what_each_row_says(display):
    columns = display.explanation.columns
    for label, against, row in ((None, None, 0), ("Gentoo", "Adelie", 7)):
        names, gains = display.strongest(label, against, most=3)
        expected = display.explanation.evidence(*display.pair(row, label, against))[row]
        assert gains[row].tolist() == [expected[columns.index(name)] for name in names]


def test_an_impossible_cell_is_drawn_and_written_as_infinite():
    X = np.array([["x"], ["x"], ["y"], ["y"]], dtype=object)
    model = suffice.BayesClassifier(Categorical(alpha=0)).fit(X, ["a", "a", "b", "b"])
    ax = ExplanationDisplay(model.explain(X)).plot(row=0).ax_
    assert "+∞" in [text.get_text() for text in ax.texts]
    assert np.isfinite(ax.get_xlim()).all()


def test_a_document_is_drawn_by_its_words():
    model = suffice.TextClassifier().fit(
        ["good sun and good day", "bad rain and bad night", "good good day"], ["up", "down", "up"]
    )
    display = ExplanationDisplay(model.explain(["good bad unheard day"]))
    entries = display.entries(0)
    assert {"good", "bad", "day"} <= {entry.name for entry in entries}
    odds = float(np.diff(display.explanation.total[0])[0])
    np.testing.assert_allclose(sum(entry.nats for entry in display.entries(0, "up", "down")), odds)
    assert display.plot().ax_.get_xlabel() == "nats for up against down"
    names, gains = ExplanationDisplay(model.explain(["good", "bad", "good day"])).strongest()
    assert sorted(names) == ["bad", "day", "good"]
    assert (np.count_nonzero(gains, axis=1) == [1, 1, 2]).all()
    ExplanationDisplay(model.explain(["good", "bad"])).plot()


def test_the_frame_is_that_of_the_explanation(display):
    assert display.to_frame().equals(display.explanation.to_frame())


def test_rows_and_classes_that_are_not_there_are_refused(display):
    with pytest.raises(ValueError, match="no row 344"):
        display.plot(row=344)
    with pytest.raises(ValueError, match="no class 'Emperor'"):
        display.plot(row=0, label="Emperor")


def test_what_cannot_be_drawn_of_an_explanation_is_refused(penguins):
    model, X, _ = penguins
    with pytest.raises(ValueError, match="nothing to draw"):
        model.explain(X.slice(0, 0)).plot()
    with pytest.raises(ValueError, match="must be different classes"):
        model.explain(X).plot(row=0, label="Adelie", against="Adelie")
    with pytest.raises(ValueError, match="most must be"):
        model.explain(X).plot(most=0)


def test_classes_ruled_out_by_their_priors_have_no_prior_against_each_other():
    X, y = np.array([[1.0], [2.0], [5.0], [6.0], [9.0], [9.5]]), ["a", "a", "b", "b", "c", "c"]
    model = suffice.BayesClassifier().fit(X, y).with_priors([1.0, 0.0, 0.0])
    entries = ExplanationDisplay(model.explain(X)).entries(3, "b", "c")
    assert entries[0].nats == 0.0
    assert np.isfinite([entry.nats for entry in entries]).all()
