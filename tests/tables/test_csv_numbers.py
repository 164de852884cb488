"""Columns of csv files that are known to be numbers are read as such, with the same result as their text."""

import pytest

from suffice.tables.files import formats, separated
from suffice.tables.files.source import FileDataError, open_source

ROWS = 40


def text_of(tmp_path, rows, header="a,b,c"):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def cells(path):
    tables = open_source(path).through(list)
    return [list(row.values()) for table in tables for row in table.to_pylist()]


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 64)


def test_later_blocks_are_read_as_numbers(tmp_path, monkeypatch):
    path = text_of(tmp_path, [f"{i},{i / 4},t{i}" for i in range(ROWS)])
    asked, read = [], separated._read

    def noted(*args, numbers=None, **options):
        asked.append(sorted(numbers or {}))
        return read(*args, numbers=numbers, **options)

    monkeypatch.setattr(separated, "_read", noted)
    assert cells(path) == [[i, i / 4, f"t{i}"] for i in range(ROWS)]
    assert asked[0] == []
    assert asked[-1] == ["a", "b"]


@pytest.mark.parametrize(
    "cell, value",
    [("NA", None), (" 7.5 ", 7.5), ('"7.5"', 7.5), ("1e3", 1000.0), ("", None), ('""', None), ("-0", -0.0)],
)
def test_cells_read_as_numbers_are_what_their_text_says(tmp_path, cell, value):
    rows = [f"{i},{i}.5,t{i}" for i in range(ROWS)]
    rows[-2] = f"1,{cell},t"
    assert cells(text_of(tmp_path, rows))[-2] == [1, value, "t"]


def test_a_column_that_changes_type_late_is_read_again(tmp_path):
    rows = [f"{i},{i}.5,t{i}" for i in range(ROWS)]
    rows[-1] = "2.5,many,t"
    found = cells(text_of(tmp_path, rows))
    assert found[0] == [0.0, "0.5", "t0"]
    assert found[-1] == [2.5, "many", "t"]


@pytest.mark.parametrize("header", ["a,b,c", "1,2,3", "NA,2,x"])
def test_the_header_of_a_file_that_was_joined_is_no_row(tmp_path, header):
    rows = [f"{i},{i}.5,{i}" for i in range(ROWS)]
    path = text_of(tmp_path, [*rows, header, *rows], header)
    assert len(cells(path)) == 2 * ROWS


def test_a_row_of_another_length_is_refused_by_its_number(tmp_path):
    rows = [f"{i},{i}.5,t{i}" for i in range(ROWS)]
    rows[30] = "1,2"
    with pytest.raises(FileDataError, match="row 30 has 2 cells"):
        cells(text_of(tmp_path, rows))


@pytest.mark.parametrize(
    "block",
    [
        b'a,"b\n',
        b'"a\n",b\n"c',
        b'a,"b ""c"" d"\ne\n',
        b'"""a""\n',
        b'5" pipe,"x\n',
        b'"a"b"\nc\n',
        b'",\n"\n"',
        b'""\n""\n"\n"\r',
        b'"x"\r\n"y"\r\n"',
    ],
)
def test_quotes_are_matched_as_the_grammar_matches_them(block):
    found = separated._patterns(",").all.match(block)
    assert separated._end_of_rows(",", block) == found.end()
