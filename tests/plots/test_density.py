import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
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
    display = DensityDisplay.from_estimator(model, X, columns=["bill_length_mm"])
    fitted = model.parameters_["bill_length_mm"]
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
