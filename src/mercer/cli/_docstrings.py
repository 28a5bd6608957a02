"""Parameters as a class describes them: name, what it takes, what it means."""

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any, final

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
