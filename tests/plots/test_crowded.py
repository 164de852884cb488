"""Many classes, many levels, long names and far outliers: every picture can still be read."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.plots import (
    ConfusionDisplay,
    DensityDisplay,
    EvidenceDisplay,
    ExplanationDisplay,
    LinkDisplay,
    PosteriorDisplay,
    ReliabilityDisplay,
)
from suffice.plots.display import _columns, legend_below
from suffice.plots.layout import fitted_all, name_ticks, width_in_inches
from suffice.tables.container import PLAIN

LETTERS = [f"letter {chr(65 + i)} of the alphabet" for i in range(26)]
PHONE = {"figure.figsize": (3.6, 3.0)}


def overlapping(labels):
    boxes = [one.get_window_extent() for one in labels if one.get_text()]
    return any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


def on_the_page(figure, boxes):
    page = figure.bbox.padded(1.5)
    return all(page.contains(*box.min) and page.contains(*box.max) for box in boxes)


@pytest.fixture(scope="module")
def crowd():
    """Rows of 26 classes with long names, and a model of them."""
    rng = np.random.default_rng(0)
    codes = np.arange(520) % 26
    X = rng.normal(size=(520, 2)) + np.column_stack([codes % 6, codes // 6])
    y = np.array(LETTERS, dtype=object)[codes]
    return suffice.GaussianDiscriminant().fit(X, y), X, y


def test_names_that_would_be_cut_to_the_same_letters_are_told_apart():
    names = ["Married-AF-spouse", "Married-civ-spouse", "Divorced"]
    short = fitted_all(names, 1.0)
    assert len(set(short)) == 3
    assert short[2] == "Divorced"
    assert all(width_in_inches(one) <= 1.0 for one in short)
    assert fitted_all(["a", "a"], 1.0) == ["a", "a"]


@pytest.mark.parametrize("side", ["xaxis", "yaxis"])
@pytest.mark.parametrize("n", [12, 30, 80])
def test_names_of_ticks_never_lie_on_each_other(side, n):
    figure, ax = plt.subplots(figsize=(3.0, 2.2), layout="constrained")
    ax.set(xlim=(-0.5, n - 0.5), ylim=(-0.5, n - 0.5))
    axis = getattr(ax, side)
    name_ticks(axis, range(n), [f"level {i}" for i in range(n)])
    figure.draw_without_rendering()
    named = [label for label in axis.get_ticklabels() if label.get_text()]
    assert named[0].get_text() == "level 0"
    assert named[0].get_fontsize() >= 6.0
    assert not overlapping(named)


def test_the_lines_of_a_legend_are_equally_full():
    assert _columns(list("abcdefg"), 5.0) == 7
    assert _columns(list("abcdefg"), 4.3) == 4  # four above three, not six above one


@pytest.mark.parametrize("kind", ["posterior", "density"])
def test_a_figure_is_taller_for_many_names_so_that_the_picture_is_not_smaller(crowd, kind):
    model, X, y = crowd
    make = {
        "posterior": lambda: PosteriorDisplay.from_estimator(model, X, y, resolution=20),
        "density": lambda: DensityDisplay.from_estimator(model, X),
    }[kind]
    with plt.rc_context(PHONE):
        display = make()
        figure = display.figure_
        figure.draw_without_rendering()  # a layout that fails is a warning, and so an error
        (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend()] + figure.legends
        assert len(legend.get_texts()) == 26
        assert on_the_page(figure, [legend.get_window_extent()])
        assert min(ax.get_window_extent().height / figure.dpi for ax in figure.axes) > 1.2


def test_below_axes_that_were_passed_a_long_legend_says_how_many_names_it_leaves_out(crowd):
    figure, ax = plt.subplots(figsize=(3.6, 3.0))
    PosteriorDisplay.from_estimator(*crowd, resolution=20, ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[-1] == f"… {26 - len(names) + 1} more"
    assert on_the_page(figure, [ax.get_tightbbox()])
    assert ax.get_window_extent().height > 0.3 * figure.bbox.height


def test_a_legend_wider_than_the_axes_ends_where_they_do():
    figure, (above, below) = plt.subplots(2, 1, figsize=(3.6, 5.0), layout="constrained")
    name_ticks(above.yaxis, [0, 1], ["a class with a long name", "another with a long name"])
    for name in ("one of the classes", "other class", "third"):
        below.plot([0, 1], [0, 1], label=name)
    legend_below(below)
    figure.draw_without_rendering()
    assert on_the_page(figure, [below.get_tightbbox()])


def test_the_legend_of_a_posterior_has_the_lines_of_the_contours_that_are_drawn(crowd):
    model, X, y = crowd
    for densities, line in ((True, "-"), (False, "None"), (None, "None")):
        ax = PosteriorDisplay.from_estimator(model, X, y, resolution=20, densities=densities).ax_
        assert ax.get_legend().get_lines()[0].get_linestyle() == line
    few = PosteriorDisplay.from_estimator(model, X, y, resolution=20, boundaries=False).ax_
    assert len(few.collections) == 1 + 26  # the colours and the rows; contours of 26 classes would hide them


def test_markers_become_smaller_where_rows_are_many(crowd):
    model, X, y = crowd
    sizes = []
    for n in (100, 520):
        ax = PosteriorDisplay.from_estimator(model, X[:n], y[:n], resolution=9, boundaries=False).ax_
        sizes.append(ax.collections[-1].get_sizes()[0])
    assert sizes[0] == 16.0
    assert 5.0 <= sizes[1] < 16.0


@pytest.mark.parametrize("k", [3, 26, 77])
def test_numbers_in_a_confusion_matrix_fit_their_cells_or_are_left_out(k):
    counts = np.full((k, k), 1234)
    ax = ConfusionDisplay(counts, [f"class {i}" for i in range(k)]).plot().ax_
    ax.figure.draw_without_rendering()
    cell = ax.get_window_extent().width / k
    assert len(ax.texts) == (k * k if k == 3 else 0)
    assert all(text.get_window_extent().width < cell for text in ax.texts)
    small = ConfusionDisplay(counts // 1000, [f"class {i}" for i in range(k)]).plot().ax_
    assert len(small.texts) == (k * k if k < 77 else 0)
    assert all(text.get_fontsize() >= 4.5 for text in small.texts)


@pytest.mark.parametrize("size", [(6.4, 4.8), (3.6, 3.0)], ids=["wide", "phone"])
def test_an_evaluation_of_many_long_names_stays_on_the_page(crowd, size):
    with plt.rc_context({"figure.figsize": size}):
        display = suffice.evaluate(*crowd).plot()
        display.figure_.draw_without_rendering()
        assert on_the_page(display.figure_, [ax.get_tightbbox() for ax in display.ax_])
        matrix = display.ax_[0]
        assert not overlapping(matrix.get_xticklabels())
        assert not overlapping(matrix.get_yticklabels())


def test_of_many_classes_the_reliability_is_that_of_the_most_probable_unless_told(crowd):
    model, X, y = crowd
    p = model.predict_proba(X)
    (curve,) = ReliabilityDisplay.from_estimator(model, X, y).curves
    assert curve.label == "most probable class"
    assert curve.rows @ curve.observed == pytest.approx(np.sum(model.predict(X) == y))
    assert curve.rows @ curve.predicted == pytest.approx(p.max(axis=1).sum())
    each = ReliabilityDisplay.from_estimator(model, X, y, each=True)
    assert [one.label for one in each.curves] == LETTERS
    assert not each.ax_.collections  # no limits, which would hide the curves
    three = ReliabilityDisplay.from_predictions(["a", "b", "c"], np.eye(3), each=False)
    assert three.curves[0].observed.tolist() == [1.0]


def test_evidence_of_many_pairs_is_drawn_as_points_on_a_page_of_usual_size(crowd):
    model, _, _ = crowd
    display = model.evidence().plot(pairs=True)
    points, mean = display.ax_.collections
    heights = display.bars("kl", 15)[2]
    assert len(points.get_offsets()) == 2 * 26 * 25
    assert np.allclose(mean.get_offsets()[:, 0], heights.mean(axis=1))
    assert display.figure_.get_figheight() < 3.0
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a pair of classes", "mean"]


def test_evidence_is_written_beside_its_bars_within_the_page():
    with plt.rc_context(PHONE):
        frame = pa.table({"column": ["a long name of a column", "b"], "kl": [412.3456, 0.00256]})
        ax = EvidenceDisplay(frame).plot().ax_
        ax.figure.draw_without_rendering()
        assert [text.get_text() for text in ax.texts] == ["412", "0.00256"]
        assert all(ax.bbox.x1 > text.get_window_extent().x1 for text in ax.texts)


def test_numbers_at_the_ends_of_a_waterfall_stay_within_it(penguins):
    model, X, _ = penguins
    with plt.rc_context(PHONE):
        ax = ExplanationDisplay(model.explain(X)).plot(row=0).ax_
        ax.figure.draw_without_rendering()
        assert all(ax.bbox.x1 > text.get_window_extent().x1 for text in ax.texts)


def test_a_few_far_rows_do_not_hide_what_all_others_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 1] + 0.3 * rng.normal(size=200) > 0
    model = suffice.BayesClassifier().fit(X, y)
    assert model.explain(X).plot().ax_.get_xscale() == "linear"
    X[0, 0] = 4000.0
    ax = model.explain(X).plot().ax_
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlabel().endswith("(logarithmic beyond ±10)")


def test_scores_far_out_do_not_squeeze_the_links_and_are_counted():
    a = np.array([-400.0, -5.0, 0.5, 30.0])
    display = LinkDisplay.from_predictions(a, suffice.links.logistic(a))
    assert display.a[-1] == 12.0
    assert display.rows[0].tolist() == a.tolist()
    assert display.ax_.collections[0].get_offsets()[:, 0].tolist() == [-5.0, 0.5]
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[-1] == "rows (2 beyond ±12 not shown)"


@pytest.mark.parametrize("largest, scale", [(0.9, "linear"), (90.0, "log")])
def test_learning_curves_far_apart_are_drawn_on_a_logarithmic_axis(largest, scale):
    values = np.array([[[largest], [0.3]]])
    curves = suffice.LearningCurves(("a",), np.array([10, 20]), values, values, PLAIN)
    assert curves.plot(measure="log_loss").ax_.get_yscale() == scale


def test_a_few_pairs_far_apart_do_not_hide_the_others():
    values = np.append(np.linspace(0.1, 3.0, 59), 4000.0)
    frame = {"column": ["a"] * 60, "class": [str(i) for i in range(60)], "kl": values}
    ax = EvidenceDisplay(pa.table(frame)).plot().ax_
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlabel() == "Kullback–Leibler divergence (nats)\n(logarithmic beyond ±10)"


def test_dates_below_a_narrow_panel_lie_apart():
    days = np.arange("2007-11-01", "2017-06-25", 60, dtype="datetime64[D]")
    X = pa.table({"day": pa.array(days), "rain": np.arange(len(days)) % 7.0})
    model = suffice.BayesClassifier().fit(X, np.arange(len(days)) % 2)
    display = DensityDisplay.from_estimator(model, X)
    display.figure_.draw_without_rendering()
    labels = display.ax_[0].get_xticklabels()
    assert len(labels) >= 2
    assert not overlapping(labels)


def test_a_long_name_of_a_column_stays_within_the_page():
    names = ["Horizontal distance to the nearest surface water", "Weather station that the rows come from"]
    places = [f"station {i}" for i in range(40)] * 2
    X = pa.table({names[0]: np.arange(80.0), names[1]: places})
    model = suffice.BayesClassifier().fit(X, np.arange(80) % 2)
    with plt.rc_context(PHONE):
        ax = PosteriorDisplay.from_estimator(model, X, resolution=9, columns=names).ax_
        ax.figure.draw_without_rendering()
    assert ax.get_ylabel().endswith(" (top 30 of 40)")
    assert on_the_page(ax.figure, [ax.get_tightbbox()])
