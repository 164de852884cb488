"""scikit-learn's own tests of these estimators, from the installed package, run on the drop-ins.

Its test modules are loaded under other names while the drop-ins stand in for the classes they import. Two
modules run whole, but for the tests in `NOT_OURS`, each of which must fail. Of the tests of logistic
regression, many are about penalties and solvers that the drop-in refuses; those in `LOGISTIC` are about an l2
penalty or none.
"""

import importlib.util
import inspect
import sys
from unittest import mock

import numpy as np
import pytest
import sklearn.linear_model  # noqa: F401  and its modules, which are looked up by name
from sklearn import discriminant_analysis, naive_bayes

from suffice import dropin

# As in scikit-learn's own runs, a warning is an error only where the test says so.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of LogisticRegressionCV, which some tests try too
]

PRIVATE = "calls a private method of scikit-learn's class"
NOT_OURS = {
    "test_gnb_check_update_with_no_data": PRIVATE,
    "test_alpha_vector": PRIVATE,
    "test_check_alpha": PRIVATE,
    "test_NB_partial_fit_no_first_classes": "partial_fit does not need `classes`, by design",
}
UNAVAILABLE = ("array_api",)
"""Parts of the names of tests that the drop-ins cannot even start: there is no array API dispatch."""
LOGISTIC = [
    "test_c_inf_no_warning",
    "test_check_solver_option",
    "test_l1_ratio_None_deprecated",
    "test_liblinear_decision_function_zero",
    "test_liblinear_multiclass_raises",
    "test_logistic_glmnet",
    "test_logistic_regression_sample_weights",
    "test_logistic_regression_solver_class_weights",
    "test_logistic_regression_solvers",
    "test_logistic_regression_solvers_multiclass",
    "test_logistic_regression_solvers_multiclass_unpenalized",
    "test_logisticregression_warns_with_n_jobs",
    "test_multinomial_identifiability_on_iris",
    "test_penalty_deprecated",
    "test_penalty_none",
    "test_predict_2_classes",
    "test_predict_3_classes",
    "test_sample_weight_not_modified",
    "test_single_feature_newton_cg",
    "test_warm_start_converge_LR",
]


def loaded_tests(name, *homes):
    """The tests in a module of scikit-learn's, with the drop-ins in place of the classes of `homes`."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        return {}
    spec = importlib.util.spec_from_file_location(f"theirs.{name}", found.origin)
    module = importlib.util.module_from_spec(spec)
    patches = [
        mock.patch.object(home, cls, getattr(dropin, cls))
        for home in homes
        for cls in dropin.__all__
        if hasattr(home, cls)
    ]
    for patch in patches:
        patch.start()
    try:
        spec.loader.exec_module(module)
    finally:
        for patch in patches:
            patch.stop()
    tests = {key: value for key, value in vars(module).items() if key.startswith("test_")}
    return {key: value for key, value in tests.items() if not any(part in key for part in UNAVAILABLE)}


DISCRIMINANTS = loaded_tests("sklearn.tests.test_discriminant_analysis", discriminant_analysis)
NAIVE_BAYES = loaded_tests("sklearn.tests.test_naive_bayes", naive_bayes)
REGRESSIONS = loaded_tests(
    "sklearn.linear_model.tests.test_logistic",
    sys.modules["sklearn.linear_model"],
    sys.modules["sklearn.linear_model._logistic"],
)
ALL = DISCRIMINANTS | NAIVE_BAYES | {name: REGRESSIONS[name] for name in LOGISTIC if name in REGRESSIONS}
globals().update(ALL)


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn uses by default."""
    return 42


@pytest.fixture(params=[np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def global_dtype(request):
    """The precision of the rows."""
    return np.dtype(request.param)


@pytest.fixture(autouse=True)
def _must_fail_if_not_ours(request):
    reason = NOT_OURS.get(request.node.originalname)
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_the_lists_name_tests_that_exist():
    if not REGRESSIONS:
        pytest.skip("the installed scikit-learn ships no tests")
    assert set(NOT_OURS) <= set(DISCRIMINANTS | NAIVE_BAYES)
    assert set(LOGISTIC) <= set(REGRESSIONS)
    assert not set(DISCRIMINANTS) & set(NAIVE_BAYES)


def test_a_module_that_is_not_installed_has_no_tests():
    assert loaded_tests("sklearn.tests.test_of_nothing") == {}
    assert loaded_tests("sklearn.absent.tests.test_of_nothing") == {}


def test_the_drop_ins_stand_in_for_the_classes_of_scikit_learn():
    if not REGRESSIONS:
        pytest.skip("the installed scikit-learn ships no tests")
    for name, test in ALL.items():
        seen = inspect.unwrap(test).__globals__
        used = [seen[cls] for cls in dropin.__all__ if cls in seen]
        assert used, name
        assert all(cls.__module__.startswith("suffice.dropin") for cls in used), name
