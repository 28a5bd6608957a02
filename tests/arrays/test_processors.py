import os
import sys
import threading

import pytest

from mercer.arrays import Lanes
from mercer.arrays.threads import _thread_lanes as _processors
from mercer.arrays.threads._thread_lanes import move_apart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has such calls")


@pytest.fixture
def moves(monkeypatch):
    """The masks that are set, (thread, processors), on a machine of three processors."""
    made = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 5})
    monkeypatch.setattr(os, "sched_setaffinity", lambda *told: made.append(told))
    monkeypatch.setattr(_processors, "_processor", lambda: 1)
    return made


@pytest.fixture
def thread():
    """A thread that waits until the test is over."""
    over = threading.Event()
    waiting = threading.Thread(target=over.wait, args=(60,))
    waiting.start()
    yield waiting
    over.set()
    waiting.join()


def test_a_thread_leaves_the_processor_of_the_caller_and_is_free_again(moves, thread):
    move_apart([thread])
    assert moves == [(thread.native_id, {0, 5}), (thread.native_id, {0, 1, 5})]


def test_nothing_is_moved_where_there_is_nowhere_to_go(moves, thread, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    move_apart([thread])
    assert moves == []


def test_nothing_is_moved_elsewhere_than_on_linux(moves, thread, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    move_apart([thread])
    assert moves == []


@pytest.mark.parametrize("failure", [PermissionError, ProcessLookupError])
def test_a_kernel_that_refuses_is_no_failure(moves, thread, failure, monkeypatch):
    def refuse(*_told):
        raise failure

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    move_apart([thread])
    assert moves == []


def test_a_thread_that_has_ended_or_not_begun_is_no_failure():
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()
    before = os.sched_getaffinity(0)
    move_apart([ended, threading.Thread(target=int)])
    assert os.sched_getaffinity(0) == before


def test_the_processor_is_one_that_is_allowed():
    assert _processors._processor() in os.sched_getaffinity(0)


def test_lanes_leave_no_thread_bound():
    allowed, found = os.sched_getaffinity(0), []
    together = threading.Barrier(3, timeout=30)

    def work(_lane, numbers):
        for _ in numbers:
            together.wait()  # the caller is here only after it has moved the others
            found.append(os.sched_getaffinity(0))

    Lanes(3).run(work, 3)
    assert found == [allowed] * 3
    assert os.sched_getaffinity(0) == allowed
