"""Damaged, foreign and hostile files: `SufficeFileError` that says what is wrong, and nothing else."""

import json
import pickle
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice import BayesClassifier
from suffice.storage import CLASSES
from suffice.storage.format import OPENING

from .conftest import MODELS, loaded, saved
from .parts import changed, put_together, taken_apart, with_checksum, with_tensor

SOURCE = Path(suffice.__file__).parent
FIXTURES = Path(__file__).parent / "files"


def refused(packed, match=None):
    with pytest.raises(suffice.SufficeFileError, match=match):
        loaded(packed)


def test_the_tools_of_these_tests_put_together_what_they_took_apart(small):
    assert loaded(put_together(*taken_apart(small))).classes_.tolist() == ["a", "b"]


# --- particular damage ----------------------------------------------------------------------------


def test_a_truncated_file_is_refused_wherever_it_was_cut(small):
    for length in range(len(small)):
        refused(small[:length])


def test_every_flipped_bit_is_noticed(small):
    for place in range(len(small)):
        flipped = bytearray(small)
        flipped[place] ^= 1 << (place % 8)
        refused(bytes(flipped))


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"\x80\x04\x95", b"a,b\n1,2\n", b"{}", b"\xff" * 500]
)
def test_files_of_other_kinds_are_refused(content):
    refused(content)


def test_a_safetensors_file_of_another_library_is_refused():
    safetensors = pytest.importorskip("safetensors.numpy")
    refused(safetensors.save({"a" * 200: np.zeros(3)}, {"format": "np"}), "not a suffice file")


def test_what_follows_the_file_is_refused(small):
    refused(small + b"\0", "longer than")


def test_a_newer_format_says_so(small):
    header, body = taken_apart(small)
    header["__metadata__"]["suffice"] = "2"
    refused(put_together(header, body), "format 2.*newer")


def test_a_header_that_claims_to_be_huge_is_refused_at_once(small):
    for length in (2**64 - 1, 2**40, 100_000_001, 99_999_999, 0, 5):
        refused(struct.pack("<Q", length) + small[8:])


@pytest.mark.parametrize(
    "shape", [[2**40], [2**20, 2**20], [2**60, 16], [-1], [1.5], "x", [True], [0] * 9, [10**30]]
)
def test_huge_and_odd_shapes_are_refused_before_anything_is_allocated(small, shape):
    header, body = taken_apart(small)
    header["statistics.weight"]["shape"] = shape
    refused(put_together(header, body), "statistics.weight")


def test_tensors_that_overlap_or_leave_gaps_are_refused(small):
    header, body = taken_apart(small)
    header["statistics.weight"]["data_offsets"] = header["statistics.support"]["data_offsets"]
    refused(put_together(header, body), "overlap or leave gaps")
    header, body = taken_apart(small)
    for entry in header.values():
        if "data_offsets" in entry:
            entry["data_offsets"] = [place + 8 for place in entry["data_offsets"]]
    refused(put_together(header, b"\0" * 8 + body), "do not start")


def test_names_that_occur_twice_are_refused(small):
    (length,) = struct.unpack("<Q", small[:8])
    header = small[8 : 8 + length].rstrip()
    twice = header[:-1] + b',"statistics.weight":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}}'
    packed = struct.pack("<Q", len(twice)) + twice + small[8 + length :]
    refused(with_checksum(packed), "twice")
    content = header.replace(b'\\"class\\":', b'\\"class\\":\\"Statistics\\",\\"class\\":')
    packed = struct.pack("<Q", len(content)) + content + small[8 + length :]
    refused(with_checksum(packed), "twice")


@pytest.mark.parametrize(
    "notation",
    [
        5,
        [],
        ["roman", ["?"], "", False],
        ["numbers", [5], "", False],
        ["numbers", "?", "", False],
        ["numbers", ["?"], 5, False],
        ["numbers", ["?"], "", 1],
    ],
)
def test_notations_that_do_not_exist_are_refused(notation):
    packed = saved(MODELS["text of numbers"]()[0])

    def damage(content):
        content["statistics"]["schema"]["notations"][0] = notation

    refused(changed(packed, damage), "notations")


def test_columns_with_a_notation_that_is_not_listed_are_refused():
    packed = saved(MODELS["text of numbers"]()[0])
    refused(
        with_tensor(packed, "statistics.schema.notation", np.array([0, 9, -1], dtype=np.int32)), "notation"
    )
    refused(
        changed(packed, lambda content: content["statistics"]["schema"].update(notations="?")), "notations"
    )


def test_deep_nesting_is_refused(small):
    header, body = taken_apart(small)
    header["__metadata__"]["content"] = "[" * 100_000
    refused(put_together(header, body), "JSON")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_numbers_that_are_none_are_refused(small, number):
    header, body = taken_apart(small)
    text = json.dumps(header["__metadata__"]["content"]).replace('"priors": null', f'"priors": {number}')
    assert number in text
    header["__metadata__"]["content"] = text
    refused(put_together(header, body))


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "Family", "__class__", "", "Accumulator", "X" * 1000]
)
def test_classes_that_are_not_on_the_list_are_refused(small, name):
    refused(changed(small, lambda content: content.update({"class": name})), "does not know")


def test_families_and_values_that_are_not_known_are_refused(small):
    def of(value):
        return lambda content: content["settings"].update(families=value)

    for value in (
        {"$family": ["os.system", {}]},
        {"$family": ["Normal", {"alpha": -1}]},
        {"$family": ["Normal", {"beta": 1}]},
        {"$family": ["Normal", {"alpha": {"$tuple": []}}]},
        {"$family": ["Normal", []]},
        {"$family": ["MultivariateNormal", {"covariance": [["a"]], "ddof": "x"}]},
        {"$class": "subprocess.Popen"},
        {"$function": "eval"},
        {"$decode": 1},
        {"$__init__": []},
        {"$tuple": [], "$set": []},
        {"$map": [[1, 2], [1, 3]]},
        {"$map": [[[1], 2]]},
        {"$set": [[1]]},
        {"$float": "1"},
        {"$array": ["<U999999", [100], ["x"] * 100]},
        {"$array": ["<i1", [1], [300]]},
        {"$array": ["<f8", [2], [1.0]]},
        {"$array": ["V8", [1], [1]]},
        {"$array": ["<f8", [1], ["x"]]},
        {},
    ):
        refused(changed(small, of(value)))


def test_labels_must_be_different_and_finite():
    packed = saved(BayesClassifier().fit([[1.0], [2.0]], [1.0, 2.0]))
    for labels in ([1.0, np.nan], [1.0, 1.0], [np.inf, 1.0], [0.0, -0.0], [[1.0, 2.0]], [1.0, 2.0, 3.0]):
        refused(with_tensor(packed, "statistics.classes.labels", np.array(labels)))


def test_sums_that_do_not_fit_together_are_refused(small):
    for name, array, match in (
        ("statistics.weight", np.zeros(3), "shape"),
        ("statistics.weight", np.array([1, 2]), "must hold float64"),
        ("statistics.weight", np.array([np.nan, 1.0]), "NaN or infinite"),
        ("statistics.weight", np.array([-1.0, 1.0]), "rows"),
        ("statistics.support", np.array([-1, 3]), "rows"),
        ("statistics.schema.family", np.array([0, 9], dtype=np.int32), "does not exist"),
        ("statistics.schema.block", np.array([0, -1], dtype=np.int32), "block"),
        ("statistics.totals.0.exponent", np.array([0, 5000], dtype=np.int32), "exponent"),
        ("statistics.totals.0.total", np.full((2, 2, 2), -1.0), "no values could give"),
        ("statistics.classes.texts.offsets", np.array([0, 9, 2]), "offsets"),
        ("statistics.classes.texts.kind", np.array([0, 7], dtype=np.uint8), "types"),
        ("statistics.classes.texts.kind", np.array([1, 0], dtype=np.uint8), "cannot be read"),
        ("statistics.classes.texts.text", np.array([255, 254], dtype=np.uint8), "cannot be read"),
        ("statistics.classes.texts.text", np.array([97, 97], dtype=np.uint8), "twice"),
    ):
        refused(with_tensor(small, name, array), match)


def test_truth_values_that_are_neither_true_nor_false_are_refused(small):
    header, body = taken_apart(small)
    start, stop = header["statistics.schema.undecided"]["data_offsets"]
    refused(put_together(header, body[:start] + b"\2" * (stop - start) + body[stop:]), "neither 0 nor 1")


def test_bins_that_lie_far_apart_are_refused():
    packed = saved(BayesClassifier(suffice.families.Histogram()).fit([[1.0], [2.0]], [0, 1]))
    refused(with_tensor(packed, "statistics.totals.0.columns.0.bins", np.array([0, 2**60])), "far apart")


@pytest.mark.parametrize("fewest", [10**9, 10**12, 10**40, [10**6] * 3])
def test_categories_that_no_row_has_take_no_memory(fewest):
    packed = saved(MODELS["drop-in CategoricalNB"]()[0])
    refused(changed(packed, lambda content: content["settings"].update(min_categories=fewest)))


@pytest.mark.parametrize(
    "category, match", [(10**9, "large gaps"), (2**62, "large gaps"), (-7, "is negative")]
)
def test_categories_that_are_no_numbers_of_categories_are_refused(category, match):
    packed = saved(suffice.dropin.CategoricalNB().fit([[0], [1], [1]], [0, 1, 1]))
    text = f"0{category}".encode()
    name = "statistics.totals.0.columns.0.levels"
    packed = with_tensor(packed, f"{name}.offsets", np.array([0, 1, len(text)]))
    packed = with_tensor(packed, f"{name}.kind", np.array([1, 1], dtype=np.uint8))
    refused(with_tensor(packed, f"{name}.text", np.frombuffer(text, np.uint8)), match)


@pytest.mark.parametrize(
    "name, settings",
    [
        ("drop-in LDA", {"shrinkage": "auto"}),
        ("drop-in QDA", {"solver": "eigen", "covariance_estimator": 1}),
        ("drop-in regression", {"solver": "nothing"}),
    ],
)
def test_settings_that_do_not_go_together_are_refused(name, settings):
    packed = saved(MODELS[name]()[0])
    refused(changed(packed, lambda content: content["settings"].update(settings)))


def test_what_could_not_be_loaded_is_not_saved():
    model = suffice.dropin.CategoricalNB().fit([[0], [500_000]], [0, 1])
    with pytest.raises(ValueError, match="without large gaps"):
        saved(model)


def test_every_class_on_the_list_is_one_that_can_be_loaded():
    from suffice.storage.load import _class_of

    for name in CLASSES:
        room, _, own = name.rpartition(".")
        assert _class_of(name) is getattr(getattr(suffice, room) if room else suffice, own)
        assert hasattr(_class_of(name), "save")


# --- no code --------------------------------------------------------------------------------------


ANYWHERE = re.compile(r"pickle|marshal|shelve|joblib|__import__|\b(eval|exec)\(")
BY_NAME = re.compile(r"import_module|globals\(|(?<!re\.)\bcompile\(")


@pytest.mark.parametrize(
    "line, pattern",
    [
        ("import pickle", ANYWHERE),
        ("return cloudpickle.loads(held)", ANYWHERE),
        ("np.load(file, allow_pickle=True)", ANYWHERE),
        ("return eval(text)", ANYWHERE),
        ("exec(code, {})", ANYWHERE),
        ("__import__(name)", ANYWHERE),
        ("importlib.import_module(name)", BY_NAME),
        ("globals()[name]", BY_NAME),
        ("compile(text, '', 'eval')", BY_NAME),
    ],
)
def test_lines_that_could_run_code_would_be_found(line, pattern):
    assert pattern.search(line)


def test_nothing_that_reads_files_can_run_code():
    readers = {*SOURCE.glob("storage/*.py"), SOURCE / "tables" / "container_words.py"}
    assert len(readers) >= 8
    for path in SOURCE.rglob("*.py"):
        assert ANYWHERE.search(path.read_text(encoding="utf-8")) is None, path
        assert path not in readers or BY_NAME.search(path.read_text(encoding="utf-8")) is None, path


def test_a_pickle_is_not_opened(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    packed = pickle.dumps(Evil())
    refused(packed)
    path = tmp_path / "evil.suffice"
    path.write_bytes(OPENING + packed)
    with pytest.raises(suffice.SufficeFileError):
        suffice.load(path)
    assert not (tmp_path / "ran").exists()
    pickle.loads(packed)  # noqa: S301  the trap works
    assert (tmp_path / "ran").exists()


class Watch:
    """Writes down what the interpreter is made to run while it is on; such a hook can never be taken off."""

    EVENTS = (
        "exec",
        "compile",
        "import",
        "pickle.find_class",
        "marshal.loads",
        "os.system",
        "subprocess.Popen",
    )

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.on and event in self.EVENTS:
            self.seen.append((event, arguments))

    def __enter__(self):
        self.on, self.seen = True, []
        return self

    def __exit__(self, *_):
        self.on = False


@pytest.fixture(scope="module")
def watch():
    return Watch()


def test_loading_executes_compiles_and_imports_nothing(watch, fitted):
    packed = saved(fitted[0])
    hostile = changed(packed, lambda content: content.update({"class": "os.system"}))
    loaded(packed)
    with watch:
        loaded(packed)
        refused(hostile)
    assert watch.seen == []
    with watch:
        compile("1", "", "eval")
    assert [event for event, _ in watch.seen] == ["compile"]


# --- every format there was -----------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.suffice")), ids=lambda path: path.stem)
def test_files_of_every_format_are_read(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    thing = suffice.load(path)
    if isinstance(thing, suffice.Statistics):
        assert thing.classes.tolist() == expected["classes"]
        assert thing.support.tolist() == expected["support"]
    else:
        assert thing.classes_.tolist() == expected["classes"]
        np.testing.assert_allclose(thing.predict_proba(expected["rows"]), expected["posteriors"], rtol=1e-12)
