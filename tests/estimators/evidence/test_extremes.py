"""Posteriors sum to 1 and are never NaN for finite input, and explanations add up."""

import copy
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import suffice
from suffice import EvidenceClassifier
from suffice.estimators.evidence.pieces import MOST_JOINT
from suffice.factors.derived import There
from suffice.families import Words
from suffice.links import log_softmax

from .conftest import FAMILIES, agrees, mixed, saved

RNG = np.random.default_rng(0)
TWO = np.arange(60) % 2
NOISE = RNG.normal(size=(60, 3))
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def sound(model, X):
    """Posteriors are such, and what the cells say adds up to the scores behind them."""
    posteriors = model.predict_proba(X)
    assert np.isfinite(posteriors).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, atol=1e-12)
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
    explanation = model.explain(X)
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.total, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(suffice.links.softmax(total), posteriors, atol=1e-9)
    return posteriors


TABLES = {
    "constant": (np.full((60, 2), 3.0), TWO),
    "constant in each class": (np.column_stack([TWO, NOISE[:, 0], 3.0 * TWO]), TWO),
    "constant in one class": (np.where(TWO[:, np.newaxis] == 1, 5.0, NOISE), TWO),
    "far away": (1e9 + 1e-3 * (NOISE + TWO[:, np.newaxis]), TWO),
    "huge": (1e300 * NOISE, TWO),
    "tiny": (1e-300 * NOISE, TWO),
    "whole numbers far away": (1e15 + np.round(NOISE), TWO),
    "heavy tails": (RNG.standard_cauchy((60, 3)) ** 3, TWO),
    "an empty column": (np.column_stack([np.full(60, np.nan), NOISE]), TWO),
    "nothing": (np.full((60, 2), np.nan), TWO),
    "fewer rows than columns": (RNG.normal(size=(30, 50)), np.arange(30) % 2),
    "a class of one row": (NOISE, np.array([1] + [0] * 30 + [2] * 29)),
    "classes of one row": (NOISE[:30], np.concatenate([np.arange(26), np.zeros(4, dtype=int)])),
    "26 classes": (
        np.column_stack([np.arange(104) % 26, RNG.normal(size=104)]),
        LETTERS[np.arange(104) % 26],
    ),
    "five rows": (NOISE[:5], np.array([0, 1, 0, 1, 1])),
    "two rows": (NOISE[:2], np.array([0, 1])),
    "one row": (NOISE[:1], np.array([0])),
    "one class": (NOISE, np.zeros(60)),
    "columns that repeat": (np.repeat(NOISE[:, :1] + TWO[:, np.newaxis], 6, axis=1), TWO),
    "classes far apart": (100.0 * TWO[:, np.newaxis] + 0.01 * NOISE, TWO),
    "mostly zero": (np.where(NOISE < 0.5, 0.0, NOISE), TWO),
}


@pytest.mark.parametrize("name", TABLES)
def test_any_table_gives_posteriors(name):
    X, y = TABLES[name]
    model = EvidenceClassifier().fit(X, y)
    sound(model, X)
    sound(model, np.vstack([np.full(X.shape[1], np.nan), np.full(X.shape[1], 1e200), -X[:2]]))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_mixed_table_gives_posteriors_to_rows_unlike_any(table, nonnegative):
    X, y = table
    model = EvidenceClassifier(FAMILIES, nonnegative=nonnegative).fit(X, y)
    sound(model, X)
    rows = X.iloc[:3].assign(town=["Rome", None, "Ulm"], note=["zzz", "", None], length=[1e30, -1e30, None])
    sound(model, rows)
    nothing = pd.DataFrame({name: pd.Series([None], dtype=X[name].dtype) for name in X.columns})
    sound(model, nothing)
    if nonnegative:
        assert np.nanmin(model.weights_.weights) >= 0


@settings(max_examples=8, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.9]))
def test_random_mixed_tables_give_posteriors(seed, n, n_classes, gaps):
    X, y = mixed(max(n, n_classes), n_classes, seed, gaps=gaps)
    sound(EvidenceClassifier(FAMILIES).fit(X, y), X)


def test_a_class_that_no_other_fold_has_keeps_its_prior():
    X, y = TABLES["a class of one row"]
    model = EvidenceClassifier().fit(X + 2.0 * y[:, np.newaxis], y)
    assert model.bias_[1] == 0.0
    assert np.abs(model.bias_[[0, 2]]).max() > 0.0


def test_more_columns_than_rows_by_far_take_bounded_time():
    y = np.arange(40) % 2
    X = np.random.default_rng(1).normal(size=(40, 600))
    X[:, :30] += 3.0 * y[:, np.newaxis]
    model = EvidenceClassifier().fit(X, y)
    posteriors = sound(model, X)
    assert posteriors[np.arange(40), y].min() > 0.5
    assert not model.pieces_.pairs


@pytest.mark.parametrize("n_columns", [150, 160, 290])
def test_wide_tables_with_gaps_give_posteriors(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_columns)) + 0.5 * TWO[:, np.newaxis]
    gaps = rng.random(X.shape) < np.linspace(0.08, 0.3, n_columns)
    model = EvidenceClassifier(pieces=["joint"]).fit(np.where(gaps, np.nan, X), TWO)
    posteriors = sound(model, np.where(gaps, np.nan, X))
    assert np.mean(posteriors[np.arange(60), TWO] > 0.5) > 0.8
    joint = model.pieces_.joint
    there = [one.column for one in joint if isinstance(one, There)]
    assert len(joint) <= MOST_JOINT
    assert len({one.column for one in joint}) == n_columns  # every number has a place before any presence
    others = np.delete(np.arange(n_columns), there)
    if n_columns > 150:
        assert gaps[:, there].sum(axis=0).min() >= gaps[:, others].sum(axis=0).max()


@pytest.mark.filterwarnings("ignore:evidence was not weighed")
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_weights_of_rows_of_any_size_give_posteriors(size):
    model = EvidenceClassifier().fit(NOISE + TWO[:, np.newaxis], TWO, np.full(60, size))
    sound(model, NOISE)


@pytest.mark.parametrize("size", [1e12, 1e150, 1e300])
def test_of_very_large_weights_only_ratios_matter(penguins, size):
    X, y = penguins
    heavy = EvidenceClassifier().fit(X, y, np.full(344, size))
    agrees(heavy, EvidenceClassifier().fit(X, y, np.full(344, 2.0**24)), X, atol=0.01)
    assert heavy.statistics_.weight.sum() == pytest.approx(344 * size)
    before = heavy.predict_proba(X)
    np.testing.assert_allclose(heavy.reweigh(X, y, np.full(344, size)).predict_proba(X), before, atol=1e-3)
    heavy.partial_fit(X, y, sample_weight=np.full(344, size)).forget(X, y, np.full(344, size))
    np.testing.assert_allclose(heavy.predict_proba(X), before, atol=1e-3)


TOO_LIGHT = r"300 rows have a total weight of 1, and a row of weight w counts as w rows; scale the weights"


def in_batches(X, y, weights):
    model = EvidenceClassifier()
    batches = [X.assign(y=y, w=weights)[start : start + 100] for start in (0, 100, 200)]
    return model.fit_from(batches, target="y", weight="w")


@pytest.mark.parametrize(
    "fit", [lambda *rows: EvidenceClassifier().fit(*rows), in_batches], ids=["fit", "fit_from"]
)
def test_rows_of_too_little_weight_are_not_weighed_and_a_warning_says_so(penguins, fit):
    X, y = penguins
    X, y, weights = X[:300], y[:300], np.full(300, 1 / 300)
    with pytest.warns(UserWarning, match=f"evidence was not weighed, .*: {TOO_LIGHT}") as told:
        model = fit(X, y, weights)
    assert [one.filename for one in told] == [__file__]
    assert "rows of too little weight" in repr(model.weights_)
    assert fit(X, y, 300 * weights).weights_.levels


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was(penguins, of_penguins):
    X, y = penguins
    model = copy.copy(of_penguins)
    with pytest.raises(UserWarning, match=TOO_LIGHT):
        model.fit(X[:300], y[:300], np.full(300, 1 / 300))
    assert saved(model) == saved(of_penguins)


def test_nothing_is_said_of_weights_where_rows_are_few_or_of_one_class(penguins):
    X = penguins[0]
    EvidenceClassifier().fit(X[:9], TWO[:9], np.full(9, 0.1))
    EvidenceClassifier().fit(X[:60], np.zeros(60), np.full(60, 0.1))


def test_reweighing_by_rows_of_too_little_weight_is_refused(penguins, of_penguins):
    X, y = penguins
    model = copy.copy(of_penguins)
    with pytest.raises(ValueError, match=f"reweigh cannot learn weights: {TOO_LIGHT}"):
        model.reweigh(X[:300], y[:300], np.full(300, 1 / 300))
    assert model.weights_.levels


@pytest.mark.parametrize("n_rows", [4, 9])
def test_noise_of_few_rows_says_no_more_in_many_columns_than_in_one(n_rows):
    """Twenty columns that all count once have a mean loss above 2."""
    losses = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        y, truth = rng.permutation(np.arange(n_rows) % 2), rng.integers(0, 2, 200)
        model = EvidenceClassifier().fit(rng.normal(size=(n_rows, 20)), y)
        log_p = np.log(model.predict_proba(rng.normal(size=(200, 20))))
        losses.append(-log_p[np.arange(200), truth].mean())
    assert np.mean(losses) < 0.9


def test_few_rows_are_not_weighed():
    model = EvidenceClassifier().fit(NOISE[:9], TWO[:9])
    assert "Too few rows to weigh" in repr(model.weights_)
    product = suffice.BayesClassifier(model.schema_).fit(NOISE[:9], TWO[:9]).explain(NOISE)
    cells = product.contributions - product.contributions.max(axis=2, keepdims=True)
    bounded = np.maximum(cells, -np.log(9)).sum(axis=1)  # nine rows know no odds beyond 9 to 1
    expected = suffice.links.softmax(product.prior + bounded / np.sqrt(3))
    np.testing.assert_allclose(model.predict_proba(NOISE), expected, atol=1e-12)


@pytest.mark.parametrize("n", [5, 39, 600])
def test_rows_of_one_class_are_not_weighed_whatever_their_number(n):
    model = EvidenceClassifier().fit(RNG.normal(size=(n, 2)), ["a"] * n)
    assert "All rows are of one class, so there is nothing to weigh" in repr(model.weights_)
    assert "few" not in repr(model.weights_)


def test_columns_that_say_nothing_leave_the_class_shares():
    rng = np.random.default_rng(3)
    worse = []
    for _ in range(3):
        y = (rng.random(2000) < 0.3).astype(int)
        X = rng.normal(size=(2000, 5))
        posteriors = EvidenceClassifier().fit(X[:1000], y[:1000]).predict_proba(X[1000:])
        shares = np.bincount(y[:1000]) / 1000
        worse.append(np.mean(np.log(shares[y[1000:]]) - np.log(posteriors[np.arange(1000), y[1000:]])))
    assert max(worse) < 0.01


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_rows_without_errors_leave_less_than_half_an_error_whatever_the_number_of_classes(n_classes):
    t = np.arange(60 * n_classes) % n_classes
    model = EvidenceClassifier(pieces=["columns"]).fit({"x": np.array([*"abcdefghij"])[t]}, t)
    assert 0.01 < model.weights_.loss * len(t) < 0.2


def test_few_rows_of_noise_are_hardly_worse_than_the_class_shares():
    worse = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(3200, 10)), rng.integers(0, 2, 3200)
        log_p = EvidenceClassifier().fit(X[:200], y[:200]).predict_log_proba(X[200:])
        log_shares = np.log(np.bincount(y[:200]) / 200)
        worse.append(np.mean(log_shares[y[200:]] - log_p[np.arange(3000), y[200:]]))
    assert np.mean(worse) < 0.01


@pytest.mark.parametrize("apart", [6.0, 60.0])
def test_rows_without_an_error_leave_some_doubt(apart):
    X = np.random.default_rng(6).normal(size=(60, 2)) + apart * TWO[:, np.newaxis]
    doubt = 60.0 - EvidenceClassifier(pieces=["columns"]).fit(X, TWO).predict_proba(X).max(axis=1).sum()
    assert 0.03 < doubt < 0.1


def test_what_is_clear_counts_nearly_in_full():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 2000)
    model = EvidenceClassifier(pieces=["columns"]).fit(rng.normal(size=(2000, 2)) + y[:, np.newaxis], y)
    assert model.weights_.levels[1].share > 0.99


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_the_name_of_its_column(penguins, of_penguins, value):
    X = penguins[0].assign(body_mass_g=value)
    with pytest.raises(ValueError, match=r"body_mass_g.*inf"):
        of_penguins.predict_proba(X)
    with pytest.raises(ValueError, match=r"body_mass_g.*inf"):
        EvidenceClassifier().fit(X, penguins[1])


@pytest.mark.parametrize("n_rows", [300, 30_000])
def test_an_infinity_is_named_by_its_row_among_all_rows(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    X[n_rows - 7, 1] = np.inf
    with pytest.raises(ValueError, match=f"column 1 .* at row {n_rows - 7};"):
        EvidenceClassifier().fit(X, np.arange(n_rows) % 2)


@pytest.mark.parametrize("n_rows", [300, 30_000])
def test_a_number_too_large_to_be_squared_counts_as_the_largest(n_rows):
    X, y = np.random.default_rng(0).normal(size=(n_rows, 3)), np.arange(n_rows) % 2
    X[:, 0] += 2.0 * y
    X[7, 1] = 1e308
    posteriors = EvidenceClassifier().fit(X, y).predict_proba(X)
    assert np.isfinite(posteriors).all()
    assert (posteriors.argmax(axis=1) == y).mean() > 0.75


def test_sparse_rows_give_the_posteriors_of_their_columns():
    X = sparse.csr_array(np.random.default_rng(4).poisson(0.4 + 0.5 * TWO[:, np.newaxis], (60, 8)) * 1.0)
    model = EvidenceClassifier().fit(X, TWO)
    posteriors = model.predict_proba(X)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    np.testing.assert_allclose(posteriors, model.predict_proba(X.toarray()), atol=1e-9)


def test_evidence_that_is_named_but_reads_every_zero_is_refused_for_sparse_rows():
    X = sparse.csr_array(np.random.default_rng(4).poisson(0.4 + 0.5 * TWO[:, np.newaxis], (60, 8)) * 1.0)
    with pytest.raises(
        ValueError, match=r"names 'joint', 'steps', which.*X\.toarray\(\), or pieces=\['columns'\]"
    ):
        EvidenceClassifier(pieces=["joint", "columns", "steps"]).fit(X, TWO)
    columns = EvidenceClassifier(pieces=["columns"]).fit(X, TWO)
    np.testing.assert_array_equal(columns.predict_proba(X), EvidenceClassifier().fit(X, TWO).predict_proba(X))
    EvidenceClassifier(pieces=["columns", "joint"]).fit(X.toarray(), TWO)


def test_documents_are_words_their_presence_and_their_pairs():
    texts = ["good film", "bad film", "nice", "awful thing"] * 15
    y = [1, 0, 1, 0] * 15
    model = EvidenceClassifier().fit(texts, y)
    assert model.predict(["a good thing", "awful"]).tolist() == [1, 0]
    same = EvidenceClassifier().fit(pd.Series(texts), y)
    np.testing.assert_array_equal(same.predict_proba(texts), model.predict_proba(np.array(texts)))
    assert list(model.schema_.names) == ["words", "presence of words", "pairs of words"]
    again = EvidenceClassifier(pieces=model.pieces_).fit(texts[:40], y[:40])
    assert (model + again).predict(["a good thing", "awful"]).tolist() == [1, 0]
    assert suffice.load(io.BytesIO(saved(model))).predict(["awful"]).tolist() == [0]


def test_pairs_of_words_say_what_words_do_not():
    texts = ["not good", "good", "bad", "not bad", "good not", "bad not"] * 20
    y = [0, 1, 0, 1, 1, 0] * 20
    assert EvidenceClassifier().fit(texts, y).predict(texts[:6]).tolist() == y[:6]
    words = EvidenceClassifier(Words()).fit(texts, y)
    assert list(words.schema_.names) == ["text"]
    assert words.predict(texts[:6]).tolist() != y[:6]


def test_documents_take_any_kinds_of_words():
    families = {"words": Words(), "letters": Words(analyzer="char", ngram_range=(2, 3))}
    model = EvidenceClassifier(families).fit(["good film", "bad film", "nice"] * 20, [1, 0, 1] * 20)
    assert list(model.schema_.names) == ["words", "letters"]
    assert model.predict(["baaad"]).tolist() == [0]


def test_the_words_of_a_text_column_are_those_of_the_text_classifier():
    texts, y = ["good film", "bad film", "good fun", "awful thing"] * 15, ["+", "-", "+", "-"] * 15
    model, plain = EvidenceClassifier().fit(texts, y), suffice.TextClassifier().fit(texts, y)
    for by in ("probability", "evidence"):
        assert model.top_words("+", 3, by=by) == plain.top_words("+", 3, by=by)
    assert model.top_words("+", 1, by="evidence", column="pairs of words")[0][0] in ("good film", "good fun")
    with pytest.raises(ValueError, match="column must be one of"):
        model.top_words("+", column="letters")
    with pytest.raises(ValueError, match="by must be"):
        model.top_words("+", by="size")
    with pytest.raises(ValueError, match="'!'"):
        model.top_words("!")
    with pytest.raises(TypeError, match="no column of text"):
        EvidenceClassifier(pieces=["columns"]).fit(NOISE, TWO).top_words(1)


@pytest.mark.parametrize("seed", range(3))
def test_explanations_keep_their_digits_under_weights_of_any_size(seed):
    rng = np.random.default_rng(seed)
    n = 400
    y = np.arange(n) % 3
    X = pd.DataFrame(
        {
            "a": rng.normal(y, 1.0),
            "b": rng.gamma(2.0, 1.0 + y),
            "c": rng.poisson(2.0 + y),
            "d": rng.choice(list("pqr"), n),
            "e": np.where(rng.random(n) < 0.2, np.nan, rng.normal(1e9, 1e6, n)),
        }
    )
    for weights in (10.0 ** rng.uniform(-12.0, 6.0, n), np.full(n, 1e6)):
        model = EvidenceClassifier().fit(X, y, weights)
        explained = model.explain(X)
        # Joint densities of many millions of nats are bounded: so is what each cell adds to them.
        assert np.abs(explained.contributions).max() < 1e3
        total = explained.prior + explained.contributions.sum(axis=1)
        np.testing.assert_allclose(log_softmax(total), model.predict_log_proba(X), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("n, n_single", [(60, 15), (150, 37)])
def test_classes_of_one_row_each_keep_their_share(n, n_single):
    """No such row can be held out; as if there were none, all others would have 0.997."""
    rng = np.random.default_rng(0)
    y = np.array([f"k{i}" for i in range(n)])
    y[n_single:] = "z"
    model = EvidenceClassifier().fit(rng.normal(size=(n, 2)), y)
    share = 1.0 - n_single / n
    assert model.predict_proba(rng.normal(size=(2000, 2)))[:, -1].mean() == pytest.approx(share, abs=0.08)
