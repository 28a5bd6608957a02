"""Reading ahead changes nothing but the time: order, errors and the end are the same."""

import gc
import os
import signal
import sys
import threading
import time
import weakref

import pytest

from mercer.arrays import ahead


def readers():
    return threading.active_count()


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = readers()
    yield
    assert readers() == before


class Item:
    """Something that can be counted while it is alive."""


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_the_items_in_their_order(count):
    assert list(ahead(iter(range(count)))) == list(range(count))
    items = [None, 0, "", [], None]  # none of these is an end
    assert list(ahead(iter(items))) == items


def test_the_next_item_is_fetched_meanwhile():
    begun, fetched = [threading.Event() for _ in range(5)], set()

    def items():
        for i in range(5):
            begun[i].set()
            fetched.add(threading.current_thread())
            yield i

    for i in ahead(items()):
        assert begun[min(i + 1, 4)].wait(10)
    assert len(fetched - {threading.current_thread()}) == len(fetched) == 1


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit, MemoryError])
def test_any_error_comes_through_after_the_items_before_it(error):
    def broken():
        yield 1
        raise error

    walk = ahead(broken())
    assert next(walk) == 1
    with pytest.raises(error) as caught:
        next(walk)
    assert any(entry.name == "broken" for entry in caught.traceback)
    assert list(walk) == []


@pytest.mark.parametrize("fails", [False, True])
def test_an_early_end_ends_the_thread_and_the_items(fails):
    closed = []

    def items():
        try:
            yield from range(1000)
        finally:
            closed.append(threading.current_thread())

    def consume():
        for _ in ahead(items()):
            assert readers() == before + 1
            raise ZeroDivisionError

    before, walk = readers(), ahead(items())
    if fails:
        with pytest.raises(ZeroDivisionError):  # pytest keeps the error and its frames
            consume()
    else:
        assert readers() == before  # one that is never asked starts no thread
        assert next(walk) == 0
        walk.close()
    assert readers() == before
    gc.collect()
    assert len(closed) == 1


def test_at_most_two_items_are_alive():
    alive, most = weakref.WeakSet(), [0]

    def items():
        for _ in range(50):
            item = Item()
            alive.add(item)
            most[0] = max(most[0], len(alive))
            yield item
            del item

    for item in ahead(items()):
        time.sleep(0.001)
        del item
    assert most[0] == 2


def test_an_error_keeps_no_item_alive():
    alive = weakref.WeakSet()

    def broken():
        item = Item()
        alive.add(item)
        yield item
        raise OSError

    def consume():
        try:
            list(ahead(broken()))
        except OSError:
            return "seen"

    gc.collect()
    gc.disable()  # a cycle would wait for the collector, with a large block in it
    try:
        assert consume() == "seen"
        assert len(alive) == 0
    finally:
        gc.enable()


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_while_waiting_for_a_slow_source():
    stopped = []

    def slow():
        while True:
            time.sleep(0.05)
            yield 1
            stopped.append(time.perf_counter())

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in ahead(slow()):
            pass
    now = time.perf_counter()
    timer.join()
    time.sleep(0.12)
    assert all(when < now for when in stopped)  # nothing is read after the interruption


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_does_not_wait_for_a_source_that_is_stuck():
    release, before = threading.Event(), readers()

    def stuck():
        yield 1
        release.wait(30)
        yield 2

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        list(ahead(stuck()))
    assert time.perf_counter() - start < 2
    release.set()
    timer.join()
    while readers() > before and time.perf_counter() - start < 4:
        time.sleep(0.01)


def test_ctrl_c_while_the_thread_starts(monkeypatch):
    """Thread.start waits for the new thread; an interruption there must end it as well."""
    plain = threading.Thread.start

    def start(self):
        plain(self)
        raise KeyboardInterrupt

    before = readers()
    walk = ahead(iter(range(1000)))
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        next(walk)
    assert readers() == before


def test_a_thread_that_cannot_be_made(monkeypatch):
    def start(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="start new thread"):
        next(ahead(iter(range(1000))))
