import contextlib
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from mercer.arrays import Lanes, listening, single_threaded_blas, thread_count
from mercer.arrays.threads import _thread_lanes as _processors
from mercer.arrays.threads._thread_lanes import move_apart


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("blocks", [0, 1, 2, 5, 30])
def test_every_block_is_done_once_and_always_in_the_same_lane(count, blocks):
    done = [[] for _ in range(count)]
    Lanes(count).run(lambda lane, numbers: done[lane].extend(numbers), blocks)
    used = max(1, min(count, blocks))
    assert done == [list(range(i, blocks, used)) if i < used else [] for i in range(count)]


def test_sums_are_bit_identical(rng):
    parts = rng.standard_normal((60, 1000)) * 10.0 ** rng.integers(-8, 8, (60, 1))

    def total():
        sums = np.zeros((4, 1000))

        def work(lane, numbers):
            for number in numbers:
                time.sleep(0.0002 * (number % 3))
                sums[lane] += parts[number]

        Lanes(4).run(work, 60)
        return sums.sum(axis=0)

    first = total()
    for _ in range(3):
        np.testing.assert_array_equal(total(), first)


def test_a_failure_stops_the_other_lanes_and_is_raised_as_it_was():
    seen, alive = [], threading.active_count()

    def work(lane, numbers):
        for number in numbers:
            seen.append(number)
            if lane == 1:
                raise KeyError("block", number)
            time.sleep(0.002)

    with pytest.raises(KeyError, match="block"):
        Lanes(3).run(work, 3000)
    with pytest.raises(ZeroDivisionError):
        Lanes(1).run(lambda *_: 1 // 0, 2)
    assert len(seen) < 300
    assert threading.active_count() == alive


def test_blas_has_one_thread_inside_and_its_own_again_outside():
    before, inside, seen = blas_threads(), [], []
    threads, together = {}, threading.Barrier(3, timeout=30)

    def alone(lane, _numbers):
        threads[lane] = threading.get_ident()
        together.wait()  # no thread has the number of one that has ended

    Lanes(3).run(alone, 30)
    assert threads[0] == threading.get_ident()  # the first lane is the caller
    assert len(set(threads.values())) == 3
    Lanes(1).run(lambda *_: seen.append((threading.current_thread(), blas_threads())), 4)
    assert seen == [(threading.main_thread(), before)]  # one lane leaves BLAS alone
    Lanes(2).run(lambda _lane, numbers: inside.extend(blas_threads() for _ in numbers), 4)
    assert all(set(counts) == {1} for counts in inside)
    assert blas_threads() == before

    def broken(_lane, _numbers):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        Lanes(2).run(broken, 4)
    assert blas_threads() == before


def test_the_blocks_of_all_lanes_are_told():
    class Heard:
        def __init__(self):
            self.counts = []

        def begin(self, name, note): ...

        def advance(self, done, total, words=""):
            self.counts.append((done, total))

        def end(self, name): ...

    def work(lane, numbers):
        for _ in numbers:
            time.sleep(0.06 if lane else 0.02)  # the caller waits for the others at the end

    heard = Heard()
    with listening(heard):
        Lanes(2).run(work, 40)
    done = [each for each, _ in heard.counts]
    assert done == sorted(done)
    assert done[-1] == 40
    assert len([each for each in done if 20 < each < 40]) >= 3
    assert {total for _, total in heard.counts} == {40}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_stops_all_lanes_at_their_next_block():
    before, begun, done = blas_threads(), [], []
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))

    def work(lane, numbers):
        for number in numbers:
            begun.append(number)
            with contextlib.ExitStack() as each:
                each.callback(done.append, number)  # the caller's block is cut short
                time.sleep(0.3 if lane else 0.05)

    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Lanes(2).run(work, 10_000)
    assert sorted(begun) == sorted(done), "a lane was still at work"
    assert len(begun) < 20
    assert time.monotonic() - started < 2
    assert blas_threads() == before
    timer.join()


def test_single_threaded_blas_restores_what_was_set():
    before, count = blas_threads(), thread_count()
    assert count == max(before)
    with single_threaded_blas():
        assert set(blas_threads()) <= {1}
        assert thread_count() == count, "what may be used, not what is left inside a pass"
        with single_threaded_blas():
            assert set(blas_threads()) <= {1}
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


@pytest.mark.parametrize("last", [0, 1])
def test_passes_side_by_side_restore_together(last):
    before, over = blas_threads(), threading.Event()
    entered, leave, left = ([threading.Event() for _ in range(2)] for _ in range(3))

    def one_pass(number):
        with single_threaded_blas():
            entered[number].set()
            leave[number].wait(5)
        left[number].set()
        over.wait(5)  # threads of a pool live on

    threads = [threading.Thread(target=one_pass, args=(number,)) for number in range(2)]
    for number, thread in enumerate(threads):
        thread.start()
        assert entered[number].wait(5)
    for number in (1 - last, last):
        assert set(blas_threads()) <= {1}
        leave[number].set()
        assert left[number].wait(5)
    after = blas_threads()
    over.set()
    for thread in threads:
        thread.join()
    assert after == before


linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has such calls")


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


def refuse(*_told):
    raise PermissionError


@linux
def test_a_thread_leaves_the_processor_of_the_caller_and_is_free_again(
    moves, thread, monkeypatch
):
    move_apart([thread])
    freed = [(thread.native_id, {0, 5}), (thread.native_id, {0, 1, 5})]
    assert moves == freed
    for place, name, other in (  # nowhere to go, nobody to ask, a kernel that refuses
        (os, "sched_getaffinity", lambda _: {1}),
        (sys, "platform", "darwin"),
        (os, "sched_setaffinity", refuse),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, other)
            move_apart([thread])
    assert moves == freed


@linux
def test_a_thread_that_has_ended_or_not_begun_is_no_failure():
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()
    before = os.sched_getaffinity(0)
    move_apart([ended, threading.Thread(target=int)])
    assert os.sched_getaffinity(0) == before


@linux
def test_lanes_leave_no_thread_bound():
    allowed, found = os.sched_getaffinity(0), []
    assert _processors._processor() in allowed
    together = threading.Barrier(3, timeout=30)

    def work(_lane, numbers):
        for _ in numbers:
            together.wait()  # the caller is here only after it has moved the others
            found.append(os.sched_getaffinity(0))

    Lanes(3).run(work, 3)
    assert found == [allowed] * 3
    assert os.sched_getaffinity(0) == allowed
