"""Damaged, foreign and hostile files: `SufficeFileError` that says what is wrong, and nothing else."""

import hashlib
import io
import json
import os
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice import BayesClassifier
from suffice.archive import CLASSES
from suffice.archive.layout import DIGEST, OPENING

from .conftest import MODELS, loaded, saved

SOURCE = Path(suffice.__file__).parent
FIXTURES = Path(__file__).parent / "files"
FEW = 60
MANY = int(os.environ.get("SUFFICE_FUZZ_FILES", "100000"))


@pytest.fixture(scope="module")
def files():
    return [saved(make()[0]) for make in MODELS.values()] + [saved(MODELS["mixed table"]()[0].statistics_)]


# --- taking a file apart, and putting it together with a checksum that is right -------------------


def taken_apart(packed):
    """The header with its content parsed, and the body."""
    (length,) = struct.unpack("<Q", packed[:8])
    header = json.loads(packed[8 : 8 + length])
    header["__metadata__"]["content"] = json.loads(header["__metadata__"]["content"])
    return header, packed[8 + length :]


def put_together(header, body):
    header = dict(header)
    metadata = dict(header["__metadata__"])
    if not isinstance(metadata["content"], str):
        metadata["content"] = json.dumps(metadata["content"])
    header["__metadata__"] = metadata
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return with_checksum(struct.pack("<Q", len(text)) + text + body)


def with_checksum(packed):
    blank = bytearray(packed)
    if len(blank) >= DIGEST.stop:
        blank[DIGEST] = b"0" * 64
        blank[DIGEST] = hashlib.sha256(blank).hexdigest().encode()
    return bytes(blank)


def changed(packed, change):
    """The file after a change of its content, with the right checksum."""
    header, body = taken_apart(packed)
    change(header["__metadata__"]["content"])
    return put_together(header, body)


def with_tensor(packed, name, array):
    """The file with one tensor replaced."""
    header, body = taken_apart(packed)
    dtypes = {"f8": "F64", "i8": "I64", "i4": "I32", "u1": "U8", "b1": "BOOL"}
    tensors = {}
    for key, entry in header.items():
        if key != "__metadata__":
            start, stop = entry["data_offsets"]
            tensors[key] = (entry["dtype"], entry["shape"], body[start:stop])
    tensors[name] = (dtypes[array.dtype.str[1:]], list(array.shape), array.tobytes())
    parts, place = [], 0
    fresh = {"__metadata__": header["__metadata__"]}
    for key, (dtype, shape, data) in tensors.items():
        fresh[key] = {"dtype": dtype, "shape": shape, "data_offsets": [place, place + len(data)]}
        parts.append(data)
        place += len(data)
    return put_together(fresh, b"".join(parts))


def refused(packed, match=None):
    with pytest.raises(suffice.SufficeFileError, match=match):
        loaded(packed)


@pytest.fixture
def small():
    """A small model's file."""
    X = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 6.0], [5.0, 7.5]])
    return saved(BayesClassifier().fit(X, ["a", "a", "b", "b"]))


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
    refused(safetensors.save({"a" * 200: np.zeros(3)}, {"format": "np"}), "no file of suffice")


def test_what_follows_the_file_is_refused(small):
    refused(small + b"\0", "more than")


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
    refused(put_together(header, b"\0" * 8 + body), "begin")


def test_names_that_occur_twice_are_refused(small):
    (length,) = struct.unpack("<Q", small[:8])
    header = small[8 : 8 + length].rstrip()
    twice = header[:-1] + b',"statistics.weight":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}}'
    packed = struct.pack("<Q", len(twice)) + twice + small[8 + length :]
    refused(with_checksum(packed), "twice")
    content = header.replace(b'\\"class\\":', b'\\"class\\":\\"Statistics\\",\\"class\\":')
    packed = struct.pack("<Q", len(content)) + content + small[8 + length :]
    refused(with_checksum(packed), "twice")


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
        ("statistics.weight", np.array([np.nan, 1.0]), "not finite"),
        ("statistics.weight", np.array([-1.0, 1.0]), "rows"),
        ("statistics.support", np.array([-1, 3]), "rows"),
        ("statistics.schema.family", np.array([0, 9], dtype=np.int32), "does not exist"),
        ("statistics.schema.block", np.array([0, -1], dtype=np.int32), "block"),
        ("statistics.totals.0.exponent", np.array([0, 5000], dtype=np.int32), "exponent"),
        ("statistics.totals.0.total", np.full((2, 2, 2), -1.0), "no values give"),
        ("statistics.classes.texts.offsets", np.array([0, 9, 2]), "offsets"),
        ("statistics.classes.texts.kind", np.array([0, 7], dtype=np.uint8), "kinds"),
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


def test_every_class_on_the_list_is_one_that_can_be_loaded():
    from suffice.storage import _class_of

    for name in CLASSES:
        assert _class_of(name).__name__ == name
        assert hasattr(getattr(suffice, name), "save")


# --- no code --------------------------------------------------------------------------------------


def test_nothing_that_reads_files_can_run_code():
    words = (
        "pickle",
        "eval(",
        "exec(",
        "import_module",
        "__import__",
        "marshal",
        "compile(",
        "globals(",
        "allow_pickle",
    )
    readers = [*SOURCE.glob("archive/*.py"), SOURCE / "storage.py", SOURCE / "engines" / "column_types.py"]
    assert len(readers) >= 7
    for path in readers:
        text = path.read_text().replace("re.compile(", "")
        assert not [word for word in words if word in text], path


def test_a_pickle_is_not_opened(tmp_path):
    import pickle

    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    refused(pickle.dumps(Evil()))
    path = tmp_path / "evil.suffice"
    path.write_bytes(OPENING + pickle.dumps(Evil()))
    with pytest.raises(suffice.SufficeFileError):
        suffice.load(path)
    assert not (tmp_path / "ran").exists()


# --- a crash while saving -------------------------------------------------------------------------

SAVE = """
import os, signal, sys
import numpy as np, suffice
model = suffice.BayesClassifier().fit(np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])
{sabotage}
model.save(sys.argv[1])
"""


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_killed_while_saving_leaves_the_old_file(tmp_path, small, call):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)
    sabotage = f"os.{call} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", SAVE.format(sabotage=sabotage), path], check=False)  # noqa: S603
    assert done.returncode == -9
    assert path.read_bytes() == small
    assert suffice.load(path).classes_.tolist() == ["a", "b"]


def test_killed_at_any_moment_leaves_an_old_or_a_new_file(tmp_path, small):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)
    endless = SAVE.format(sabotage="print('ready', flush=True)\nwhile True:\n    model.save(sys.argv[1])")
    for milliseconds in (1, 4, 11, 23):
        with subprocess.Popen([sys.executable, "-c", endless, path], stdout=subprocess.PIPE) as process:  # noqa: S603
            assert process.stdout.readline() == b"ready\n"
            time.sleep(milliseconds / 1000)
            process.kill()
        assert suffice.load(path).classes_.tolist() in (["a", "b"], [0, 1])


def test_a_save_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, small, monkeypatch):
    path = tmp_path / "m.suffice"
    path.write_bytes(small)

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        BayesClassifier().fit([[1.0], [2.0]], [0, 1]).save(path)
    assert path.read_bytes() == small
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.suffice"]


def test_a_link_and_the_permissions_of_the_old_file_stay(tmp_path, small):
    path, link = tmp_path / "m.suffice", tmp_path / "link"
    path.write_bytes(small)
    path.chmod(0o640)
    link.symlink_to(path)
    loaded(small).partial_fit([[1.0, 1.0]], ["c"]).save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert suffice.load(path).classes_.tolist() == ["a", "b", "c"]


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


# --- random damage --------------------------------------------------------------------------------


def mutated(rng, packed):
    """The file after random damage; half of the time its checksum is made right again."""
    packed = bytearray(packed)
    (header_length,) = struct.unpack("<Q", packed[:8])
    for _ in range(int(rng.integers(1, 4))):
        how = rng.integers(0, 8)
        # The content is where damage goes deepest: half of it goes there.
        limit = 8 + header_length if rng.random() < 0.5 else len(packed)
        place = int(rng.integers(0, max(1, min(limit, len(packed)))))
        span = int(rng.integers(1, 9))
        if how == 0 and packed:
            packed[place] ^= 1 << int(rng.integers(0, 8))
        elif how == 1:
            packed[place : place + span] = rng.bytes(span)
        elif how == 2:
            del packed[place : place + span]
        elif how == 3:
            packed[place:place] = packed[place : place + span]
        elif how == 4:
            del packed[place:]
        elif how == 5:
            digits = [i for i in range(place, min(limit, len(packed))) if 48 <= packed[i] <= 57][:1]
            for i in digits:
                packed[i : i + 1] = rng.choice(
                    [b"0", b"-1", b"9", b"99999999", b"1e9", b"NaN", b"null", b"[]", b'"a"']
                )
        elif how == 6:
            value = rng.choice([np.nan, np.inf, -1.0, 1e300, 5e-324, 0.0])
            at = place - place % 8
            packed[at : at + 8] = struct.pack("<d", value)
        else:
            other = int(rng.integers(0, max(1, len(packed))))
            packed[place : place + span] = packed[other : other + span]
    if rng.random() < 0.7 and len(packed) > 8:
        # The length of the header is made right as well, where its end can be found.
        end = packed.find(b"}}", DIGEST.stop)
        if rng.random() < 0.5 and end > 0:
            body_start = 8 + header_length
            packed[:8] = struct.pack("<Q", max(0, len(packed) - (len(packed) - body_start) - 8))
        return with_checksum(bytes(packed))
    return bytes(packed)


def mutated_with_sense(rng, packed):
    """A file that is whole but for one value of its content or one tensor."""
    header, body = taken_apart(packed)
    body = bytearray(body)
    names = [name for name in header if name != "__metadata__"]
    if rng.random() < 0.5:
        branches = [header["__metadata__"]["content"]]
        for branch in branches:
            children = branch.values() if isinstance(branch, dict) else branch
            branches += [child for child in children if isinstance(child, (dict, list)) and child]
        branch = branches[int(rng.integers(len(branches)))]
        key = (
            list(branch)[int(rng.integers(len(branch)))]
            if isinstance(branch, dict)
            else int(rng.integers(len(branch)))
        )
        values = [
            None,
            True,
            -1,
            10**12,
            1.5,
            "",
            "x",
            "full",
            [],
            {},
            {"$float": "nan"},
            {"$tuple": [1]},
            [[1, 2]],
        ]
        if rng.random() < 0.2:
            del branch[key]
        else:
            branch[key] = values[int(rng.integers(len(values)))]
    entry = header[names[int(rng.integers(len(names)))]]
    start, stop = entry["data_offsets"]
    if stop > start and rng.random() < 0.7:
        width = {"F64": 8, "I64": 8, "I32": 4}.get(entry["dtype"], 1)
        at = start + width * int(rng.integers((stop - start) // width))
        numbers = [-1, 0, 1, 2**30, -(2**31), 7]
        odd = {"F64": ("<d", [np.nan, np.inf, -1.0, 1e308, -1e308, 0.0, 1e-320, 3.0])}
        odd |= {"I64": ("<q", [*numbers, 2**62, -(2**63)]), "I32": ("<i", numbers)}
        form, values = odd.get(entry["dtype"], ("<B", [0, 1, 2, 255]))
        body[at : at + width] = struct.pack(form, values[int(rng.integers(len(values)))])
    if rng.random() < 0.1:
        entry["shape"] = entry["shape"][::-1] if rng.random() < 0.5 else [*entry["shape"], 1]
    return put_together(header, bytes(body))


def load_or_refuse(packed):
    """Whether a file was loaded; anything but `SufficeFileError` is a failure."""
    try:
        thing = loaded(packed)
    except suffice.SufficeFileError:
        return False
    if isinstance(thing, suffice.Statistics):
        assert thing.zero().n_rows == 0
        repr(thing)
        return True
    saved_again = None
    with np.errstate(all="ignore"):
        try:
            saved_again = saved(thing)
        except ValueError:  # its parameters cannot be solved for, which it says in words
            return True
    assert loaded(saved_again) is not None
    return True


def fuzz(files, seed, n_files):
    rng = np.random.default_rng(seed)
    n_loaded = 0
    for _ in range(n_files):
        packed = files[int(rng.integers(len(files)))]
        damaged = mutated(rng, packed) if rng.random() < 0.5 else mutated_with_sense(rng, packed)
        start = time.perf_counter()
        n_loaded += load_or_refuse(damaged)
        assert time.perf_counter() - start < 20.0
    return n_loaded


def test_damaged_files_load_or_are_refused(files):
    assert 0 < fuzz(files, 1, 10 * FEW) < 10 * FEW


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_hundred_thousand_damaged_files_load_or_are_refused(files, seed):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert 0 < fuzz(files, 100 + seed, MANY // 20) < MANY // 20
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # kB
