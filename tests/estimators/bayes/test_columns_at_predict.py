"""Column names and their order are checked, and the offenders named."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier


def drop(frame, name):
    return (
        frame.drop_columns([name])
        if hasattr(frame, "drop_columns")
        else (frame.drop(columns=name) if isinstance(frame, pd.DataFrame) else frame.drop(name))
    )


def rename(frame, old, new):
    if hasattr(frame, "rename_columns"):
        return frame.rename_columns([new if name == old else name for name in frame.column_names])
    return frame.rename(columns={old: new}) if isinstance(frame, pd.DataFrame) else frame.rename({old: new})


def select(frame, names):
    return frame[names] if isinstance(frame, pd.DataFrame) else frame.select(names)


def refusal(model, X):
    with pytest.raises((ValueError, TypeError)) as error:
        model.predict(X)
    message = str(error.value)
    assert len(message) < 400, message
    return message


def test_a_missing_column_is_named(frame, labels):
    model = BayesClassifier().fit(frame, labels)
    assert "town" in refusal(model, drop(frame, "town"))


def test_a_renamed_column_is_named_with_its_new_name(frame, labels):
    message = refusal(BayesClassifier().fit(frame, labels), rename(frame, "town", "city"))
    assert "town" in message
    assert "city" in message


def test_an_extra_column_is_named(frame, labels):
    names = [name for name in COLUMN_NAMES if name != "hour"]
    model = BayesClassifier().fit(select(frame, names), labels)
    assert "hour" in refusal(model, frame)


def test_columns_in_another_order_are_named(frame, labels):
    model = BayesClassifier().fit(frame, labels)
    swapped = ["waiting", "length", *COLUMN_NAMES[2:]]
    message = refusal(model, select(frame, swapped))
    assert "order" in message
    assert "waiting" in message


@pytest.mark.parametrize("method", ["partial_fit", "forget"])
def test_partial_fit_and_forget_check_the_names_too(frame, labels, method):
    model = BayesClassifier().fit(frame, labels)
    before = model.statistics_
    with pytest.raises(ValueError, match="town"):
        getattr(model, method)(drop(frame, "town"), labels)
    assert model.statistics_ == before


def test_the_number_of_columns_of_an_array_is_checked(iris):
    X, y = iris
    model = BayesClassifier().fit(X, y)
    message = refusal(model, X[:, :3])
    assert "3" in message
    assert "4" in message


def test_names_that_are_numbers_are_checked_too():
    frame = pd.DataFrame({10: [1.0, 2.0, 8.0], 20: [0.5, 0.1, 0.9]})
    model = BayesClassifier().fit(frame, [0, 0, 1])
    assert "20" in refusal(model, frame[[10]])
    assert "30" in refusal(model, frame.rename(columns={20: 30}))
    assert "order" in refusal(model, frame[[20, 10]])


def test_a_repeated_name_is_refused(table, labels):
    double = pd.concat([table, table[["town"]]], axis=1)
    with pytest.raises(ValueError, match="town"):
        BayesClassifier().fit(double, labels)


def test_a_column_of_another_kind_is_named(table, labels):
    model = BayesClassifier().fit(table, labels)
    message = refusal(model, table.assign(length="long"))
    assert "'length'" in message
    assert "'long'" in message


def test_the_same_rows_in_an_array_are_taken_by_position(iris):
    X, y = iris
    model = BayesClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="feature names"):
        proba = model.predict_proba(X)
    assert np.array_equal(proba, model.predict_proba(pd.DataFrame(X, columns=list("abcd"))))


COLUMN_NAMES = ["length", "waiting", "children", "smoker", "town", "size", "born", "seen", "stay", "hour"]
