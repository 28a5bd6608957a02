"""SpreadRows: rows in parts elsewhere, with the sums that one pass over the parts gives."""

import dataclasses
from functools import partial
from typing import Any, final

import numpy as np

from mercer.arrays import Array, interruptible, quiet_blas, triangle
from mercer.operators._centring import Centring, Moments
from mercer.operators._operator import CentredOperator
from mercer.operators._rounding import Charged
from mercer.operators._scaling import Scaling
from mercer.operators.rows._block_rows import BlockRows, settled
from mercer.operators.rows._centred_blocks import CentredBlocks
from mercer.operators.rows._row_halves import Halves, joined
from mercer.operators.rows._running_moments import RunningMoments
from mercer.sources import PartBlocks, SpreadSource


@dataclasses.dataclass(frozen=True)
class PartReading:
    """How the rows of a part are read: precision, blocks, origin and unit."""

    products: np.dtype[Any]
    block_bytes: float
    origin: Array | None = None
    exponent: int = 0
    scaling: Scaling | None = None

    def rows(self, part: PartBlocks, weights: Array | None) -> BlockRows:
        """Return the rows of one part."""
        rows = BlockRows(part, weights, self.products, self.block_bytes)
        if self.origin is not None:
            rows.origin, rows.exponent = self.origin, self.exponent
        rows.scaling = self.scaling
        return rows


@final
class SpreadRows:
    """What `Rows` offers the paths of PCA, for rows that lie in parts elsewhere.

    A part is walked like a file where it lies; partial results are merged along a fixed
    tree. What comes back of a pass is one p×p or p×b matrix.

    Parameters
    ----------
    source : SpreadSource
        Where the rows are.
    weights : object or None
        Repeat counts, as ``source.weights_of`` returned them.
    products : dtype or None
        Precision of products; None takes that of the data. Sums are float64.
    block_bytes : float
        Size of the blocks in which a part is walked.
    """

    def __init__(
        self,
        source: SpreadSource,
        weights: Any = None,
        products: Any = None,
        block_bytes: float = 16e6,
    ) -> None:
        self.source, self.weights = source, weights
        self.products = np.dtype(source.products if products is None else products)
        self.block_bytes = block_bytes
        self.like = np.empty((0, source.shape[1]), self.products)
        self.origin: Array = np.zeros(source.shape[1])
        self.exponent = 0
        self.walks = 0
        self.counted_rows = source.shape[0]
        self.scaling: Scaling | None = None  # see `Rows`
        self.halved = False  # whether `scatter` leaves the sums of two halves as well
        self.halves: Halves | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p), exact after the first pass."""
        return self.source.shape

    @property
    def frame(self) -> PartReading:
        """How parts are read once the origin is known."""
        where = self.origin, self.exponent
        return PartReading(self.products, self.block_bytes, *where, self.scaling)

    def reduce(self, work: Any) -> Any:
        """Make one pass."""
        self.walks += 1
        return self.source.reduce(work, self.weights, title=f"pass {self.walks}")

    def moments(self) -> Moments:
        """See `Rows.moments`: one pass."""
        return self._sums(whole=False)

    def scatter(self) -> Moments:
        """See `Rows.scatter`: one pass, np² flops."""
        return self._sums(whole=True)

    def _sums(self, whole: bool) -> Moments:
        frame = PartReading(self.products, self.block_bytes, scaling=self.scaling)
        found = self.reduce(_MomentsOfParts(frame, whole, self.halved))
        if found.halves is not None:
            self.halves = joined(*found.halves)[1]
        found.charged.charge(found.running)
        self.origin, self.exponent = settled(found.running, self.source)
        self.counted_rows, self.source.weighed = found.counted, found.running.total
        return found.running.moments()  # type: ignore[no-any-return]

    def triangle(self, centring: Centring) -> Array:
        """See `Rows.triangle`: one pass, 2np² flops."""
        return np.asarray(self.reduce(_TriangleOfParts(self.frame, centring)))


@final
class CentredParts(CentredOperator):
    """The centred data X̃ (n, p) of rows in parts: X̃ᵀX̃Q = Σ X̃_cᵀ(X̃_cQ), one pass.

    Parameters
    ----------
    rows : SpreadRows
        Rows whose moments are known.
    centring : Centring
        The mean and the column factors.
    """

    rows: SpreadRows

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one pass; Q goes out, a matrix of its size comes back."""
        work = _ProductOfParts(self.rows.frame, self.centring, np.asarray(q))
        matrix, error = self.rows.reduce(work)
        self.product_error = max(self.product_error, error)
        return np.asarray(matrix)

    def dense(self) -> Array:
        """Return QᵀX̃ (n, p) where rows are fewer than columns: fewer numbers than p×p.

        Q is orthogonal: norms, singular values and right vectors are those of X̃.
        """
        if self.shape[0] > self.shape[1]:
            return super().dense()
        return self.triangle()

    def matmat(self, v: Array, /) -> Array:
        """Refused: n rows would come back."""
        raise NotImplementedError("rows in parts are never gathered")

    def rmatmat(self, u: Array, /) -> Array:
        """Refused: n rows would go out."""
        raise NotImplementedError("rows in parts are never gathered")


@dataclasses.dataclass
class _PartMoments:
    """Moments of one part or of several."""

    running: RunningMoments
    charged: Charged
    counted: int  # rows that weigh anything
    halves: Halves | None = None


@dataclasses.dataclass(frozen=True)
class _MomentsOfParts:
    frame: PartReading
    whole: bool
    halved: bool = False

    def part(self, rows: PartBlocks, weights: Array | None) -> _PartMoments:
        running = RunningMoments(whole=self.whole)
        if rows.shape[0] == 0:
            return _PartMoments(running, Charged(0.0, 0.0), 0)
        table = self.frame.rows(rows, weights)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            table.halved = self.halved
            charged = table.gather(running)
        counted = rows.shape[0] if weights is None else int(np.sum(weights > 0))
        return _PartMoments(running, charged, counted, table.halves)

    def merge(self, one: _PartMoments, other: _PartMoments) -> _PartMoments:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            running = one.running.merge(other.running)
        counted = one.counted + other.counted
        halves = one.halves or other.halves
        if one.halves is not None and other.halves is not None:
            (a, b), (c, d) = one.halves, other.halves
            halves = a.merge(c), b.merge(d)
        return _PartMoments(running, one.charged.joined(other.charged), counted, halves)


@dataclasses.dataclass(frozen=True)
class _ProductOfParts:
    """X̃_cᵀ(X̃_cQ) of every part, and the measured error of its products."""

    frame: PartReading
    centring: Centring
    q: Array

    def part(self, rows: PartBlocks, weights: Array | None) -> tuple[Array, float]:
        if rows.shape[0] == 0:
            return np.zeros(self.q.shape), 0.0
        op = CentredBlocks(self.frame.rows(rows, weights), self.centring)
        return op.gram_matmat(self.q), op.product_error

    def merge(
        self, one: tuple[Array, float], other: tuple[Array, float]
    ) -> tuple[Array, float]:
        return one[0] + other[0], max(one[1], other[1])


@dataclasses.dataclass(frozen=True)
class _TriangleOfParts:
    """R of every part; two are stacked and made triangular again."""

    frame: PartReading
    centring: Centring

    def part(self, rows: PartBlocks, weights: Array | None) -> Array:
        if rows.shape[0] == 0:
            return np.zeros((0, rows.shape[1]))
        return self.frame.rows(rows, weights).triangle(self.centring)

    def merge(self, one: Array, other: Array) -> Array:
        p = one.shape[1]
        with quiet_blas(p):
            found: Array = interruptible(partial(triangle, np.concatenate([one, other])), p)
        return found
