"""LogisticRegression against scikit-learn's solvers.

Both sides reach the same penalised log-loss, to 1e-8 per row: scikit-learn's tol is tightened until it does.
They take turns in one process, and the medians are compared with the faster of lbfgs and newton-cholesky.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs

import suffice
from comparison import Comparison, compare

SAME = 1e-8
PER_ROW = 50
"""Words in a sparse row, some of them several times."""
PATIENCE = 600.0
"""Seconds after which a solver of theirs is given up."""


@dataclass
class Task:
    n: int
    d: int
    k: int
    kind: str
    at_least: float

    def draw(self):
        rng = np.random.default_rng(0)
        if self.kind == "sparse":
            return self._words(rng)
        if self.kind == "Gaussian":
            y = rng.integers(self.k, size=self.n)
            return rng.normal(size=(self.n, self.d)) + 0.3 * rng.normal(size=(self.k, self.d))[y], y
        X = rng.normal(size=(self.n, self.d)) @ (
            np.eye(self.d) + rng.normal(size=(self.d, self.d)) / self.d**0.5
        )
        X[:, ::3] = np.exp(np.clip(X[:, ::3], -3, 3))
        X[:, 1::3] = X[:, 1::3] > 0.5
        X = (X - X.mean(axis=0)) / X.std(axis=0)  # unscaled, lbfgs needs thousands of iterations
        scores = X @ rng.normal(size=(self.d, self.k)) * 1.5 / self.d**0.5
        return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)

    def _words(self, rng):
        """Counts of words, a few of which are common; each class prefers some."""
        y, rows = rng.integers(self.k, size=self.n), np.repeat(np.arange(self.n), PER_ROW)
        words = np.minimum((20 * rng.pareto(0.8, len(rows))).astype(int), self.d - 1)
        words = np.where(rng.random(len(rows)) < 0.3, (words + 7 * y[rows]) % self.d, words)
        X = sparse.csr_array((np.ones(len(rows)), (rows, words)), shape=(self.n, self.d))
        X.sum_duplicates()
        return X, y


def objective(model, X, y) -> float:
    """The penalised log-loss per row."""
    log_p = model.predict_log_proba(X)
    return float(-log_p[np.arange(len(y)), y].mean() + 0.5 * np.sum(model.coef_**2) / len(y))


def tight_enough(solver, X, y, best):
    """scikit-learn's model whose tol reaches the best objective, or None where that takes too long."""
    for exponent in range(4, 11):
        model = Theirs(solver=solver, tol=10.0**-exponent, max_iter=10_000)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        if objective(model, X, y) <= best + SAME:
            return seconds, model
        if seconds > PATIENCE:
            return None
    return None


def measure(task: Task) -> Comparison | None:
    X, y = task.draw()
    ours = suffice.LogisticRegression().fit(X, y)
    best = objective(ours, X, y)
    # The Hessian of many classes alone takes longer than lbfgs takes for everything.
    second = "newton-cg" if task.kind == "sparse" else "newton-cholesky"
    solvers = ["lbfgs", second] if task.k == 2 else ["lbfgs"]
    rivals = [found for solver in solvers if (found := tight_enough(solver, X, y, best)) is not None]
    if not rivals:
        print(f"{task}: none of their solvers reached our log-loss")
        return None
    _, theirs = min(rivals, key=lambda rival: rival[0])
    return compare(
        f"logistic {task.n:,} × {task.d}, K = {task.k}, {task.kind}, {theirs.solver}, fit",
        task.n,
        lambda: ours.fit(X, y),
        lambda: theirs.fit(X, y),
        repeats=3,
        at_least=task.at_least,
    )


def logistic() -> list[Comparison]:
    """The tables that the work is asked for, of two kinds each."""
    shapes = [
        (20_000, 200, 2, 1.0),
        (20_000, 200, 10, 1.0),
        (1_000_000, 50, 2, 2.0),
        (1_000_000, 50, 10, 1.5),
    ]
    tasks = [Task(n, d, k, kind, least) for n, d, k, least in shapes for kind in ("Gaussian", "mixed")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [done for task in tasks if (done := measure(task)) is not None]


def sparse_logistic() -> list[Comparison]:
    """Rows of words, with few columns and with many."""
    shapes = [(50_000, 200, 2), (20_000, 2_000, 2), (20_000, 10_000, 2), (10_000, 5_000, 5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = [Task(n, d, k, "sparse", 1.0) for n, d, k in shapes]
        return [done for task in tasks if (done := measure(task)) is not None]


PARTS = (logistic, sparse_logistic)
