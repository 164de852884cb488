"""Vocabularies: ids in order of arrival, unions, choices, and growth that costs what is added."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.text import Vocabulary
from suffice.text import hash_table as table
from suffice.text.compiled import table as compiled

words = st.lists(st.text(st.characters(codec="utf-8"), max_size=20))


def find(vocabulary, terms):
    encoded = [term.encode() for term in terms]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return vocabulary.find(np.frombuffer(b"".join(encoded), np.uint8), offsets).tolist()


@given(words)
def test_ids_are_given_in_order_of_arrival(terms):
    vocabulary = Vocabulary.of(terms)
    assert vocabulary.terms() == list(dict.fromkeys(terms))
    assert len(vocabulary) == len(set(terms))
    assert find(vocabulary, terms) == list(map(vocabulary.terms().index, terms))


@given(words, words)
def test_union_keeps_the_ids_that_are_there(mine, theirs):
    vocabulary, other = Vocabulary.of(mine), Vocabulary.of(theirs)
    ids = vocabulary.union(other)
    assert vocabulary.terms() == list(dict.fromkeys(mine + theirs))
    assert [vocabulary.terms()[i] for i in ids] == other.terms()


@given(words, words)
def test_find_adds_nothing(mine, theirs):
    vocabulary = Vocabulary.of(mine)
    known = dict(zip(vocabulary.terms(), range(len(vocabulary)), strict=True))
    assert find(vocabulary, theirs) == [known.get(term, -1) for term in theirs]
    assert len(vocabulary) == len(known)


@given(words, st.randoms())
def test_take_chooses_and_reorders(terms, random):
    vocabulary = Vocabulary.of(terms)
    ids = random.sample(range(len(vocabulary)), len(vocabulary) // 2)
    taken = vocabulary.take(np.array(ids, np.int64))
    assert taken.terms() == [vocabulary.terms()[i] for i in ids]
    assert find(taken, taken.terms()) == list(range(len(ids)))


def test_take_refuses_a_term_twice():
    with pytest.raises(ValueError, match="distinct"):
        Vocabulary.of(["a", "b"]).take(np.array([1, 1]))


@given(words)
def test_terms_sort_by_code_point(terms):
    vocabulary = Vocabulary.of(terms)
    assert [vocabulary.terms()[i] for i in vocabulary.sorted_order()] == sorted(set(terms))


def test_a_copy_does_not_follow():
    vocabulary = Vocabulary.of(["a"])
    copy = vocabulary.copy()
    copy.union(Vocabulary.of(["b"]))
    assert (vocabulary.terms(), copy.terms()) == (["a"], ["a", "b"])
    first = Vocabulary()
    first.union(vocabulary)
    first.union(Vocabulary.of(["c"]))
    assert vocabulary.terms() == ["a"]


def test_an_arrow_view_copies_nothing():
    vocabulary = Vocabulary.of(["ab", "", "日本"])
    strings = vocabulary.arrow()
    assert strings.to_pylist() == ["ab", "", "日本"]
    assert strings.buffers()[2].address == vocabulary.arena.ctypes.data


def test_growing_by_one_seldom_copies_what_is_there():
    vocabulary = Vocabulary()
    copies = 0
    for i in range(5000):
        before = vocabulary.table
        vocabulary.union(Vocabulary.of([f"term number {i}"]))
        copies += vocabulary.table.hashes is not before.hashes
    assert copies < 20
    assert vocabulary.nbytes < 100 * 5000
    assert find(vocabulary, ["term number 4999", "term number 5000"]) == [4999, -1]


@settings(deadline=None)  # the first call compiles
@given(st.binary(max_size=40))
def test_both_kinds_of_kernel_hash_alike(term):
    source = np.frombuffer(b"xx" + term, np.uint8)
    assert int(compiled.hash_slice(source, 2, len(source))) == table.hash_of(term)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=12), unique=True))
def test_both_kinds_of_kernel_keep_the_same_table(terms):
    arena = np.frombuffer(b"".join(terms), np.uint8)
    offsets = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    tables = []
    for kernels in (table, compiled):
        one = table.empty_table(len(terms), len(arena))
        ids = np.empty(len(terms), np.int32)
        assert kernels.add_terms(arena, offsets, one, 0, ids, 0) == (len(terms), len(terms))
        kernels.find_terms(arena, offsets, one, ids)
        assert ids.tolist() == list(range(len(terms)))
        refilled = one._replace(slots=np.full_like(one.slots, table.FREE))
        kernels.fill_slots(one.hashes, refilled.slots)
        table.find_terms(arena, offsets, refilled, ids)
        assert ids.tolist() == list(range(len(terms)))
        tables.append(one)
    for mine, theirs in zip(*tables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_long_terms_whose_hashes_collide_are_told_apart():
    terms = [b"a" * 8, b"b" * 8]
    one = table.empty_table(2, 16)
    arena, offsets = np.frombuffer(b"".join(terms), np.uint8), np.array([0, 8, 16])
    one.arena[:8] = arena[:8]
    one.offsets[1] = 8
    one.hashes[0] = table.hash_of(terms[1])
    one.slots[int(one.hashes[0]) & (len(one.slots) - 1)] = 0
    for kernels in (table, compiled):
        ids = np.zeros(2, np.int32)
        kernels.find_terms(arena, offsets, one, ids)
        assert ids.tolist() == [-1, -1]
