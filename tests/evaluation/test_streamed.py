"""An evaluation of batches in bounded memory is that of all rows at once."""

import numpy as np
import pytest

from suffice import Evaluation
from suffice.evaluation import streamed
from suffice.evaluation.streamed import StreamedEvaluation


def answers(n, n_classes, seed, strange=()):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes)) * 3.0
    posteriors = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    classes = np.array([f"c{k}" for k in range(n_classes)], dtype=object)
    noisy = np.exp(scores * 0.7)
    drawn = (rng.random((n, 1)) > (noisy / noisy.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    y = classes[np.minimum(drawn, n_classes - 1)].copy()
    for place, label in enumerate(strange):
        y[50 + 700 * place] = label
    return y, posteriors, classes


def in_batches(y, posteriors, classes, weight, size=777):
    evaluation = StreamedEvaluation(classes)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        evaluation.add(y[part], posteriors[part], None if weight is None else weight[part])
    return evaluation.evaluation()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes, strange", [(2, ()), (4, ()), (3, ("odd", "other"))])
@pytest.mark.parametrize("exact", [True, False])
def test_batches_are_evaluated_as_all_rows_at_once(monkeypatch, n_classes, strange, weighted, exact):
    if not exact:
        monkeypatch.setattr(streamed, "EXACT_CELLS", 2000)
    y, posteriors, classes = answers(5000, n_classes, 3, strange)
    weight = np.random.default_rng(1).integers(1, 4, 5000) / 2.0 if weighted else None
    wanted = Evaluation.of(y, posteriors, classes=classes, sample_weight=weight)
    found = in_batches(y, posteriors, classes, weight)
    assert (found.answers.probability is None) is not exact
    for key, value in wanted.flat().items():
        tolerance = 2e-5 if key[0] == "roc_auc" else 1e-12
        assert found.flat()[key] == pytest.approx(value, rel=1e-12, abs=tolerance, nan_ok=True), key
    assert found.baseline.flat() == pytest.approx(wanted.baseline.flat(), rel=1e-12, nan_ok=True)
    assert found.labels == wanted.labels
    assert found.to_dict()["confusion"] == wanted.to_dict()["confusion"]
    assert repr(found).splitlines()[0] == repr(wanted).splitlines()[0]
    assert repr(found).splitlines()[-8:] == repr(wanted).splitlines()[-8:]


def test_posteriors_of_0_and_1_and_ties_keep_their_order(monkeypatch):
    monkeypatch.setattr(streamed, "EXACT_CELLS", 0)
    p = np.array([0.0, 5e-324, 1e-300, 1e-16, 0.25, 0.5, 0.5, 0.75, 1.0 - 2.0**-53, 1.0])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 0, 1, 1])
    posteriors = np.column_stack([1.0 - p, p])
    found = in_batches(y, posteriors, np.array([0, 1]), None, size=3)
    wanted = Evaluation.of(y, posteriors, classes=[0, 1])
    assert found.roc_auc_by_class[1] == pytest.approx(wanted.roc_auc_by_class[1], abs=1e-15)


def test_many_rows_take_no_more_memory_than_some(monkeypatch):
    monkeypatch.setattr(streamed, "EXACT_CELLS", 2000)
    y, posteriors, classes = answers(4000, 3, 0)
    evaluation = StreamedEvaluation(classes)
    for _ in range(20):
        evaluation.add(y, posteriors, None)
    assert evaluation._parts == []
    assert evaluation.evaluation().answers.n_rows == 80_000
