"""Text that stands for numbers and dates."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import BayesClassifier
from suffice.tables.dates import read_date, write_date
from suffice.tables.notations import Notation, checked_marks, unit_of

UNITS = ["", "$", "€", "£", "%"]
FORMS = ["yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy"]
MIDNIGHT = dt.datetime(2024, 5, 1, tzinfo=dt.UTC).timestamp()


def read(text, unit="", form="numbers"):
    return Notation(form, unit=unit).read(text)[0]


@pytest.mark.parametrize(
    "text, unit, number",
    [
        ("12", "", 12),
        ("-1.5", "", -1.5),
        (" 3 ", "", 3),
        (".5", "", 0.5),
        ("5.", "", 5.0),
        ("1e3", "", 1000.0),
        ("+7", "", 7),
        ("0", "", 0),
        ("1,200", "", 1200),
        ("-1,234,567.5", "", -1234567.5),
        ("12 %", "%", 12),
        ("12%", "%", 12),
        ("12.5", "%", 12.5),
        ("$1,200", "$", 1200),
        ("-$5", "$", -5),
        ("$-5", "$", -5),
        ("€ 3.50", "€", 3.5),
        ("3.50 €", "€", 3.5),
        (str(2**60 + 1), "", 2**60 + 1),
    ],
)
def test_a_text_is_read_as_the_number_it_stands_for(text, unit, number):
    found = read(text, unit)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(
    "text",
    [
        *("007", "00", "1,20", "1,2,3", "12,00", "1.200,50", "3,5", "0x10", "1_000", "1e999", "inf", "--5"),
        *("5 5", "a", "1a", "$5", "5%", "٣", "- 5", "1\n", "1" * 500),
    ],
)
def test_any_other_text_is_not_a_number(text):
    assert Notation("numbers").read(text) == (None, False)


@pytest.mark.parametrize("text", ["€5", "$-$5", "5%", "$", "$ "])
def test_a_number_in_another_unit_is_not_read(text):
    assert Notation("numbers", unit="$").read(text) == (None, False)


@pytest.mark.parametrize("text", ["?", " ? ", "-", "", "  ", "NA", "n/a", "NaN", "null", "NULL", "None"])
@pytest.mark.parametrize("form", ["numbers", *FORMS, "yyyymmdd"])
def test_a_mark_is_a_missing_cell(text, form):
    assert Notation(form).read(text) == (None, True)


def test_booleans_among_numbers_are_not_numbers():
    assert Notation("numbers").read(value=True) == (None, False)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(UNITS))
def test_a_number_is_read_from_what_is_written_of_it(number, unit):
    notation = Notation("numbers", unit=unit)
    (text,) = notation.written(np.array([number]), "level")
    assert notation.read(text)[0] == number


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_keep_all_their_digits(number):
    cells = np.empty(1, dtype=object)
    cells[0] = number
    (text,) = Notation("numbers").written(cells, "level")
    assert Notation("numbers").read(text)[0] == number


@given(st.text(max_size=12), st.sampled_from(UNITS))
def test_any_text_is_a_number_or_not(text, unit):
    found, readable = Notation("numbers", unit=unit).read(text)
    assert found is None or (readable and math.isfinite(found))


@pytest.mark.parametrize(
    "text, form, seconds",
    [
        ("2024-05-01", "yyyy-mm-dd", 0),
        ("2024/5/1", "yyyy-mm-dd", 0),
        ("2024.05.01", "yyyy-mm-dd", 0),
        ("01/05/2024", "dd/mm/yyyy", 0),
        ("05/01/2024", "mm/dd/yyyy", 0),
        ("1.5.2024", "dd/mm/yyyy", 0),
        ("20240501", "yyyymmdd", 0),
        ("2024-05-01 12:30", "yyyy-mm-dd", 45_000),
        ("2024-05-01T12:30:15.5Z", "yyyy-mm-dd", 45_015.5),
        ("2024-05-01T12:30:00+02:00", "yyyy-mm-dd", 37_800),
        ("2024-05-01 12:30-0130", "yyyy-mm-dd", 50_400),
        ("01/05/2024 6:05", "dd/mm/yyyy", 21_900),
    ],
)
def test_a_date_is_read_in_seconds_since_1970(text, form, seconds):
    assert read(text, form=form) == MIDNIGHT + seconds


@pytest.mark.parametrize(
    "text, form",
    [
        ("2024-02-30", "yyyy-mm-dd"),
        ("2024-13-01", "yyyy-mm-dd"),
        ("2024-05/01", "yyyy-mm-dd"),
        ("0000-01-01", "yyyy-mm-dd"),
        ("13/05/2024", "mm/dd/yyyy"),
        ("20241301", "yyyymmdd"),
        ("2024-05-01 25:00", "yyyy-mm-dd"),
        ("2024-05", "yyyy-mm-dd"),
        ("5/1/24", "mm/dd/yyyy"),
    ],
)
def test_a_text_that_is_not_a_date_of_the_form_is_not_read(text, form):
    assert Notation(form).read(text) == (None, False)


@given(st.datetimes(), st.sampled_from(FORMS))
def test_a_moment_is_read_from_what_is_written_of_it(moment, form):
    seconds = moment.replace(tzinfo=dt.UTC).timestamp()
    notation = Notation(form, time=True)
    (text,) = notation.written(np.array([seconds]), "level")
    assert abs(notation.read(text)[0] - seconds) <= max(5e-7, np.spacing(abs(seconds)))


@given(st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31)))
def test_days_are_written_as_whole_numbers_in_a_column_of_numbers(day):
    seconds = (day - dt.date(1970, 1, 1)).days * 86400.0
    (number,) = Notation("yyyymmdd").written(np.array([seconds]), "number")
    assert Notation("yyyymmdd").read(int(number))[0] == seconds


def test_missing_cells_are_written_as_missing():
    assert Notation("numbers").written(np.array([np.nan, 1.0]), "level").tolist() == [None, "1"]


@pytest.mark.parametrize(
    "text, unit", [("12 %", "%"), ("$5", "$"), ("-€5", "€"), ("3 ¥", "¥"), ("5", ""), ("", "")]
)
def test_the_unit_of_a_text_is_a_sign_at_its_ends(text, unit):
    assert unit_of(text) == unit


def test_marks_are_texts():
    assert checked_marks(None).levels == ("", "?", " ?")
    assert checked_marks("?") == (("?",), ("?",))
    assert checked_marks(["?", "x", "?"]) == (("?", "x"), ("?", "x"))
    with pytest.raises(TypeError, match=r"missing_marks must be strings, got 5\."):
        checked_marks([5])
    with pytest.raises(TypeError, match=r"missing_marks must be a list of strings, got 3\."):
        checked_marks(3)


@pytest.mark.parametrize(
    "text, day",
    [
        ("05 Jan 2020", "2020-01-05"),
        ("5-Feb-2020", "2020-02-05"),
        ("Mar 5, 2020", "2020-03-05"),
        ("April 5 2020", "2020-04-05"),
        ("31 September 2020 12:30", None),
        ("1 Foo 2020", None),
        ("December 24, 2020 18:00Z", "2020-12-24T18:00"),
    ],
)
def test_months_may_have_names(text, day):
    found = read_date(text, "dd Mon yyyy")
    expected = None if day is None else np.datetime64(day, "s").astype(np.int64)
    assert found == expected


def test_days_with_named_months_are_written_as_they_are_read():
    assert write_date(read_date("Mar 5, 2020", "dd Mon yyyy"), "dd Mon yyyy", time=False) == "05 Mar 2020"


def test_columns_of_named_months_are_dates():
    days = pd.Series(pd.date_range("2020-01-01", periods=200, freq="D").strftime("%d %b %Y"))
    y = np.arange(200) >= 100
    model = BayesClassifier().fit(pd.DataFrame({"day": days}), y)
    assert model.schema_["day"].reason.startswith("read as dates (dd Mon yyyy)")
    assert (model.predict(pd.DataFrame({"day": ["03 Jan 2020", "1 July 2020"]})) == [False, True]).all()


@pytest.mark.parametrize(
    "marks, words",
    [
        (["unknown"], "51 categories, numbers but for 'unknown': does that mark missing cells?"),
        (
            ["unknown", "n.d."],
            "52 categories, numbers but for 'unknown', 'n.d.': does that mark missing cells?",
        ),
        (["red", "green", "blue", "pink"], "54 categories"),
    ],
)
def test_a_few_texts_among_numbers_are_noted(marks, words):
    cells = [*(str(i / 8) for i in range(50)), *(marks * 5)] * 4
    schema = BayesClassifier().fit(pd.DataFrame({"x": cells}), ["a", "b"] * (len(cells) // 2)).schema_
    assert schema["x"].reason == words


def test_categories_without_numbers_are_not_noted():
    cells = [f"town {i}" for i in range(30)] * 4
    schema = BayesClassifier().fit(pd.DataFrame({"x": cells}), ["a", "b"] * 60).schema_
    assert schema["x"].reason == "30 categories"
