"""Categories, outcomes, sparse counts and mixed tables against scikit-learn."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder

import suffice
from comparison import MEGABYTE, Comparison, compare
from dense import fit_and_predict
from suffice import dropin
from suffice.families import Bernoulli, Categorical, Multinomial


def categories() -> list[Comparison]:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    codes = rng.integers(0, 10, size=(len(y), 20))
    ours, theirs = suffice.BayesClassifier(Categorical()), CategoricalNB()
    limits = (codes.sum, codes.sum)
    done = fit_and_predict("Categorical 1M × 20, 10 levels", ours, theirs, codes, y, (50, 10), limits)
    assert np.allclose(ours.predict_proba(codes[:1000]), theirs.predict_proba(codes[:1000]), atol=1e-10)
    return done


def outcomes() -> list[Comparison]:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    flags = (rng.random((len(y), 50)) < 0.3).astype(np.float64)
    ours, theirs = suffice.BayesClassifier(Bernoulli()), BernoulliNB()
    limits = (flags.sum, flags.sum)
    done = fit_and_predict("Bernoulli 1M × 50", ours, theirs, flags, y, (15, 10), limits)
    assert np.allclose(ours.predict_proba(flags[:1000]), theirs.predict_proba(flags[:1000]), atol=1e-10)
    return done


def sparse_counts(rng: np.random.Generator, n: int, v: int, per_row: int) -> sparse.csr_array:
    starts = np.arange(n + 1, dtype=np.int32) * per_row
    at = rng.integers(0, v, n * per_row, dtype=np.int32)
    X = sparse.csr_array((rng.integers(1, 4, n * per_row).astype(np.float64), at, starts), shape=(n, v))
    X.sum_duplicates()
    return X


def counts() -> list[Comparison]:
    rng = np.random.default_rng(0)
    n = 200_000
    X = sparse_counts(rng, n, 100_000, 100)
    ours, theirs = suffice.BayesClassifier(Multinomial()), MultinomialNB()
    few, many = rng.integers(20, size=n), rng.integers(2000, size=n)
    done = fit_and_predict(
        "Multinomial 200k × 100k, 20M non-zeros, K = 20", ours, theirs, X, few, (3, 1.5), (X.sum, X.sum)
    )
    done.append(
        compare(
            "Multinomial 200k × 100k, K = 2,000, fit",
            n,
            lambda: suffice.BayesClassifier(Multinomial()).fit(X, many).priors_,
            lambda: MultinomialNB().fit(X, many),
            limit=X.sum,
            repeats=1,
            at_least=50,
            most_memory=500 * MEGABYTE,
        )
    )
    return done


def few_classes() -> list[Comparison]:
    """Sparse rows of two classes, in the drop-ins: little work beside reading them."""
    rng = np.random.default_rng(0)
    n = 100_000
    X = sparse_counts(rng, n, 10_000, 40)
    y = rng.integers(2, size=n)
    done = []
    for Theirs in (MultinomialNB, BernoulliNB, ComplementNB):
        ours, theirs = getattr(dropin, Theirs.__name__)().fit(X, y), Theirs().fit(X, y)
        for deed in ("fit", "predict", "predict_proba"):
            arguments = (X, y) if deed == "fit" else (X,)
            done.append(
                compare(
                    f"{Theirs.__name__} 100k × 10k, 4M non-zeros, K = 2, {deed}",
                    n,
                    partial(getattr(ours, deed), *arguments),
                    partial(getattr(theirs, deed), *arguments),
                    limit=X.sum,
                    at_least=1,
                )
            )
    return done


def objects() -> list[Comparison]:
    """Numbers that are Python objects."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 10)).astype(object), rng.integers(3, size=100_000)
    ours, theirs = dropin.GaussianNB(), GaussianNB()
    limit = partial(X.astype, np.float64)
    return fit_and_predict("GaussianNB 100k × 10 objects", ours, theirs, X, y, (1, 1), (limit, limit))


class TwoModels:
    """The same model by hand: GaussianNB for numbers, CategoricalNB for strings."""

    def __init__(self, numbers: list[str], strings: list[str]) -> None:
        self.numbers, self.strings = numbers, strings

    def fit(self, frame, y):
        GaussianNB().fit(frame[self.numbers], y)
        CategoricalNB().fit(OrdinalEncoder().fit_transform(frame[self.strings]), y)
        return self


def mixed() -> list[Comparison]:
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=1_000_000)
    numbers, strings = [f"n{j}" for j in range(10)], [f"s{j}" for j in range(10)]
    levels = np.array([f"level {i}" for i in range(25)], dtype=object)
    frame = pd.DataFrame(
        {name: rng.normal(0.3 * y) for name in numbers}
        | {name: levels[np.minimum(rng.poisson(4 + 0.5 * y), 24)] for name in strings}
    )
    return [
        compare(
            f"mixed 1M × (10 numbers, 10 strings), {name}, fit",
            len(y),
            lambda table=table: suffice.BayesClassifier().fit(table, y).priors_,
            lambda: TwoModels(numbers, strings).fit(frame, y),
            at_least=10,
            repeats=3,
        )
        for name, table in (("pandas", frame), ("Arrow", pa.Table.from_pandas(frame)))
    ]


PARTS = (categories, outcomes, counts, few_classes, objects, mixed)
