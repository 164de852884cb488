"""Cross-validation: each row summed once, against scikit-learn's fits to every training set."""

import numpy as np
from sklearn import discriminant_analysis, naive_bayes
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    ParameterGrid,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

import suffice
import text
from comparison import Comparison, compare
from dense import rows_of
from suffice import dropin

FOLDS = 10


def folds(n_rows: int = 1_000_000, n_columns: int = 50) -> list[Comparison]:
    X, y = rows_of(n_rows, n_columns)

    def ours() -> np.ndarray:
        return suffice.cross_val_scores(dropin.GaussianNB(), X, y, cv=FOLDS)

    def theirs() -> np.ndarray:
        return cross_val_score(naive_bayes.GaussianNB(), X, y, cv=FOLDS, scoring="neg_log_loss")

    assert np.allclose(ours(), theirs(), rtol=0, atol=1e-9)
    return [compare(f"cross-validation, {FOLDS} folds, GaussianNB", n_rows, ours, theirs, repeats=3)]


def search(n_rows: int = 1_000_000, n_columns: int = 50) -> list[Comparison]:
    X, y = rows_of(n_rows, n_columns)
    grid = {"var_smoothing": np.logspace(-9, 0, 20)}
    return [_searched("GaussianNB", dropin.GaussianNB(), naive_bayes.GaussianNB(), grid, (X, y), 50)]


def shrinkages(n_rows: int = 200_000, n_columns: int = 50) -> list[Comparison]:
    X, y = rows_of(n_rows, n_columns)
    grid = {"shrinkage": np.linspace(0.05, 0.95, 10)}
    ours = dropin.LinearDiscriminantAnalysis(solver="lsqr")
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr")
    return [_searched("LDA", ours, theirs, grid, (X, y), 20)]


def alphas() -> list[Comparison]:
    if text.FOLDER is None:
        print("imdb: left out, SUFFICE_DATA does not name the folder of public data sets")
        return []
    values = np.logspace(-2, 1, 10)
    theirs = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB())
    return [
        _searched(
            "text of imdb",
            suffice.TextClassifier(),
            theirs,
            {"alpha": values},
            text.table("imdb", "train"),
            30,
            cv=5,
            their_grid={"multinomialnb__alpha": values},
            # Their log loss of two classes takes 1 − p, which has lost the digits of sure answers.
            scoring="accuracy",
        )
    ]


def _searched(
    title: str,
    our_model: object,
    their_model: object,
    grid: dict[str, np.ndarray],
    data: tuple[object, np.ndarray],
    at_least: float,
    *,
    cv: int = FOLDS,
    their_grid: dict[str, np.ndarray] | None = None,
    scoring: str = "neg_log_loss",
) -> Comparison:
    """The same search both ways, after checking that both find the same scores."""
    settings = {"cv": cv, "scoring": scoring, "refit": False}

    def ours() -> np.ndarray:
        return suffice.OnePassSearchCV(our_model, grid, **settings).fit(*data).cv_results_["mean_test_score"]

    def theirs() -> np.ndarray:
        search = GridSearchCV(their_model, their_grid or grid, **settings)
        return search.fit(*data).cv_results_["mean_test_score"]

    found: list[np.ndarray] = []
    n_settings = len(ParameterGrid(grid))
    result = compare(
        f"search, {cv} folds × {n_settings} settings, {title}",
        len(data[1]),
        lambda: found.append(ours()),
        lambda: found.append(theirs()),
        repeats=1,
        at_least=at_least,
    )
    for scores in found:
        np.testing.assert_allclose(scores, found[0], rtol=0, atol=1e-9)
    return result


def leave_one_out() -> list[Comparison]:
    X, y = load_wine(return_X_y=True)

    def ours() -> np.ndarray:
        return suffice.cross_val_predict_proba(dropin.LinearDiscriminantAnalysis(), X, y, cv=LeaveOneOut())

    def theirs() -> np.ndarray:
        model = discriminant_analysis.LinearDiscriminantAnalysis()
        return cross_val_predict(model, X, y, cv=LeaveOneOut(), method="predict_proba")

    assert np.allclose(ours(), theirs(), rtol=0, atol=1e-9)
    return [compare("leave-one-out, wine, LinearDiscriminantAnalysis", len(y), ours, theirs, repeats=3)]


PARTS = (folds, search, shrinkages, alphas, leave_one_out)
