"""Tables of counts, correspondence analysis bound to one path, and its formulas written out."""

import forced
import numpy as np

from mercer import CorrespondenceAnalysis

PATHS = ("svd", "gram", "dual", "krylov")


def bound_to(path):
    """Return the class of a correspondence analysis that takes this path and no other."""
    return forced.bound_to(CorrespondenceAnalysis, path)


def suits(path, m, n, k):
    """Tell whether a path exists for this shape and number of axes."""
    if path == "dual":
        return m < n
    if path == "gram":
        return m >= n
    return path != "krylov" or (3 * k <= min(m, n) and min(m, n) > 20)


def with_factors(m, n, rank, seed, strength=0.3, level=30.0):
    """Return counts (m, n) with `rank` well separated factors in them."""
    rng = np.random.default_rng(seed)
    margins = np.outer(rng.uniform(0.5, 2, m), rng.uniform(0.5, 2, n))
    sizes = strength * 0.85 ** np.arange(rank)
    factors = (rng.standard_normal((m, rank)) * sizes) @ rng.standard_normal((rank, n))
    table = rng.poisson(level * margins * np.exp(factors))
    table[table.sum(axis=1) == 0, 0] = 1
    table[0, table.sum(axis=0) == 0] = 1
    return table


def written_out(table):
    """Return inertias, principal rows, standard columns, r and c of a table by LAPACK."""
    P = table / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    u, s, vt = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)))
    k = min(table.shape) - 1
    rows = u[:, :k] * s[:k] / np.sqrt(r)[:, None]
    columns = vt[:k].T / np.sqrt(c)[:, None]
    return s[:k] ** 2, rows, columns, r, c
