"""What cannot be exported is refused in words, with the cure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn import naive_bayes
from sklearn.exceptions import NotFittedError

import suffice
from suffice.families import Categorical, Gamma, Multinomial, Normal, Poisson, Words
from suffice.families.base import Family


def exports(model):
    return [model.to_sql, lambda _: model.to_onnx()]


def simple():
    return suffice.BayesClassifier().fit([[1.0], [1.5], [3.0], [3.5]], ["a", "a", "b", "b"])


@pytest.mark.parametrize("way", [0, 1])
def test_text_is_refused(way):
    X = pd.DataFrame({"note": ["good thing", "bad thing", "good", "bad"], "size": [1.0, 2.0, 1.5, 2.5]})
    model = suffice.BayesClassifier(families={"note": Words(), "size": Normal()}).fit(X, [1, 0, 1, 0])
    with pytest.raises(ValueError, match=r"column 'note': Words cannot be written as SQL or ONNX"):
        exports(model)[way]("rows")


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("estimator", [suffice.EvidenceClassifier(), suffice.BayesClassifier(Words())])
def test_a_model_of_text_alone_is_told_what_to_do_instead(estimator, way):
    documents = ["good thing", "bad thing", "good", "bad"] * 10
    X = documents if isinstance(estimator, suffice.EvidenceClassifier) else {"text": documents}
    model = estimator.fit(X, [1, 0, 1, 0] * 10)
    with pytest.raises(ValueError, match=r"^a model of text alone .* predict_proba") as told:
        exports(model)[way]("rows")
    assert "families=" not in str(told.value)


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(
    "family", [Categorical(unseen="error"), Gamma(unseen="error"), Multinomial(unseen="error")]
)
def test_unseen_error_is_refused(family, way):
    X = pd.DataFrame({"one": [1.0, 2.0, 3.0, 4.0], "two": [2.0, 1.0, 4.0, 3.0]})
    model = suffice.BayesClassifier(families=family).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"column 'one'.*unseen='error'.*unseen='ignore'"):
        exports(model)[way]("rows")


def test_unseen_error_of_a_family_that_takes_every_number_is_no_obstacle():
    model = suffice.BayesClassifier(families=Normal(unseen="error")).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert "WITH" in model.to_sql("rows")


@pytest.mark.parametrize("way", [0, 1])
def test_a_joint_block_of_many_columns_asks_what_gaps_mean(large_block, way):
    with pytest.raises(ValueError, match=r"joint Gaussian of 8 columns.*missing='null'"):
        exports(large_block.model)[way]("rows")


def test_levels_of_mixed_types_are_refused():
    X = pd.DataFrame({"mixed": pd.Series(["a", 1, "b", 2], dtype=object)})
    model = suffice.BayesClassifier(families=Categorical()).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"column 'mixed' mixes text, numbers or booleans"):
        model.to_sql("rows")


def test_dates_are_refused_where_a_database_keeps_them_in_many_ways(moments):
    with pytest.raises(
        ValueError, match=r"column 'when' is a moment, which sqlite stores.*seconds since 1970"
    ):
        moments.model.to_sql("rows", dialect="sqlite")


@pytest.mark.parametrize(
    "settings, error, words",
    [
        ({"dialect": "mysql"}, ValueError, "dialect must be one of 'duckdb', 'postgres'"),
        ({"output": "probability"}, ValueError, "output must be one of 'proba', 'label', 'scores'"),
        ({"missing": "ignore"}, ValueError, "missing must be one of"),
        ({"key": 3}, TypeError, "key must be a string"),
        ({"key": [3]}, TypeError, "key must be a string"),
        ({"columns": ["a", "b"]}, ValueError, "fitted on, 1 in all, got 2"),
        ({"columns": "x"}, TypeError, "columns must be a list"),
        ({"columns": [""]}, ValueError, "cannot be quoted"),
        ({"columns": ["a\0"]}, ValueError, "cannot be quoted"),
    ],
)
def test_a_mistyped_setting_is_named(settings, error, words):
    with pytest.raises(error, match=words):
        simple().to_sql("rows", **settings)


@pytest.mark.parametrize("table", [(), 3, ["a", 3]])
def test_a_table_must_be_named(table):
    with pytest.raises((TypeError, ValueError), match="table must"):
        simple().to_sql(table)


def test_a_mistyped_precision_is_named():
    with pytest.raises(ValueError, match="dtype must be one of 'float64', 'float32'"):
        simple().to_onnx(dtype="float16")


def test_a_model_must_be_fitted_first():
    for model in (suffice.BayesClassifier(), suffice.LogisticRegression()):
        with pytest.raises(NotFittedError):
            model.to_sql("rows")


@dataclass(frozen=True, repr=False)
class Halves(Family):
    """Exponential on a support that its author wrote with NumPy."""

    functions = ("x",)

    def support(self, x):
        return (x >= 0) & (np.floor(x * 2) == x * 2) & np.isfinite(x)

    def log_normalizer(self, natural, origin):
        return -np.log(-natural[0])

    def mean_from_natural(self, natural, origin):
        return -1.0 / natural

    def natural_from_mean(self, mean, origin):
        return -1.0 / mean

    def mean_bounds(self):
        return (0.0, np.inf)


@dataclass(frozen=True, repr=False)
class Sorted(Halves):
    def support(self, x):
        return np.isin(x, [0.0, 0.5, 1.0])


def test_a_family_of_the_users_own_is_exported_with_its_support(duckdb_rows):
    train = pd.DataFrame({"x": [0.5, 1.0, 1.5, 4.0, 5.5, 2.0]})
    model = suffice.BayesClassifier(families=Halves()).fit(train, [0, 0, 0, 1, 1, 1])
    rows = pd.DataFrame({"x": [0.5, 0.75, -1.0, 3.0, np.nan]})
    np.testing.assert_allclose(duckdb_rows(model, rows), model.predict_proba(rows), atol=1e-9)


def test_a_support_that_cannot_be_written_out_is_refused():
    model = suffice.BayesClassifier(families=Sorted()).fit([[0.5], [1.0], [0.0], [1.0]], [0, 0, 1, 1])
    with pytest.raises(TypeError, match=r"column 0: the support of Sorted cannot be exported"):
        model.to_sql("rows")


@pytest.mark.parametrize("way", [0, 1])
def test_a_decision_is_exported_only_if_its_model_is(way):
    model = naive_bayes.GaussianNB().fit([[1.0], [1.5], [3.0], [3.5]], ["a", "a", "b", "b"])
    with pytest.raises(TypeError, match="can be exported if its model can, but GaussianNB has no to_sql"):
        exports(suffice.CostSensitive(model))[way]("rows")
    with pytest.raises(NotFittedError, match="nor is its model"):
        exports(suffice.CostSensitive(suffice.BayesClassifier()))[way]("rows")


def test_a_decision_checks_what_is_asked_of_it():
    model = suffice.CostSensitive(simple(), reject_cost=0.2)
    with pytest.raises(TypeError, match="key must be a string or a sequence of strings"):
        model.to_sql("rows", output="label", key=5)
    with pytest.raises(ValueError, match="dialect must be one of"):
        model.to_sql("rows", output="label", dialect="oracle")


def test_counts_too_large_for_nine_decimals_are_refused():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.poisson(1e9 * (1 + 1e-4 * y[:, np.newaxis]), size=(100, 3)).astype(float)
    model = suffice.BayesClassifier(Multinomial()).fit(X, y)
    with pytest.raises(ValueError, match="fewer than nine decimals"):
        model.to_sql("rows")
    assert suffice.BayesClassifier(Multinomial()).fit(np.floor(X / 1e6), y).to_sql("rows")


@pytest.mark.parametrize("way", [0, 1])
def test_the_predictive_score_of_counts_is_refused(way):
    X = pd.DataFrame({"visits": [0.0, 2.0, 3.0, 4.0]})
    model = suffice.BayesClassifier(families=Poisson(), posterior="predictive").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"column 'visits'.*log Γ.*posterior='plug-in'"):
        exports(model)[way]("rows")


@pytest.mark.parametrize("table", [["a", "b", "c", "d"], ("server", "catalog", "schema", "table")])
def test_the_name_of_a_table_has_at_most_three_parts(table):
    model = suffice.BayesClassifier().fit([[1.0], [2.0], [4.0], [7.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="at most 3 parts, catalog, schema and table"):
        model.to_sql(table)
    assert '"b"."c"."d"' in model.to_sql(table=["b", "c", "d"])


def test_a_block_too_wide_for_gaps_is_refused_with_a_cure_that_every_estimator_has():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    model = suffice.dropin.LinearDiscriminantAnalysis().fit(rng.normal(size=(200, 30)), y)
    with pytest.raises(ValueError, match=r"or use GaussianDiscriminant\(covariance='diagonal'\)"):
        model.to_sql("rows", missing="marginal")
