"""Multiple correspondence analysis written down: dense matrices and LAPACK, nothing shared."""

import numpy as np


def indicator(X):
    """Return Z (n, J), the column of each level, and its name, levels in rising order."""
    columns, owner, names = [], [], []
    for q, cells in enumerate(np.asarray(X, dtype=object).T):
        for level in sorted({c for c in cells if c is not None}):
            columns.append([float(c == level) for c in cells])
            owner.append(q)
            names.append(f"x{q}={level}")
    return np.array(columns).T, np.array(owner), names


def analysis(Z, q, weights=None, kept=None):
    """Return λ, standard columns, rows f, and c of the CA of Z restricted to some columns.

    Masses are those of the whole table of q ones a row, which is specific MCA.
    """
    n = len(Z)
    r = np.full(n, 1 / n) if weights is None else weights / np.sum(weights)
    P = r[:, None] * Z / q
    c = P.sum(axis=0)
    kept = c > 0 if kept is None else kept
    S = (P - np.outer(r, c))[:, kept] / np.sqrt(np.outer(r, c[kept]))
    u, s, vt = np.linalg.svd(S, full_matrices=False)
    standard = vt.T / np.sqrt(c[kept])[:, None]
    rows = u * s / np.sqrt(r)[:, None]
    return s**2, standard, rows, c[kept]


def like(found, wanted, atol=1e-9):
    """Compare columns up to their signs."""
    assert found.shape == wanted.shape
    signs = np.sign(np.sum(found * wanted, axis=0))
    np.testing.assert_allclose(found * signs, wanted, rtol=0, atol=atol)


def tables(rng, n=120, sizes=(3, 4, 2, 5), strength=1.0):
    """Return categories (n, Q) of one hidden number and noise, as text."""
    hidden = rng.normal(size=n)
    columns = []
    for size in sizes:
        cells = strength * hidden + rng.normal(size=n)
        edges = np.quantile(cells, np.linspace(0, 1, size + 1)[1:-1])
        columns.append([f"l{c}" for c in np.digitize(cells, edges)])
    return np.array(columns, dtype=object).T
