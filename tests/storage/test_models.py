"""A loaded model is the model that was saved: the same predictions to the bit, and it can go on."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier
from suffice.factors import em
from suffice.families import Categorical, Family, Normal, Poisson, Words
from suffice.families.normal import Normal as OriginalNormal

from .conftest import MODELS, loaded, mixed, saved


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


@pytest.mark.parametrize("name", [name for name in MODELS if "regress" not in name and "logit" not in name])
def test_a_loaded_model_learns_merges_and_forgets_like_the_one_saved(name):
    model, X = MODELS[name]()
    if not isinstance(model, BayesClassifier):
        pytest.skip("a regression is fitted at once")
    twin = loaded(saved(model))
    some = X.slice(0, 6) if isinstance(X, pa.Table) else X[:6]
    y = model.predict(some)
    for one in (model, twin):
        one.partial_fit(some, y)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    for one in (model, twin):
        one.forget(some, y)
        one.merge(loaded(saved(one)).statistics_)
    assert twin.statistics_ == model.statistics_


def test_loading_never_runs_em(monkeypatch):
    model, X = MODELS["full covariance with gaps"]()
    packed = saved(model)

    def refuse(*_):
        raise AssertionError("EM ran")

    monkeypatch.setattr(em, "search", refuse)
    twin = loaded(packed)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert twin.log_likelihood_ == model.log_likelihood_


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1], dtype=np.int8),
        np.array([2**63 + 1, 5], dtype=np.uint64),
        np.array([True, False]),
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["x", "Ünïcode"], dtype="<U12"),
        np.array(["x", "y z"], dtype=object),
        np.array([b"x", b"y"]),
        pd.Series(["x", "y"], dtype="category"),
        np.array(["a\x01", "\ud800"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_values_and_dtype(labels):
    model = BayesClassifier().fit([[0.0], [1.0], [5.0], [6.0]], np.repeat(np.asarray(labels), 2))
    twin = loaded(saved(model))
    assert twin.classes_.dtype == model.classes_.dtype
    assert twin.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in twin.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]


FRAME = {
    "number": [1.5, 2.0, 3.0, 9.0],
    "whole": [1, 2, 3, 4],
    "flag": [True, False, True, True],
    "town": list("abca"),
}
CONTAINERS = {
    "list": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]],
    "float32": np.arange(8, dtype=np.float32).reshape(4, 2),
    "integers": np.arange(8, dtype=np.int16).reshape(4, 2),
    "dates": np.arange(8).astype("datetime64[D]").reshape(4, 2),
    "objects": np.array([[1, "a"], [2, "b"], [3, "c"], [4, "a"]], dtype=object),
    "texts": np.array([["x", "a"], ["x", "b"], ["y", "c"], ["y", "a"]]),
    "csr": sparse.csr_array(np.eye(4, 3)),
    "csc matrix": sparse.csc_matrix(np.eye(4, 3)),
    "pandas": pd.DataFrame(FRAME),
    "pandas nullable": pd.DataFrame(FRAME).convert_dtypes(),
    "pandas numbered": pd.DataFrame(np.arange(8.0).reshape(4, 2)),
    "pandas tuples": pd.DataFrame(
        np.arange(8.0).reshape(4, 2), columns=pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)
    ),
    "pandas nested": pd.DataFrame(
        np.arange(8.0).reshape(4, 2), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    ),
    "pandas others": pd.DataFrame(
        {
            "town": pd.Categorical(list("abca"), categories=list("cba"), ordered=True),
            "when": pd.date_range("2024", periods=4, tz="Europe/Berlin"),
            "lasts": pd.to_timedelta([1, 2, 3, 4], unit="h"),
            "arrow": pd.array([1.5, 2.5, 3.5, 4.5], dtype="double[pyarrow]"),
            "period": pd.period_range("2024-01", periods=4, freq="M"),
        }
    ),
    "polars": pl.DataFrame(FRAME),
    "polars others": pl.DataFrame(
        {
            "town": pl.Series(list("abca"), dtype=pl.Enum(["a", "b", "c"])),
            "kind": pl.Series(list("abca"), dtype=pl.Categorical),
            "when": pd.date_range("2024", periods=4, tz="Europe/Berlin").to_list(),
            "lasts": pl.Series(pd.to_timedelta([1, 2, 3, 4], unit="h").to_list()),
        }
    ),
    "pyarrow": pa.table(FRAME),
    "pyarrow others": pa.table(
        {
            "town": pa.array(list("abca")).dictionary_encode(),
            "when": pa.array([1, 2, 3, 4], pa.timestamp("ms", tz="UTC")),
            "day": pa.array([1, 2, 3, 4], pa.date32()),
            "clock": pa.array([1, 2, 3, 4], pa.time64("us")),
        }
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_samples_come_in_the_container_of_the_fit(name):
    model = BayesClassifier().fit(CONTAINERS[name], ["u", "u", "v", "v"])
    twin = loaded(saved(model))
    assert saved(twin) == saved(model)
    mine, _ = model.sample(5, random_state=1)
    theirs, _ = twin.sample(5, random_state=1)
    assert type(theirs) is type(mine)
    if isinstance(mine, pd.DataFrame):
        pd.testing.assert_frame_equal(theirs, mine)
    elif isinstance(mine, pl.DataFrame | pa.Table):
        assert theirs.equals(mine)
        assert theirs.schema == mine.schema
    else:
        assert theirs.dtype == mine.dtype
        dense = [rows.toarray() if sparse.issparse(rows) else rows for rows in (mine, theirs)]
        np.testing.assert_array_equal(*dense)


def test_levels_keep_their_types():
    X = np.array([["1", 1], [True, 2.5], ["Köln", 2**70], ["", -3]], dtype=object)
    model = BayesClassifier(Categorical()).fit(X, [0, 0, 1, 1])
    twin = loaded(saved(model))
    for mine, theirs in zip(
        model.statistics_.totals[0].columns, twin.statistics_.totals[0].columns, strict=True
    ):
        assert theirs.levels == mine.levels
        assert [type(level) for level in theirs.levels] == [type(level) for level in mine.levels]


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


# --- what the caller brings -----------------------------------------------------------------------


class Halves(OriginalNormal):
    """A family of one's own."""


def halves_of(document):
    return [document[: len(document) // 2], document[len(document) // 2 :]]


def test_a_family_of_ones_own_is_passed_to_load():
    packed = saved(BayesClassifier(Halves(alpha=2.0)).fit([[1.0], [2.0], [3.0]], [0, 0, 1]))
    with pytest.raises(suffice.SufficeFileError, match=r"'Halves'.*known=\[Halves\]"):
        loaded(packed)
    assert type(loaded(packed, known=[Halves]).schema_[0].family) is Halves


def test_a_family_that_takes_the_name_of_another_is_not_saved():
    mine = type("Poisson", (Halves,), {})
    model = BayesClassifier(mine()).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="rename it"):
        saved(model)
    with pytest.raises(ValueError, match="rename it"):
        loaded(b"", known=[mine])


def test_a_tokenizer_is_passed_to_load():
    model = TextClassifier(tokenizer=halves_of).fit(["abab", "cdcd"], [0, 1])
    packed = saved(model)
    with pytest.raises(suffice.SufficeFileError, match=r"'halves_of'.*known=\[halves_of\]"):
        loaded(packed)
    twin = loaded(packed, known=[halves_of])
    assert twin.tokenizer is halves_of
    assert twin.predict_proba(["ab", "cd"]).tobytes() == model.predict_proba(["ab", "cd"]).tobytes()


def test_a_tokenizer_without_a_name_is_not_saved():
    model = TextClassifier(tokenizer=lambda text: text.split()).fit(["a b", "c d"], [0, 1])
    with pytest.raises(ValueError, match=r"holds no code.*def, save"):
        saved(model)


def test_what_is_neither_family_nor_function_is_not_known():
    with pytest.raises(TypeError, match="known="):
        loaded(b"", known=["Halves"])


def test_a_class_of_ones_own_is_not_saved():
    mine = type("Mine", (BayesClassifier,), {})
    with pytest.raises(TypeError, match="class of your own"):
        saved(mine().fit([[1.0], [2.0]], [0, 1]))


def test_a_model_that_is_not_fitted_is_not_saved():
    from sklearn.exceptions import NotFittedError

    for model in (BayesClassifier(), GaussianDiscriminant(), suffice.LogisticRegression()):
        with pytest.raises(NotFittedError):
            saved(model)


def test_settings_that_a_file_cannot_hold_are_refused_by_name():
    model = BayesClassifier().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(TypeError, match=r"families.*object"):
        saved(model.set_params(families=object()))
    frame = pd.DataFrame({pd.Timestamp("2024-01-01"): [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"names.*Timestamp"):
        saved(BayesClassifier().fit(frame, [0, 1]))


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


def test_statistics_of_words_need_no_tokenizer_of_the_library():
    X = pd.DataFrame({"note": ["abab", "cdcd"]})
    statistics = suffice.summarize(X, [0, 1], families={"note": Words(tokenizer=halves_of)})
    assert suffice.Statistics.load(io.BytesIO(saved(statistics)), known=[halves_of]) == statistics


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
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no folder" / "m.suffice")


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
