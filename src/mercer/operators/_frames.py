"""Tiles of a positive kernel against a few rows, and the triangle that whitens them.

A kernel that is positive on differences only (cpd) becomes
k̃(x, y) = k(x, y) - k(x, o) - k(o, y) + k(o, o) with a row o as origin: it is positive
definite and has the same centred matrix HKH. For a pd kernel k̃ = k.
"""

import dataclasses
from typing import Any, final

import numpy as np
import scipy.linalg.blas as blas

from mercer.arrays import (
    Array,
    Given,
    Node,
    Side,
    Workspace,
    as_rows,
    diagonal,
    prepare,
    tile,
)
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import Flag, Kernel

# Share of k̃(x, x) under which no pivot is taken. Rounding ε of the kernel grows to ε·‖β‖² in
# a residual, β = K_SS⁻¹k_S(x), and ‖β‖² may reach 1/FLOOR: a row far from landmarks that are
# nearly dependent is extrapolated to. A lower floor would make residuals noise.
FLOOR = {8: 1e-10, 4: 8e-6}
# Share of k̃(x, x) below zero that no rounding explains.
_IMPOSSIBLE = {8: 1e-2, 4: 0.3}
_SAMPLE = 256  # rows among which the origin is found
_PANEL = 64  # rows of a triangle that are solved at once


@final
@dataclasses.dataclass(frozen=True)
class Frame:
    """Rows y_1 … y_m made ready, so that tiles k̃(y_j, x_i) of any x can be made.

    Parameters
    ----------
    program : Node
        The kernel.
    side : Side
        The rows y.
    origin : Side or None
        The row o.
    level : ndarray of shape (m,) or None
        k(o, y_j) - k(o, o).
    peak : float
        k(o, o), and 0 without an origin.
    dtype : dtype
        The precision of the tiles.
    """

    program: Node
    side: Side
    origin: Side | None
    level: Array | None
    peak: float
    dtype: Any

    @classmethod
    def of(
        cls,
        program: Node,
        rows: Any,
        origin: Any = None,
        dtype: Any = np.float64,
        like: Side | None = None,
    ) -> "Frame":
        """Return the frame of rows (m, p); `like` lends its unit and its middle."""
        side = prepare(program, in_precision(rows, dtype), like)
        if origin is None:
            return cls(program, side, None, None, 0.0, dtype)
        at = prepare(program, in_precision(origin, dtype), side if like is None else like)
        peak = float(diagonal(program, at)[0])
        level = tile(program, at, side, slice(0, 1), slice(0, side.n))[0] - peak
        return cls(program, side, at, level.astype(dtype), peak, dtype)

    def ready(self, rows: Any) -> Side:
        """Return the side of new rows (r, p)."""
        return prepare(self.program, in_precision(rows, self.dtype), self.side)

    def tile(self, x: Side, out: Array, space: Workspace) -> Array:
        """Return k̃(y_j, x_i) as (m, r), written into `out`: a column for each new row."""
        every = slice(0, x.n)
        t = tile(self.program, self.side, x, slice(0, self.side.n), every, out, space)
        if self.origin is not None and self.level is not None:
            t -= tile(self.program, self.origin, x, slice(0, 1), every)
            t -= self.level[:, None]
        return t

    def diagonal(self, x: Side) -> tuple[Array, Array]:
        """Return k̃(x, x) and the size of the numbers it is made of, (r,) in float64."""
        k = diagonal(self.program, x)
        if self.origin is None or self.level is None:
            return k, np.abs(k)
        to = tile(self.program, x, self.origin, slice(0, x.n), slice(0, 1))[:, 0]
        to = to.astype(np.float64)
        # k(x, y) and k(o, y) cancel where x is near o, however far y is.
        wide = abs(self.peak) + float(np.max(np.abs(self.level), initial=0.0))
        return k - 2 * to + self.peak, np.abs(k) + 2 * np.abs(to) + wide


def in_precision(rows: Any, dtype: Any) -> Any:
    """Return rows of numbers as `dtype`; nothing is copied that has it."""
    rows = as_rows(rows)
    return rows if rows.dtype == dtype else rows.astype(dtype)


def program_of(kernel: Kernel) -> Node:
    """Return the tile program of a kernel that may have landmarks; refuse the others."""
    program = kernel.program()
    if _given(program):
        raise NotSupportedError(
            "landmarks need rows and a kernel of two rows",
            got=f"{kernel!r}, whose values are given as a matrix",
            fix="pass the rows and the kernel, or use the whole matrix",
        )
    if kernel.flag is Flag.INDEFINITE:
        raise InputError(
            "landmarks need a positive definite kernel, or one that is so on differences",
            got=f"{kernel!r}, which is indefinite",
            fix="use the whole matrix, or a kernel that is positive definite",
        )
    return program


def _given(program: Node) -> bool:
    parts = [getattr(program, field.name) for field in dataclasses.fields(program)]
    inner = [part for part in parts if isinstance(part, Node)]
    return isinstance(program, Given) or any(_given(part) for part in inner)


def middle_row(kernel: Kernel, rows: Any) -> Any:
    """Return a row o (1, p) in the middle of the others for a cpd kernel, None for a pd one.

    Of at most 256 rows the one with the least mean ‖φ(x) - φ(y)‖², so that k̃(x, x) is small.
    """
    if kernel.flag is not Flag.CPD:
        return None
    rows = as_rows(rows)
    sample = rows[spread(int(rows.shape[0]), _SAMPLE)]
    side = prepare(kernel.program(), in_precision(sample, np.float64))
    every = slice(0, side.n)
    k = tile(kernel.program(), side, side, every, every)
    best = int(np.argmin(np.diag(k) - 2 * k.mean(axis=1)))
    return sample[best : best + 1].copy()


def spread(n: int, most: int) -> Array:
    """Return at most `most` of the numbers 0 … n - 1, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def whiten(triangle: Array, t: Array) -> Array:
    """Return L⁻¹T in place, T (m, r) in the order of C: f(x) = L⁻¹k_S(x) column by column.

    r·m² flops, by panels: BLAS multiplies more than twice as fast as it solves.

    Parameters
    ----------
    triangle : ndarray of shape (m, m)
        L, lower, of the type of T.
    t : ndarray of shape (m, r)
        Contiguous; it is written over.
    """
    wide = t.dtype == np.float64
    solve, multiply = (blas.dtrsm, blas.dgemm) if wide else (blas.strsm, blas.sgemm)
    for start in range(0, t.shape[0] if t.size else 0, _PANEL):
        part = slice(start, min(start + _PANEL, t.shape[0]))
        panel = t[part].T
        if start:
            known = np.asfortranarray(triangle[part, :start])
            multiply(-1.0, t[:start].T, known, 1.0, panel, trans_b=1, overwrite_c=1)
        low = np.asfortranarray(triangle[part, part])
        solve(1.0, low, panel, side=1, lower=1, trans_a=1, overwrite_b=1)
    return t


def residuals(f: Array, k: Array, scale: Array, dtype: Any, kernel: Kernel) -> Array:
    """Return r = max(0, k̃(x, x) - ‖f(x)‖²) in float64 (r,), f (m, r)."""
    r = k - np.einsum("ij,ij->j", f, f, dtype=np.float64)
    refuse_negative(r, scale, dtype, kernel)
    return np.maximum(r, 0.0)


def refuse_negative(r: Array, scale: Array, dtype: Any, kernel: Kernel) -> None:
    """Refuse a residual that is below zero by more than rounding: k is then not positive.

    Of a kernel that is known to be positive it can only be rounding.
    """
    impossible = r < -_IMPOSSIBLE[np.dtype(dtype).itemsize] * scale
    impossible &= not kernel.flag.centred
    if np.any(impossible):
        row = int(np.argmax(impossible))
        raise InputError(
            "the kernel is not positive definite: a squared distance is negative",
            got=f"‖φ(x) - Pφ(x)‖² = {r[row]:.6g}, k(x, x) of size {scale[row]:.3g}",
            fix="use the whole matrix with a rule for negative eigenvalues, or another kernel",
        )
    if not np.all(np.isfinite(r)):
        raise InputError(
            "kernel values must be finite numbers",
            got=f"a residual of {r[int(np.argmin(np.isfinite(r)))]}",
            fix="remove missing and infinite cells, or divide the data by their largest value",
        )
