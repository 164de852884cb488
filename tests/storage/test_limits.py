"""Crafted files with a right checksum: reading them takes time and memory in proportion to their length."""

import gc
import io
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice.storage import SufficeFileError
from suffice.storage.limits import as_set
from suffice.text.hash_table import BITS, MULTIPLIER, hash_of
from suffice.text.vocabulary import Vocabulary

from .conftest import MODELS, loaded, saved
from .parts import changed, taken_apart, with_tensor

COLLIDING = 20_000
PRIME = 2**61 - 1
"""Whole numbers have the same hash if they differ by this."""


TIMES = 20
"""Quadratic work would take hundreds of times as long as linear work."""


def refused(packed, match):
    with pytest.raises(SufficeFileError, match=match):
        loaded(packed)


def seconds_of(work):
    """The time that the processor needs for this, without other threads and garbage of other tests."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return time.thread_time() - start
    finally:
        gc.enable()


def refused_at_once(packed, ordinary, match):
    """A file is refused in about the time that it takes to read one with as many ordinary values."""

    def read():
        with suppress(SufficeFileError):
            loaded(ordinary)

    assert seconds_of(lambda: refused(packed, match)) < TIMES * max(seconds_of(read), 0.01)


def of_one_hash():
    """Whole numbers, all different, whose hash is 1."""
    return [1 + i * PRIME for i in range(COLLIDING)]


def as_map(numbers):
    return {"$map": [[number, 0.5] for number in numbers]}


def as_tuples(tuples):
    return {"$set": [{"$tuple": list(one)} for one in tuples]}


@pytest.mark.parametrize(
    "value, ordinary",
    [
        (as_map(of_one_hash()), as_map(range(COLLIDING))),
        ({"$set": of_one_hash()}, {"$set": list(range(COLLIDING))}),
        # The hashes of -1 and -2 are equal, and so are those of tuples of them.
        (as_tuples(product((-1, -2), repeat=14)), as_tuples(product((1, 2), repeat=14))),
    ],
    ids=["map", "set", "tuples"],
)
def test_values_of_one_hash_are_refused_at_once(small, value, ordinary):
    def with_priors(priors):
        return changed(small, lambda content: content["settings"].update(priors=priors))

    refused_at_once(with_priors(value), with_priors(ordinary), "same hash")


def test_levels_of_one_hash_are_refused_at_once():
    refused_at_once(with_levels(of_one_hash()), with_levels(range(COLLIDING)), "same hash")


def with_levels(numbers):
    """A file with so many levels."""
    packed = saved(suffice.BayesClassifier(suffice.families.Categorical()).fit([[0], [1]], ["a", "b"]))
    texts = [str(number).encode() for number in numbers]
    name = "statistics.totals.0.columns.0"
    for key, array in (
        ("levels.kind", np.ones(len(texts), dtype=np.uint8)),
        ("levels.offsets", np.cumsum([0, *map(len, texts)])),
        ("levels.text", np.frombuffer(b"".join(texts), np.uint8)),
        ("weight", np.ones((2, len(texts)))),
        ("support", np.ones((2, len(texts)), dtype=np.int64)),
    ):
        packed = with_tensor(packed, f"{name}.{key}", array)
    return packed


def test_a_few_values_of_one_hash_are_values():
    assert len(as_set(of_one_hash()[:500])) == 500
    assert len(as_set(range(-50_000, 50_000))) == 100_000
    assert len(as_set(product((-1, -2), (-1, -2), range(10_000)))) == 40_000


def words_of_one_slot(n):
    """Words of seven letters whose hashes end in the same bits, so that all of them want the same slot."""
    inverse, rng, words = np.uint64(pow(MULTIPLIER, -1, 1 << 63)), np.random.default_rng(0), []
    while len(words) < n:
        h = rng.integers(0, 1 << 43, 1 << 20, dtype=np.uint64) << np.uint64(20)
        undone = ((h ^ (h >> np.uint64(32))) * inverse) & np.uint64(BITS)
        letters = undone.astype(">u8").view(np.uint8).reshape(-1, 8)
        words += [row[1:].tobytes() for row in letters[(letters[:, 0] == 1) & (letters < 128).all(axis=1)]]
    assert {hash_of(word) % (1 << 20) for word in words} == {0}
    return words[:n]


def test_words_that_want_the_same_slot_are_refused():
    words = words_of_one_slot(2_000)
    arena, offsets = np.frombuffer(b"".join(words), np.uint8), np.arange(0, 7 * len(words) + 1, 7)
    assert Vocabulary.from_utf8(arena, offsets) is None
    packed = saved(MODELS["text"]()[0])
    name = "statistics.totals.0.columns.0.vocabulary"
    packed = with_tensor(packed, f"{name}.offsets", offsets)
    refused(with_tensor(packed, f"{name}.text", arena), "vocabulary")


def test_words_of_ordinary_text_are_not_crowded():
    words = [f"{i}" for i in range(30_000)] + [f"word{i:06}" for i in range(30_000)]
    arena = np.frombuffer("".join(words).encode(), np.uint8)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    assert len(Vocabulary.from_utf8(arena, offsets)) == 60_000


MEMORY = """
import io, resource, sys, suffice
sys.path.insert(0, sys.argv[1])
from parts import put_together, taken_apart
X = [[1.0, 5.0], [2.0, 6.0], [3.0, 6.5], [5.0, 7.5]]
file = io.BytesIO()
suffice.BayesClassifier().fit(X, ["a", "a", "b", "b"]).save(file)
header, body = taken_apart(file.getvalue())
parts = sys.argv[2] * (30_000_000 // len(sys.argv[2]))
header["__metadata__"]["content"] = '{"class": "Statistics", "a": [' + parts + "0]}"
packed = put_together(header, body)
del header, parts
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    suffice.load(io.BytesIO(packed))
except suffice.SufficeFileError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("part", ["[],", "{},", '"ab",', "0,"])
def test_a_header_of_many_small_parts_takes_no_more_memory_than_a_few_times_its_length(part):
    command = [sys.executable, "-c", MEMORY, str(Path(__file__).parent), part]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: S603
    assert "more parts than any model" in told[0]
    assert 1024 * int(told[1]) < 200e6


@pytest.mark.parametrize("name", ["text", "mixed table"])
def test_terms_of_a_million_words_are_refused(name):
    def damage(content):
        if name == "text":
            content["settings"]["ngram_range"] = {"$tuple": [1, 10**6]}
        for family in content["statistics"]["schema"]["families"]:
            if family is not None and family["$family"][0] == "Words":
                family["$family"][1]["ngram_range"] = {"$tuple": [1, 10**6]}

    refused(changed(saved(MODELS[name]()[0]), damage), "1 ≤ a ≤ b ≤ 100")


@pytest.mark.parametrize(
    "part",
    [{"priors": {"$float": "x" * 100_000}}, {"priors": {"$class": "x" * 100_000}}, {"x" * 100_000: 1}],
    ids=["value", "family", "name"],
)
def test_an_error_does_not_repeat_all_that_a_file_says(small, part):
    with pytest.raises(SufficeFileError) as refusal:
        loaded(changed(small, lambda content: content["settings"].update(part)))
    assert "xxx" in str(refusal.value)
    assert len(str(refusal.value)) < 2_000


def with_version(packed, version, **other):
    return changed(
        packed, lambda content: content.update(written_with={"suffice": version, "numpy": "9"}, **other)
    )


@pytest.mark.parametrize("version", ["0.2.0", "1.0", "12.34.56", "0.1.1.dev1+g123"])
def test_a_file_of_a_newer_version_that_cannot_be_read_says_so(small, version):
    words = (
        f"written with suffice {version.replace('+', '.')}, but this is suffice .*; install the newer version"
    )
    refused(with_version(small, version, **{"class": "BetterClassifier"}), words)

    def damage(content):
        content["settings"]["families"] = {"$family": ["Unheard", {}]}

    refused(changed(with_version(small, version), damage), words)
    statistics = with_version(saved(loaded(small).statistics_), version, totals=[])
    refused(statistics, words)
    with pytest.raises(SufficeFileError, match=words):
        suffice.Statistics.load(io.BytesIO(statistics))


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "", "nonsense", "9" * 50, "9.9\x1b[31m", None, 5])
def test_other_files_that_cannot_be_read_are_damaged(small, version):
    with pytest.raises(SufficeFileError) as refusal:
        loaded(with_version(small, version, statistics={}))
    assert "newer" not in str(refusal.value)


def test_a_file_of_a_newer_version_that_can_be_read_is_read(small):
    assert loaded(with_version(small, "9.0.0")).classes_.tolist() == ["a", "b"]


# --- what loads is finite ---------------------------------------------------------------------------

NAMES = {
    "softmax": ["learnt.solved.0.equations.coefficients", "learnt.solved.0.equations.shift"],
    "drop-in regression": ["learnt.solved.0.equations.coefficients", "learnt.solved.0.equations.offset"],
    "Friedman": ["statistics.totals.0.scatter", "statistics.totals.0.weight"],
    "drop-in LDA": ["found.0.em.mean", "found.0.em.scatter", "statistics.totals.0.weight"],
    "full covariance with gaps": ["found.0.em.mean", "found.0.em.scatter", "statistics.totals.0.weight"],
    "priors by label": ["statistics.totals.0.weight"],
    "pairwise": ["statistics.totals.0.scatter", "statistics.totals.0.weight"],
}


@pytest.mark.parametrize("model, name", [(model, name) for model, names in NAMES.items() for name in names])
@pytest.mark.parametrize("number", [1e308, -1e308, -1.0, 1e-320])
def test_what_loads_gives_finite_posteriors(model, name, number):
    fitted, X = MODELS[model]()
    packed = saved(fitted)
    header, body = taken_apart(packed)
    start, stop = header[name]["data_offsets"]
    whole = np.frombuffer(body[start:stop]).reshape(header[name]["shape"])
    n_loaded = 0
    for place in range(whole.size):
        array = whole.copy()
        array.flat[place] = number
        try:
            changed_model = loaded(with_tensor(packed, name, array))
        except SufficeFileError:
            continue
        n_loaded += 1
        try:
            with np.errstate(all="ignore"):
                posteriors = changed_model.predict_proba(X)
        except ValueError:  # it says that its sums have no parameters
            continue
        assert np.isfinite(posteriors).all(), (name, place)
    assert n_loaded < whole.size or abs(number) < 2 or name.endswith("shift")
