"""Landmark Isomap: the axes of few points, all others placed by their paths to these."""

import dataclasses

import numpy as np

from mercer.arrays import Array
from mercer.estimators._distance_kernel import Asked, Placing, halved_squares, placed
from mercer.estimators._isomap_paths import tiles_of
from mercer.estimators._kernel_primal import primal
from mercer.estimators._kernel_rows import FIRST_GUESS
from mercer.estimators._kernel_task import KernelFound, Task
from mercer.kernels import Linear
from mercer.planning import Path
from mercer.solvers import Spectrum

_PER_AXIS, _BESIDE = 4, 8  # axes of the landmarks: so many per axis wanted, and some beside
_LEAST = 1e-3  # share of λ₁ below which an axis of the landmarks tells more noise than place


def by_triangulation(
    paths: Array, places: Array, path: Path, asked: Asked
) -> tuple[Spectrum, KernelFound, Placing]:
    """Return the axes of all rows from shortest paths (m, n) of m landmarks.

    The landmarks' own kernel gives q axes, some more than are wanted; distances to the
    landmarks place all rows on them [deSilva2004]_, and PCA of these places turns the axes
    to where all rows vary most. So the eigenvalues are near those of all pairs, and a choice
    of landmarks that covers the rows unevenly costs little.

    Parameters
    ----------
    paths : ndarray of shape (m, n)
        Shortest paths from the landmarks to all rows.
    places : ndarray of shape (m,)
        Which rows are landmarks.
    path : Path
        Of the matrix of the landmarks.
    asked : Asked
        What is wanted in the end.
    """
    m = len(places)
    k = FIRST_GUESS if isinstance(asked.wanted, float) else asked.wanted
    more = dataclasses.replace(asked, wanted=min(m, max(k, _PER_AXIS * k + _BESIDE)))
    spectrum, marks, placing = placed(halved_squares(paths[:, places]), path, more)
    values = np.maximum(spectrum.values[: placing.dual.shape[1]], 0.0)
    clear = values > _LEAST * values[0]
    placing = dataclasses.replace(placing, dual=placing.dual * clear)
    spectrum, found = primal(Task(Linear(), triangulated(placing, paths), None, **vars(asked)))
    # What is beyond the axes of the landmarks, and below zero, is theirs to tell.
    total = found.trace * marks.trace / float(np.sum(values[clear]))
    signs = dataclasses.replace(marks.signs, flipped=None, image=None)
    found = dataclasses.replace(found, trace=total, signs=signs)
    return spectrum, found, _turned(placing, found, len(spectrum.certificate.lower))


def triangulated(placing: Placing, paths: Array) -> Array:
    """Return the coordinates (n, q) of all rows from their distances (m, n) to landmarks."""
    m, n = paths.shape
    found = np.empty((n, placing.dual.shape[1]))
    tiles = tiles_of(n, m)
    for number in range(len(tiles)):
        part = tiles[number]
        found[part] = placing.of(np.square(paths[:, part].T))
    return found


def _turned(placing: Placing, found: KernelFound, k: int) -> Placing:
    """Return the placing on the axes of all rows: (f(x) - mean)·V in one product."""
    v = np.zeros((placing.dual.shape[1], k))
    turn = np.asarray(found.engine.components_, np.float64).T
    v[:, : turn.shape[1]] = turn
    level = np.asarray(found.engine.mean_, np.float64) @ v
    return Placing(placing.dual @ v, placing.means, level)
