"""Which kernels are tried: those given, and a grid of lengthscales for the open ones."""

from collections.abc import Iterable
from typing import Any

from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, Kernel, Linear, Precomputed, as_kernel

GAMMAS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)  # in units of 1/median‖x-y‖²


def candidates(kernels: Any, lengthscales: Any, rows: Any) -> list[Kernel]:
    """Return the kernels to compare, with numbers for parameters; the linear one is first.

    A kernel with the lengthscale "median" stands for several: ℓ = ℓ_median/√g for the
    multiples g = 1/8 … 8 of γ = 1/2ℓ², or one for each of `lengthscales`.

    Parameters
    ----------
    kernels : None, a kernel, or several
        As `as_kernel` reads them; None is RBF().
    lengthscales : None or numbers
        What takes the place of "median".
    rows : array of shape (n, p)
        The rows that medians are taken from.
    """
    given = _read(kernels)
    lengths = None if lengthscales is None else _numbers(lengthscales)
    if lengths is not None and not any(_open_lengths(kernel) for kernel in given):
        raise InputError(
            "lengthscales were given, but no kernel waits for one",
            got=f"lengthscales={lengths}, kernels={given}",
            fix='leave the lengthscale of a kernel at "median", for example RBF()',
        )
    found: list[Kernel] = [Linear()]
    for kernel in given:
        found += [one for one in _spread(kernel, lengths, rows) if one not in found]
    return found


def _read(kernels: Any) -> list[Kernel]:
    """Return the kernels given as kernels."""
    if kernels is None:
        return [RBF()]
    single = isinstance(kernels, Kernel | str) or not isinstance(kernels, Iterable)
    given = [as_kernel(one) for one in ([kernels] if single else kernels)]
    if not given:
        raise InputError(
            "there is no kernel to try",
            got="kernels=[]",
            fix='pass kernels such as [RBF(), "matern"], or None for RBF',
        )
    for kernel in given:
        if isinstance(kernel, Precomputed):
            raise NotSupportedError(
                "a kernel matrix cannot be tuned: rows are needed, to be rebuilt",
                got=f"{kernel!r} among the kernels",
                fix="pass the rows and the kernel as a function",
            )
    return given


def _numbers(lengthscales: Any) -> list[Any]:
    """Return the lengthscales as a list; each is checked by the kernel that takes it."""
    try:
        found = list(lengthscales)
    except TypeError:
        found = [lengthscales]
    if isinstance(lengthscales, str) or not found:
        raise InputError(
            "lengthscales must be positive numbers",
            got=f"lengthscales={lengthscales!r}",
            fix="pass for example lengthscales=[0.5, 1.0, 2.0], or None for a grid",
        )
    return found


def _open_lengths(kernel: Kernel) -> list[str]:
    """Return the names of the lengthscales that wait for the data."""
    return [
        name
        for name, value in kernel.get_params().items()
        if name.split("__")[-1] == "lengthscale" and isinstance(value, str)
    ]


def _spread(kernel: Kernel, lengths: list[Any] | None, rows: Any) -> list[Kernel]:
    """Return one kernel for each lengthscale, the longest first."""
    names = _open_lengths(kernel)
    if lengths is not None and names:
        several = [kernel.with_params(**dict.fromkeys(names, length)) for length in lengths]
        return [one.resolve(rows) for one in several]
    middle = kernel.resolve(rows)
    if not names:
        return [middle]
    at = {name: middle.get_params()[name] for name in names}
    return [
        middle.with_params(**{name: length / gamma**0.5 for name, length in at.items()})
        for gamma in GAMMAS
    ]


def at_the_edge(kernel: Kernel, tried: list[Kernel]) -> list[str]:
    """Return a sentence if a kernel has the longest or shortest lengthscale of its kind."""
    alike = [other for other in tried if _shape(other) == _shape(kernel)]
    if len(alike) < 3 or not _lengths(kernel):
        return []
    for ends, word in ((max, "longest"), (min, "shortest")):
        if kernel == ends(alike, key=lambda other: sum(_lengths(other).values())):
            return [
                f"The one chosen has the {word} lengthscale tried; `lengthscales` takes others."
            ]
    return []


def _lengths(kernel: Kernel) -> dict[str, float]:
    """Return the lengthscales that are one number, by name."""
    return {
        name: value
        for name, value in kernel.get_params().items()
        if name.split("__")[-1] == "lengthscale" and isinstance(value, float)
    }


def _shape(kernel: Kernel) -> Kernel:
    """Return the kernel with all its lengthscales one."""
    return kernel.with_params(**dict.fromkeys(_lengths(kernel), 1.0))
