"""Columns of text are read as the numbers and dates they stand for, in any container and any batches."""

import io
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import BayesClassifier
from suffice.families import Categorical, Normal, Words

RNG = np.random.default_rng(3)
N = 240
Y = np.where(RNG.random(N) < 0.4, "a", "b")
SHIFT = np.where(Y == "a", 2.0, 0.0)
AGES = RNG.normal(40.0 + 3.0 * SHIFT, 5.0).round(2)
PRICES = RNG.gamma(5.0, 300.0 * (1.0 + SHIFT)).round().astype(int)
SHARES = RNG.uniform(1.0, 60.0, N).round(1)
DAYS = np.datetime64("2021-01-01") + (RNG.integers(0, 700, N) + 50 * SHIFT.astype(int)).astype("m8[D]")
GONE = np.arange(N) % 20 == 7
COLORS = RNG.choice(["red", "green", "blue"], N)

CELLS = {
    "age": ["?" if gone else f"{age:.2f}" for age, gone in zip(AGES, GONE, strict=True)],
    "price": ["N/A" if gone else f"${price:,}" for price, gone in zip(PRICES, GONE, strict=True)],
    "share": [f"{share} %" for share in SHARES],
    "day": [str(day) for day in DAYS],
    "european": [pd.Timestamp(day).strftime("%d.%m.%Y") for day in DAYS],
    "american": [pd.Timestamp(day).strftime("%m/%d/%Y") for day in DAYS],
    "digits": [pd.Timestamp(day).strftime("%Y%m%d") for day in DAYS],
    "color": ["?" if gone else str(color) for color, gone in zip(COLORS, GONE, strict=True)],
}
SEVERAL = {
    "age": np.where(GONE, np.nan, AGES),
    "price": np.where(GONE, np.nan, PRICES),
    "share": SHARES,
    **dict.fromkeys(("day", "european", "american", "digits"), DAYS.astype("M8[us]")),
    "color": np.where(GONE, None, COLORS.astype(object)),
}
MEANT = pd.DataFrame(SEVERAL)
ROWS = list(zip(*CELLS.values(), strict=True))
CONTAINERS = {
    "pandas objects": pd.DataFrame(CELLS, dtype=object),
    "pandas strings": pd.DataFrame(CELLS, dtype="string"),
    "pandas arrow": pd.DataFrame(CELLS, dtype=pd.ArrowDtype(pa.string())),
    "polars": pl.DataFrame(CELLS),
    "pyarrow": pa.table(CELLS),
    "dict": CELLS,
    "dicts": [dict(zip(CELLS, row, strict=True)) for row in ROWS],
    "numpy objects": np.array(ROWS, dtype=object),
    "numpy strings": np.array(ROWS),
    "rows": [list(row) for row in ROWS],
}


def fitted(cells, y=None, **settings):
    frame = pd.DataFrame({"x": cells})
    return BayesClassifier(**settings).fit(frame, Y[: len(frame)] if y is None else y)


def frame_of(rows):
    return rows.to_pandas() if isinstance(rows, pa.Table) else pd.DataFrame(rows)


def column_of(cells, **settings):
    return fitted(cells, **settings).schema_["x"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_text_gives_the_model_of_what_it_stands_for(container):
    meant = BayesClassifier().fit(MEANT, Y)
    model = BayesClassifier().fit(CONTAINERS[container], Y)
    assert [column.family for column in model.schema_] == [column.family for column in meant.schema_]
    np.testing.assert_array_equal(model.predict_proba(CONTAINERS[container]), meant.predict_proba(MEANT))


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_of_text_is_scored_alike(container):
    model = BayesClassifier().fit(CONTAINERS["polars"], Y)
    rows = CONTAINERS[container]
    if isinstance(rows, (np.ndarray, list)) and not isinstance(rows[0], dict):
        model = BayesClassifier().fit(CONTAINERS["rows"], Y)
    np.testing.assert_array_equal(
        model.predict_proba(rows), BayesClassifier().fit(MEANT, Y).predict_proba(MEANT)
    )


def test_the_schema_says_what_text_is_read_as():
    schema = BayesClassifier().fit(CELLS, Y).schema_
    reasons = {column.name: re.sub(r": -?\d\.\d{3} nats a row", "", column.reason) for column in schema}
    assert reasons["age"] == "read as numbers: numbers"
    assert reasons["price"].startswith("read as numbers in $: whole numbers, ")
    assert reasons["share"] == "read as numbers in %: numbers"
    assert reasons["day"] == "read as dates (yyyy-mm-dd): a moment, in seconds"
    assert reasons["european"] == "read as dates (dd/mm/yyyy): a moment, in seconds"
    assert reasons["american"] == "read as dates (mm/dd/yyyy): a moment, in seconds"
    assert reasons["digits"] == "read as dates (yyyymmdd): a moment, in seconds"
    assert reasons["color"] == "3 categories; '?' counts as missing"


def test_numbers_and_dates_that_arrive_as_such_are_taken_as_such():
    model = BayesClassifier().fit(CONTAINERS["polars"], Y)
    np.testing.assert_array_equal(model.predict_proba(MEANT), model.predict_proba(CONTAINERS["polars"]))


@pytest.mark.parametrize("container", ["pandas objects", "polars", "pyarrow"])
def test_batches_and_merged_parts_give_the_model_of_all_rows(container):
    rows, half = CONTAINERS[container], N // 2

    def part(start, stop):
        return rows.slice(start, stop - start) if container == "pyarrow" else rows[start:stop]

    whole = BayesClassifier().fit(rows, Y)
    batches = BayesClassifier(whole.schema_).partial_fit(part(0, half), Y[:half])
    batches.partial_fit(part(half, N), Y[half:])
    merged = BayesClassifier(whole.schema_).fit(part(0, half), Y[:half])
    merged.merge(BayesClassifier(whole.schema_).fit(part(half, N), Y[half:]))
    assert batches.statistics_.isclose(merged.statistics_)
    assert batches.statistics_.isclose(whole.statistics_)
    merged.forget(part(half, N), Y[half:])
    assert merged.statistics_.isclose(BayesClassifier(whole.schema_).fit(part(0, half), Y[:half]).statistics_)


def test_a_saved_model_reads_text_as_before():
    model = BayesClassifier().fit(CONTAINERS["polars"], Y)
    file = io.BytesIO()
    model.save(file)
    twin = suffice.load(io.BytesIO(file.getvalue()))
    assert twin.schema_ == model.schema_
    assert twin.schema_["price"].notation.unit == "$"
    np.testing.assert_array_equal(
        twin.predict_proba(CONTAINERS["dict"]), model.predict_proba(CONTAINERS["polars"])
    )
    again = io.BytesIO()
    twin.save(again)
    assert again.getvalue() == file.getvalue()


@pytest.mark.parametrize("container", CONTAINERS)
def test_drawn_rows_are_written_as_the_rows_were(container):
    model = BayesClassifier().fit(CONTAINERS[container], Y)
    X, _ = model.sample(50, random_state=0)
    assert type(X) is type(CONTAINERS[container]) or container == "rows"
    columns = [column.tolist() for column in np.array(frame_of(X), dtype=object).T]
    assert all(cell.startswith("$") for cell in columns[1])
    assert all(cell.endswith(" %") for cell in columns[2])
    assert all(len(cell) == len("2021-01-01") and cell[4] == "-" for cell in columns[3])
    assert all(cell.isdigit() and len(cell) == 8 for cell in columns[6])
    assert BayesClassifier(model.schema_).fit(X, np.arange(50) % 2).schema_.difference(model.schema_) is None


def test_novelty_compares_with_drawn_rows_that_are_read_back():
    model = BayesClassifier().fit(CONTAINERS["polars"], Y)
    rows, _ = model.sample(200, random_state=1)
    assert 0.3 < np.median(model.novelty(rows)) < 0.7


def test_cells_that_cannot_be_read_are_named_counted_and_missing():
    cells = [f"{value:.3f}" for value in AGES]
    cells[3], cells[50] = "about 40", "forty"
    said = (
        r"column 'x' is read as numbers, but 2 cells of 240 cannot be, such as 'about 40'; they count as mis"
    )
    with pytest.warns(UserWarning, match=said):
        model = fitted(cells)
    gone = AGES.copy()
    gone[[3, 50]] = np.nan
    with pytest.warns(UserWarning, match=said):
        posteriors = model.predict_proba(pd.DataFrame({"x": cells}))
    frame = pd.DataFrame({"x": gone})
    np.testing.assert_array_equal(posteriors, BayesClassifier().fit(frame, Y).predict_proba(frame))


def test_one_warning_counts_the_cells_of_a_long_table():
    model = fitted([f"{value:.3f}" for value in AGES])
    frame = pd.DataFrame({"x": ["1.5", "x"] * 50_000})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(frame)
    assert [str(one.message).partition(";")[0] for one in caught] == [
        "column 'x' is read as numbers, but 50,000 cells of 100,000 cannot be, such as 'x'"
    ]


def test_text_of_which_more_than_a_hundredth_cannot_be_read_stays_text():
    cells = [f"{value:.0f}" for value in AGES]
    cells[:3] = ["one", "two", "three"]
    assert column_of(cells).family == Categorical()
    assert column_of(cells).notation.form == "levels"


@pytest.mark.parametrize(
    "codes",
    [[f"{code:05}" for code in range(0, 2 * N, 2)], [f"{a}-{b}" for a in range(16) for b in range(15)]],
    ids=["leading zeros", "pairs"],
)
def test_codes_of_digits_are_not_numbers(codes):
    assert column_of(codes * 2, y=np.tile(Y, 2)).family == Categorical()


def test_a_mark_that_the_user_chose_is_missing_in_every_column():
    numbers = ["unknown" if gone else f"{age}" for age, gone in zip(AGES, GONE, strict=True)]
    levels = ["unknown" if gone else str(color) for color, gone in zip(COLORS, GONE, strict=True)]
    frame = pd.DataFrame({"age": numbers, "color": levels})
    model = BayesClassifier(missing_marks=["unknown"]).fit(frame, Y)
    meant = BayesClassifier().fit(MEANT[["age", "color"]], Y)
    np.testing.assert_array_equal(model.predict_proba(frame), meant.predict_proba(MEANT[["age", "color"]]))
    with pytest.raises(TypeError, match="missing_marks must be strings"):
        BayesClassifier(missing_marks=[1]).fit(frame, Y)


def test_without_marks_every_text_is_a_level():
    column = column_of(CELLS["color"], missing_marks=[])
    assert (column.reason, column.notation.marks) == ("4 categories", ())


@pytest.mark.parametrize("level", ["NA", "-", "none", "null"])
def test_a_word_that_may_be_a_level_is_one(level):
    levels = np.where(GONE, level, COLORS)
    assert "4 categories" in column_of(levels).reason


def test_marks_are_missing_levels_in_any_batches():
    frame = pd.DataFrame({"color": CELLS["color"]})
    whole = BayesClassifier().fit(frame, Y)
    batches = BayesClassifier().partial_fit(frame[:5], Y[:5]).partial_fit(frame[5:], Y[5:])
    assert "?" not in whole.parameters_["color"]["levels"]
    assert batches.statistics_ == whole.statistics_
    meant = BayesClassifier().fit(MEANT[["color"]], Y)
    assert whole.statistics_ == meant.statistics_


def test_declared_categories_are_levels_whatever_they_look_like():
    codes = RNG.choice(["1", "2", "?"], N)
    for cells in (pd.Categorical(codes), pl.Series(codes, dtype=pl.Categorical).to_frame("x")):
        frame = cells if isinstance(cells, pl.DataFrame) else pd.DataFrame({"x": cells})
        column = BayesClassifier().fit(frame, Y).schema_["x"]
        assert (column.family, column.reason, column.notation) == (Categorical(), "3 categories", None)


def test_numbers_beside_marks_in_objects_are_numbers():
    cells = np.array([None if age < 30 else age for age in AGES], dtype=object)
    cells[::7] = "?"
    meant = pd.DataFrame({"x": [np.nan if cell in ("?", None) else cell for cell in cells]})
    model = fitted(cells)
    assert type(model.schema_["x"].family) is Normal
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame({"x": cells})),
        BayesClassifier().fit(meant, Y).predict_proba(meant),
    )


def test_dates_whose_day_and_month_may_be_exchanged_stay_text():
    column = column_of([f"{1 + i % 12:02}/{1 + i % 7:02}/2024" for i in range(N)])
    assert column.family == Categorical()
    assert column.reason == "84 categories: dates whose day and month may be exchanged"


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, dict])
def test_whole_numbers_that_are_days_are_dates(container):
    numbers = [int(text) for text in CELLS["digits"]]
    model = BayesClassifier().fit(container({"day": numbers, "n": PRICES}), Y)
    assert model.schema_["day"].reason.startswith("read as dates (yyyymmdd): a moment, in seconds")
    X, _ = model.sample(20, random_state=0)
    assert all(20_000_101 < day < 20_301_231 for day in X["day"])
    meant = pd.DataFrame({"day": SEVERAL["day"], "n": PRICES})
    same = model.predict_proba(container({"day": numbers, "n": PRICES}))
    np.testing.assert_array_equal(same, BayesClassifier().fit(meant, Y).predict_proba(meant))


def test_whole_numbers_that_are_seldom_days_are_numbers():
    assert type(column_of(RNG.integers(20_200_101, 20_231_231, N)).family) is Normal


def test_a_chosen_family_of_numbers_reads_text():
    families = {"age": "normal", "color": "categorical", "share": None}
    frame = pd.DataFrame({name: CELLS[name] for name in families})
    model = BayesClassifier(families).fit(frame, Y)
    assert model.schema_["age"].reason == "read as numbers: chosen by families="
    assert model.schema_["color"].reason == "chosen by families=; '?' counts as missing"
    assert model.schema_["share"].notation is None
    meant = BayesClassifier(families).fit(MEANT[list(families)], Y)
    np.testing.assert_array_equal(model.predict_proba(frame), meant.predict_proba(MEANT[list(families)]))


def test_a_chosen_family_of_levels_leaves_digits_as_text():
    codes = RNG.choice(["1", "2", "3"], N)
    model = fitted(codes, families={"x": "categorical"})
    assert model.parameters_["x"]["levels"] == ["1", "2", "3"]


def test_a_chosen_family_of_numbers_refuses_text_that_is_none():
    with pytest.raises(ValueError, match="column 'x' must hold numbers, but holds the text 'red'"):
        fitted(np.where(GONE, "green", "red"), families={"x": "normal"})


def test_free_text_is_left_as_it_is():
    texts = [f"the {i}th row is of no use at all {i}" for i in range(N)]
    column = column_of(texts)
    assert (column.family, column.notation) == (Words(), None)


def test_sums_of_numbers_in_other_units_cannot_be_added():
    dollars = suffice.summarize({"x": [f"${price}" for price in PRICES]}, Y)
    euros = suffice.summarize({"x": [f"€{price}" for price in PRICES]}, Y)
    with pytest.raises(
        ValueError, match=r"column 'x' is read as numbers in \$ in one and as numbers in € in"
    ):
        dollars + euros
    plain = suffice.summarize({"x": PRICES}, Y)
    assert (plain + dollars).schema["x"].notation.unit == "$"
    assert (dollars + plain).schema["x"].notation.unit == "$"


def test_sums_of_days_and_of_seconds_cannot_be_added():
    days = suffice.summarize({"x": CELLS["day"]}, Y, families=Normal())
    with pytest.raises(ValueError, match=r"read as dates \(yyyy-mm-dd\) in one and as they are in the other"):
        days + suffice.summarize({"x": AGES}, Y, families=Normal())


@pytest.mark.parametrize("name", ["user_id", "zip", "ZipCode", "phone", "uuid", "postcode", "customerId"])
def test_nearly_unique_numbers_whose_name_says_so_are_identifiers(name):
    numbers = np.append(RNG.permutation(10**6)[: N - 3], [5, 5, 5])
    for cells in (numbers, numbers.astype(str)):
        column = BayesClassifier().fit({name: cells}, Y).schema_[name]
        assert column.family is None
        assert column.reason.startswith("an identifier: ")
    repeated = np.tile(numbers[: N // 4], 4) + 100_000
    column = BayesClassifier().fit({name: repeated}, Y).schema_[name]
    assert (column.family, column.reason) == (
        Categorical(),
        f"whole numbers, {N // 4} different: a code, by its name",
    )
    assert BayesClassifier().fit({name: repeated.astype(str)}, Y).schema_[name].family == Categorical()


def test_nearly_unique_text_is_an_identifier():
    names = [f"user {i}" for i in range(N)]
    names[0] = names[1]
    assert column_of(names).reason == f"an identifier: {N - 1} of {N} values are different"
    assert column_of([f"user {i % 200}" for i in range(N)]).family == Categorical()


def test_nearly_unique_amounts_are_not_identifiers():
    assert column_of(RNG.permutation(10**6)[:N]).family is not None


def test_cross_validation_reads_text_as_all_rows_say():
    frame = CONTAINERS["pandas objects"]
    found = suffice.evaluate(BayesClassifier(), frame, Y, cv=4)
    meant = suffice.evaluate(BayesClassifier(), MEANT, Y, cv=4)
    assert found.log_loss == meant.log_loss


@pytest.mark.parametrize("families", [Normal(), "mvn"])
def test_one_family_of_numbers_for_all_columns_reads_text(families):
    names = ["age", "share"]
    frame = pd.DataFrame({name: CELLS[name] for name in names})
    model = BayesClassifier(families).fit(frame, Y)
    meant = BayesClassifier(families).fit(MEANT[names], Y)
    assert [column.notation.unit for column in model.schema_] == ["", "%"]
    np.testing.assert_array_equal(model.predict_proba(frame), meant.predict_proba(MEANT[names]))


def test_a_discriminant_reads_text():
    names = ["share", "day"]
    frame = pd.DataFrame({name: CELLS[name] for name in names})
    model = suffice.GaussianDiscriminant().fit(frame, Y)
    meant = suffice.GaussianDiscriminant().fit(MEANT[names], Y)
    np.testing.assert_array_equal(model.predict_proba(frame), meant.predict_proba(MEANT[names]))
    np.testing.assert_array_equal(model.transform(frame), meant.transform(MEANT[names]))


def test_drop_ins_read_no_text():
    with pytest.raises(ValueError, match="column 'share' must hold numbers, but holds the text"):
        suffice.dropin.GaussianNB().fit(pd.DataFrame({"share": CELLS["share"]}), Y)


def test_a_few_whole_numbers_as_text_are_categories():
    rooms = RNG.integers(1, 6, N)
    assert fitted(rooms.astype(str)).parameters_["x"]["levels"] == ["1", "2", "3", "4", "5"]
    marked = np.where(GONE, "?", rooms.astype(str))
    assert column_of(marked).reason == "5 categories; '?' counts as missing"
    assert column_of(np.where(GONE, "N/A", rooms.astype(str))).reason.startswith("read as numbers: whole num")
    assert column_of(RNG.integers(1, 40, N).astype(str)).reason.startswith("read as numbers: whole numbers")


def test_a_chosen_family_of_numbers_reads_a_few_whole_numbers_too():
    rooms = RNG.integers(1, 6, N)
    for families in (Normal(), {"x": Normal()}):
        model = fitted(np.where(GONE, "?", rooms.astype(str)), families=families)
        meant = pd.DataFrame({"x": np.where(GONE, np.nan, rooms)})
        expected = BayesClassifier(families).fit(meant, Y).predict_proba(meant)
        np.testing.assert_array_equal(model.predict_proba(meant), expected)


def test_a_column_without_values_is_decided_with_its_notation_later():
    empty = pd.DataFrame({"price": ["?"] * 5, "age": CELLS["age"][:5]})
    model = BayesClassifier().partial_fit(empty, Y[:5])
    assert model.schema_["price"].undecided
    rest = pd.DataFrame({"price": CELLS["price"][5:], "age": CELLS["age"][5:]})
    model.partial_fit(rest, Y[5:])
    assert model.schema_["price"].notation.unit == "$"
    meant = MEANT[["price", "age"]].copy()
    meant.loc[:4, "price"] = np.nan
    schema = model.schema_
    assert model.statistics_.isclose(BayesClassifier(schema).fit(meant, Y).statistics_)
