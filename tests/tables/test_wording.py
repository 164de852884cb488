from suffice.tables.wording import aligned, counted, did_you_mean, is_utf8, nearest, printable, there_are


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
