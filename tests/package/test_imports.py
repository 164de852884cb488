"""`import suffice` is light, and the first estimator adds little to scikit-learn."""

import json
import subprocess
import sys

import pytest

HEAVY = ("sklearn", "numba", "pandas", "pyarrow", "matplotlib", "polars", "scipy.stats", "hypothesis")


def modules_after(code):
    """Which heavy modules a fresh interpreter holds after running some code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_suffice_imports_nothing_heavy():
    assert not modules_after("import suffice") & set(HEAVY)


def test_asking_what_suffice_holds_imports_nothing_heavy():
    assert not modules_after("import suffice; dir(suffice); suffice.__version__") & set(HEAVY)


def test_families_import_nothing_heavy():
    assert not modules_after("import suffice; suffice.families.Normal()") & set(HEAVY)


def test_the_first_estimator_imports_nothing_heavy_beyond_scikit_learn():
    ours = modules_after(
        "import suffice\nsuffice.BayesClassifier().fit([[1.0], [2.0]], [0, 1]).predict_proba([[1.0]])"
    )
    theirs = modules_after("import sklearn.naive_bayes")
    assert not (ours - theirs) & set(HEAVY)
    assert not any(name.startswith("suffice.plots") for name in ours)


@pytest.mark.parametrize(
    "first", ["suffice.BayesClassifier", "suffice.testing", "suffice.Statistics", "suffice.summarize"]
)
def test_public_names_are_the_same_whatever_was_imported_first(first):
    code = f"import suffice; {first}; assert callable(suffice.summarize), suffice.summarize"
    assert "suffice" in modules_after(code)


OPTIONAL = ("hypothesis", "matplotlib", "polars", "pandas", "pyarrow", "onnx", "onnxruntime", "duckdb")


@pytest.mark.parametrize(
    "code",
    [
        "from suffice import *; testing.check_family(families.Poisson(), max_examples=3)",
        "import suffice; suffice.testing.check_family(suffice.families.Gamma(), max_examples=3)",
        "import suffice; suffice.testing.check_family(suffice.families.Categorical(), max_examples=3)",
    ],
    ids=["star", "Gamma", "Categorical"],
)
def test_the_checks_need_none_of_the_optional_packages(code):
    blocked = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r}))\n{code}"
    assert "suffice.testing" in modules_after(blocked)


def test_an_unknown_name_is_an_attribute_error():
    import suffice

    with pytest.raises(AttributeError, match="BayesClassifer"):
        suffice.BayesClassifer  # noqa: B018


def test_every_public_name_can_be_imported():
    import suffice

    for name in suffice.__all__:
        assert getattr(suffice, name) is not None
