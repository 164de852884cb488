"""Every fitted attribute and posterior of the naive Bayes models is scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import naive_bayes

from suffice import dropin

SCORES = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")
GAUSSIAN = ("theta_", "var_", "epsilon_", "class_count_", "class_prior_")
COUNTED = ("feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_")
CATEGORICAL = ("category_count_", "n_categories_", "feature_log_prob_", "class_count_", "class_log_prior_")


def test_the_floor_is_a_number_of_numpy_as_it_is_there(pair, iris):
    both = pair("GaussianNB").fit(*iris)
    assert type(both.ours.epsilon_) is type(both.theirs.epsilon_)


def priors_of(y):
    shares = np.arange(1.0, len(np.unique(y)) + 1)
    return shares / shares.sum()


@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.5])
def test_gaussian_parameters_and_posteriors_agree(pair, measured, share):
    X, y = measured
    for priors in (None, priors_of(y)):
        both = pair("GaussianNB", var_smoothing=share, priors=priors).fit(X, y)
        both.agree(X, attributes=GAUSSIAN, methods=SCORES)


def test_gaussian_agrees_with_weights_where_there_is_no_floor(pair, measured):
    X, y = measured
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(y))
    both = pair("GaussianNB", var_smoothing=0.0).fit(X, y, sample_weight=weights)
    both.agree(X, attributes=GAUSSIAN, methods=("predict_proba",))


def test_the_floor_is_of_the_weighted_variance(measured):
    X, y = measured
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = dropin.GaussianNB(var_smoothing=1e-2).fit(X, y, weights)
    repeated = naive_bayes.GaussianNB(var_smoothing=1e-2).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.epsilon_, repeated.epsilon_, rtol=1e-10)
    np.testing.assert_allclose(weighted.var_, repeated.var_, rtol=1e-9)


@given(
    arrays(np.float64, (12, 3), elements=st.integers(-800, 800).map(lambda i: i / 8)),
    st.lists(st.integers(0, 2), min_size=12, max_size=12),
    st.floats(1e-6, 1.0),
)
@settings(max_examples=60, deadline=None)
def test_gaussian_agrees_on_any_rows_that_vary(X, y, share):
    if not X.var(axis=0).any():
        return
    ours = dropin.GaussianNB(var_smoothing=share).fit(X, y)
    theirs = naive_bayes.GaussianNB(var_smoothing=share).fit(X, y)
    for name in GAUSSIAN:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-9)


def test_a_constant_column_counts_in_the_joint_score_as_theirs_does(pair, iris):
    X, y = iris
    X = np.column_stack([X, np.full(len(y), 3.0)])
    both = pair("GaussianNB").fit(X, y)
    X[:, -1] += 1e-4
    both.agree(X, attributes=GAUSSIAN, methods=SCORES)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
def test_gaussian_posteriors_do_not_depend_on_the_unit(iris, scale):
    X, y = iris
    plain = dropin.GaussianNB(var_smoothing=1e-3).fit(X, y).predict_proba(X)
    scaled = dropin.GaussianNB(var_smoothing=1e-3).fit(X * scale, y).predict_proba(X * scale)
    np.testing.assert_allclose(scaled, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.1, "fit_prior": False}, {"alpha": 2.0, "class_prior": True}]
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_counts_and_posteriors_agree(pair, measured, name, options, weighted, container):
    X, y = measured
    if "class_prior" in options:
        options = options | {"class_prior": 2.0 * priors_of(y)}
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(y)) if weighted else None
    rows = container(np.floor(X) if name != "BernoulliNB" else X - X.min(axis=0))
    both = pair(name, **options).fit(rows, y, sample_weight=weights)
    both.agree(rows, attributes=COUNTED, methods=SCORES)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_alpha_may_differ_from_column_to_column(pair, measured, name):
    X, y = measured
    alpha = np.random.default_rng(0).uniform(0.1, 2.0, X.shape[1])
    pair(name, alpha=alpha).fit(X, y).agree(X, attributes=COUNTED, methods=SCORES)


def test_alpha_of_each_column_of_bernoulli_is_that_of_its_two_outcomes(iris):
    X, y = iris
    X = X.mean(axis=0) < X
    alpha = np.array([0.1, 0.5, 1.0, 2.0])
    ours = dropin.BernoulliNB(alpha=alpha).fit(X, y)
    for j in range(4):
        alone = naive_bayes.BernoulliNB(alpha=alpha[j]).fit(X[:, [j]], y)
        np.testing.assert_allclose(ours.feature_log_prob_[:, [j]], alone.feature_log_prob_, rtol=1e-12)


def test_normalised_complement_weights_agree(pair, measured):
    X, y = measured
    both = pair("ComplementNB", norm=True).fit(X, y)
    both.agree(X, attributes=(*COUNTED, "feature_all_"), methods=SCORES)


@pytest.mark.parametrize("threshold", [None, 0.0, 0.4, 3.0])
def test_bernoulli_thresholds_as_theirs_does(pair, iris, threshold):
    X, y = iris
    X = (X > 3.0).astype(float) if threshold is None else X - 2.0 if threshold == 0.0 else X
    pair("BernoulliNB", binarize=threshold).fit(X, y).agree(X, attributes=COUNTED, methods=SCORES)


@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.3}, {"min_categories": 9}, {"min_categories": [9, 6, 8, 4]}]
)
def test_categories_agree(pair, iris, options):
    X, y = iris
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(y))
    both = pair("CategoricalNB", **options).fit(X.astype(int), y, sample_weight=weights)
    both.agree(X.astype(int), attributes=CATEGORICAL, methods=SCORES)


def test_fractions_of_categories_are_cut_off_as_theirs_are(pair, iris):
    X, y = iris
    pair("CategoricalNB").fit(X, y).agree(X, attributes=CATEGORICAL, methods=SCORES)


@given(
    arrays(np.int64, (15, 3), elements=st.integers(0, 5)),
    st.lists(st.integers(0, 3), min_size=15, max_size=15),
    st.sampled_from(["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]),
    st.floats(0.01, 3.0),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_discrete_models_agree_on_any_counts(X, y, name, alpha, fit_prior):
    ours = getattr(dropin, name)(alpha=alpha, fit_prior=fit_prior).fit(X, y)
    theirs = getattr(naive_bayes, name)(alpha=alpha, fit_prior=fit_prior).fit(X, y)
    for score in SCORES:
        np.testing.assert_allclose(getattr(ours, score)(X), getattr(theirs, score)(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
)
@pytest.mark.parametrize("with_priors", [False, True])
def test_a_declared_class_without_rows_behaves_the_same(pair, iris, name, with_priors):
    X, y = iris
    X, y = np.floor(X[:100]), y[:100]
    setting = "priors" if name == "GaussianNB" else "class_prior"
    both = pair(name, **({setting: [0.2, 0.3, 0.1, 0.4]} if with_priors else {}))
    # One batch, since the floor and the categories of theirs are those of the last one.
    for model in (both.ours, both.theirs):
        model.partial_fit(X, y, classes=[0, 1, 2, 7])
    attributes = GAUSSIAN if name == "GaussianNB" else CATEGORICAL if name == "CategoricalNB" else COUNTED
    with np.errstate(divide="ignore"):
        both.agree(X, attributes=attributes, methods=SCORES)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_batches_agree(pair, iris, name):
    X, y = iris
    both = pair(name)
    order = np.random.default_rng(1).permutation(len(y))
    for rows in np.array_split(order, 4):
        for model in (both.ours, both.theirs):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    both.agree(X, attributes=COUNTED, methods=SCORES)


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB"])
def test_a_class_of_weightless_rows_stays_a_class(pair, iris, name):
    X, y = iris
    X = np.floor(X)
    both = pair(name).fit(X, y, sample_weight=(y != 1).astype(float))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(both.ours.predict_proba(X), both.theirs.predict_proba(X), atol=1e-8)
    assert both.ours.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
@pytest.mark.parametrize(
    "setting", [{"alpha": [1.0, 2.0, 3.0]}, {"class_prior": [0.2, 0.3, 0.5]}], ids=["alpha", "class_prior"]
)
def test_rows_that_come_with_wrong_settings_are_not_added(name, setting):
    model = getattr(dropin, name)().partial_fit([[1, 2], [0, 1]], ["a", "b"], classes=["a", "b"])
    before = model.statistics_
    with pytest.raises(ValueError, match=r"\S"):
        model.set_params(**setting).partial_fit([[1, 1]], ["a"])
    assert model.statistics_ == before


def small_alpha():
    return dropin.MultinomialNB(alpha=0.0, force_alpha=False)


X_COUNTS, Y_COUNTS = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), np.array([0, 1, 0])


@pytest.mark.parametrize(
    "act",
    [
        lambda: small_alpha().fit(X_COUNTS, Y_COUNTS),
        lambda: small_alpha().partial_fit(X_COUNTS, Y_COUNTS, classes=[0, 1]),
        lambda: dropin.CategoricalNB(alpha=0.0, force_alpha=False).fit(X_COUNTS, Y_COUNTS),
        lambda: dropin.LinearDiscriminantAnalysis(priors=[1.0, 1.0]).fit(X_COUNTS, Y_COUNTS),
        lambda: dropin.GaussianNB().fit(X_COUNTS, Y_COUNTS[:, np.newaxis]),
    ],
    ids=["fit", "partial_fit", "CategoricalNB", "priors", "column of labels"],
)
def test_warnings_point_to_the_line_of_the_caller(act):
    with pytest.warns(UserWarning, match="alpha too small|do not sum to 1|column-vector") as said:
        act()
    assert [one.filename for one in said] == [__file__]
