"""Comparing kernels and samples: cka, hsic, mmd; nothing depends on where the data lie.

All three are centred first. Centring takes away what depends on one row alone, so a shift of
the data or a constant in the kernel costs no digits beyond those that K itself lost.
"""

from typing import Any

import numpy as np

from mercer.arrays import as_floats, as_numpy, is_sparse
from mercer.errors import REFUSALS, InputError, MercerError, first_line
from mercer.kernels._kernel_text import as_kernel
from mercer.kernels._kernel_value import Kernel, as_table

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def centred(K: Any) -> FloatArray:
    """Return HKH in float64, H = I - 11ᵀ/n; the grand mean goes first, against cancellation."""
    matrix = np.array(as_floats(K, "a kernel matrix"))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InputError(
            "a kernel matrix must be square, with two rows at least",
            got=f"an array of shape {matrix.shape}",
            fix="pass kernel.block(X)",
        )
    matrix -= matrix.mean()
    matrix -= matrix.mean(axis=0)
    matrix -= matrix.mean(axis=1)[:, None]
    return matrix


def _two(K: Any, L: Any) -> tuple[FloatArray, FloatArray]:
    one, two = centred(K), centred(L)
    if one.shape != two.shape:
        raise InputError(
            "two kernel matrices must be of the same rows",
            got=f"shapes {one.shape} and {two.shape}",
            fix="compute both from the same X",
        )
    return one, two


def cka(K: Any, L: Any) -> float:
    """Return the centred alignment ⟨HKH, HLH⟩/(‖HKH‖·‖HLH‖): 1 for the same shape, 0 for none.

    Parameters
    ----------
    K, L : Array (n, n)
        Kernel matrices of the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> round(cka(K, 3 * K + 1), 12)
    1.0
    """
    one, two = _two(K, L)
    sizes = [float(np.abs(m).max()) for m in (one, two)]
    if min(sizes) == 0:
        raise InputError(
            "a kernel that is constant on these rows has no alignment",
            got="a centred matrix of zeros",
            fix="pass matrices of kernels that tell the rows apart",
        )
    one, two = one / sizes[0], two / sizes[1]
    return float(np.vdot(one, two) / (np.linalg.norm(one) * np.linalg.norm(two)))


def hsic(K: Any, L: Any, *, unbiased: bool = False) -> float:
    """Return the Hilbert-Schmidt independence criterion, 0 in the limit for independent data.

    tr(HKH·HLH)/(n-1)² [Gretton2005]_; the unbiased form is ⟨K̂, L̂⟩/(n(n-3)) with
    K̂_ij = K_ij - Σ_lK_il/(n-2) - Σ_lK_lj/(n-2) + ΣΣK/((n-1)(n-2)) for i ≠ j, sums without
    the diagonal, and K̂_ii = 0 [Song2012]_.

    Parameters
    ----------
    K, L : Array (n, n)
        Kernel matrices of two views of the same n rows.
    unbiased : bool
        The second form; it needs n > 3 and can be negative.
    """
    one, two = _two(K, L)
    n = len(one)
    if not unbiased:
        return float(np.vdot(one, two)) / (n - 1) ** 2
    if n < 4:
        raise InputError(
            "the unbiased criterion needs four rows", got=f"{n} rows", fix="pass unbiased=False"
        )
    return float(np.vdot(_off_diagonal(one), _off_diagonal(two))) / (n * (n - 3))


def _off_diagonal(matrix: FloatArray) -> FloatArray:
    """Return K̂ of a matrix that is centred already, which changes nothing but rounding."""
    n = len(matrix)
    np.fill_diagonal(matrix, 0.0)
    rows = matrix.sum(axis=1)
    shift = rows / (n - 2) - matrix.sum() / (2 * (n - 1) * (n - 2))
    matrix = matrix - shift[:, None] - shift[None, :]
    np.fill_diagonal(matrix, 0.0)
    return matrix


def mmd(kernel: Kernel | str, X: Any, Y: Any, *, unbiased: bool = True) -> float:
    """Return the squared maximum mean discrepancy of two samples, ‖mean φ(x) - mean φ(y)‖².

    mean k(x, x') + mean k(y, y') - 2·mean k(x, y) [Gretton2012]_; the unbiased form leaves
    out pairs of a row with itself, and can be negative.

    Parameters
    ----------
    kernel : Kernel or str
        Open parameters are taken from both samples together.
    X, Y : arrays (n, p) and (m, p)
        The samples.
    unbiased : bool
        Leave out k(x_i, x_i).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    >>> mmd("rbf", a, b + 1) > 10 * abs(mmd("rbf", a, b))
    True
    """
    together, n = _pooled(X, Y)
    k = as_kernel(kernel).resolve(together)
    m = int(together.shape[0] if hasattr(together, "shape") else len(together)) - n
    if min(n, m) < 1 + unbiased:
        raise InputError(
            "a sample is too small to be compared",
            got=f"{n} and {m} rows",
            fix="pass two rows at least of each, or one with unbiased=False",
        )
    matrix = _centred_block(k, together)
    parts = matrix[:n, :n], matrix[n:, n:]
    within = sum(_mean(part, unbiased) for part in parts)
    return float(within - 2 * matrix[:n, n:].mean())


def _mean(part: FloatArray, unbiased: bool) -> float:
    n = len(part)
    if not unbiased:
        return float(part.mean())
    return float(part.sum() - np.trace(part)) / (n * (n - 1))


def _centred_block(kernel: Kernel, rows: Any) -> FloatArray:
    """Return HKH, from centred features where there are any: then no digit is lost."""
    p = int(rows.shape[1]) if hasattr(rows, "shape") and len(rows.shape) == 2 else 0
    features = kernel.features(p)
    if features is None:
        return centred(kernel.block(rows))
    z = features.phi(rows)
    if is_sparse(z):
        return centred(kernel.block(rows))
    z = np.asarray(as_numpy(z), dtype=np.float64)
    z = z - z[:1]
    z = z - z.mean(axis=0)
    return np.asarray(z @ z.T)


def _pooled(X: Any, Y: Any) -> tuple[Any, int]:
    """Return both samples as one, and the length of the first."""
    try:
        x, y = as_table(X), as_table(Y)
        if is_sparse(x) or is_sparse(y):
            from scipy.sparse import vstack

            return vstack([x, y]).tocsr(), int(x.shape[0])
        if not hasattr(x, "dtype") or not hasattr(y, "dtype"):
            return [*x, *y], len(x)
        return np.concatenate([as_numpy(x), as_numpy(y)]), len(x)
    except MercerError:
        raise
    except REFUSALS as error:
        raise InputError(
            "two samples must be rows of the same kind",
            got=f"{type(X).__name__} and {type(Y).__name__}: {first_line(error)}",
            fix="pass two tables with the same columns, or two lists",
        ) from None
