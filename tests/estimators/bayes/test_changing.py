"""Rows and models are added, merged and taken away again."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier, summarize
from suffice.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    Multinomial,
    Normal,
    Poisson,
)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    shift = np.array([{"a": 0, "b": 2, "c": 4}[label] for label in y])
    return pd.DataFrame(
        {"x": rng.normal(shift), "n": rng.poisson(1 + shift), "t": rng.choice(["u", "v"], n)}
    ), y


FAMILIES = {"x": Normal(), "n": Poisson(), "t": Categorical()}


def fit(X, y, **settings):
    return BayesClassifier(families=FAMILIES, **settings).fit(X, y)


def test_merge_and_plus_equal_one_fit():
    X, y = rows(60)
    whole, first, second = fit(X, y), fit(X[:25], y[:25]), fit(X[25:], y[25:])
    before = first.statistics_
    added = first + second
    assert first.statistics_ == before
    assert added is not first
    merged = first.merge(second)
    assert merged is first
    for model in (added, merged, fit(X[:25], y[:25]).merge(second.statistics_)):
        assert model.statistics_.isclose(whole.statistics_)
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_a_sum_of_models_keeps_the_settings_and_the_container():
    X, y = rows(60)
    added = fit(X, y, priors="uniform") + fit(X, y)
    assert added.priors == "uniform"
    assert isinstance(added.sample(3, random_state=0)[0], pd.DataFrame)


def test_learning_after_an_addition_leaves_the_parts_alone():
    X, y = rows(60)
    first, second = fit(X[:25], y[:25]), fit(X[25:], y[25:])
    before = first.statistics_, second.statistics_
    (first + second).partial_fit(X, y).forget(X[:3], y[:3])
    assert (first.statistics_, second.statistics_) == before


def test_statistics_are_a_copy():
    X, y = rows(60)
    model = fit(X[:30], y[:30])
    taken = model.statistics_
    n_rows = taken.n_rows
    model.partial_fit(X[30:], y[30:])
    assert taken.n_rows == n_rows
    assert taken == fit(X[:30], y[:30]).statistics_


def test_fitting_from_statistics_equals_fitting_rows():
    X, y = rows(60)
    whole = fit(X, y)
    total = summarize(X[:20], y[:20], families=FAMILIES) + summarize(X[20:], y[20:], families=FAMILIES)
    model = BayesClassifier().fit_statistics(total)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    assert model.feature_names_in_.tolist() == ["x", "n", "t"]
    sampled, labels = model.sample(5, random_state=0)
    assert sampled.shape == (5, 3)
    assert len(labels) == 5


def test_a_target_column_is_the_same_as_y():
    X, y = rows(60)
    assert summarize(X.assign(kind=y), target="kind", families=FAMILIES) == summarize(X, y, families=FAMILIES)


def test_forgetting_a_class_removes_it():
    X, y = rows(60)
    model = fit(X, y)
    model.forget(X[y == "b"], y[y == "b"])
    rest = fit(X[y != "b"], y[y != "b"])
    assert model.classes_.tolist() == ["a", "c"]
    assert model.predict_proba(X).shape == (60, 2)
    np.testing.assert_allclose(model.predict_proba(X), rest.predict_proba(X), atol=1e-9)
    assert model.n_parameters_ == rest.n_parameters_
    np.testing.assert_allclose(model.log_likelihood_, rest.log_likelihood_, rtol=1e-9)


def test_a_forgotten_class_may_come_back():
    X, y = rows(60)
    b = y == "b"
    model = fit(X, y).forget(X[b], y[b]).partial_fit(X[b], y[b])
    np.testing.assert_allclose(model.predict_proba(X), fit(X, y).predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    "family", [Normal(), Normal("shared"), Normal(alpha=0), Gamma(), Gamma(alpha=0)], ids=str
)
@pytest.mark.parametrize("seed", range(5))
def test_a_column_that_is_constant_after_forgetting_is_a_constant_column(family, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.gamma(2.0, size=(20, 2)), np.arange(20) % 2
    X[:2, 0] = 0.1  # what rounding leaves of the other rows' squares is no variance
    model = BayesClassifier(families=family).fit(X, y).forget(X[2:], y[2:])
    fresh = BayesClassifier(families=family).fit(X[:2], y[:2])
    assert model.n_parameters_ == fresh.n_parameters_
    X[:, 1] = np.nan
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-9)


def test_forgetting_everything_leaves_nothing_to_solve():
    X, y = rows(10)
    model = fit(X, y)
    before = model.predict_proba(X)
    try:
        model.forget(X, y)
    except ValueError as error:
        assert len(str(error)) < 400  # noqa: PT017
        assert np.array_equal(model.predict_proba(X), before)
    else:
        with pytest.raises(ValueError, match="no rows"):
            model.predict(X)
        model.partial_fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), before, atol=1e-9)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]], ids=str)
def test_a_forgotten_category_leaves_no_ghost(order):
    base = pd.DataFrame({"t": ["u", "v", "u", "v"]})
    labels = np.array(["a", "a", "b", "b"])
    ghost = pd.DataFrame({"t": ["ghost"] * 3})
    weights = np.array([0.1, 0.2, 0.3])
    families = {"t": Categorical(unseen="smooth")}
    plain = BayesClassifier(families=families).fit(base, labels)
    model = BayesClassifier(families=families).fit(base, labels)
    model.partial_fit(ghost, ["a"] * 3, sample_weight=weights)
    for i in order:
        model.forget(ghost[:1], ["a"], sample_weight=weights[i : i + 1])
    assert model.parameters_["t"]["levels"] == ["u", "v"]
    asked = pd.DataFrame({"t": ["u", "v", "ghost", None]})
    np.testing.assert_allclose(model.predict_proba(asked), plain.predict_proba(asked), rtol=1e-12)
    assert model.n_parameters_ == plain.n_parameters_
    X, _ = model.sample(200, random_state=0)
    assert set(X["t"]) == {"u", "v"}


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]], ids=str)
def test_a_forgotten_class_of_odd_weights_leaves_no_ghost(order):
    X = np.array([[0.1], [0.2], [0.7]])
    weights = np.array([0.1, 0.2, 0.3])
    model = BayesClassifier(families=Normal()).fit([[1.0], [2.0], [4.0]], ["a", "b", "a"])
    model.partial_fit(X, ["ghost"] * 3, sample_weight=weights)
    for i in order:
        model.forget(X[i : i + 1], ["ghost"], sample_weight=weights[i : i + 1])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.priors_.tolist() == [2 / 3, 1 / 3]


def test_a_forgotten_word_leaves_no_ghost():
    X = np.array([[1.0, 2, 0], [2, 1, 0], [0, 3, 0]])
    family = Multinomial(alpha=0)
    model = BayesClassifier(families=family).fit(X, [0, 0, 1])
    extra = np.array([[1.0, 0, 1]] * 3)
    weights = np.array([0.1, 0.2, 0.3])
    model.partial_fit(extra, [1, 1, 1], sample_weight=weights)
    for i in (2, 0, 1):
        model.forget(extra[:1], [1], sample_weight=weights[i : i + 1])
    assert model.parameters_[2]["probability"].tolist() == [0, 0]
    assert model.parameters_[0]["probability"][1] == 0


NEVER_FITTED = {
    "an unknown class": (Normal(), [[1.0], [2.0], [3.0]], [[1.0]], ["z"]),
    "more rows than there are": (Normal(), [[1.0], [2.0]], [[1.0], [2.0], [1.0]], ["a", "a", "a"]),
    "a number far away": (Normal(), [[1.0], [2.0], [3.0]], [[100.0]], ["a"]),
    "a number far away from Gamma": (Gamma(), [[1.0], [2.0], [3.0]], [[100.0]], ["a"]),
    "a number far away from Exponential": (Exponential(), [[1.0], [2.0], [3.0]], [[100.0]], ["a"]),
    "a count too large": (Poisson(), [[1.0], [2.0], [3.0]], [[50.0]], ["a"]),
    "a flag never set": (Bernoulli(), [[0.0], [0.0], [0.0]], [[1.0]], ["a"]),
    "a flag never unset": (Bernoulli(), [[1.0], [1.0], [1.0]], [[0.0]], ["a"]),
    "a category of another class": (Categorical(), [[1.0], [2.0], [2.0]], [[7.0]], ["a"]),
    "a word never used": (Multinomial(), [[1.0, 0.0], [2.0, 0.0]], [[0.0, 1.0]], ["a"]),
    "a gap never there": (Normal(), [[1.0], [2.0], [3.0]], [[np.nan]], ["a"]),
}


@pytest.mark.parametrize("case", NEVER_FITTED)
def test_forgetting_what_was_never_fitted_is_refused(case):
    family, X, gone, labels = NEVER_FITTED[case]
    X = np.array(X)
    # A class b keeps the model whole, whatever is asked of a.
    model = BayesClassifier(families=family).fit(np.vstack([X, X, X]), ["a"] * len(X) + ["b"] * 2 * len(X))
    before = model.predict_proba(X)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.forget(np.array(gone), labels)
    assert len(str(error.value)) < 400
    assert np.array_equal(model.predict_proba(X), before)


def test_forgetting_a_row_with_less_than_its_weight_is_refused():
    model = BayesClassifier(families=Normal()).fit([[1.0], [2.0], [3.0]], ["a", "b", "b"], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"0 rows.*weight|weight.*0 rows"):
        model.forget([[1.0]], ["a"], sample_weight=[0.25])
    assert model.classes_.tolist() == ["a", "b"]


def test_statistics_that_no_data_could_give_are_refused_when_fitting():
    X, y = rows(30)
    a, b = summarize(X[:5], y[:5], families=FAMILIES), summarize(X[5:], y[5:], families=FAMILIES)
    with pytest.raises(ValueError, match="no data could produce"):
        BayesClassifier().fit_statistics(a - b)
    with pytest.raises(ValueError, match="no data could produce"):
        BayesClassifier().fit_statistics(-a)
    with pytest.raises(ValueError, match="no rows"):
        BayesClassifier().fit_statistics(a - a).predict(X)


def test_scaled_statistics_are_the_rows_with_that_weight():
    X, y = rows(40)
    decayed = BayesClassifier().fit_statistics(summarize(X, y, families=FAMILIES) * 0.25)
    weighted = BayesClassifier(families=FAMILIES).fit(X, y, np.full(40, 0.25))
    np.testing.assert_allclose(decayed.predict_proba(X), weighted.predict_proba(X), atol=1e-12)


def test_models_whose_families_differ_do_not_merge_and_both_are_named():
    X, y = rows(40)
    one = BayesClassifier(families={"x": Normal()}).fit(X, y)
    other = BayesClassifier(families={"x": Histogram()}).fit(X, y)
    for combine in (lambda: one + other, lambda: one.merge(other), lambda: one.merge(other.statistics_)):
        with pytest.raises(ValueError, match=r"'x'.*Normal.*Histogram"):
            combine()
    assert one.statistics_ == BayesClassifier(families={"x": Normal()}).fit(X, y).statistics_


def test_settings_of_solving_do_not_keep_models_from_merging():
    X, y = rows(40)
    one = BayesClassifier(families={"x": Normal()}).fit(X, y)
    other = BayesClassifier(families={"x": Normal(alpha=0)}).fit(X, y)
    assert (one + other).schema_["x"].family == Normal()
    assert (other + one).schema_["x"].family == Normal(alpha=0)


def test_models_of_other_columns_do_not_merge():
    X, y = rows(40)
    with pytest.raises(ValueError, match="'size'"):
        fit(X, y) + BayesClassifier().fit(X.rename(columns={"x": "size"}), y)


def test_models_of_text_and_number_labels_do_not_merge():
    X, y = rows(40)
    with pytest.raises(ValueError, match="text and numbers"):
        fit(X, y) + fit(X, np.arange(40) % 2)


@pytest.mark.parametrize("other", [3, None, "model", np.zeros(3)], ids=str)
def test_only_models_and_statistics_merge(other):
    X, y = rows(40)
    with pytest.raises(TypeError):
        fit(X, y).merge(other)
    with pytest.raises(TypeError):
        fit(X, y) + other


def test_classes_grow_with_the_rows_and_classes_is_not_needed():
    X, y = rows(60)
    order = np.argsort(y, kind="stable")
    model = BayesClassifier(families=FAMILIES)
    for i in order:
        model.partial_fit(X.iloc[[i]], y[i : i + 1], classes=["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba(X), fit(X, y).predict_proba(X), atol=1e-9)


def test_longer_labels_that_come_later_are_not_cut():
    model = BayesClassifier().partial_fit([[0.0], [1.0]], np.array(["a", "b"]))
    model.partial_fit([[9.0], [9.5]], np.array(["elephant", "elephant"]))
    assert model.classes_.tolist() == ["a", "b", "elephant"]
    assert model.predict([[9.2]]).tolist() == ["elephant"]


def test_an_empty_batch_after_the_first_changes_nothing():
    X, y = rows(40)
    model = fit(X, y)
    before = model.statistics_
    model.partial_fit(X[:0], y[:0])
    model.forget(X[:0], y[:0])
    assert model.statistics_ == before


def test_a_one_row_update_costs_what_the_row_costs():
    import time

    n_classes = 3000
    X = np.repeat(np.arange(n_classes, dtype=float)[:, np.newaxis], 20, axis=1)
    X = np.vstack([X, X + 1])
    y = np.tile(np.arange(n_classes), 2)
    model = BayesClassifier().fit(X, y)
    start = time.process_time()
    for i in range(20):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    updates = (time.process_time() - start) / 20
    start = time.process_time()
    model.predict(X[:1])
    assert updates < 0.25 * (time.process_time() - start)


@pytest.mark.parametrize("dtype, labels", [
    (np.int8, [-128, 127]), (np.int8, [-100, 100]), (np.uint8, [1, 255]), (np.int16, [-(2**15), 2**15 - 1]),
    (np.int64, [2**62, 2**62 + 3]), (np.uint64, [2**63, 2**64 - 1]),
])  # fmt: skip
def test_labels_may_be_farther_apart_than_their_type_holds(dtype, labels):
    y = np.array(labels, dtype=dtype)[np.arange(60) % 2]
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9.0 * (np.arange(60) % 2)[:, np.newaxis]
    model = BayesClassifier().fit(X, y)
    assert model.classes_.tolist() == labels
    assert model.classes_.dtype == dtype
    np.testing.assert_array_equal(model.predict(X), y)
