"""The commands by name. Each is loaded from its own file when it runs."""

import signal
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from mercer import __version__

__all__ = ["commands", "main"]

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 96}

# What a command is called, in the order of the help, and what it does. Its file is _NAME.py,
# which has `command`.
COMMANDS = {
    "demo": "A whole analysis of a real data set.",
    "look": "What a table holds: kinds, roles, missing cells.",
    "plan": "How a fit would be computed, and what it would cost.",
    "fit": "Fit a method to a table.",
    "transform": "Coordinates of new rows.",
    "inverse": "Rows from coordinates.",
    "tune": "Choose a kernel.",
    "inspect": "What a model file holds.",
    "drift": "What has changed between a model and new rows.",
    "methods": "The methods and their parameters.",
    "doctor": "Versions, threads, memory, extras.",
}


class _Commands(click.Group):
    """Commands that are imported when they run: help stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"mercer.cli._{cmd_name}").command
        found.name = cmd_name
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="mercer", message="%(prog)s %(version)s")
def commands() -> None:
    """Principal components: planned before, certified after."""


def main() -> NoReturn:
    """Run the command line; errors are three lines on stderr and an exit code."""
    if hasattr(signal, "SIGPIPE"):
        # `mercer ... | head` ends quietly, as other filters do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(_run(sys.argv[1:]))


def _run(words: list[str], **settings: Any) -> int:
    try:
        commands.main(words, prog_name="mercer", standalone_mode=False, **settings)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    return 0
