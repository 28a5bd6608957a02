"""Reading ahead: the next block is fetched in another thread while this one is used."""

import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
_WAIT = 0.1  # seconds after which a waiting thread looks up, so that Ctrl-C is seen
_PATIENCE = 1.5  # seconds that an interruption waits for a read that has begun


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the same items; one is fetched while the one before is in use.

    Two items exist at a time. The thread that fetches ends when the items do, when they
    raise (the error is raised here), or when this generator is closed; then a read that has
    begun is waited for a moment, and a thread that is stuck ends after it.

    Examples
    --------
    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    fetched: SimpleQueue[tuple[str, T | BaseException | None]] = SimpleQueue()
    wanted = threading.Semaphore(1)
    stop, ended = threading.Event(), threading.Event()

    def fetch() -> None:
        try:
            while not stop.is_set():
                if not wanted.acquire(timeout=_WAIT):
                    continue
                if stop.is_set():
                    return
                item = next(items, stop)
                if item is stop:
                    fetched.put(("end", None))
                    return
                fetched.put(("item", item))  # type: ignore[arg-type]
                del item  # or this thread would keep it alive while it fetches the next
        except BaseException as failure:
            fetched.put(("failure", failure))
        finally:
            ended.set()

    reader = threading.Thread(target=fetch, daemon=True)
    try:
        reader.start()  # Ctrl-C may come in here, when the thread runs already
        while True:
            kind, item = _next(fetched)
            if kind == "end":
                return
            if kind == "failure":
                assert isinstance(item, BaseException)
                try:
                    raise item
                finally:
                    del item  # or the error, by its frames, would keep itself alive
            wanted.release()
            yield item  # type: ignore[misc]
            del item
    finally:
        stop.set()
        wanted.release()  # it need not wait for its next look
        if ended.wait(_PATIENCE):  # a source should not be read by two threads
            reader.join(_PATIENCE)


def _next(fetched: "SimpleQueue[tuple[str, T | BaseException | None]]") -> tuple[str, object]:
    while True:
        try:
            return fetched.get(timeout=_WAIT)
        except Empty:
            continue
