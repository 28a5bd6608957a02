"""Axes with equal eigenvalues: of all bases of their space, one by rule."""

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array, eigh

_TIE = 1e-6  # entries this close to the largest count as equal; the lowest index wins
_NEAR = 1e-9  # of the largest eigenvalue: closer ones are one


def settled(
    values: Array, right: Array, groups: Sequence[Sequence[int]], square: Array
) -> Array:
    """Return the vectors (J, k), those of equal eigenvalues replaced by a basis by rule.

    The space of a group has the projector P. The column Pe_j of largest norm is the first
    axis, and so on in what is left; so the same table gives the same axes, in whatever order
    its rows come, also where the group reaches beyond the axes asked for.

    Parameters
    ----------
    values, right : arrays of shape (k,) and (J, k)
        Leading pairs of AᵀA.
    groups : sequence of sequences of int
        Axes that cannot be told apart; k stands for one beyond.
    square : array of shape (J, J)
        AᵀA.
    """
    if not groups:
        return right
    every, vectors = eigh(square)
    found = right.copy()
    for group in groups:
        inside = [axis for axis in group if axis < len(values)]
        near = np.abs(every[:, None] - values[inside]) <= _NEAR * every[0]
        basis = vectors[:, near.any(axis=1)]
        if basis.shape[1] < len(inside):
            continue  # closer than the certificate can tell, and yet not equal
        for axis in inside:
            lengths = np.sum(basis**2, axis=1)
            first = int(np.argmax(lengths >= (1 - _TIE) * lengths.max()))
            along = basis[first] / np.sqrt(lengths[first])
            found[:, axis] = basis @ along
            basis = basis - np.outer(basis @ along, along)
    return found
