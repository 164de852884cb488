"""Kernels are chosen by the data alone: a call gives the same bits in every process, whatever came before."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from suffice import BayesClassifier, GaussianDiscriminant, load
from suffice.families import Normal
from suffice.kernels import choose as choice

pytest.importorskip("numba", reason="numba has no wheels for this machine")

FAMILIES = """
import hashlib, sys
import numpy as np, scipy.sparse
import suffice
from suffice.families import Bernoulli, Categorical, Multinomial, Normal

def answers(n):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 10)) + 0.3 * y[:, np.newaxis]
    codes, weights = rng.integers(8, size=(n, 10)), rng.random(n)
    counts = scipy.sparse.csr_array(rng.integers(1, 4, size=(n, 10)) * 1.5)
    texts = [" ".join(f"w{i}" for i in row) for row in rng.integers(3000, size=(n // 20, 20))]
    models = {
        "Gaussian columns": (suffice.BayesClassifier(Normal()), X, y),
        "joint Gaussian": (suffice.GaussianDiscriminant("full"), X, y),
        "shared Gaussian": (suffice.GaussianDiscriminant("shared"), X, y),
        "levels": (suffice.BayesClassifier(Categorical()), codes, y),
        "outcomes": (suffice.BayesClassifier(Bernoulli()), codes > 3, y),
        "counts": (suffice.BayesClassifier(Multinomial()), counts, y),
        "text": (suffice.TextClassifier(tf="log"), texts, y[: len(texts)]),
        "regression": (suffice.LogisticRegression(), X, y > 0),
    }
    for name, (model, rows, labels) in models.items():
        weighted = () if name == "regression" else (weights[: len(labels)],)
        yield f"{name}, {n}", model.fit(rows, labels, *weighted).predict_proba(rows)
"""
ANSWERED = (
    FAMILIES
    + """
for n in (200, 30_000):
    for name, posteriors in answers(n):
        print(f"{name}: {hashlib.sha256(posteriors.tobytes()).hexdigest()}")
"""
)
USED_BEFORE = """
import suffice.estimators.regression.compiled, suffice.text.compiled.driver
import suffice.kernels.discrete_compiled, suffice.kernels.gaussian_compiled
import numpy as np, suffice
big = np.random.default_rng(0).normal(size=(1 << 17, 128)).astype(np.float32)
suffice.BayesClassifier(suffice.families.Normal()).fit(big, np.arange(len(big)) % 2).predict_proba(big)
"""


def run(program, **environment):
    """What a program prints in a fresh process."""
    command = [sys.executable, "-c", program]
    # S603: the programs are ours.
    done = subprocess.run(  # noqa: S603
        command, check=False, capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_call_gives_the_same_bits_whatever_the_process_did_before():
    fresh = run(ANSWERED).splitlines()
    assert len(fresh) == 16
    assert run(USED_BEFORE + ANSWERED, SUFFICE_THREADS="2").splitlines() == fresh


@pytest.mark.parametrize("model", [BayesClassifier(Normal()), GaussianDiscriminant("full")], ids=str)
def test_a_loaded_model_predicts_the_same_bits_in_a_fresh_process(model, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 10)), rng.integers(3, size=20_000)
    model.fit(X, y).save(tmp_path / "model.suffice")
    np.save(tmp_path / "rows.npy", X)
    choice.gaussian_for(choice.WORTH_COMPILING)  # as after a large call
    here = hashlib.sha256(load(tmp_path / "model.suffice").predict_proba(X).tobytes()).hexdigest()
    program = (
        "import hashlib, numpy as np, suffice\n"
        f"X = np.load({str(tmp_path / 'rows.npy')!r})\n"
        f"model = suffice.load({str(tmp_path / 'model.suffice')!r})\n"
        "print(hashlib.sha256(model.predict_proba(X).tobytes()).hexdigest())"
    )
    assert run(program).strip() == here


def test_the_size_of_the_data_decides():
    reference, large = choice.gaussian_for(choice.WORTH_COMPILING - 1), choice.WORTH_COMPILING
    assert reference.__name__ == "suffice.kernels.gaussian"
    assert choice.gaussian_for(large).__name__ == "suffice.kernels.gaussian_compiled"
    assert choice.discrete_for(large - 1).__name__ == "suffice.kernels.discrete"
    assert choice.discrete_for(large).__name__ == "suffice.kernels.discrete_compiled"


def test_parts_of_large_work_are_compiled_and_those_of_small_work_are_not():
    with choice.one_choice(choice.WORTH_COMPILING):
        assert choice.gaussian_for(1).__name__ == "suffice.kernels.gaussian_compiled"
        with choice.one_choice(1):  # still a part of the large work
            assert choice.discrete_for(1).__name__ == "suffice.kernels.discrete_compiled"
    with choice.one_choice(choice.WORTH_COMPILING - 1):
        assert choice.gaussian_for(1).__name__ == "suffice.kernels.gaussian"


def test_all_parts_of_a_prediction_use_the_same_kernels(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.integers(2, size=3000)
    model = BayesClassifier(Normal()).fit(X, y)
    monkeypatch.setattr(choice, "CELLS_AT_ONCE", 1 << 12)
    monkeypatch.setattr("suffice.model.solved.solution.FEWEST_ROWS", 1)
    used = []
    original = choice.chosen

    def recorded(module, size, worth_compiling):
        found = original(module, size, worth_compiling)
        if size:
            used.append(None if found is None else found.__name__)
        return found

    monkeypatch.setattr(choice, "chosen", recorded)
    for least, expected in ((X.size * 2, "suffice.kernels.gaussian_compiled"), (X.size * 2 + 1, None)):
        monkeypatch.setattr(choice, "WORTH_COMPILING", least)
        used.clear()
        model.predict_proba(X)
        assert len(used) > 8
        assert set(used) == {expected}


def test_batches_are_compiled_once_they_are_large_together(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = pa.table({"x": rng.normal(size=400)}), rng.integers(2, size=400)
    model, used = BayesClassifier(Normal()).fit(X, y), []
    original = choice.chosen

    def recorded(module, size, worth_compiling):
        found = original(module, size, worth_compiling)
        used.append(found is not None)
        return found

    monkeypatch.setattr(choice, "chosen", recorded)
    monkeypatch.setattr(choice, "CELLS_AT_ONCE", 1 << 6)  # several parts, in threads
    monkeypatch.setattr("suffice.model.solved.solution.FEWEST_ROWS", 1)
    monkeypatch.setattr(choice, "WORTH_COMPILING", 2 * 2 * 400)
    found, expected = [], model.predict_proba(X)
    used.clear()
    model.predict_from([X, X], lambda table: found.append((table, set(used), used.clear())))
    assert [kernels for _, kernels, _ in found] == [{False}, {True}]
    for table, _, _ in found:
        np.testing.assert_allclose(table["p(1)"].to_numpy(), expected[:, 1], rtol=1e-14)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("cells", [lambda X: X, lambda X: X.T, lambda X: X[:, 1:], lambda X: X.ravel()])
def test_counts_are_told_from_other_numbers_wherever_these_are(bad, cells):
    X = np.random.default_rng(0).poisson(2.0, (90_000, 3)).astype(np.float64)
    assert choice.are_counts(cells(X))
    assert choice.are_counts(np.empty((0, 3)))
    for row in (0, 89_999):
        X[row, 1] = bad
        assert not choice.are_counts(cells(X))
        X[row, 1] = 0.0
