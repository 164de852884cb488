"""Batches are read one ahead, in order, and whoever stops early leaves nothing open."""

import gc
import threading
import weakref
from contextlib import suppress

import pytest

from suffice.tables.files.ahead import one_ahead


def numbers(log, last=5, failure=None):
    try:
        for i in range(last):
            log.append(i)
            yield i + 1
        if failure is not None:
            raise failure
    finally:
        log.append("closed")


def test_items_come_in_order_and_the_generator_is_closed():
    log = []
    assert list(one_ahead(numbers(log))) == [1, 2, 3, 4, 5]
    assert log == [0, 1, 2, 3, 4, "closed"]


def test_the_next_item_is_made_while_one_is_worked_on():
    made = threading.Event()

    def steps():
        yield "first"
        made.set()
        yield "second"

    items = one_ahead(steps())
    assert next(items) == "first"
    assert made.wait(60)
    assert list(items) == ["second"]


def test_stopping_early_closes_the_generator_and_ends_the_thread():
    log, before = [], threading.active_count()
    items = one_ahead(numbers(log))
    next(items)
    items.close()
    assert log[-1] == "closed"
    assert len(log) <= 4
    assert threading.active_count() == before


def test_a_failure_comes_after_the_items_before_it():
    log, found = [], []
    with pytest.raises(ValueError, match="damaged"):
        found.extend(one_ahead(numbers(log, 2, ValueError("damaged"))))
    items = one_ahead(numbers(log, 2, ValueError("damaged")))
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="damaged"):
        next(items)
    assert log[-1] == "closed"


def test_a_failure_keeps_nothing_alive():
    class Held:
        pass

    held = Held()
    left = weakref.ref(held)

    def steps(held):
        yield type(held)
        raise ValueError("damaged")

    items = one_ahead(steps(held))
    del held
    gc.disable()
    try:
        with suppress(ValueError):
            list(items)
        del items
        assert left() is None
    finally:
        gc.enable()
