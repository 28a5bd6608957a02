"""The commands and their options. Heavy imports wait until a command runs."""

import json
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

from mercer import __version__
from mercer.errors import BudgetError, MercerError

__all__ = ["commands", "exit_code", "main"]

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 96}


@click.group(context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="mercer", message="%(prog)s %(version)s")
def commands() -> None:
    """Principal components: planned before, certified after."""


@commands.command()
@click.argument("name", default="digits", metavar="[NAME]")
@click.option(
    "-o",
    "--output",
    default="mercer-demo",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the coordinates and the picture.",
)
def demo(name: str, output: Path) -> None:
    """Analyse a real data set: digits, iris, wine or breast_cancer.

    Prints the plan, the spectrum with its error bounds and what was found; writes the
    coordinates (CSV) and one picture (SVG).
    """
    from mercer.cli._demo import run

    run(name, output)


@commands.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-k", "--components", help="Number (10), share (0.9) or mle; default: all.")
@click.option("--standardize", is_flag=True, help="Divide columns by their standard deviation.")
@click.option("--memory", help="Limit, as 4GB or 4GiB; default: 80 % of what is free.")
@click.option("--time", type=float, help="Limit in seconds.")
@click.option("--tol", type=float, help="Relative error allowed in each eigenvalue.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def plan(
    data: Path,
    components: str | None,
    standardize: bool,
    memory: str | None,
    time: float | None,
    tol: float | None,
    as_json: bool,
) -> None:
    """Show how a PCA would be computed, without computing it.

    DATA is a .npy, .csv or .tsv file; text columns are left out and named.
    """
    from mercer.cli._plan import run

    options = {"standardize": standardize, "memory": memory, "time": time, "tol": tol}
    try:
        text = run(data, components, options, as_json=as_json)
    except MercerError as error:
        if as_json:
            # A program that reads stdout gets a document even when there is no plan.
            parts = {"what": error.what, "got": error.got, "fix": error.fix}
            click.echo(json.dumps({"schema": "mercer/1", "ok": False, "error": parts}))
        raise
    click.echo(text)


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error: 5 over budget, 3 unusable input, 130 interrupted."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return 130
    return 5 if isinstance(error, BudgetError) else 3


def main() -> NoReturn:
    """Run the command line; errors are three lines on stderr and an exit code."""
    if hasattr(signal, "SIGPIPE"):
        # `mercer ... | head` ends quietly, as other filters do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        commands.main(prog_name="mercer", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except MercerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(exit_code(error))
    except (KeyboardInterrupt, click.Abort) as error:
        click.echo("interrupted", err=True)
        sys.exit(exit_code(error))
    sys.exit(0)
