"""Every row is answered by the model of all other rows, as by n refits, whichever way it is found."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_predict

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier, dropin, families
from suffice.estimators.splits import FittedToSplits
from suffice.factors.columns import left_out as columns_left_out
from suffice.factors.gaussian import left_out as gaussian_left_out

LDA, QDA = dropin.LinearDiscriminantAnalysis, dropin.QuadraticDiscriminantAnalysis
SHAPES = ("full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic")
SHRINKAGES = (None, 0.3, "oas", "ledoit_wolf", (0.0, 0.2), (0.4, 0.0), (0.3, 0.2), (1.0, 0.1))
GAUSSIANS = {
    **{
        f"{shape}, {shrinkage}, {posterior}": GaussianDiscriminant(
            shape, shrinkage=shrinkage, posterior=posterior
        )
        for shape in SHAPES
        for shrinkage in SHRINKAGES
        for posterior in ("plug-in", "predictive")
    },
    "groups": GaussianDiscriminant([["a", "b"], ["c"]], ddof=1),
    "groups, shrunk": GaussianDiscriminant([["a", "b"], ["c"]], shrinkage=0.2, ddof=1),
    "uniform priors": GaussianDiscriminant("shared", priors="uniform"),
    "zero priors": GaussianDiscriminant("full", priors=[0.5, 0.5, 0.0]),
    "LDA, svd": LDA(),
    "LDA, svd, priors": LDA(priors=[0.2, 0.3, 0.5]),
    **{f"LDA, {s}, {a}": LDA(s, shrinkage=a) for s in ("lsqr", "eigen") for a in (None, 0.3, "auto")},
    "LDA, lsqr, priors": LDA("lsqr", shrinkage=0.3, priors=[0.2, 0.3, 0.5]),
    "QDA": QDA(),
    "QDA, regular": QDA(reg_param=0.2),
    **{f"QDA, eigen, {a}": QDA(solver="eigen", shrinkage=a) for a in (None, 0.3, "auto")},
    "GaussianNB": dropin.GaussianNB(),
    "GaussianNB, smooth": dropin.GaussianNB(var_smoothing=0.1, priors=[0.2, 0.3, 0.5]),
}
OF_NUMBERS = {
    "normal": families.Normal(),
    "normal, alpha 0": families.Normal(alpha=0),
    "normal, ddof 1": families.Normal(ddof=1),
    "shared normal": families.Normal("shared"),
    "von mises": families.VonMises(),
    "log normal": families.LogNormal(),
    "gamma": families.Gamma(),
    "shared gamma": families.Gamma("shared"),
    "exponential": families.Exponential(),
    "inverse gaussian": families.InverseGaussian(),
    "histogram": families.Histogram(),
    "steps": families.Steps(),
}
OF_COUNTS = {
    "bernoulli": families.Bernoulli(),
    "categorical": families.Categorical(),
    "categorical, alpha 0": families.Categorical(alpha=0),
    "categorical, unseen": families.Categorical(unseen="smooth"),
    "poisson": families.Poisson(),
    "poisson, alpha 0": families.Poisson(alpha=0),
    "geometric": families.Geometric(),
    "negative binomial": families.NegativeBinomial(3),
    "binomial": families.Binomial(20),
    "hurdle": families.Hurdle(families.LogNormal()),
    "hurdle, alpha 0": families.Hurdle(families.Normal(alpha=0), at=2, alpha=0),
    "hurdle of steps": families.Hurdle(families.Steps()),
    "multinomial": families.Multinomial(),
    "multinomial, alpha 0": families.Multinomial(alpha=0),
}
COUNTED = {
    "MultinomialNB": dropin.MultinomialNB(),
    "MultinomialNB, uniform": dropin.MultinomialNB(alpha=0.1, fit_prior=False),
    "ComplementNB": dropin.ComplementNB(),
    "BernoulliNB": dropin.BernoulliNB(binarize=1.0),
    "CategoricalNB": dropin.CategoricalNB(min_categories=40),
}


def refitted(model, X, y, weights):
    """The classes and the log posteriors of each row by a refit to all others, or the first error."""
    answers = []
    for row in range(len(y)):
        train = np.delete(np.arange(len(y)), row)
        own = () if weights is None else (weights[train],)
        try:
            fitted = clone(model).fit(X[train], y[train], *own)
            answers.append((fitted.classes_.tolist(), fitted.predict_log_proba(X[[row]])[0]))
        except (ValueError, TypeError, NotImplementedError, ArithmeticError) as error:
            return error
    return answers


def assert_equals_refits(model, X, y, weights=None):
    """Compare the posteriors of cross-validation, and the log posteriors that were found without refits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = refitted(model, X, y, weights)
        refused = pytest.raises(type(expected)) if isinstance(expected, Exception) else nullcontext()
        with refused:
            found = suffice.cross_val_predict_proba(model, X, y, cv=LeaveOneOut(), sample_weight=weights)
        if isinstance(expected, Exception):
            return None
        known = model._without_each(X, y, [{}], weights)[0]
    classes = np.unique(y).tolist()
    for row, (labels, log_p) in enumerate(expected):
        posterior = np.zeros(len(classes))
        posterior[[classes.index(label) for label in labels]] = np.exp(log_p)
        np.testing.assert_allclose(found[row], posterior, rtol=0, atol=1e-9)
        if known is not None and known.exact[row]:
            assert known.classes.tolist() == labels
            np.testing.assert_allclose(known.log_posteriors[row], log_p, rtol=1e-9, atol=1e-9)
    return known


@st.composite
def tables(draw, *, positive=False, counts=False, gaps=False):
    """A small table with constant and repeated columns, outliers, rare classes and weights."""
    n_rows, n_columns = draw(st.integers(5, 20)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.array(list("abc"))[rng.integers(0, 3, n_rows) if draw(st.booleans()) else np.arange(n_rows) % 3]
    X = (
        rng.poisson(2.0, (n_rows, n_columns)).astype(np.float64)
        if counts
        else rng.normal(size=(n_rows, n_columns))
    )
    if draw(st.booleans()):
        X = np.round(X * 2.0) / 2.0  # many values are equal
    if draw(st.booleans()):
        X[:, 0] = np.where(y == "a", 3.0, X[:, 0])  # constant in a class
    if not counts:
        X[rng.integers(n_rows), 0] += draw(st.sampled_from([0.0, 0.0, 10.0, 1e6]))
        X = X * draw(st.sampled_from([1.0, 1e-3, 1e5])) + draw(st.sampled_from([0.0, 100.0]))
    if positive:
        X = np.abs(X) + 0.25
    if gaps and draw(st.booleans()):
        X[rng.random(X.shape) < 0.15] = np.nan
    weights = draw(st.sampled_from([None, [1.0], [0.5, 1.0, 3.0], [0.0, 0.1, 1.0]]))
    weights = None if weights is None else rng.choice(weights, n_rows)
    if weights is not None and not (weights > 0).any():
        weights = None
    return X, y, weights


few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", GAUSSIANS)
@few
@given(table=tables())
def test_a_gaussian_model_without_a_row_is_its_refit(name, table):
    assert_equals_refits(GAUSSIANS[name], *table)


@pytest.mark.parametrize("name", [*OF_NUMBERS, "predictive"])
@few
@given(table=tables(positive=True, gaps=True))
def test_columns_without_a_row_are_their_refit(name, table):
    if name == "predictive":
        model = BayesClassifier(families.Normal(), posterior="predictive")
    else:
        model = BayesClassifier(OF_NUMBERS[name])
    X, y, weights = table
    assert_equals_refits(model, X % 6.0 if name == "von mises" else X, y, weights)


@pytest.mark.parametrize("name", [*OF_COUNTS, *COUNTED])
@few
@given(table=tables(counts=True))
def test_counts_and_levels_without_a_row_are_their_refit(name, table):
    X, y, weights = table
    X = np.minimum(X, 1.0) if name == "bernoulli" else X + (name == "geometric")
    model = COUNTED[name] if name in COUNTED else BayesClassifier(OF_COUNTS[name])
    assert_equals_refits(model, X, y, weights)


@pytest.mark.parametrize("missing", ["em", "pairwise"])
def test_gaps_in_a_joint_block_take_refits_and_give_their_posteriors(missing):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), np.array(list("ab"))[np.arange(15) % 2]
    X[3, 1] = X[8, 0] = np.nan
    assert assert_equals_refits(GaussianDiscriminant("shared", missing=missing), X, y) is None


@pytest.mark.parametrize("model", [TextClassifier(), TextClassifier("complement"), TextClassifier(idf=True)])
def test_texts_without_a_row_are_their_refit(model):
    words = np.random.default_rng(0).choice(["good", "bad", "film", "plot", "dull"], (12, 4))
    texts = np.array([" ".join(row) for row in words] + ["unique word"], dtype=object)
    assert_equals_refits(model, texts, np.array(list("ab") * 6 + ["a"]))


@pytest.mark.parametrize(
    "model",
    [
        *(GaussianDiscriminant("shared", shrinkage=s) for s in SHRINKAGES),
        *(GaussianDiscriminant("full", shrinkage=s) for s in (0.3, "oas", "ledoit_wolf", (0.3, 0.2))),
        GaussianDiscriminant([["a", "b"], ["c"]], shrinkage=0.2),
        GaussianDiscriminant("diagonal"),
        LDA("lsqr", shrinkage=0.3),
        LDA("eigen", shrinkage=0.3, priors=[0.2, 0.3, 0.5]),
        dropin.GaussianNB(),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_of_many_columns_without_a_row_are_their_refit(model, weighted):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(13, 260)), np.array(list("abc"))[np.arange(13) % 3]
    X = X * np.exp(rng.normal(size=260)) + (y == "a")[:, np.newaxis]
    known = assert_equals_refits(model, X, y, rng.choice([0.5, 1.0, 2.0], 13) if weighted else None)
    singular = type(model) is GaussianDiscriminant and model.covariance == "shared"
    singular = singular and model.shrinkage in (None, (0.4, 0.0))
    assert known is None if singular else known.exact.all()


def exact_rows(model, X, y, weights=None):
    return assert_equals_refits(model, X, y, weights).exact


def test_a_row_of_leverage_one_is_solved_afresh():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.array(list("ab"))[np.arange(20) % 2]
    X[:, 1] = X[:, 0] * 2.0
    X[4, 1] += 1.0  # without it, the columns are collinear
    assert np.flatnonzero(~exact_rows(GaussianDiscriminant("shared"), X, y)).tolist() == [4]


@pytest.mark.parametrize(
    "model", [BayesClassifier(families.Normal(alpha=0)), GaussianDiscriminant("diagonal")]
)
def test_a_row_without_which_a_class_is_constant_is_solved_afresh(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.array(list("ab"))[np.arange(20) % 2]
    X[y == "a", 0] = 0.1
    X[4, 0] = 7.3
    assert not exact_rows(model, X, y)[4]


def test_a_class_or_a_level_that_vanishes_with_a_row_is_solved_afresh():
    X = np.array([["x"], ["x"], ["y"], ["y"], ["z"], ["x"], ["y"], ["x"]], dtype=object)
    y = np.array(list("aabbabbc"))
    exact = exact_rows(BayesClassifier(families.Categorical()), X, y)
    assert np.flatnonzero(~exact).tolist() == [4, 7]


@pytest.mark.parametrize("module, bound", [(gaussian_left_out, "STIFFEST"), (columns_left_out, "SHRINKS")])
def test_the_bounds_decide_which_rows_are_solved_afresh(monkeypatch, module, bound):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.array(list("ab"))[np.arange(20) % 2]
    model = (
        GaussianDiscriminant("full") if module is gaussian_left_out else BayesClassifier(families.Normal())
    )
    assert exact_rows(model, X, y).all()
    monkeypatch.setattr(module, bound, 0 if module is gaussian_left_out else -2000)
    assert not exact_rows(model, X, y).any()


@pytest.mark.parametrize("model", [LDA(), LDA("lsqr"), LDA("eigen", shrinkage=0.1)], ids=str)
def test_scores_that_are_differences_of_large_numbers_are_those_of_refits(model):
    y = np.array(list("cbbaac"))
    for X in (
        np.array([1000000.1, -0.535669373, 0.361595055, 1.30400005, 0.947080963, 1000000.3]),
        100.0 + 1e-6 * np.array([0.3, 0.1, -0.3, 0.7, 0.2, -0.8]),
    ):
        assert_equals_refits(model, X[:, np.newaxis], y)


@pytest.mark.parametrize("family", [families.Gamma(), families.Gamma("shared"), families.InverseGaussian()])
def test_a_column_that_hardly_varies_beside_its_size_is_solved_afresh(family):
    X, y = np.array([[100.251], [100.25], [100.2505], [100.2605], [100.2505]]), np.array(list("cbcbb"))
    assert not exact_rows(BayesClassifier(family), X, y).any()
    assert exact_rows(BayesClassifier(family), X - 100.0, y)[[1, 3, 4]].all()


@pytest.mark.parametrize("alpha, found", [(0.0, False), (1.0, True)])
def test_a_class_that_hardly_varies_is_solved_afresh_where_nothing_smooths_it(alpha, found):
    X = np.array([[100.2501], [100.25], [100.2505], [1.0], [2.0], [4.0]])
    exact = exact_rows(BayesClassifier(families.Gamma(alpha=alpha)), X, np.array(list("aaabbb")))
    assert (exact == found).all()


@pytest.fixture
def wine():
    from sklearn.datasets import load_wine

    return load_wine(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        BayesClassifier(),
        GaussianDiscriminant("full"),
        GaussianDiscriminant("shared", shrinkage="ledoit_wolf"),
        dropin.GaussianNB(),
        LDA(),
        LDA("lsqr", shrinkage="auto"),
        QDA(),
    ],
    ids=str,
)
def test_wine_takes_no_refit(model, wine, monkeypatch):
    X, y = wine

    def refuse(*_):
        raise AssertionError("a model was refitted")

    monkeypatch.setattr(FittedToSplits, "fit_grid", refuse)
    found = suffice.cross_val_predict_proba(model, X, y, cv=LeaveOneOut())
    assert found.shape == (178, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_every_function_of_cross_validation_gives_the_numbers_of_refits(wine):
    X, y = wine[0][::4], wine[1][::4]
    model = GaussianDiscriminant("shared")
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut(), method="predict_proba")
    for cv in (LeaveOneOut(), KFold(len(y)), KFold(len(y), shuffle=True, random_state=0)):
        np.testing.assert_allclose(suffice.cross_val_predict_proba(model, X, y, cv=cv), expected, atol=1e-9)
    report = suffice.evaluate(model, X, y, cv=LeaveOneOut())
    assert report.log_loss == pytest.approx(suffice.Evaluation.of(y, expected).log_loss, rel=1e-9)
    scores = suffice.cross_val_scores(model, X, y, cv=LeaveOneOut(), scoring=["neg_log_loss", "accuracy"])
    np.testing.assert_allclose(scores["neg_log_loss"], np.log(expected[np.arange(len(y)), y]), atol=1e-9)
    np.testing.assert_array_equal(scores["accuracy"], expected.argmax(axis=1) == y)
    shuffled = KFold(len(y), shuffle=True, random_state=0)
    order = np.concatenate([test for _, test in shuffled.split(X)])
    found = suffice.cross_val_scores(model, X, y, cv=shuffled)
    np.testing.assert_allclose(found, scores["neg_log_loss"][order], atol=1e-12)


def test_a_search_by_leave_one_out_is_scikit_learns(wine):
    X, y = wine[0][::6], wine[1][::6]
    grid = {"covariance": ["full", "shared", "diagonal"], "shrinkage": [None, 0.2, "oas"]}
    found = suffice.OnePassSearchCV(
        GaussianDiscriminant(), grid, cv=LeaveOneOut(), scoring="accuracy", return_train_score=True
    ).fit(X, y)
    theirs = GridSearchCV(
        GaussianDiscriminant(), grid, cv=LeaveOneOut(), scoring="accuracy", return_train_score=True
    ).fit(X, y)
    for name in ("mean_test_score", "mean_train_score"):
        np.testing.assert_allclose(found.cv_results_[name], theirs.cv_results_[name], atol=1e-12)
    assert found.best_params_ == theirs.best_params_


def test_a_scorer_may_ask_anything_of_the_model_without_the_row():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.array(list("ab"))[np.arange(12) % 2]

    def scorer(model, cells, labels):
        assert len(labels) == 1
        assert model.statistics_.n_rows == 11
        other = model.predict_proba(X)  # not the row held out
        return float(other[0, 0] + model.predict_proba(cells)[0, 0] + (model.predict(X) == y).mean())

    found = suffice.cross_val_scores(GaussianDiscriminant(), X, y, cv=LeaveOneOut(), scoring=scorer)
    for row in range(12):
        train = np.delete(np.arange(12), row)
        model = GaussianDiscriminant().fit(X[train], y[train])
        assert found[row] == pytest.approx(scorer(model, X[[row]], y[[row]]), rel=1e-9)


def test_frames_and_mixed_columns_are_left_out_row_by_row():
    X, y = suffice.load_penguins()
    X, y = X.to_pandas().iloc[::9], np.asarray(y)[::9]
    model = BayesClassifier()
    found = suffice.cross_val_predict_proba(model, X, y, cv=LeaveOneOut())
    schema = BayesClassifier().fit(X, y).schema_
    for row in range(0, len(y), 3):
        train = np.delete(np.arange(len(y)), row)
        refit = BayesClassifier(schema).fit(X.iloc[train], y[train])
        np.testing.assert_allclose(found[row], refit.predict_proba(X.iloc[[row]])[0], atol=1e-9)


def test_what_fit_refuses_leave_one_out_refuses_too():
    X, y = np.arange(6.0)[:, np.newaxis], np.array(list("aabbab"))
    bad = X.copy()
    bad[3, 0] = np.inf
    with pytest.raises(ValueError, match="row 3"):
        suffice.cross_val_predict_proba(BayesClassifier(families.Normal()), bad, y, cv=LeaveOneOut())
    with pytest.raises(ValueError, match="priors"):
        suffice.cross_val_predict_proba(BayesClassifier(priors=[0.5, 0.6]), X, y, cv=LeaveOneOut())
    with pytest.raises(ValueError, match="training rows"):
        suffice.cross_val_predict_proba(BayesClassifier(), X[:1], y[:1], cv=[([], [0])])
