"""One alpha for all families that were inferred; it acts when solving."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, OnePassSearchCV, summarize
from suffice.families import Bernoulli, Categorical, Normal, Poisson
from suffice.model.folds import training_sums

RNG = np.random.default_rng(3)
N_ROWS = 120
Y = RNG.choice(["a", "b", "c"], N_ROWS)
SHIFT = np.array([{"a": 0, "b": 1, "c": 2}[label] for label in Y])
X = pd.DataFrame(
    {
        "size": RNG.normal(SHIFT),
        "count": RNG.poisson(3 + 9 * SHIFT),
        "flag": RNG.random(N_ROWS) < 0.2 + 0.3 * SHIFT,
        "town": RNG.choice(["Ulm", "Bonn", "Köln"], N_ROWS),
        "text": [" ".join(RNG.choice(["good", "bad", "film", "plot"], 6)) for _ in Y],
    }
)


def spelled_out(alpha):
    """The inferred families, each with this alpha."""
    inferred = BayesClassifier().fit(X, Y).schema_
    return {c.name: type(c.family)(**(c.family.settings() | {"alpha": alpha})) for c in inferred if c.family}


def test_alpha_is_that_of_every_inferred_family():
    model = BayesClassifier(alpha=0.25).fit(X, Y)
    assert {c.family.alpha for c in model.schema_ if c.family} == {0.25}
    spelled = BayesClassifier(families=spelled_out(0.25)).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), spelled.predict_proba(X))
    assert not np.allclose(model.predict_proba(X), BayesClassifier().fit(X, Y).predict_proba(X))


def test_a_family_that_the_user_chose_keeps_its_alpha():
    model = BayesClassifier({"town": Categorical(alpha=7.0)}, alpha=0.25).fit(X, Y)
    assert model.schema_["town"].family == Categorical(alpha=7.0)
    assert model.schema_["flag"].family == Bernoulli(alpha=0.25)
    chosen = BayesClassifier(Poisson(), alpha=0.25).fit(X[["count"]], Y)
    assert chosen.schema_["count"].family == Poisson()


def test_a_schema_takes_alpha_where_it_was_inferred():
    schema = BayesClassifier({"town": Categorical(alpha=7.0)}).fit(X, Y).schema_
    model = BayesClassifier(schema, alpha=0.25).fit(X, Y)
    assert model.schema_["town"].family == Categorical(alpha=7.0)
    assert model.schema_["flag"].family == Bernoulli(alpha=0.25)


def test_statistics_are_solved_with_alpha_where_they_were_inferred():
    sums = summarize(X, Y, families={"town": Categorical(alpha=7.0)})
    model = BayesClassifier(alpha=0.25).fit_statistics(sums)
    fitted = BayesClassifier({"town": Categorical(alpha=7.0)}, alpha=0.25).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "matrix", [RNG.normal(size=(N_ROWS, 3)), sparse.csr_array(RNG.poisson(1, (N_ROWS, 3)))]
)
def test_alpha_is_that_of_the_family_of_a_plain_array(matrix):
    model = BayesClassifier(alpha=0.25).fit(matrix, Y)
    assert {column.family.alpha for column in model.schema_} == {0.25}


def test_a_column_that_is_decided_later_has_alpha():
    late = X[["town"]].astype(object)
    late.iloc[:60] = None
    model = BayesClassifier(alpha=0.25).partial_fit(late[:60], Y[:60]).partial_fit(late[60:], Y[60:])
    assert model.schema_["town"].family == Categorical(alpha=0.25)
    merged = BayesClassifier(alpha=0.25).fit(late[:60], Y[:60]).merge(summarize(late[60:], Y[60:]))
    assert merged.schema_["town"].family == Categorical(alpha=0.25)
    whole = BayesClassifier(alpha=0.25).fit(late, Y)
    np.testing.assert_allclose(merged.predict_proba(late), whole.predict_proba(late), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(late), whole.predict_proba(late), rtol=1e-12)


def test_alpha_is_saved_and_loaded():
    model = BayesClassifier(alpha=0.25).fit(X, Y)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    loaded = suffice.load(file)
    assert loaded.alpha == 0.25
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("alpha", [-1.0, np.inf, "1"])
def test_an_impossible_alpha_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be None or a finite number ≥ 0"):
        BayesClassifier(alpha=alpha).fit(X, Y)


@pytest.mark.parametrize(
    "model, grid, columns",
    [
        (BayesClassifier(), {"alpha": [None, 0.1, 1.0, 10.0]}, list(X)),
        (
            BayesClassifier(Categorical()),
            {"families__alpha": [0.1, 10.0], "priors": [None, "uniform"]},
            ["town"],
        ),
        (BayesClassifier(), {"class_weight": [None, "balanced", {"a": 3.0}], "alpha": [0.1, 1.0]}, list(X)),
    ],
)
def test_settings_that_act_when_solving_are_searched_in_one_pass(monkeypatch, model, grid, columns):
    read = []
    sums = training_sums.SplitRows._sums
    monkeypatch.setattr(
        training_sums.SplitRows, "_sums", lambda s, t, rows, n: read.append(len(rows)) or sums(s, t, rows, n)
    )
    search = OnePassSearchCV(model, grid, cv=4).fit(X[columns], Y)
    assert sum(read) == N_ROWS
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        alone = clone(model).set_params(**params)
        expected = suffice.cross_val_scores(alone, X[columns], Y, cv=4, scoring="neg_log_loss")
        np.testing.assert_allclose(score, expected.mean(), rtol=0, atol=1e-9)


def test_a_single_family_has_nested_settings():
    model = BayesClassifier(Categorical(alpha=2.0))
    assert model.get_params()["families__alpha"] == 2.0
    assert "families__alpha" not in model.get_params(deep=False)
    changed = clone(model).set_params(families__alpha=0.5, priors="uniform")
    assert changed.families == Categorical(alpha=0.5)
    assert changed.priors == "uniform"
    assert model.families == Categorical(alpha=2.0)
    both = clone(model).set_params(families=Normal(), families__ddof=1.0)
    assert both.families == Normal(ddof=1.0)


def test_nested_settings_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="Categorical has no setting 'alfa'; it has alpha"):
        BayesClassifier(Categorical()).set_params(families__alfa=1.0)
    with pytest.raises(TypeError, match="families__alpha needs a single family as families="):
        BayesClassifier().set_params(families__alpha=1.0)
