"""Parallel analysis: eigenvalues beside those of tables with the structure taken out."""

import numpy as np

from mercer.arrays import Array, eigvalsh, quiet_blas
from mercer.selection._variances import Variances

_DRAWS = 20
_LEVEL = 0.95
_STEPS = 25  # of Lanczos, for the largest singular value of a table of signs


def gaussian_null(
    known: Variances, columns: Array, *, draws: int = _DRAWS, seed: int = 0
) -> int | None:
    """Return how many eigenvalues exceed those of normal noise, by rank [Horn1965]_.

    The i-th is compared with the 95 % quantile of the i-th of `draws` tables of n rows whose
    columns are independent and have the variances observed.

    Parameters
    ----------
    known : Variances
        Eigenvalues of the covariance matrix.
    columns : ndarray of shape (p,)
        Variances of the columns, as they were analysed.
    draws : int
        Tables that are drawn. Each costs an eigenvalue problem of order min(n, p); none is
        ever drawn whole when n > p.
    seed : int
        Of the draws.
    """
    rng, n, roots = np.random.default_rng(seed), known.rows, np.sqrt(columns)
    values = [_noise(rng, n, roots)[: known.rank] / (n - 1) for _ in range(draws)]
    return known.leading(np.quantile(values, _LEVEL, axis=0))


def noise_quantiles(
    rows: float, columns: Array, *, draws: int = 60, seed: int = 0, tail: float = 0.05
) -> Array:
    """Return the band (2, r) that holds 1 - 2·tail of the eigenvalues of noise, by rank.

    The noise is that of `gaussian_null`; r = min(n - 1, p).

    Parameters
    ----------
    rows : float
        Number of rows n, above 2.
    columns : ndarray of shape (p,)
        Variances of the columns, as they were analysed.
    draws, seed : int
        Tables that are drawn, and the seed.
    tail : float
        Share of the draws below the band, and above it.
    """
    rng, roots = np.random.default_rng(seed), np.sqrt(columns)
    rank = int(min(rows - 1, len(roots)))
    values = [_noise(rng, rows, roots)[:rank] / (rows - 1) for _ in range(draws)]
    return np.asarray(np.quantile(values, [tail, 1 - tail], axis=0))


def _noise(rng: np.random.Generator, rows: float, roots: Array) -> Array:
    """Return the eigenvalues of the scatter of noise, descending."""
    p = len(roots)
    if rows - 1 < p:
        table = rng.standard_normal((int(rows) - 1, p)) * roots
        return eigvalsh(table @ table.T)
    # Bartlett: the scatter of n rows is LLᵀ, L triangular with χ on its diagonal.
    triangle = np.tril(rng.standard_normal((p, p)), -1)
    triangle[np.diag_indices(p)] = np.sqrt(rng.chisquare(rows - 1 - np.arange(p)))
    table = triangle * roots[:, None]
    return eigvalsh(table @ table.T)


def permutation_null(table: Array, *, draws: int = _DRAWS, seed: int = 0) -> int:
    """Return how many eigenvalues exceed those of permuted columns, by rank [Buja1992]_.

    Every column is shuffled on its own, which keeps its values and takes all correlation
    out. The i-th eigenvalue is compared with the 95 % quantile of the i-th.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Centred, and scaled where the fit scales.
    draws, seed : int
        Tables that are shuffled, and the seed.
    """
    rng, rank = np.random.default_rng(seed), min(table.shape[0] - 1, table.shape[1])
    found = _squares(table)[:rank]
    nulls = [_squares(rng.permuted(table, axis=0))[:rank] for _ in range(draws)]
    failed = np.flatnonzero(found <= np.quantile(nulls, _LEVEL, axis=0))
    return int(failed[0]) if failed.size else rank


def _squares(table: Array) -> Array:
    wide = table.shape[0] < table.shape[1]
    return eigvalsh(table @ table.T if wide else table.T @ table)


def sign_flip(
    table: Array, *, draws: int = _DRAWS, seed: int = 0, most: int | None = None
) -> int:
    """Return how many components stand out from the same table with random signs.

    The largest singular value is compared with those of `draws` tables R∘X̃, R = ±1
    [Hong2020]_: sizes stay cell by cell, so that noise may differ by row and column.
    A component that stands out is taken out before the next is judged; a large one then
    does not hide small ones.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Centred, and scaled where the fit scales.
    draws, seed : int
        Tables of signs per component, and the seed.
    most : int or None
        Components after which to stop; None is half the smaller side.
    """
    rng, rest = np.random.default_rng(seed), np.array(table, np.float64)
    scale = float(np.linalg.norm(rest))
    most = max(min(rest.shape) // 2, 1) if most is None else most
    with quiet_blas(min(rest.shape)):  # thousands of small products
        for k in range(most):
            value, left, right = _largest(rest, rng)
            if value <= 1e-10 * scale:
                return k
            signed = [
                _largest(rest * rng.choice(np.array([-1.0, 1.0]), rest.shape), rng)[0]
                for _ in range(draws)
            ]
            if value <= np.quantile(signed, _LEVEL) * _fewer(rest.shape, k):
                return k
            rest -= value * np.outer(left, right)
    return most


def _fewer(shape: tuple[int, int], k: int) -> float:
    """Return what makes up for k components that were taken out of the table of signs.

    White noise without its k largest components is a table of n - k by p - k, whose norm is
    near √(n-k) + √(p-k); signs spread what is left of its squares over n by p cells.
    """
    n, p = shape[0] - 1, shape[1]
    if k >= min(n, p):
        return 1.0
    whole = (np.sqrt(n) + np.sqrt(p)) * np.sqrt((n - k) * (p - k) / (n * p))
    return float((np.sqrt(n - k) + np.sqrt(p - k)) / whole)


def _largest(table: Array, rng: np.random.Generator) -> tuple[float, Array, Array]:
    """Return the largest singular value and its vectors: Lanczos, all vectors kept apart."""
    steps = min(_STEPS, *table.shape)
    basis = np.zeros((table.shape[1], steps))
    image = np.zeros((table.shape[0], steps))
    new = rng.standard_normal(table.shape[1])
    for i in range(steps):
        for _ in range(2):  # twice is enough for orthogonality to rounding
            new = new - basis[:, :i] @ (basis[:, :i].T @ new)
        size = float(np.linalg.norm(new))
        if size <= 1e-300:
            break
        basis[:, i] = new / size
        image[:, i] = table @ basis[:, i]
        new = table.T @ image[:, i]
    left, values, right = np.linalg.svd(image, full_matrices=False)
    return float(values[0]), left[:, 0], basis @ right[0]
