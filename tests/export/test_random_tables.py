"""Random mixed tables: posteriors elsewhere are those of the library."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import suffice
from suffice import families

WHOLE = st.integers(0, 6).map(float)
POSITIVE = st.integers(1, 64).map(lambda i: i / 8)
ANY = st.integers(-64, 64).map(lambda i: i / 8)
CELLS = {
    families.Normal: ANY,
    families.VonMises: ANY,
    families.Histogram: ANY,
    families.Steps: ANY,
    families.LogNormal: POSITIVE,
    families.Gamma: POSITIVE,
    families.Exponential: POSITIVE,
    families.InverseGaussian: POSITIVE,
    families.Beta: st.integers(1, 63).map(lambda i: i / 64),
    families.Poisson: WHOLE,
    families.Geometric: WHOLE,
    families.Bernoulli: st.integers(0, 1).map(float),
    families.Categorical: st.sampled_from(["", "a", "b'", 'c"', "d\\"]),
}


@st.composite
def models_and_rows(draw):
    """A model of some columns with random cells, and rows that it may never have seen the like of."""
    n, n_rows = draw(st.integers(4, 24)), draw(st.integers(1, 8))
    chosen = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4))
    train, rows, by_column = {}, {}, {}
    for j, family in enumerate(chosen):
        name = f"c{j}"
        cells = CELLS[family] | st.none()
        train[name] = draw(st.lists(cells, min_size=n, max_size=n))
        strange = st.sampled_from(["new"]) if family is families.Categorical else ANY
        rows[name] = draw(st.lists(cells | strange, min_size=n_rows, max_size=n_rows))
        by_column[name] = family(
            alpha=draw(st.sampled_from([1.0, 0.1, 0.0])), unseen=draw(st.sampled_from(["ignore", "smooth"]))
        )
    y = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    bound = draw(st.sampled_from([None, 1.0, 0.25]))
    model = suffice.BayesClassifier(families=by_column, bound=bound).fit(frame_of(train, by_column), y)
    return model, frame_of(rows, by_column)


def frame_of(columns, by_column):
    return pd.DataFrame(
        {
            name: pd.Series(
                values, dtype=object if type(by_column[name]) is families.Categorical else np.float64
            )
            for name, values in columns.items()
        }
    )


QUIET = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@given(models_and_rows())
@QUIET
def test_a_database_gives_the_posteriors_of_the_library(duckdb_rows, drawn):
    model, rows = drawn
    np.testing.assert_allclose(duckdb_rows(model, rows), model.predict_proba(rows), atol=1e-9)


@given(models_and_rows())
@QUIET
def test_a_graph_gives_the_posteriors_of_the_library(drawn):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model, rows = drawn
    levels = {
        name: values["levels"] for name, values in model.parameters_.items() if rows[name].dtype == object
    }
    # "" is a missing text unless it is a level; then no text is missing.
    given = rows.assign(**{name: rows[name].fillna("never" if "" in levels[name] else "") for name in levels})
    meant = given.assign(
        **{name: given[name].replace({"": None}) for name in levels if "" not in levels[name]}
    )
    session = runtime.InferenceSession(
        model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    # Text without a level is not read; as the only column it counts the rows, as numbers.
    feed = {
        one.name: np.zeros((len(rows), 1)) if levels.get(one.name) == [] else given[[one.name]].to_numpy()
        for one in session.get_inputs()
    }
    _, posterior = session.run(None, feed)
    np.testing.assert_allclose(posterior, model.predict_proba(meant), atol=1e-9)
