import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from suffice.families import Gamma, Multinomial, Poisson
from suffice.plots import PosteriorDisplay

BILL, FLIPPER = "bill_length_mm", "flipper_length_mm"


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_the_other_columns_are_marginalised_out(penguins):
    model, X, species = penguins
    display = PosteriorDisplay.from_estimator(model, X, columns=(BILL, FLIPPER), resolution=20)
    known = {name: model.schema_[name].family for name in (BILL, FLIPPER)}
    alone = suffice.BayesClassifier({name: known.get(name) for name in X.column_names}, evidence_weight=1.0)
    alone.fit(X, species)
    across, up = (cells.ravel() for cells in np.meshgrid(display.x.values, display.y.values))
    cells = {BILL: across, FLIPPER: up}
    table = pa.table(
        [pa.array(cells.get(field.name, [None] * len(up))).cast(field.type) for field in X.schema],
        schema=X.schema,
    )
    expected = alone.predict_proba(table).reshape(display.posterior.shape)
    np.testing.assert_allclose(display.posterior, expected, atol=1e-12)
    assert display.held == {}


def test_posteriors_of_a_joint_gaussian_are_those_of_the_fit_on_two_columns(iris):
    X, y = iris
    model = suffice.GaussianDiscriminant("full").fit(X, y)
    two = suffice.GaussianDiscriminant("full").fit(X[:, [0, 2]], y)
    display = PosteriorDisplay.from_estimator(model, X, columns=(0, 2), resolution=15)
    across, up = np.meshgrid(display.x.values, display.y.values)
    expected = two.predict_proba(np.column_stack([across.ravel(), up.ravel()]))
    np.testing.assert_allclose(display.posterior.reshape(-1, 3), expected, atol=1e-10)


@pytest.mark.parametrize("container", ["pyarrow", "pandas", "polars"])
def test_every_container_gives_the_same_picture(penguins, container):
    model, X, _ = penguins
    reference = PosteriorDisplay.from_estimator(model, X, columns=(BILL, "island"), resolution=12)
    X, species = suffice.load_penguins(container)
    model = suffice.BayesClassifier().fit(X, species)
    display = PosteriorDisplay.from_estimator(model, X, columns=(BILL, "island"), resolution=12)
    np.testing.assert_allclose(display.posterior, reference.posterior, atol=1e-12)
    assert type(display.to_frame()) is type(X)


def test_whole_numbers_are_asked_at_whole_numbers(penguins):
    model, X, _ = penguins
    display = PosteriorDisplay.from_estimator(model, X, columns=(FLIPPER, BILL), resolution=500)
    assert np.array_equal(display.x.values, display.x.values.round())
    assert len(display.x.values) < 100 < len(display.y.values)


def test_levels_have_one_strip_each_and_numbers_as_levels_too(penguins):
    model, X, species = penguins
    display = PosteriorDisplay.from_estimator(model, X, species, columns=("island", "year"))
    assert display.posterior.shape == (3, 3, 3)
    assert display.x.values.tolist() == ["Biscoe", "Dream", "Torgersen"]
    assert display.y.values.tolist() == [2007, 2008, 2009]
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["Biscoe", "Dream", "Torgersen"]


def test_columns_are_held_where_a_value_is_given(penguins):
    model, X, _ = penguins
    on = {
        island: PosteriorDisplay.from_estimator(
            model, X, columns=(BILL, FLIPPER), held={"island": island}, resolution=10
        )
        for island in ("Biscoe", "Torgersen")
    }
    assert on["Biscoe"].held == {"island": "Biscoe"}
    gentoo = [display.posterior[:, :, 2].mean() for display in on.values()]
    assert gentoo[0] > gentoo[1]
    apart = on["Biscoe"].log_density - on["Torgersen"].log_density
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0, 0], apart.shape), atol=1e-10)


def test_a_moment_may_be_drawn_and_held():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.normal(10 * (y == "b"), 3), unit="D")
    X = pd.DataFrame({"day": days, "size": rng.normal(size=80), "time": days})
    model = suffice.BayesClassifier().fit(X, y)
    display = PosteriorDisplay.from_estimator(
        model, X, y, columns=("day", "size"), held={"time": dt.date(2024, 1, 9)}, resolution=20
    )
    low, high = display.ax_.get_xlim()
    assert low < pd.Timestamp("2024-01-09").timestamp() / 86400 < high
    assert np.isfinite(display.posterior).all()


def test_a_regression_has_its_other_columns_held_at_the_median(iris):
    X, y = iris
    model = suffice.LogisticRegression().fit(X, y)
    display = PosteriorDisplay.from_estimator(model, X, columns=(2, 3), resolution=10)
    middle = np.median(X, axis=0)
    assert display.held == {0: middle[0], 1: middle[1]}
    rows = np.tile(middle, (100, 1))
    rows[:, 2], rows[:, 3] = (grid.ravel() for grid in np.meshgrid(display.x.values, display.y.values))
    np.testing.assert_allclose(display.posterior.reshape(-1, 3), model.predict_proba(rows), atol=1e-12)
    assert display.log_density is None


def test_classifiers_of_scikit_learn_are_drawn_too(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X[:, :2], y)
    display = PosteriorDisplay.from_estimator(model, X[:, :2], y, resolution=10)
    np.testing.assert_allclose(display.posterior.sum(axis=2), 1.0)


def test_the_boundary_lies_where_two_classes_are_equally_probable(iris):
    X, y = iris
    X, y = X[y != 2][:, :2], y[y != 2]
    model = suffice.GaussianDiscriminant().fit(X, y)
    display = PosteriorDisplay.from_estimator(model, X, y, densities=False)
    lines = [
        path.vertices
        for part in display.ax_.collections
        for path in part.get_paths()
        if len(path.vertices) > 60
    ]
    drawn = np.concatenate([line for line in lines if not np.allclose(line[0], line[-1])][:2])
    np.testing.assert_allclose(model.decision_function(drawn), 0.0, atol=1e-6)


def test_contours_enclose_half_and_nine_tenths_of_a_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) * [1.0, 50.0]
    model = suffice.GaussianDiscriminant("full").fit(X, np.repeat([0, 1], 2000))
    display = PosteriorDisplay.from_estimator(model, X, resolution=250)
    levels = display._contours(0)
    inside = [(display.log_density[:, :, 0] >= level) for level in levels]
    area = np.outer(display.y.widths, display.x.widths)
    mass = [(np.exp(display.log_density[:, :, 0]) * area)[where].sum() for where in inside]
    np.testing.assert_allclose(mass, [0.9, 0.5], atol=0.01)


def test_a_density_is_zero_outside_the_support():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.gamma(1.0, size=60), rng.normal(size=60)])
    model = suffice.BayesClassifier({0: Gamma()}).fit(X, np.arange(60) % 2)
    display = PosteriorDisplay.from_estimator(model, X, resolution=40)
    outside = display.x.values <= 0
    assert outside.any()
    assert np.isneginf(display.log_density[:, outside]).all()
    assert np.isfinite(display.log_density[:, ~outside]).all()


def test_counts_are_drawn_at_counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(3.0, size=(50, 2)).astype(float)
    model = suffice.BayesClassifier(Poisson()).fit(X, np.arange(50) % 2)
    display = PosteriorDisplay.from_estimator(model, X)
    assert display.x.values.tolist() == list(range(int(X[:, 0].min()), int(X[:, 0].max()) + 1))


def test_rows_are_drawn_where_they_lie_and_gaps_are_left_out(penguins):
    model, X, species = penguins
    display = PosteriorDisplay.from_estimator(model, X, species, columns=(BILL, FLIPPER), resolution=8)
    across, _, codes = display.points
    np.testing.assert_array_equal(across, X[BILL].to_numpy())
    assert np.array_equal(model.classes_[codes], species)
    drawn = [part for part in display.ax_.collections if len(part.get_offsets()) > 1]
    assert sum(int((~np.ma.getmaskarray(part.get_offsets())).all(axis=1).sum()) for part in drawn) >= 342


def test_the_frame_holds_every_point_of_the_grid(penguins):
    model, X, _ = penguins
    display = PosteriorDisplay.from_estimator(model, X, columns=("island", BILL), resolution=9)
    frame = display.to_frame()
    assert frame.column_names == ["island", BILL, "p(Adelie)", "p(Chinstrap)", "p(Gentoo)"]
    assert frame.num_rows == 27
    assert frame["p(Gentoo)"].to_numpy()[3] == display.posterior[1, 0, 2]


def test_what_cannot_be_drawn_is_refused_with_the_cure(penguins):
    model, X, species = penguins
    draw = PosteriorDisplay.from_estimator
    with pytest.raises(ValueError, match=r"7 columns; choose two of them, as in columns=\('island'"):
        draw(model, X)
    wide = X.rename_columns([name * 40 for name in X.column_names])
    with pytest.raises(ValueError, match=r"choose two of them, as in columns=\('islandisl.*…") as refused:
        draw(suffice.BayesClassifier().fit(wide, species), wide)
    assert len(str(refused.value)) < 500
    with pytest.raises(ValueError, match="no column 'wing'"):
        draw(model, X, columns=("wing", BILL))
    with pytest.raises(ValueError, match="two columns of X"):
        draw(model, X, columns=BILL)
    with pytest.raises(ValueError, match="two different"):
        draw(model, X, columns=(BILL, BILL))
    with pytest.raises(ValueError, match="cannot be held"):
        draw(model, X, columns=(BILL, FLIPPER), held={BILL: 40})
    with pytest.raises(ValueError, match="343 labels"):
        draw(model, X, species[1:], columns=(BILL, FLIPPER), resolution=5)
    counts = np.random.default_rng(0).poisson(3, size=(30, 3))
    words = suffice.BayesClassifier(Multinomial()).fit(counts, np.arange(30) % 2)
    with pytest.raises(ValueError, match="observed or missing as a whole"):
        draw(words, counts, columns=(0, 1))
    text = pd.DataFrame(
        {"note": ["a long day", "some short night", "b"] * 30, "x": range(90), "z": range(90)}
    )
    noted = suffice.BayesClassifier({"note": suffice.families.Words()}).fit(text, np.arange(90) % 2)
    with pytest.raises(ValueError, match="holds text"):
        draw(noted, text, columns=("note", "x"))
    assert draw(noted, text, columns=("x", "z"), resolution=5).held == {}
