"""Many columns and many classes: pictures of bounded size, in time linear in the columns."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Multinomial
from suffice.plots import (
    ConfusionDisplay,
    DensityDisplay,
    EvidenceDisplay,
    ExplanationDisplay,
    PosteriorDisplay,
)
from suffice.tables.container import PLAIN, Container

RNG = np.random.default_rng(0)
Y = np.arange(120) % 3
WIDE = RNG.normal(size=(120, 40))
WIDE[:, 5::10] += Y[:, np.newaxis]


@pytest.fixture(params=["naive", "joint", "frame"])
def wide(request):
    if request.param == "frame":
        X = pd.DataFrame(WIDE).rename(columns="gene {}".format)
        return suffice.BayesClassifier().fit(X, Y), X
    made = {"naive": suffice.BayesClassifier(), "joint": suffice.GaussianDiscriminant(shrinkage=0.5)}
    return made[request.param].fit(WIDE, Y), WIDE


@pytest.fixture
def built(monkeypatch):
    """How many columns the rows have that pictures score."""
    widths = []
    build = Container.build

    def recorded(self, columns):
        widths.append(len(columns))
        return build(self, columns)

    monkeypatch.setattr(Container, "build", recorded)
    return widths


def test_densities_score_each_column_by_itself(wide, built):
    model, X = wide
    DensityDisplay.from_estimator(model, X, most=3)
    assert set(built) == {1}


def test_a_posterior_scores_the_two_columns_that_it_draws_and_those_held(wide, built):
    model, X = wide
    names = list(getattr(X, "columns", range(40)))
    PosteriorDisplay.from_estimator(model, X, columns=names[:2], resolution=9)
    assert max(built) == 2
    PosteriorDisplay.from_estimator(model, X, columns=names[:2], held={names[7]: 0.5}, resolution=9)
    assert max(built) == 3


def test_of_many_columns_those_of_highest_evidence_have_a_panel(wide):
    model, X = wide
    display = DensityDisplay.from_estimator(model, X, most=4)
    weight = model.evidence().weight
    best = sorted(np.argsort(-weight)[:4].tolist())
    assert [panel.grid.column for panel in display.panels] == best == [5, 15, 25, 35]
    assert display.left_out == 36
    assert display.figure_.get_suptitle() == "4 of 40 columns: those of highest evidence"
    assert len(DensityDisplay.from_estimator(model, X).panels) == 12


def test_columns_that_are_named_are_all_drawn_without_a_title(wide):
    model, X = wide
    names = list(getattr(X, "columns", range(40)))[::3]
    display = DensityDisplay.from_estimator(model, X, columns=names)
    assert [panel.grid.column for panel in display.panels] == list(range(0, 40, 3))
    assert not display.figure_.get_suptitle()


def test_densities_are_the_same_whether_columns_are_left_out_or_not(wide):
    model, X = wide
    few, many = (DensityDisplay.from_estimator(model, X, most=most) for most in (4, 40))
    assert len(many.panels) == 40
    for panel in few.panels:
        np.testing.assert_array_equal(panel.density, many.panels[panel.grid.column].density)


def test_a_multinomial_counts_as_one_panel_and_all_its_columns():
    often = np.where((Y == 1)[:, np.newaxis], np.arange(20), 5.0)
    X = np.column_stack([RNG.poisson(often), WIDE[:, :4]])
    families = {tuple(range(20)): Multinomial(), **dict.fromkeys(range(20, 24), "normal")}
    model = suffice.BayesClassifier(families).fit(X, Y)
    display = DensityDisplay.from_estimator(model, X, most=2)
    assert [panel.n_columns for panel in display.panels] == [20, 1]
    assert display.figure_.get_suptitle() == "21 of 24 columns: those of highest evidence"


def test_levels_of_many_classes_are_steps_rather_than_thousands_of_bars():
    X = np.array([f"level {i % 20}" for i in range(1540)], dtype=object)[:, np.newaxis]
    ax = DensityDisplay.from_estimator(suffice.BayesClassifier().fit(X, np.arange(1540) % 77), X).ax_
    assert len(ax.get_lines()) == 77
    assert not ax.patches


@pytest.mark.parametrize("k", [2, 3])
def test_a_matrix_of_few_classes_is_drawn_in_a_readable_size(k):
    size = ConfusionDisplay(np.eye(k), list("abc")[:k]).plot(normalize="pred").figure_.get_size_inches()
    assert size.min() >= 3.6
    with plt.rc_context({"figure.figsize": (3.0, 3.0)}):
        assert ConfusionDisplay(np.eye(k), list("abc")[:k]).plot().figure_.get_figwidth() == 3.0


SIZES = {
    (60, 100, 600): ["60", "100", "300", "600"],
    (600, 1000, 3000): ["600", "1,000", "3,000"],
    (10, 100_000): ["10", "100", "1,000", "10,000", "100,000"],
    (110, 130, 150): ["110", "120", "130", "140", "150"],
}


@pytest.mark.parametrize("sizes", SIZES)
def test_learning_curves_have_plain_numbers_along_the_rows(sizes):
    values = np.full((1, len(sizes), 2), 0.2)
    ax = suffice.LearningCurves(("a",), np.array(sizes), values, values, PLAIN).plot().ax_
    ax.figure.draw_without_rendering()
    written = [label.get_text() for label in ax.get_xticklabels()]
    assert written == SIZES[sizes]
    assert all(float(text.replace(",", "")) == at for text, at in zip(written, ax.get_xticks(), strict=True))
    assert not [label for label in ax.get_xticklabels(minor=True) if label.get_text()]


def test_numbers_along_narrow_learning_curves_stand_upright():
    values = np.full((1, 2, 2), 0.2)
    with plt.rc_context({"figure.figsize": (2.6, 2.6)}):
        ax = suffice.LearningCurves(("a",), np.array([50, 5000]), values, values, PLAIN).plot().ax_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "1,000"]
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0.0}


def test_losses_far_apart_have_plain_numbers_too():
    values = np.array([[[90.0], [0.3]]])
    ax = (
        suffice.LearningCurves(("a",), np.array([10, 20]), values, values, PLAIN).plot(measure="log_loss").ax_
    )
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "10", "100"]


@pytest.fixture
def partly():
    """A model that leaves out two columns: one as told, and one whose values are all equal."""
    X = pd.DataFrame(WIDE[:, :5]).rename(columns=str).assign(left=np.arange(120.0), same=1.0)
    return suffice.BayesClassifier({"left": None, "same": "normal"}).fit(X, Y), X


def test_columns_left_out_of_the_model_are_not_drawn(partly):
    model, X = partly
    used = {*map(str, range(5))}
    assert set(EvidenceDisplay.from_estimator(model).bars("weight_of_evidence", 15)[0]) == used
    assert set(EvidenceDisplay.from_estimator(model, pairs=True).bars("kl", 15)[0]) == used
    display = ExplanationDisplay.from_estimator(model, X)
    assert set(display.strongest()[0]) == used
    names = [entry.name.partition(" = ")[0] for entry in display.entries(3)]
    assert set(names) == {*used, "(prior)"}
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == display.strongest()[0]


def test_a_model_in_which_no_column_speaks_is_still_drawn():
    X = pd.DataFrame({"a": [1.0, 1.0, 1.0, 1.0], "b": [2.0, 2.0, 2.0, 2.0]})
    model = suffice.BayesClassifier().fit(X, [0, 1, 0, 1])
    assert ExplanationDisplay.from_estimator(model, X).strongest()[0] == ["a", "b"]
    assert EvidenceDisplay.from_estimator(model).bars("weight_of_evidence", 5)[0] == ["a", "b"]


def test_a_title_and_a_legend_leave_the_panels_their_room(wide):
    model, X = wide
    figure = DensityDisplay.from_estimator(model, X).figure_
    figure.draw_without_rendering()
    heights = [ax.get_window_extent().height / figure.dpi for ax in figure.axes]
    assert min(heights) > 1.2
    assert figure.get_figheight() < 15.0


def test_axes_that_are_passed_keep_their_title(wide):
    model, X = wide
    figure, axes = plt.subplots(1, 2)
    figure.suptitle("mine")
    DensityDisplay.from_estimator(model, X, most=2, ax=axes)
    assert figure.get_suptitle() == "mine"
    with pytest.raises(ValueError, match="most must be an integer ≥ 1, got 0"):
        DensityDisplay.from_estimator(model, X, most=0)
