"""Nothing hides anything: in wide and narrow figures, on light and dark pages."""

import itertools
import subprocess
import sys

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
from suffice.plots.layout import fitted, fitted_pair, width_in_inches
from suffice.plots.palette import COLOURS, rgb, styles

WIDE, PHONE = (6.4, 4.8), (3.6, 3.0)


def displays(model, X, species):
    columns = ("bill_length_mm", "island")
    explanation = model.explain(X)
    labels = {"column": ["island", "year"] * 2, "class": ["a", "a", "b", "b"], "kl": [1.0, 2.0, 3.0, 4.0]}
    curves = suffice.compare(
        {"GDA": suffice.GaussianDiscriminant(), "logistic regression": suffice.LogisticRegression()},
        np.arange(120.0).reshape(60, 2) % 7,
        np.arange(60) % 3,
        sizes=[6, 12],
        repeats=2,
    )
    return {
        "posterior": PosteriorDisplay.from_estimator(model, X, species, columns=columns, resolution=30),
        "density": DensityDisplay.from_estimator(model, X, columns=["year", "body_mass_g"]),
        "one density": DensityDisplay.from_estimator(model, X, columns=["island"]),
        "confusion": ConfusionDisplay.from_estimator(model, X, species),
        "reliability": ReliabilityDisplay.from_estimator(model, X, species),
        "row": ExplanationDisplay(model.explain(X.slice(0, 1))),
        "rows": ExplanationDisplay(explanation),
        "evidence": EvidenceDisplay(pa.table(labels)),
        "evidence of columns": model.evidence(),
        "evaluation": suffice.evaluate(model, X, species),
        "link": LinkDisplay.from_links(),
        "learning curve": curves,
    }


@pytest.fixture(scope="module")
def made(penguins):
    return displays(*penguins)


NAMES = [
    "posterior",
    "density",
    "one density",
    "confusion",
    "reliability",
    "row",
    "rows",
    "evidence",
    "evidence of columns",
    "evaluation",
    "link",
    "learning curve",
]


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", NAMES)
def test_all_is_within_the_page_and_no_legend_covers_anything(made, name, size, style):
    with plt.style.context(style), plt.rc_context({"figure.figsize": size, "font.size": 8}):
        display = made[name].plot()
        figure = display.figure_
        figure.draw_without_rendering()
        page = figure.bbox.padded(1.0)
        axes = list(np.ravel(np.array(display.ax_, dtype=object)))
        legends = [ax.get_legend() for ax in axes if ax.get_legend()] + figure.legends
        assert len(legends) == (0 if name in ("confusion", "row", "evidence of columns") else 1)
        for ax in axes:
            box = ax.get_tightbbox()
            assert page.contains(*box.min), name
            assert page.contains(*box.max), name
            assert ax.get_xlabel()
            for legend in legends:
                shown = legend.get_window_extent()
                assert not shown.overlaps(ax.get_window_extent())
                assert not shown.overlaps(ax.xaxis.get_tightbbox())
                assert page.contains(*shown.min)
                assert page.contains(*shown.max)


LONG = {
    "Adelie": "Adelie penguin of the Torgersen colony",
    "Chinstrap": "Chinstrap penguin of the Dream colony",
    "Gentoo": "Gentoo",
}


@pytest.fixture(scope="module")
def long_names(penguins):
    _, X, species = penguins
    y = np.array([LONG[one] for one in np.asarray(species).tolist()], dtype=object)
    model = suffice.BayesClassifier().fit(X, y)
    made = displays(model, X, y)
    rng = np.random.default_rng(0)
    many = np.array([f"department number {i % 12:02d}" for i in range(240)])
    rows = rng.normal(size=(240, 2)) + np.arange(240)[:, np.newaxis] % (3, 4)
    made["confusion of many"] = ConfusionDisplay(
        suffice.evaluate(suffice.GaussianDiscriminant().fit(rows, many), rows, many).confusion,
        sorted(set(many)),
    )
    curves = {
        f"{name} with a long name of the model": one for name, one in zip("ab", CLASSIFIERS, strict=True)
    }
    made["learning curve"] = suffice.compare(
        curves, np.arange(60.0).reshape(30, 2) % 7, np.arange(30) % 2, sizes=[4, 8], repeats=2
    )
    return made


CLASSIFIERS = (suffice.GaussianDiscriminant(), suffice.BayesClassifier())
CROWDED = [
    "posterior", "one density", "confusion", "confusion of many", "reliability", "row", "rows", "evaluation",
    "learning curve", "evidence",
]  # fmt: skip


@pytest.mark.parametrize("given_axes", [False, True], ids=["own", "given"])
@pytest.mark.parametrize("name", CROWDED)
def test_long_names_and_axes_given_without_a_layout_stay_on_the_page(long_names, name, given_axes):
    with plt.rc_context({"figure.figsize": PHONE, "font.size": 8}):
        display = long_names[name].plot(plt.subplots()[1] if given_axes else None)
        figure = display.figure_
        figure.draw_without_rendering()
        page = figure.bbox.padded(1.5)
        for ax in np.ravel(np.array(display.ax_, dtype=object)):
            box = ax.get_tightbbox()
            assert page.contains(*box.min), name
            assert page.contains(*box.max), name
            assert ax.get_window_extent().width > 0.2 * figure.bbox.width
            boxes = [one.get_window_extent() for one in ax.get_yticklabels()]
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
            legend = ax.get_legend()
            if legend is not None:
                assert not legend.get_window_extent().overlaps(ax.get_window_extent())
                assert not legend.get_window_extent().overlaps(ax.xaxis.get_tightbbox())


def test_names_are_cut_in_the_middle_so_that_their_ends_tell_them_apart():
    long = "department number 07"
    assert fitted(long, 10.0) == long
    short = fitted(long, 1.0)
    assert width_in_inches(short) <= 1.0
    assert short.startswith("depar")
    assert short.endswith("07")
    assert fitted_pair("nats for ", long, "b", 9.0) == f"nats for {long} against b"
    assert width_in_inches(fitted_pair("nats for ", long, long, 3.0)) <= 3.0


def test_the_axes_given_are_drawn_on(made):
    plt.close("all")  # what other tests have left
    for name in NAMES:
        figure, ax = plt.subplots(1, 2 if name in ("density", "evaluation") else 1)
        display = made[name].plot(ax)
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert plt.get_fignums() == [figure.number]
        plt.close(figure)


def test_text_follows_the_style_of_the_page(made):
    with plt.style.context("dark_background"):
        ax = made["rows"].plot().ax_
        assert ax.collections[2].get_edgecolor().tolist()[0][:3] == [1.0, 1.0, 1.0]


def test_classes_differ_in_more_than_colour():
    looks = styles(30)
    assert len({(look.colour, look.marker, look.line, look.hatch) for look in looks}) == 30
    assert len({(look.marker, look.line) for look in looks[:5]}) == 5
    assert len({look.line for look in looks[:5]}) == 5


def test_the_first_three_colours_differ_in_grey():
    grey = sorted(float(rgb(colour) @ [0.299, 0.587, 0.114]) for colour in COLOURS[:3])
    assert min(np.diff(grey)) > 0.05


def test_every_colour_stands_out_on_white_and_on_black():
    for colour in COLOURS:
        share = rgb(colour)
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        luminance = float(linear @ [0.2126, 0.7152, 0.0722])
        assert 1.05 / (luminance + 0.05) > 2.0
        assert (luminance + 0.05) / 0.05 > 3.0


MISSING = """
import sys
sys.modules["matplotlib"] = None
import suffice
from suffice.plots import ConfusionDisplay, LinkDisplay
assert ConfusionDisplay([[1, 0], [0, 1]], ["a", "b"]).to_frame().num_rows == 4
try:
    LinkDisplay.from_links()
except ImportError as error:
    print(error)
"""


def test_without_matplotlib_the_error_says_how_to_get_it():
    done = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip().endswith("pip install suffice[plot]")


def test_displays_are_imported_without_matplotlib():
    code = "import sys, suffice; suffice.plots.PosteriorDisplay; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "False"
