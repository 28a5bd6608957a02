"""Lanes: row blocks on several threads, each with single-threaded BLAS.

Processors: on which of them threads begin.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from threadpoolctl import LibController, ThreadpoolController

from mercer.arrays.threads._listeners import advance, task, watched

_Block = TypeVar("_Block")
_PROCESSOR = 36  # field of /proc/…/stat after the name: the processor last run on


def move_apart(threads: Iterable[threading.Thread]) -> None:
    """Move threads that have just begun off the processor of the calling thread.

    Some kernels begin a thread on the processor of the one that starts it, and spread the two
    only milliseconds later: a short pass is over by then. The move binds nothing: threads may
    run afterwards where they could before. Elsewhere than on Linux, or where this is not
    allowed, nothing happens.
    """
    if sys.platform != "linux":
        return
    try:
        allowed = os.sched_getaffinity(0)
        others = allowed - {_processor()}
        for thread in threads if others else ():
            if thread.native_id is not None:
                os.sched_setaffinity(thread.native_id, others)
                os.sched_setaffinity(thread.native_id, allowed)
    except (OSError, ValueError, IndexError):
        return  # a thread has ended, or where it begins is the kernel's choice alone


def _processor() -> int:
    """Return the processor on which the calling thread runs."""
    told = Path("/proc/thread-self/stat").read_bytes()
    return int(told.rpartition(b")")[2].split()[_PROCESSOR])  # any name stands in brackets


_alone = threading.local()  # threads whose work must stay on them
_WAIT = 0.1  # seconds after which a waiting thread looks up, so that Ctrl-C is seen


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Looking the libraries up takes milliseconds, so it is done once.
    return ThreadpoolController()


def thread_count() -> int:
    """Return how many threads BLAS would use now, as threadpoolctl reports it."""
    if getattr(_alone, "depth", 0):
        return 1
    with _limit.lock:
        count = _blas_threads() if _limit.held is None else _limit.before
    return int(min(count, getattr(_alone, "most", count)))


def _blas_threads() -> int:
    return max((library.num_threads for library in _blas_libraries()), default=1)


@lru_cache(maxsize=1)
def _blas_libraries() -> list[LibController]:
    return [*_controller().select(user_api="blas").lib_controllers]


@lru_cache(maxsize=1)
def _releases() -> list[Callable[..., None]]:
    """Return what lets another thread change the limit than the one that did last.

    Since 3.8 threadpoolctl ignores all but the first.
    """
    kinds = [type(library) for library in _controller().lib_controllers]
    found = [getattr(kind, "clear_controlling_thread", None) for kind in kinds]
    return [release for release in found if release is not None]


def _set_threads(wanted: list[tuple[LibController, int]]) -> None:
    """Give libraries their numbers of threads, whoever has set them before."""
    for release in _releases():
        release(force=True)
    for library, count in wanted:
        library.set_num_threads(count)
    for release in _releases():
        release(force=True)


class _Limit:
    """The limit is global to the process: the first to enter sets it, the last restores it.

    While a LAPACK call runs aside the number of threads is not touched, since OpenBLAS may
    then wait for ever; what is due is done when the call ends.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = self.calls_aside = 0
        self.before = 1
        self.held: list[tuple[LibController, int]] | None = None  # and what each had

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if self.held is None and self.calls_aside == 0:
                self.held = [(each, each.num_threads) for each in _blas_libraries()]
                self.before = max((had for _, had in self.held), default=1)
                _set_threads([(each, 1) for each, had in self.held if had != 1])

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            self._settle()

    def begin_aside(self) -> None:
        with self.lock:
            self.calls_aside += 1

    def end_aside(self) -> None:
        with self.lock:
            self.calls_aside -= 1
            self._settle()

    def _settle(self) -> None:
        if self.users == 0 and self.calls_aside == 0 and self.held is not None:
            _set_threads([(each, had) for each, had in self.held if had != 1])
            self.held = None


_limit = _Limit()
begin_aside, end_aside = _limit.begin_aside, _limit.end_aside


def is_aside() -> bool:
    """Tell whether a LAPACK call runs aside now."""
    return _limit.calls_aside > 0


def single_threaded_blas() -> AbstractContextManager[None]:
    """Return a context that limits BLAS to one thread, and restores what was set before."""
    return _limit


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep all work of this thread on it: one lane, BLAS with one thread.

    For tasks of which several run side by side, and whose bits must not depend on how many
    threads there are.
    """
    _alone.depth = getattr(_alone, "depth", 0) + 1
    try:
        with single_threaded_blas():
            yield
    finally:
        _alone.depth -= 1


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Let the work of this thread begin no more lanes than these; 0 is as many as there are.

    One is one thread for BLAS as well; with more it keeps those that it has.
    """
    if threads == 1:
        with one_thread():
            yield
        return
    before = getattr(_alone, "most", sys.maxsize)
    _alone.most = min(before, threads or before)
    try:
        yield
    finally:
        _alone.most = before


class Lanes:
    """A fixed number of threads that share the blocks of one pass; the first is the caller's.

    Lane i takes blocks i, i + count, i + 2·count, … so that which block is summed where
    does not depend on timing: two identical calls are bit-identical. With one lane BLAS keeps
    its threads.

    The caller works, too: threads that it starts and only waits for are often put on one
    processor together, since it is busy itself while they begin, and stay there for
    milliseconds. For the same reason they are moved off its own processor as they begin.

    Parameters
    ----------
    count : int
        Number of lanes, at least 1.
    """

    def __init__(self, count: int) -> None:
        self.count = max(1, count)

    def run(self, work: Callable[[int, Iterator[int]], None], blocks: int) -> None:
        """Call ``work(lane, block_numbers)`` in every lane and wait for all; see `over`."""
        self.over(range(blocks), work)

    def over(
        self, blocks: Iterable[_Block], work: Callable[[int, Iterator[_Block]], None]
    ) -> None:
        """Call ``work(lane, its blocks)`` in every lane and wait for all.

        An exception in a lane or in a listener, or Ctrl-C, stops the other lanes at their
        next block; when this returns or raises, no lane is running. Ctrl-C may come anywhere
        in the work of the first lane.
        """
        every = [*blocks]
        with task("rows"):
            if min(self.count, len(every)) <= 1:
                own = iter(every)
                work(0, _told(own, int, len(every)) if watched() else own)
            else:
                self._side_by_side(every, work)
            advance(len(every), len(every))

    def _side_by_side(
        self, every: list[_Block], work: Callable[[int, Iterator[_Block]], None]
    ) -> None:
        blocks = len(every)
        count = min(self.count, blocks)
        others = range(1, count)
        stop, failures, done = threading.Event(), list[BaseException](), [0] * count
        ended = [threading.Event() for _ in others]

        def own(lane: int) -> Iterator[_Block]:
            for block in every[lane::count]:
                if stop.is_set():
                    return
                yield block
                done[lane] += 1

        def lane_work(lane: int) -> None:
            try:
                work(lane, own(lane))
            except BaseException as failure:
                failures.append(failure)
                stop.set()
            finally:
                ended[lane - 1].set()

        with single_threaded_blas():
            threads = [
                threading.Thread(target=lane_work, args=(lane,), daemon=True) for lane in others
            ]
            # An interrupted join() may forget a running thread; an event cannot.
            try:
                for thread in threads:
                    thread.start()
                move_apart(threads)
                work(0, _told(own(0), lambda: sum(done[1:]), blocks))
                _wait(ended, lambda: advance(sum(done), blocks))
            finally:
                stop.set()
                # Ctrl-C may come before the last has begun; the others are waited for.
                begun = [e for e, t in zip(ended, threads, strict=True) if t.ident is not None]
                _wait(begun, lambda: None)
        if failures:
            raise failures[0]


def _wait(events: list[threading.Event], meanwhile: Callable[[], None]) -> None:
    for event in events:
        while not event.wait(_WAIT):
            meanwhile()


def _told(every: Iterator[_Block], others: Callable[[], int], blocks: int) -> Iterator[_Block]:
    """Yield blocks, and tell the listeners now and then how many are done.

    `others` counts the blocks that other lanes have done.
    """
    said = time.monotonic()
    for own, block in enumerate(every, 1):
        yield block
        if time.monotonic() - said > _WAIT:
            said = time.monotonic()
            advance(own + others(), blocks)
