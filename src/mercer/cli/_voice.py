"""Voice: results go to stdout, everything else to stderr, and errors are three lines."""

import dataclasses
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, final

import click

from mercer.cli._terminal_text import as_begun, as_typed, given_as_typed, harmless, one_line
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

    def note(self, line: str) -> None:
        """Say something that is no result: an assumption, a plan, a duration."""
        if not self.quiet:
            click.echo(harmless(line), err=True)

    def detail(self, line: str) -> None:
        """Say something that few want to know."""
        if self.verbose:
            self.note(line)

    def result(self, text: str, document: dict[str, Any]) -> None:
        """Say the result, as text or as a JSON document."""
        if self.as_json:
            whole = {"schema": SCHEMA, "ok": True, **document, "warnings": self._warnings()}
            said = json.dumps(plain(whole), allow_nan=False)
            self.answered = True
            click.echo(said)
        elif text:
            self.answered = True
            click.echo(harmless(text))

    def _warnings(self) -> list[str]:
        return [*self.missed, *self.warned]

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
