"""Functions that u(x) is made of: what is refused, where, and by which message."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from suffice import BayesClassifier, summarize
from suffice.families import ElementaryFunction, Family


def family_of(functions, **attributes):
    """A class of families with some u(x)."""
    return dataclass(frozen=True, repr=False)(type("Mine", (Family,), {"functions": functions, **attributes}))


def test_an_unknown_function_is_refused_where_the_family_is_defined():
    eight = "x, x2, log, log2, log1m, reciprocal, cos, sin"
    with pytest.raises(
        ValueError, match=rf"^Mine: 'sinh' is not a function .* {eight}, or .*ElementaryFunction"
    ):
        family_of(("x", "sinh"))
    with pytest.raises(TypeError, match=r"^Mine: functions must be a tuple.*got 'x2'"):
        family_of("x2")


def test_an_unknown_function_of_a_property_is_refused_where_the_family_is_made():
    with pytest.raises(ValueError, match=r"^Mine: 'sinh' is not a function"):
        family_of(property(lambda _: ("sinh",)))()


@pytest.mark.parametrize("origin", [0.0, 1.0])
def test_no_functions_at_all_are_refused(origin):
    with pytest.raises(ValueError, match=r"^Mine: functions is empty; name what u\(x\) is made of"):
        family_of((), default_origin=origin)
    with pytest.raises(ValueError, match=r"^Mine: functions is empty"):
        family_of(property(lambda _: ()), default_origin=origin)()


@pytest.mark.parametrize("name", ["log", "log2", "reciprocal"])
def test_a_logarithm_or_reciprocal_about_zero_is_refused(name):
    with pytest.raises(
        ValueError, match=rf"^Mine: '{name}' .* origin > 0, but default_origin is 0.0; set it"
    ):
        family_of((name,))()


def test_sums_that_cannot_be_moved_are_refused():
    with pytest.raises(ValueError, match=r"^Mine: centred sums of 'x2' need 'x'"):
        family_of(("x2",), centred=True)()
    with pytest.raises(
        ValueError, match=r"^Mine: sums of x and x2 are taken about 0, but default_origin is 2"
    ):
        family_of(("x",), default_origin=2.0)


def test_functions_have_names_of_their_own():
    with pytest.raises(ValueError, match=r"^Mine: functions must have different names"):
        family_of((ElementaryFunction("log", np.log),))
    with pytest.raises(ValueError, match=r"^Mine: functions must have different names"):
        family_of((ElementaryFunction("a", np.log), ElementaryFunction("a", np.exp)))
    with pytest.raises(TypeError, match="a name and a function of x, got 'a' and 3"):
        ElementaryFunction("a", 3)


@dataclass(frozen=True, repr=False)
class Odd(Family):
    """p(x) ∝ exp(λ·f(x)), for fitting and scoring only."""

    value: ClassVar = staticmethod(np.abs)

    @property
    def functions(self):
        return (ElementaryFunction("odd", self.value),)

    def log_normalizer(self, natural, origin):
        return -np.log(-natural[0])

    def natural_from_mean(self, mean, origin):
        return -1.0 / mean


@dataclass(frozen=True, repr=False)
class Partial(Odd):
    value: ClassVar = staticmethod(np.sqrt)


@dataclass(frozen=True, repr=False)
class Steep(Odd):
    value: ClassVar = staticmethod(lambda x: x**4)


@dataclass(frozen=True, repr=False)
class Total(Odd):
    value: ClassVar = staticmethod(np.sum)


@dataclass(frozen=True, repr=False)
class Unexportable(Odd):
    value: ClassVar = staticmethod(lambda x: np.abs(np.arctan(x)))


def test_a_value_where_its_function_is_undefined_or_overflows_is_refused():
    y = ["a", "b", "a", "b"]
    with pytest.raises(ValueError, match=r"'odd' is not a number at x = -1.0; the support of its family"):
        BayesClassifier(families=Partial()).fit([[1.0], [-1.0], [2.0], [3.0]], y)
    model = BayesClassifier(families=Partial()).fit([[1.0], [5.0], [2.0], [3.0]], y)
    with pytest.raises(ValueError, match=r"'odd' is not a number at x = -2.0"):
        model.predict([[-2.0]])
    with pytest.raises(ValueError, match="values are too large"):
        BayesClassifier(families=Steep()).fit([[1.0], [1e100], [2.0], [3.0]], y)
    with pytest.raises(ValueError, match=r"'odd' made an array of shape \(\).*one number for each cell"):
        BayesClassifier(families=Total()).fit([[1.0], [5.0], [2.0], [3.0]], y)


def test_a_refused_batch_leaves_the_model_as_it_was():
    model = BayesClassifier(families=Partial()).fit([[1.0], [5.0], [2.0], [3.0]], ["a", "b", "a", "b"])
    before = model.predict_proba([[4.0]])
    with pytest.raises(ValueError, match="not a number"):
        model.partial_fit([[2.0], [-1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.predict_proba([[4.0]]), before)


def test_far_values_get_a_posterior_where_the_function_overflows():
    y = ["a", "b", "a", "b"]
    model = BayesClassifier(families=Steep()).fit([[1.0], [5.0], [2.0], [3.0]], y)
    np.testing.assert_allclose(model.predict_proba([[1e150], [1e300]]), [[0.0, 1.0], [0.0, 1.0]])


@dataclass(frozen=True, repr=False)
class Truth(Odd):
    value: ClassVar = staticmethod(lambda x: x + (x > 2.0))


@pytest.mark.parametrize("family", [Unexportable(), Truth()], ids=repr)
def test_a_function_that_sql_cannot_express_is_named(family):
    y = ["a", "b", "a", "b"]
    model = BayesClassifier(families=family).fit([[1.0], [5.0], [2.0], [3.0]], y)
    with pytest.raises(TypeError, match=rf"'odd' of {family.name} cannot be exported; write it with"):
        model.to_sql("rows")


def test_a_function_does_not_change_the_data():
    identity = family_of((ElementaryFunction("same", lambda x: x),))
    X = np.array([[1.0], [np.nan], [3.0]])
    summarize(X, ["a", "a", "b"], families=identity())
    np.testing.assert_array_equal(X, [[1.0], [np.nan], [3.0]])
