"""Files of weighed evidence whose derived columns, sums or weights do not fit together are refused."""

import numpy as np
import pytest

import suffice
from suffice import EvidenceClassifier

from .conftest import MODELS, loaded, saved
from .parts import changed, taken_apart, with_tensor
from .test_fuzz import FEW, fuzz


@pytest.fixture(scope="module")
def packed():
    return saved(MODELS["weighed evidence of given pieces"]()[0])


def refused(damaged, match=None):
    with pytest.raises(suffice.SufficeFileError, match=match):
        loaded(damaged)


def set_in(*path, value):
    def change(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


@pytest.mark.parametrize("kind", ["steps", "presence", "joint", "cells", "coarse"])
@pytest.mark.parametrize("value", [-1, 99, 1.5, None])
def test_a_column_that_does_not_exist_is_refused(packed, kind, value):
    refused(changed(packed, set_in("pieces", kind, 0, "column", value=value)))


@pytest.mark.parametrize("kind", ["steps", "presence", "joint"])
def test_sums_of_other_pieces_are_refused(packed, kind):
    refused(changed(packed, lambda content: content["pieces"][kind].pop()))
    refused(changed(packed, lambda content: content["pieces"][kind].append(content["pieces"][kind][0])))


@pytest.mark.parametrize("kind", ["steps", "presence", "cells"])
def test_a_derived_column_of_another_kind_is_refused(packed, kind):
    refused(changed(packed, set_in("pieces", kind, 0, "kind", value="holds")), "kind")
    refused(changed(packed, set_in("pieces", kind, 0, "kind", value=7)))


def test_a_document_that_is_not_text_is_refused(packed):
    refused(changed(packed, set_in("pieces", "presence", 0, "kind", value="document")), "column of text")


def test_levels_that_do_not_exist_are_refused(packed):
    content = taken_apart(packed)[0]["__metadata__"]["content"]
    places = [i for i, one in enumerate(content["pieces"]["joint"]) if one["kind"] == "holds"]
    assert places
    for value in (-1, 99):
        refused(changed(packed, set_in("pieces", "joint", places[0], "levels", value=value)), "levels")
        refused(changed(packed, set_in("pieces", "joint", places[0], "place", value=value)), "place")


@pytest.mark.parametrize(
    "name, shape",
    [("weights.pieces", (1,)), ("weights.bias", (9,)), ("weights.corrections", (2, 3)), ("nats", (2,))],
)
def test_weights_of_another_size_are_refused(packed, name, shape):
    refused(with_tensor(packed, name, np.zeros(shape)))


@pytest.mark.parametrize("name", ["weights.pieces", "weights.bias", "weights.corrections"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e305])
def test_weights_that_leave_no_finite_scores_are_refused(packed, name, value):
    header, body = taken_apart(packed)
    start, stop = header[name]["data_offsets"]
    numbers = np.frombuffer(body[start:stop]).copy().reshape(header[name]["shape"])
    numbers.flat[0] = value
    refused(with_tensor(packed, name, numbers))


@pytest.mark.parametrize("edges", [[1.0, 1.0], [2.0, 1.0], [], [np.nan], [[1.0]]])
def test_edges_that_do_not_rise_are_refused(packed, edges):
    content = taken_apart(packed)[0]["__metadata__"]["content"]
    place = next(i for i, one in enumerate(content["pieces"]["coarse"]) if one["levels"] < 0)
    refused(with_tensor(packed, f"pieces.coarse.{place}.edges", np.array(edges)))


@pytest.mark.parametrize("settings", [{"cv": 1}, {"pairs": -1}, {"penalty": -1.0}, {"pieces": "step"}])
def test_settings_that_could_not_be_are_refused(packed, settings):
    refused(changed(packed, lambda content: content["settings"].update(settings)))


@pytest.fixture(scope="module")
def of_few_values():
    """A file with joint Gaussians with and without the levels of a number."""
    X = {"steps": np.arange(60) % 5, "size": np.arange(60.0) ** 1.5}
    model = EvidenceClassifier().fit(X, np.arange(60) % 2)
    assert model.pieces_.n_plain == 2
    return saved(model), X


def test_files_from_before_plain_numbers_had_gaussians_load(of_few_values):
    packed, X = of_few_values
    n_pieces = len(loaded(packed).pieces_.listed) - 2
    older = changed(packed, lambda content: content["pieces"].pop("n_plain"))
    for name in ("weights.pieces", "nats"):
        header, body = taken_apart(packed)
        start, stop = header[name]["data_offsets"]
        older = with_tensor(older, name, np.delete(np.frombuffer(body[start:stop]), [n_pieces, n_pieces + 1]))
    model = loaded(older)
    assert model.pieces_.n_plain == 0
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("n_plain", [-1, 99, 1.5, None])
def test_plain_numbers_that_do_not_exist_are_refused(of_few_values, n_plain):
    refused(changed(of_few_values[0], set_in("pieces", "n_plain", value=n_plain)), "n_plain")


@pytest.fixture(scope="module")
def of_words():
    """A file with corrections of words, and a power of the length."""
    model = EvidenceClassifier().fit(
        ["good film", "bad film film", "good fun", "bad bad luck"] * 15, [1, 0] * 30
    )
    content = taken_apart(packed := saved(model))[0]["__metadata__"]["content"]
    assert content["weights"]["words"]
    return packed


def test_files_from_before_words_had_corrections_load(of_words):
    def older(content):
        for name in ("power", "words"):
            del content["weights"][name]
        del content["pieces"]["words"]
        content["levels"] = content["levels"][:2]

    n_pieces = 3
    packed = with_tensor(changed(of_words, older), "nats", np.zeros(n_pieces))
    model = loaded(packed)
    assert model.predict(["good", "bad"]).tolist() == [1, 0]
    assert model._learnt.learnt.weights.power == 0.0
    assert not model.pieces_.words


@pytest.mark.parametrize("power", [-0.5, 1.5, 1, None])
def test_a_power_of_the_length_that_could_not_be_is_refused(of_words, power):
    refused(changed(of_words, set_in("weights", "power", value=power)), "power")


def test_corrections_of_other_words_are_refused(of_words):
    for column in (-1, 1, 2, 99):
        refused(changed(of_words, set_in("weights", "words", 0, "column", value=column)), "column")
        refused(changed(of_words, set_in("pieces", "words", 0, "column", value=column)), "column")
    refused(with_tensor(of_words, "weights.words.0.table", np.zeros((1, 2))))
    refused(with_tensor(of_words, "weights.words.0.vocabulary.text", np.zeros(3, dtype=np.uint8)))


def test_damaged_files_of_weighed_evidence_load_or_are_refused(packed):
    X, y = suffice.load_penguins()
    some = X.select(["bill_length_mm", "island", "sex"])
    small = saved(EvidenceClassifier().fit(some, y))
    assert 0 < fuzz([(packed, X), (small, some)], 11, FEW // 2) < FEW // 2
