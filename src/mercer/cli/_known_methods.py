"""The methods by name: a new one is a line here."""

import dataclasses
import difflib
from importlib import import_module
from typing import Any, final

from mercer.errors import InputError


@final
@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the command line.

    Attributes
    ----------
    name : str
        As it is typed.
    home, kind : str
        Module and class.
    about : str
        One sentence.
    docs : str
        Page of the documentation.
    """

    name: str
    home: str
    kind: str
    about: str
    docs: str

    def load(self) -> type[Any]:
        """Return the class."""
        found: type[Any] = getattr(import_module(self.home), self.kind)
        return found


METHODS = {
    method.name: method
    for method in (
        Method(
            "pca",
            "mercer.estimators",
            "PCA",
            "Directions of largest variance.",
            "docs/methods/pca.md",
        ),
        Method(
            "kernel-pca",
            "mercer.estimators",
            "KernelPCA",
            "Principal components of curved structure, through a kernel.",
            "docs/methods/kernel_pca.md",
        ),
        Method(
            "robust-pca",
            "mercer.estimators",
            "RobustPCA",
            "Axes that outlying rows cannot turn, and the numbers of those rows.",
            "docs/methods/robust_pca.md",
        ),
    )
}


def method_of(name: str) -> Method:
    """Return the method called `name`; an unknown name gets the nearest known one."""
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, n=1)
        raise InputError(
            "there is no method of that name",
            got=repr(name) + (f", did you mean {near[0]!r}?" if near else ""),
            fix=f"take one of {', '.join(METHODS)}",
        )
    return METHODS[name]
