"""Landmarks of a kernel matrix that is given: rows are known by their numbers alone."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import KernelFound, Task
from mercer.estimators.kernel._landmark_model import LandmarkModel, described
from mercer.estimators.kernel._row_samples import spread_evenly
from mercer.kernels import Function, evidence
from mercer.solvers import Spectrum

_LOOKED_AT = 500  # rows whose entries are looked at for negative eigenvalues
_TOLERATED = 1e-3  # negative share up to which they are taken for noise


def on_landmarks(task: Task) -> tuple[Spectrum, KernelFound]:
    """Return the leading pairs of a given K (n, n) on landmarks, certified by what they leave.

    K's columns at the m landmarks and its diagonal are read, no others: K_S = K[:, S],
    F = K_S·L⁻ᵀ with K_SS = LLᵀ, and z(x) = βᵀk_S(x) - c₀. B (n, k) is β at the landmarks and
    zero elsewhere, so that new rows k(x, X) are projected as ever. λ_i ∈ [ν_i, ν_i + t] holds
    for a matrix without negative eigenvalues; entries of 500 rows are looked at for them.
    """
    _refuse_negative(task)
    entries = Function(_Entries(task.rows))
    numbers = np.arange(task.n, dtype=np.float64)[:, None]
    choice = task.landmarks
    if choice is not None and not isinstance(choice.sampler, str):
        choice = dataclasses.replace(choice, rows=numbers[_listed(choice.sampler, task.n)])
    by_number = dataclasses.replace(task, kernel=entries, rows=numbers, landmarks=choice)
    model = LandmarkModel.of(by_number)
    spectrum, found = described(model, task.wanted, task.tol)
    return spectrum, dataclasses.replace(found, columns=_numbers(model.landmarks.rows))


def _listed(given: Array, n: int) -> Array:
    """Return numbers of rows that were listed; those that are not there are refused."""
    if given.min() < 0 or given.max() >= n:
        raise InputError(
            "a landmark must be one of the rows",
            got=f"row numbers from {given.min()} to {given.max()}, {n} rows",
            fix="give numbers from 0 to one less than the number of rows",
        )
    return given


def dual_of(model: LandmarkModel, n: int, k: int) -> tuple[Array, Array]:
    """Return B (n, k), zero off the landmarks, and c₀ (k,) with z = KB - c₀."""
    rows, beta, level = model.dual(k)
    dual = np.zeros((n, k))
    dual[_numbers(rows)] = beta
    return dual, level


class _Entries:
    """Entries of a matrix by the numbers of rows and columns, (r, 1) and (c, 1)."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __call__(self, x: Array, y: Array) -> Array:
        rows, columns = _numbers(x), _numbers(y)
        if is_sparse(self.matrix):
            picked = self.matrix[rows][:, columns]
        else:
            picked = self.matrix[rows[:, None], columns]
        return np.asarray(picked.toarray() if is_sparse(picked) else picked, np.float64)


def _numbers(rows: Array) -> Array:
    """Return the numbers (r,) that stand for rows."""
    return np.asarray(rows)[:, 0].astype(np.int64)


def _refuse_negative(task: Task) -> None:
    """Refuse a matrix whose negative eigenvalues are more than noise."""
    ends = np.asarray(task.rows.diagonal(), np.float64)
    if not np.any(ends > 0):
        raise InputError(
            "no row of a kernel matrix can be a landmark where k(x, x) is nowhere above 0",
            got=f"k(x, x) from {ends.min():.3g} to {ends.max():.3g}",
            fix="centre rows and columns of the matrix first, or leave `landmarks` out",
        )
    at = spread_evenly(task.n, task.weights, _LOOKED_AT)
    part = task.rows[at][:, at]
    found = evidence(task.kernel, part.toarray() if is_sparse(part) else part)
    if found.negative_share > _TOLERATED:
        raise InputError(
            "landmarks need a kernel matrix without negative eigenvalues",
            got=f"a negative share of {found.negative_share:.2g} among {found.rows:,} rows",
            fix="leave `landmarks` out and say what to do about them: indefinite",
        )
