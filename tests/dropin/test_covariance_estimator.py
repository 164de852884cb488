"""`covariance_estimator` finds the covariances in the rows passed to `fit`, as in scikit-learn."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.covariance import OAS, LedoitWolf, MinCovDet, ShrunkCovariance

from suffice import dropin

LINEAR = ("coef_", "intercept_", "means_", "priors_", "covariance_")
QUADRATIC = ("means_", "priors_", "scalings_", "covariance_")
SCORES = ("predict_proba", "predict_log_proba", "decision_function")
ESTIMATORS = [
    LedoitWolf(),
    OAS(),
    ShrunkCovariance(shrinkage=0.3),
    MinCovDet(random_state=0),
]
MODELS = [
    ("LinearDiscriminantAnalysis", "lsqr"),
    ("LinearDiscriminantAnalysis", "eigen"),
    ("QuadraticDiscriminantAnalysis", "eigen"),
]


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]], ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("name, solver", MODELS)
def test_every_parameter_and_score_agrees(pair, iris, name, solver, estimator, priors):
    X, y = iris
    both = pair(
        name, solver=solver, covariance_estimator=estimator, priors=priors, store_covariance=True
    ).fit(X, y)
    attributes = LINEAR if name.startswith("Linear") else QUADRATIC
    both.agree(X, attributes=attributes, methods=SCORES)
    if solver == "eigen" and name.startswith("Linear"):
        both.agree(X, attributes=("explained_variance_ratio_",))
        ours, theirs = both.ours.transform(X), both.theirs.transform(X)
        np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name, solver", MODELS)
def test_one_column_has_a_covariance_too(pair, iris, name, solver):
    X, y = iris[0][:, :1], iris[1]
    pair(name, solver=solver, covariance_estimator=LedoitWolf()).fit(X, y).agree(X, methods=SCORES)


def fitted(name, solver, X, y):
    return getattr(dropin, name)(solver=solver, covariance_estimator=LedoitWolf()).fit(X, y)


@pytest.mark.parametrize("name, solver", MODELS)
def test_other_priors_copies_and_pickles_keep_the_estimate(iris, name, solver):
    X, y = iris
    model = fitted(name, solver, X, y)
    given = getattr(dropin, name)(
        solver=solver, covariance_estimator=LedoitWolf(), priors=[0.1, 0.3, 0.6]
    ).fit(X, y)
    moved = model.with_priors([0.1, 0.3, 0.6])
    np.testing.assert_allclose(moved.predict_proba(X), given.predict_proba(X), rtol=1e-12)
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name, solver", MODELS)
def test_rows_cannot_be_added_or_removed_and_the_error_says_why(iris, tmp_path, name, solver):
    X, y = iris
    model = fitted(name, solver, X, y)
    before = model.predict_proba(X)
    plain = getattr(dropin, name)(solver=solver).fit(X, y)
    path = tmp_path / "iris.csv"
    path.write_text("a,b\n" + "\n".join(f"{row[0]},{label}" for row, label in zip(X, y, strict=True)))
    for change in (
        lambda: model.partial_fit(X, y),
        lambda: type(model)(solver=solver, covariance_estimator=LedoitWolf()).partial_fit(X, y),
        lambda: model.forget(X[:3], y[:3]),
        lambda: model.merge(plain),
        lambda: model.fit_statistics(plain.statistics_),
        lambda: model.fit_from(path, target="b"),
    ):
        with pytest.raises(NotImplementedError, match="covariance_estimator needs all rows at once"):
            change()
    assert np.array_equal(model.predict_proba(X), before)


def test_a_model_fitted_again_without_the_estimator_forgets_it(iris):
    X, y = iris
    model = fitted("LinearDiscriminantAnalysis", "lsqr", X, y)
    model.set_params(covariance_estimator=None).fit(X, y)
    plain = dropin.LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert np.array_equal(model.partial_fit(X, y).means_, plain.partial_fit(X, y).means_)


def test_weights_and_gaps_are_refused(iris):
    X, y = iris
    model = dropin.QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=LedoitWolf())
    with pytest.raises(ValueError, match="covariance_estimator does not take weights"):
        model.fit(X, y, sample_weight=np.ones(len(y)))
    holed = X.copy()
    holed[3, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 has missing cells, but covariance_estimator"):
        model.fit(holed, y)
    assert not hasattr(model, "classes_")


def test_the_users_estimator_stays_unfitted(iris):
    estimator = LedoitWolf()
    dropin.LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=estimator).fit(*iris)
    assert not hasattr(estimator, "covariance_")


def test_a_model_with_an_estimator_cannot_be_saved_and_says_so(iris, tmp_path):
    model = fitted("LinearDiscriminantAnalysis", "lsqr", *iris)
    with pytest.raises(TypeError, match="covariance_estimator"):
        model.save(tmp_path / "model.suffice")


def test_rows_cannot_be_forgotten_but_those_left_can_be_fitted(iris):
    X, y = iris
    model = fitted("LinearDiscriminantAnalysis", "lsqr", X, y)
    with pytest.raises(
        NotImplementedError, match=r"cannot forget rows: .* call fit with the rows that are left"
    ):
        model.forget(X[:3], y[:3])
