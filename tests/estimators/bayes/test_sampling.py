import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier
from suffice.families import Gamma, InverseGaussian, LogNormal, Multinomial


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 2000
    y = rng.choice(["a", "b"], n)
    X = pd.DataFrame(
        {
            "size": rng.normal((y == "a") * 4.0).astype("float32"),
            "count": pd.array(rng.poisson(3.0, n), dtype="Int32"),
            "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], n), categories=["Ulm", "Bonn", "Köln"]),
            "flag": pd.array(rng.random(n) < 0.3, dtype="boolean"),
        }
    )
    X.loc[(rng.random(n) < 0.6) & (y == "b"), "size"] = np.nan
    X.loc[rng.random(n) < 0.2, "town"] = None
    return X, y


def test_rows_come_in_the_container_with_its_dtypes_and_categories(frame):
    X, y = frame
    drawn, labels = BayesClassifier().fit(X, y).sample(50, random_state=0)
    assert drawn.dtypes.equals(X.dtypes)
    assert list(drawn["town"].cat.categories) == ["Ulm", "Bonn", "Köln"]
    assert drawn.notna().all(axis=None)
    assert labels.shape == (50,)


def test_one_label_is_for_all_rows_and_a_list_for_each(frame):
    model = BayesClassifier().fit(*frame)
    drawn, labels = model.sample(400, random_state=0, labels="a")
    assert labels.tolist() == ["a"] * 400
    assert drawn["size"].mean() == pytest.approx(4.0, abs=0.3)
    drawn, labels = model.sample(random_state=0, labels=["b", "a", "b"])
    assert labels.tolist() == ["b", "a", "b"]
    assert len(drawn) == 3
    assert len(model.sample(labels="b")[0]) == 1
    assert len(model.sample(3, labels=pl.Series(["b", "a", "b"]))[0]) == 3


def test_cells_are_missing_as_often_as_in_training_class_by_class(frame):
    X, y = frame
    model = BayesClassifier().fit(X, y)
    drawn, labels = model.sample(4000, random_state=0, missing=True)
    assert drawn.dtypes.equals(X.dtypes)
    for label in "ab":
        expected = X[y == label].isna().mean()
        np.testing.assert_allclose(drawn[labels == label].isna().mean(), expected, atol=0.03)


def test_gaps_of_joint_blocks_and_weights_count(frame):
    X, y = frame
    numbers = X[["size", "count"]].to_numpy(dtype=float, na_value=np.nan)
    weights = np.where(np.isnan(numbers[:, 0]), 3.0, 1.0)
    model = GaussianDiscriminant("full").fit(numbers, y, weights)
    drawn, labels = model.sample(4000, random_state=0, missing=True)
    here = y == "b"
    share = np.average(np.isnan(numbers[here, 0]), weights=weights[here])
    assert np.isnan(drawn[labels == "b", 0]).mean() == pytest.approx(share, abs=0.03)
    assert not np.isnan(drawn[:, 1]).any()


def test_a_block_of_counts_is_missing_as_a_whole():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0, (200, 3)).astype(float)
    counts[:100, 1] = np.nan
    model = BayesClassifier(Multinomial()).fit(counts, [0, 1] * 100)
    gone = np.isnan(model.sample(300, random_state=0, missing=True)[0])
    assert 0.4 < gone[:, 0].mean() < 0.6
    assert (gone == gone[:, :1]).all()


def test_documents_are_drawn_by_label_too():
    model = TextClassifier().fit(["good good film", "bad bad film", None], ["+", "-", "-"])
    documents, labels = model.sample(200, random_state=0, labels="+")
    assert labels.tolist() == ["+"] * 200
    words = " ".join(documents).split()
    assert words.count("good") / words.count("bad") == pytest.approx(3.0, rel=0.3)  # (2 + α) to (0 + α)
    documents, labels = model.sample(200, random_state=0, missing=True)
    gone = [document is None for document in documents]
    assert np.mean(np.array(gone)[labels == "-"]) == pytest.approx(0.5, abs=0.12)
    assert not np.array(gone)[labels == "+"].any()


def test_what_cannot_be_drawn_is_refused(frame):
    model = BayesClassifier().fit(*frame)
    with pytest.raises(ValueError, match="no class 'z'"):
        model.sample(labels="z")
    with pytest.raises(ValueError, match="2 labels; pass only labels"):
        model.sample(3, labels=["a", "b"])
    with pytest.raises(ValueError, match="whole number"):
        model.sample(-1)


def test_no_rows_are_an_empty_table(frame):
    X, y = frame
    drawn, labels = BayesClassifier().fit(X, y).sample(0, missing=True)
    assert drawn.shape == (0, 4)
    assert len(labels) == 0


@pytest.mark.parametrize("number", ["ten", -1, 1.5, float("nan"), [2]])
def test_what_is_no_number_of_rows_is_refused(number):
    model = BayesClassifier().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="n_samples must be a whole number"):
        model.sample(number)


CONTAINERS = {
    "numpy": lambda x: x[:, np.newaxis],
    "objects": lambda x: x[:, np.newaxis].astype(object),
    "pandas": lambda x: pd.DataFrame({"days": pd.array(x, dtype="Int16")}),
    "polars": lambda x: pl.DataFrame({"days": x}),
    "pyarrow": lambda x: pa.table({"days": x}),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("family", [Gamma(), LogNormal(), InverseGaussian()], ids=str)
def test_whole_numbers_stay_where_the_density_is(family, container):
    rng = np.random.default_rng(0)
    days = np.ceil(rng.gamma(0.7, 5.0, 500)).astype(np.int64)
    model = BayesClassifier(family).fit(CONTAINERS[container](days), rng.choice(["a", "b"], 500))
    drawn = model.sample(2000, random_state=0)[0]
    values = np.asarray(drawn).astype(float)
    assert values.min() == 1.0
    assert (values == np.rint(values)).all()
    assert model.novelty(drawn).min() > 0.0
