"""Weights are judged on folds that neither they nor the evidence behind them have seen."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from suffice import BayesClassifier, EvidenceClassifier
from suffice.estimators.evidence import cell_corrections, learning, sample_evidence
from suffice.estimators.evidence.inputs import Inputs, JudgedRows
from suffice.estimators.evidence.learning import Learning
from suffice.estimators.evidence.rows import Rows
from suffice.factors.scores import bounded
from suffice.links import softmax
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.piece_weights import PieceWeights

from .conftest import mixed

SHARES = float(np.log(2.0))


def noise(rng, n, kind):
    """Rows of many columns that say nothing."""
    cells = {"levels": rng.choice([*"abcdef"], (n, 60)), "counts": rng.poisson(3.0, (n, 60))}[kind]
    return pd.DataFrame(cells, columns=[f"c{j}" for j in range(60)])


@pytest.mark.parametrize("kind", ["levels", "counts"])
def test_noise_does_not_seem_to_pay(kind):
    """With weights that know the fold that judges them, levels seem to gain .05 nats, and lose .03."""
    claimed, found = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, new, y = noise(rng, 200, kind), noise(rng, 2000, kind), np.arange(200) % 2
        model = EvidenceClassifier().fit(X, y)
        claimed.append(model.weights_.loss)
        found.append(log_loss(np.arange(2000) % 2, model.predict_proba(new)))
    assert np.mean(claimed) > SHARES - 0.01
    assert np.mean(found) < SHARES + 0.01


@pytest.mark.parametrize("n, d", [(100, 1000), (200, 500), (20, 30)])
def test_many_columns_of_noise_are_not_told_apart_by_chance(n, d):
    """If families are chosen as if each column were the only one, 1,000 columns lose .37 nats."""
    claimed, found = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, new = (pd.DataFrame(rng.normal(size=(size, d))).add_prefix("x") for size in (n, 2000))
        model = EvidenceClassifier().fit(X, np.arange(n) % 2)
        claimed.append(model.weights_.loss)
        found.append(log_loss(np.arange(2000) % 2, model.predict_proba(new)))
    assert np.mean(claimed) > SHARES - 0.03
    assert np.mean(found) < SHARES + 0.03


@pytest.fixture
def learnt_from(monkeypatch):
    """What models are learnt from, as they are fitted."""
    seen = []
    learn = Learning.learn

    def noting(self):
        seen.append(self)
        return learn(self)

    monkeypatch.setattr(Learning, "learn", noting)
    return seen


@pytest.mark.parametrize("times", [None, [1, 2, 3]])
def test_evidence_that_weights_are_judged_by_knows_neither_fold(learnt_from, times):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    X = pd.DataFrame({"x": rng.normal(y, 1.0), "n": rng.poisson(2.0 + y), "a": rng.choice([*"pqr"], 150)})
    weights = None if times is None else rng.choice(times, 150).astype(float)
    model = EvidenceClassifier(pieces=["columns"]).fit(X, y, weights)
    (seen,) = learnt_from
    # Rows are learnt from in an order of their own: they are found by their first column.
    place = np.argsort(X["x"].to_numpy())
    own = Rows(model._rows(X, y, weights)).in_order(model.schema_)
    rows = place[np.searchsorted(X["x"].to_numpy()[place], own.table.numbers([0])[:, 0])]
    folds = seen.folds.judging
    for i, j in ((0, 1), (3, 2)):
        rest = np.delete(np.arange(150), np.append(folds[i], folds[j]))
        part = BayesClassifier(model.schema_, evidence_weight=1.0).fit(
            X.iloc[rows[rest]], y[rows[rest]], None if weights is None else weights[rows[rest]]
        )
        said = part.explain(X.iloc[rows[folds[i]]]).contributions
        said = bounded(said, np.log(part.statistics_.weight.sum()))
        said -= said.mean(axis=2, keepdims=True)
        found = seen.evidence.without[j][:, folds[i]].transpose(1, 2, 0)
        np.testing.assert_allclose(found, said, atol=1e-9)
        np.testing.assert_array_equal(seen.evidence.without[j][:, folds[j]], seen.evidence.rows[:, folds[j]])


def test_a_class_of_two_folds_is_not_learnt_from_where_one_of_them_judges(learnt_from):
    rng = np.random.default_rng(0)
    y = np.append(np.arange(60) % 2, [2, 2])
    EvidenceClassifier().fit(rng.normal(size=(62, 2)) + y[:, np.newaxis], y)
    (seen,) = learnt_from
    rare = np.flatnonzero(seen.rows.codes == 2)
    mine = [next(i for i, some in enumerate(seen.folds.judging) if row in some) for row in rare]
    assert mine[0] != mine[1]
    for fold, weight in enumerate(seen.folds.training):
        assert (weight[rare] > 0).tolist() == [fold not in mine] * 2
    assert all(weight[y[:60].size :].sum() <= 2.0 for weight in seen.folds.training)


def test_many_rows_are_held_out_once(learnt_from, monkeypatch):
    X, y = mixed(120, seed=1)
    EvidenceClassifier().fit(X, y)
    monkeypatch.setattr(sample_evidence, "MANY_ROWS", 100)
    EvidenceClassifier().fit(X, y)
    few, many = learnt_from
    assert few.evidence.without is not None
    assert many.evidence.without is None


def test_rows_that_the_sums_do_not_hold_are_held_out_from_nothing(learnt_from):
    X, y = mixed(160, seed=2)
    model = EvidenceClassifier().fit(X[:80], y[:80])
    model.reweigh(X[80:], y[80:], seen=False)
    assert learnt_from[-1].evidence.without is None


@pytest.mark.parametrize("cv", [2, 3, 7])
def test_any_number_of_folds_learns_weights(cv):
    X, y = mixed(120, seed=3)
    model = EvidenceClassifier(cv=cv).fit(X, y)
    assert model.weights_.loss < model.weights_.class_shares


def test_inputs_are_taken_added_and_replaced_alike():
    rng = np.random.default_rng(0)
    inputs = Inputs(rng.normal(size=(2, 6, 3)), rng.normal(size=(4, 2, 6, 3)))
    some = inputs.pieces(np.array([2, 0]))
    np.testing.assert_array_equal(some.rows, inputs.rows[:, :, [2, 0]])
    np.testing.assert_array_equal(some.without, inputs.without[..., [2, 0]])
    weights = np.array([1.0, 0.0, -2.0])
    np.testing.assert_allclose(inputs.total(weights).without[1, :, :, 0], inputs.without[1] @ weights)
    swapped = inputs.replaced(np.array([1]), inputs.pieces(slice(1)))
    np.testing.assert_array_equal(swapped.without[..., 1], inputs.without[..., 0])
    np.testing.assert_array_equal(swapped.rows[..., 0], inputs.rows[..., 0])
    each = [PieceWeights(rng.normal(size=3), rng.normal(size=2)) for _ in range(4)]
    np.testing.assert_allclose(inputs.scores(each)[3], each[3].scores(inputs.without[3]))
    once = Inputs(inputs.rows, None)
    np.testing.assert_allclose(once.scores(each)[3], each[3].scores(inputs.rows))
    assert once.total(weights).without is None
    assert once.replaced(np.array([1]), once.pieces(slice(1))).without is None


def folds_of(sizes, n_classes=2):
    """Rows in folds one after the other, which judge scores."""
    codes = np.arange(sum(sizes)) % n_classes
    rows = KnownRows(codes, np.ones(len(codes)), n_classes)
    judging = np.split(np.arange(len(codes)), np.cumsum(sizes)[:-1])
    return JudgedRows(rows, judging, [], np.zeros(n_classes))


@pytest.mark.parametrize("enough, n_folds", [(1, 1), (10, 1), (11, 2), (25, 3), (40, 4), (1000, 4)])
def test_a_setting_is_chosen_by_as_many_folds_as_hold_enough_rows(enough, n_folds):
    assert folds_of([10, 10, 10, 10]).n_that_hold(enough) == n_folds


def test_the_first_folds_are_judged_by_their_own_rows():
    rng = np.random.default_rng(0)
    folds, scores = folds_of([4, 7, 5]), rng.normal(size=(16, 2))
    of_folds = [scores[:4], scores[4:11]]
    np.testing.assert_allclose(
        folds.loss(of_folds), log_loss(folds.rows.codes[:11], softmax(scores[:11])), rtol=1e-12
    )
    np.testing.assert_array_equal(folds.side_by_side(of_folds)[:11], scores[:11])
    assert not folds.side_by_side(of_folds)[11:].any()


@pytest.mark.parametrize("in_threads", [False, True])
def test_with_one_setting_it_does_not_matter_how_many_folds_choose(in_threads, monkeypatch):
    X, y = mixed(150, seed=4)
    if in_threads:
        monkeypatch.setattr(learning, "SIDE_BY_SIDE", 0)
    monkeypatch.setattr(learning, "COMMON_PARTS", (1.0,))
    monkeypatch.setattr(cell_corrections, "RIDGES", (32.0,))
    found = []
    for enough in (1, 70, 1000):
        monkeypatch.setattr(learning, "ENOUGH_ROWS", enough)
        model = EvidenceClassifier(penalty=6.0).fit(X, y)
        found.append([level.loss for level in model.weights_.levels])
    np.testing.assert_allclose(found, [found[0]] * 3, atol=1e-5)
