"""Voice: results go to stdout, everything else to stderr, and errors are three lines."""

import dataclasses
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, final

import click

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
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    missed: list[str] = dataclasses.field(default_factory=list)
    warned: list[str] = dataclasses.field(default_factory=list)

    def note(self, line: str) -> None:
        """Say something that is no result: an assumption, a plan, a duration."""
        if not self.quiet:
            click.echo(line, err=True)

    def detail(self, line: str) -> None:
        """Say something that few want to know."""
        if self.verbose and not self.quiet:
            click.echo(line, err=True)

    def result(self, text: str, document: dict[str, Any]) -> None:
        """Say the result, as text or as a JSON document."""
        if self.as_json:
            whole = {"schema": SCHEMA, "ok": True, **document, "warnings": self._warnings()}
            click.echo(json.dumps(plain(whole), allow_nan=False))
        elif text:
            click.echo(text)

    def _warnings(self) -> list[str]:
        return [*self.missed, *self.warned]

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Show what is warned of as lines on stderr, and end with the code of an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = self._show
            try:
                yield
            except MercerError as error:
                self._fail(error, exit_code(error))
            except (KeyboardInterrupt, click.Abort):
                click.echo("interrupted", err=True)
                sys.exit(INTERRUPTED)
            except click.ClickException:
                raise
            except MemoryError as error:
                said = " ".join(str(error).split()) or "MemoryError"
                self._fail(_unforeseen("memory ran out", said, "--memory"), BUDGET)
            except Exception as error:
                if self.debug:
                    raise
                said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
                fix = "run it again with --debug and report what it shows"
                self._fail(_unforeseen("the work failed", said, fix), COMPUTATION)

    def _show(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        said = str(message)
        list_ = self.missed if issubclass(category, AccuracyWarning) else self.warned
        if said not in list_:
            list_.append(said)
            self.note(f"warning: {said}")

    def _fail(self, error: MercerError, code: int) -> NoReturn:
        if self.debug:
            import traceback

            traceback.print_exc()
        click.echo(f"error: {error}", err=True)
        if self.as_json:
            parts = {"what": error.what, "got": error.got, "fix": error.fix, "code": code}
            click.echo(json.dumps({"schema": SCHEMA, "ok": False, "error": parts}))
        sys.exit(code)


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error, by its class."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED
    if isinstance(error, BudgetError):
        return BUDGET
    if isinstance(error, MissingExtraError):
        return EXTRA
    return COMPUTATION if isinstance(error, WorkerError) else INPUT


def _unforeseen(what: str, got: str, fix: str) -> MercerError:
    return MercerError(what, got=got, fix=fix)


def plain(value: Any) -> Any:
    """Turn frozen values and arrays into what JSON can hold; NaN and infinity become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # arrays and NumPy's numbers
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)
