"""CompletionSums: what one pass over incomplete rows adds up to."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from mercer.arrays import Array, Lanes, can_compile, column_squares, is_sparse
from mercer.operators.completion._compiled_expectation import CompiledExpectation
from mercer.operators.completion._completion_model import Completion, lanes_of, tiles_of
from mercer.operators.completion._expectation import Expectation, Expected, log_determinants

_ARRAYS = ("first", "squares", "unknown", "second")  # that a pass adds up
_LANE_COLUMNS = 1000  # above this a lane's own (p, p) sums cost more than they save


@final
class CompletionSums:
    """Count, sum and scatter of completed rows ŷ about the mean of the completion.

    `first` = Σwŷ and `second` = Σwŷŷᵀ, or Σwŷ(ŷᵀQ) for a basis Q (p, b) where p×p numbers
    are too many. With `expected`, Σw m̄m̄ᵀ∘(s²I + W·s²(s²I + W_oᵀW_o)⁻¹·Wᵀ) is added, m̄ the
    missing cells of a row: then `second` is the expected scatter, not that of the expected
    rows, and `likelihood` the log-density of the observed cells.

    Parameters
    ----------
    completion : Completion
        What rows are completed with, made ready once.
    basis : ndarray of shape (p, b) or None
        Q.
    expected : bool
        Whether the conditional covariance of the missing cells is added.
    held : ndarray of bool of shape (p,) or None
        Columns without variance, for which it is not.
    dtype : dtype
        Precision of the products of a tile; sums are float64.
    compiled : bool
        Whether dense rows are completed in compiled loops, where these hold the completion.
    """

    def __init__(
        self,
        completion: Completion,
        basis: Array | None = None,
        *,
        expected: bool = False,
        held: Array | None = None,
        dtype: Any = np.float64,
        compiled: bool = False,
    ) -> None:
        self._held, self.compiled = held, compiled
        self.completion, self.basis, self.expected = completion, basis, expected
        self.dtype = np.dtype(dtype)
        self.offset = completion.offset  # of the mean about which rows are summed
        self._fast = None
        if compiled and not expected and can_compile():
            self._fast = CompiledExpectation.of(completion)
        p = completion.axes.shape[0]
        self._space = np.empty((0, p), self.dtype)
        self.rows, self.total, self.likelihood = 0, 0.0, 0.0
        self.first, self.squares = np.zeros(p), np.zeros(p)
        self.unknown = np.zeros(p)
        self.second = np.zeros((p, p if basis is None else basis.shape[1]))

    def add(self, block: Any, weights: Array | None = None) -> Self:
        """Take in rows (r, p): dense, or sparse with NaN among the stored cells."""
        cut, lanes = tiles_of(block), lanes_of(block)
        if self.basis is None and block.shape[1] > _LANE_COLUMNS:
            lanes = Lanes(1)
        sums = [self._blank() for _ in range(lanes.count)]

        def work(lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                sums[lane]._take(block[part], None if weights is None else weights[part])

        lanes.over(cut, work)
        for own in sums:
            self.merge(own)
        return self

    def merge(self, other: "CompletionSums") -> Self:
        """Take in the sums of other rows under the same completion."""
        self.rows += other.rows
        self.total += other.total
        self.likelihood += other.likelihood
        self.first += other.first
        self.squares += other.squares
        self.unknown += other.unknown
        self.second += other.second
        return self

    def keep(self) -> dict[str, Array]:
        """See `Sums.keep`."""
        return {
            "seen": np.array([float(self.rows), self.total, self.likelihood]),
            **{name: getattr(self, name) for name in _ARRAYS},
        }

    def restore(self, kept: dict[str, Array], *, ended: bool = False) -> bool:
        """See `Sums.restore`."""
        rows, self.total, self.likelihood = kept["seen"].tolist()
        self.rows = int(rows)
        vars(self).update({name: kept[name].copy() for name in _ARRAYS})
        return True

    def _blank(self) -> "CompletionSums":
        made = object.__new__(CompletionSums)
        made.__dict__.update(vars(self))
        made.__dict__.pop("_ready", None)  # a thread needs space of its own
        made._space = self._space[:0]
        made.rows, made.total, made.likelihood = 0, 0.0, 0.0
        made.first, made.squares = np.zeros_like(self.first), np.zeros_like(self.squares)
        made.unknown = np.zeros_like(self.unknown)
        made.second = np.zeros_like(self.second)
        return made

    @cached_property
    def _ready(self) -> Expectation:
        return Expectation(self.completion, self.dtype)

    def _room(self, rows: int) -> Array:
        """Return space for so many rows, which is used again."""
        if len(self._space) < rows:
            self._space = np.empty((rows, len(self.first)), self.dtype)
        return self._space[:rows]

    @np.errstate(over="ignore", invalid="ignore")  # whoever maximises looks at the sums
    def _take(self, block: Any, weights: Array | None) -> None:
        self.rows += block.shape[0]
        if weights is not None and not np.all(weights):
            held = weights > 0  # 0 times what has overflown would be no number
            block, weights = block[held], weights[held]
        if self._fast is not None and not is_sparse(block):
            rows = self._room(len(block))
            self._fast.rows(block, rows)
            self._take_rows(rows, weights)
            return
        found = self._ready.of(block, every=self.expected)
        if self.expected:
            self._take_likelihood(found, weights)
        root = self._take_rows(found.rows, weights)
        if self.expected and found.count:
            self._take_spread(found, root)

    def _take_rows(self, rows: Array, weights: Array | None) -> Array | None:
        """Add completed rows, which are multiplied by the roots of their weights: returned."""
        self.total += float(len(rows) if weights is None else np.sum(weights))
        root = None if weights is None else np.sqrt(weights).astype(rows.dtype)
        if root is not None:
            rows *= root[:, None]
        self.first += (np.ones(len(rows), rows.dtype) if root is None else root) @ rows
        self._take_products(rows)
        return root

    def _take_products(self, rows: Array) -> None:
        if self.basis is None:
            self.second += rows.T @ rows  # NumPy does half the work: both factors are one
        else:
            self.second += rows.T @ (rows @ self.basis.astype(rows.dtype, copy=False))
            self.squares += column_squares(rows)

    def _take_spread(self, found: Expected, root: Array | None) -> None:
        """Add what is uncertain about the missing cells, a column of the factors at a time."""
        ready, at = self._ready, found.at
        missing = found.missing[at].astype(ready.dtype)
        if root is not None:
            missing *= root[at][:, None]
        if self._held is not None:
            missing[:, self._held] = 0.0
        unknown = np.einsum("ij,ij->j", missing, missing)
        if ready.width == 0:
            self.unknown += unknown
            return
        self._take_noise(ready.noise * unknown)
        roots = found.roots * math.sqrt(ready.ridge)
        for column in range(ready.width):
            self._take_products((roots[:, column].T @ ready.loadings.T) * missing)

    def _take_noise(self, noise: Array) -> None:
        """Add a diagonal (p,) to the scatter."""
        if self.basis is None:
            self.second.flat[:: len(noise) + 1] += noise
        else:
            self.second += noise[:, None] * self.basis
            self.squares += noise

    def spread_alone(self) -> None:
        """Give missing cells the variance of their own columns, where no axis tells more.

        Without axes nothing is known of a cell but its column: what the steps begin from
        must not depend on the unit of the data.
        """
        known = self.total - self.unknown
        mean = self.first / np.maximum(known, 1e-300)
        squares = np.diagonal(self.second) if self.basis is None else self.squares
        variance = np.maximum(squares / np.maximum(known, 1e-300) - mean**2, 0.0)
        self._take_noise(self.unknown * variance)
        self.unknown = np.zeros_like(self.unknown)

    def _take_likelihood(self, found: Expected, weights: Array | None) -> None:
        """Add ln p(y_o) = -½(|o| ln 2π + ln det(W_oW_oᵀ + s²I) + y_oᵀ(W_oW_oᵀ + s²I)⁻¹y_o)."""
        ready, k = self._ready, self._ready.width
        seen = ~found.missing
        count = np.sum(seen, axis=1)
        size = np.sum(np.where(seen, found.rows, 0.0) ** 2, axis=1)
        volume = (count - k) * math.log(ready.ridge)
        if k:
            volume = volume + log_determinants(found.triangles)
            size = size - np.sum(found.right * found.inner, axis=0)
        each = -0.5 * (count * math.log(2 * math.pi) + volume + size / ready.ridge)
        self.likelihood += float(np.sum(each) if weights is None else each @ weights)
