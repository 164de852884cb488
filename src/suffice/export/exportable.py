"""The two methods by which every tabular model leaves for elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from suffice.export.expressions import Gaps
from suffice.export.scoring import Output, Precision, Scoring


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
        """Give one SELECT that scores the rows of a table inside the database.

        Parameters
        ----------
        table : str or sequence of str
            The table, or its parts: ("schema", "table"). Each part is quoted, whatever it holds.
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}, default="duckdb"
            Whose SQL to write.
        output : {"proba", "label", "scores"}, default="proba"
            Posteriors (`proba_<class>`), the most probable class (`label`), or log posteriors
            (`score_<class>`).
        key : str or sequence of str, optional
            Columns of the table to pass through, so that scores find their rows.
        columns : sequence of str, optional
            What the table calls the columns the model was fitted on, in their order. By default their names,
            and x0, x1, … for an array.
        missing : {"marginal", "null"}, default="marginal"
            What a gap in a joint Gaussian block does: the block is scored on what was observed (up to 6
            columns), or the row's result is NULL. Elsewhere a missing cell counts for nothing, as in predict.

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
        from suffice.export.sql import query

        scoring = self._scoring(_checked_gaps(missing))
        return query(scoring, table, dialect=dialect, output=output, key=key, columns=columns)

    def to_onnx(self, *, dtype: Precision = "float64", missing: Gaps = "marginal") -> Any:
        """Give an ONNX graph with the outputs `label` and `probabilities`.

        Parameters
        ----------
        dtype : {"float64", "float32"}, default="float64"
            The type of the numbers that go in and come out; between them the graph computes in float64, since
            scores of some hundreds of nats have too few digits left in float32.
        missing : {"marginal", "null"}, default="marginal"
            As in `to_sql`; NaN is the result of a row that has none.

        Returns
        -------
        onnx.ModelProto
            With one input `X` of shape (n, d) for a model fitted on an array of numbers, and one input of
            shape (n, 1) for each column of a table. NaN is a missing number, "" a missing text.
        """
        from suffice.export.onnx import model_proto

        return model_proto(self._scoring(_checked_gaps(missing)), dtype)


def _checked_gaps(missing: Gaps) -> Gaps:
    if missing not in get_args(Gaps):
        raise ValueError(f"missing must be one of {', '.join(get_args(Gaps))}, got {missing!r}.")
    return missing
