"""The methods by name: a new one is a line here."""

import dataclasses
from importlib import import_module
from typing import Any, final

from mercer.cli._usage import UsageError, nearest


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
    remark : str
        What its plan does not price; "" where it prices all.
    """

    name: str
    home: str
    kind: str
    about: str
    docs: str
    remark: str = ""

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
            "laplacian-eigenmaps",
            "mercer.estimators",
            "LaplacianEigenmaps",
            "Coordinates in which neighbouring rows stay close.",
            "docs/methods/laplacian_eigenmaps.md",
        ),
        Method(
            "diffusion-maps",
            "mercer.estimators",
            "DiffusionMaps",
            "Coordinates whose distances are those of random walks.",
            "docs/methods/diffusion_maps.md",
        ),
        Method(
            "robust-pca",
            "mercer.estimators",
            "RobustPCA",
            "Axes that outlying rows cannot turn, and the numbers of those rows.",
            "docs/methods/robust_pca.md",
            "robust-pca reads the rows 25 to 45 times; this prices its last solve only",
        ),
    )
}


def method_of(name: str) -> Method:
    """Return the method called `name`; an unknown name gets the nearest known one."""
    if name not in METHODS:
        near = nearest(name, METHODS)
        raise UsageError(
            f"there is no method {name!r}",
            got=f"--method {name}",
            fix=(f"did you mean {near}? " if near else "")
            + f"take one of {', '.join(METHODS)}",
        )
    return METHODS[name]
