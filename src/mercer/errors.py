"""Every error and warning a user can meet: what is impossible, what was given, what to do."""

import sys
import warnings
from typing import Any

__all__ = [
    "AccuracyWarning",
    "BudgetError",
    "DataWarning",
    "InputError",
    "InputTypeError",
    "MercerError",
    "MissingExtraError",
    "NotSupportedError",
    "WorkerError",
    "warn",
]


# What an object may raise that is asked for an array; warnings, and Ctrl-C, go their way.
REFUSALS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


class MercerError(Exception):
    """Base of all errors raised on purpose, always three lines: what / got / fix.

    Parameters
    ----------
    what : str
        What is impossible, in one sentence.
    got : str
        The values that made it so, with row, column, file or line.
    fix : str
        What to do about it.
    """

    def __init__(self, what: str, *, got: str, fix: str) -> None:
        got, fix = _one_line(got), _one_line(fix)
        super().__init__(what, got, fix)
        self.what, self.got, self.fix = what, got, fix

    def __str__(self) -> str:
        """Return the three lines."""
        return f"{self.what}\n  got: {self.got}\n  fix: {self.fix}"

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from the three parts: keyword-only arguments do not pickle by themselves."""
        return _rebuild, (type(self), self.what, self.got, self.fix)


def _rebuild(kind: type[MercerError], what: str, got: str, fix: str) -> MercerError:
    return kind(what, got=got, fix=fix)


class InputError(MercerError, ValueError):
    """The data or a parameter cannot be used."""


class InputTypeError(InputError, TypeError):
    """The data is of a kind that cannot hold what is asked for."""


class NotSupportedError(MercerError, ValueError):
    """The request is understood, but not built."""


class MissingExtraError(NotSupportedError, ImportError):
    """A library that is not always installed is needed."""


class BudgetError(MercerError, MemoryError):
    """The work would not fit in the memory allowed; it was not begun."""


class WorkerError(MercerError, RuntimeError):
    """Rows that lie elsewhere could not be worked on there; nothing was changed."""


def _one_line(text: str) -> str:
    """Return a text on one line; the values of people may be written on many."""
    return " ".join(text.split()) if "\n" in text else text


def first_line(error: BaseException, most: int = 200) -> str:
    """Return the beginning of what an error of others says."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(":")[:most] if lines else type(error).__name__


def in_short(names: Any, most: int = 5) -> str:
    """Return the first of some names in one line, and how many more there are."""
    left = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {left} more" if left > 0 else "")


def warn(what: str, *, got: str, fix: str, category: type[Warning]) -> None:
    """Warn in three lines, pointing at the first line of code outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(
        "mercer."
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{what}\n  got: {got}\n  fix: {fix}", category, stacklevel=level)


class AccuracyWarning(UserWarning):
    """The result has fewer certified digits than were asked for."""


class DataWarning(UserWarning):
    """Something in the data was set aside, or is degenerate."""
