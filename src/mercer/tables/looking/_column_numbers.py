"""Numbers: what a walk over the rows finds out about columns of numbers."""

from typing import Any, final

import numpy as np

from mercer.arrays import Array, is_sparse

_TILE = 1 << 16  # cells that are worked on at a time, so that they stay in the cache
_MOST_MARKS = 5_000_000  # rows up to which rows are compared with each other
_WIDE = 2000  # columns up to which they are
_STEPS = 0.9  # share of rows in which a serial number counts up by one
_RUN = 10  # rows, or different values, from which on counting is no chance
_MANY = 50  # values from 1 on, each there and in order, that number groups of rows
_VALUES = 4  # different values that a column with a code has, at least
_CODES = 3  # of one column
_NINES = 0.5  # of the range of the rest that nines lie off, at least
_LEAST = 1e-280  # sums of squares that have lost no digits


@final
class Numbers:
    """Count, mean, scatter and range of every column; missing and infinite cells are skipped.

    Parts merge by Chan's rule, column by column: with counts n_a and n_b, means m_a and m_b
    and δ = m_b - m_a, the scatter is S_a + S_b + (n_a·n_b/n)δ² and the mean m_a + (n_b/n)δ.
    Each part is summed about its own mean, and means are kept as the distance from the first
    cell of the column, so that nothing cancels far from zero.

    Parameters
    ----------
    columns : int
        p.
    kept : sequence of int
        Columns whose values are kept while they are whole numbers, to count different ones.
    compared : array of int
        Columns by which rows are compared with each other.

    Attributes
    ----------
    rows : int
        Rows seen.
    counts, infinite : ndarray of shape (p,)
        Finite cells, and infinite ones.
    origin, offset, scatter, low, high : ndarray of shape (p,)
        Of the finite cells: the first one, the mean minus that, S, and the range, with
        low > high where there is none.
    whole : ndarray of bool of shape (p,)
        Whether all are whole numbers.
    compared : ndarray of int
        Columns by which rows were compared.
    counting : dict of int to float
        Columns that have counted up by one in every row so far, and where they began.
    blank : int
        Rows without a number in all columns that are compared.
    """

    def __init__(self, columns: int, kept: Any, compared: Array) -> None:
        self.rows = self.blank = 0
        self.counts = np.zeros(columns, np.int64)
        self.infinite = np.zeros(columns, np.int64)
        self.origin, self.offset = np.zeros(columns), np.zeros(columns)
        self.scatter = np.zeros(columns, np.longdouble)  # squares of what float64 just holds
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self.whole = np.ones(columns, bool)
        self.counting: dict[int, float] = {}
        self._kept: dict[int, list[Array]] = {j: [] for j in kept}
        self.compared = compared
        self._marks: list[Array] | None = [] if 0 < len(compared) <= _WIDE else None
        draw = np.random.default_rng(0).integers
        self._weights = draw(0, 2**64, len(compared), np.uint64) | np.uint64(1)

    def add(self, block: Any) -> None:
        """Take in rows (r, p), dense or CSR."""
        if is_sparse(block):
            self._add_sparse(block)
            return
        step = max(1, _TILE // max(1, block.shape[1]))
        for start in range(0, block.shape[0], step):
            self._add_tile(np.asarray(block[start : start + step], np.float64))

    def _add_tile(self, tile: Array) -> None:
        low, high = tile.min(axis=0), tile.max(axis=0)
        counts = np.full(tile.shape[1], len(tile))
        self._settle_origin(tile)
        with np.errstate(over="ignore", invalid="ignore"):
            away = tile - self.origin
            offset = away.sum(axis=0) / len(tile)
            away -= offset
            scatter = _squares(away, low, high)
        some = np.flatnonzero(self.whole)
        if len(some):
            part = tile if len(some) == tile.shape[1] else tile[:, some]
            self.whole[some] = (part == np.rint(part)).all(axis=0)
        odd = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high)))
        if len(odd):
            was_whole = np.zeros(len(self.whole), bool)
            was_whole[some] = True
            part = tile[:, odd]
            found = _gapped(part, self.origin[odd])
            counts[odd], offset[odd], scatter[odd], low[odd], high[odd], whole = found
            self.whole[odd] = was_whole[odd] & whole
            self.infinite[odd] += np.isinf(part).sum(axis=0)
            self._count_blank(tile, odd)
        self._count_up(tile)
        if self.rows > _MOST_MARKS:
            self._kept, self._marks = {}, None
        for j, parts in self._kept.items():
            if self.whole[j]:
                parts.append(tile[:, j].copy())
        self._mark(tile)
        self._merge(counts, offset, scatter, low, high)
        self.rows += len(tile)

    def _settle_origin(self, tile: Array) -> None:
        """Take the first finite cell of every column that had none so far."""
        fresh = np.flatnonzero(self.counts == 0)
        if len(fresh):
            there = np.isfinite(tile[:, fresh])
            first = np.argmax(there, axis=0)
            cells = tile[first, fresh]
            self.origin[fresh] = np.where(there.any(axis=0), cells, 0.0)

    def _count_blank(self, tile: Array, odd: Array) -> None:
        if len(self.compared) and np.isin(self.compared, odd).all():
            absent = ~np.isfinite(tile[:, self.compared])
            self.blank += int(np.count_nonzero(absent.all(axis=1)))

    def _mark(self, tile: Array) -> None:
        if self._marks is None:
            return
        every = len(self.compared) == tile.shape[1]
        self._marks.append(_marks(tile if every else tile[:, self.compared], self._weights))

    def _count_up(self, tile: Array) -> None:
        if self.rows == 0:
            first = np.flatnonzero((tile[0] == 0) | (tile[0] == 1))
            self.counting = {int(j): float(tile[0, j]) for j in first}
        steps = np.arange(self.rows, self.rows + len(tile))
        self.counting = {
            j: begin
            for j, begin in self.counting.items()
            if tile[-1, j] == begin + steps[-1] and np.array_equal(tile[:, j], begin + steps)
        }

    def _add_sparse(self, block: Any) -> None:
        """Take in a CSR block: cells that are not stored are zeros."""
        p = block.shape[1]
        values, at = np.asarray(block.data, np.float64), block.indices
        good = np.isfinite(values)
        absent = np.bincount(at[~good], minlength=p)
        self.infinite += np.bincount(at[np.isinf(values)], minlength=p)
        values, at = values[good], at[good]
        stored = np.bincount(at, minlength=p)
        counts = block.shape[0] - absent
        zeros = counts - stored
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        np.minimum.at(low, at, values)
        np.maximum.at(high, at, values)
        low[zeros > 0] = np.minimum(low[zeros > 0], 0.0)
        high[zeros > 0] = np.maximum(high[zeros > 0], 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.bincount(at, values, minlength=p) / np.maximum(counts, 1)
            scatter = np.bincount(at, (values - mean[at]) ** 2, minlength=p) + zeros * mean**2
        self.whole[at[values != np.rint(values)]] = False
        self._marks = None
        self._merge(counts, mean, scatter, low, high)
        self.rows += block.shape[0]

    def _merge(
        self, counts: Array, offset: Array, scatter: Array, low: Array, high: Array
    ) -> None:
        total = self.counts + counts
        with np.errstate(over="ignore", invalid="ignore"):
            share = counts / np.maximum(total, 1)
            delta = offset - self.offset
            self.scatter += scatter + self.counts * share * delta.astype(np.longdouble) ** 2
            self.offset += share * delta
        self.counts = total
        self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)

    @property
    def mean(self) -> Array:
        """Means (p,) of the finite cells; 0 where there is none."""
        return np.asarray(self.origin + self.offset)

    @property
    def deviations(self) -> Array:
        """Standard deviations (p,), divided by n - 1; NaN of fewer than two cells."""
        with np.errstate(invalid="ignore"):
            shared = self.scatter / np.where(self.counts > 1, self.counts - 1, np.nan)
            found = np.sqrt(shared).astype(np.float64)
        # What is constant has none, whatever rounding the mean has left.
        return np.where((self.low == self.high) & (self.counts > 1), 0.0, found)

    def distinct(self, column: int) -> int | None:
        """Return how many different values a column of whole numbers has, where it was kept."""
        if not self.whole[column] or not self._kept.get(column):
            return None
        values = np.concatenate(self._kept[column])
        self._kept[column] = [values]
        return count_distinct(values[np.isfinite(values)])

    def repeated(self) -> int:
        """Return how many rows are the same as an earlier one; 0 where none were compared."""
        if not self._marks:
            return 0
        marks = np.concatenate(self._marks)
        return len(marks) - count_distinct(marks)


def is_serial(cells: Array) -> bool:
    """Tell whether whole numbers count rows, from the beginning, or again in every group.

    Nine of ten rows are one above the row before; or 1, 2, 3, ... number runs of rows.

    Parameters
    ----------
    cells : array of float (n,)
        The first rows; NaN where a cell is missing.
    """
    cells = cells[np.isfinite(cells)]
    if len(cells) < _RUN:
        return False
    steps = np.diff(cells)
    if np.mean(steps == 1) >= _STEPS:
        return True
    if not np.isin(steps, (0, 1)).all() or cells[0] not in (0, 1):
        return False
    ends = np.flatnonzero(steps == 1)
    runs = np.diff(ends)
    even = len(runs) >= _RUN and bool((runs == runs[0]).all())
    return even or len(ends) >= _MANY


def likely_codes(cells: Array) -> tuple[float, ...]:
    """Return values that may stand for missing: nines far outside the rest that come again.

    -999, 9999, 99.9, -9; also a round number below zero where nothing else is.

    Parameters
    ----------
    cells : array of float (n,)
        The first rows of a column; NaN where a cell is missing.
    """
    found = list[float]()
    values, counts = np.unique(cells[np.isfinite(cells)], return_counts=True)
    while len(values) > _VALUES and len(found) < _CODES:
        ends = [(len(values) - 1, -2), (0, 1)]
        at = next((i for i, by in ends if _is_code(values, counts, i, by)), None)
        if at is None:
            break
        found.append(float(values[at]))
        values, counts = np.delete(values, at), np.delete(counts, at)
    return tuple(found)


def _is_code(values: Array, counts: Array, at: int, beside: int) -> bool:
    """Tell whether the first or last of sorted values repeats, is round, and lies far off."""
    if counts[at] < 2:
        return False
    value, rest = float(values[at]), np.delete(values, at)
    span, gap = float(rest[-1] - rest[0]), abs(value - float(values[beside]))
    digits = f"{abs(value):.10g}".replace(".", "").strip("0")
    same = len(set(digits)) == 1 and digits[0] in "789"
    if same and (len(digits) > 1 or value < 0):
        return gap > _NINES * span
    alone = value < 0 <= rest[0] and len(digits) == 1 and value % 10 == 0
    return alone and gap > span


def count_distinct(values: Array) -> int:
    """Return how many different values there are; by sorting, which is the faster way."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def _squares(away: Array, low: Array, high: Array) -> Array:
    """Return the sums of squares per column (p,), in longer numbers where float64 has none.

    Columns that vary, by their range, and have all their cells need them.
    """
    found = np.einsum("ij,ij->j", away, away)
    plain = (found > _LEAST) & (found < np.inf)
    odd = np.flatnonzero(~plain & (low < high) & np.isfinite(low) & np.isfinite(high))
    if not len(odd):
        return np.asarray(found)
    longer = found.astype(np.longdouble)
    part = away[:, odd].astype(np.longdouble)
    longer[odd] = (part * part).sum(axis=0)
    return longer


def _gapped(tile: Array, origin: Array) -> tuple[Array, ...]:
    """Return counts, offsets, scatters, ranges and whether all are whole, of finite cells."""
    there = np.isfinite(tile)
    counts = there.sum(axis=0)
    low = np.min(tile, axis=0, where=there, initial=np.inf)
    high = np.max(tile, axis=0, where=there, initial=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.where(there, tile - origin, 0.0)
        offset = away.sum(axis=0) / np.maximum(counts, 1)
        away = np.where(there, away - offset, 0.0)
        scatter = _squares(away, low, high)
        whole = ~(there & (tile != np.rint(tile))).any(axis=0)
    return counts, offset, scatter, low, high, whole


def _marks(tile: Array, weights: Array) -> Array:
    """Return a number for each row (r,) that equal rows share: a sum of mixed 64-bit words."""
    words = (tile + 0.0).view(np.uint64)  # a copy, in which -0 is 0
    words ^= words >> np.uint64(32)
    words *= weights
    words ^= words >> np.uint64(29)
    return np.asarray(np.add.reduce(words, axis=1))
