"""A number of few values is told apart by its levels too; joint Gaussians do so with and without these."""

import numpy as np
import pandas as pd
import pytest

from suffice import EvidenceClassifier, GaussianDiscriminant
from suffice.estimators.evidence.sums import SolvedPieces
from suffice.factors.derived import Holds

from .conftest import agrees, saved

WHOLE = ["one covariance for all classes", "a covariance for each class"]
PLAIN = ["one covariance of plain numbers", "own covariances of plain numbers"]


def a_table(n=200, *, gaps=False):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0),
            "steps": rng.integers(0, 4, n) + y,
            "flag": (rng.random(n) < 0.4 + 0.2 * y).astype(int),
            "town": rng.choice(["Bonn", "Ulm", "Köln"], n),
        }
    )
    if gaps:
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, y


def solved(model):
    return SolvedPieces.of(model.pieces_, model._learnt.sums.solvable())


def about_joint(model):
    pieces = model.pieces_
    return [pieces.listed[j].name for j in pieces.places("joint")]


def test_numbers_of_few_values_are_in_joint_gaussians_with_and_without_their_levels():
    X, y = a_table()
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    pieces = model.pieces_
    assert about_joint(model) == [*WHOLE, *PLAIN]
    # A level of the flag tells no more than its number, and towns have no size.
    levels = [X.columns[one.column] for one in pieces.joint if isinstance(one, Holds)]
    assert sorted(levels[:4]) == ["flag", "town", "town", "town"]
    assert levels[4:] == ["steps"] * 5
    assert pieces.n_plain == len(pieces.joint) - 5


@pytest.mark.parametrize("left_out", ["steps", "everything but flag"])
def test_without_such_levels_there_is_one_gaussian_of_a_kind(left_out):
    X, y = a_table()
    some = X.drop(columns="steps") if left_out == "steps" else X[["flag", "size"]]
    assert about_joint(EvidenceClassifier(pieces=["joint"]).fit(some, y)) == WHOLE


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
def test_gaussians_of_plain_numbers_are_those_of_these_columns_alone(gaps):
    X, y = a_table(gaps=gaps)
    X = X[["size", "steps"]]
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    assert model.pieces_.n_plain >= 2
    _, shared, own = solved(model).further
    for factor, covariance in ((shared, "shared"), (own, "full")):
        numbers = [one.columns[0] for one in model.pieces_.joint[: model.pieces_.n_plain]]
        assert len(factor.scale) == len(numbers)
        if gaps:
            continue
        alone = GaussianDiscriminant(covariance, shrinkage="bayes").fit(X.to_numpy(dtype=float), y)
        np.testing.assert_allclose(factor.mean, alone.means_, rtol=1e-9)
        np.testing.assert_allclose(
            factor.covariances()[factor.group], alone.covariances_, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
def test_contributions_sums_and_files_hold_them(gaps):
    X, y = a_table(gaps=gaps)
    model = EvidenceClassifier(pieces=["joint"]).fit(X, y)
    explained = model.explain(X)
    np.testing.assert_allclose(
        explained.contributions.sum(axis=1) + explained.prior, explained.total, rtol=0, atol=1e-9
    )
    agrees(EvidenceClassifier(pieces=model.pieces_).fit(X, y), model, X)
    other = EvidenceClassifier(pieces=model.pieces_).fit(X[:90], y[:90])
    other.partial_fit(X[90:], y[90:])
    for mine, others in zip(solved(other).further, solved(model).further, strict=True):
        np.testing.assert_allclose(mine.mean, others.mean, rtol=1e-9)
    assert saved(model) == saved(EvidenceClassifier(pieces=["joint"]).fit(X, y))
