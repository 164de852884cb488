"""How databases differ: names, literals, and reading a cell as a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.tables.wording import is_utf8

if TYPE_CHECKING:  # the command line lists the dialects and computes nothing
    from suffice.export.scoring import InputColumn
    from suffice.tables.columns import Kind
    from suffice.tables.notations import Notation

LARGEST = "1.7976931348623157e308"
LARGEST_BIGINT = 2**63 - 1


def _doubled(text: str) -> str:
    """A string literal in which only the quote is special."""
    return "'" + text.replace("'", "''") + "'"


def _escaped(text: str) -> str:
    """A string literal in which backslashes escape."""
    special = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
    return "'" + "".join(special.get(letter, letter) for letter in text) + "'"


def _escaped_for_spark(text: str) -> str:
    """A string literal in which backslashes escape, without ${, which Spark replaces before it parses."""
    return _escaped(text).replace("${", "\\u0024{")


@dataclass(frozen=True)
class Dialect:
    """What one database writes in its own way."""

    name: str
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    name_quote: str = '"'
    ignores_case: bool = True
    """Whether quoted names that differ only in the case of letters are one name."""
    escapes_names: bool = False
    """Whether a backslash escapes a quote within a quoted name; otherwise the quote is doubled."""
    substitutes: str | None = None
    """What begins a variable that the database replaces in the text of a query, names included."""
    string: Callable[[str], str] = _doubled
    nul: str | None = "CHR(0)"
    """The character NUL as an expression; None if text cannot hold it."""
    greatest: str = "GREATEST"
    least: str = "LEAST"
    typed_numbers: bool = False
    """Whether a literal must be cast to be a float."""
    infinity: str = "CAST('Infinity' AS {double})"
    common_table: str = "{name} AS ({select})"
    """A common table expression that is computed once rather than substituted into the next."""
    seconds: str | None = None
    """A moment, duration or time of day in seconds; None if the database stores them in several ways."""
    longest_name: int = 255
    most_columns: int = 1600
    """The most columns of one step of a query."""
    wide_labels: bool = False
    """Whether there are integers of more than 64 bits."""
    tiny_squares_fail: bool = False
    """Whether squaring a number raises an error if the result is too small for a float."""
    searches_constants: bool = False
    """Whether planning looks for each constant among all others; COALESCE(constant, column) is not one."""
    plain_names: bool = False
    """Whether names of result columns may contain only letters, digits and _."""
    loose_types: bool = False
    """Whether a column of numbers may contain text."""
    matches: str | None = None
    """Whether a text is one that a pattern describes; None if the database has no such patterns."""

    def require_distinct(self, names: Iterable[str]) -> None:
        """Refuse columns that a query could not tell apart."""
        seen: dict[bytes, str] = {}
        for name in names:
            as_bytes = name.encode("utf-8", "surrogatepass")
            # Databases agree on the letters of ASCII, which are those that bytes have.
            other = seen.setdefault(as_bytes.lower() if self.ignores_case else as_bytes, name)
            if other != name:
                raise ValueError(
                    f"the columns {other!r} and {name!r} differ only in case, and are one in {self.name}; "
                    "score a view with other names, and pass these as columns=."
                )

    def identifier(self, name: str) -> str:
        """A quoted name."""
        if "\0" in name or not name or not is_utf8(name):
            raise ValueError(
                f"the name {name!r} cannot be quoted in {self.name}; rename the column or table."
            )
        if self.substitutes is not None and self.substitutes in name:
            raise ValueError(
                f"the name {name!r} contains {self.substitutes}, which {self.name} replaces even within "
                "quotes; rename the column or table, or score a view with other names."
            )
        quote = self.name_quote
        if self.escapes_names:
            name = name.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\n", "\\n")
        else:
            name = name.replace(quote, 2 * quote)
        return quote + name + quote

    def holds(self, text: str) -> bool:
        """Whether the database can hold a string at all."""
        return is_utf8(text) and (self.nul is not None or "\0" not in text)

    def text_literal(self, text: str) -> str:
        """A string literal; around NUL it is concatenated from pieces."""
        if not self.holds(text):
            raise ValueError(
                f"the class {text!r} cannot be written as text in {self.name}; rename the class."
            )
        pieces = [self.string(piece) for piece in text.split("\0")]
        return pieces[0] if len(pieces) == 1 else "(" + f" || {self.nul} || ".join(pieces) + ")"

    def number(self, value: float) -> str:
        """A float with all its digits; the exponent keeps databases from reading it as a decimal."""
        literal = repr(float(value))
        literal = literal if "e" in literal else literal + "e0"
        if self.typed_numbers:
            return f"CAST({literal} AS {self.double})"
        return f"({literal})" if value < 0 else literal

    def label(self, value: Any) -> str:
        """A class as a literal of its own type."""
        if isinstance(value, str):
            return self.text_literal(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            return self.number(value)
        if value > LARGEST_BIGINT and not self.wide_labels:
            raise ValueError(
                f"the class {value} does not fit a 64-bit integer in {self.name}; convert the labels to text."
            )
        return f"({value})" if value < 0 else str(value)

    def cell(self, column: InputColumn) -> str:
        """A column as the scores read it: a float, or unchanged if levels are compared."""
        name = self.identifier(column.name)
        if column.kind == "level":
            return self._level(name if self.loose_types else f"CAST({name} AS {self.text})", column.notation)
        if column.notation is not None and column.notation.form != "levels":
            name = self._read(name, column, column.notation)
        if column.wide:
            return name
        if column.kind == "boolean":
            return f"CASE WHEN {name} THEN {self.number(1.0)} WHEN NOT {name} THEN {self.number(0.0)} END"
        number = f"CAST({self._seconds(name, column)} AS {self.double})"
        # Neither NaN nor an infinity lies in between, however the database orders them.
        limit = f"CAST({LARGEST} AS {self.double})" if self.typed_numbers else LARGEST
        test = f"{number} BETWEEN -{limit} AND {limit}"
        if self.loose_types:
            test = f"TYPEOF({name}) IN ('integer', 'real') AND {test}"
        return f"CASE WHEN {test} THEN {number} END"

    def _level(self, text: str, notation: Notation | None) -> str:
        """A level, NULL where the text is a mark of a missing cell."""
        marks = [] if notation is None else [self.text_literal(m) for m in notation.marks if self.holds(m)]
        return f"CASE WHEN {text} NOT IN ({', '.join(marks)}) THEN {text} END" if marks else text

    def _read(self, name: str, column: InputColumn, notation: Notation) -> str:
        """The number that a text stands for, NULL for any other text."""
        from suffice.tables.notations import NOT_DIGITS, pattern

        if self.matches is None or notation.is_dates or column.wide:
            what = "dates" if notation.is_dates else "numbers"
            raise ValueError(
                f"column {column.name!r} is read as {notation.words}, which cannot be written for "
                f"{self.name}; fit the model on {what} that are not text, and score a view that holds them."
            )
        text = f"CAST({name} AS {self.text})"
        matches = self.matches.format(text=text, pattern=self.string(f"^(?:{pattern(notation.unit)})$"))
        digits = f"REGEXP_REPLACE({text}, {self.string(NOT_DIGITS)}, '', 'g')"
        return f"CASE WHEN {matches} THEN CAST({digits} AS {self.double}) END"

    def _seconds(self, name: str, column: InputColumn) -> str:
        if column.kind == "number":
            return name
        if self.seconds is None:
            kinds: dict[Kind, str] = {
                "moment": "seconds since 1970 UTC",
                "duration": "seconds",
                "clock": "seconds since midnight",
            }
            raise ValueError(
                f"column {column.name!r} is a {column.kind}, which {self.name} stores in several ways; fit "
                f"the model on {kinds[column.kind]} instead, and score a view that holds these numbers."
            )
        return self.seconds.format(name=name)


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            seconds="EXTRACT(EPOCH FROM {name})",
            wide_labels=True,
            matches="REGEXP_MATCHES({text}, {pattern})",
        ),
        Dialect(
            "postgres",
            double="DOUBLE PRECISION",
            ignores_case=False,
            text="TEXT",
            nul=None,
            common_table="{name} AS ({select} OFFSET 0)",
            seconds="EXTRACT(EPOCH FROM {name})",
            longest_name=63,
            most_columns=1664,
            wide_labels=True,
            tiny_squares_fail=True,
            matches="{text} ~ {pattern}",
        ),
        Dialect(
            "sqlite",
            double="REAL",
            text="TEXT",
            nul="CHAR(0)",
            greatest="MAX",
            least="MIN",
            infinity="9e999",
            common_table="{name} AS MATERIALIZED ({select})",
            most_columns=2000,
            searches_constants=True,
            loose_types=True,
        ),
        Dialect(
            "spark",
            text="STRING",
            name_quote="`",
            substitutes="${",
            string=_escaped_for_spark,
            nul="CHAR(0)",
        ),
        Dialect(
            "bigquery",
            double="FLOAT64",
            text="STRING",
            name_quote="`",
            escapes_names=True,
            string=_escaped,
            plain_names=True,
        ),
        Dialect(
            "snowflake",
            double="FLOAT",
            ignores_case=False,
            string=_escaped,
            typed_numbers=True,
            wide_labels=True,
        ),
    )
}
