"""The commands by name. Each is loaded from its own file when it runs."""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from mercer import __version__, methods
from mercer.cli._usage import no_command
from mercer.cli._voice import INTERRUPTED, Voice

__all__ = ["COMMANDS", "commands", "main"]

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 96}

# What a command is called, in the order of the help, and what it does. Its file is _NAME.py,
# which has `command`.
COMMANDS = {
    "demo": "A whole analysis of a real data set.",
    "look": "What a table holds: kinds, roles, missing cells.",
    "plan": "How a fit would be computed, and what it would cost.",
    "fit": "Fit a method to a table.",
    "report": "One HTML page about a table, or a model and its rows.",
    "transform": "Coordinates of new rows.",
    "features": "A table whose products are a kernel.",
    "inverse": "Rows from coordinates.",
    "tune": "Choose a kernel.",
    "inspect": "What a model file holds.",
    "drift": "What has changed between a model and new rows.",
    "methods": "The methods and their parameters.",
    "doctor": "Versions, threads, memory, extras.",
    "completion": "Completion of commands and options in a shell.",
}
_EPILOG = """\b
Begin with:
  mercer demo
  mercer look table.csv
  mercer fit table.csv -o model.mercer

\b
Results go to stdout, everything else to stderr; --json gives one document.
Exit codes: 0 done, 1 the computation failed, 2 wrong usage, 3 the input
cannot be used, 4 a library is missing, 5 would not fit, 130 interrupted."""


class _Commands(click.Group):
    """Commands that are imported when they run: help stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *methods.COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in methods.COMMANDS:
            return _report_of(cmd_name)
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"mercer.cli.commands.{cmd_name}_command").command
        # A raw docstring says \b in two letters; click keeps the lines below it as they are.
        found.help = (found.help or "").replace("\\b\n", "\b\n")
        found.name = cmd_name
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = [*COMMANDS, *methods.COMMANDS]
        if args[0] not in known and not args[0].startswith("-"):
            raise no_command(args[0], known)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Reports of a method, as `mercer report --method NAME`"):
            formatter.write_dl(list(_methods().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        about = COMMANDS | _methods()
        begun = [name for name in about if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=about[name]) for name in begun] + options

    def main(self, args: Sequence[str] | None = None, *_: Any, **settings: Any) -> NoReturn:
        """Run a command line and exit with its code; every error is three lines."""
        words = list(sys.argv[1:] if args is None else args)
        before = words[: words.index("--")] if "--" in words else words
        voice = Voice(as_json="--json" in before, debug="--debug" in before)
        settings |= {"prog_name": "mercer", "standalone_mode": False}
        with voice.speaking(words):
            code = super().main(words, **settings)
        sys.exit(code if isinstance(code, int) else 0)


def _methods() -> dict[str, str]:
    """Return the commands that are methods, and what each is about."""
    return {method.command: method.about for method in methods.COMMANDS.values()}


def _report_of(method: str) -> click.Command:
    """Return the command ``mercer METHOD``: the report, with its method settled."""
    from mercer.cli.commands.report_command import command as report

    def run(**options: Any) -> Any:
        assert report.callback is not None
        return report.callback(method=method, **options)

    known = methods.COMMANDS[method]
    return click.Command(
        method,
        callback=run,
        params=[option for option in report.params if option.name != "method"],
        short_help=known.about,
        help=f"""{known.about}

        Write one HTML page about a table, the same as mercer report --method {method}. See
        {known.docs}, and mercer methods {method} for its parameters.""",
    )


@click.group(
    cls=_Commands, context_settings=_SETTINGS, epilog=_EPILOG, invoke_without_command=True
)
@click.version_option(__version__, prog_name="mercer", message="%(prog)s %(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """Principal components: planned before, certified after."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> NoReturn:
    """Run the command line of this process."""
    if hasattr(signal, "SIGPIPE"):
        # `mercer ... | head` ends quietly, as other filters do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows few letters gets the others spelt out, not an error.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        commands.main()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # Python would end by the signal itself, had it met code that runs from text.
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(INTERRUPTED)
        raise


def _open_closed() -> None:
    """Let what is said on a stream that the caller closed (``2>&-``) go nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
