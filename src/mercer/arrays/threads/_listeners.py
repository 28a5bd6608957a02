"""Tasks and listeners: how long work says where it stands, to whoever asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Protocol


class Listener(Protocol):
    """What is told of the work done in this thread while it listens.

    It is called in the thread that asked for the work, between two of its blocks. An exception
    that it raises ends the work as Ctrl-C would.
    """

    def begin(self, name: str, note: str) -> None:
        """A task begins: its name, and what is known so far."""

    def advance(self, done: int, total: int, words: str = "") -> None:
        """So many of the blocks of the task are done; a task may walk its blocks twice.

        `words` say it for people where there is more to say, such as rows and bytes.
        """

    def end(self, name: str) -> None:
        """The task has ended well."""


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let `listener` hear of every task that this thread begins meanwhile."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


class task:  # noqa: N801 - reads as a word: with task("pass 3")
    """A named piece of work; inside another task it is a part of that and says nothing.

    Parameters
    ----------
    name : str
        Such as "pass 3".
    note : str
        What is known when it begins, such as the tolerance reached.

    Examples
    --------
    >>> with task("pass 1"):  # nobody listens: nothing happens
    ...     pass
    """

    __slots__ = ("_name", "_note", "_token", "_told")

    def __init__(self, name: str, note: str = "") -> None:
        self._name, self._note = name, note
        self._told: tuple[Listener, ...] = ()
        self._token: Token[bool] | None = None

    def __enter__(self) -> None:
        listeners = _listeners.get()
        if not listeners or _inside.get():
            return
        for listener in listeners:
            listener.begin(self._name, self._note)
        self._told, self._token = listeners, _inside.set(True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is None:
            return
        _inside.reset(self._token)
        if kind is None:
            for listener in self._told:
                listener.end(self._name)


def watched() -> bool:
    """Tell whether anyone listens to this thread."""
    return bool(_listeners.get())


def advance(done: int, total: int, words: str = "") -> None:
    """Tell the listeners of this thread how many blocks of the task are done."""
    for listener in _listeners.get():
        listener.advance(done, total, words)


@contextmanager
def unheard() -> Iterator[None]:
    """Let the work inside say nothing: it is a part of a walk that speaks for itself."""
    token = _listeners.set(())
    try:
        yield
    finally:
        _listeners.reset(token)
