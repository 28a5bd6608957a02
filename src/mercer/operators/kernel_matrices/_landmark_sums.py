"""Sums over rows seen through landmarks: kernel PCA of any number of rows in one pass."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self, final

import numpy as np
import scipy.linalg.blas as blas

from mercer.arrays import Array, Lanes, Tiles, Workspace, eigh, kernel_rows, thread_count
from mercer.errors import InputError
from mercer.operators.kernel_matrices._landmark_samplers import Factor
from mercer.operators.kernel_matrices._landmarks import Bench, Landmarks
from mercer.operators.kernel_matrices._residual_sample import ResidualSample, content_key

# Bytes of a block of features, which stays near the core. Products of float32 are added to
# float64 sums block by block, so those blocks are longer.
_TILE_BYTES = {8: 1.5e6, 4: 4e6}
_LEAST, _MOST_ROWS = 256, 4096  # fewer rows make poor products, more leave the cache
_WORTH_LANES = 1e5  # entries from which threads pay

Block = tuple[Array, Array, Array]  # f (m, r), residuals and k̃(x, x), (r,)


@final
class LandmarkSums:
    """Count, mean, scatter and residual of f(x) = L⁻¹k_S(x) over a stream of rows.

    P = Σw(f-s)(f-s)ᵀ and q = Σw(f-s) about a shift s, the mean of the first block, so that
    P - qqᵀ/Σw loses no digits; t = Σw·r(x), summed row by row. The state is m × m whatever
    the number of rows; two of them merge, so that parts can be summed apart. n(2mp + 2m²)
    flops, no row is kept.

    Parameters
    ----------
    landmarks : Landmarks
        S, fixed before the pass.
    dtype : dtype
        float32 makes the features of float32 rows in float32 where the landmarks allow it;
        all sums are float64.
    draws, seed : int
        Rows to be drawn on the way, by what the landmarks miss of them: a `ResidualSample`.

    Attributes
    ----------
    count, t, raw_trace : float
        Σw, Σw·r(x) and Σw·k(x, x).
    rows : int
        Rows seen.
    shift : ndarray of shape (m,) or None
        s; None before the first row.
    p, q : ndarray of shape (m, m) and (m,)
        P, its lower triangle only, and q.
    sample : ResidualSample or None
        The rows drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> marks = Landmarks.of(RBF(2.0), X[:40])
    >>> one, two = LandmarkSums(marks).add(X[:200]), LandmarkSums(marks).add(X[200:])
    >>> nu, w, mean, t = one.merge(two).pairs()
    >>> nu.shape, w.shape, bool(0 < t < 0.1 * nu.sum())
    ((40,), (40, 40), True)
    """

    # Of sums in an older file.
    sample: ResidualSample | None = None
    draws = seed = 0

    def __init__(
        self, landmarks: Landmarks, dtype: Any = np.float64, *, draws: int = 0, seed: int = 0
    ) -> None:
        self.landmarks, self.draws, self.seed = landmarks, draws, seed
        self.sample = None
        self.dtype = np.dtype(dtype) if landmarks.steady else np.dtype(np.float64)
        self.count = self.t = self.raw_trace = 0.0
        self.rows = 0
        self.shift: Array | None = None
        self.p = np.zeros((landmarks.m, landmarks.m), order="F")
        self.q = np.zeros(landmarks.m)

    @classmethod
    def of(cls, factor: Factor, rows: Any = None, *, draws: int = 0, seed: int = 0) -> Self:
        """Return the sums over the rows that landmarks were chosen from: nm² flops.

        Their features are known, and are not made again; `rows` are needed where some of
        them are to be drawn.
        """
        sums = cls(factor.landmarks, factor.f.dtype, draws=draws, seed=seed)
        n, w = factor.f.shape[0], factor.weights
        tiles = sums._tiles(n, factor.f.itemsize)
        counted = np.arange(tiles.rows) if w is None else np.flatnonzero(w)[: tiles.rows]
        shift = None
        if counted.size:
            few = np.ones(counted.size) if w is None else w[counted]
            shift = np.asarray((few / np.sum(few)) @ factor.f[counted], np.float64)
        columns = factor.f.T

        def block(part: slice, buffer: Array, _space: Workspace) -> Block:
            f = buffer[: columns.shape[0] * (part.stop - part.start)]
            f = f.reshape(columns.shape[0], part.stop - part.start)
            f[:] = columns[:, part]
            return f, factor.residual[part], factor.diagonal[part]

        return sums._added(block, tiles, shift, w, factor.f.dtype, rows)

    def add(self, rows: Any, weights: Array | None = None) -> Self:
        """Add rows (n, p) with repeat counts (n,); interrupted, nothing is added.

        Rows of weight zero are counted and not looked at, whatever their cells are.
        """
        rows = kernel_rows(rows)
        n, idle = int(rows.shape[0]), 0
        w = None if weights is None else _counts(weights, n)
        if w is not None and not np.all(w):
            held = np.flatnonzero(w)
            rows, w, n, idle = rows[held], w[held], len(held), n - len(held)
        bench = self.landmarks.bench(rows, self.dtype)
        tiles = self._tiles(n, bench.dtype.itemsize)
        shift = self._first(bench, rows, w, tiles.rows) if self.shift is None else self.shift

        def block(part: slice, buffer: Array, space: Workspace) -> Block:
            return bench.block(rows[part], buffer, space)

        self._added(block, tiles, shift, w, bench.dtype, rows)
        self.rows += idle
        return self

    def _added(
        self,
        block: Callable[[slice, Array, Workspace], Block],
        tiles: Tiles,
        shift: Array | None,
        w: Array | None,
        dtype: Any,
        rows: Any,
    ) -> Self:
        """Add all blocks of features, about a shift (m,), on threads."""
        n, m = tiles.n, self.landmarks.m
        if n == 0 or shift is None:
            self.rows += n
            return self
        busy = n * (m + 1) > _WORTH_LANES
        lanes = Lanes(min(thread_count(), len(tiles)) if busy else 1)
        sample = self._sampling(rows, w)
        lane_sums = [
            _LaneSums(m, None if sample is None else sample.blank()) for _ in range(lanes.count)
        ]
        around = shift.astype(dtype)

        def work(lane: int, parts: Iterator[slice]) -> None:
            space, buffer = Workspace(), np.empty(tiles.rows * m, dtype)
            for part in parts:
                f, r, k = block(part, buffer, space)
                counts = None if w is None else w[part]
                lane_sums[lane].offer(self.rows + part.start, r, counts)
                lane_sums[lane].add(f, r, k, around, counts)

        lanes.over(tiles, work)
        self.shift = around.astype(np.float64)  # as it was subtracted
        if sample is not None:
            drawn = [own.sample for own in lane_sums if own.sample is not None]
            sample.join(drawn, rows, self.rows)
        self.sample = sample
        self._gather(lane_sums, n)
        return self

    def _sampling(self, rows: Any, w: Array | None) -> ResidualSample | None:
        """Return the sample to go on with, a new one before the first row.

        Its key is made of the first rows: two streams that are merged draw apart.
        """
        if self.sample is not None:
            return copy.deepcopy(self.sample)
        if self.draws == 0 or rows is None or self.rows:
            return None
        return ResidualSample.of(self.landmarks, self.draws, content_key(self.seed, rows, w))

    def _tiles(self, n: int, itemsize: int) -> Tiles:
        fit = int(_TILE_BYTES[itemsize] // (itemsize * max(1, self.landmarks.m)))
        return Tiles(n, max(1, min(max(_LEAST, fit), _MOST_ROWS, n)))

    def _first(self, bench: Bench, rows: Any, w: Array | None, most: int) -> Array | None:
        """Return the mean of f over the first rows, or None where there are none."""
        count = min(most, int(rows.shape[0]))
        if count == 0:
            return None
        if self.landmarks.m == 0:  # no row is seen at all, and nothing to average
            return np.zeros(0)
        f, _, _ = bench.block(rows[:count], bench.buffer(count), Workspace())
        few = np.ones(count) if w is None else w[:count]
        return np.asarray(f @ (few / np.sum(few)), np.float64)

    def _gather(self, lane_sums: "list[_LaneSums]", n: int) -> None:
        """Add the sums of the lanes, in their order."""
        self.rows += n
        for own in lane_sums:
            self.p += own.p
            self.q += own.q
            self.count += own.count
            self.t += own.t
            self.raw_trace += own.raw_trace

    def merge(self, other: "LandmarkSums") -> Self:
        """Add the rows that another has seen through the same landmarks.

        About the shift of the heavier: with δ = s_b - s_a, P_b becomes
        P_b + q_bδᵀ + δq_bᵀ + W_bδδᵀ, and q_b becomes q_b + W_bδ.
        """
        if not self.landmarks.same(other.landmarks):
            raise InputError(
                "sums merge only where the landmarks are the same",
                got=f"{self.landmarks.m} and {other.landmarks.m} landmarks, which differ",
                fix="choose the landmarks once and pass them to every LandmarkSums",
            )
        self.sample = _both(self, other)
        mine, theirs = self._state(), other._state()
        if theirs[0] > mine[0]:
            mine, theirs = theirs, mine
        (count, shift, p, q), (more, apart, p_b, q_b) = mine, theirs
        p, q = p + p_b, q + q_b
        if shift is not None and apart is not None:
            delta = apart - shift
            p += np.outer(q_b, delta) + np.outer(delta, q_b) + more * np.outer(delta, delta)
            q += more * delta
        self.p, self.q, self.shift, self.count = np.asfortranarray(p), q, shift, count + more
        self.t += other.t
        self.raw_trace += other.raw_trace
        self.rows += other.rows
        return self

    def bare(self) -> dict[str, Any]:
        """Return the sums without the landmarks, which whoever merges them has already."""
        return {name: value for name, value in vars(self).items() if name != "landmarks"}

    @classmethod
    def through(cls, landmarks: Landmarks, bare: dict[str, Any]) -> Self:
        """Return the sums that `bare` came from."""
        sums = cls(landmarks)
        vars(sums).update(bare)
        return sums

    def _state(self) -> tuple[float, Array | None, Array, Array]:
        return self.count, self.shift, self.p, self.q

    def pairs(self) -> tuple[Array, Array, Array, float]:
        """Return ν (m,), w (m, m), the mean of f (m,) and t.

        ν and w are the eigenpairs of P - qqᵀ/Σw in descending order, ν ≥ 0; a row has the
        coordinates wᵀ(f(x) - mean), and λ_i ∈ [ν_i, ν_i + t] for the eigenvalues λ of K̃.
        """
        if self.shift is None:
            raise InputError(
                "no row has been added yet",
                got=f"{self.rows} rows, weight {self.count:.3g}",
                fix="call add(rows) first",
            )
        scatter = np.tril(self.p) - np.tril(np.outer(self.q, self.q) / self.count)
        scatter += np.tril(scatter, -1).T
        nu, w = eigh(scatter) if len(scatter) else (np.zeros(0), np.zeros((0, 0)))
        return np.maximum(nu, 0.0), w, self.shift + self.q / self.count, self.t


class _LaneSums:
    """The sums of one lane."""

    def __init__(self, m: int, sample: ResidualSample | None = None) -> None:
        self.p, self.q = np.zeros((m, m), order="F"), np.zeros(m)
        self.count = self.t = self.raw_trace = 0.0
        self.sample = sample

    def offer(self, first: int, r: Array, w: Array | None) -> None:
        """Offer rows first, first + 1, … to the sample."""
        if self.sample is not None:
            self.sample.offer(first, r, w)

    def add(self, f: Array, r: Array, k: Array, shift: Array, w: Array | None) -> None:
        """Add one block, f (m, r) as columns; it is written over."""
        f -= shift[:, None]
        if w is None:
            self.count += f.shape[1]
            self.t += float(np.sum(r))
            self.raw_trace += float(np.sum(k))
            self.q += np.sum(f, axis=1, dtype=np.float64)
        else:
            self.count += float(np.sum(w))
            self.t += float(w @ r)
            self.raw_trace += float(w @ k)
            self.q += f @ w
            f *= np.sqrt(w).astype(f.dtype)
        if f.size == 0:
            return
        if f.dtype == np.float64:
            self.p = blas.dsyrk(1.0, f.T, 1.0, self.p, trans=1, lower=1, overwrite_c=1)
        else:
            self.p += blas.ssyrk(1.0, f.T, trans=1, lower=1)


def _both(one: LandmarkSums, other: LandmarkSums) -> ResidualSample | None:
    """Return the rows drawn among those of both, None where one of them has drawn none."""
    if one.count == 0 or other.count == 0:
        return other.sample if one.count == 0 else one.sample
    return None if one.sample is None else one.sample.merged(other.sample)


def _counts(weights: Array, n: int) -> Array:
    """Return repeat counts as float64 (n,); refuse what is not."""
    w = np.asarray(weights, np.float64)
    if w.shape != (n,) or not np.all(np.isfinite(w)) or (n and w.min() < 0):
        raise InputError(
            "weights must be one number that is not negative for each row",
            got=f"shape {w.shape} for {n} rows"
            + (f", smallest {w.min():.3g}" if w.size else ""),
            fix="pass repeat counts of shape (n,)",
        )
    return w
