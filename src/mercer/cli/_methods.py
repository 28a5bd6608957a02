"""The command ``mercer methods``: what there is, and what it can be told."""

import dataclasses
import textwrap

import click

from mercer.cli._docstrings import Parameter, parameters_of
from mercer.cli._known_methods import METHODS, Method, in_families, method_of
from mercer.cli._options import speaking_options
from mercer.cli._voice import Voice

_WIDE = 78
# Options of their own, whose defaults are those of the command line; the other parameters
# stand after --set.
_OPTIONS = {
    "n_components": "-k",
    "kernel": "--kernel",
    "tol": "--tol",
    "memory": "--memory",
    "time": "--time",
    "random_state": "--seed",
    "standardize": "--standardize",
    "missing": "--missing",
}


@click.command()
@click.argument("name", required=False, type=click.Choice(list(METHODS)), metavar="[NAME]")
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
        wide = max(map(len, METHODS))
        lines = list[str]()
        for family, members in in_families().items():
            lines += [*([""] if lines else []), f"{family}:"]
            lines += [f"  {method.name.ljust(wide)}  {method.about}" for method in members]
        known = [
            {"name": m.name, "about": m.about, "docs": m.docs, "family": m.family}
            for m in METHODS.values()
        ]
        voice.result("\n".join(lines), {"methods": known})
        return
    method = method_of(name)
    parameters = parameters_of(method.load(), method_of("pca").load())
    document = {
        "name": method.name,
        "about": method.about,
        "docs": method.docs,
        "parameters": [
            {**vars(one), "option": _OPTIONS.get(one.name, f"--set {one.name}=VALUE")}
            for one in map(_as_here, parameters)
        ],
    }
    voice.result(_text(method, parameters), {"method": document})


def _text(method: Method, parameters: tuple[Parameter, ...]) -> str:
    lines = [f"{method.name}: {method.about}", f"See {method.docs}.", ""]
    for one in map(_as_here, parameters):
        option = _OPTIONS.get(one.name)
        head = f"--set {one.name}=" if option is None else f"{option} "
        lines.append(f"{head}{one.default}".strip())
        for text in filter(None, (one.takes, one.about)):
            lines += textwrap.wrap(text, _WIDE, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _as_here(one: Parameter) -> Parameter:
    """Return a parameter with the default of the command line, where that is another."""
    if one.name in ("standardize", "missing") or (one.name == "n_components" and _chosen(one)):
        return dataclasses.replace(one, default="auto")
    if one.name in _OPTIONS and one.default == "None":
        return dataclasses.replace(one, default="")
    return one


def _chosen(one: Parameter) -> bool:
    return '"auto"' in one.takes
