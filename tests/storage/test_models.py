"""A loaded model is the model that was saved: the same predictions to the bit, and it can go on."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

import suffice
from suffice import BayesClassifier
from suffice.factors.gaussian import em
from suffice.families import Family, Normal, Poisson

from .conftest import MODELS, loaded, mixed, saved
from .parts import changed, with_tensor


def test_a_loaded_model_predicts_the_same_bits(fitted):
    model, X = fitted
    twin = loaded(saved(model))
    assert type(twin) is type(model)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert twin.predict(X).tolist() == model.predict(X).tolist()
    assert twin.classes_.dtype == model.classes_.dtype
    assert repr(twin.get_params()) == repr(model.get_params())


def test_saving_a_loaded_model_gives_the_same_bytes(fitted):
    packed = saved(fitted[0])
    assert saved(loaded(packed)) == packed
    assert saved(fitted[0]) == packed


def test_what_was_learnt_is_the_same(fitted):
    model, _ = fitted
    twin = loaded(saved(model))
    for name in ("n_features_in_", "feature_names_in_"):
        assert hasattr(twin, name) == hasattr(model, name)
    if hasattr(model, "n_features_in_"):
        assert twin.n_features_in_ == model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        assert twin.feature_names_in_.tolist() == model.feature_names_in_.tolist()
        assert twin.feature_names_in_.dtype == object
    if isinstance(model, suffice.EvidenceClassifier):
        assert repr(twin.weights_) == repr(model.weights_)
        np.testing.assert_array_equal(twin.bias_, model.bias_)
        assert twin.pieces_.difference(model.pieces_) is None
        assert twin.statistics_ == model.statistics_
        return
    if not isinstance(model, BayesClassifier):
        assert repr(twin.summary()) == repr(model.summary())
        np.testing.assert_array_equal(twin.standard_errors_, model.standard_errors_)
        return
    assert twin.statistics_ == model.statistics_
    assert twin.schema_ == model.schema_
    assert repr(twin.schema_) == repr(model.schema_)
    np.testing.assert_array_equal(twin.priors_, model.priors_)
    assert repr(twin.regularized_) == repr(model.regularized_)
    assert twin.n_parameters_ == model.n_parameters_


REGRESSIONS = {"logistic", "softmax", "probit", "probit against the rest", "drop-in regression"}


@pytest.mark.parametrize("name", [name for name in MODELS if name not in REGRESSIONS])
def test_a_loaded_model_learns_merges_and_forgets_like_the_one_saved(name):
    model, X = MODELS[name]()
    twin = loaded(saved(model))
    some = X.slice(0, 6) if isinstance(X, pa.Table) else X[:6]
    y = model.predict(some)
    for one in (model, twin):
        one.partial_fit(some, y)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    for one in (model, twin):
        one.forget(some, y)
        copied = loaded(saved(one))
        one.merge(copied if isinstance(one, suffice.EvidenceClassifier) else copied.statistics_)
    assert twin.statistics_ == model.statistics_


@pytest.mark.parametrize(
    "name", ["full covariance with gaps", "shared covariance with gaps", "drop-in LDA", "drop-in QDA"]
)
def test_loading_never_runs_em(monkeypatch, name):
    model, X = MODELS[name]()
    packed = saved(model)

    def refuse(*_):
        raise AssertionError("EM ran")

    monkeypatch.setattr(em, "search", refuse)
    twin = loaded(packed)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert twin.log_likelihood_ == model.log_likelihood_


@pytest.mark.parametrize("name", ["full covariance with gaps", "drop-in QDA"])
def test_a_file_that_leaves_out_what_em_found_is_refused(name):
    packed = changed(saved(MODELS[name]()[0]), lambda content: content.update(found=[{}]))
    with pytest.raises(suffice.SufficeFileError, match=r"found\.0\.em is missing"):
        loaded(packed)


def test_a_file_says_how_the_priors_were_adapted():
    model = MODELS["adapted priors, labels that are floats"]()[0]
    mine, theirs = model.prior_shift_, loaded(saved(model)).prior_shift_
    assert repr(theirs) == repr(mine)
    assert theirs.p_value == mine.p_value
    assert theirs.classes.tolist() == model.classes_.tolist()
    assert not hasattr(loaded(saved(model.with_priors("uniform"))), "prior_shift_")


@pytest.mark.parametrize(
    "name, value",
    [("n_rows", -1), ("n_iterations", 1.5), ("statistic", -1.0), ("statistic", {"$float": "nan"})],
)
def test_a_shift_of_priors_that_cannot_be_is_refused(name, value):
    packed = saved(MODELS["adapted priors, labels that are floats"]()[0])
    with pytest.raises(suffice.SufficeFileError, match=f"shift.{name}"):
        loaded(changed(packed, lambda content: content["shift"].update({name: value})))
    with pytest.raises(suffice.SufficeFileError, match=r"shift\.before must be priors"):
        loaded(with_tensor(packed, "shift.before", np.array([0.5, 0.6, -0.1])))


@pytest.mark.parametrize(
    "families",
    [
        "infer",
        "poisson",
        Poisson,
        Poisson(alpha=2),
        {0: "gamma", 1: None},
        {(0, 1): "multivariatenormal"},
        {0: Normal, -1: Poisson()},
    ],
    ids=str,
)
def test_families_are_remembered_as_they_were_given(families):
    model = BayesClassifier(families).fit([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0], [4.0, 4.0]], [0, 0, 1, 1])
    twin = loaded(saved(model))
    assert twin.families == families
    assert clone(twin).families == families


def test_a_schema_given_as_families_is_remembered():
    X, y, families = mixed()
    schema = BayesClassifier(families).fit(X, y).schema_
    twin = loaded(saved(BayesClassifier(schema).fit(X, y)))
    assert twin.families == schema


@pytest.mark.parametrize(
    "priors", [None, "uniform", [0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75])], ids=repr
)
def test_priors_are_remembered_as_they_were_given(priors):
    model = BayesClassifier(priors=priors).fit([[1.0], [2.0]], ["a", "b"])
    twin = loaded(saved(model))
    assert type(twin.priors) is type(priors)
    np.testing.assert_array_equal(twin.priors, priors)


def test_copies_and_clones_of_a_loaded_model_are_on_their_own():
    model, X = MODELS["inferred"]()
    twin = loaded(saved(model))
    more = twin + twin
    assert more.statistics_.n_rows == 2 * twin.statistics_.n_rows
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert not hasattr(clone(twin), "_learnt")


# --- statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda s: s, lambda s: -s, lambda s: s * 0.3, lambda s: s - s, lambda s: s.zero()]
)
def test_statistics_are_the_same_after_loading_signed_ones_too(make):
    X, y, families = mixed()
    statistics = make(
        suffice.summarize(X, y, families=families) - suffice.summarize(X[:9], y[:9], families=families)
    )
    packed = saved(statistics)
    for twin in (loaded(packed), suffice.Statistics.load(io.BytesIO(packed))):
        assert twin == statistics
        assert saved(twin) == packed
        assert twin + statistics == statistics + statistics


def test_statistics_load_refuses_a_model():
    with pytest.raises(suffice.SufficeFileError, match="BayesClassifier"):
        suffice.Statistics.load(io.BytesIO(saved(MODELS["inferred"]()[0])))


def test_a_path_may_be_text_a_path_or_a_file(tmp_path: Path):
    model, X = MODELS["inferred"]()
    model.save(tmp_path / "one.suffice")
    model.save(str(tmp_path / "two.suffice"))
    with (tmp_path / "three.suffice").open("wb") as file:
        model.save(file)
    contents = {path.read_bytes() for path in tmp_path.iterdir()}
    assert contents == {saved(model)}
    for path in (tmp_path / "one.suffice", str(tmp_path / "one.suffice")):
        assert suffice.load(path).predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(TypeError, match="path or a binary file"):
        model.save(3)
    with pytest.raises(FileNotFoundError):
        suffice.load(tmp_path / "none.suffice")
    nowhere = str(tmp_path / "no folder" / "m.suffice")
    with pytest.raises(FileNotFoundError) as refused:
        model.save(nowhere)
    assert refused.value.filename == nowhere


def test_families_have_names_that_files_may_use():
    assert all(
        name == family.__name__ and issubclass(family, Family)
        for name, family in suffice.families.FAMILIES.items()
    )


def test_the_public_reader_of_safetensors_reads_our_files():
    safetensors = pytest.importorskip("safetensors.numpy")
    statistics = MODELS["mixed table"]()[0].statistics_
    tensors = safetensors.load(saved(statistics))
    np.testing.assert_array_equal(tensors["weight"], statistics.weight)
    np.testing.assert_array_equal(tensors["support"], statistics.support)
