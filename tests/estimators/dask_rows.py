"""Rows in the layouts that Dask knows, and landmark sums by another way."""

import dask.array as da
import numpy as np
import pandas as pd
import scipy.sparse

NAMES = list("abcdef")


def table(n=2000, seed=0, dtype=np.float64):
    """Return rows (n, 4) in four clusters, far from the origin."""
    rng = np.random.default_rng([seed, n])
    centres = 3 * rng.standard_normal((4, 4))
    found = centres[rng.integers(0, 4, n)] + rng.standard_normal((n, 4)) + 100
    return (found * [1, 0.5, 2, 1]).astype(dtype)


def frame(X, parts=5):
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame(X, columns=NAMES[: X.shape[1]]), npartitions=parts)


def unknown(X, rows=None):
    rows = rows or len(X) // 3 + 17
    d = da.from_array(X, chunks=(rows, 2))
    return d[da.from_array(np.ones(len(X), bool), chunks=rows)]


def _uneven(X):
    n, p = X.shape
    return da.from_array(X, chunks=((1, 0, n // 2, 2, n - n // 2 - 3), (1, p - 1)))


def _hollow(X):
    d = da.from_array(X, chunks=(len(X) // 3 + 34, X.shape[1]))
    empty = d[da.from_array(np.zeros(len(X), bool), chunks=d.chunks[0])]
    return da.concatenate([empty, unknown(X), empty])


def _sparse(X):
    d = da.from_array(X, chunks=(len(X) // 3 + 34, X.shape[1]))
    return d.map_blocks(scipy.sparse.csr_array, meta=scipy.sparse.csr_array((0, 0)))


LAYOUTS = {
    "one chunk": lambda X: da.from_array(X, chunks=-1),
    "rows": lambda X: da.from_array(X, chunks=(len(X) // 5 + 10, X.shape[1])),
    "rows and columns": lambda X: da.from_array(X, chunks=(450, 3)),
    "columns": lambda X: da.from_array(X, chunks=(len(X), 1)),
    "uneven": _uneven,
    "unknown sizes": unknown,
    "empty parts": _hollow,
    "frame": frame,
    "sparse": _sparse,
}


def by_hand(kernel, X, marks, w=None):
    """Return ν and t = Σw·r of X on given landmarks: dense Nyström, no streaming form."""
    w = np.ones(len(X)) if w is None else w
    lower = np.linalg.cholesky(kernel(marks) + 0.0)
    f = np.linalg.solve(lower, kernel(marks, X)).T
    residual = np.maximum(kernel.diag(X) - np.sum(f**2, axis=1), 0)
    about = (f - w @ f / w.sum()) * np.sqrt(w)[:, None]
    return np.linalg.svd(about, compute_uv=False) ** 2, float(w @ residual)
