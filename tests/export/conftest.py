"""Models of every kind, each with rows to score."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import dropin, families
from suffice.estimators.regression import LogisticRegression, ProbitRegression

N = 240


@dataclass
class Case:
    """A fitted model and rows to score; the rows of an array model have columns x0, x1, …"""

    model: Any
    rows: pd.DataFrame
    as_array: bool = False

    @property
    def table(self):
        return self.rows.to_numpy() if self.as_array else self.rows


def draw(family, y, rng):
    """Values of a family whose parameters depend on the class."""
    n = len(y)
    letters = np.array(["a", "it's", 'b"\\n\n', "ü"], dtype=object)
    draws = {
        "Normal": lambda: rng.normal(3.0 * y, 1.0 + y),
        "LogNormal": lambda: np.exp(rng.normal(y, 0.7)),
        "Gamma": lambda: rng.gamma(1.0 + y, 2.0),
        "Exponential": lambda: rng.exponential(1.0 + y),
        "InverseGaussian": lambda: rng.wald(1.0 + y, 3.0),
        "Beta": lambda: rng.beta(1.0 + y, 2.0),
        "VonMises": lambda: rng.vonmises(y - 1.0, 2.0) + 8.0,
        "Bernoulli": lambda: (rng.random(n) < 0.2 + 0.25 * y).astype(float),
        "Categorical": lambda: letters[(y + rng.integers(0, 2, n)) % 4],
        "Poisson": lambda: rng.poisson(1.0 + 2.0 * y).astype(float),
        "Geometric": lambda: (rng.geometric(0.2 + 0.2 * y) - 1).astype(float),
        "NegativeBinomial": lambda: rng.negative_binomial(3, 0.3 + 0.2 * y).astype(float),
        "Binomial": lambda: rng.binomial(5, 0.2 + 0.2 * y).astype(float),
        "Histogram": lambda: rng.normal(2.0 * y, 1.0),
        "Steps": lambda: rng.normal(2.0 * y, 1.0),
        "Hurdle": lambda: np.where(rng.random(n) < 0.2 + 0.2 * y, family.at, draw(family.rest, y, rng)),
    }
    return draws[family.name]()


def strange(family):
    """Values outside the support, or far outside the data."""
    if family.name == "Categorical":
        return ["never seen", "A"]
    if family.takes_every_number:
        return [1e30, -1e30, 1e-300]
    return [-1.5, 0.0, 2.5, 1e30, 1e-30]


def with_gaps(frame, rng, share=0.15):
    """Some cells missing, a row without any cell, and a row with all."""
    frame = frame.copy()
    for name in frame.columns:
        gone = rng.random(len(frame)) < share
        gone[:2] = [True, False]
        values = [None if g else v for g, v in zip(gone, frame[name], strict=True)]
        text = any(isinstance(value, str) for value in values)
        frame[name] = pd.Series(values, dtype=object if text else np.float64)
    return frame


FAMILIES = [
    families.Normal(),
    families.Normal("shared"),
    families.LogNormal(),
    families.Gamma(),
    families.Gamma("shared"),
    families.Exponential(),
    families.InverseGaussian(),
    families.Beta(),
    families.VonMises(),
    families.Bernoulli(),
    families.Categorical(),
    families.Poisson(),
    families.Geometric(),
    families.NegativeBinomial(3.0),
    families.Binomial(5),
    families.Histogram(16),
    families.Steps(),
    families.Hurdle(families.LogNormal()),
]


def family_case(family, **settings):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, N)
    train = pd.DataFrame({name: draw(family, y, rng) for name in ("one", "two")})
    model = suffice.BayesClassifier(families=family, **settings).fit(train, np.array(["a", "b", "c"])[y])
    rows = with_gaps(train, rng)
    for row, value in enumerate(strange(family), start=5):
        rows.loc[row, "one"] = value
    return Case(model, rows)


def mixed_case(**settings):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, N)
    columns = {family.name: draw(family, y, rng) for family in FAMILIES}
    by_column = {family.name: family for family in FAMILIES}
    for j in range(2):
        columns[f"count{j}"] = rng.poisson(1.0 + y * j).astype(float)
        columns[f"joint{j}"] = rng.normal(y, 1.0)
    columns["joint1"] = columns["joint1"] + columns["joint0"]
    columns['a"; DROP TABLE x; --'] = rng.normal(-y, 1.0)
    columns["back`tick\\ ü"] = rng.normal(y, 2.0)
    by_column[("count0", "count1")] = families.Multinomial()
    by_column[("joint0", "joint1")] = families.MultivariateNormal("full")
    train = pd.DataFrame(columns)
    model = suffice.BayesClassifier(families=by_column, **settings)
    model.fit(with_gaps(train, rng) if settings else train, y * 10)
    return Case(model, with_gaps(train, rng))


def certain_case(family, **settings):
    """alpha = 0, with levels and counts that some class never has: posteriors are limits."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, N)
    if family.name == "Categorical":
        column = np.array(["p", "q", "r"], dtype=object)[np.minimum(y, rng.integers(0, 3, N))]
    elif family.name == "Normal":
        column = np.where(y == 0, 1.0, np.where(y == 1, 2.0, rng.normal(1.5, 1.0, N)))
    else:
        column = np.where(y == 0, 0.0, np.minimum(rng.poisson(2.0, N), 1)).astype(float)
    train = pd.DataFrame({"one": column, "two": np.roll(column, 7)})
    model = suffice.BayesClassifier(families=family, **settings).fit(train, y)
    rows = with_gaps(train, rng)
    if family.name == "Categorical":
        rows.loc[3, "one"] = "z"
    return Case(model, rows)


def multinomial_case(alpha, **settings):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, N)
    train = pd.DataFrame({f"w{j}": rng.poisson(0.5 + (y + j) % 3).astype(float) for j in range(4)})
    if alpha == 0:
        train.loc[y == 1, "w2"] = 0.0
    model = suffice.BayesClassifier(families=families.Multinomial(alpha=alpha), **settings).fit(train, y)
    rows = with_gaps(train, rng, 0.05)
    rows.loc[4, "w0"] = -1.0
    return Case(model, rows)


def gaussian_case(covariance, d=4, offset=0.0, **settings):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, N)
    mix = rng.normal(size=(d, d))
    X = rng.normal(size=(N, d)) @ mix * (1.0 + 0.3 * y[:, np.newaxis]) + y[:, np.newaxis] + offset
    model = suffice.GaussianDiscriminant(covariance, **settings).fit(X, np.array(["u", "v", "w"])[y])
    rows = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return Case(model, with_gaps(rows, rng), as_array=True)


def regression_case(cls, n_classes, **settings):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(N, 3)) * [1.0, 50.0, 0.01] + [0.0, 1e6, 0.0]
    y = np.digitize(X[:, 0] + rng.normal(size=N), np.linspace(-1, 1, n_classes - 1))
    frame = pd.DataFrame(X, columns=["f", "g", "h"])
    model = cls(**settings).fit(frame, y)
    far = frame.iloc[:6].copy()
    far["f"] = [40.0, -40.0, 400.0, -400.0, 1e5, -1e5]
    return Case(model, pd.concat([frame, far], ignore_index=True))


def whole_number_levels_case():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, N)
    ids = np.array([2**60 + 1, 2**60 + 2, -5, 7])[(y + rng.integers(0, 3, N)) % 4]
    train = pd.DataFrame({"wide": ids, "small": rng.integers(0, 3, N) + y, "half": (y + ids % 2) / 2})
    model = suffice.BayesClassifier(families=families.Categorical(unseen="smooth")).fit(train, y)
    rows = train.copy()
    rows.loc[3, "wide"] = 2**60
    rows["small"] = rows["small"].astype(float)
    rows.loc[5, "small"] = np.nan
    rows.loc[6, "half"] = 0.25
    return Case(model, rows)


def ruled_out_case():
    case = family_case(families.Normal())
    return Case(case.model.with_priors({"a": 0.0, "b": 0.5, "c": 0.5}), case.rows)


def few_rows_case(**settings):
    """Columns that a class has one value in, or none, so that there is no predictive of it."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 3, N)
    names = ("one", "two", "rate", "joint0", "joint1")
    train = pd.DataFrame({name: rng.exponential(1.0 + y) for name in names})
    train.loc[np.flatnonzero(y == 0)[1:], "one"] = np.nan
    train.loc[y == 1, ["two", "rate", "joint0", "joint1"]] = np.nan
    by_column = {
        "one": families.Normal(alpha=0, ddof=1),
        "two": families.Normal(),
        "rate": families.Exponential(alpha=0),
        ("joint0", "joint1"): families.MultivariateNormal("full"),
    }
    model = suffice.BayesClassifier(families=by_column, posterior="predictive", **settings).fit(train, y)
    return Case(model, with_gaps(train.fillna(1.5), rng))


def evidence_case(n_classes=3, offset=0.0, gappy=("length", 'a"; DROP TABLE x; --'), **settings):
    """Weighed evidence of numbers, counts, flags and levels, some with gaps; two numbers interact."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, n_classes, N)
    sign = rng.choice([-1.0, 1.0], N)
    train = pd.DataFrame(
        {
            "length": rng.normal(2.0 * y, 1.0) + offset,
            "width": sign * (1.0 + rng.exponential(1.0, N)),
            "depth": sign * (y - 0.7) + rng.normal(0.0, 0.3, N),
            "often": np.where(rng.random(N) < 0.3, 0.0, rng.gamma(1.0 + y)),
            "count": rng.poisson(1.0 + 2.0 * y).astype(float),
            "flag": (rng.random(N) < 0.2 + 0.2 * y).astype(float),
            'a"; DROP TABLE x; --': draw(families.Categorical(), y, rng),
            "constant": np.full(N, 3.0),
        }
    )
    model = suffice.EvidenceClassifier(**settings)
    labels = np.array(["a", "it's", "c", "d"])[y]
    model.fit(train.assign(**with_gaps(train[[*gappy]], rng)), labels)
    rows = train.assign(**with_gaps(train[[*gappy]], rng))
    rows.loc[3, 'a"; DROP TABLE x; --'] = "never seen"
    for row, value in enumerate([1e30, -1e30, 1e-300, -1.5, 0.0], start=5):
        rows.loc[row, ["length", "width", "count"]] = value
    return Case(model, rows)


CASES = {
    **{repr(family): lambda family=family: family_case(family) for family in FAMILIES},
    "Gamma smooth": lambda: family_case(families.Gamma(unseen="smooth")),
    "Poisson smooth": lambda: family_case(families.Poisson(unseen="smooth")),
    "Categorical smooth": lambda: family_case(families.Categorical(unseen="smooth")),
    "Categorical joined": lambda: family_case(families.Categorical(joined=True)),
    "Categorical joined and smooth": lambda: family_case(families.Categorical(joined=True, unseen="smooth")),
    "Categorical of nine levels": lambda: family_case(families.Categorical(levels=9, joined=True)),
    "Categorical with a list": lambda: family_case(families.Categorical(levels=["A", "B"])),
    "certain joined levels": lambda: certain_case(families.Categorical(alpha=0, joined=True)),
    "certain counted levels": lambda: certain_case(families.Categorical(alpha=0, levels=9)),
    "Steps certain": lambda: family_case(families.Steps(alpha=0)),
    "Histogram smooth": lambda: family_case(families.Histogram(8, unseen="smooth")),
    "Hurdle inside the support": lambda: family_case(families.Hurdle(families.Normal(), at=2.5)),
    "Hurdle of Exponential": lambda: family_case(families.Hurdle(families.Exponential())),
    "Hurdle certain": lambda: family_case(families.Hurdle(families.Gamma(alpha=0), alpha=0)),
    "Hurdle smooth": lambda: family_case(families.Hurdle(families.Gamma(unseen="smooth"), at=-1.5)),
    "Hurdle of Histogram": lambda: family_case(families.Hurdle(families.Histogram(8), at=9)),
    "Hurdle of Histogram smooth": lambda: family_case(
        families.Hurdle(families.Histogram(8, unseen="smooth"), at=9)
    ),
    "Hurdle of Steps": lambda: family_case(families.Hurdle(families.Steps())),
    "Hurdle of counts": lambda: family_case(families.Hurdle(families.Poisson(), at=-1)),
    "two hurdles": lambda: family_case(families.Hurdle(families.Hurdle(families.LogNormal()), at=-1)),
    "mixed": mixed_case,
    "mixed, weighed": lambda: mixed_case(evidence_weight=0.3),
    "certain levels, weighed": lambda: certain_case(families.Categorical(alpha=0), evidence_weight=0.3),
    "Normal, weighed": lambda: family_case(families.Normal(), evidence_weight=1.7),
    "presence": lambda: mixed_case(missing="evidence"),
    "presence of some": lambda: mixed_case(missing=["Normal", "Categorical", "count1", "joint0", "Steps"]),
    "presence smooth": lambda: family_case(families.Categorical(unseen="smooth"), missing="evidence"),
    "certain levels": lambda: certain_case(families.Categorical(alpha=0)),
    "certain new levels": lambda: certain_case(families.Categorical(alpha=0, unseen="smooth")),
    "certain counts": lambda: certain_case(families.Poisson(alpha=0)),
    "certain outcomes": lambda: certain_case(families.Bernoulli(alpha=0)),
    "certain numbers": lambda: certain_case(families.Normal(alpha=0)),
    "Multinomial": lambda: multinomial_case(1.0),
    "Multinomial certain": lambda: multinomial_case(0.0),
    "QDA": lambda: gaussian_case("full"),
    "QDA far away": lambda: gaussian_case("full", offset=1e6),
    "LDA": lambda: gaussian_case("shared"),
    "groups": lambda: gaussian_case([["u", "w"], ["v"]], d=3),
    "diagonal": lambda: gaussian_case("diagonal", d=9),
    "isotropic": lambda: gaussian_case("shared_isotropic", d=9),
    "logistic": lambda: regression_case(LogisticRegression, 2),
    "softmax": lambda: regression_case(LogisticRegression, 4),
    "probit": lambda: regression_case(ProbitRegression, 2, C=np.inf),
    "probit of many": lambda: regression_case(ProbitRegression, 3),
    "whole numbers": whole_number_levels_case,
    "ruled out": ruled_out_case,
    "weighed evidence": evidence_case,
    "weighed evidence, counts with gaps": lambda: evidence_case(gappy=("count", "width")),
    "weighed evidence, not negative": lambda: evidence_case(
        2, offset=1e6, nonnegative=True, priors="uniform"
    ),
    "bounded Normal": lambda: family_case(families.Normal(), bound=1.0),
    "bounded mixed": lambda: mixed_case(bound=1.0),
    "bounded new levels": lambda: certain_case(families.Categorical(alpha=0, unseen="smooth"), bound=0.5),
    "bounded certain counts": lambda: certain_case(families.Poisson(alpha=0), bound=2.0),
    "bounded certain numbers": lambda: certain_case(families.Normal(alpha=0), bound=1.0),
    "bounded Multinomial": lambda: multinomial_case(0.0, bound=1.0),
    "bounded predictive": lambda: few_rows_case(bound=1.0),
    "predictive Normal": lambda: family_case(families.Normal(), posterior="predictive"),
    "predictive LogNormal": lambda: family_case(families.LogNormal("shared"), posterior="predictive"),
    "predictive Exponential": lambda: family_case(
        families.Exponential(unseen="smooth"), posterior="predictive"
    ),
    "predictive Hurdle": lambda: family_case(families.Hurdle(families.LogNormal()), posterior="predictive"),
    "predictive certain numbers": lambda: certain_case(families.Normal(alpha=0), posterior="predictive"),
    "predictive without degrees": few_rows_case,
    "predictive QDA": lambda: gaussian_case("full", d=3, posterior="predictive"),
    "predictive LDA": lambda: gaussian_case("shared", d=2, posterior="predictive"),
    "predictive diagonal": lambda: gaussian_case("diagonal", d=9, posterior="predictive"),
    "predictive isotropic": lambda: gaussian_case("isotropic", d=2, posterior="predictive"),
}


@pytest.fixture(scope="session")
def large_block():
    """A joint Gaussian of too many columns for all patterns of gaps."""
    return gaussian_case("full", d=8)


@pytest.fixture(scope="session")
def moments():
    """A moment, a date and a flag."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, N)
    start = dt.datetime(2024, 3, 1, 12, 30, 15, 250_000)  # noqa: DTZ001  databases keep it without a zone
    when = pd.Series([start + dt.timedelta(hours=float(h)) for h in rng.normal(50.0 * y, 20.0)])
    flag = pd.Series(rng.random(N) < 0.3 + 0.4 * y).astype("boolean")
    day = pd.Series([moment.date() for moment in when], dtype=object)
    train = pd.DataFrame({"when": when, "flag": flag, "day": day})
    model = suffice.BayesClassifier().fit(train, y == 1)
    rows = train.copy()
    rows.loc[3, "when"] = pd.NaT
    rows.loc[3, "day"] = None
    rows.loc[4, "flag"] = pd.NA
    return Case(model, rows)


@pytest.fixture
def duckdb_rows():
    """Posteriors that DuckDB computes for the rows of a frame."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

    def posteriors(model, frame):
        with duckdb.connect() as connection:
            connection.register("rows", frame.assign(place=np.arange(len(frame))))
            found = connection.execute(model.to_sql("rows", key="place")).fetchall()
        return np.array(sorted(found), dtype=np.float64)[:, 1:]

    return posteriors


def dropin_case(name, *, gaps=True, d=4, **settings):
    """A drop-in for scikit-learn, fitted on an array or (for counts) on a table."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 3, N)
    if name in ("MultinomialNB", "ComplementNB", "CategoricalNB"):
        X = rng.poisson(1.0 + (y[:, np.newaxis] + np.arange(d)) % 3).astype(float)
        X[y == 1, 2] = 0.0
        model = getattr(dropin, name)(**settings)
        frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(d)])
        model.fit(frame, np.array(["u", "v", "w"])[y])
        return Case(model, with_gaps(frame, rng, 0.05))
    X = rng.normal(y[:, np.newaxis], 1.0, (N, d)) @ rng.normal(size=(d, d))
    X = (X > 0).astype(float) if settings.get("binarize", 0.0) is None else X
    if settings.pop("singular", False):
        X = np.column_stack([X[:, :2], X[:, 0] + X[:, 1], np.full(N, 3.0)])
    if name == "BernoulliNB":
        X[y == 2, 1] = 0.0
    rows = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    model = getattr(dropin, name)(**settings).fit(X, 10 * y)
    return Case(model, with_gaps(rows, rng) if gaps else rows, as_array=True)


DROPINS = {
    "GaussianNB": lambda: dropin_case("GaussianNB"),
    "GaussianNB smooth": lambda: dropin_case("GaussianNB", var_smoothing=0.1, priors=[0.2, 0.3, 0.5]),
    "MultinomialNB": lambda: dropin_case("MultinomialNB", alpha=0.5),
    "MultinomialNB certain": lambda: dropin_case("MultinomialNB", alpha=0.0),
    "MultinomialNB by column": lambda: dropin_case("MultinomialNB", alpha=[0.1, 1.0, 2.0, 3.0]),
    "ComplementNB": lambda: dropin_case("ComplementNB"),
    "ComplementNB norm": lambda: dropin_case("ComplementNB", norm=True),
    "ComplementNB certain": lambda: dropin_case("ComplementNB", alpha=0.0),
    "BernoulliNB": lambda: dropin_case("BernoulliNB"),
    "BernoulliNB above": lambda: dropin_case("BernoulliNB", binarize=0.7, class_prior=[0.2, 0.3, 0.5]),
    "BernoulliNB binary": lambda: dropin_case("BernoulliNB", binarize=None),
    "BernoulliNB certain": lambda: dropin_case("BernoulliNB", alpha=0.0),
    "CategoricalNB": lambda: dropin_case("CategoricalNB", min_categories=12),
    "CategoricalNB certain": lambda: dropin_case("CategoricalNB", alpha=0.0),
    "LDA svd": lambda: dropin_case("LinearDiscriminantAnalysis"),
    "LDA singular": lambda: dropin_case("LinearDiscriminantAnalysis", singular=True, gaps=False),
    "LDA lsqr": lambda: dropin_case("LinearDiscriminantAnalysis", solver="lsqr", shrinkage="auto"),
    "LDA eigen": lambda: dropin_case("LinearDiscriminantAnalysis", solver="eigen", shrinkage=0.2),
    "QDA svd": lambda: dropin_case("QuadraticDiscriminantAnalysis", reg_param=0.1),
    "QDA eigen": lambda: dropin_case("QuadraticDiscriminantAnalysis", solver="eigen", shrinkage=0.1),
    "LogisticRegression": lambda: dropin_case("LogisticRegression", gaps=False),
}
CASES |= DROPINS


def calibrated_case(model_case, method="temperature", **settings):
    """Calibrated on predictions of which every fifth is wrong."""
    case = model_case()
    classes = case.model.classes_
    codes = np.searchsorted(classes, case.model.predict(case.table))
    number = np.arange(len(codes))
    other = (codes + 1 + number // 5 % (len(classes) - 1)) % len(classes)
    y = classes[np.where(number % 5 == 0, other, codes)]
    model = suffice.Calibrated(case.model, method, cv="prefit", **settings).fit(case.table, y)
    assert model.temperature_ != 1.0
    return Case(model, case.rows, case.as_array)


def ruled_out_gaussian_case():
    case = gaussian_case("shared")
    return Case(case.model.with_priors([0.5, 0.5, 0.0]), case.rows, as_array=True)


CASES |= {
    "calibrated mixed": lambda: calibrated_case(CASES["mixed"], "vector"),
    "calibrated QDA": lambda: calibrated_case(CASES["QDA"]),
    "calibrated softmax": lambda: calibrated_case(DROPINS["LogisticRegression"], "vector", priors="uniform"),
    "calibrated probit": lambda: calibrated_case(CASES["probit"]),
    "calibrated certain": lambda: calibrated_case(CASES["certain levels"], "vector"),
    "calibrated ruled out": lambda: calibrated_case(ruled_out_gaussian_case),
    "calibrated, then ruled out": lambda: calibrated_case(CASES["LDA"], priors=[0.5, 0.5, 0.0]),
    "calibrated MultinomialNB": lambda: calibrated_case(DROPINS["MultinomialNB"], "vector"),
}


@pytest.fixture(scope="session", params=list(CASES))
def case(request):
    """Every kind of model in turn."""
    return CASES[request.param]()


COSTS = np.array([[0.0, 1.0, 4.0], [7.0, 0.5, 1.0], [2.0, 3.0, 0.0]])


def decision_case(model_case, **settings):
    case = model_case()
    return Case(suffice.CostSensitive(case.model, **settings), case.rows, case.as_array)


DECISIONS = {
    "any error costs 1": lambda: decision_case(DROPINS["LDA svd"]),
    "costs": lambda: decision_case(DROPINS["LDA svd"], costs=COSTS),
    "costs far from 1": lambda: decision_case(CASES["QDA"], costs=1e-200 * COSTS, reject_cost=2e-201),
    "reject": lambda: decision_case(CASES["QDA"], costs=COSTS, reject_cost=0.6),
    "reject or gain": lambda: decision_case(
        DROPINS["GaussianNB"], costs=COSTS - 3.0, reject_cost=-2.5, reject_label=-1
    ),
    "reject without costs": lambda: decision_case(
        DROPINS["MultinomialNB"], reject_cost=0.2, reject_label="it's unclear"
    ),
    "calibrated": lambda: decision_case(CASES["calibrated QDA"], costs=COSTS, reject_cost=0.6),
    "certain": lambda: decision_case(DROPINS["CategoricalNB certain"], costs=COSTS, reject_cost=0.5),
    "two classes": lambda: decision_case(
        CASES["logistic"], costs=[[0, 1], [5, 0]], reject_cost=0.7, reject_label=2
    ),
}


@pytest.fixture(scope="session", params=list(DECISIONS))
def decision(request):
    """Every kind of decision by cost in turn."""
    return DECISIONS[request.param]()


@pytest.fixture(scope="session")
def decided():
    """Which rows are decided by more than rounding: the next best answer costs more, by a margin."""

    def clear(model, table):
        expected = model.predict_proba(table) @ model.costs_
        if model.reject_cost is not None:
            expected = np.column_stack([expected, np.full(len(expected), model.reject_cost)])
        ordered = np.sort(expected, axis=1)
        return ordered[:, 1] - ordered[:, 0] > 1e-12 * np.abs(model.costs_).max()

    return clear


@pytest.fixture
def refusing():
    """Drop-ins with the columns x0 and x1, and rows of which only the first and last can be scored."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([0, 0, 1, 1])
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -0.5], [0.0, 1.0]])
    beyond = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
    named = [
        (dropin.MultinomialNB(), rows),
        (dropin.ComplementNB(), rows),
        (dropin.MultinomialNB(alpha=0.0), rows),
        (dropin.BernoulliNB(binarize=None), rows),
        (dropin.CategoricalNB(), beyond),
        (dropin.CategoricalNB(alpha=0.0), beyond),
    ]
    return [(model.fit(X, y), pd.DataFrame(cells, columns=["x0", "x1"])) for model, cells in named]
