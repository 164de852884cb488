import numpy as np
import pytest

from suffice.tables.wording import (
    aligned,
    counted,
    did_you_mean,
    is_utf8,
    kind_of_thing,
    listed,
    nearest,
    one_line,
    printable,
    quoted,
    there_are,
)


def test_columns_are_in_line_and_lines_end_with_their_last_letter():
    rows = [("", "rows", "share"), ("Adelie", "76", "0.442"), ("Gentoo", "124", "")]
    assert aligned(rows) == ["        rows  share", "Adelie    76  0.442", "Gentoo   124"]


def test_the_first_columns_are_flush_left_as_many_as_asked_for():
    assert aligned([("a", "bb", "c"), ("aa", "b", "cc")], left=3, indent="  ") == [
        "  a   bb  c",
        "  aa  b   cc",
    ]
    assert aligned([("1", "20"), ("10", "3")], left=0) == [" 1  20", "10   3"]


def test_no_rows_are_no_lines():
    assert aligned([]) == []


def test_the_nearest_name_is_found_whatever_its_case_and_type():
    assert nearest("POISON", ["Normal", "Poisson"]) == "Poisson"
    assert nearest("2021", [2020, 1999]) == 2020
    assert nearest("zzz", ["Normal", "Poisson"]) is None


def test_the_question_names_what_was_probably_meant():
    assert did_you_mean("Chinstrp", ["Adelie", "Chinstrap"]) == "did you mean 'Chinstrap'?"
    assert did_you_mean("zzz", ["Adelie"]) == ""
    assert did_you_mean("uniform", ["norm", "normal", "nbinom"]) == did_you_mean("float", ["flag"]) == ""


@pytest.mark.parametrize("value, words", [(object(), "an object"), (1.5, "a float"), (None, "None")])
def test_what_a_value_is_has_the_right_article(value, words):
    assert kind_of_thing(value) == words


@pytest.mark.parametrize(
    "cell, shown",
    [
        ("two\nlines", r"two\nlines"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\ufeffid", r"\ufeffid"),
        ("half \ud83d", r"half \ud83d"),
        ("Zoë, 東京, 👩\u200d🔬, می\u200cخواهم, a\u00a0b", "Zoë, 東京, 👩\u200d🔬, می\u200cخواهم, a\u00a0b"),
        (2**64 + 1, "18446744073709551617"),
        (None, "None"),
        ("", ""),
    ],
)
def test_a_cell_is_shown_in_one_line_with_what_is_hidden_escaped(cell, shown):
    assert one_line(cell) == shown


def test_a_long_cell_is_shortened_in_the_middle():
    assert one_line("a" * 40) == "a" * 40
    assert one_line("a" * 30 + "b" * 30) == "a" * 20 + "…" + "b" * 19
    assert one_line("begin" + "x" * 10**6 + "end", most=9) == "begi…xend"
    assert one_line("abcdefgh", most=1) == "…"


@pytest.mark.parametrize("most", range(1, 30))
def test_a_cell_is_never_longer_than_asked_for_and_no_escape_is_torn(most):
    shown = one_line("\x1b" * 20 + "é" + "\n" * 20, most)
    assert len(shown) <= most
    assert shown.replace(r"\x1b", "").replace(r"\n", "").strip("é") == "…"


def test_the_ellipsis_gets_no_accent():
    assert one_line("a" * 30 + "e\u0301" * 30, most=21) == "a" * 10 + "…" + "e\u0301" * 5
    assert one_line("a" * 30 + "e\u0301" * 30, most=20) == "a" * 10 + "…" + "e\u0301" * 4


def test_text_in_a_message_is_quoted_at_both_ends():
    assert quoted("two\nlines") == r"'two\nlines'"
    assert quoted("x" * 500) == "'" + "x" * 39 + "…" + "x" * 38 + "'"
    assert quoted(2**70) == str(2**70)


def test_labels_in_a_message_have_no_types_of_numpy():
    assert quoted((np.str_("Adelie"), np.float32(0.1))) == "('Adelie', 0.1)"
    assert listed([np.int64(2), np.float64("nan")]) == "[2, nan]"


def test_a_list_in_a_message_is_short():
    assert listed(["a\n", 1]) == r"['a\n', 1]"
    assert listed(range(1100), most=2) == "[0, 1] and 1,098 more"
    assert listed("abc", most=2, brackets=False) == "'a', 'b' and 1 more"


def test_things_are_counted_in_the_singular_and_the_plural():
    assert counted(1, "category") == "1 category"
    assert counted(0, "category") == "0 categories"
    assert counted(1, "day") == "1 day"
    assert counted(3, "day") == "3 days"
    assert counted(1200, "row") == "1,200 rows"
    assert counted(2, "class", "classes") == "2 classes"


def test_one_thing_is_singular_and_any_other_number_plural():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [counted(n, "class") for n in (1, 3)] == ["1 class", "3 classes"]
    assert counted(2, "category", "categories") == "2 categories"
    assert [there_are(n, "label") for n in (1, 2)] == ["there is 1 label", "there are 2 labels"]


def test_lone_surrogates_are_printed_as_escapes():
    assert printable("naïve 😀") == "naïve 😀"
    assert printable("a\ud800") == "a\\ud800"
    assert is_utf8("naïve 😀")
    assert not is_utf8("a\udfff")
    assert aligned([("a\ud800", "1"), ("b", "2")]) == ["a\\ud800  1", "b        2"]
