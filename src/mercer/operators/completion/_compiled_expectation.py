"""What a completion expects of rows, in compiled loops where they are worth loading.

Loops over rows with missing cells, in the form that Numba compiles.

Rows are taken a group at a time: their small systems are solved side by side, each entry a
vector over the rows of the group. Arrays are indexed, never cut: a slice costs as much as a
dozen cells. Inner loops run over cells that lie side by side, without a branch: on random
gaps it would be guessed wrongly. Some places are unsigned: machine code need not ask if they
count from the end.
"""

from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from mercer.arrays import Array, can_compile, compiled, in_any_order

if TYPE_CHECKING:
    from mercer.operators.completion._completion_model import Completion


_GROUP = 32  # rows, an even number: few enough to stay in the nearest caches
NEIGHBOURS = 4  # columns whose gaps are looked up together


def complete_rows(
    block: Array,
    shift: Array,
    factor: Array,
    across: Array,
    sets: Array,
    whole: Array,
    back: bool,
    out: Array,
) -> int:
    """Write rows (r, p) to `out` with their missing cells filled by what is expected of them.

    Return how many rows have an infinite cell, or cells whose products are.

    With y = (x - mean)·f, a row solves (s²I + W_oᵀW_o) u = W_oᵀy_o, where W_oᵀW_o is WᵀW
    less the products of its missing cells; these are Wu, or mean + Wu/f.

    Parameters
    ----------
    block : ndarray of shape (r, p)
        x, NaN where a cell is missing.
    shift, factor : ndarray of shape (p,)
        Mean and f.
    across : ndarray of shape (k, p)
        Wᵀ.
    sets : ndarray of shape (16h, q) or (2h, q)
        W_a∘W_b, a ≤ b, added up over sets of neighbours: columns 4g to 4g + 3, those whose
        bits are set in c, in row 16g + c; or column g alone in row 2g + 1. Row 0 is zero.
        q ≥ k(k+1)/2; what is beyond is not used.
    whole : ndarray of shape (q,)
        s²I + WᵀW.
    back : bool
        Whether rows are written as x, in the bits they have, and not as y.
    out : ndarray of shape (r, p)
        What is written.
    """
    r, p = block.shape
    k, q = across.shape[0], sets.shape[1]
    alone = len(sets) == 2 * p
    y, flags = np.zeros((_GROUP, p)), np.zeros((_GROUP, p + NEIGHBOURS), np.uint8)
    gaps, count = np.zeros((_GROUP, p + 4), np.uint32), np.zeros(_GROUP, np.int64)
    matrix, inner = np.zeros((q, _GROUP)), np.zeros((k, _GROUP))
    left, fill = np.zeros(q), np.zeros(p)
    infinite = 0
    for start in range(0, r, _GROUP):
        rows = min(_GROUP, r - start)
        _analyse(block, start, rows, shift, factor, y, flags)
        if alone:
            _find_gaps(flags, p, rows, gaps, count)
        else:
            _find_sets(flags, p, rows, gaps, count)
        _take_away(whole, sets, gaps, count, rows, left, matrix)
        _multiply(across, y, rows, inner)
        _solve(matrix, inner, rows)
        infinite += _quieten(inner, rows)
        _write(block, start, rows, shift, factor, across, inner, y, back, fill, out)
    return infinite


def _analyse(
    block: Array,
    start: int,
    rows: int,
    shift: Array,
    factor: Array,
    y: Array,
    flags: Array,
) -> None:
    """Write y, zero where a cell is missing, and 1 to the flags of such cells."""
    for i in range(rows):
        for j in range(block.shape[1]):
            value = (block[start + i, j] - shift[j]) * factor[j]
            seen = value == value
            y[i, j] = value if seen else 0.0
            flags[i, j] = 0 if seen else 1


def _find_sets(flags: Array, p: int, rows: int, gaps: Array, count: Array) -> None:
    """Write in which rows of `sets` the missing cells stand, four neighbours in one.

    Four times row 0 follows: nothing.
    """
    for i in range(rows):
        found = np.uint64(0)
        for g in range((p + 3) // 4):
            code = np.uint64(0)
            for c in range(4):
                code |= np.uint64(flags[i, 4 * g + c]) << np.uint64(c)
            gaps[i, found] = 16 * g + code
            found += np.uint64(code != 0)
        for t in range(4):
            gaps[i, found + np.uint64(t)] = 0
        count[i] = found


def _find_gaps(flags: Array, p: int, rows: int, gaps: Array, count: Array) -> None:
    """Do the same where every missing cell has a row of its own."""
    for i in range(rows):
        found = np.uint64(0)
        for j in range(p):
            gaps[i, found] = 2 * j + 1
            found += np.uint64(flags[i, j])
        for t in range(4):
            gaps[i, found + np.uint64(t)] = 0
        count[i] = found


def _take_away(
    whole: Array,
    sets: Array,
    gaps: Array,
    count: Array,
    rows: int,
    left: Array,
    matrix: Array,
) -> None:
    """Write `whole` less the products of the missing cells, four sums at a time."""
    for i in range(rows):
        for a in range(len(left)):
            left[a] = whole[a]
        for t in range(0, count[i], 4):
            c, d = np.uint64(gaps[i, t]), np.uint64(gaps[i, t + 1])
            e, f = np.uint64(gaps[i, t + 2]), np.uint64(gaps[i, t + 3])
            for a in range(len(left)):
                left[a] -= (sets[c, a] + sets[d, a]) + (sets[e, a] + sets[f, a])
        for a in range(len(left)):
            matrix[a, i] = left[a]


@in_any_order
def _multiply(across: Array, y: Array, rows: int, inner: Array) -> None:
    """Write Wᵀy of all rows, two by two: what is read is used twice."""
    k, p = across.shape
    for i in range(0, rows, 2):
        for a in range(0, k - 1, 2):
            s, t, u, v = 0.0, 0.0, 0.0, 0.0
            for j in range(p):
                s += across[a, j] * y[i, j]
                t += across[a + 1, j] * y[i, j]
                u += across[a, j] * y[i + 1, j]
                v += across[a + 1, j] * y[i + 1, j]
            inner[a, i], inner[a + 1, i] = s, t
            inner[a, i + 1], inner[a + 1, i + 1] = u, v
        if k % 2:
            s, u = 0.0, 0.0
            for j in range(p):
                s += across[k - 1, j] * y[i, j]
                u += across[k - 1, j] * y[i + 1, j]
            inner[k - 1, i], inner[k - 1, i + 1] = s, u


def _solve(matrix: Array, u: Array, group: int) -> None:
    """Solve for u (k, g) in its place; `matrix` (k(k+1)/2, g) becomes its Cholesky factors.

    The first `group` of g systems are solved. Packed by columns of the lower triangle, as in
    `_cholesky`; 1/L_jj on the diagonal.
    """
    k, at = len(u), 0
    for j in range(k):
        for g in range(group):
            matrix[at, g] = 1.0 / np.sqrt(matrix[at, g])
            u[j, g] *= matrix[at, g]
        below = at + k - j
        for i in range(at + 1, at + k - j):
            for g in range(group):
                matrix[i, g] *= matrix[at, g]
                u[j + i - at, g] -= matrix[i, g] * u[j, g]
        for i in range(at + 1, at + k - j):
            for h in range(i, at + k - j):
                for g in range(group):
                    matrix[below, g] -= matrix[h, g] * matrix[i, g]
                below += 1
        at += k - j
    for j in range(k - 1, -1, -1):
        at -= k - j
        for i in range(1, k - j):
            for g in range(group):
                u[j, g] -= matrix[at + i, g] * u[j + i, g]
        for g in range(group):
            u[j, g] *= matrix[at, g]


def _quieten(inner: Array, rows: int) -> int:
    """Set u to 0 where an infinite cell has left no number; return for how many rows."""
    found = 0
    for i in range(rows):
        total = 0.0
        for a in range(len(inner)):
            total += inner[a, i]
        if not np.isfinite(total):
            found += 1
            for a in range(len(inner)):
                inner[a, i] = 0.0
    return found


def _write(
    block: Array,
    start: int,
    rows: int,
    shift: Array,
    factor: Array,
    across: Array,
    inner: Array,
    y: Array,
    back: bool,
    fill: Array,
    out: Array,
) -> None:
    """Write rows with their missing cells filled by Wu, or mean + Wu/f.

    Both values of a cell are at hand and one is chosen: that needs no branch.
    """
    k, p = across.shape
    for i in range(rows):
        u = inner[0, i]
        for j in range(p):
            fill[j] = across[0, j] * u
        for a in range(1, k - 3, 4):
            u, v, w, z = inner[a, i], inner[a + 1, i], inner[a + 2, i], inner[a + 3, i]
            for j in range(p):
                fill[j] += (across[a, j] * u + across[a + 1, j] * v) + (
                    across[a + 2, j] * w + across[a + 3, j] * z
                )
        for a in range(k - (k - 1) % 4, k):
            u = inner[a, i]
            for j in range(p):
                fill[j] += across[a, j] * u
        if back:
            for j in range(p):
                x, value = block[start + i, j], fill[j] / factor[j] + shift[j]
                out[start + i, j] = x if x == x else value
        else:
            for j in range(p):
                x, seen, value = block[start + i, j], y[i, j], fill[j]
                out[start + i, j] = seen if x == x else value


@in_any_order
def look_at(block: Array, counts: Array, low: Array, high: Array, empty: Array) -> int:
    """Count missing cells per column and find the range of the others; look for empty rows.

    Parameters
    ----------
    block : ndarray of shape (r, p)
        Rows, NaN where a cell is missing.
    counts : ndarray of int of shape (p,)
        Added to.
    low, high : ndarray of shape (p,)
        Least and largest cell so far.
    empty : ndarray of int of shape (r,)
        Begins with the numbers of the rows without a cell, of which the count is returned.
    """
    r, p = block.shape
    found = 0
    for i in range(r):
        gaps = 0
        for j in range(p):
            x = block[i, j]
            gap = 0 if x == x else 1
            counts[j] += gap
            gaps += gap
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
        if gaps == p:
            empty[found] = i
            found += 1
    return found


_WORTH_LOADING = 4e6  # cells whose completion gains a tenth of a second
_MOST_AXES = 24  # whose products, k²/2 for every missing cell, are cheap
_TOGETHER = 8  # numbers that a processor multiplies at a time
_CACHE = 4e6  # bytes of sums that are looked up
_NOISE = 1e-6  # of the largest variance: below it, differences of products say too little


def is_worth_compiling(cells: float) -> bool:
    """Tell whether rows with so many cells are completed in compiled loops."""
    return cells >= _WORTH_LOADING and can_compile()


def cells_of(block: Array) -> Array:
    """Return rows (r, p) in the form that loops are compiled for."""
    dtype = block.dtype if block.dtype in (np.float32, np.float64) else np.float64
    cells = np.ascontiguousarray(block, dtype).view()
    cells.flags.writeable = False  # one kind of array: each is compiled for itself
    return cells


@final
class CompiledExpectation:
    """One completion made ready for compiled loops; see `Expectation`.

    Cells are read once: centred, their row solved for and filled while it is in the cache.
    All is float64 but what is written. Several threads may use it at a time.

    Parameters
    ----------
    completion : Completion
        One that `can_be_compiled`.
    """

    def __init__(self, completion: "Completion") -> None:
        loadings = completion.loadings
        p, k = loadings.shape
        one, other = np.triu_indices(k)
        used = len(one)
        pairs = np.zeros((p, -(-used // _TOGETHER) * _TOGETHER))
        pairs[:, :used] = loadings[:, one] * loadings[:, other]
        whole = pairs.sum(axis=0)
        whole[:used][one == other] += completion.noise
        centring = completion.centring
        factor = np.ones(p) if centring.factor is None else centring.factor
        across = np.ascontiguousarray(loadings.T)
        self._model = centring.mean, factor, across, _sets_of(pairs), whole
        self._loop = compiled(complete_rows)
        self._blind = bool(np.any(factor == 0))  # 0 times infinity looks like a gap

    @classmethod
    def of(cls, completion: "Completion") -> Self | None:
        """Return a completion made ready, or None where the loops would not hold it."""
        return cls(completion) if can_be_compiled(completion) else None

    def rows(self, block: Array, out: Array) -> None:
        """Write y (r, p) with its missing cells filled."""
        self._run(block, out, back=False)

    def fill(self, out: Array, block: Array) -> bool:
        """Write x (r, p) with its missing cells filled; the observed ones keep their bits.

        Tell whether a cell may be infinite.
        """
        return self._run(block, out, back=True) > 0 or self._blind

    def _run(self, block: Any, out: Array, *, back: bool) -> int:
        return self._loop(cells_of(block), *self._model, back, out)  # type: ignore[no-any-return]


def _sets_of(pairs: Array) -> Array:
    """Return the sums of rows (p, q) that `complete_rows` looks up.

    They are those of all sets of four neighbours where they are no larger than a cache.
    """
    p, q = pairs.shape
    width = NEIGHBOURS if 4 * p * q * pairs.itemsize <= _CACHE else 1
    groups = np.zeros((-(-p // width), width, q))
    groups.reshape(-1, q)[:p] = pairs
    chosen = np.arange(2**width)[:, None] >> np.arange(width) & 1
    return np.matmul(chosen.astype(np.float64), groups).reshape(-1, q)


def can_be_compiled(completion: "Completion") -> bool:
    """Tell whether the loops hold a completion: no unit, few axes, noise that is not tiny."""
    k = len(completion.values)
    if completion.centring.exponent or not 0 < k <= _MOST_AXES:
        return False
    return bool(completion.noise > _NOISE * completion.values[0])
