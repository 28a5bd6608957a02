"""What float32 tiles cost: measured on random rows that are made again in float64."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, as_numpy, prepare, thread_count, tile
from mercer.estimators._kernel_task import Task
from mercer.kernels import Precomputed
from mercer.operators import KernelMatrix, KernelTiles
from mercer.solvers import Outcome, Spectrum

_CHECKED = 128  # random rows of a float32 matrix that are made again in float64
_LARGEST = 32  # rows with the largest products, which are made again as well
_CHUNK = 1024  # training rows of one float64 tile among them


def charged(spectrum: Spectrum, op: KernelMatrix | KernelTiles, task: Task) -> Spectrum:
    """Return the pairs of a float32 matrix with the certificate of the exact one.

    With q_j the axes, bounds on ‖(k̂ - k)q_j‖ come from random rows: twice the largest
    difference there is charged to every row. What was not asked for is charged
    n·max|k̂_ij - k_ij|.
    """
    assert spectrum.image is not None
    right = as_numpy(spectrum.right)
    # k̂q = Pk̂q + r(rᵀk̂)q: the part along r was taken out of the image.
    product = spectrum.image + op.direction[:, None] * (op.sums.along @ right)[None, :]
    size = np.max(np.abs(product), axis=0)
    # Errors follow the entries: a few rows may hold most of both.
    large = np.argsort(np.max(np.abs(product) / np.where(size > 0, size, 1.0), axis=1))
    picked, exact, apart = _again(op, task, right, large[-_LARGEST:])
    wrong = np.max(np.abs(product[picked] - exact), axis=0)
    error = np.asarray(2 * np.sqrt(task.n) * wrong)
    certificate = dataclasses.replace(spectrum.certificate, tol=task.tol)
    certificate = certificate.widened(spectrum.values, error, task.n * apart)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    if not certificate.met and spectrum.outcome is Outcome.BUDGET:
        outcome = Outcome.BUDGET
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome)


class _Rows:
    """Rows of K whose entries are made in float64; a given matrix is as exact as it came."""

    def __init__(self, task: Task, picked: Array) -> None:
        self.given, self.rows = isinstance(task.kernel, Precomputed), task.rows
        self.few: Any = task.rows[picked]
        if not self.given:
            self.program = task.kernel.program()
            self.few = prepare(self.program, self.few.astype(np.float64))

    def of(self, part: slice) -> Array:
        """Return the columns `part` of these rows."""
        if self.given:
            return np.asarray(self.few[:, part], np.float64)
        some = prepare(self.program, self.rows[part].astype(np.float64), other=self.few)
        return tile(self.program, self.few, some, slice(0, self.few.n), slice(0, some.n))


def _again(
    op: KernelMatrix | KernelTiles, task: Task, q: Array, also: Array
) -> tuple[Array, Array, float]:
    """Return random rows (s,) and `also`, k·q there from float64 (s, k), and max|k̂ - k|."""
    n, root = task.n, None if task.weights is None else np.sqrt(task.weights)
    rng = np.random.default_rng([task.seed, 77])
    picked = np.union1d(rng.choice(n, min(n, _CHECKED), replace=False), also)
    rows, seen = _Rows(task, picked), op.rows_at(picked)
    # Lanes share the space of one chunk.
    tiles = Tiles(n, max(1, _CHUNK // (2 * thread_count())))
    lanes = Lanes(min(thread_count(), len(tiles)))
    product, apart = np.zeros((lanes.count, len(picked), q.shape[1])), np.zeros(lanes.count)

    def work(lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            part = tiles[number]
            exact = rows.of(part)
            if root is not None:
                exact *= root[picked, None] * root[part]
            product[lane] += exact @ q[part]
            exact -= seen.entries(part)
            apart[lane] = max(apart[lane], float(exact.max()), -float(exact.min()))

    lanes.run(work, len(tiles))
    return picked, product.sum(axis=0), float(apart.max())
