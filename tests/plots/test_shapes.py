import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.patches import StepPatch

import suffice
from suffice.families import Multinomial, MultivariateNormal, Words
from suffice.plots import DensityDisplay, PosteriorDisplay, ShapeDisplay

SINGLE = ["columns", "steps", "presence", "cells"]
"""The kinds of evidence that read one column."""


@pytest.fixture(scope="module")
def birds():
    X, species = suffice.load_penguins()
    return suffice.EvidenceClassifier().fit(X, species), X, species


@pytest.fixture(scope="module")
def visitors():
    """Two classes, with gaps that tell, a value that repeats, counts, flags and levels."""
    rng = np.random.default_rng(0)
    n = 400
    y = np.where(rng.random(n) < 0.4, "stays", "leaves")
    stays = y == "stays"
    X = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "age": np.where(rng.random(n) < 0.1 + 0.3 * stays, np.nan, rng.normal(40 + 15 * stays, 10)),
            "spent": np.where(rng.random(n) < 0.5 - 0.3 * stays, 0.0, rng.gamma(2.0, 300.0 + 500.0 * stays)),
            "visits": rng.poisson(2 + 3 * stays),
            "job": rng.choice(["builder", "clerk", "student"], n),
        }
    )
    X.loc[rng.random(n) < 0.05 + 0.3 * stays, "job"] = None
    return suffice.EvidenceClassifier(pieces=SINGLE).fit(X, y), X, y


def drawn_columns(display):
    return [shape.grid.name for shape in display.shapes]


def test_a_shape_is_what_explain_says_of_the_same_values(visitors):
    model, X, y = visitors
    display = ShapeDisplay.from_estimator(model, X, y)
    assert display.lines == ["stays against leaves"]
    for shape in display.shapes:
        values = list(shape.grid.values) + list(shape.repeated) + [None]
        rows = X.iloc[np.arange(len(values)) % len(X)].copy()
        rows[shape.grid.name] = pd.array(values, dtype=None if shape.grid.kind == "levels" else "Float64")
        said = model.explain(rows).evidence("stays", "leaves")[:, list(X).index(shape.grid.name)]
        gone = [0.0] if shape.missing is None else shape.missing
        drawn = np.concatenate([shape.nats[:, 0], shape.at_repeated[:, 0], gone])
        np.testing.assert_allclose(drawn, said, atol=1e-9)


def test_joint_densities_and_pairs_are_left_out(birds):
    model, X, _ = birds
    shapes = model._shapes(X)
    assert not np.allclose(shapes, model.explain(X).contributions)
    row = X.slice(0, 1).to_pylist()[0]
    other = [row | {"bill_length_mm": 55.0, "island": None}]
    at = model.schema_.names.index("sex")
    np.testing.assert_allclose(model._shapes(other)[0, at], shapes[0, at])
    assert not np.allclose(
        model.explain(other).contributions[0, at], model.explain([row]).contributions[0, at]
    )


def test_a_column_of_a_joint_family_keeps_what_it_says_by_itself():
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + y[:, np.newaxis]
    families = {(0, 1): MultivariateNormal(), 2: "normal"}
    model = suffice.EvidenceClassifier(families, pieces=["columns"], pairs=0).fit(X, y)
    shapes = model._shapes(X)
    assert not shapes[:, :2].any()
    np.testing.assert_allclose(shapes[:, 2], model.explain(X).contributions[:, 2])


def test_lines_of_several_classes_are_centred(birds):
    model, X, species = birds
    display = ShapeDisplay.from_estimator(model, X, species)
    assert display.lines == ["Adelie", "Chinstrap", "Gentoo"]
    for shape in display.shapes:
        np.testing.assert_allclose(shape.nats.sum(axis=1), 0.0, atol=1e-9)


def test_a_label_is_drawn_against_another_or_against_the_mean(birds):
    model, X, _ = birds
    columns = ["body_mass_g"]
    every = ShapeDisplay.from_estimator(model, X, columns=columns).shapes[0].nats
    one = ShapeDisplay.from_estimator(model, X, columns=columns, label="Gentoo")
    np.testing.assert_allclose(one.shapes[0].nats, every[:, [2]])
    two = ShapeDisplay.from_estimator(model, X, columns=columns, label="Gentoo", against="Adelie")
    np.testing.assert_allclose(two.shapes[0].nats[:, 0], every[:, 2] - every[:, 0])
    names = [text.get_text() for text in two.figure_.legends[0].get_texts()]
    assert names[0] == "nats for Gentoo against Adelie"


def test_of_two_classes_either_may_be_asked_for(visitors):
    model, X, _ = visitors
    second = ShapeDisplay.from_estimator(model, X, columns=["age"])
    for asked in ({"label": "leaves"}, {"against": "stays"}):
        first = ShapeDisplay.from_estimator(model, X, columns=["age"], **asked)
        assert first.lines == ["leaves against stays"]
        np.testing.assert_allclose(first.shapes[0].nats, -second.shapes[0].nats)


def test_the_title_says_what_columns_say_together(birds, visitors):
    model, X, species = birds
    weighed = model.weights_
    nats = sum(n for piece, n in zip(weighed.pieces, weighed.nats, strict=True) if piece.group == "joint")
    said = f"not drawn: joint densities, {nats:+.3f} nats"
    assert ShapeDisplay.from_estimator(model, X, columns=["island"]).figure_.get_suptitle() == said
    few = ShapeDisplay.from_estimator(model, X, species, most=2)
    assert few.figure_.get_suptitle() == f"2 of 7 columns: those that say most\n{said}"
    figure, ax = plt.subplots()
    ShapeDisplay.from_estimator(model, X, columns=["island"], ax=ax)
    assert not figure.get_suptitle()
    signs = np.random.default_rng(0).normal(size=(400, 2))
    pair = suffice.EvidenceClassifier(pieces=["pairs"]).fit(signs, signs[:, 0] * signs[:, 1] > 0)
    assert ShapeDisplay.from_estimator(pair, signs).without_shape[0].startswith("1 pair of columns, +0.")
    model, X, y = visitors
    block = suffice.EvidenceClassifier({("age", "visits"): MultivariateNormal()}, pieces=SINGLE).fit(X, y)
    assert ShapeDisplay.from_estimator(block, X).without_shape[0].startswith("joint densities, +")


def test_the_title_says_what_columns_without_an_axis_say():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    often = np.where(rng.random(300) < 0.2 + 0.6 * y, "good", "bad")
    X = {
        "cost in $": [f"{word} film, $ {i}" for i, word in enumerate(often)],
        "age": rng.normal(y),
        "a": rng.poisson(1 + y),
    }
    X["b"] = rng.poisson(3, 300)
    families = {"cost in $": Words(), ("a", "b"): Multinomial()}
    model = suffice.EvidenceClassifier(families, pieces=SINGLE).fit(X, y)
    weighed = model.weights_
    of = {name: [name in piece.name.split(" + ") for piece in weighed.pieces] for name in X}
    text, counts = (
        weighed.nats[np.any([of[name] for name in names], axis=0)].sum() for names in (["cost in $"], "ab")
    )
    display = ShapeDisplay.from_estimator(model, X)
    assert drawn_columns(display) == ["age"]
    assert text > 0.1
    assert display.figure_.get_suptitle() == (
        f"not drawn: joint densities, {counts:+.3f} nats\n"
        f"not drawn: 1 column of text ('cost in \\$'), {text:+.3f} nats"
    )


def test_columns_come_in_the_order_of_their_nats(visitors):
    model, X, _ = visitors
    weighed, nats = model.weights_, dict.fromkeys(X, 0.0)
    for piece, own in zip(weighed.pieces, weighed.nats, strict=True):
        nats[piece.name] += own
    ordered = sorted(X, key=lambda name: -abs(nats[name]))
    display = ShapeDisplay.from_estimator(model, X)
    assert drawn_columns(display) == ordered
    assert not display.figure_.get_suptitle()
    few = ShapeDisplay.from_estimator(model, X, most=2)
    assert drawn_columns(few) == ordered[:2]
    assert few.figure_.get_suptitle() == "2 of 5 columns: those that say most"
    named = ShapeDisplay.from_estimator(model, X, columns=["noise", 3])
    assert drawn_columns(named) == ["noise", "visits"]


def test_curves_bars_and_markers_are_the_data(visitors):
    model, X, y = visitors
    display = ShapeDisplay.from_estimator(model, X, y, columns=["age", "job", "spent"])
    age, job, spent = display.shapes
    curve, gone, *_ = display.ax_[0].get_lines()
    np.testing.assert_array_equal(curve.get_ydata(), age.nats[:, 0])
    assert gone.get_ydata() == age.missing
    assert gone.get_xdata() > age.grid.values.max()
    heights = [bar.get_height() for bar in display.ax_[1].containers[0]]
    np.testing.assert_array_equal(heights, [*job.nats[:, 0], *job.missing])
    assert [tick.get_text() for tick in display.ax_[1].get_xticklabels()][-1] == "(missing)"
    zero = display.ax_[2].get_lines()[1]
    assert spent.repeated == (0.0,)
    assert (zero.get_xdata(), zero.get_ydata()) == (0.0, spent.at_repeated[:, 0])
    assert spent.missing is None


def test_the_missing_bar_of_counts_has_a_name():
    rng = np.random.default_rng(2)
    y = np.arange(300) % 2
    visits = np.where(rng.random(300) < 0.1 + 0.4 * y, np.nan, rng.poisson(1.0 + y))
    model = suffice.EvidenceClassifier({"visits": "poisson"}).fit({"visits": visits}, y)
    display = ShapeDisplay.from_estimator(model, {"visits": visits}, y)
    names = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert names[-1] == "(missing)"
    assert names[:2] == ["0", "1"]
    assert display.ax_.get_xticks()[-1] == display.shapes[0].grid.values.max() + 1.0


def test_rows_lie_beneath_the_curves_by_class_or_together(visitors):
    model, X, y = visitors
    for labels, n in ((y, 2), (None, 1)):
        display = ShapeDisplay.from_estimator(model, X, labels, columns=["age"])
        observed = display.shapes[0].observed
        np.testing.assert_allclose(np.diff(observed.edges) @ observed.density, np.ones(n))
        rows = [patch for patch in display.ax_.patches if isinstance(patch, StepPatch)]
        assert len(rows) == n
        lowest = (display.shapes[0].nats.min() - display.ax_.get_ylim()[0]) / np.ptp(display.ax_.get_ylim())
        assert max(patch.get_data().values.max() for patch in rows) < lowest
        assert min(display.ax_.get_yticks()) >= display.ax_.get_ylim()[0]


def test_a_frame_has_a_line_for_each_value_and_for_a_missing_cell(visitors):
    model, X, _ = visitors
    display = ShapeDisplay.from_estimator(model, X, columns=["job"])
    frame = display.to_frame()
    assert list(frame) == ["column", "value", "nats for stays against leaves"]
    assert frame["value"].tolist() == ["builder", "clerk", "student", "(missing)"]
    assert frame.iloc[-1, 2] == display.shapes[0].missing[0]


def as_records(cells):
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, dict, as_records])
def test_whole_numbers_in_any_container_have_the_same_shapes(convert):
    rng = np.random.default_rng(3)
    y = np.arange(120) % 2
    cells = {"whole": rng.integers(0, 90, 120) + 20 * y, "other": rng.integers(0, 50, 120) - 9 * y}
    X, array = convert(cells), np.column_stack(list(cells.values()))
    model = suffice.EvidenceClassifier("normal").fit(X, y)
    plain = suffice.EvidenceClassifier("normal").fit(array, y)
    expected = ShapeDisplay.from_estimator(plain, array).shapes
    for shape, other in zip(ShapeDisplay.from_estimator(model, X).shapes, expected, strict=True):
        np.testing.assert_array_equal(shape.grid.values, other.grid.values)
        np.testing.assert_allclose(shape.nats, other.nats)
    (panel, _) = DensityDisplay.from_estimator(model, X).panels
    np.testing.assert_allclose(panel.grid.widths @ panel.density, 1.0, atol=0.1)


def test_what_cannot_be_drawn_is_refused_with_a_reason(birds, penguins):
    model, X, _ = birds
    with pytest.raises(TypeError, match="BayesClassifier has no weighed evidence"):
        ShapeDisplay.from_estimator(penguins[0], X)
    with pytest.raises(ValueError, match="different classes"):
        ShapeDisplay.from_estimator(model, X, label="Adelie", against="Adelie")
    with pytest.raises(ValueError, match="against= needs a label"):
        ShapeDisplay.from_estimator(model, X, against="Adelie")
    with pytest.raises(ValueError, match="there is no class"):
        ShapeDisplay.from_estimator(model, X, label="Emperor")
    with pytest.raises(ValueError, match="7 columns to draw but 1 axes"):
        ShapeDisplay.from_estimator(model, X, ax=plt.subplots()[1])
    notes = {"note": ["good film", "bad film"] * 20}
    text = suffice.EvidenceClassifier({"note": Words()}).fit(notes, [1, 0] * 20)
    with pytest.raises(ValueError, match="words have no shape to draw"):
        ShapeDisplay.from_estimator(text, notes)


@pytest.mark.parametrize("kind", [ShapeDisplay, DensityDisplay])
def test_one_column_may_be_named_by_itself(birds, kind):
    model, X, _ = birds
    model = model if kind is ShapeDisplay else model.generative_
    for one in ("island", X.column_names.index("island")):
        display, listed = (kind.from_estimator(model, X, columns=columns) for columns in (one, ["island"]))
        assert display.to_frame().equals(listed.to_frame())
    with pytest.raises(
        ValueError, match=r"there is no column 'Iland'; did you mean 'island'\? The columns are"
    ):
        kind.from_estimator(model, X, columns="Iland")
    with pytest.raises(ValueError, match=r"there is no column 'zzz'; the columns are"):
        kind.from_estimator(model, X, columns="zzz")


def test_the_weights_draw_the_nats_of_their_pieces(birds):
    model, _, _ = birds
    weighed = model.weights_
    display = weighed.plot(most=4)
    order = np.argsort(-np.abs(weighed.nats))[:4]
    widths = [bar.get_width() for bar in display.ax_.containers[0]]
    np.testing.assert_allclose(widths, weighed.nats[order])
    assert display.ax_.get_xlabel() == "added to held-out rows (nats per row)"
    assert (
        display.bars("nats", 4)[0][0] == f"{weighed.pieces[order[0]].group}: {weighed.pieces[order[0]].name}"
    )


def test_the_densities_of_weighed_evidence_are_those_of_its_generative_part(birds):
    model, X, _ = birds
    one, other = (DensityDisplay.from_estimator(m, X, columns=["island"]) for m in (model, model.generative_))
    np.testing.assert_array_equal(one.panels[0].density, other.panels[0].density)


def test_a_posterior_of_weighed_evidence_holds_the_other_columns_at_the_middle(birds):
    model, X, _ = birds
    display = PosteriorDisplay.from_estimator(
        model, X, columns=("bill_length_mm", "bill_depth_mm"), resolution=5
    )
    assert display.held["island"] == "Biscoe"
    row = display.held | {"bill_length_mm": display.x.values[2], "bill_depth_mm": display.y.values[1]}
    np.testing.assert_allclose(display.posterior[1, 2], model.predict_proba([row])[0], atol=1e-9)
