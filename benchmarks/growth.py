"""How time grows with rows n, columns d and classes K: over three decades, and the fitted exponent."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import suffice
from comparison import seconds
from dense import rows_of
from suffice.families import Categorical, Normal

BASE = {"n": 20_000, "d": 20, "K": 5}
SIZES = {
    "n": (1_000, 10_000, 100_000, 1_000_000),
    "d": (1, 10, 100, 1_000),
    "K": (2, 20, 200, 2_000),
}
REPEATS = 3


@dataclass
class Growth:
    """Seconds at each size of one letter, the others fixed, and b of the line log t = a + b·log size."""

    work: str
    letter: str
    sizes: tuple[int, ...]
    times: list[float]

    @property
    def exponent(self) -> float:
        return float(np.polyfit(np.log(self.sizes), np.log(self.times), 1)[0])

    def line(self) -> str:
        times = "".join(
            f"{size:>11,}: {1e3 * t:>8.1f} ms" for size, t in zip(self.sizes, self.times, strict=True)
        )
        return f"{self.work:<38}{self.letter}{times}   {self.letter}^{self.exponent:.2f}"


def numbers(n: int, d: int, n_classes: int):
    return rows_of(n, d, n_classes)


def levels(n: int, d: int, n_classes: int):
    rng = np.random.default_rng(0)
    return rng.integers(10, size=(n, d)), rng.integers(n_classes, size=n)


WORKS: dict[str, tuple[Callable, Callable]] = {
    "Gaussian naive Bayes": (lambda: suffice.BayesClassifier(Normal()), numbers),
    "LDA": (lambda: suffice.GaussianDiscriminant("shared"), numbers),
    "QDA": (lambda: suffice.GaussianDiscriminant("full"), numbers),
    "Categorical naive Bayes": (lambda: suffice.BayesClassifier(Categorical()), levels),
}


def growth() -> list[Growth]:
    """Fit and predict_proba of each model; joint Gaussians of two thousand classes are left out."""
    done = []
    for name, (make, draw) in WORKS.items():
        for letter, sizes in SIZES.items():
            joint = name in ("LDA", "QDA")
            kept = tuple(size for size in sizes if not (joint and letter == "K" and size > 200))
            fits, predictions = [], []
            for size in kept:
                n, d, n_classes = (BASE | {letter: size}).values()
                X, y = draw(n, d, n_classes)
                model = make().fit(X, y)
                fits.append(median(lambda model=model, X=X, y=y: model.fit(X, y).priors_))
                predictions.append(median(lambda model=model, X=X: model.predict_proba(X)))
            for deed, times in (("fit", fits), ("predict_proba", predictions)):
                done.append(Growth(f"{name}, {deed}", letter, kept, times))
                print(done[-1].line(), flush=True)
    return done


def median(deed) -> float:
    deed()
    return float(np.median([seconds(deed) for _ in range(REPEATS)]))
