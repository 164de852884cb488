"""Tables of numbers: Gaussian naive Bayes and discriminant analysis against scikit-learn."""

import compileall
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import suffice
from comparison import MEGABYTE, Comparison, compare
from suffice.families import Normal

SECONDS_INSIDE = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
BLOCK = 4096


def small() -> list[Comparison]:
    compileall.compile_dir(Path(suffice.__file__).parent, quiet=1)  # as an installer does
    X, y = load_iris(return_X_y=True)
    exact = suffice.BayesClassifier(Normal(alpha=0)).fit(X, y).predict_proba(X)
    assert np.allclose(exact, GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X), rtol=0, atol=1e-10)
    return [
        compare(
            "iris, Gaussian naive Bayes, fit + predict_proba",
            len(X),
            lambda: suffice.BayesClassifier().fit(X, y).predict_proba(X),
            lambda: GaussianNB().fit(X, y).predict_proba(X),
            repeats=21,
            at_least=1,
        ),
        compare(
            "import of the first estimator (sklearn.naive_bayes)",
            0,
            lambda: "import suffice; suffice.BayesClassifier",
            lambda: "import sklearn.naive_bayes",
            repeats=11,
            at_least=1 / 1.2,
            clock=import_seconds,
        ),
    ]


def import_seconds(code) -> float:
    """Seconds that an import takes in a fresh interpreter, without the interpreter's own start."""
    command = [sys.executable, "-c", SECONDS_INSIDE.format(code=code())]
    # S603: the command is ours.
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603


def rows_of(n: int, d: int, n_classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap, so that no posterior is 0 or 1."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, d)) + 0.3 * rng.normal(size=(n_classes, d))[y], y


def naive_bayes() -> list[Comparison]:
    X, y = rows_of(1_000_000, 50)
    ours, theirs = suffice.BayesClassifier(Normal(alpha=0)), GaussianNB(var_smoothing=0)
    done = fit_and_predict("Gaussian naive Bayes 1M × 50", ours, theirs, X, y, (20, 25), (X.sum, X.sum))
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)

    def fit() -> object:
        return ours.fit(X, y).priors_

    done.append(compare("… fit against one read, X.sum()", len(X), fit, X.sum, at_least=1 / 1.2, repeats=9))
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    done += [
        compare(
            "… fit with 10 % gaps, against our own without",
            len(X),
            lambda: suffice.BayesClassifier(Normal(alpha=0)).fit(gaps, y).priors_,
            fit,
            at_least=1 / 2,
        ),
        compare(
            "… predict_proba with 10 % gaps, against our own",
            len(X),
            lambda: ours.predict_proba(gaps),
            lambda: ours.predict_proba(X),
            at_least=1 / 2,
        ),
    ]
    return done


def discriminants() -> list[Comparison]:
    done = []
    for n, d, asked in (
        (1_000_000, 50, {"svd": (20, None), "lsqr": (6, 3), "QDA": (8, 8)}),
        (100_000, 500, {"svd": (None, None), "lsqr": (None, None), "QDA": (None, None)}),
    ):
        X, y = rows_of(n, d)
        W, A, out, one = np.ones((d, 10)), np.ones((d, d)), np.empty((BLOCK, d)), np.empty((n, 10))

        def product(X=X) -> object:
            return X.T @ X

        def scores(X=X, W=W, one=one) -> object:
            return np.matmul(X, W, out=one)

        def whitenings(X=X, A=A, out=out) -> None:
            for start in range(0, len(X) - BLOCK, BLOCK):
                for _ in range(10):
                    np.matmul(X[start : start + BLOCK], A, out=out)

        for name, covariance, theirs, limits in (
            ("svd", "shared", LinearDiscriminantAnalysis(), (product, scores)),
            ("lsqr", "shared", LinearDiscriminantAnalysis(solver="lsqr"), (product, scores)),
            ("QDA", "full", QuadraticDiscriminantAnalysis(), (product, whitenings)),
        ):
            ours = suffice.GaussianDiscriminant(covariance)
            title = f"{'QDA' if name == 'QDA' else f'LDA ({name})'} {n:,} × {d}"
            repeats = 5 if d < 100 else 3
            done += fit_and_predict(title, ours, theirs, X, y, asked[name], limits, repeats)
            assert np.mean(ours.predict(X[:5000]) == theirs.predict(X[:5000])) > 0.999
    return done


def genes() -> list[Comparison]:
    """88 patients × 2,308 genes with shrinkage, against one eigendecomposition of their covariance."""
    folder = os.environ.get("SUFFICE_DATA")
    if folder is None:
        print("88 × 2,308 genes: left out, SUFFICE_DATA does not name the folder of public data sets")
        return []
    frame = pd.read_csv(Path(folder) / "khan2001" / "data.csv.gz")
    X, y = frame.drop(columns="class").to_numpy(), frame["class"].to_numpy()
    covariance = np.cov(X.T)

    def eigh() -> object:
        return np.linalg.eigh(covariance)

    return [
        compare(
            f"2,308 genes, {name}, {shrinkage}, fit against eigh",
            len(X),
            lambda name=name, shrinkage=shrinkage: (
                suffice.GaussianDiscriminant(name, shrinkage=shrinkage).fit(X, y).priors_
            ),
            eigh,
            repeats=3,
            at_least=1 / 2,
        )
        for name in ("shared", "full")
        for shrinkage in ("oas", "ledoit_wolf")
    ]


def fit_and_predict(title, ours, theirs, X, y, asked, limits, repeats=5) -> list[Comparison]:
    """Fit (and solve: reading priors_ asks for the parameters), then posteriors."""
    output = 8 * len(y) * len(np.unique(y))
    return [
        compare(
            f"{title}, fit",
            len(y),
            lambda: ours.fit(X, y).priors_,
            lambda: theirs.fit(X, y),
            limit=limits[0],
            at_least=asked[0],
            repeats=repeats,
        ),
        compare(
            f"{title}, predict_proba",
            len(y),
            lambda: ours.predict_proba(X),
            lambda: theirs.predict_proba(X),
            limit=limits[1],
            at_least=asked[1],
            most_memory=output + 64 * MEGABYTE,
            repeats=repeats,
        ),
    ]


PARTS = (small, naive_bayes, discriminants, genes)
