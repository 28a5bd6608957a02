"""GroupedRows: rows of several groups, each about the origin of its own group."""

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import EPS, Array, Tiles, add_gram, interruptible, quiet_blas, triangle
from mercer.operators._dense_or_sparse import rows_of
from mercer.operators._scaling import LEAST_SPREAD
from mercer.operators.rows._dense_rows import DenseRows
from mercer.sources import Source

_SAMPLE = 64  # rows of a group that give its origin


@dataclasses.dataclass(frozen=True, eq=False)
class GroupMoments:
    """What one pass over grouped rows gives, in units of 2^exponent.

    Attributes
    ----------
    totals : ndarray of shape (G,)
        Σw of each group.
    means : ndarray of shape (G, p)
        Group means minus the common origin.
    offsets : ndarray of shape (G, p)
        Group means minus the origins of the groups: small numbers, with all their digits.
    scatter : ndarray of shape (p, p) or (p,)
        Σw(x - mean_g)(x - mean_g)ᵀ over all rows, or its diagonal alone.
    raw : ndarray of shape (p,)
        Σw(x - o_g)², the squares against which rounding is measured.
    rounding : float
        Entry (i, j) of `scatter` errs by at most rounding·√(raw_i·raw_j).
    """

    totals: Array
    means: Array
    offsets: Array
    scatter: Array
    raw: Array
    rounding: float


@final
class GroupedRows:
    """Rows y = (x - o_g)·2^-exponent·√w, g the group of the row, in dense float64 blocks.

    Groups may lie far apart and far from zero: with an origin for each, taken from a sample
    of its rows, the sums M = Σyyᵀ and f_g = Σ√w·y give the scatter within groups without
    loss, M - Σ_g f_g·f_gᵀ/n_g, in one pass. Sparse rows have one origin, and are made dense
    a few at a time.

    Parameters
    ----------
    source : Source
        Where the rows are, in memory.
    codes : ndarray of int of shape (n,)
        Group of each row, 0 … G - 1.
    groups : int
        G.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    """

    def __init__(
        self, source: Source, codes: Array, groups: int, weights: Array | None = None
    ) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self.rows = rows_of(source, weights, np.float64)
        self.codes, self.groups, self.shape = codes, groups, source.shape
        self.given = source
        self.exponent, self.origin = self.rows.exponent, self.rows.origin
        self.weights = weights
        self.totals = np.bincount(codes, weights, minlength=groups).astype(np.float64)
        self.origins: Array | None = None
        if isinstance(self.rows, DenseRows):
            with np.errstate(over="ignore", invalid="ignore"):
                self.origins = self._origins()

    def _origins(self) -> Array:
        """Return an origin (G, p) for each group, in the precision of the data."""
        order = np.argsort(self.codes, kind="stable")
        if self.weights is not None:
            order = order[self.weights[order] > 0]
        ends = np.cumsum(np.bincount(self.codes[order], minlength=self.groups))
        assert isinstance(self.rows, DenseRows)
        found = []
        for low, high in zip(np.append(0, ends[:-1]), ends, strict=True):
            places = np.linspace(low, high - 1, min(_SAMPLE, high - low)).astype(np.int64)
            sample = np.asarray(self.rows.source.array[np.sort(order[places]), :])
            sample = sample if sample.dtype.kind == "f" else sample.astype(np.float64)
            found.append(self.rows._provisional_origin(sample))
        return np.stack(found)

    def block(self, part: slice, buffer: Array | None = None) -> Array:
        """Return some rows (r, p) of y."""
        if self.origins is None:
            return np.asarray(self.rows.block(part, buffer))
        assert isinstance(self.rows, DenseRows)
        if buffer is None:
            buffer = np.empty((part.stop - part.start, self.shape[1]))
        there = self.origins[self.codes[part]]
        y = self.rows.about_origin(self.rows.source.array[part, :], there, buffer)
        if self.rows.root is not None:
            y *= self.rows.root[part, None]
        return y

    def members(self, numbers: Array, group: int) -> Array:
        """Return rows (m, p) of one group by their numbers, about its origin, unweighted."""
        if self.origins is None:
            csr: Any = getattr(self.rows, "csr")  # noqa: B009 - of sparse rows alone
            return np.asarray(csr[numbers].toarray(), np.float64)
        assert isinstance(self.rows, DenseRows)
        block = self.rows.source.array[numbers, :]
        out = np.empty(block.shape)
        return self.rows.about_origin(block, self.origins[group], out)

    def moments(self, whole: bool = True, shares: Array | None = None) -> GroupMoments:
        """Return the sums of all rows: one pass, np² flops, or 3np for the diagonal alone.

        Parameters
        ----------
        whole : bool
            Whether the whole scatter is wanted.
        shares : ndarray of shape (G,) or None
            What the rows of each group count in the scatter beside their weights.
        """
        p, tiles = self.shape[1], self.rows.tiles()
        gram = np.zeros((p, p)) if whole else np.zeros(p)
        space = np.empty((p, p)) if whole else None
        first = np.zeros((self.groups, p))
        for part, y in self._blocks(tiles):
            first += self._indicator(part) @ y
            if shares is not None:
                y *= np.sqrt(shares)[self.codes[part], None]
            if whole:
                add_gram(gram, y, space)
            else:
                gram += np.einsum("ij,ij->j", y, y)
        offsets = first / np.where(self.totals > 0, self.totals, 1.0)[:, None]
        counted = first if shares is None else shares[:, None] * first
        raw = np.diagonal(gram).copy() if whole else gram
        between = counted.T @ offsets if whole else np.einsum("ij,ij->j", counted, offsets)
        gram = gram - between
        # Sums of independent roundings grow like the root of their number; see `Rows`.
        grow = EPS * (4 + np.sqrt(tiles.rows) + tiles.rows / 16 + len(tiles) / 2)
        means = offsets.copy()
        if self.origins is not None:
            there, here = (np.asarray(o, np.float64) for o in (self.origins, self.origin))
            means += np.ldexp(0.5 * there - 0.5 * here, 1 - self.exponent)  # may overflow
        return GroupMoments(self.totals, means, offsets, gram, raw, float(grow))

    def vanished(self, squares: Array) -> Array:
        """Tell which columns (p,) vary in a group though their sums of squares are nothing.

        See `Rows.vanished`; only columns with such sums within groups are looked at.
        """
        found = np.zeros(self.shape[1], bool)
        few = np.flatnonzero(squares < LEAST_SPREAD**2 * float(np.sum(self.totals)))
        if not few.size:
            return found
        low = np.full((self.groups, few.size), np.inf)
        high, counts = -low, self.weights
        for part in self.rows.tiles():
            block = self.rows.source.array[part, :][:, few]
            block = block.toarray() if hasattr(block, "toarray") else block
            held = slice(None) if counts is None else counts[part] > 0
            np.minimum.at(low, self.codes[part][held], block[held])
            np.maximum.at(high, self.codes[part][held], block[held])
        found[few] = np.any(low < high, axis=0)
        return found

    def placed(self, offsets: Array) -> Array:
        """Return group means (G, p) in the units of the data, from their offsets."""
        there = self.origin if self.origins is None else self.origins
        return np.asarray(there, np.float64) + np.ldexp(offsets, self.exponent)

    def _blocks(self, tiles: Tiles) -> Iterator[tuple[slice, Array]]:
        buffer = np.empty((tiles.rows, self.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for part in tiles:
                yield part, self.block(part, buffer)

    def _indicator(self, part: slice) -> Any:
        """Return √w at (group, row) as a sparse matrix (G, r): its product sums by group."""
        codes = self.codes[part]
        root = np.ones(len(codes)) if self.rows.root is None else self.rows.root[part]
        at = (codes, np.arange(len(codes)))
        return scipy.sparse.csr_array((root, at), shape=(self.groups, len(codes)))

    def centred_blocks(
        self, offsets: Array, factor: Array, shares: Array | None, tall: int
    ) -> Iterator[tuple[slice, Array]]:
        """Yield √w·√share_g·(x - mean_g)·factor in blocks of `tall` rows.

        Parameters
        ----------
        offsets : ndarray of shape (G, p)
            Of the moments.
        factor : ndarray of shape (p,)
            Column multipliers.
        shares : ndarray of shape (G,) or None
            What the rows of each group count beside their weights.
        tall : int
            Rows of a block.
        """
        for part, y in self._blocks(Tiles(self.shape[0], tall)):
            codes, root = self.codes[part], self.rows.root
            away = offsets[codes]
            y -= away if root is None else root[part, None] * away
            y *= factor
            if shares is not None:
                y *= np.sqrt(shares)[codes, None]
            yield part, y

    def triangle(self, offsets: Array, factor: Array, shares: Array | None = None) -> Array:
        """Return R (≤ p, p), RᵀR the scatter of centred, scaled rows: QR of row blocks."""
        n, p = self.shape
        found = np.zeros((0, p))
        tall = min(n, max(256, 2 * p))
        with quiet_blas(p):
            for _, y in self.centred_blocks(offsets, factor, shares, tall):
                found = interruptible(partial(triangle, np.concatenate([found, y])), p)
        return found

    def write(
        self, out: Array, offsets: Array, factor: Array, shares: Array | None = None
    ) -> None:
        """Write all rows (n, p), centred and scaled, into `out`."""
        tall = self.rows.tiles().rows
        for part, y in self.centred_blocks(offsets, factor, shares, tall):
            out[part] = y
