"""How many axes missing cells are filled with."""

from numbers import Integral
from typing import Any

_USUAL = 5  # axes where the number is not given


def completion_rank(wanted: Any, shape: tuple[int, int]) -> int:
    """Return the rank k of a completion, at most p - 1 and n - 2.

    Parameters
    ----------
    wanted : int, float, str or None
        `n_components` of the estimator; a whole number is taken at its word.
    shape : tuple of int
        Rows that count, and columns.
    """
    n, p = shape
    given = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    rank = int(wanted) if given else _USUAL
    return max(min(rank, p - 1, n - 2), 0)
