"""Share of variance: the fewest components that explain at least a given part."""

from typing import Any

import numpy as np


def share(values: np.ndarray[Any, Any], wanted: float, total: float | None = None) -> int:
    """Return the least k with λ₁ + … + λ_k ≥ wanted·Σλ; r + 1 where r values are too few.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, descending: all of them, or the leading ones with `total`.
    wanted : float
        Share in (0, 1).
    total : float or None
        Sum of all eigenvalues; None is the sum of `values`.

    Examples
    --------
    >>> share(np.array([6.0, 3.0, 1.0]), 0.85)
    2
    """
    kept = np.cumsum(np.maximum(values, 0.0))
    whole = kept[-1] if total is None else total
    return int(np.searchsorted(kept, wanted * whole * (1 - 4e-16), side="left")) + 1
