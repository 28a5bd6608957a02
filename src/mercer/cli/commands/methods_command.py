"""The command ``mercer methods``: what there is, and what it can be told.

Parameters as a class describes them: name, what it takes, what it means.
"""

import dataclasses
import inspect
import re
import textwrap
from importlib import import_module
from typing import Any, final

import click

from mercer.cli._options import speaking_options
from mercer.cli._voice import TYPED, Voice
from mercer.methods import COMMANDS, Method, families

_LIKE = re.compile(r"(?:See|As for) `?([A-Z]\w*)`?")


@final
@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a method.

    Attributes
    ----------
    name : str
        Its name.
    default : str
        Its default, as it would be typed; "" where it must be given.
    takes : str
        Kinds of values.
    about : str
        What it means: the first sentence.
    """

    name: str
    default: str
    takes: str
    about: str


def parameters_of(kind: type[Any], like: type[Any] | None = None) -> tuple[Parameter, ...]:
    """Return the parameters of a class, in the order of its signature.

    Parameters
    ----------
    kind : type
        A class with a section "Parameters" in its docstring.
    like : type or None
        Where a parameter is described that the docstring only points to.
    """
    own = described(inspect.getdoc(kind) or "")
    found = []
    for name, given in inspect.signature(kind).parameters.items():
        takes, about = own.get(name, ("", ""))
        elsewhere = _LIKE.match(about)
        if elsewhere:
            takes, about = _pointed_to(name, elsewhere[1], like, (takes, about))
        default = "" if given.default is inspect.Parameter.empty else _shown(given.default)
        found.append(Parameter(name, default, takes, first_sentence(about)))
    return tuple(found)


def _pointed_to(
    name: str, kind: str, like: type[Any] | None, own: tuple[str, str]
) -> tuple[str, str]:
    """Return what another class says of a parameter, which may point to a third."""
    public = getattr(import_module("mercer"), kind, None)
    for other in (public, like):
        found = described(inspect.getdoc(other) or "").get(name) if other is not None else None
        if found is not None and not _LIKE.match(found[1]):
            return found
    return own


def described(doc: str) -> dict[str, tuple[str, str]]:
    """Return what a docstring says of each parameter: what it takes, and its meaning.

    Parameters
    ----------
    doc : str
        A docstring in NumPy's form, its margin taken off.
    """
    lines = doc.splitlines()
    if "Parameters" not in lines:
        return {}
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    takes, words = "", list[str]()
    for line in [*_section(lines[lines.index("Parameters") + 2 :]), "end"]:
        if line.startswith(" "):
            words.append(line.strip())
            continue
        found |= dict.fromkeys(names, (takes, " ".join(words)))
        head, _, takes = line.partition(" : ")
        names, words = [name.strip() for name in head.split(",")], []
    return found


def _section(lines: list[str]) -> list[str]:
    """Return the lines before the next section, empty ones left out."""
    kept: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below.startswith("---"):
            break
        kept += [line] if line.strip() else []
    return kept


def first_sentence(text: str) -> str:
    """Return the first sentence, without the marks of code.

    Examples
    --------
    >>> first_sentence("Use `tol`. See there.")
    'Use tol.'
    """
    sentence = re.match(r".*?[.](?=\s|$)|.*", text, re.DOTALL)
    return (sentence[0] if sentence else text).replace("``", "").replace("`", "")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    # A kernel of its own class is typed by its name in small letters.
    return repr(value).lower() if type(value).__module__.startswith("mercer.") else repr(value)


_WIDE = 78


@click.command()
@click.argument("name", required=False, type=click.Choice(list(COMMANDS)), metavar="[NAME]")
@speaking_options
def command(voice: Voice, name: str | None) -> None:
    r"""List the methods, or the parameters of the one called NAME.

    \b
    Examples:
      mercer methods
      mercer methods kernel-pca
      mercer methods pca --json
    """
    if name is None:
        wide = max(map(len, COMMANDS))
        lines = list[str]()
        for family, members in families().items():
            lines += [*([""] if lines else []), f"{family}:"]
            lines += [f"  {method.command.ljust(wide)}  {method.about}" for method in members]
        known = [
            {"name": m.command, "about": m.about, "docs": m.docs, "family": m.family}
            for m in COMMANDS.values()
        ]
        voice.result("\n".join(lines), {"methods": known})
        return
    method = COMMANDS[name]
    parameters = parameters_of(method.load(), COMMANDS["pca"].load())
    document = {
        "name": method.command,
        "about": method.about,
        "docs": method.docs,
        "parameters": [
            {**vars(one), "option": TYPED.get(one.name, f"--set {one.name}=VALUE")}
            for one in map(_as_here, parameters)
        ],
    }
    voice.result(_text(method, parameters), {"method": document})


def _text(method: Method, parameters: tuple[Parameter, ...]) -> str:
    lines = [f"{method.command}: {method.about}", f"See {method.docs}.", ""]
    for one in map(_as_here, parameters):
        option = TYPED.get(one.name)
        head = f"--set {one.name}=" if option is None else f"{option} "
        lines.append(f"{head}{one.default}".strip())
        for text in filter(None, (one.takes, one.about)):
            lines += textwrap.wrap(text, _WIDE, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _as_here(one: Parameter) -> Parameter:
    """Return a parameter with the default of the command line, where that is another."""
    chosen = one.name == "n_components" and '"auto"' in one.takes
    if chosen or one.name in ("standardize", "missing"):
        return dataclasses.replace(one, default="auto")
    if one.name in TYPED and one.default == "None":
        return dataclasses.replace(one, default="")
    return one
