"""Lanes: row blocks on several threads, each with single-threaded BLAS."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Looking the libraries up takes milliseconds, so it is done once.
    return ThreadpoolController()


def thread_count() -> int:
    """Return how many threads BLAS would use now, as threadpoolctl reports it."""
    counts = [lib["num_threads"] for lib in _controller().select(user_api="blas").info()]
    return max(counts, default=1)


class Lanes:
    """A fixed number of threads that share the blocks of one pass.

    Lane i takes blocks i, i + count, i + 2·count, … so that which block is summed where
    does not depend on timing: two identical calls are bit-identical. With one lane the
    work runs in the calling thread and BLAS keeps its threads.

    Parameters
    ----------
    count : int
        Number of lanes, at least 1.
    """

    def __init__(self, count: int) -> None:
        self.count = max(1, count)

    def run(self, work: Callable[[int, Iterator[int]], None], blocks: int) -> None:
        """Call ``work(lane, block_numbers)`` in every lane and wait for all.

        An exception in a lane, or Ctrl-C, stops the other lanes at their next block.
        """
        count = min(self.count, blocks)
        if count <= 1:
            work(0, iter(range(blocks)))
            return
        stop, failures = threading.Event(), list[BaseException]()

        def numbers(lane: int) -> Iterator[int]:
            for block in range(lane, blocks, count):
                if stop.is_set():
                    return
                yield block

        def lane_work(lane: int) -> None:
            try:
                work(lane, numbers(lane))
            except BaseException as failure:
                failures.append(failure)
                stop.set()

        threads = [threading.Thread(target=lane_work, args=(i,)) for i in range(count)]
        with single_threaded_blas():
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            finally:
                stop.set()
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()
        if failures:
            raise failures[0]


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread, and restore what was set before."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
