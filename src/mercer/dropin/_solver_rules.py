"""scikit-learn's rules about solvers: which one "auto" stands for, and what each refuses."""

from typing import Any

from mercer.errors import InputError, NotSupportedError

_TRUNCATED = ("arpack", "randomized")
_SPARSE = ("auto", "arpack", "covariance_eigh")


class SparseSolverError(NotSupportedError, TypeError):
    """The named solver takes no sparse data; scikit-learn raises a TypeError for it."""


def resolve(solver: str, wanted: Any, shape: tuple[int, int], *, sparse: bool) -> str:
    """Return the solver of scikit-learn that `solver` stands for at this shape.

    It names the solver in messages and settles how many axes ``n_components=None`` means.
    Which path is taken is the plan's decision.
    """
    if solver != "auto":
        return solver
    if sparse:
        return "arpack"
    n, p = shape
    if p <= 1000 and n >= 10 * p:
        return "covariance_eigh"
    if max(n, p) <= 500 or wanted == "mle":
        return "full"
    few = wanted is not None and 1 <= wanted < 0.8 * min(n, p)
    return "randomized" if few else "full"


def takes_sparse(solver: str) -> bool:
    """Whether scikit-learn fits sparse data with this solver."""
    return solver in _SPARSE


def refuse_sparse(solver: str) -> None:
    """Raise unless `solver` takes sparse data."""
    if takes_sparse(solver):
        return
    raise SparseSolverError(
        'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers,'
        f' while "{solver}" was passed.',
        got=f'a sparse matrix and svd_solver="{solver}"',
        fix='pass svd_solver="auto", or use mercer.PCA, which takes sparse data on every path',
    )


def check_number(solver: str, resolved: str, wanted: Any, shape: tuple[int, int]) -> None:
    """Raise as scikit-learn does where `wanted` components do not suit the solver.

    Parameters
    ----------
    solver, resolved : str
        `svd_solver` as it was passed, and what it stands for.
    wanted : int, float, "mle" or None
        `n_components` as it was passed.
    shape : tuple of int
        n and p.
    """
    most, truncated = min(shape), solver in _TRUNCATED
    got = f"n_samples = {shape[0]}, n_features = {shape[1]}"
    if isinstance(wanted, str):
        if truncated:
            raise InputError(
                f"n_components={wanted!r} cannot be a string with svd_solver='{solver}'",
                got=got,
                fix='pass svd_solver="auto" or "full"',
            )
        return
    if wanted is None:
        wanted = most - 1 if solver == "arpack" else most
    lowest = 1 if truncated else 0
    if not lowest <= wanted <= most:
        raise InputError(
            f"n_components={wanted} must be between {lowest} and"
            f" min(n_samples, n_features)={most} with svd_solver='{resolved}'",
            got=got,
            fix=f"ask for at most {most} components",
        )
    if solver == "arpack" and wanted == most:
        raise InputError(
            f"n_components={wanted} must be strictly less than"
            f" min(n_samples, n_features)={most} with svd_solver='{solver}'",
            got=got,
            fix='pass svd_solver="auto" or "full"',
        )
