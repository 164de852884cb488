"""The methods that export every tabular model: to_sql and to_onnx."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.export.expressions import Gaps
from suffice.export.scoring import Output, Precision, Scoring

ANY_TABLE = "suffice: any table"
"""Stands for the table of a macro until its query is written."""


class Exportable:
    """A model whose scores can be written as an expression over the cells of a row."""

    def _scoring(self, gaps: Gaps) -> Scoring:
        raise NotImplementedError

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        dialect: str = "duckdb",
        output: Output = "proba",
        key: str | Sequence[str] = (),
        columns: Sequence[str] | None = None,
        missing: Gaps = "marginal",
    ) -> str:
        """Return one SELECT statement that scores the rows of a table inside the database.

        Parameters
        ----------
        table : str or sequence of str
            The name of the table, or its parts: ("schema", "table"). Each part is quoted.
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}, default="duckdb"
            The database to write for.
        output : {"proba", "label", "scores"}, default="proba"
            The columns of the result: posteriors (`proba_<class>`), the class that `predict` returns
            (`label`), or log posteriors (`score_<class>`).
        key : str or sequence of str, optional
            Columns of the table to pass through, to identify the rows.
        columns : sequence of str, optional
            The names in the table of the columns the model was fitted on, in the same order. By default they
            have the same names, or x0, x1, … for a model fitted on an array.
        missing : {"marginal", "null"}, default="marginal"
            What a gap in a joint Gaussian block does. "marginal" scores the block on its observed cells, for
            up to 6 columns, or 16 inputs with gaps of weighed evidence; "null" makes the result of the row
            NULL. Elsewhere a missing cell is left out, as in `predict`.

        Returns
        -------
        str
            The query, without a semicolon.

        Examples
        --------
        >>> import suffice
        >>> model = suffice.BayesClassifier().fit([[1.0], [1.2], [3.0], [3.1]], ["a", "a", "b", "b"])
        >>> query = model.to_sql("measured", output="label", key="id", columns=["length"])
        >>> 'FROM "measured"' in query
        True
        """
        from suffice.export.decisions import decided, names_of_posteriors
        from suffice.export.sql import query

        scoring = self._scoring(_checked_gaps(missing))
        decision = scoring.decision
        if output != "label" or decision is None:
            return query(scoring, table, dialect=dialect, output=output, key=key, columns=columns)
        keys: Any = key if isinstance(key, (list, tuple)) else [key]
        names = names_of_posteriors(keys, len(scoring.classes))
        scoring = replace(scoring, classes=np.array(names))
        inner = query(scoring, table, dialect=dialect, output="proba", key=key, columns=columns)
        return decided(inner, decision, names, keys, dialect)

    def to_duckdb_macro(
        self,
        name: str = "suffice_predict",
        *,
        output: Output = "proba",
        key: str | Sequence[str] = (),
        missing: Gaps = "marginal",
    ) -> str:
        """Return a statement that makes a DuckDB macro, which scores any table with the model's columns.

        Parameters
        ----------
        name : str, default="suffice_predict"
            The name of the macro. It is called with the name of a table: FROM suffice_predict('penguins').
        output : {"proba", "label", "scores"}, default="proba"
            The columns of the result, as in `to_sql`.
        key : str or sequence of str, optional
            Columns of the table to pass through, to identify the rows.
        missing : {"marginal", "null"}, default="marginal"
            As in `to_sql`.

        Returns
        -------
        str
            The statement, without a semicolon.

        Examples
        --------
        >>> import suffice
        >>> model = suffice.BayesClassifier().fit({"x": [1.0, 1.2, 3.0, 3.1]}, ["a", "a", "b", "b"])
        >>> print(model.to_duckdb_macro(output="label").splitlines()[0])
        CREATE OR REPLACE MACRO "suffice_predict"(table_name) AS TABLE
        """
        from suffice.export.dialects import DIALECTS

        quoted = DIALECTS["duckdb"].identifier
        query = self.to_sql(ANY_TABLE, output=output, key=key, missing=missing)
        query = query.replace(f"FROM {quoted(ANY_TABLE)}", "FROM query_table(table_name)")
        return f"CREATE OR REPLACE MACRO {quoted(name)}(table_name) AS TABLE\n{query}"

    def to_onnx(self, *, dtype: Precision = "float64", missing: Gaps = "marginal") -> Any:
        """Return the model as an ONNX graph with the outputs `label` and `probabilities`.

        Parameters
        ----------
        dtype : {"float64", "float32"}, default="float64"
            The type of the inputs and outputs. In between, the graph computes in float64, since float32 has
            too few digits for scores of some hundreds of nats.
        missing : {"marginal", "null"}, default="marginal"
            As in `to_sql`, with NaN as the result where SQL has NULL.

        Returns
        -------
        onnx.ModelProto
            A graph with one input `X` of shape (n_samples, n_features) if the model was fitted on an array of
            numbers, or one input of shape (n_samples, 1) for each column of a table. A missing number is NaN,
            a missing text "". Text that the model reads as numbers or dates goes in as numbers, dates in
            seconds since 1970.

        Examples
        --------
        >>> import suffice
        >>> model = suffice.BayesClassifier().fit([[1.0], [1.2], [3.0], [3.1]], ["a", "a", "b", "b"])
        >>> [output.name for output in model.to_onnx().graph.output]
        ['label', 'probabilities']
        """
        from suffice.export.onnx import model_proto

        return model_proto(self._scoring(_checked_gaps(missing)), dtype)


def _checked_gaps(missing: Gaps) -> Gaps:
    if missing not in ("marginal", "null"):
        raise ValueError(f"missing must be one of 'marginal', 'null', got {missing!r}.")
    return missing
