"""progress(): bars on stderr for the fits inside a ``with`` block."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer.arrays import listening

_showing = [False]  # two displays would write over each other


@contextmanager
def progress(*, force: bool = False) -> Iterator[None]:
    """Show a bar on stderr for every pass made inside: its name, blocks done, time left.

    Nothing is shown where stderr is no terminal. Only work of the thread that entered is
    followed.

    Parameters
    ----------
    force : bool
        Whether to show bars even where stderr is no terminal, such as in a notebook.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> with mercer.progress():
    ...     model = mercer.PCA(2).fit(np.eye(8))
    """
    if _showing[0] or not (force or sys.stderr.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, force_terminal=True if force else None)
    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[blocks]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    _showing[0] = True
    try:
        with display, listening(_Bar(display)):
            yield
    finally:
        _showing[0] = False


class _Bar:
    """One line for the task at hand; it goes when the task ends."""

    def __init__(self, display: Any) -> None:
        self.display = display
        self.line: Any = None

    def begin(self, name: str, note: str) -> None:
        self._clear()  # a task that failed has said no end
        text = f"{name}, {note}" if note else name
        self.line = self.display.add_task(text, total=None, blocks="")

    def advance(self, done: int, total: int, words: str = "") -> None:
        if self.line is None:  # it began before anyone listened
            return
        blocks = words or f"{done:,} of {total:,} blocks"
        self.display.update(self.line, completed=done, total=total, blocks=blocks)

    def end(self, name: str) -> None:
        self._clear()

    def _clear(self) -> None:
        if self.line is not None:
            self.display.remove_task(self.line)
        self.line = None
