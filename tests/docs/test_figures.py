import importlib
import json
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import make_blobs

mpl.use("Agg")
FOLDER = Path(__file__).parents[2] / "docs" / "figures"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "panels")


@pytest.fixture
def script(monkeypatch):
    """A script by its name, found as it is when it is run by itself."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.mark.parametrize("style", ["default", pytest.param("dark_background", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "learning_curves"])
def test_every_script_draws_its_data_and_nothing_is_cut_or_covered(script, name, style):
    with plt.style.context(style):
        figure = script(name).draw()
        figure.draw_without_rendering()
    assert_same_data(script("panels").data_of(figure), FOLDER / f"{name}.png")
    page = figure.bbox.padded(1.0)
    for ax in figure.axes:
        assert ax.has_data() or ax.texts
        box = ax.get_tightbbox()
        assert page.contains(*box.min)
        assert page.contains(*box.max)
        if ax.get_legend():
            assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def assert_same_data(drawn, file):
    """A picture shows what its script draws: each line, surface and cloud has the same mean and spread."""
    with Image.open(file) as picture:
        shown = np.reshape(json.loads(picture.text["Data"]), (-1, 2))
    assert len(shown) == len(drawn)
    drawn = np.reshape(drawn, (-1, 2))
    assert (np.abs(drawn - shown) <= 1e-3 * np.abs(shown).sum(axis=1, keepdims=True)).all()


def test_the_learning_curves_are_drawn_from_any_tables(script):
    module = script("learning_curves")
    figure = module.draw(lambda _: make_blobs(90, centers=3, cluster_std=4.0, random_state=0), repeats=2)
    assert [ax.get_title().split(":")[0] for ax in figure.axes[::2]] == list(module.TABLES)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not any(legend.get_window_extent().overlaps(ax.get_tightbbox()) for ax in figure.axes)


def test_the_family_tree_counts_as_the_notes_do(script):
    tree = script("family_tree")
    K, M = tree.K, tree.M
    for covariance, _, formula, _ in tree.BOXES.values():
        written = formula.replace("−", "-").replace("·", "*")
        written = re.sub(r"([\dKM])(?=[KM(])", r"\1*", written)
        assert tree.counted(covariance) == eval(written, {"K": K, "M": M})  # noqa: S307  the script is ours


def test_the_boundary_of_two_classes_that_share_is_straight_and_the_others_are_not(script):
    from suffice import GaussianDiscriminant

    parts = script("three_classes")
    X, y = script("panels").gaussians(parts.MEANS, parts.COVARIANCES)
    model = GaussianDiscriminant([["C₁", "C₂"], ["C₃"]]).fit(X, y)
    assert model.boundary("C₁", "C₂").kind == "linear"
    assert model.boundary("C₁", "C₃").kind == model.boundary("C₂", "C₃").kind == "quadratic"


def test_every_figure_is_drawn_shown_and_captioned():
    shown = []
    for page in [FOLDER.parent / "figures.md", *sorted((FOLDER.parent / "course").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        pictures = re.findall(r"!\[[^\]]{20,}\]\((?:\.\./)?figures/(\w+)\.png\)", text)
        assert len(pictures) == text.count("!["), page.name
        assert pictures == re.findall(r"\]\((?:\.\./)?figures/(\w+)\.py\)", text), page.name
        shown += pictures
    assert set(shown) == set(SCRIPTS)
    for name in SCRIPTS:
        assert 10_000 < (FOLDER / f"{name}.png").stat().st_size < 400_000
    for section in (FOLDER.parent / "figures.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        assert "See" in section, section.splitlines()[0]


def test_samples_of_the_figures_are_the_same_each_time(script):
    panels = script("panels")
    means = {"a": (0, 0), "b": (1, 1)}
    covariances = {"a": np.eye(2), "b": np.eye(2)}
    assert np.array_equal(panels.gaussians(means, covariances)[0], panels.gaussians(means, covariances)[0])
