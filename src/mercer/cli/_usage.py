"""UsageError: a command line that cannot be meant; click's errors in our three lines."""

import difflib
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import click

from mercer.errors import InputError

_LONG = 100  # letters of a command line that are shown


class UsageError(InputError):
    """The command line names what is not there, or gives a value that nothing takes."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word of the same letters, that begins so or is most like it, or None.

    Examples
    --------
    >>> nearest("plna", ["plan", "fit"]), nearest("in", ["inspect", "fit"])
    ('plan', 'inspect')
    >>> nearest("pac", ["pacmap", "pca"])  # a slip of two fingers
    'pca'
    """
    # The dashes of options are all alike.
    words = {other.strip("-"): other for other in known}
    bare = word.strip("-").lower()
    begun = [other for other in words if bare and other.startswith(bare)]
    swapped = [other for other in words if sorted(other) == sorted(bare)]
    near = next(iter([*swapped, *begun, *difflib.get_close_matches(bare, words, n=1)]), None)
    return None if near is None else words[near]


def no_command(name: str, known: Iterable[str]) -> UsageError:
    """Return the error of a command that does not exist."""
    words = list(known)
    near = nearest(name, words)
    return UsageError(
        f"there is no command {name!r}",
        got=f"mercer {name}",
        fix=f"did you mean mercer {near}?" if near else f"take one of {', '.join(words)}",
    )


def from_click(error: click.ClickException, words: Sequence[str]) -> UsageError:
    """Return an error of click as what, got and fix.

    Parameters
    ----------
    error : click.ClickException
        Raised while the words were read.
    words : sequence of str
        The command line, without the program.
    """
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else " ".join(["mercer", *words[:1]])
    typed, help_ = _typed(words), f"see {path} --help"
    param: Any = getattr(error, "param", None)
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        near = None if context is None else nearest(name, _options_of(context.command))
        fix = f"did you mean {near}? {help_}" if near else help_
        return UsageError(f"there is no option {name}", got=typed, fix=fix)
    if isinstance(error, click.MissingParameter) and param is not None:
        pieces = context.command.collect_usage_pieces(context) if context is not None else []
        whole = " ".join([path, *pieces])
        return UsageError(f"{_named(param)} is missing", got=typed, fix=f"write {whole}")
    if isinstance(error, click.BadParameter) and param is not None:
        what, near = _refused(param, error.message)
        fix = f"did you mean {near}? {help_}" if near else help_
        return UsageError(what, got=typed, fix=fix)
    what = _sentence(error.format_message())
    return UsageError(what, got=typed, fix=help_)


def _refused(param: Any, message: str) -> tuple[str, str | None]:
    """Return what is wrong with a value, and the nearest value that would do."""
    name = _named(param)
    if isinstance(param.type, click.Choice):
        choices = [str(choice) for choice in param.type.choices]
        given = message.split("'")[1] if message.count("'") > 1 else ""
        return f"{name} is one of {', '.join(choices)}", nearest(given, choices)
    return f"{name}: {_sentence(message)}", None


def _named(param: Any) -> str:
    """Return the longest spelling of an option, or an argument in capitals."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return str(param.name).upper()


def _options_of(command: click.Command) -> list[str]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    names = [name for option in options for name in (*option.opts, *option.secondary_opts)]
    return [*names, "--help"]


def _sentence(message: str) -> str:
    """Return the first line of a message, as the beginning of ours."""
    line = message.strip().splitlines()[0].rstrip(".") if message.strip() else "wrong usage"
    return line[:1].lower() + line[1:]


def _typed(words: Sequence[str]) -> str:
    text = shlex.join(["mercer", *words])
    return text if len(text) <= _LONG else f"{text[:_LONG]} …"
