"""The frame of a mixed table: where numbers are centred, how they are scaled, which levels."""

import dataclasses
import itertools

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, in_short, warn
from mercer.estimators.categories._category_codes import Coded, Variable, coded, coded_again
from mercer.estimators.mixed._mixed_table import Mixed

_HUGE, _SHRINK = 2.0**1000, 2.0**-40  # numbers whose differences may leave float64
_TINY, _GROW = 2.0**-900, 2.0**200  # those whose deviations may have no inverse there
_DENSE, _STORED = 8, 12  # bytes of a cell of a dense and of a sparse table
_FEW = 10  # rows below which nothing is said of the number of levels


@dataclasses.dataclass(frozen=True, eq=False)
class MixedFrame:
    """How cells become what is analysed.

    Numbers: z = (x·unit - origin - offset)/spread, 0 where nothing varies. Levels: a cell is
    one of them, and each has a share.

    Attributes
    ----------
    unit, origin, offset, spread : arrays of shape (p,)
        Powers of two that keep differences finite; the mean in two parts, so that a large one
        costs no digits; the 1/n standard deviation, 0 for a constant column.
    variables : tuple of Variable
        The Q categorical variables.
    shares : array of shape (J,)
        Σ of the masses of the rows that have each level; 0 for levels of rows without mass.
    kinds : bool array of shape (p + Q,)
        Which given columns are categories.
    names : tuple of str
        Of the given columns.
    scaled : bool
        Whether each number is divided by its own deviation; else one spread serves a group.
    """

    unit: Array
    origin: Array
    offset: Array
    spread: Array
    variables: tuple[Variable, ...]
    shares: Array
    kinds: Array
    names: tuple[str, ...]
    scaled: bool = True

    @property
    def width(self) -> int:
        """Columns of what is analysed: p + J."""
        return len(self.spread) + len(self.shares)

    @property
    def starts(self) -> Array:
        """Where the levels of each variable begin among the p + J columns (Q + 1,)."""
        sizes = np.cumsum([0, *(len(v) for v in self.variables)])
        return sizes.astype(int) + len(self.spread)

    @property
    def masses(self) -> Array:
        """The metric of the columns (p + J,): 1 for numbers, the share for levels."""
        return np.concatenate([np.ones(len(self.spread)), self.shares])

    @property
    def owner(self) -> Array:
        """The given column that each of the p + J columns comes from."""
        levels = np.repeat(np.flatnonzero(self.kinds), [len(v) for v in self.variables])
        return np.concatenate([np.flatnonzero(~self.kinds), levels]).astype(int)

    @property
    def labels(self) -> list[str]:
        """The names of the p + J columns: those of numbers, then "variable=level"."""
        numbers = [self.names[at] for at in np.flatnonzero(~self.kinds)]
        return numbers + [label for v in self.variables for label in v.labels]

    @property
    def live(self) -> Array:
        """Which of the p + J columns vary: a level must be used, and not alone."""
        used = self.shares > 0
        for a, b in zip(*self._ends(), strict=True):
            used[a:b] &= np.count_nonzero(used[a:b]) > 1
        return np.append(self.spread > 0, used)

    @property
    def rank(self) -> int:
        """Columns that can vary by themselves: p + J - Q, constant ones not counted."""
        levels = self.live[len(self.spread) :]
        varying = sum(bool(levels[a:b].any()) for a, b in zip(*self._ends(), strict=True))
        return int(np.count_nonzero(self.live)) - varying

    def _ends(self) -> tuple[Array, Array]:
        starts = self.starts - len(self.spread)
        return starts[:-1], starts[1:]

    @property
    def mean(self) -> Array:
        """Means (p,) of the numbers."""
        return (self.origin + self.offset) / self.unit

    @property
    def scale(self) -> Array:
        """Standard deviations (p,) of the numbers, 0 for constant columns."""
        return self.spread / self.unit

    def standard(self, numbers: Array, out: Array | None = None) -> Array:
        """Return z (n, p) of numbers; missing cells stay NaN."""
        z = np.empty(numbers.shape) if out is None else out
        np.multiply(numbers, self.unit, out=z, dtype=np.float64, casting="unsafe")
        z -= self.origin
        z -= self.offset
        z *= np.where(self.spread > 0, 1 / np.where(self.spread > 0, self.spread, 1.0), 0.0)
        return z

    def back(self, z: Array, at: Array) -> Array:
        """Return numbers x of z (c,) in the columns `at` (c,)."""
        x = (z * self.spread[at] + self.offset[at] + self.origin[at]) / self.unit[at]
        return np.asarray(x)

    def codes(self, table: Mixed, unseen: str = "raise") -> Array:
        """Return the levels (n, Q) of a table; -1 for missing cells and unseen values."""
        if not self.variables:
            return np.empty((table.shape[0], 0), np.int32)
        found = coded_again(
            list(table.columns),
            self.variables,
            missing="passive",
            unseen=unseen,
            places=table.category_places,
        )
        return found.codes


def framed(table: Mixed, masses: Array, groups: Array | None = None) -> MixedFrame:
    """Return the frame of a table whose rows have `masses` (n,); gaps are passed over.

    Parameters
    ----------
    table : Mixed
        The rows.
    masses : array of shape (n,)
        Of the rows; they sum to one.
    groups : int array of shape (given columns,) or None
        Numbers of a group share the largest deviation among them, so that they are centred
        only, in a unit of the group; None divides each by its own.
    """
    unit, origin, offset, spread = _scales(table.numbers, masses)
    if groups is not None:
        own = groups[table.number_places]
        for group in np.unique(own):
            spread[own == group] = _one_unit(spread[own == group], unit[own == group])
    levels = coded(list(table.columns), missing="passive") if table.columns else None
    variables = () if levels is None else levels.variables
    shares = np.empty(0) if levels is None else _shares(levels, masses)
    seen = (variables, shares, table.kinds, table.names)
    frame = MixedFrame(unit, origin, offset, spread, *seen, groups is None)
    _warn_constant(frame)
    _warn_labels(frame, table.shape[0])
    return frame


def _shares(levels: Coded, masses: Array) -> Array:
    """Return shares (J,) that sum to one in every variable, cells without a level aside."""
    found, ends = levels.shares(masses), levels.offsets
    for a, b in itertools.pairwise(ends):
        total = found[a:b].sum()
        found[a:b] /= total if total > 0 else 1.0
    return found


def _one_unit(spread: Array, unit: Array) -> Array:
    """Return the largest deviation of a group for each of its columns that varies."""
    if not len(spread):
        return spread
    at = int(np.argmax(spread / unit))
    return np.where(spread > 0, spread[at] * (unit / unit[at]), 0.0)


def _scales(numbers: Array, masses: Array) -> tuple[Array, Array, Array, Array]:
    """Return unit, origin, offset and spread (p,) of columns, column by column."""
    p = numbers.shape[1]
    unit, origin, offset, spread = np.ones(p), np.zeros(p), np.zeros(p), np.zeros(p)
    there = masses > 0
    for j in range(p):
        x = np.asarray(numbers[:, j], np.float64)
        seen = there & ~np.isnan(x)
        if not seen.any():
            continue
        x, r = x[seen], masses[seen] / masses[seen].sum()
        largest = np.abs(x).max()
        if largest > _HUGE or largest < _TINY:
            unit[j] = _SHRINK if largest > _HUGE else _GROW
            x = x * unit[j]
        origin[j] = np.clip(r @ x, x.min(), x.max())
        x = x - origin[j]
        if x.min() == x.max():
            origin[j] += x[0]
            continue
        offset[j] = r @ x
        x -= offset[j]
        size = np.abs(x).max()
        spread[j] = size * np.sqrt(r @ (x / size) ** 2)
    return unit, origin, offset, spread


def stored_cells(p: int, sizes: list[int]) -> int | None:
    """Return p + Q, the cells a sparse row stores; None where the table is better dense.

    A dense cell takes 8 bytes and a stored one 12; beyond twice the bytes a sparse product is
    the quicker one too. Either way both halves are one table, and one operator.

    Parameters
    ----------
    p : int
        Columns of numbers.
    sizes : list of int
        Levels of each of the Q categorical variables.
    """
    stored = p + len(sizes)
    return stored if 2 * _STORED * stored < _DENSE * (p + sum(sizes)) else None


def table_of_cells(frame: MixedFrame, table: Mixed, codes: Array) -> Array:
    """Return T (n, p + J): z of the numbers beside zeros and ones, gaps at their means.

    Dense, or a CSR array whose rows hold p + Q cells, whichever `stored_cells` says; a
    missing category is a share for every level of its variable.
    """
    n, p = table.numbers.shape
    if stored_cells(p, [len(v) for v in frame.variables]) is not None:
        return _sparse(frame, table, codes)
    made = np.zeros((n, frame.width))
    frame.standard(table.numbers, made[:, :p])
    np.nan_to_num(made[:, :p], copy=False)
    for q, (a, b) in enumerate(itertools.pairwise(frame.starts)):
        there = np.flatnonzero(codes[:, q] >= 0)
        made[there, a + codes[there, q]] = 1.0
        if len(there) < n:
            made[np.flatnonzero(codes[:, q] < 0), a:b] = frame.shares[a - p : b - p]
    return made


def _sparse(frame: MixedFrame, table: Mixed, codes: Array) -> Array:
    """Return T as a CSR array: rows in order, columns in order."""
    n, p = table.numbers.shape
    kind = np.int32 if n * frame.width < 2**31 else np.int64
    starts = frame.starts
    sizes = np.diff(starts)
    gaps = codes < 0
    lengths = p + np.where(gaps, sizes, 1).sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(kind)
    data, indices = np.ones(int(ends[-1])), np.empty(int(ends[-1]), kind)
    at = ends[:-1].astype(np.int64)
    if p:
        z = np.nan_to_num(frame.standard(table.numbers), copy=False)
        for j in range(p):
            data[at + j], indices[at + j] = z[:, j], j
        at = at + p
    for q, size in enumerate(sizes):
        hole = gaps[:, q]
        full = at[~hole]
        indices[full] = starts[q] + codes[~hole, q]
        for level in range(size if hole.any() else 0):
            data[at[hole] + level] = frame.shares[starts[q] - p + level]
            indices[at[hole] + level] = starts[q] + level
        at = at + np.where(hole, size, 1)
    made = scipy.sparse.csr_array((data, indices, ends), shape=(n, frame.width))
    made.has_sorted_indices = True
    return made


def _warn_labels(frame: MixedFrame, n: int) -> None:
    """Say which categories name the rows, as ids and free text do."""
    many = [v for v in frame.variables if n >= _FEW and 2 * len(v) > n]
    if many:
        shown = in_short([f"{v.name!r} ({len(v)} levels)" for v in many])
        warn(
            "categories with more than half as many levels as rows name the rows",
            got=f"{n} rows; {shown}",
            fix="drop such columns, or pass them to supplementary(Y)",
            category=DataWarning,
        )


def _warn_constant(frame: MixedFrame) -> None:
    """Say which columns tell nothing; refuse a table of such columns alone."""
    numbers = [frame.names[at] for at in np.flatnonzero(~frame.kinds)]
    flat = [name for name, s in zip(numbers, frame.spread, strict=True) if s == 0]
    live = frame.live
    for a, b, variable in zip(
        frame.starts[:-1], frame.starts[1:], frame.variables, strict=True
    ):
        if not live[a:b].any():
            flat.append(variable.name)
    shown = in_short([repr(name) for name in flat])
    if frame.rank == 0:
        raise InputError(
            "the data has no variance: all columns are constant",
            got=f"{len(flat)} columns with one value each: {shown}",
            fix="pass columns that vary",
        )
    if flat:
        warn(
            "columns with one value tell nothing and are left at zero",
            got=f"{len(flat)} of {len(frame.names)} columns: {shown}",
            fix="drop such columns",
            category=DataWarning,
        )
