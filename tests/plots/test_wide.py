"""Many columns and many classes: pictures of bounded size, in time linear in the columns."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Multinomial
from suffice.plots import DensityDisplay, PosteriorDisplay
from suffice.tables.container import Container

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
