"""Packages whose names load when they are first used.

The stub beside such a package, ``__init__.pyi``, says where each of its names lives, in lines
such as ``from mercer.solvers._exact import Exact as Exact``. Editors and type checkers read the
same lines, so no name is written twice.
"""

import re
import sys
from collections.abc import Callable

_LINE = re.compile(r"^from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NAME = re.compile(r"\b(\w+) as \1\b")


def homes(package: str) -> dict[str, str]:
    """Return the public names of a package and the modules that they live in, by its stub.

    Parameters
    ----------
    package : str
        Its dotted name. It is imported already.
    """
    module = sys.modules[package]
    path = f"{module.__path__[0]}/__init__.pyi"
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    text = module.__spec__.loader.get_data(path).decode()  # type: ignore[attr-defined]
    return {name: home for home, names in _LINE.findall(text) for name in _NAME.findall(names)}


def lazy(
    package: str, *, own: tuple[str, ...] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package (PEP 562), as its stub says.

    A name of the package itself, as in ``from mercer import kernels as kernels``, is a module
    below it. Such modules stand in ``dir`` and not in ``__all__``.

    Parameters
    ----------
    package : str
        Its dotted name, as ``__name__`` says.
    own : tuple of str
        What the package itself defines, and names of modules that are in ``__all__`` too.
    """
    known: dict[str, str] = {}  # filled when the first name is asked for

    def load(name: str) -> object:
        if not known:
            known.update(homes(package))
        if name == "__all__":
            value: object = sorted({*own, *(n for n, home in known.items() if home != package)})
        elif name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        elif known[name] == package:
            value = _module(f"{package}.{name}")
        else:
            value = getattr(_module(known[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*own, *(known or homes(package))})

    return load, names


def _module(name: str) -> object:
    """Return a module as an import statement does, so that `python -X importtime` counts it."""
    __import__(name)
    return sys.modules[name]
