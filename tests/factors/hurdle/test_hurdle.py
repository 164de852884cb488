"""A hurdle is a Bernoulli of one value and a family of all other cells."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, special, stats

import suffice
from suffice import BayesClassifier
from suffice.factors.hurdle.totals import HurdleTotals
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    Hurdle,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
    Steps,
    Words,
)

N = 400
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, N)
ZERO = RNG.random((N, 2)) < 0.2 + 0.2 * Y[:, np.newaxis]
POSITIVE = RNG.lognormal(0.5 * Y[:, np.newaxis], 0.6, (N, 2))
AMOUNTS = np.where(ZERO, 0.0, POSITIVE)
RESTS = [Normal(), Normal("shared"), LogNormal(), Gamma(), Exponential(), Histogram(), Steps()]


def fitted(family, X=AMOUNTS, y=Y, **settings):
    return BayesClassifier(family, **settings).fit(X, y)


def log_p(model, X):
    """Log p(x | C_k) of each cell."""
    return model.explain(X).contributions


def shares(X, y, at=0.0, alpha=1.0):
    """ρ of each column and class."""
    held = np.stack([(X[y == k] == at).sum(axis=0) for k in np.unique(y)], axis=1)
    return (held + alpha) / (np.bincount(y) + 2.0 * alpha)


def test_the_density_is_scipys_mixture_of_a_point_and_a_log_normal():
    model = fitted(Hurdle(LogNormal(alpha=0)))
    cells = np.where(RNG.random((50, 2)) < 0.3, 0.0, RNG.lognormal(size=(50, 2)))
    rho = shares(AMOUNTS, Y)
    for j in range(2):
        for k in range(3):
            logs = np.log(POSITIVE[(k == Y) & ~ZERO[:, j], j])
            density = stats.lognorm(logs.std(), scale=np.exp(logs.mean())).pdf(cells[:, j])
            expected = np.where(cells[:, j] == 0.0, rho[j, k], (1.0 - rho[j, k]) * density)
            np.testing.assert_allclose(np.exp(log_p(model, cells)[:, j, k]), expected, rtol=1e-12)


def test_the_parameters_of_a_gamma_are_those_of_the_other_cells():
    model = fitted(Hurdle(Gamma(alpha=0)))
    for k in range(3):
        cells = POSITIVE[(k == Y) & ~ZERO[:, 0], 0]
        shape, _, scale = stats.gamma.fit(cells, floc=0.0)
        found = model.parameters_[0]
        np.testing.assert_allclose([found["shape"][k], found["rate"][k]], [shape, 1.0 / scale], rtol=1e-4)
        np.testing.assert_allclose(found["share of 0"][k], shares(AMOUNTS, Y)[0, k], rtol=1e-14)


@pytest.mark.parametrize("rest", RESTS, ids=str)
def test_scores_are_those_of_the_outcome_and_of_the_rest_with_the_value_missing(rest):
    model = fitted(Hurdle(rest))
    outcomes, others = (AMOUNTS == 0.0).astype(float), np.where(AMOUNTS == 0.0, np.nan, AMOUNTS)
    parts = fitted(Bernoulli(), outcomes), fitted(rest, others)
    expected = parts[0].explain(outcomes).contributions + parts[1].explain(others).contributions
    np.testing.assert_array_equal(log_p(model, AMOUNTS), expected)
    joint = model.predict_joint_log_proba(AMOUNTS)
    np.testing.assert_allclose(joint, np.log(model.priors_) + expected.sum(axis=1), rtol=1e-12)
    priors = np.log(model.priors_)[Y].sum()
    apart = [part.log_likelihood_ - priors for part in parts]
    assert model.log_likelihood_ == pytest.approx(priors + sum(apart), rel=1e-12)
    n_priors = len(model.classes_) - 1
    assert model.n_parameters_ == sum(part.n_parameters_ - n_priors for part in parts) + n_priors


def test_the_value_may_lie_inside_the_support_of_the_rest():
    X = np.where(ZERO, 2.0, RNG.normal(size=(N, 2)))
    model = fitted(Hurdle(Normal(), at=2), X)
    np.testing.assert_allclose(log_p(model, [[2.0, np.nan]])[0, 0], np.log(shares(X, Y, 2.0)[0]), rtol=1e-12)
    near = log_p(model, [[2.0 + 1e-9, np.nan]])[0, 0]
    assert (np.abs(near - np.log(shares(X, Y, 2.0)[0])) > 0.5).all()


def test_narrow_floats_are_compared_with_the_value_as_wide_ones():
    narrow = np.where(ZERO, 0.1, POSITIVE).astype(np.float32)  # whose 0.1 is another number
    model, wide = (
        fitted(Hurdle(Gamma(), at=0.1), narrow),
        fitted(Hurdle(Gamma(), at=0.1), narrow.astype(float)),
    )
    assert model.statistics_ == wide.statistics_
    np.testing.assert_array_equal(model.predict_proba(narrow), wide.predict_proba(narrow.astype(float)))


def test_whole_numbers_of_any_type_hold_the_value():
    whole = np.ceil(AMOUNTS)
    wide = fitted(Hurdle(Gamma()), whole)
    for dtype in (np.uint8, np.int16, np.int64, np.float32):
        assert fitted(Hurdle(Gamma()), whole.astype(dtype)).statistics_ == wide.statistics_
    unsigned = fitted(Hurdle(Normal(), at=-1), whole.astype(np.uint8))
    assert (unsigned.parameters_[0]["share of -1"] < 0.02).all()


def test_a_hurdle_inside_a_hurdle_has_two_values():
    X = np.where(RNG.random((N, 2)) < 0.2, -1.0, AMOUNTS)
    model = fitted(Hurdle(Hurdle(LogNormal()), at=-1), X)
    outside = shares(X, Y, -1.0)[0]
    kept = X[:, 0] != -1.0
    inside = shares(X[kept][:, [0]], Y[kept])[0]
    found = np.exp(log_p(model, [[-1.0, np.nan], [0.0, np.nan]])[:, 0])
    np.testing.assert_allclose(found, [outside, (1.0 - outside) * inside], rtol=1e-12)
    assert set(model.parameters_[0]) == {"share of -1", "share of 0", "mean", "variance"}


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize("rest", [Normal, LogNormal, Gamma, Exponential, Steps, Histogram])
@pytest.mark.parametrize("all_zero", [True, False])
def test_a_class_that_always_or_never_holds_the_value_is_solved(rest, alpha, all_zero):
    X = np.where((Y == 1)[:, np.newaxis], 0.0 if all_zero else POSITIVE, AMOUNTS)
    model = fitted(Hurdle(rest(alpha=alpha), alpha=alpha), X)
    posterior = model.predict_proba(np.vstack([X, [[0.0, 3.0], [1e9, np.nan], [np.nan, np.nan]]]))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    assert np.isfinite(model.log_likelihood_)
    n = (Y == 1).sum()
    expected = (n * all_zero + alpha) / (n + 2.0 * alpha)
    np.testing.assert_allclose(model.parameters_[0]["share of 0"][1], expected)
    assert np.isfinite(model.evidence().total_bhattacharyya).all() or alpha == 0.0
    if alpha == 0.0:  # the limit: class 1 is ruled out by what it never held
        assert posterior[-3, 1] == 0.0


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize("value", [0.0, 3.0, np.nan])
@pytest.mark.parametrize("rest", [Normal, LogNormal, Gamma, Exponential, Steps, Histogram])
def test_a_column_of_one_value_gives_the_prior_where_classes_are_equally_large(rest, alpha, value):
    X, y = np.full((6, 1), value), [0, 0, 1, 1, 2, 2]
    model = fitted(Hurdle(rest(alpha=alpha), alpha=alpha), X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [3.0], [np.nan]]), 1.0 / 3.0)
    assert np.isfinite(model.log_likelihood_)
    np.testing.assert_array_equal(model.evidence().kl, 0.0)


def test_a_class_of_equal_values_is_reported():
    X = AMOUNTS.copy()
    X[(Y == 2) & ~ZERO[:, 0], 0] = 5.0
    model = fitted(Hurdle(Gamma(alpha=0)), X)
    (found,) = model.regularized_
    assert (found.column, found.label) == ("column 0", 2)
    assert "all values are equal, so Gamma has no maximum-likelihood estimate" in found.reason


def test_a_value_outside_the_support_is_a_missing_cell_at_predict():
    model = fitted(Hurdle(LogNormal()))
    np.testing.assert_array_equal(
        model.predict_proba([[-3.0, 1.0], [-3.0, -3.0]]), model.predict_proba([[np.nan, 1.0], [np.nan] * 2])
    )
    assert model.novelty([[-3.0, 1.0]])[0] == 0.0
    far = fitted(Hurdle(Histogram()))
    np.testing.assert_array_equal(far.predict_proba([[1e9, 1.0]]), far.predict_proba([[np.nan, 1.0]]))


def test_a_rare_value_outside_the_support_is_one_of_the_rest():
    model = fitted(Hurdle(LogNormal(unseen="smooth")))
    n = (Y[:, np.newaxis] == np.arange(3)) & ~ZERO[:, [0]]
    expected = np.log(1.0 - shares(AMOUNTS, Y)[0]) - np.log(n.sum(axis=0) + 2.0)
    np.testing.assert_allclose(log_p(model, [[-3.0, np.nan]])[0, 0], expected, rtol=1e-12)


def test_a_value_outside_the_support_is_refused_where_the_rest_says_so():
    with pytest.raises(
        ValueError, match=r"column 1: the value -2.0 \(row 1\) is outside the support of Gamma"
    ):
        fitted(Hurdle(Gamma()), [[1.0, 0.0], [0.0, -2.0], [2.0, 3.0]], [0, 1, 0])
    model = fitted(Hurdle(Gamma(unseen="error")))
    with pytest.raises(
        ValueError, match=r"column 1: the value -2.0 \(row 0\) is outside the support of Gamma"
    ):
        model.predict([[0.0, -2.0]])
    with pytest.raises(ValueError, match=r"column 0.*inf"):
        model.predict([[np.inf, 0.0]])


def test_sparse_rows_are_refused():
    with pytest.raises(
        ValueError, match="column 0 is sparse, but Hurdle reads every cell; pass a dense array"
    ):
        fitted(Hurdle(LogNormal()), sparse.csr_array(AMOUNTS))
    with pytest.raises(
        ValueError, match="column 0 is sparse, but Hurdle reads every cell; pass a dense array"
    ):
        fitted(Hurdle(LogNormal())).predict(sparse.csr_array(AMOUNTS))


@pytest.mark.parametrize("rest", RESTS, ids=str)
def test_drawn_rows_hold_the_value_as_often_as_the_parameters_say(rest):
    model = fitted(Hurdle(rest))
    n = 20_000
    for k in range(3):
        drawn = np.asarray(model.sample(n, labels=k, random_state=0)[0])
        share = model.parameters_[0]["share of 0"][k]
        found = (drawn[:, 0] == 0.0).mean()
        assert abs(found - share) < 6.0 * np.sqrt(share * (1.0 - share) / n)


@pytest.mark.parametrize("rest, sign", [(LogNormal(), 1), (Normal(), 1), (Normal(), -1)], ids=str)
def test_drawn_whole_numbers_of_the_rest_are_not_rounded_to_the_value(rest, sign):
    X = pd.DataFrame({"visits": np.where(ZERO[:, 0], 0, sign * RNG.choice([1, 1, 20], N))})
    model = fitted(Hurdle(rest), X)
    drawn, labels = model.sample(20_000, random_state=0)
    assert drawn["visits"].dtype.kind == "i"
    expected = model.parameters_["visits"]["share of 0"][labels].mean()
    assert abs((drawn["visits"] == 0).mean() - expected) < 6.0 * np.sqrt(0.25 / 20_000)


def test_the_integral_of_a_power_is_that_of_both_parts():
    model, powers = fitted(Hurdle(Exponential())), np.array([0.1, 0.5, 0.9])
    found = model._solved_model().factors[0].log_power_sums(powers)
    rho, rate = model.parameters_[0]["share of 0"], model.parameters_[0]["rate"]
    for a, sums in zip(powers, found, strict=True):
        rest = rate**a / (a * rate)
        np.testing.assert_allclose(sums[0], np.log(rho**a + (1.0 - rho) ** a * rest), rtol=1e-12)


def test_a_rare_value_is_novel():
    X = RNG.normal(size=(4000, 1))
    X[0] = 9.0
    model = fitted(Hurdle(Normal(), at=9), X, np.zeros(4000, int))
    rho = 2.0 / 4002.0
    # Values of the curve below ρ are as rare: those beyond the two points where it equals ρ.
    edge = stats.norm(X[1:].mean(), X[1:].std()).isf(0.5) + np.sqrt(-2.0 * np.log(rho * np.sqrt(2.0 * np.pi)))
    expected = rho + 2.0 * stats.norm.sf(edge)
    assert model.novelty([[9.0]])[0] == pytest.approx(expected, abs=0.003)
    assert model.novelty([[9.0]])[0] < model.novelty([[0.0]])[0]


@pytest.mark.parametrize("rest", [Normal(), LogNormal(), Exponential()], ids=str)
def test_the_predictive_score_is_that_of_the_rest(rest):
    model = fitted(Hurdle(rest), posterior="predictive")
    others = np.where(AMOUNTS == 0.0, np.nan, AMOUNTS)
    alone = fitted(rest, others, posterior="predictive").explain(others).contributions
    rho = shares(AMOUNTS, Y)
    expected = np.where(
        (AMOUNTS == 0.0)[:, :, np.newaxis], np.log(rho), np.log1p(-rho) + np.where(np.isnan(alone), 0, alone)
    )
    np.testing.assert_allclose(log_p(model, AMOUNTS), expected, rtol=1e-11, atol=1e-12)
    drawn = np.asarray(model.sample(5000, random_state=0)[0])
    assert 0.2 < (drawn == 0.0).mean() < 0.7


def test_divergences_are_those_of_the_mixed_distributions():
    model = fitted(Hurdle(Exponential()))
    found = model.evidence()
    rho, rate = model.parameters_[1]["share of 0"], model.parameters_[1]["rate"]
    kl = special.rel_entr(rho[0], rho[2]) + special.rel_entr(1.0 - rho[0], 1.0 - rho[2])
    kl += (1.0 - rho[0]) * (np.log(rate[0] / rate[2]) + rate[2] / rate[0] - 1.0)
    root = np.sqrt(rho[0] * rho[2])
    root += np.sqrt((1.0 - rho[0]) * (1.0 - rho[2]) * rate[0] * rate[2]) * 2.0 / (rate[0] + rate[2])
    assert found.kl[1, 0, 2] == pytest.approx(kl, rel=1e-10)
    assert found.bhattacharyya[1, 0, 2] == pytest.approx(-np.log(root), rel=1e-10)


def test_rows_are_forgotten_and_files_keep_every_bit(tmp_path):
    half = fitted(Hurdle(Gamma()), AMOUNTS[:200], Y[:200])
    both = fitted(Hurdle(Gamma()), AMOUNTS[:200], Y[:200]).partial_fit(AMOUNTS[200:], Y[200:])
    left = both.statistics_ - suffice.summarize(AMOUNTS[200:], Y[200:], families=Hurdle(Gamma()))
    assert left.isclose(half.statistics_, rtol=1e-10)
    both.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.predict_joint_log_proba(AMOUNTS), both.predict_joint_log_proba(AMOUNTS)
    )
    assert loaded.statistics_ == both.statistics_
    assert repr(loaded.schema_) == repr(both.schema_)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


def test_hurdles_with_other_smoothing_share_their_sums():
    statistics = suffice.summarize(AMOUNTS, Y, families=Hurdle(Gamma()))
    other = suffice.summarize(AMOUNTS, Y, families=Hurdle(Gamma(alpha=3), alpha=0.5))
    assert (statistics + other).n_rows == 2 * N
    with pytest.raises(ValueError, match=r"Hurdle\(Gamma\(\)\) in one and Hurdle\(Gamma\(\), at=1\)"):
        statistics + suffice.summarize(POSITIVE, Y, families=Hurdle(Gamma(), at=1))


def test_other_rows_than_those_that_were_fitted_are_not_forgotten():
    model = fitted(Hurdle(Gamma()), [[0.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="cannot forget rows that were never fitted"):
        model.forget([[4.0], [5.0]], [0, 0])


def test_parts_that_contradict_each_other_are_refused():
    few, many = (suffice.summarize(POSITIVE[:n], Y[:n], families=Hurdle(Gamma())).totals[0] for n in (9, 30))
    mixed = HurdleTotals(Hurdle(Gamma()), few.outcome, many.rest)
    problem = mixed.problem(["column 0", "column 1"], 30.0, np.full(3, 30))
    assert problem == "column 0 would have more rows without 0 than rows"


@pytest.mark.parametrize(
    "family, written",
    [
        (Hurdle(LogNormal()), "Hurdle(LogNormal())"),
        (Hurdle(Gamma(), at=-1), "Hurdle(Gamma(), at=-1)"),
        (Hurdle(Gamma(alpha=2), at=np.int64(9), alpha=0), "Hurdle(Gamma(alpha=2), at=9, alpha=0)"),
        (Hurdle(Hurdle(Normal()), at=0.5), "Hurdle(Hurdle(Normal()), at=0.5)"),
    ],
)
def test_a_hurdle_prints_as_it_is_written(family, written):
    assert repr(family) == written
    assert eval(written) == family  # noqa: S307, what is read was written here


@pytest.mark.parametrize("rest", [Multinomial(), MultivariateNormal(), Categorical(), Words()], ids=str)
def test_a_rest_that_is_no_column_of_numbers_is_refused(rest):
    with pytest.raises(ValueError, match=f"{rest.name} is not a family of one column of numbers"):
        Hurdle(rest)


def test_a_value_that_counts_produce_themselves_is_refused():
    with pytest.raises(ValueError, match="Poisson has a probability of its own for 0"):
        Hurdle(Poisson())
    assert Hurdle(Poisson(), at=-1).discrete
    assert Hurdle(Beta(), at=1).support(np.array([0.0, 0.5, 1.0])).tolist() == [False, True, True]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Hurdle("gamma"), r"must be a family such as LogNormal\(\), got 'gamma'"),
        (lambda: Hurdle(Gamma(), at=np.nan), "at must be a finite number, got nan"),
        (lambda: Hurdle(Gamma(), at=True), "at must be a finite number, got True"),
        (lambda: Hurdle(Gamma(), unseen="error"), r"write Hurdle\(Gamma\(unseen='error'\)\)"),
        (lambda: fitted("hurdle"), r"Hurdle needs a parameter: write Hurdle\(…\) instead of 'hurdle'"),
        (lambda: fitted(Hurdle), r"Hurdle needs a parameter: write Hurdle\(…\) instead of Hurdle"),
    ],
)
def test_what_cannot_be_a_hurdle_is_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
