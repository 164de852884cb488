"""Measure suffice against scikit-learn on this machine: `make bench`.

The two sides of a comparison take turns in one process, and the medians are compared, so that a busy machine
slows both. Only ratios have bounds; times in seconds depend on the machine and are there to be read.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

import suffice
from suffice.families import Categorical, Normal

RESULTS = Path(__file__).parents[1] / "build" / "bench.json"
Measure = Callable[[], float]
SECONDS_INSIDE = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"


@dataclass
class Comparison:
    """Medians of both sides in seconds, and the most that their ratio may be (None: to be read only)."""

    name: str
    ours: float
    theirs: float
    repeats: int
    bound: float | None

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return f"{'PASS' if self.ratio <= self.bound else 'FAIL'} (at most {self.bound})"

    def line(self) -> str:
        return (
            f"{self.name:<48}{1e3 * self.ours:>9.2f} ms{1e3 * self.theirs:>9.2f} ms"
            f"{self.ratio:>8.2f}  {self.verdict}".rstrip()
        )


def timed(deed: Callable[[], object], calls: int) -> Measure:
    """Seconds of one call, from several in a row."""

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            deed()
        return (time.perf_counter() - start) / calls

    return measure


def import_seconds(code: str) -> Measure:
    """Seconds that an import takes in a fresh interpreter, without the interpreter's own start."""

    def measure() -> float:
        command = [sys.executable, "-c", SECONDS_INSIDE.format(code=code)]
        # S603: the command is ours.
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        return float(done.stdout)

    return measure


def compare(
    name: str, ours: Measure, theirs: Measure, repeats: int, bound: float | None = None
) -> Comparison:
    """Both sides in turns, after one turn each to warm up."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    medians = [statistics.median(side) for side in zip(*pairs, strict=True)]
    result = Comparison(name, *medians, repeats, bound)
    print(result.line(), flush=True)
    return result


def iris() -> list[Comparison]:
    X, y = load_iris(return_X_y=True)
    exact = suffice.BayesClassifier(Normal(alpha=0)).fit(X, y).predict_proba(X)
    assert np.allclose(exact, GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X), rtol=0, atol=1e-10)
    return [
        compare(
            "iris, fit + predict_proba (GaussianNB)",
            timed(lambda: suffice.BayesClassifier().fit(X, y).predict_proba(X), calls=20),
            timed(lambda: GaussianNB().fit(X, y).predict_proba(X), calls=20),
            repeats=41,
            bound=1.5,
        )
    ]


def imports() -> list[Comparison]:
    return [
        compare(
            "import, first estimator (sklearn.naive_bayes)",
            import_seconds("import suffice; suffice.BayesClassifier"),
            import_seconds("import sklearn.naive_bayes"),
            repeats=11,
            bound=1.2,
        )
    ]


def numbers() -> list[Comparison]:
    X, y = make_classification(200_000, 20, n_informative=8, n_classes=5, random_state=0)
    ours, theirs = suffice.BayesClassifier(Normal(alpha=0)), GaussianNB(var_smoothing=0)
    comparisons = [
        compare(
            "200,000 × 20, 5 classes, fit (GaussianNB)",
            timed(lambda: ours.fit(X, y).priors_, calls=1),  # reading priors_ makes it solve
            timed(lambda: theirs.fit(X, y), calls=1),
            repeats=9,
        ),
        compare(
            "200,000 × 20, 5 classes, predict_proba",
            timed(lambda: ours.predict_proba(X), calls=1),
            timed(lambda: theirs.predict_proba(X), calls=1),
            repeats=9,
        ),
    ]
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    X = rng.normal(size=(len(y), 50)) + 0.1 * y[:, np.newaxis]
    comparisons += fit_and_predict("1,000,000 × 50, GaussianNB", ours, theirs, X, y)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.1] = np.nan
    fit = timed(lambda: ours.fit(X, y).priors_, calls=1)
    return [
        *comparisons,
        compare("1,000,000 × 50, fit against X.sum()", fit, timed(X.sum, calls=1), repeats=9),
        compare(
            "1,000,000 × 50, fit with 10 % gaps against without",
            timed(lambda: ours.fit(gaps, y).priors_, calls=1),
            fit,
            repeats=9,
        ),
    ]


class TwoModels:
    """The same model by hand: GaussianNB for numbers, CategoricalNB for strings, and their scores added."""

    def __init__(self, numbers: list[str], strings: list[str]) -> None:
        self.numbers, self.strings = numbers, strings
        self.encoder, self.gaussian, self.categorical = OrdinalEncoder(), GaussianNB(), CategoricalNB()

    def fit(self, frame, y):
        self.gaussian.fit(frame[self.numbers], y)
        self.categorical.fit(self.encoder.fit_transform(frame[self.strings]), y)
        return self

    def predict_proba(self, frame):
        codes = self.encoder.transform(frame[self.strings])
        joint = self.gaussian.predict_joint_log_proba(frame[self.numbers])
        joint = joint + self.categorical.predict_joint_log_proba(codes) - self.categorical.class_log_prior_
        p = np.exp(joint - joint.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


def mixed() -> list[Comparison]:
    rng = np.random.default_rng(0)
    n = 100_000
    y = rng.integers(3, size=n)
    numbers, strings = [f"n{j}" for j in range(8)], [f"s{j}" for j in range(4)]
    words = np.array([f"level {i}" for i in range(25)])
    frame = pd.DataFrame(
        {name: rng.normal(0.3 * y) for name in numbers}
        | {name: words[np.minimum(rng.poisson(4 + 2 * y), 24)] for name in strings}
    )
    families = {tuple(numbers): Normal(alpha=0), tuple(strings): Categorical()}
    ours, theirs = suffice.BayesClassifier(families), TwoModels(numbers, strings)
    theirs.gaussian.set_params(var_smoothing=0)
    comparisons = [
        compare(
            "100,000 × (8 numbers, 4 strings), fit",
            timed(lambda: ours.fit(frame, y).priors_, calls=1),
            timed(lambda: theirs.fit(frame, y), calls=1),
            repeats=7,
        ),
        compare(
            "100,000 × (8 numbers, 4 strings), predict_proba",
            timed(lambda: ours.predict_proba(frame), calls=1),
            timed(lambda: theirs.predict_proba(frame), calls=1),
            repeats=7,
        ),
    ]
    assert np.allclose(ours.predict_proba(frame), theirs.predict_proba(frame), rtol=0, atol=1e-9)
    return comparisons


def discriminants() -> list[Comparison]:
    comparisons = []
    for n, d in ((1_000_000, 50), (100_000, 500)):
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=n)
        X = rng.normal(size=(n, d)) + rng.normal(size=(10, d))[y]
        for covariance, theirs, name in (
            ("shared", LinearDiscriminantAnalysis(), "LDA svd"),
            ("shared", LinearDiscriminantAnalysis(solver="lsqr"), "LDA lsqr"),
            ("full", QuadraticDiscriminantAnalysis(), "QDA"),
        ):
            ours = suffice.GaussianDiscriminant(covariance)
            comparisons += fit_and_predict(f"{n:,} × {d}, {name}", ours, theirs, X, y)
            assert np.mean(ours.predict(X[:5000]) == theirs.predict(X[:5000])) > 0.999
    return comparisons


def genes() -> list[Comparison]:
    """88 patients × 2,308 genes with shrinkage, against one eigendecomposition of their covariance."""
    folder = os.environ.get("SUFFICE_DATA")
    if folder is None:
        print("88 × 2,308 genes: left out, SUFFICE_DATA does not name the folder of public data sets")
        return []
    frame = pd.read_csv(Path(folder) / "khan2001" / "data.csv.gz")
    X, y = frame.drop(columns="class").to_numpy(), frame["class"].to_numpy()
    covariance = np.cov(X.T)
    eigh = timed(lambda: np.linalg.eigh(covariance), calls=1)
    comparisons = []
    for name in ("shared", "full"):
        for shrinkage in ("oas", "ledoit_wolf"):
            model = suffice.GaussianDiscriminant(name, shrinkage=shrinkage)
            fit = timed(partial(fitted_priors, model, X, y), calls=1)
            title = f"88 × 2,308, {name}, {shrinkage}, fit against eigh"
            comparisons.append(compare(title, fit, eigh, repeats=5, bound=2.0))
    return comparisons


def fitted_priors(model, X, y):
    """Fit, and solve: reading priors_ asks for the parameters."""
    return model.fit(X, y).priors_


def fit_and_predict(title, ours, theirs, X, y) -> list[Comparison]:
    pairs = {
        "fit": (lambda: ours.fit(X, y).priors_, lambda: theirs.fit(X, y)),
        "predict_proba": (lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X)),
    }
    return [
        compare(f"{title}, {deed}", timed(mine, calls=1), timed(yours, calls=1), repeats=3)
        for deed, (mine, yours) in pairs.items()
    ]


def main() -> int:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"suffice {suffice.__version__} against scikit-learn {sklearn.__version__} on {machine}")
    print("Medians of runs taken in turns. The ratio is ours / theirs: below 1 we are faster.\n")
    print(f"{'':<48}{'suffice':>12}{'sklearn':>12}{'ratio':>8}")
    comparisons = [
        comparison for part in (iris, imports, numbers, mixed, discriminants, genes) for comparison in part()
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    rows = [asdict(c) | {"ratio": c.ratio} for c in comparisons]
    RESULTS.write_text(
        json.dumps({"machine": machine, "comparisons": rows}, indent=1) + "\n", encoding="utf-8"
    )
    print(
        f"\nWritten to {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}."
    )
    return int(any(c.verdict.startswith("FAIL") for c in comparisons))


if __name__ == "__main__":
    sys.exit(main())
