"""Share of variance: the fewest components that explain at least a given part."""

from typing import Any

import numpy as np


def share(values: np.ndarray[Any, Any], wanted: float) -> int:
    """Return the least k with λ₁ + … + λ_k ≥ wanted·Σλ.

    Parameters
    ----------
    values : ndarray of shape (r,)
        All eigenvalues, descending.
    wanted : float
        Share in (0, 1).

    Examples
    --------
    >>> share(np.array([6.0, 3.0, 1.0]), 0.85)
    2
    """
    kept = np.cumsum(np.maximum(values, 0.0))
    return int(np.searchsorted(kept, wanted * kept[-1] * (1 - 4e-16), side="left")) + 1
