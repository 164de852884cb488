"""Every metric is scikit-learn's, of the rows as they are and of rows drawn anew."""

import numpy as np
import pytest
from sklearn import metrics

from suffice import compare, evaluate
from suffice.evaluation.answers import Answers, read_answers
from suffice.evaluation.metrics import Metrics, bootstrap_metrics

CASES = ["plain", "two classes", "one class", "refusals", "weights", "no posteriors"]


def hard_answers(name):
    """Answers with ties, rare and unknown classes, refusals, weights or no posteriors."""
    rng = np.random.default_rng(5)
    n, k = 40, 2 if name == "two classes" else 1 if name == "one class" else 4
    truth, predicted = (
        rng.choice(k, n, p=rng.dirichlet(np.ones(k))),
        rng.integers(k + (name == "refusals"), size=n),
    )
    p = rng.dirichlet(np.ones(k), n).round(1)
    p = p / p.sum(axis=1, keepdims=True)
    return Answers(
        truth,
        predicted,
        None if name == "no posteriors" else p,
        rng.integers(1, 4, n).astype(float) if name == "weights" else None,
        k + (name == "refusals"),
        k,
    )


def by_scikit_learn(answers):
    """Every metric as scikit-learn has it, NaN where it warns or refuses."""
    y, label, p, w = answers.truth, answers.predicted, answers.probability, answers.weight
    classes = list(range(answers.n_classes))
    found = {("accuracy", None): metrics.accuracy_score(y, label, sample_weight=w)}
    present = [k for k in classes if k in y or k in label]
    settings = {"zero_division": np.nan, "sample_weight": w}
    for kind in (None, "macro", "micro", "weighted"):
        # scikit-learn leaves undefined parts out of an average; here they leave it undefined.
        values = metrics.precision_recall_fscore_support(
            y, label, labels=classes, average="micro" if kind == "micro" else None, **settings
        )
        for name, value in zip(("precision", "recall", "f1"), values[:3], strict=True):
            if kind is None:
                found |= {(name, k): value[k] for k in classes}
            elif kind == "micro":
                found[name, kind] = value
            else:
                support = values[3][present] if kind == "weighted" else np.ones(len(present))
                some = support > 0
                found[name, kind] = np.average(value[present][some], weights=support[some])
    two = len(classes) == 2
    found["log_loss", None] = found["brier", None] = np.nan
    if p is not None and len(classes) > 1:
        found["log_loss", None] = metrics.log_loss(y, p, labels=classes, sample_weight=w)
        found["brier", None] = metrics.brier_score_loss(
            y,
            p[:, 1] if two else p,
            sample_weight=w,
            **({"pos_label": 1} if two else {"labels": classes}),
        )
    for k in classes:
        found["roc_auc", k] = np.nan
        if p is not None and 0 < np.sum(y == k) < len(y):
            found["roc_auc", k] = metrics.roc_auc_score(y == k, p[:, k], sample_weight=w)
    found["roc_auc", None] = np.mean([found["roc_auc", k] for k in classes])
    found["ece", None] = calibration_error(answers)
    return found


def calibration_error(answers):
    """scikit-learn has none; this is the definition of Guo et al. (2017), bin by bin."""
    if answers.probability is None:
        return np.nan
    confidence = answers.probability.max(axis=1)
    right = answers.probability.argmax(axis=1) == answers.truth
    w = np.ones(len(right)) if answers.weight is None else answers.weight
    total, bins = 0.0, np.digitize(confidence, np.arange(1, 15) / 15, right=True)
    for one in np.unique(bins):
        here = bins == one
        gap = np.average(right[here], weights=w[here]) - np.average(confidence[here], weights=w[here])
        total += w[here].sum() * abs(gap)
    return total / w.sum()


@pytest.mark.parametrize("name", CASES)
def test_every_metric_is_that_of_scikit_learn(name):
    answers = hard_answers(name)
    mine, theirs = Metrics.of(answers).flat(), by_scikit_learn(answers)
    assert set(mine) == set(theirs)
    for key, value in theirs.items():
        np.testing.assert_allclose(mine[key], value, rtol=1e-13, atol=1e-15, err_msg=str(key))


@pytest.mark.parametrize("name", CASES)
def test_the_metrics_of_rows_drawn_anew_are_those_of_scikit_learn_on_them(name):
    some = hard_answers(name)
    found = bootstrap_metrics(some, 30, np.random.default_rng(2))
    rows = np.random.default_rng(2).integers(40, size=(30, 40))
    expected = [by_scikit_learn(some.take(one)) for one in rows]
    assert set(found) == set(expected[0])
    for key, values in found.items():
        np.testing.assert_allclose(
            values, [one[key] for one in expected], rtol=1e-11, atol=1e-13, err_msg=key
        )


class Sure:
    """A classifier that is sure of the first class, whatever the row."""

    classes_ = np.array(["a", "b"])

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), "a")

    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))

    def predict_log_proba(self, X):
        return np.tile([0.0, -np.inf], (len(X), 1))


def test_one_log_loss_for_the_same_answers_whoever_asks():
    X, y = np.zeros((40, 1)), np.array(["a", "b"] * 20)
    curves = compare([Sure()], X, y, sizes=[20], repeats=1, test_size=0.5)
    held_out = round(float(curves.error[0, 0, 0] * 20))
    y_test = np.array(["b"] * held_out + ["a"] * (20 - held_out))
    report = evaluate(Sure(), X[:20], y_test, bootstrap=20)
    theirs = metrics.log_loss(y_test, Sure().predict_proba(y_test), labels=["a", "b"])
    assert 0 < held_out < 20
    assert report.log_loss == pytest.approx(theirs, rel=1e-15)
    assert curves.log_loss[0, 0, 0] == pytest.approx(theirs, rel=1e-15)
    low, high = report.intervals["log_loss", None]
    assert low <= theirs <= high


@pytest.mark.parametrize("p, message", [([[1.5, -0.5]], "range from -0.5 to 1.5"), ([[np.nan, 1.0]], "NaN")])
def test_what_is_no_probability_is_refused(p, message):
    with pytest.raises(ValueError, match=f"between 0 and 1.*{message}"):
        read_answers(["a"], p, None, ["a", "b"])


def test_posteriors_that_do_not_sum_to_one_are_warned_of():
    with pytest.warns(UserWarning, match="do not sum to 1"):
        read_answers(["a"], [[0.5, 0.4]], None, ["a", "b"])
