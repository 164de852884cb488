"""Files damaged at random: they load, or `SufficeFileError` says what is wrong."""

import os
import resource
import struct
import time
import tracemalloc
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

import suffice
from suffice.storage import CLASSES

from .conftest import MODELS, calibrated, loaded, saved
from .parts import put_together, taken_apart, with_checksum

FEW = 500
MANY = int(os.environ.get("SUFFICE_FUZZ_FILES", "100000"))
SEED = int(os.environ.get("SUFFICE_FUZZ_SEED", "100"))
SHARES = 20
SECONDS = 10.0
"""The longest that a file may keep a processor busy."""
MEGABYTES = 100
"""The most memory that a file may take."""
KILOBYTES = 1 << 20
"""The most memory, in kilobytes, that many files may take in the end."""


@pytest.fixture(scope="module")
def files():
    """Files with rows to ask their models about."""
    models = [make() for make in MODELS.values()]
    maps = [calibrated("inferred", method) for method in ("vector", "isotonic")]
    model, X = MODELS["mixed table"]()
    return [(saved(one), X) for one, X in (*models, *maps, (model.statistics_, X))]


def flip(rng, packed, place, _):
    packed[place] ^= 1 << int(rng.integers(0, 8))


def overwrite(rng, packed, place, span):
    packed[place : place + span] = rng.bytes(span)


def remove(_, packed, place, span):
    del packed[place : place + span]


def repeat(_, packed, place, span):
    packed[place:place] = packed[place : place + span]


def cut(_, packed, place, __):
    del packed[place:]


def renumber(rng, packed, place, _):
    """Another value where a number stands in the header."""
    odd = [b"0", b"-1", b"9", b"99999999", b"1e9", b"NaN", b"null", b"[]", b'"a"']
    found = next((i for i in range(place, len(packed)) if 48 <= packed[i] <= 57), None)
    if found is not None:
        packed[found : found + 1] = odd[int(rng.integers(len(odd)))]


def extreme(rng, packed, place, _):
    """A number that data never give."""
    at = place - place % 8
    packed[at : at + 8] = struct.pack("<d", rng.choice([np.nan, np.inf, -1.0, 1e300, 5e-324, 0.0]))


def transplant(rng, packed, place, span):
    other = int(rng.integers(len(packed)))
    packed[place : place + span] = packed[other : other + span]


DAMAGES = (flip, overwrite, remove, repeat, cut, renumber, extreme, transplant)


def damaged(rng, packed):
    """The file after random damage; most of the time with a checksum that is right again."""
    packed = bytearray(packed)
    length = 8 + int.from_bytes(packed[:8], "little")
    for _ in range(int(rng.integers(1, 4))):
        limit = min(length, len(packed)) if rng.random() < 0.5 else len(packed)
        place = int(rng.integers(limit)) if limit else 0
        if packed:
            DAMAGES[int(rng.integers(len(DAMAGES)))](rng, packed, place, int(rng.integers(1, 9)))
    return with_checksum(bytes(packed)) if rng.random() < 0.7 else bytes(packed)


VALUES = [None, True, -1, 10**12, 1.5, "", "x", "full", [], {}, {"$float": "nan"}, {"$tuple": [1]}, [[1, 2]]]
SHAPES = [[2**40], [2**20, 2**20], [2**47], [0, 2**47], [], [0], [-1]]
LENGTHS = [0, 1, 100, 10**8, 2**40, 2**63, 2**64 - 1]
WHOLE = [-1, 0, 1, 2**30, -(2**31), 7]
NUMBERS = {
    "F64": ("<d", [np.nan, np.inf, -1.0, 1e308, -1e308, 0.0, 1e-320, 3.0]),
    "I64": ("<q", [*WHOLE, 2**62, -(2**63)]),
    "I32": ("<i", WHOLE),
}


def one_of(rng, values):
    return values[int(rng.integers(len(values)))]


def change_content(rng, content):
    """Another value somewhere in the tree."""
    branches = [content]
    for branch in branches:
        children = branch.values() if isinstance(branch, dict) else branch
        branches += [child for child in children if isinstance(child, (dict, list)) and child]
    branch = one_of(rng, branches)
    key = one_of(rng, list(branch) if isinstance(branch, dict) else range(len(branch)))
    if rng.random() < 0.2:
        del branch[key]
    else:
        branch[key] = one_of(rng, VALUES)


def change_number(rng, entry, body):
    """Another number in a tensor: NaN, infinity, a place that does not exist."""
    start, stop = entry["data_offsets"]
    form, values = NUMBERS.get(entry["dtype"], ("<B", [0, 1, 2, 255]))
    width = struct.calcsize(form)
    if stop > start:
        at = start + width * int(rng.integers((stop - start) // width))
        body[at : at + width] = struct.pack(form, one_of(rng, values))


def reshape(rng, entry):
    """Another shape of a tensor, a huge one too."""
    shape = entry["shape"]
    entry["shape"] = one_of(rng, [shape[::-1], [*shape, 1], shape[1:], one_of(rng, SHAPES)])


def repeat_key(rng, packed):
    """The same name twice, in the header or in the content within."""
    length = int.from_bytes(packed[:8], "little")
    header = packed[8 : 8 + length]
    at = 1 + one_of(rng, [place for place, byte in enumerate(header) if byte == ord("{")])
    header = header[:at] + 2 * one_of(rng, [b'"a":0,', b'\\"a\\":0,']) + header[at:]
    return with_checksum(len(header).to_bytes(8, "little") + header + packed[8 + length :])


def subtly_damaged(rng, packed):
    """A file that is whole, its checksum too, but for a value of its content or a number or two."""
    header, body = taken_apart(packed)
    body = bytearray(body)
    content = header["__metadata__"]["content"]
    entry = header[one_of(rng, [name for name in header if name != "__metadata__"])]
    chance = rng.random()
    if chance < 0.03:
        return repeat_key(rng, packed)
    if chance < 0.06:
        return with_checksum(one_of(rng, LENGTHS).to_bytes(8, "little") + packed[8:])
    if chance < 0.1:
        content["class"] = one_of(rng, CLASSES)
    elif chance < 0.2:
        reshape(rng, entry)
    elif chance < 0.6:
        change_content(rng, content)
    if chance > 0.5:
        change_number(rng, entry, body)
    return put_together(header, bytes(body))


def is_loaded(packed, X):
    """Whether a file loads; anything but `SufficeFileError` is a failure.

    What loads can be saved again, and gives finite posteriors or says that its sums have no parameters.
    """
    try:
        thing = loaded(packed)
    except suffice.SufficeFileError:
        return False
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            again = saved(thing)
            posteriors = thing.predict_proba(X) if hasattr(thing, "predict_proba") else np.zeros(1)
    except (ValueError, ArithmeticError):  # its sums are possible one by one, but have no parameters
        return True
    assert np.isfinite(posteriors).all()
    assert type(loaded(again)) is type(thing)
    return True


def fuzz(files, seed, n_files, n_traced=4):
    """How many of so many damaged files load, each in bounded time, one of `n_traced` in bounded memory."""
    rng = np.random.default_rng(seed)
    n_loaded = 0
    for number in range(n_files):
        damage = damaged if rng.random() < 0.3 else subtly_damaged
        packed, X = one_of(rng, files)
        packed = damage(rng, packed)
        with traced() if number % n_traced == 0 else nullcontext():
            start = time.process_time()
            try:
                n_loaded += is_loaded(packed, X)
            except Exception as error:
                error.add_note(f"seed {seed}, file {number}")
                raise
            assert time.process_time() - start < SECONDS, (seed, number)
    return n_loaded


@contextmanager
def traced():
    """Work in bounded memory; to trace it takes three times as long as the work itself."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES * 1e6
    finally:
        tracemalloc.stop()


def test_damaged_files_load_or_are_refused(files):
    assert 0 < fuzz(files, 1, FEW) < FEW


def test_damaged_files_of_calibrated_models_load_or_are_refused():
    maps = [calibrated("inferred", method) for method in ("vector", "isotonic")]
    files = [(saved(model), X) for model, X in maps]
    assert 0 < fuzz(files, 7, FEW) < FEW


def test_the_files_are_of_every_class(files):
    assert {taken_apart(packed)[0]["__metadata__"]["content"]["class"] for packed, _ in files} == set(CLASSES)


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_a_hundred_thousand_damaged_files_load_or_are_refused(files, share):
    n_files, before = MANY // SHARES, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert 0 < fuzz(files, SEED + share, n_files, n_traced=10) < n_files
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < KILOBYTES
