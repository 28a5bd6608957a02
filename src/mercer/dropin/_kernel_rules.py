"""scikit-learn's rules about kernels: names, eigenvalues that count as zero, the way back."""

import functools
import math
import sys
from typing import Any

import numpy as np
import scipy.linalg

from mercer.arrays import Array, Tiles
from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Constant,
    Cosine,
    Function,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

NAMES = ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed")
_BLOCK = 2048  # rows taken back at a time
# scikit-learn's limits, relative to the largest eigenvalue, for float64 and float32 data.
_SMALL = {8: 1e-12, 4: 2e-7}
_NEGATIVE = {8: 1e-5, 4: 5e-3}
_NEGATIVE_AT_LEAST = {8: 1e-10, 4: 1e-6}


class SingularError(InputError, np.linalg.LinAlgError):
    """The ridge regression has no solution; SciPy raises a LinAlgError for it."""


# -- names --------------------------------------------------------------------------------


def kernel_of(
    kernel: Any, gamma: float, degree: float, coef0: float, params: dict[str, Any] | None
) -> Kernel:
    """Return the kernel that scikit-learn means by a name or a function.

    Parameters
    ----------
    kernel : str, function of two rows, kernel of scikit-learn or Kernel
        A name of `NAMES`; kernels of `sklearn.gaussian_process` and of `mercer.kernels` are
        functions of two blocks and stay that.
    gamma, degree, coef0 : float
        For "poly" (γxᵀy + c)^q, "rbf" exp(-γ‖x-y‖²) and "sigmoid" tanh(γxᵀy + c).
    params : dict or None
        Further arguments of a function.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        bound = functools.partial(kernel, **params) if params else kernel
        return Function(bound) if _takes_blocks(kernel) else Function.pairwise(bound)
    if kernel == "rbf":
        return RBF.from_gamma(gamma) if gamma > 0 else Constant(1.0)
    if kernel == "poly":
        if gamma > 0 and degree > 0:
            return Polynomial(degree, gamma, coef0)
        with np.errstate(invalid="ignore"):  # a root of a negative number is refused below
            return Constant(float(np.power(float(coef0), degree)))
    if kernel == "sigmoid":
        return Sigmoid(gamma, coef0) if gamma > 0 else Constant(math.tanh(coef0))
    return {"linear": Linear(), "cosine": Cosine(), "precomputed": Precomputed()}[kernel]


def _takes_blocks(kernel: Any) -> bool:
    """Whether a function is a kernel of Gaussian processes, which takes whole blocks."""
    module = sys.modules.get("sklearn.gaussian_process.kernels")
    return module is not None and isinstance(kernel, module.Kernel)


def varies(kernel: Kernel, rows: Any) -> bool:
    """Whether HKH can differ from zero: neither the kernel nor the rows are constant.

    A symmetric matrix of equal rows is constant, so precomputed ones need no other question.
    """
    if isinstance(kernel, Constant):
        return False
    two = rows[:2].toarray() if hasattr(rows, "toarray") else rows[:2]
    if not np.array_equal(two[0], two[1]):
        return True
    highest, lowest = rows.max(axis=0), rows.min(axis=0)
    if hasattr(rows, "toarray"):
        highest, lowest = highest.toarray(), lowest.toarray()
    return not np.array_equal(highest, lowest)


# -- eigenvalues --------------------------------------------------------------------------


def positive(values: Array, itemsize: int, zero: float) -> Array:
    """Return eigenvalues (k,) with those that count as zero set to 0.

    As in scikit-learn these are the values below 1e-12 of the largest (2e-7 for float32
    data), and here also those at most `zero`, which rounding alone can produce.

    Raises
    ------
    InputError
        Where one is negative beyond rounding, with scikit-learn's words.
    """
    top, bottom = float(np.max(values, initial=0.0)), float(np.min(values, initial=0.0))
    limit = max(_NEGATIVE[itemsize] * top, _NEGATIVE_AT_LEAST[itemsize], zero)
    if bottom < -limit:
        share = f"{-bottom / top:g} of the maximum positive" if top > 0 else "none is positive"
        raise InputError(
            f"There are significant negative eigenvalues ({share}). Either the matrix is not"
            " PSD, or there was an issue while computing the eigendecomposition of the matrix.",
            got=f"{int(np.sum(values < -limit))} of {len(values)} eigenvalues below zero,"
            f" down to {bottom:.6g}",
            fix="ask for fewer components, or use a kernel that is positive definite;"
            " mercer.KernelPCA has indefinite=",
        )
    return np.where(values > max(_SMALL[itemsize] * top, zero), values, 0.0)


# -- the way back -------------------------------------------------------------------------


def ridge(kernel: Kernel, scores: Array, rows: Array, alpha: float) -> Array:
    """Return (K_ZZ + αI)⁻¹X of shape (n, p), the coefficients of the learned pre-image.

    Cost: n²p + n³/3 flops, 2n² numbers.

    Parameters
    ----------
    kernel : Kernel
        The kernel, now of coordinates.
    scores : ndarray of shape (n, k)
        Training coordinates.
    rows : ndarray of shape (n, p)
        Training rows.
    alpha : float
        The penalty.
    """
    wide = np.asarray(scores, np.float64)
    system = np.array(kernel.block(wide), np.float64)
    system.flat[:: len(system) + 1] += alpha
    try:
        factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        raise SingularError(
            "the pre-image cannot be learned: K + alpha*I is not positive definite",
            got=f"alpha={alpha:g}, {kernel!r} on {len(wide)} rows of coordinates",
            fix="choose a larger alpha, or mercer.KernelPCA, which learns its penalty",
        ) from None
    return np.asarray(scipy.linalg.cho_solve(factor, np.asarray(rows, np.float64)))


def predicted(kernel: Kernel, scores: Array, training: Array, coefficients: Array) -> Array:
    """Return k(Z, Z_fit)·coefficients, (m, p), by blocks of rows."""
    out = np.empty((len(scores), coefficients.shape[1]), coefficients.dtype)
    for part in Tiles(len(scores), _BLOCK):
        out[part] = kernel.block(scores[part], training) @ coefficients
    return out
