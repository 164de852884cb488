"""Divergences of columns equal what they are expected to be: means over rows drawn from a class."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier, families

CLASSES = np.array(["a", "b", "c"])


def table(kind):
    rng = np.random.default_rng(0)
    y = CLASSES[rng.integers(0, 3, 600)]
    shift = np.searchsorted(CLASSES, y)[:, np.newaxis]
    X = np.abs(rng.normal(2.0 + 0.7 * shift, 1.0, (600, 2))) + 0.5
    if kind == "counts":
        return np.floor(X), y
    if kind == "zeros":
        return np.where(X > 2.0, X, 0.0), y
    if kind == "flags":
        return (X > 3.0).astype(float), y
    return (X / 10.0 if kind == "shares" else X), y


MODELS = [
    (families.Normal(), "numbers"),
    (families.Normal("shared"), "numbers"),
    (families.LogNormal(), "numbers"),
    (families.Gamma(), "numbers"),
    (families.Exponential(), "numbers"),
    (families.InverseGaussian(), "numbers"),
    (families.VonMises(), "numbers"),
    (families.Histogram(), "numbers"),
    (families.Steps(), "numbers"),
    (families.Hurdle(families.Gamma()), "zeros"),
    (families.Hurdle(families.Steps()), "zeros"),
    (families.Beta(), "shares"),
    (families.Poisson(), "counts"),
    (families.Geometric(), "counts"),
    (families.NegativeBinomial(2.0), "counts"),
    (families.Binomial(12), "counts"),
    (families.Categorical(), "counts"),
    (families.Bernoulli(), "flags"),
]


def expected(model, true, against, n=40_000):
    """Means of the log odds, and of exp(−½ log odds), over rows of a class."""
    rows, _ = model.sample(n, random_state=0, labels=true)
    log_p = model.predict_joint_log_proba(rows) - np.log(model.priors_)
    a, b = (list(model.classes_).index(label) for label in (true, against))
    odds = log_p[:, a] - log_p[:, b]
    root = np.exp(-0.5 * odds)
    return (odds.mean(), odds.std() / np.sqrt(n)), (root.mean(), root.std() / np.sqrt(n))


@pytest.mark.parametrize("family, kind", MODELS, ids=str)
def test_evidence_is_the_mean_of_the_log_odds(family, kind):
    X, y = table(kind)
    check(BayesClassifier(family).fit(X, y))


@pytest.mark.parametrize("covariance", ["full", "shared", "isotropic"])
def test_evidence_of_a_joint_gaussian_is_the_mean_of_the_log_odds(covariance):
    X, y = table("numbers")
    X[:, 1] += X[:, 0]
    check(GaussianDiscriminant(covariance).fit(X, y))


def check(model):
    found = model.evidence()
    for i, true in enumerate(CLASSES):
        for j, against in enumerate(CLASSES):
            if i == j:
                assert found.total_kl[i, j] == pytest.approx(0.0, abs=1e-10)
                assert found.total_bhattacharyya[i, j] == pytest.approx(0.0, abs=1e-10)
                continue
            (mean, error), (root, root_error) = expected(model, true, against)
            assert abs(found.total_kl[i, j] - mean) < 6.0 * error
            assert abs(np.exp(-found.total_bhattacharyya[i, j]) - root) < 6.0 * root_error
    np.testing.assert_allclose(found.total_bhattacharyya, found.total_bhattacharyya.T, atol=1e-9)
    assert (found.kl >= 2.0 * found.bhattacharyya - 1e-9).all()


def test_normal_columns_have_the_textbook_divergence():
    X, y = table("numbers")
    found = BayesClassifier(families.Normal(alpha=0)).fit(X, y).evidence()
    a, b = X[y == "a", 0], X[y == "b", 0]
    kl = np.log(b.std() / a.std()) + (a.var() + (a.mean() - b.mean()) ** 2) / (2 * b.var()) - 0.5
    assert found.kl[0, 0, 1] == pytest.approx(kl, rel=1e-10)

    def root(x):
        return np.sqrt(stats.norm.pdf(x, a.mean(), a.std()) * stats.norm.pdf(x, b.mean(), b.std()))

    distance = -np.log(integrate.quad(root, -20, 25)[0])
    assert found.bhattacharyya[0, 0, 1] == pytest.approx(distance, rel=1e-8)


def test_the_columns_of_a_joint_gaussian_are_judged_alone():
    X, y = table("numbers")
    joint = GaussianDiscriminant("full").fit(X, y).evidence()
    apart = GaussianDiscriminant("diagonal").fit(X, y).evidence()
    np.testing.assert_allclose(joint.kl, apart.kl, rtol=1e-9)
    np.testing.assert_allclose(apart.total_kl, apart.kl.sum(axis=0), rtol=1e-9)


def test_offsets_cost_no_digits():
    X, y = table("numbers")
    near = BayesClassifier(families.Normal()).fit(X, y).evidence()
    far = BayesClassifier(families.Normal()).fit(X + 2.0**30, y).evidence()
    np.testing.assert_allclose(far.kl, near.kl, rtol=1e-6)
    joint = GaussianDiscriminant("full").fit(X + 2.0**30, y).evidence()
    np.testing.assert_allclose(
        joint.total_kl, GaussianDiscriminant("full").fit(X, y).evidence().total_kl, rtol=1e-6
    )


def test_classes_with_nothing_in_common_are_infinitely_far():
    X = pd.DataFrame({"c": ["x", "x", "y", "y"], "k": [0, 0, 3, 4], "same": [7, 7, 7, 7]})
    by_column = {
        "c": families.Categorical(alpha=0),
        "k": families.Poisson(alpha=0),
        "same": families.Poisson(),
    }
    found = BayesClassifier(by_column).fit(X, [0, 0, 1, 1]).evidence()
    assert found.kl[0].tolist() == [[0.0, np.inf], [np.inf, 0.0]]
    assert np.isinf(found.bhattacharyya[0, 0, 1])
    assert found.kl[1, 0, 1] == pytest.approx(3.5)  # never a count, against Poisson(3.5): −log p(0)
    assert found.kl[1, 1, 0] == np.inf
    assert found.bhattacharyya[1, 0, 1] == found.bhattacharyya[1, 1, 0] == pytest.approx(1.75)
    assert not found.kl[2].any()
    assert not np.isnan(found.weight).any()


def test_counts_and_words_count_by_their_length():
    counts = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 5.0], [0.0, 6.0]])
    model = BayesClassifier(families.Multinomial()).fit(counts, [0, 0, 1, 1])
    found = model.evidence()
    theta = np.array([model.parameters_[j]["probability"] for j in range(2)])
    per_draw = np.sum(theta[:, 0] * np.log(theta[:, 0] / theta[:, 1]))
    assert found.total_kl[0, 1] == pytest.approx(4.0 * per_draw)
    np.testing.assert_allclose(found.kl[:, 0, 1], 4.0 * per_draw)  # of two columns, either says it all
    words = TextClassifier().fit(["good good film", "bad film"], ["+", "-"]).evidence()
    p, q = np.array([3, 2, 1]) / 6, np.array([1, 2, 2]) / 5
    assert words.total_kl[0, 1] == pytest.approx(3.0 * np.sum(p * np.log(p / q)))
    present = TextClassifier("bernoulli").fit(["good good film", "bad film"], ["+", "-"]).evidence()
    assert present.total_kl[0, 1] == pytest.approx(2 * (2 / 3 * np.log(2) + 1 / 3 * np.log(1 / 2)))
    with pytest.raises(ValueError, match="needs a density"):
        TextClassifier("complement").fit(["good film", "bad film"], ["+", "-"]).evidence()


def test_the_table_ranks_the_columns_and_the_frame_holds_all_pairs():
    X, species = suffice.load_penguins()
    found = BayesClassifier().fit(X.to_pandas(), species).evidence()
    lines = repr(found).splitlines()
    assert lines[1].startswith("flipper_length_mm")
    assert lines[-1].startswith("sex")
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 7 * 6
    line = frame[(frame["column"] == "sex") & (frame["class"] == "Gentoo") & (frame["against"] == "Adelie")]
    assert line["kl"].item() == found.kl[5, 2, 0]


def test_one_class_has_no_evidence():
    found = BayesClassifier(families.Normal()).fit([[1.0], [2.0]], ["a", "a"]).evidence()
    assert found.weight.tolist() == [0.0]
