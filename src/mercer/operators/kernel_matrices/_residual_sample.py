"""Rows drawn in proportion to what landmarks miss of them, and the norm that they tell.

N = K - FFᵀ is what landmarks leave of a kernel matrix: psd, of trace t = Σ r(x). A sample of
its rows bounds its norm, which is what an eigenvalue may be off by.
"""

import hashlib
import math
from typing import Any, Self, final

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    Tiles,
    Workspace,
    is_objects,
    is_sparse,
    kernel_rows,
    stacked,
    task,
)
from mercer.operators.kernel_matrices._landmarks import (
    LandmarkFrame,
    Landmarks,
    frame_rounding,
    program_of,
)

_SHARE = 1e-2  # of a late pivot: what is added to a residual, so that none is zero
_LEAST = 1e-6  # the same, of the kernel itself
_SLACK = 2.0  # times more points than wanted before those that came too late are let go
_KEYED = 64  # rows that a key is made of
_ROWS = 1024  # of a tile of the sample
_NARROW = 2.0**-24 * (1 + math.sqrt(_ROWS))  # relative, of sums of float32 products
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))

Points = tuple[Array, Array, Array]  # when, which row, w/a: (q,) each


@final
class ResidualSample:
    """About s rows of a pass, drawn independently with chances a_i/A, a_i = w_i·r(x_i) + c.

    Row i has the points of a Poisson process of rate a_i, and those before the time s/A are
    the draws: how many there are is random, and given that number they are independent. The
    points of a row come from a key and from where it stands, so that neither blocks nor
    threads change what is drawn; the times s/A only fall as rows come, so that little more
    than s rows are kept at any moment.

    c > 0 is a hundredth of what a late landmark was beyond those before it: then no chance
    is zero where rounding has made a residual so.

    Parameters
    ----------
    size : int
        s.
    floor : float
        c.
    key : int
        The random numbers; two samples that are merged have different ones.

    Attributes
    ----------
    total : float
        A.
    count : int
        Rows offered, those of weight zero left out.
    """

    def __init__(self, size: int, floor: float, key: int) -> None:
        self.size, self.floor = size, floor
        self.keys: tuple[int, ...] = (key % 2**64,)
        self.total, self.count = 0.0, 0
        self.when = np.zeros(0)
        self.number = np.zeros(0, np.int64)
        self.ratio = np.zeros(0)
        self.rows: Any = None

    @classmethod
    def of(cls, landmarks: Landmarks, size: int, key: int) -> "ResidualSample | None":
        """Return an empty sample for a pass over rows, or None where none can be drawn."""
        if size < 1 or landmarks.m == 0:
            return None
        pivots = np.diag(landmarks.triangle) ** 2
        sizes = np.sum(landmarks.triangle**2, axis=1)
        floor = max(_SHARE * float(np.min(pivots)), _LEAST * float(np.mean(sizes)))
        return cls(size, floor, key) if 0 < floor < math.inf else None

    def blank(self) -> "ResidualSample":
        """Return a sample of the same draws that has been offered nothing, for one thread."""
        fresh = ResidualSample(self.size, self.floor, 0)
        fresh.keys = self.keys
        return fresh

    def offer(self, first: int, residual: Array, weights: Array | None) -> None:
        """Offer rows first, first + 1, …, with r (b,) and repeat counts (b,)."""
        a = residual * (1.0 if weights is None else weights) + self.floor
        ratio = (1.0 if weights is None else weights) / a
        self.total += float(np.sum(a))
        self.count += len(a)
        before = self._until()
        at = np.arange(first, first + len(a), dtype=np.int64)
        clock, draw = np.zeros(len(a)), 0
        while at.size:
            clock = clock - np.log(_uniform(self.keys[0], at, draw)) / a
            early = clock < before
            at, a, ratio, clock = at[early], a[early], ratio[early], clock[early]
            if at.size:
                self._take((clock, at, ratio))
            draw += 1

    def _until(self) -> float:
        return self.size / self.total if self.total > 0 else math.inf

    def _take(self, points: Points) -> None:
        when, number, ratio = points
        self.when = np.concatenate([self.when, when])
        self.number = np.concatenate([self.number, number])
        self.ratio = np.concatenate([self.ratio, ratio])
        if self.rows is None and len(self.when) > _SLACK * self.size:
            self._keep(np.flatnonzero(self.when < self._until()))

    def _keep(self, held: Array) -> None:
        self.when, self.number, self.ratio = (
            self.when[held],
            self.number[held],
            self.ratio[held],
        )
        if self.rows is not None:
            self.rows = self.rows[held]

    def join(self, lanes: "list[ResidualSample]", rows: Any, start: int) -> None:
        """Add what threads have drawn among rows (n, p), the first of which is number start."""
        for lane in lanes:
            self.total += lane.total
            self.count += lane.count
        self._settle()
        for lane in lanes:
            held = np.flatnonzero(lane.when < self._until())
            if held.size:
                self._append(lane, held, rows[lane.number[held] - start])

    def _append(self, other: "ResidualSample", held: Array, rows: Any) -> None:
        self.when = np.concatenate([self.when, other.when[held]])
        self.number = np.concatenate([self.number, other.number[held]])
        self.ratio = np.concatenate([self.ratio, other.ratio[held]])
        self.rows = rows if self.rows is None else stacked((self.rows, rows))

    def _settle(self) -> None:
        late = self.when >= self._until()
        if np.any(late):
            self._keep(np.flatnonzero(~late))

    def merged(self, other: "ResidualSample | None") -> "ResidualSample | None":
        """Return the sample of both, or None where they are not independent."""
        if other is None or self.size != other.size or self.floor != other.floor:
            return None
        if not self.total or not other.total:
            return self if self.total else other
        if set(self.keys) & set(other.keys):
            return None
        both = ResidualSample(self.size, self.floor, 0)
        both.keys = self.keys + other.keys
        both.total, both.count = self.total + other.total, self.count + other.count
        for one in (self, other):
            held = np.flatnonzero(one.when < both._until())
            if held.size:
                both._append(one, held, one.rows[held])
        return both

    def first(self, most: int) -> "ResidualSample":
        """Return the sample that a smaller size would have given: the earliest points."""
        fewer = ResidualSample(min(most, self.size), self.floor, 0)
        fewer.keys, fewer.total, fewer.count = self.keys, self.total, self.count
        held = np.flatnonzero(self.when < fewer._until())
        fewer._append(self, held, None if self.rows is None else self.rows[held])
        return fewer

    @property
    def draws(self) -> int:
        """How many rows were drawn, one that was drawn twice counted twice."""
        return len(self.when)

    def __deepcopy__(self, memo: Any) -> Self:
        # Arrays are replaced and never written into: a copy of a stream shares them.
        fresh = object.__new__(type(self))
        vars(fresh).update(vars(self))
        return fresh


def content_key(seed: int, rows: Any, weights: Array | None) -> int:
    """Return a number made of the first rows (n, p), so that other rows give another."""
    made = hashlib.blake2b(f"{seed} {rows.shape}".encode(), digest_size=8)
    few = rows[:_KEYED]
    if not is_objects(rows):  # the key of objects is that of their number
        for part in (few.data, few.indices) if is_sparse(few) else (few,):
            made.update(np.ascontiguousarray(part).tobytes())
    if weights is not None:
        made.update(np.ascontiguousarray(weights[:_KEYED]).tobytes())
    return int.from_bytes(made.digest(), "little")


def _uniform(key: int, at: Array, draw: int) -> Array:
    """Return numbers in (0, 1) that depend on key, row and draw only [Steele2014]_."""
    with np.errstate(over="ignore"):
        step = np.uint64((key + draw * 0xD1342543DE82EF95) % 2**64)
        z = (at.astype(np.uint64) + np.uint64(1)) * _GOLDEN ^ step
        for _ in range(2):
            z = (z ^ (z >> np.uint64(30))) * _MIX[0]
            z = (z ^ (z >> np.uint64(27))) * _MIX[1]
            z = (z ^ (z >> np.uint64(31))) + step
    return np.asarray(((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


@final
class SampledResidual:
    """Ĉ = A/s·D^-½N_SS D^-½ for the s rows of a sample, D their a_i/w_i: its norm is near ‖N‖.

    Tiles I ≤ J are made once in float64, s²(p + m) flops, and kept in float32, 2s² bytes;
    a product reads them once.

    Parameters
    ----------
    landmarks : Landmarks
        What N is the residual of.
    sample : ResidualSample
        Rows drawn.
    error : float
        How far the features are from exact ones: a bound on ‖FFᵀ - F₀F₀ᵀ‖ over all rows.

    Attributes
    ----------
    trace : float
        t ≥ tr N with w_i·r(x_i) ≤ t·a_i/A, the rounding of residuals included.
    rounding : float
        A bound on ‖Ĉ - what is stored‖.
    """

    def __init__(self, landmarks: Landmarks, sample: ResidualSample, error: float) -> None:
        self.draws = sample.draws
        self.trace = sample.total * (1 + error / sample.floor)
        rows, tiles = kernel_rows(sample.rows), Tiles(sample.draws, _ROWS)
        root = np.sqrt(sample.total / sample.draws * sample.ratio)
        features, _ = landmarks.features(rows)
        features *= root[:, None]
        frame = LandmarkFrame.of(
            program_of(landmarks.kernel), rows, landmarks.origin, like=landmarks.side
        )
        k, _ = frame.diagonal(frame.ready(rows))
        relative, flat = frame_rounding(frame)
        relative += EPS * (landmarks.m + 4)
        each = flat + relative * np.maximum(k, 0.0)
        self.rounding = error * float(np.sum(root**2)) + float(np.sum(root**2 * each))
        self.tiles, self.blocks, squares = tiles, {}, 0.0
        with task("sampled residual"):
            for i, here in enumerate(tiles):
                at = LandmarkFrame.of(
                    frame.program, rows[here], landmarks.origin, like=landmarks.side
                )
                for j in range(i, len(tiles)):
                    there = tiles[j]
                    t = at.tile(at.ready(rows[there]), _space(here, there), Workspace())
                    t *= root[here, None]
                    t *= root[there]
                    t -= features[here] @ features[there].T
                    squares += (1 if i == j else 2) * float(np.vdot(t, t))
                    self.blocks[i, j] = t.astype(np.float32)
        # float32 in storage, and in the products of a block.
        self.rounding += _NARROW * math.sqrt(squares)

    def times(self, v: Array) -> Array:
        """Return ĈV (s, b) in float64."""
        thin, out = v.astype(np.float32), np.zeros(v.shape)
        for (i, j), block in self.blocks.items():
            here, there = self.tiles[i], self.tiles[j]
            out[here] += block @ thin[there]
            if i != j:
                out[there] += block.T @ thin[here]
        return out


def _space(here: slice, there: slice) -> Array:
    return np.empty((here.stop - here.start, there.stop - there.start))
