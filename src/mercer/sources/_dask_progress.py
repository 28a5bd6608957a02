"""How far a pass over parts is: which of them are done, told to those who listen."""

import contextlib
import threading
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

from mercer.arrays import advance
from mercer.sources._dask_failures import PART

# One for all passes: a scheduler keeps a topic, and its last thousand events, for ever.
TOPIC = "mercer-parts"
_hearing: weakref.WeakKeyDictionary[Any, "dict[str, Progress]"] = weakref.WeakKeyDictionary()
_guard = threading.Lock()


class Progress:
    """The parts of one pass that are done.

    Parameters
    ----------
    token : str
        Name of the pass: tasks of other passes, which run at the same time, do not count.
    lengths : tuple of int or None
        Rows of every part, where they are known.
    parts : int
        How many there are.
    """

    def __init__(self, token: str, parts: int, lengths: tuple[int, ...] | None) -> None:
        self.token, self.parts, self.lengths = token, parts, lengths
        self.done, self.guard = set[int](), threading.Lock()
        self.own: Exception | None = None  # of who listens, and nobody else's business

    def add(self, part: int) -> None:
        """Take over that a part is done; a number that is none of its parts is left out."""
        with self.guard:
            if 0 <= part < self.parts:
                self.done.add(part)

    def add_task(self, key: Any) -> bool:
        """Take over that a task is done, and tell whether it was a part of this pass."""
        prefix = f"{PART}{self.token}-"
        number = str(key).removeprefix(prefix)
        ours = str(key).startswith(prefix) and number.isdecimal()
        if ours:
            self.add(int(number))
        return ours

    def tell(self) -> None:
        """Tell those who listen how far it is."""
        with self.guard:
            seen = list(self.done)
        words = f"{len(seen):,} of {self.parts:,} parts"
        if self.lengths is not None:
            rows = sum(self.lengths[i] for i in seen)
            words += f", {rows:,} of {sum(self.lengths):,} rows"
        try:
            advance(len(seen), self.parts, words)
        except Exception as error:
            self.own = error
            raise


@contextlib.contextmanager
def hearing(client: Any, progress: Progress) -> Iterator[None]:
    """Let a pass hear from the workers of a cluster which of its parts are done.

    Passes of several threads share the subscription of their client; the last one ends it.
    """
    with _guard:
        passes = _hearing.setdefault(client, {})
        if not passes:
            client.subscribe_topic(TOPIC, partial(_heard, passes))
        passes[progress.token] = progress
    try:
        yield
    finally:
        with _guard:
            del passes[progress.token]
            if not passes:
                with contextlib.suppress(Exception):  # a client that is closed hears nothing
                    client.unsubscribe_topic(TOPIC)


def said(token: str, part: int) -> dict[str, Any]:
    """Return the event by which a worker says that a part of a pass is done."""
    return {"pass": token, "part": part}


def _heard(passes: dict[str, Progress], event: Any) -> None:
    """Take over an event; those of other passes and other clients come here, too."""
    token, part = event[1].get("pass"), event[1].get("part")
    progress = passes.get(token)
    if progress is not None:
        progress.add(part)
