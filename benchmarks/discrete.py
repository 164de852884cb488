"""Measure categories, outcomes, sparse counts and mixed tables against scikit-learn.

As in run.py, both sides take turns in one process and medians are compared.
The limit is one read of the data.
"""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB

import suffice
from run import Comparison, TwoModels, compare, timed
from suffice.families import Bernoulli, Categorical, Multinomial

REPEATS = 3


def pair(title, ours, theirs, X, y, bounds) -> list[Comparison]:
    fit, predict = bounds
    return [
        compare(
            f"{title}, fit",
            timed(lambda: ours.fit(X, y).priors_, calls=1),
            timed(lambda: theirs.fit(X, y), calls=1),
            REPEATS,
            fit,
        ),
        compare(
            f"{title}, predict_proba",
            timed(lambda: ours.predict_proba(X), calls=1),
            timed(lambda: theirs.predict_proba(X), calls=1),
            REPEATS,
            predict,
        ),
    ]


def limit(values) -> None:
    print(f"  one read of the data: {1e3 * timed(values.sum, calls=3)():.1f} ms")


def columns() -> list[Comparison]:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    codes = rng.integers(0, 10, size=(len(y), 20))
    limit(codes)
    ours, theirs = suffice.BayesClassifier(Categorical()), CategoricalNB()
    done = pair("1,000,000 × 20, CategoricalNB", ours, theirs, codes, y, (1 / 50, 1 / 10))
    assert np.allclose(ours.predict_proba(codes[:1000]), theirs.predict_proba(codes[:1000]), atol=1e-10)
    for dtype in (np.float64, np.uint8):
        flags = (rng.random((len(y), 50)) < 0.3).astype(dtype)
        limit(flags)
        ours, theirs = suffice.BayesClassifier(Bernoulli()), BernoulliNB()
        name = f"1,000,000 × 50 {np.dtype(dtype)}, BernoulliNB"
        done += pair(name, ours, theirs, flags, y, (1 / 15, 1 / 10))
        assert np.allclose(ours.predict_proba(flags[:1000]), theirs.predict_proba(flags[:1000]), atol=1e-10)
    return done


def words() -> list[Comparison]:
    rng = np.random.default_rng(0)
    n, v, per_row = 200_000, 100_000, 100
    starts = np.arange(n + 1, dtype=np.int32) * per_row
    at = rng.integers(0, v, n * per_row, dtype=np.int32)
    X = sparse.csr_array((rng.integers(1, 4, n * per_row).astype(np.float64), at, starts), shape=(n, v))
    X.sum_duplicates()
    limit(X.data)
    ours, theirs = suffice.BayesClassifier(Multinomial()), MultinomialNB()
    return pair(
        "200,000 × 100,000, MultinomialNB", ours, theirs, X, rng.integers(20, size=n), (1 / 3, 1 / 1.5)
    )


def mixed() -> list[Comparison]:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    numbers, strings = [f"n{j}" for j in range(10)], [f"s{j}" for j in range(10)]
    levels = np.array([f"level {i}" for i in range(25)], dtype=object)
    frame = pd.DataFrame(
        {name: rng.normal(0.3 * y) for name in numbers}
        | {name: levels[np.minimum(rng.poisson(4 + 0.5 * y), 24)] for name in strings}
    )
    theirs = timed(lambda: TwoModels(numbers, strings).fit(frame, y), calls=1)
    done = []
    for name, table in (("pandas", frame), ("Arrow", pa.Table.from_pandas(frame))):
        ours = suffice.BayesClassifier()
        fit = timed(lambda X=table, model=ours: model.fit(X, y).priors_, calls=1)
        title = f"1,000,000 × (10 numbers, 10 strings), {name}, fit"
        done.append(compare(title, fit, theirs, REPEATS, 1 / 10))
    return done


def main() -> int:
    parts = {"columns": columns, "words": words, "mixed": mixed}
    wanted = sys.argv[1:] or list(parts)
    comparisons = [comparison for name in wanted for comparison in parts[name]()]
    return int(any(c.verdict.startswith("FAIL") for c in comparisons))


if __name__ == "__main__":
    sys.exit(main())
