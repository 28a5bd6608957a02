"""How far kernel components depend on the rows: two halves, each fitted by itself."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.errors import MercerError
from mercer.report._parts import Section, Table
from mercer.report._words import listed

_ROWS = 2000  # that are looked at
_AXES = 6
_SAME = 0.9  # correlation of an axis with itself that a reader may rely on


def kernel_stability(model: Any, X: Any) -> Section | None:
    """Return the section on what two halves of the rows agree on, or None.

    Both halves are fitted with the kernel of the model. Rows of the other half get their
    coordinates from each; correlations of the two, and the share of an axis that lies in the
    first axes of the other fit, say how far axes depend on the sample.

    Parameters
    ----------
    model : KernelPCA
        Fitted.
    X : array or frame of shape (n, p)
        The rows of the fit.
    """
    k = min(int(model.n_components_), _AXES)
    try:
        found = _halves(model, X, k) if k else None
    except (MercerError, ValueError, TypeError, AttributeError, IndexError):
        return None
    if found is None:
        return None
    same, within, n = found
    sure = [f"kernel PC{a + 1}" for a in range(k) if same[a] >= _SAME]
    if len(sure) == k:
        words = "Two halves of the rows, each fitted by itself, agree on all of these axes."
    elif sure:
        words = f"Two halves of the rows, each fitted by itself, agree on {listed(sure)} only."
    else:
        words = "Two halves of the rows, each fitted by itself, agree on none of these axes."
    table = Table(
        "Two halves of the rows",
        ("axis", "same axis", "same space"),
        tuple((f"kernel PC{a + 1}", float(same[a]), float(within[a])) for a in range(k)),
        note=f"{n:,} rows, half and half (seed 0), the kernel as it is. Same axis: correlation "
        f"of the coordinates that both halves give to all of them. Same space: multiple "
        f"correlation with the first {k} axes of the other half; high where axes only turn "
        "among themselves.",
    )
    return Section("stability", "Stability", (words,), (table,))


def _halves(model: Any, X: Any, k: int) -> tuple[Array, Array, int] | None:
    """Return correlations of axes, multiple correlations (k,), and the number of rows."""
    n = int(X.shape[0])
    if n < 20:
        return None
    order = np.random.default_rng(0).permutation(n)[: min(n, _ROWS)]
    halves = np.sort(order[::2]), np.sort(order[1::2])
    both = np.sort(order)
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in halves:
            fresh = clone(model).set_params(n_components=k, kernel=model.kernel_)
            scores.append(np.asarray(fresh.fit(_at(X, rows)).transform(_at(X, both))))
    one, two = (z - z.mean(axis=0) for z in scores)
    size = np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0)
    same = np.abs(np.sum(one * two, axis=0)) / np.where(size > 0, size, 1.0)
    q, _ = np.linalg.qr(two)
    whole = np.linalg.norm(one, axis=0)
    within = np.linalg.norm(q.T @ one, axis=0) / np.where(whole > 0, whole, 1.0)
    return same, np.minimum(within, 1.0), len(both)


def _at(X: Any, rows: Array) -> Any:
    """Return some rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
