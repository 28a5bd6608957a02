"""How far neighbours stay neighbours: trustworthiness and continuity of an embedding."""

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array, binary_exponent
from mercer.errors import InputError


def neighbour_ranks(X: Array, Z: Array, neighbours: Sequence[int]) -> tuple[Array, Array]:
    """Return trustworthiness and continuity (m,) for several numbers of neighbours.

    With r(i, j) the rank of j among the neighbours of i in X, trustworthiness is
    1 - 2/(nk(2n - 3k - 1))·ΣΣ(r(i, j) - k) over the k neighbours j of i in Z that are not among
    its k in X: rows that the map brings together wrongly [Venna2001]_. Continuity changes X and
    Z: rows that it tears apart. Both are 1 where all neighbours stay.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows as they are.
    Z : ndarray of shape (n, k)
        Rows on the map.
    neighbours : sequence of int
        Each below n/2.
    """
    X, Z = np.asarray(X, np.float64), np.asarray(Z, np.float64)
    n = len(X)
    if len(Z) != n or not neighbours or max(neighbours) >= n / 2 or min(neighbours) < 1:
        raise InputError(
            "neighbours are compared for numbers from 1 to half of the rows",
            got=f"neighbours={list(neighbours)}, {n} and {len(Z)} rows",
            fix="pass fewer neighbours, or more rows",
        )
    before, after = _ranks(X), _ranks(Z)
    pairs = [(_kept(before, after, k), _kept(after, before, k)) for k in neighbours]
    return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def _ranks(points: Array) -> Array:
    """Return the rank of every row among the neighbours of every row (n, n); 0 for itself."""
    far = binary_exponent(float(np.max(np.abs(points), initial=0.0)))
    points = np.ldexp(points, -far)  # ranks have no unit, and squares must stay in range
    points = points - points.mean(axis=0)
    squares = np.sum(points**2, axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, -np.inf)
    order = np.argsort(distances, axis=1, kind="stable")
    ranks = np.empty(order.shape, np.int32)
    np.put_along_axis(ranks, order, np.arange(len(points), dtype=np.int32)[None, :], axis=1)
    return ranks


def _kept(true: Array, shown: Array, k: int) -> float:
    """Return 1 less the ranks by which neighbours in `shown` are none in `true`."""
    n = len(true)
    near = (shown >= 1) & (shown <= k)
    beyond = np.maximum(true[near] - k, 0)
    return float(1 - 2 / (n * k * (2 * n - 3 * k - 1)) * np.sum(beyond, dtype=np.float64))
