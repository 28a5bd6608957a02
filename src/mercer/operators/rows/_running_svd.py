"""RunningSvd: leading directions of rows that come in parts, where p×p sums do not fit."""

from typing import Any, Self, final

import numpy as np

from mercer.arrays import EPS, Array, as_numpy, eigh
from mercer.errors import InputError
from mercer.operators._centring import Centring, Moments
from mercer.operators.rows._dense_rows import Rows
from mercer.operators.rows._running_moments import RunningMoments


def sketch_rank(components: int, columns: int) -> int:
    """Return m = max(4k, k + 30), at most p: directions kept where k are wanted."""
    return min(columns, max(4 * components, components + 30))


@final
class RunningSvd:
    """A factor B (< 2m, p) with BᵀB ≈ S, the centred scatter of all rows so far.

    A part with rows Y about its own mean is stacked below B, with one row more for the
    means, √(n_a·n_b/n)·δᵀ [Ross2008]_: the scatter of the stack is that of all rows. When
    it has 2m rows, its m leading directions stay, by the eigenpairs of the small matrix MMᵀ
    of the stack M: B ← UᵀM. What each step leaves out is psd, so that S = BᵀB + E, E ⪰ 0,
    with

        ‖E‖ ≤ Σ over the steps of the largest eigenvalue left out   (`lost`),
        tr E = tr S - ‖B‖²_F                                        (known exactly),

    and hence θ_i ≤ λ_i(S) ≤ θ_i + min(lost, tr E) for the eigenvalues θ of BᵀB. Mean and
    column variances are exact: they are kept beside B.

    Parameters
    ----------
    rank : int
        m, the directions that a step keeps.

    Attributes
    ----------
    sums : RunningMoments
        Count, mean and the diagonal of S.
    factor : ndarray of shape (< 2m, p)
        B, in units of 2^exponent.
    lost, error : float
        Bounds on ‖E‖ and on the rounding of BᵀB.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import rows_of
    >>> from mercer.sources import scan
    >>> X = np.outer(np.arange(6.0), [3.0, 4.0]) + 1e8
    >>> found = RunningSvd(1).add(rows_of(scan(X[:2]))).add(rows_of(scan(X[2:])))
    >>> bool(abs((found.factor**2).sum() - 437.5) < 1e-9)
    True
    """

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.sums = RunningMoments(whole=False)
        self.factor: Array = np.zeros((0, 0))
        self.lost = self.error = 0.0

    @property
    def rows(self) -> int:
        """Rows seen."""
        return self.sums.rows

    @property
    def total(self) -> float:
        """Σw."""
        return self.sums.total

    @property
    def origin(self) -> Array | None:
        """The origin (p,), in the units of the data; None before the first row."""
        return self.sums.origin

    @property
    def exponent(self) -> int:
        """Power of two taken out of the rows."""
        return self.sums.exponent

    @property
    def slack(self) -> float:
        """min(lost, tr E): how far an eigenvalue of S may lie above that of BᵀB."""
        left = float(np.sum(self.sums.scatter)) - float(np.sum(self.factor**2))
        return min(self.lost, max(left, 0.0) + self.sums.error + self.error)

    def add(self, rows: Rows) -> Self:
        """Take rows in: two readings of them, 8mp flops a row."""
        if rows.total == 0:
            self.sums.rows += rows.shape[0]
            return self
        found = rows.moments()
        centring = Centring(rows.origin, found.offset, rows.exponent)
        part = RunningMoments.of(rows, found)
        before, alone = self.sums.exponent, self.sums.total == 0
        here = part.exponent
        delta = self._between(part)
        if not alone:
            self._in_unit(before)
        n = rows.shape[0]
        for start in range(0, n, self.rank):
            block = rows.centred_block(slice(start, min(start + self.rank, n)), None, centring)
            y = as_numpy(block).astype(np.float64)
            if here != self.sums.exponent:
                y = np.ldexp(y, here - self.sums.exponent)
            last = start + self.rank >= n
            self._absorb([y] if delta is None or not last else [y, delta[None, :]])
        return self

    def merge(self, other: "RunningSvd") -> Self:
        """Take the rows of another in; `other` must not be used afterwards."""
        if other.sums.total == 0:
            self.sums.rows += other.sums.rows
            return self
        before, theirs, alone = self.exponent, other.exponent, self.sums.total == 0
        delta = self._between(other.sums)
        if alone:
            self.lost = self.error = 0.0
        else:
            self._in_unit(before)
        down = theirs - self.exponent
        self.lost += other.lost * 4.0**down
        self.error += other.error * 4.0**down
        factor = np.ldexp(other.factor, down) if down else other.factor
        self._absorb([factor] if delta is None else [factor, delta[None, :]])
        return self

    def remove(self, other: "RunningSvd") -> Self:
        """Refuse: what a step has left out of B cannot be taken out of it."""
        raise InputError(
            "rows cannot be taken out of a stream that keeps leading directions only",
            got=f"{len(self.sums.offset)} columns, {self.rank} directions",
            fix="allow more memory, so that all p x p sums are kept, or use `forget`",
        )

    def fade(self, share: float) -> Self:
        """Let every row seen so far count `share` times as much as before."""
        self.sums.fade(share)
        self.factor = self.factor * np.sqrt(share)
        self.lost *= share
        self.error *= share
        return self

    def copy(self) -> Self:
        """Return sums that can be changed without changing these."""
        other = type(self)(self.rank)
        other.__dict__.update(vars(self))
        other.sums = self.sums.copy()  # B is replaced, never written to
        return other

    def moments(self) -> Moments:
        """Return count, mean and the diagonal of S."""
        return self.sums.moments()

    def recentred(self, dtype: Any) -> Self:
        """See `RunningMoments.recentred`."""
        self.sums.recentred(dtype)
        return self

    def keep(self) -> dict[str, Array]:
        """Return the sums as arrays, for a checkpoint; they are shared, not copied."""
        bounds = np.array([self.lost, self.error])
        return self.sums.keep() | {"factor": self.factor, "bounds": bounds}

    def restore(self, kept: dict[str, Array], *, ended: bool = False) -> bool:
        """Go back to what `keep` returned."""
        self.factor = kept["factor"]
        self.lost, self.error = (float(x) for x in kept["bounds"])
        return self.sums.restore(kept)

    def _between(self, part: RunningMoments) -> Array | None:
        """Merge the means; return √(n_a·n_b/n)·δ (p,), None where there was no row yet."""
        if self.sums.origin is None or self.sums.total == 0:
            self.factor = np.zeros((0, len(part.offset)))
            self.sums.merge(part)
            return None
        mine, theirs = self.sums.total, part.total
        delta = self.sums.together(part)
        self.sums.merge(part)
        return np.asarray(np.sqrt(mine * (theirs / (mine + theirs))) * delta)

    def _in_unit(self, before: int) -> None:
        down = before - self.exponent
        if down:
            self.factor = np.ldexp(self.factor, down)
            self.lost, self.error = self.lost * 4.0**down, self.error * 4.0**down

    def _absorb(self, parts: list[Array]) -> None:
        """Stack rows below B; keep its m leading directions when there are 2m rows."""
        stack = np.concatenate([self.factor, *parts])
        height, p = stack.shape
        if height < 2 * self.rank:
            self.factor = stack
            return
        small = stack @ stack.T
        size = float(np.trace(small))
        values, vectors = eigh(small)
        self.factor = as_numpy(vectors[:, : self.rank]).T @ stack
        # The rounding of MMᵀ moves what is left out, that of UᵀM what is kept.
        self.lost += max(float(values[self.rank]), 0.0) + EPS * (4 + np.sqrt(p)) * size
        self.error += EPS * (16 + 4 * np.sqrt(height)) * size
