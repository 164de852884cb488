"""Cross-validation: each row summed once, against scikit-learn's fits to every training set."""

import numpy as np
from sklearn import discriminant_analysis, naive_bayes
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict, cross_val_score

import suffice
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


def search(n_rows: int = 1_000_000, n_columns: int = 50, n_settings: int = 20) -> list[Comparison]:
    X, y = rows_of(n_rows, n_columns)
    grid = {"var_smoothing": np.logspace(-9, 0, n_settings)}

    def ours() -> np.ndarray:
        found = suffice.OnePassSearchCV(dropin.GaussianNB(), grid, cv=FOLDS, refit=False).fit(X, y)
        return found.cv_results_["mean_test_score"]

    def theirs() -> np.ndarray:
        settings = {"cv": FOLDS, "scoring": "neg_log_loss", "refit": False}
        return (
            GridSearchCV(naive_bayes.GaussianNB(), grid, **settings).fit(X, y).cv_results_["mean_test_score"]
        )

    assert np.allclose(ours(), theirs(), rtol=0, atol=1e-9)
    work = f"search, {FOLDS} folds × {n_settings} settings, GaussianNB"
    return [compare(work, n_rows, ours, theirs, repeats=1)]


def leave_one_out() -> list[Comparison]:
    X, y = load_wine(return_X_y=True)

    def ours() -> np.ndarray:
        return suffice.cross_val_predict_proba(dropin.LinearDiscriminantAnalysis(), X, y, cv=LeaveOneOut())

    def theirs() -> np.ndarray:
        model = discriminant_analysis.LinearDiscriminantAnalysis()
        return cross_val_predict(model, X, y, cv=LeaveOneOut(), method="predict_proba")

    assert np.allclose(ours(), theirs(), rtol=0, atol=1e-9)
    return [compare("leave-one-out, wine, LinearDiscriminantAnalysis", len(y), ours, theirs, repeats=3)]


PARTS = (folds, search, leave_one_out)
