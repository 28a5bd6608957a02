"""Voice: results go to stdout, everything else to stderr, and errors are three lines.

Text for a terminal: one line each, nothing that steers it, options as they are typed; rows of
cells as lines of text.
"""

import dataclasses
import json
import os
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, final

import click

from mercer.cli._usage import UsageError, from_click
from mercer.errors import (
    AccuracyWarning,
    BudgetError,
    MercerError,
    MissingExtraError,
    WorkerError,
)

DONE, COMPUTATION, USAGE, INPUT, EXTRA, BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
SCHEMA = "mercer/1"


@final
@dataclasses.dataclass
class Voice:
    """How a command speaks.

    Attributes
    ----------
    as_json : bool
        Whether stdout gets exactly one JSON document, also on failure.
    quiet, verbose, debug : bool
        Whether notes are left out; whether more are given; whether errors show where in the
        code they arose.
    missed : list of str
        Warnings that less accuracy was reached than asked for.
    warned : list of str
        Other warnings.
    answered : bool
        Whether the result has been said.
    began : float
        When the command began, on the clock of `time.perf_counter`.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    missed: list[str] = dataclasses.field(default_factory=list)
    warned: list[str] = dataclasses.field(default_factory=list)
    answered: bool = False
    began: float = dataclasses.field(default_factory=time.perf_counter)

    def note(self, *lines: str) -> None:
        """Say what is no result: assumptions, a plan, a duration."""
        for line in () if self.quiet else lines:
            click.echo(harmless(line), err=True)

    def result(self, text: str, document: dict[str, Any]) -> None:
        """Say the result, as text or as a JSON document."""
        if self.as_json:
            whole = {
                "schema": SCHEMA,
                "ok": True,
                **document,
                "warnings": [*self.missed, *self.warned],
            }
            said = json.dumps(plain(whole), allow_nan=False)
            self.answered = True
            click.echo(said)
        elif text:
            self.answered = True
            click.echo(harmless(text))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Show how far the work inside has come, where stderr is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from mercer.estimators import progress  # costs most of a second

        with progress():
            yield

    @contextmanager
    def speaking(self, words: Sequence[str] | None = None) -> Iterator[None]:
        """Show what is warned of as lines on stderr, and end with the code of an error.

        Parameters
        ----------
        words : sequence of str or None
            The command line, to be quoted where it is wrong; None leaves that to others.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = self._show
            try:
                yield
            except click.ClickException as error:
                if words is None:
                    raise
                self._fail(from_click(error, words), USAGE)
            except (KeyboardInterrupt, click.Abort):
                self._interrupted()
            except BrokenPipeError:
                _leave_quietly()
            except Exception as error:
                self._fail(*_said_of(error))

    def _show(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, DeprecationWarning | PendingDeprecationWarning):
            return  # for those who write programs
        said = harmless(as_typed(str(message)))
        missed = issubclass(category, AccuracyWarning)
        kept = self.missed if missed else self.warned
        if said in kept:
            return
        kept.append(said)
        if missed or not self.quiet:  # that a promise was not kept is always said
            click.echo(f"warning: {said}", err=True)

    def _interrupted(self) -> NoReturn:
        click.echo("interrupted", err=True)
        self._document("interrupted", "Ctrl-C", "run it again", INTERRUPTED)
        sys.exit(INTERRUPTED)

    def _fail(self, error: MercerError, code: int) -> NoReturn:
        if self.debug:
            import traceback

            traceback.print_exc()
        what = as_begun(one_line(as_typed(error.what)))
        got, fix = one_line(given_as_typed(error.got)), one_line(as_typed(error.fix))
        click.echo(f"error: {what}\n  got: {got}\n  fix: {fix}", err=True)
        self._document(what, got, fix, code)
        sys.exit(code)

    def _document(self, what: str, got: str, fix: str, code: int) -> None:
        """Say on stdout that there is no result, where a program waits for one."""
        if self.as_json and not self.answered:
            parts = {"what": what, "got": got, "fix": fix, "code": code}
            click.echo(json.dumps({"schema": SCHEMA, "ok": False, "error": parts}))


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error, by its class."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return COMPUTATION


# The first class that fits decides: some are kinds of others.
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UsageError, USAGE),
    (click.ClickException, USAGE),
    (MissingExtraError, EXTRA),
    (BudgetError, BUDGET),
    (MemoryError, BUDGET),
    (WorkerError, COMPUTATION),
    (MercerError, INPUT),
)


def _said_of(error: Exception) -> tuple[MercerError, int]:
    """Return any error as one of three lines, and its exit code."""
    code = exit_code(error)
    if isinstance(error, MercerError):
        return error, code
    said = " ".join(str(error).split())[:200]
    if isinstance(error, MemoryError):
        what, fix = "memory ran out", "allow less with --memory, or ask for fewer components"
        return MercerError(what, got=said or "no more was to be had", fix=fix), code
    if isinstance(error, OSError) and error.filename is not None:
        got, fix = f"{error.filename}: {error.strerror}", "check the name, and who may use it"
        return MercerError("the file cannot be used", got=got, fix=fix), INPUT
    if isinstance(error, OSError) and (error.strerror or said):  # of polars without a number
        fix = "check the disk and what may be written to it, and run it again"
        got = error.strerror or said
        return MercerError("reading or writing failed", got=got, fix=fix), code
    got = f"{type(error).__name__}: {said}" if said else type(error).__name__
    fix = "run it again with --debug, and report what it shows with mercer doctor --json"
    return MercerError("the work failed", got=got, fix=fix), code


def _leave_quietly() -> NoReturn:
    """End where nobody reads any more: what is left in the buffers goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    sys.exit(COMPUTATION)


def plain(value: Any) -> Any:
    """Turn frozen values and arrays into what JSON can hold; NaN and infinity become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if hasattr(value, "tolist"):  # arrays and NumPy's numbers
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)


# Parameters of methods that have an option; the others stand after --set.
TYPED = {name: f"--{name}" for name in ("kernel", "tol", "memory", "time", "missing")} | {
    "n_components": "-k",
    "n_clusters": "-k",
    "random_state": "--seed",
    "standardize": "--standardize",
}
_FILES = ("columns", "delimiter", "drop", "encoding", "key", "na")
_OPTIONS = {name: f"--{name}" for name in _FILES} | TYPED
del _OPTIONS["standardize"]  # of yes and no, not of True and False
_FLAGS = {
    "header=True": "--header",
    "header=False": "--no-header",
    "standardize=True": "--standardize yes",
    "standardize=False": "--standardize no",
}
# Words of parameters that are typed after --set.
_SET = re.compile(
    r"(?<!--set )\b(components|indefinite|landmarks|neighbours|sampler|shrinkage|unseen)="
    r"[\"']?([\w.+-]*\w)[\"']?"
)
_GIVEN = re.compile(
    rf"(?<!--set )\b({'|'.join([*_OPTIONS, 'header', 'standardize'])})="
    r"(\"[^\"]*\"|'[^']*'|[\w.+-]*\w)"
)
_BARE = re.compile(rf"`({'|'.join(_OPTIONS)})`|\b({'|'.join(_OPTIONS)})=(?=\s|$)")
_CAPITAL = re.compile(r"^(A|An|The|There|This|Only)(?= )")


def as_typed(text: str) -> str:
    """Return advice to a Python user as advice to somebody at the command line.

    Examples
    --------
    >>> as_typed('allow memory="4.2 MB", or pass header=False')
    'allow --memory 4.2MB, or pass --no-header'
    >>> as_typed('take components="largest"')
    'take --set components=largest'
    """
    text = _SET.sub(r"--set \1=\2", _GIVEN.sub(_option, text))
    return _BARE.sub(lambda found: _OPTIONS[found[1] or found[2]], text)


def given_as_typed(text: str) -> str:
    """Return what was given as it was typed, where it is a parameter and not a cell of a file.

    Examples
    --------
    >>> given_as_typed("memory='much'"), given_as_typed("line 3: 'key=2'")
    ('--memory much', "line 3: 'key=2'")
    """
    found = _GIVEN.match(text)
    return text if found is None else _option(found) + text[found.end() :]


def as_begun(text: str) -> str:
    """Return a sentence as it goes on behind "error: ".

    Examples
    --------
    >>> as_begun("There is no such file.")
    'there is no such file'
    """
    return _CAPITAL.sub(lambda word: word[0].lower(), text, count=1).removesuffix(".")


def _option(found: re.Match[str]) -> str:
    if found[0] in _FLAGS:
        return _FLAGS[found[0]]
    if found[1] not in _OPTIONS:
        return found[0]
    value = found[2].strip("\"'")
    value = value.replace(" ", "") if found[1] == "memory" else value
    return f"{_OPTIONS[found[1]]} {shlex.quote(value)}"


def harmless(text: str) -> str:
    r"""Return text in which only line ends and tabs are left of what steers a terminal.

    Names of files and columns come from anywhere, and may hold escape sequences.

    Examples
    --------
    >>> print(harmless("\x1b[2Jname"))
    \x1b[2Jname
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """Return text on one line."""
    return harmless(" ".join(text.splitlines()))


def aligned(rows: Sequence[Sequence[str]], *, words: int) -> list[str]:
    r"""Return lines in which cells of a column stand below each other.

    Columns without a letter are left out; the last cell of a row is as long as it likes.

    Parameters
    ----------
    rows : sequence of equally many cells
        The cells.
    words : int
        So many columns stand to the left, as words do; the others to the right, as numbers.

    Examples
    --------
    >>> print("\n".join(aligned([("a", "1", "x"), ("bcd", "10", "y")], words=1)))
    a     1  x
    bcd  10  y
    """
    if not rows:
        return []
    *columns, last = zip(*rows, strict=True)
    kept = []
    for place, cells in enumerate(columns):
        wide = max(map(len, cells))
        if wide:
            kept.append([c.ljust(wide) if place < words else c.rjust(wide) for c in cells])
    return ["  ".join(cells).rstrip() for cells in zip(*kept, last, strict=True)]
