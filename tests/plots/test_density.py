import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, StepPatch
from scipy import stats

import suffice
from suffice.families import (
    FAMILIES,
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Gamma,
    Histogram,
    Hurdle,
    Multinomial,
    Normal,
    Poisson,
    VonMises,
)
from suffice.plots import DensityDisplay

RNG = np.random.default_rng(0)
LABELS = np.arange(200) % 2
NUMBERS = RNG.integers(1, 6, size=(200, 1)).astype(float)
CELLS = {
    "Bernoulli": NUMBERS % 2,
    "Beta": NUMBERS / 7.0,
    "VonMises": (NUMBERS - 3.0) / 3.0,
    "LogNormal": np.exp(NUMBERS / 3.0),
}
SKIPPED = {"Words", "MultivariateNormal", "Hurdle"}


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - SKIPPED))
def test_every_family_is_drawn_with_mass_one(name):
    family = Binomial(8) if name == "Binomial" else FAMILIES[name]()
    model = suffice.BayesClassifier(family).fit(CELLS.get(name, NUMBERS), LABELS)
    X = model.sample(3000, random_state=0)[0]
    display = DensityDisplay.from_estimator(model, X, resolution=2000)
    (panel,) = display.panels
    mass = np.nan_to_num(panel.density).T @ panel.grid.widths
    np.testing.assert_allclose(mass, 1.0, atol=0.03)


@pytest.mark.parametrize("family", [Hurdle(Gamma()), Hurdle(Hurdle(Normal()), at=99)], ids=str)
def test_a_hurdle_is_drawn_as_a_curve_and_stems_of_mass_one_together(family):
    cells = np.where(RNG.random((200, 1)) < 0.3, 0.0, RNG.gamma(4.0, size=(200, 1)))
    if len(family.repeated) > 1:
        cells[::10] = 99.0
    model = suffice.BayesClassifier(family).fit(cells, LABELS)
    display = DensityDisplay.from_estimator(model, cells, resolution=2000)
    (panel,) = display.panels
    assert panel.repeated == family.repeated
    for share, value in zip(panel.shares, panel.repeated, strict=True):
        np.testing.assert_allclose(share, model.parameters_[0][f"share of {value}"] * _left(panel, value))
    mass = np.nan_to_num(panel.density).T @ panel.grid.widths + panel.shares.sum(axis=0)
    np.testing.assert_allclose(mass, 1.0, atol=0.03)
    assert panel.grid.values.max() < 50.0  # the curve keeps its resolution, wherever the stems are
    frame = pd.DataFrame(display.to_frame().to_pydict())
    stems = frame.iloc[-len(panel.shares) :, 2:].to_numpy()
    np.testing.assert_array_equal(stems, panel.shares)
    right = display.figure_.axes[-1]
    assert right.get_ylabel() == f"share of {', '.join(map(str, family.repeated))}"


def _left(panel, value):
    """What the hurdles outside leave for a value."""
    outside = panel.repeated.index(value)
    return 1.0 - panel.shares[:outside].sum(axis=0)


def test_a_sentinel_of_counts_is_a_bar():
    cells = np.where(RNG.random((200, 1)) < 0.3, -1.0, RNG.poisson(3.0, (200, 1)))
    model = suffice.BayesClassifier(Hurdle(Poisson(), at=-1)).fit(cells, LABELS)
    (panel,) = DensityDisplay.from_estimator(model, cells).panels
    assert panel.grid.kind == "counts"
    assert not panel.repeated
    np.testing.assert_allclose(panel.density[0], model.parameters_[0]["share of -1"])


def test_curves_are_the_fitted_densities(penguins):
    model, X, _ = penguins
    display = DensityDisplay.from_estimator(model, X, columns=["flipper_length_mm"])
    fitted = model.parameters_["flipper_length_mm"]
    values = display.panels[0].grid.values
    for k in range(3):
        expected = stats.norm(fitted["mean"][k], np.sqrt(fitted["variance"][k])).pdf(values)
        np.testing.assert_allclose(display.panels[0].density[:, k], expected, rtol=1e-9)


def test_bars_are_the_fitted_probabilities(penguins):
    model, X, _ = penguins
    display = DensityDisplay.from_estimator(model, X, columns=["island"])
    fitted = model.parameters_["island"]
    order = np.argsort(fitted["levels"])
    np.testing.assert_allclose(display.panels[0].density, fitted["probability"][:, order].T)
    heights = [[bar.get_height() for bar in bars] for bars in display.ax_.containers]
    np.testing.assert_allclose(np.transpose(heights), display.panels[0].density)


def test_a_column_of_a_joint_gaussian_has_its_marginal():
    X = RNG.multivariate_normal([0, 1], [[2.0, 0.9], [0.9, 1.0]], size=300)
    model = suffice.GaussianDiscriminant("full").fit(X, np.arange(300) % 2)
    panel = DensityDisplay.from_estimator(model, X).panels[1]
    expected = stats.norm(model.means_[0, 1], np.sqrt(model.covariances_[0, 1, 1])).pdf(panel.grid.values)
    np.testing.assert_allclose(panel.density[:, 0], expected, rtol=1e-9)


@pytest.mark.parametrize("family", [Gamma(), Beta(), Histogram(8)])
def test_nothing_is_drawn_where_the_model_ignores_a_value(family):
    X = RNG.beta(1.0, 1.5, size=(200, 1))
    model = suffice.BayesClassifier(family).fit(X, LABELS)
    panel = DensityDisplay.from_estimator(model, X).panels[0]
    ignored = np.isnan(panel.density).all(axis=1)
    assert ignored[0]
    assert (panel.grid.values[ignored] != X.min()).all()
    assert np.isfinite(panel.density[~ignored]).all()


def test_a_moment_has_a_density_per_day():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.normal(size=200) * 3, unit="D")
    model = suffice.BayesClassifier(Normal()).fit(pd.DataFrame({"day": days}), LABELS)
    panel = DensityDisplay.from_estimator(model, pd.DataFrame({"day": days})).panels[0]
    np.testing.assert_allclose(panel.grid.widths @ panel.density, 1.0, atol=0.03)


def test_many_counts_are_steps_and_few_are_bars():
    few, many = RNG.poisson(2, (200, 1)), RNG.poisson(900, (200, 1))
    for X, bars in ((few, True), (many, False)):
        model = suffice.BayesClassifier(Poisson()).fit(X, LABELS)
        ax = DensityDisplay.from_estimator(model, X).ax_
        assert bool(ax.containers) == bars
        assert len(ax.get_lines()) == (0 if bars else 2)


def test_there_is_a_panel_for_each_column_and_one_legend(penguins):
    model, X, _ = penguins
    display = DensityDisplay.from_estimator(model, X)
    assert len(display.ax_) == len(display.panels) == 7
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Adelie", "Chinstrap", "Gentoo"]
    assert not any(ax.get_legend() for ax in display.ax_)


def test_axes_may_be_given(penguins):
    model, X, _ = penguins
    axes = Figure(layout="constrained").subplots(1, 2)
    display = DensityDisplay.from_estimator(model, X, columns=["island", "sex"], ax=axes)
    assert display.figure_ is axes[0].figure
    with pytest.raises(ValueError, match="2 columns to draw but 1 axes"):
        display.plot(axes[0])


def test_the_frame_names_columns_and_values(penguins):
    model, X, _ = penguins
    frame = DensityDisplay.from_estimator(model, X, columns=["sex", "year"]).to_frame()
    assert frame["value"].to_pylist() == ["female", "male", "2007", "2008", "2009"]
    np.testing.assert_allclose(np.sum(frame["p(x | Gentoo)"].to_numpy()[2:]), 1.0)


def test_columns_left_out_are_not_drawn_and_a_multinomial_is_one_panel():
    X = np.column_stack([NUMBERS, NUMBERS % 2, NUMBERS, NUMBERS**2])
    model = suffice.BayesClassifier({0: None, 1: Bernoulli(), (2, 3): Multinomial()}).fit(X, LABELS)
    alone, together = DensityDisplay.from_estimator(model, X).panels
    assert alone.grid.column == 1
    assert together.grid.values.tolist() == ["2", "3"]
    expected = [model.parameters_[column]["probability"] for column in (2, 3)]
    np.testing.assert_allclose(together.density, expected)


def test_many_levels_are_cut_to_the_most_frequent():
    X = np.array([[f"level {i % 50}"] for i in range(200)] + [["often"]] * 20, dtype=object)
    model = suffice.BayesClassifier(Categorical()).fit(X, np.arange(220) % 2)
    display = DensityDisplay.from_estimator(model, X)
    assert "often" in display.panels[0].grid.values
    assert display.ax_.get_xlabel() == "0 (top 30 of 51)"


def test_models_without_a_density_are_refused():
    model = suffice.LogisticRegression().fit(NUMBERS, NUMBERS[:, 0] > 2)
    with pytest.raises(TypeError, match="LogisticRegression has no class-conditional densities"):
        DensityDisplay.from_estimator(model, NUMBERS)


def test_a_circle_is_drawn_by_its_own_density():
    X = RNG.vonmises(1.0, 4.0, size=(200, 1))
    model = suffice.BayesClassifier(VonMises()).fit(X, LABELS)
    panel = DensityDisplay.from_estimator(model, X).panels[0]
    expected = stats.vonmises(
        model.parameters_[0]["concentration"][0], loc=model.parameters_[0]["direction"][0]
    ).pdf(panel.grid.values)
    np.testing.assert_allclose(panel.density[:, 0], expected, rtol=1e-9)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_that_stands_for_numbers_or_dates_is_drawn_as_these(container):
    numbers = RNG.gamma(3.0, 400.0, 200).round(2)
    days = np.datetime64("2023-01-01") + (np.arange(200) * 7 % 500).astype("m8[D]")
    meant = container({"price": numbers, "day": days.astype("M8[us]")})
    text = container({"price": [f"${number:,}" for number in numbers], "day": [str(day) for day in days]})
    drawn = []
    for X in (meant, text):
        model = suffice.BayesClassifier({"price": "gamma"}).fit(X, LABELS)
        drawn.append(DensityDisplay.from_estimator(model, X, columns=["price", "day"]))
    for one, other in zip(drawn[0].panels, drawn[1].panels, strict=True):
        assert one.grid.kind == other.grid.kind
        if one.grid.kind == "numbers":
            np.testing.assert_array_equal(one.grid.values, other.grid.values)
            np.testing.assert_array_equal(one.density, other.density)


def test_rows_are_shown_beneath_the_curves_as_histograms_of_mass_one(penguins):
    model, X, species = penguins
    display = DensityDisplay.from_estimator(
        model, X, species, columns=["bill_length_mm", "flipper_length_mm"]
    )
    for name, panel, ax in zip(
        ["bill_length_mm", "flipper_length_mm"], display.panels, display.ax_, strict=True
    ):
        cells = np.array(X[name].to_numpy(), dtype=float)
        edges = panel.observed.edges
        np.testing.assert_allclose(np.diff(edges) @ panel.observed.density, 1.0, rtol=1e-12)
        for k, label in enumerate(model.classes_):
            mine = cells[(np.asarray(species) == label) & ~np.isnan(cells)]
            expected = np.histogram(mine, edges, density=True)[0]
            np.testing.assert_allclose(panel.observed.density[:, k], expected, rtol=1e-12)
        drawn = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
        assert len(drawn) == 3
        assert {patch.get_facecolor()[:3] for patch in drawn} == {
            to_rgb(one.get_color()) for one in ax.get_lines()
        }
        assert max(patch.get_zorder() for patch in drawn) < min(line.get_zorder() for line in ax.get_lines())


def test_observed_shares_are_markers_at_the_bars(penguins):
    model, X, species = penguins
    display = DensityDisplay.from_estimator(model, X, species, columns=["island"])
    (panel,) = display.panels
    cells, kinds = np.asarray(X["island"].to_numpy(), dtype=object), np.asarray(species)
    expected = [[np.mean(cells[kinds == k] == level) for k in model.classes_] for level in panel.grid.values]
    np.testing.assert_allclose(panel.observed.density, expected, rtol=1e-12)
    lines = display.ax_.get_lines()
    np.testing.assert_allclose([line.get_ydata() for line in lines], np.transpose(expected), rtol=1e-12)
    for line, bars in zip(lines, display.ax_.containers, strict=True):
        np.testing.assert_allclose(line.get_xdata(), [bar.get_x() + bar.get_width() / 2 for bar in bars])


def test_a_misfit_is_seen():
    X = np.where(RNG.random((2000, 1)) < 0.5, -3.0, 3.0) + RNG.normal(size=(2000, 1))
    model = suffice.BayesClassifier(Normal()).fit(X, np.arange(2000) % 2)
    (panel,) = DensityDisplay.from_estimator(model, X, np.arange(2000) % 2).panels
    middle = np.abs(panel.grid.values) < 0.3
    observed = panel.observed.at(panel.grid.positions)
    assert observed[middle].max() < 0.2 * panel.density[middle].min()


def test_without_labels_no_rows_are_shown(penguins):
    model, X, _ = penguins
    display = DensityDisplay.from_estimator(model, X)
    assert all(panel.observed is None for panel in display.panels)
    assert not any("observed" in name for name in display.to_frame().column_names)


def test_the_labels_may_be_a_column_of_the_rows(penguins):
    model, X, species = penguins
    frame = X.to_pandas()
    one = DensityDisplay.from_estimator(model, X, species, columns=["sex", "year", "body_mass_g"])
    other = DensityDisplay.from_estimator(
        suffice.BayesClassifier().fit(frame, species), frame.assign(kind=species), "kind", columns=[5, 6, 4]
    )
    by_name = {panel.grid.name: panel.observed for panel in other.panels}
    for panel in one.panels:
        np.testing.assert_array_equal(panel.observed.density, by_name[panel.grid.name].density)


def test_gaps_and_rows_of_unknown_classes_are_ignored():
    X = np.array([[1.0], [1.0], [2.0], [np.nan], [3.0], [9.0]])
    y = np.array(["a", "a", "a", "a", "b", "strange"])
    model = suffice.BayesClassifier(Poisson()).fit(X[:5], y[:5])
    (panel,) = DensityDisplay.from_estimator(model, X, y).panels
    assert panel.grid.values.tolist() == [*range(1, 10)]
    np.testing.assert_allclose(panel.observed.density[:3].T, [[2 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
    assert not panel.observed.density[3:].any()


def test_a_class_without_cells_shows_nothing():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [4.0]])
    model = suffice.BayesClassifier(Normal()).fit(np.nan_to_num(X), [0, 0, 1, 1, 0])
    display = DensityDisplay.from_estimator(model, X, [0, 0, 1, 1, 0])
    assert np.isnan(display.panels[0].observed.density[:, 1]).all()
    assert np.isnan(display.to_frame()["observed(x | 1)"]).all()


def test_levels_that_are_not_drawn_are_cells_all_the_same():
    X = np.array([[f"level {i % 50}"] for i in range(200)] + [["often"]] * 20, dtype=object)
    y = np.arange(220) % 2
    model = suffice.BayesClassifier(Categorical()).fit(X, y)
    (panel,) = DensityDisplay.from_estimator(model, X, y).panels
    place = panel.grid.values.tolist().index("often")
    np.testing.assert_allclose(panel.observed.density[place], [10 / 110, 10 / 110])


def test_a_multinomial_shows_the_shares_of_the_counts():
    X = np.column_stack([NUMBERS, NUMBERS**2, np.ones_like(NUMBERS)])
    X[0, 1] = np.nan
    model = suffice.BayesClassifier(Multinomial()).fit(X, LABELS)
    (panel,) = DensityDisplay.from_estimator(model, X, LABELS).panels
    sums = np.array([X[1:][LABELS[1:] == k].sum(axis=0) for k in range(2)])
    np.testing.assert_allclose(panel.observed.density, (sums / sums.sum(axis=1, keepdims=True)).T)


@pytest.mark.parametrize("size", [1, 10, 100_000])
def test_bins_are_few_and_those_of_whole_numbers_whole(size):
    whole, real = RNG.integers(0, 777, (size, 1)).astype(float), RNG.normal(size=(size, 1))
    y = np.arange(size) % 2
    for X in (whole, real):
        model = suffice.BayesClassifier(Normal()).fit(np.vstack([X, X + 1.0]), np.r_[y, 1 - y])
        edges = DensityDisplay.from_estimator(model, X, y).panels[0].observed.edges
        assert 1 <= len(edges) - 1 <= 51
        if X is whole:
            assert (np.diff(edges) == np.rint(np.diff(edges))).all()


def test_a_spike_of_rows_does_not_flatten_the_curves():
    X = np.r_[np.zeros(900), RNG.normal(50.0, 20.0, 100)][:, np.newaxis]
    y = np.arange(1000) % 2
    model = suffice.BayesClassifier(Normal()).partial_fit(X, y)  # a fit may say that it tells nothing
    display = DensityDisplay.from_estimator(model, X, y)
    (panel,) = display.panels
    assert panel.observed.density.max() > 3.0 * panel.density.max()
    assert display.ax_.get_ylim() == (0.0, 2.0 * panel.density.max())


def test_the_legend_says_what_the_rows_look_like(penguins):
    model, X, species = penguins
    for columns, cls in ((["island", "sex"], Line2D), (["island", "body_mass_g"], Patch)):
        display = DensityDisplay.from_estimator(model, X, species, columns=columns)
        (legend,) = display.figure_.legends
        assert [text.get_text() for text in legend.get_texts()] == [*model.classes_, "observed"]
        assert isinstance(legend.legend_handles[-1], cls)


def test_labels_of_another_length_are_refused(penguins):
    model, X, species = penguins
    with pytest.raises(ValueError, match="X has 344 rows, but y has 343 labels"):
        DensityDisplay.from_estimator(model, X, species[1:])
