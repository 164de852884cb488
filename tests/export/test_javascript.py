"""What JavaScript computes, without any library, is what the library computes; it runs in node."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.export.javascript import literal, program

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def cells_of(written, frame):
    """The cells of each row by position, as the program reads them."""
    kinds = {column.position: column for column in written.columns}
    rows = [[None] * frame.shape[1] for _ in range(len(frame))]
    for j in range(frame.shape[1]):
        column = kinds.get(j)
        for i, value in enumerate(frame.iloc[:, j].tolist() if column is not None else []):
            if value is None or value is pd.NaT or value is pd.NA or value != value:  # noqa: PLR0124  NaN
                continue
            if column.kind == "moment":
                rows[i][j] = pd.Timestamp(value).timestamp()
            elif column.wide:
                rows[i][j] = str(int(value))
            else:
                rows[i][j] = value if isinstance(value, str) else float(value)
    return rows


def run(written, rows, *, name="posterior"):
    code = (
        f"const f = {written.code};\nconsole.log(JSON.stringify({json.dumps(rows)}.map(x => f(x).{name})));"
    )
    done = subprocess.run([NODE, "-"], input=code, capture_output=True, text=True, check=True)  # noqa: S603
    return np.array(json.loads(done.stdout), dtype=np.float64)


def test_posteriors_in_javascript_are_those_of_predict_proba(case):
    written = program(case.model._scoring("observed"))
    rows = cells_of(written, case.rows)
    np.testing.assert_allclose(run(written, rows), case.model.predict_proba(case.table), rtol=0, atol=1e-9)


def test_a_large_joint_block_is_scored_on_the_cells_that_are_there(large_block):
    written = program(large_block.model._scoring("observed"))
    rows = cells_of(written, large_block.rows)
    expected = large_block.model.predict_proba(large_block.table)
    np.testing.assert_allclose(run(written, rows), expected, rtol=0, atol=1e-9)


def test_what_columns_add_is_what_explain_says():
    X, species = suffice.load_penguins()
    model = suffice.BayesClassifier().fit(X, species)
    written = program(model._scoring("observed"))
    explanation = model.explain(X)
    parts = run(written, [list(row.values()) for row in X.to_pylist()], name="parts")
    for place, columns in enumerate(written.parts):
        own = parts[:, place]
        if columns:
            expected = explanation.contributions[:, list(columns)].sum(axis=1)
        else:
            expected = np.broadcast_to(explanation.prior, own.shape)
        # What is equal for all classes may be left out.
        np.testing.assert_allclose(own - own[:, :1], expected - expected[:, :1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "\u2028", "<!--", "\\", "`${1}`", "\ud800"]
)
def test_a_level_is_a_string_and_never_code(text):
    X = pd.DataFrame({"c": pd.Series([text, "b"] * 20, dtype=object)})
    model = suffice.BayesClassifier(families={"c": suffice.families.Categorical()}).fit(X, ["u", "v"] * 20)
    written = program(model._scoring("observed"))
    assert "</script" not in written.code
    assert "<!--" not in written.code
    assert written.code.isascii()
    posterior = run(written, [[text], ["b"], ["neither"]])
    np.testing.assert_allclose(posterior[:2], model.predict_proba(X[:2]), rtol=0, atol=1e-12)


def test_a_literal_cannot_end_a_script():
    assert literal("</script>&\u2028") == '"\\u003c/script\\u003e\\u0026\\u2028"'
