"""BlockRows: rows that are read block by block, with the sums that a walk over them gives.

What a walk over blocks adds up: kept on the way, and restored after a kill.
"""

import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    as_numpy,
    binary_exponent,
    interruptible,
    quiet_blas,
    triangle,
)
from mercer.errors import InputError
from mercer.operators._centring import Centring, Moments
from mercer.operators._rounding import Charged, Rounding
from mercer.operators._scaling import Scaling
from mercer.operators.rows._dense_rows import Rows
from mercer.operators.rows._row_halves import Halves, half_runs, joined, run_length, weightless
from mercer.operators.rows._running_moments import RunningMoments
from mercer.operators.rows._running_svd import RunningSvd
from mercer.operators.rows._source_walk import Journal, Sums, fold
from mercer.sources import BlockSource, bad_cell, bad_cell_error, in_memory, refuse_sum


class FirstWalk:
    """Moments and, beside them, evenly spaced rows to start an iteration from."""

    def __init__(
        self,
        running: RunningMoments,
        rounding: Rounding,
        step: int,
        most: int,
        second: RunningMoments | None = None,
    ) -> None:
        self.second = second  # where the rows are summed by halves
        self.running, self.rounding = running, rounding
        self.step, self.most = step, most
        self.charged = 0.0  # of the rounding of products, so far
        self.kept: list[Array] = []

    @property
    def rows(self) -> Array | None:
        return np.concatenate(self.kept) if self.kept else None

    def sample(self, part: slice, block: Any) -> None:
        if self.step:
            first = -part.start % self.step
            self.kept.append(np.array(block[first :: self.step]))
        if sum(map(len, self.kept)) > self.most:  # more rows than were foreseen
            self.kept, self.step = [np.concatenate(self.kept)[::2]], 2 * self.step

    def keep(self) -> dict[str, Array]:
        arrays = self.running.keep() | {
            "rounding": self.rounding.keep(),
            "walk": np.array([self.charged, self.step]),
        }
        if self.second is not None:
            arrays |= {f"second {name}": part for name, part in self.second.keep().items()}
        rows = self.rows
        return arrays if rows is None else arrays | {"sample": rows}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        other = {k.removeprefix("second "): kept[k] for k in kept if k.startswith("second ")}
        if bool(other) != (self.second is not None):
            return False
        if self.second is not None:
            self.second.restore(other)
        self.kept = [kept["sample"]] if "sample" in kept else []
        self.rounding.restore(kept["rounding"])
        self.charged, self.step = float(kept["walk"][0]), int(kept["walk"][1])
        return self.running.restore(kept)


class MatrixSums:
    """One matrix that a walk fills."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def keep(self) -> dict[str, Array]:
        return {"matrix": self.matrix}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        self.matrix = kept["matrix"]
        return True


class PanelSums:
    """The rows of a Gram matrix that one walk fills, of use only when it has ended."""

    def __init__(self, gram: Array, panel: slice) -> None:
        self.gram, self.panel = gram, panel

    def keep(self) -> dict[str, Array]:
        return {"matrix": self.gram[self.panel, self.panel.start :]}

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        if ended:
            width = self.panel.stop - self.panel.start
            self.gram[self.panel, self.panel.start :] = kept["matrix"]
            # Inside the panel both triangles are there already, each with its own rounding.
            self.gram[self.panel.stop :, self.panel] = kept["matrix"][:, width:].T
        return ended


Judge = Callable[[Moments], None]
_SAMPLE_SHARE = 0.05  # of the rows that are kept to start an iteration from
_SAMPLE_BYTES = 32e6


@final
class BlockRows:
    """What `Rows` offers the paths of PCA, for rows that are never held whole.

    Every block is centred about its own mean and merged by `RunningMoments`, so that a
    trend or sorted rows cost no digits. Blocks are taken in order, and each is a pure
    function of its rows: the result does not depend on where a walk was interrupted.

    Parameters
    ----------
    source : BlockSource
        Where the rows are.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    products : dtype or None
        Precision of products; None takes that of the data. Sums are float64.
    block_bytes : float
        Size of a block in memory; two or three exist at a time.
    journal : Journal or None
        Where the sums are kept on the way.
    name : str
        What a journal calls the walks: "gram 1", "gram 2", …
    """

    def __init__(
        self,
        source: BlockSource,
        weights: Array | None = None,
        products: Any = None,
        block_bytes: float = 16e6,
        journal: Journal | None = None,
        name: str = "pass",
    ) -> None:
        self.name = name
        self.source, self.weights, self.journal = source, weights, journal
        self.products = np.dtype(source.products if products is None else products)
        kept = None if journal is None else journal.block
        self.per_block = kept or block_length(source, block_bytes)
        self.block_bytes = block_bytes
        self.like = np.empty((0, source.shape[1]), self.products)
        self.exponent = 0
        self.origin: Array = np.zeros(source.shape[1])
        self.sample: Array | None = None
        self.walks = 0
        self.checksum: int | None = None  # of rows that may change between two passes
        self.scaling: Scaling | None = None  # see `Rows`
        self.halved = False  # whether `scatter` leaves the sums of two halves as well
        self.halves: Halves | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p), exact after the first walk."""
        return self.source.shape

    @property
    def total(self) -> float:
        """Σw."""
        return float(self.shape[0] if self.weights is None else np.sum(self.weights))

    def walk(self, sums: Sums | None, step: Callable[[slice, Any], None]) -> None:
        """Make one pass: call ``step(part, block)`` for every block; it may add nothing up."""
        self.walks += 1
        checksum = 0

        def seen(part: slice, block: Any) -> None:
            nonlocal checksum
            for piece in (block.data, block.indices) if hasattr(block, "tocsr") else (block,):
                checksum = zlib.crc32(np.ascontiguousarray(piece).data, checksum)
            step(part, block)

        n = fold(
            self.source,
            self.per_block,
            MatrixSums(np.zeros(0)) if sums is None else sums,
            step if self.source.recognisable else seen,
            walk=f"{self.name} {self.walks}",
            title=f"pass {self.walks}",
            journal=None if sums is None else self.journal,
        )
        if self.checksum is not None and checksum != self.checksum:
            raise InputError(
                "the rows are not those of the pass before",
                got=f"{self.source.label}: other values in pass {self.walks}",
                fix="let every pass make the same rows, or write them to a file",
            )
        self.checksum = None if self.source.recognisable else checksum
        if self.weights is not None and n != len(self.weights):
            raise wrong_weights(n, len(self.weights))

    def rows(self, part: slice, block: Any, *, placed: bool = True) -> Rows:
        """Return a block as rows in memory; `placed`: about the origin of the whole."""
        from mercer.operators._dense_or_sparse import rows_of

        exponent, origin = (self.exponent, self.origin) if placed else (None, None)
        rows = rows_of(
            in_memory(block), self._weights_of(part), self.products, exponent, origin
        )
        assert isinstance(rows, Rows)
        rows.tile_share = 1.0  # the block is a small part already
        rows.scaling = self.scaling
        return rows

    def moments(self) -> Moments:
        """See `Rows.moments`: one walk."""
        running = RunningMoments(whole=False)
        return self._moments_of(running, self.gather(running))

    def scatter(self, judge: Judge | None = None) -> Moments:
        """See `Rows.scatter`: one walk, np² flops.

        `judge` sees the moments of the first block; it may raise to end the walk there.
        """
        running = RunningMoments(whole=True)
        return self._moments_of(running, self.gather(running, judge))

    def _moments_of(self, running: RunningMoments, charged: Charged) -> Moments:
        charged.charge(running)
        self._settle(running)
        return running.moments()

    def gather(self, running: RunningMoments, judge: Judge | None = None) -> Charged:
        """Add all rows to `running`, one walk; return what float32 products have cost."""
        rounding = Rounding(self.products)
        halved = self.halved and running.whole
        first, second = (RunningMoments(), RunningMoments()) if halved else (running, None)
        sums = FirstWalk(first, rounding, *self._sample_size(), second)
        run = run_length(self.shape[0], self.per_block)

        def step(part: slice, block: Any) -> None:
            if self.weights is not None and not np.any(self._weights_of(part)):
                self._refuse_bad(part, block)  # later walks multiply them by zero
                first.rows += block.shape[0]
                return  # rows that weigh nothing have no mean
            rows = self.rows(part, block, placed=False)
            rows.rounding = rounding
            halves = [None] if second is None else half_runs(part.start, part.stop, run)
            for into, runs in zip((first, second or first), halves, strict=False):
                count = _count(runs, block)
                if runs is not None and weightless(self._weights_of(part), runs):
                    into.rows += count
                    continue
                found = rows.scatter(runs) if running.whole else rows.moments()
                if not found.in_range:
                    rows = self._in_range(part, block)
                    rows.rounding = rounding
                    found = rows.scatter(runs) if running.whole else rows.moments()
                sums.charged += rounding.charged * found.raw_trace
                into.merge(RunningMoments.of(rows, found, count))
            sums.sample(part, block)
            if judge is not None and part.start == 0:
                judge((first if second is None else joined(first, second)[0]).moments())

        self.walk(sums, step)
        self.sample = sums.rows
        if second is not None:
            whole, self.halves = joined(first, second)
            running.merge(whole)
        return Charged(rounding.charged, sums.charged)

    def sketch(self, rank: int) -> RunningSvd:
        """Return `rank` leading directions of all rows, and their moments: one walk."""
        sums = RunningSvd(rank)

        def step(part: slice, block: Any) -> None:
            if self.weights is not None and not np.any(self._weights_of(part)):
                self._refuse_bad(part, block)
                sums.sums.rows += block.shape[0]
                return
            rows = self.rows(part, block, placed=False)
            if not rows.moments().in_range:
                rows = self._in_range(part, block)
            sums.add(rows)

        self.walk(sums, step)
        self._settle(sums.sums)
        return sums

    def _settle(self, running: RunningMoments) -> None:
        """Place the rows about the mean that a first walk has found."""
        self.origin, self.exponent = settled(running, self.source)

    def _sample_size(self) -> tuple[int, int]:
        """Return s and m: every s-th row is kept to start from, at most m; 0 for none."""
        n, p = self.shape
        most = int(min(_SAMPLE_BYTES, self.block_bytes) / (8 * p))
        wanted = min(most, int(_SAMPLE_SHARE * n))
        if self.source.nnz is not None or wanted < 1:
            return 0, 0
        return -(-n // wanted), most

    def _in_range(self, part: slice, block: Any) -> Rows:
        """Return rows in a unit found from the whole block, or refuse the cell at fault."""
        self._refuse_bad(part, block)
        stored = block.data if hasattr(block, "tocsr") else block
        half = np.abs(np.asarray(stored, np.float64)) * 0.5
        exponent = binary_exponent(float(np.max(half, initial=0.0))) + 2
        from mercer.operators._dense_or_sparse import rows_of

        rows = rows_of(in_memory(block), self._weights_of(part), self.products, exponent)
        assert isinstance(rows, Rows)
        rows.scaling = self.scaling
        return rows

    def _refuse_bad(self, part: slice, block: Any) -> None:
        found = bad_cell(block)
        if found is not None:
            row, column, value = found
            raise bad_cell_error(self.source.place(part.start + row, column), value)

    def outer(
        self, factor_of: Callable[[Array, Array], Array | None]
    ) -> tuple[Array, Moments, Array | None]:
        """Return X̃X̃ᵀ (n, n), the moments and the column factors.

        One walk for the mean; then one walk per panel of rows that is held, each from the
        panel to the end.
        """
        moments = self.moments()
        factor = factor_of(moments.variances, moments.offset)
        centring = Centring(self.origin, moments.offset, self.exponent, factor)
        n, p = self.shape
        gram = np.zeros((n, n))
        panel = panel_rows(p, self.block_bytes)
        for start in range(0, n, panel):
            self._panel(gram, slice(start, min(start + panel, n)), centring)
        raw = float(np.trace(gram))
        grow = EPS * (4 + np.sqrt(p) + p / 16)
        found = Moments(
            moments.total,
            moments.offset,
            moments.scatter,
            raw,
            grow * raw + moments.error,
            moments.vanished,
        )
        return gram, found, factor

    def _panel(self, gram: Array, panel: slice, centring: Centring) -> None:
        """Add the products of the rows of a panel with all rows from the panel on."""
        p = self.shape[1]
        held = np.empty((panel.stop - panel.start, p))
        few = max(1, int(self.block_bytes // (8 * p)))  # sparse blocks have far more rows

        def step(part: slice, block: Any) -> None:
            at = max(part.start, panel.start)
            rows = self.rows(part, block) if at < part.stop else None
            while at < part.stop:
                end = min(at + few, part.stop, panel.stop if at < panel.stop else part.stop)
                assert rows is not None
                here = slice(at - part.start, end - part.start)
                y = as_numpy(rows.centred_block(here, None, centring)).astype(np.float64)
                if at < panel.stop:
                    held[at - panel.start : end - panel.start] = y
                columns = slice(panel.start, min(end, panel.stop))
                piece, at = slice(at, end), end
                gram[piece, columns] = y @ held[: columns.stop - columns.start].T
                gram[columns, piece] = gram[piece, columns].T

        self.walk(PanelSums(gram, panel), step)

    def triangle(self, centring: Centring) -> Array:
        """See `Rows.triangle`: one walk, 2np² flops."""
        sums = MatrixSums(np.zeros((0, self.shape[1])))

        def step(part: slice, block: Any) -> None:
            found = as_numpy(self.rows(part, block).triangle(centring))
            stacked = np.concatenate([sums.matrix, found])
            with quiet_blas(self.shape[1]):
                sums.matrix = interruptible(partial(triangle, stacked), self.shape[1])

        self.walk(sums, step)
        return sums.matrix

    def _weights_of(self, part: slice) -> Array | None:
        if self.weights is None:
            return None
        if part.stop > len(self.weights):
            raise wrong_weights(part.stop, len(self.weights))
        return self.weights[part]


def settled(running: RunningMoments, source: Any) -> tuple[Array, int]:
    """Return the origin and the unit that a first walk has found, or refuse its rows."""
    if running.rows < 2:
        raise InputError(
            "one row has no variance",
            got=f"n_samples = {running.rows}: {source.label}",
            fix="pass at least two rows",
        )
    refuse_sum(running.total, f"{running.rows} rows")
    if source.nnz is None:  # sparse rows stay about zero
        running.recentred(source.products)
    assert running.origin is not None
    return running.origin, running.exponent


def panel_rows(columns: int, block_bytes: float) -> int:
    """Return how many rows of a wide table are held at a time, as float64: four blocks."""
    return max(1, int(4 * block_bytes // (8 * columns)))


def block_length(source: BlockSource, block_bytes: float) -> int:
    """Return the rows of a block of about so many bytes."""
    n, p = source.shape
    row = p * max(source.dtype.itemsize, source.products.itemsize)
    if source.nnz is not None:
        row = max(16, 12 * source.nnz // max(n, 1))
    return int(max(1, min(block_bytes // max(row, 1), 2**20)))


def _count(runs: list[slice] | None, block: Any) -> int:
    """Return how many rows of a block are meant: those of the runs, or all."""
    if runs is None:
        return int(block.shape[0])
    return sum(run.stop - run.start for run in runs)


def wrong_weights(rows: int, weights: int) -> InputError:
    """Return the refusal of weights whose number is not that of the rows.

    Too few are refused at the block that they do not reach, too many at the end.
    """
    more = " or more" if rows > weights else ""
    return InputError(
        "sample_weight must hold one number per row",
        got=f"{weights} weights, {rows} rows{more}",
        fix="pass one weight for every row, in the order of the rows",
    )
