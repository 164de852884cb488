"""Measure LogisticRegression against scikit-learn's solvers: `python benchmarks/regression.py [small]`.

Both sides reach the same penalised log-loss, to 1e-8 per row: scikit-learn's tol is tightened until it does.
They take turns in one process, and the medians are compared with the faster of lbfgs and newton-cholesky.
"""

import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression as Theirs

import suffice.regression
from run import Comparison, compare, timed

SAME = 1e-8
PATIENCE = 600.0
"""Seconds after which a solver of theirs is given up."""


@dataclass
class Task:
    n: int
    d: int
    k: int
    kind: str
    bound: float

    def draw(self):
        rng = np.random.default_rng(0)
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


def measure(task: Task, repeats: int) -> Comparison | None:
    X, y = task.draw()
    ours = suffice.regression.LogisticRegression().fit(X, y)
    best = objective(ours, X, y)
    # The Hessian of many classes alone takes longer than lbfgs takes for everything.
    solvers = ["lbfgs", "newton-cholesky"] if task.k == 2 else ["lbfgs"]
    rivals = [found for solver in solvers if (found := tight_enough(solver, X, y, best)) is not None]
    if not rivals:
        print(f"{task}: none of their solvers reached our log-loss")
        return None
    _, theirs = min(rivals, key=lambda rival: rival[0])
    name = f"{task.n:,} × {task.d}, K = {task.k}, {task.kind}, {theirs.solver}"
    return compare(
        name,
        timed(lambda: ours.fit(X, y), calls=1),
        timed(lambda: theirs.fit(X, y), calls=1),
        repeats=repeats,
        bound=task.bound,
    )


def main() -> int:
    warnings.simplefilter("ignore")
    tasks = [Task(20_000, 200, k, kind, 1.0) for k in (2, 10) for kind in ("Gaussian", "mixed")]
    if "small" not in sys.argv:
        tasks += [Task(1_000_000, 50, 2, kind, 0.5) for kind in ("Gaussian", "mixed")]
        tasks += [Task(1_000_000, 50, 10, kind, 0.67) for kind in ("Gaussian", "mixed")]
    print(f"{'':<48}{'suffice':>12}{'sklearn':>12}{'ratio':>8}")
    done = [measure(task, repeats=3) for task in tasks]
    return int(any(c is not None and c.verdict.startswith("FAIL") for c in done))


if __name__ == "__main__":
    sys.exit(main())
