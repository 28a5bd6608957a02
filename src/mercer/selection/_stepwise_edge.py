"""Components beyond the edge of noise, one after the other: a function of the table alone.

The noise has a size of its own in every column, rows that lie far out count no more than
others, and rows that belong together count as what they tell.
"""

import dataclasses
from collections.abc import Callable
from typing import final

import numpy as np
import scipy.special

from mercer.arrays import Array, leading_eigh, quiet_blas
from mercer.selection._bicross import further, partial_variances

# 95 % quantiles of the largest eigenvalue of noise, in units of its scale beyond its edge, by
# simulation (white, heavy-tailed, discrete; 30 x 6 to 1000 x 20): the noise of the columns is
# taken as equal, or every column in units of its own. Few columns: less by _FEW / p; of its
# own noise and many columns: more by _MANY for ten times as many as 20.
_POOLED, _OWN, _FEW, _MANY = 0.65, 0.1, 1.5, 0.6
_CHANCE = 2.0  # variance of the logarithm of a variance, times its degrees of freedom
_LEAST = 1 / 30  # of the median noise: no column is taken for quieter
_ONE_BY_ONE = 8  # components that are tried in turn; of more some
_SMALL, _LARGE = 32, 128  # columns of small tables and of large ones
_STEPS = (40, 16, 2)  # of the noise of the columns, at most: small tables, others, large ones
_SETTLED = 0.3  # of the sampling error: the noise is known well enough
_AT_ONCE = 10.0  # scales beyond the edge from which a first guess of noise will do
_SURE = 3.0  # scales beyond the edge from which a last component needs no second look
_FAR = 2.0  # standard deviations of a squared length beyond the median, for normal rows
_OUTLYING = 0.01  # chance that a normal table has a row that is named
_MOVES = 2.0  # standard errors of the eigenvalues between which the number may move
_SUBSAMPLE = 0.05  # rows that are left out when it moves
_PLENTY = 20.0  # rows per column from which partial variances are a first guess of noise
_MORE = 8  # eigenvalues that are looked at beyond the components
_INSIDE = 0.02  # of the noise of a column that its axes leave to be seen, at least
_TINY = 1e-6  # of a column's variance that is noise, at least
_NOTHING = 1e-9  # of the mean variance that is left where a table has no noise
_LAGS = 50  # of rows that follow each other, at most
_CLEAR, _LATER = 4.0, 2.0  # standard errors from which rows are alike, at lag 1 and later
_MUCH = 0.12  # correlation of neighbours that is said in any case
_TIMES = 3.0  # median lengths beyond which a row may be named


@final
@dataclasses.dataclass(frozen=True)
class EdgeCount:
    """How many components are beyond the edge of noise.

    Attributes
    ----------
    k : int
        The least number after which what is left looks like noise.
    interval : (int, int)
        Numbers that other samples of the same rows (95 % of them) would give.
    beyond : ndarray of shape (k + 1,)
        Distance of every component from what noise exceeds in 5 % of tables, in scales of the
        Tracy-Widom law; that of the last is negative.
    effective_rows : float
        Independent rows of equal size that would tell as much.
    outlying : tuple of int
        Rows so far out that normal ones would not be; they were held back.
    capped : bool
        Whether that is all that can be found: half as many as columns.
    neighbours : float
        Correlation of rows that follow each other beyond the components, where it is more
        than chance and would have made components; otherwise 0.
    """

    k: int
    interval: tuple[int, int]
    beyond: Array
    effective_rows: float
    outlying: tuple[int, ...] = ()
    capped: bool = False
    neighbours: float = 0.0


def stepwise_edge(
    table: Array, *, counts: Array | None = None, groups: Array | None = None
) -> EdgeCount:
    """Return how many components of a table are beyond the edge of noise.

    For k = 0, 1, …: with k axes V of x/√ψ taken out, ψ_j is what is left of column j, over
    1 - Σ_i≤k v_ji², so that in units of √ψ the rest has variance one in every column. Sizes
    that differ no more than they would by chance are taken as equal: log ψ_j is drawn to its
    mean by the share of its variance that chance explains. The next eigenvalue λ is beyond
    noise if λ/σ² exceeds what the largest of a white table of N' - k rows and p - k columns
    does in 5 % of tables, σ² the mean of those left ([Johnstone2001]_, [ElKaroui2007]_).

    Rows are held back where the squared length r of their rest is above its median by more
    than two standard deviations of normal rows: they count with the weight median·(1 + …)/r.
    N' is the number of rows that would give products of two columns the variance they have
    with random signs: Σ_g(Σ_i∈g r_ia r_ib)², over all a ≠ b, where g are single rows or
    `groups`.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows about their mean, scaled or not.
    counts : ndarray of shape (n,) or None
        How often each row stands.
    groups : ndarray of int of shape (n,) or None
        Rows with the same number belong together.

    Notes
    -----
    Nothing is drawn, and no order of rows or columns has a part in it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 20))
    >>> X += rng.standard_normal(X.shape)
    >>> stepwise_edge(X - X.mean(axis=0)).k
    2
    """
    view = _RowByRow(table, counts, groups)
    with quiet_blas(min(table.shape)):
        return view.answer(*_search(view)) if view.columns > 1 else _nothing()


def stepwise_edge_of_sums(gram: Array, rows: float) -> EdgeCount:
    """Return the same from sums of products alone: rows count alike, whatever their length.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        X̃ᵀX̃.
    rows : float
        Their number, Σw where they are weighted.
    """
    view = _ProductSums(gram, rows)
    with quiet_blas(len(gram)):
        return view.answer(*_search(view)) if view.columns > 1 else _nothing()


def count_beyond(values: Array, trace: float, rows: float, columns: int) -> int:
    """Return how many eigenvalues in turn are beyond white noise of what is left.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Leading eigenvalues of a covariance matrix, descending.
    trace : float
        Sum of all.
    rows, columns : float, int
        n and p of the table.
    """
    if columns < 2 or trace <= 0:
        return len(values)
    noise, axes = np.full(columns, trace / columns), np.zeros((columns, 0))
    return _Rest(0, values, axes, trace, noise, 0.0, rows - 1).count()


def _nothing() -> EdgeCount:
    return EdgeCount(0, (0, 0), np.full(1, -np.inf), 0.0)


@final
@dataclasses.dataclass(frozen=True)
class _Rest:
    """The table with k components taken out, in units of the noise of its columns.

    `values` are the leading eigenvalues, `trace` the sum of all; `own` is 1 where every column
    has noise of its own size and 0 where all have the same; `effective` is N'; `lift` is how
    much higher the edge lies than that of N' rows, where rows come in groups.
    """

    k: int
    values: Array  # (m,), m > k
    axes: Array  # (p, m)
    trace: float
    noise: Array  # (p,)
    own: float
    effective: float
    lift: float = 0.0

    def beyond(self, j: int, shift: Array | float = 0.0) -> float:
        """Return how far eigenvalue j (from 0) is beyond noise with j components taken out."""
        p = len(self.noise)
        rows, columns = max(self.effective - j, 1.5), p - j
        left = self.trace - float(np.sum(self.values[:j]))
        if columns < 2 or j >= len(self.values) or left < _NOTHING * self.trace * columns / p:
            return -np.inf
        a, b = np.sqrt(rows - 0.5), np.sqrt(columns - 0.5)
        scale = (a + b) * np.cbrt(1 / a + 1 / b)
        many = _MANY * np.log10(max(1.0, min(rows, columns) / 20))
        least = _POOLED * (1 - self.own) + (_OWN + many) * self.own - _FEW / columns
        size = (float(self.values[j]) + float(shift)) * columns / left * rows
        return float((size - (a + b) ** 2 - self.lift * rows) / scale - least)

    def count(self, shifts: Array | None = None) -> int:
        """Return how many eigenvalues in turn are beyond noise, each moved by its shift."""
        j, most = 0, len(self.values)
        while j < most and self.beyond(j, 0.0 if shifts is None else shifts[j]) > 0:
            j += 1
        return j


Leading = Callable[[Array, int], tuple[Array, Array]]  # of x/√ψ: values, axes (p, m)


def _pooled(sizes: Array, freedom: float) -> tuple[Array, float]:
    """Return variances drawn to their geometric mean, and the share of them that is their own.

    Logarithms of variances that are equal differ with a variance of 2/freedom by chance.
    """
    logs = np.log(sizes)
    mean = float(np.mean(logs))
    spread = float(np.sum((logs - mean) ** 2)) / max(len(logs) - 1, 1)
    own = max(0.0, 1 - _CHANCE / freedom / spread) if spread > 0 else 0.0
    return np.exp(mean + own * (logs - mean)), own


def _settled(
    leading: Leading,
    whole: Array,
    sizes: Array,
    k: int,
    noise: Array,
    freedom: float,
    steps: int,
) -> tuple[Array, float]:
    """Return the noise of the columns (p,) when k components are taken out, and its own share.

    Parameters
    ----------
    leading : function
        Of the table in units of √ψ.
    whole : ndarray of shape (p,)
        Variances of the columns, in the units of `noise`.
    sizes : ndarray of shape (p,)
        Squares of the units: in which columns are compared with each other.
    noise : ndarray of shape (p,)
        First guess.
    steps : int
        At most; 0 is as many as such tables need.
    """
    own, before = 1.0, None
    steps = steps or _STEPS[(len(whole) > _SMALL) + (len(whole) > _LARGE)]
    tol = _SETTLED * np.sqrt(2 / freedom)
    for _ in range(steps):
        left, inside = whole, 0.0
        if k:
            values, axes = leading(noise, k)
            squares = axes**2
            inside = np.sum(squares, axis=1)
            left = np.maximum(whole - noise * (squares @ values), 0.0) / (1 - k / freedom)
        new = left / np.maximum(1 - inside, _INSIDE)
        new = np.maximum(new, np.maximum(_LEAST * np.median(new), _TINY * whole))
        new, own = _pooled(new * sizes, freedom - k)
        new = new / sizes
        if not k or float(np.max(np.abs(new / noise - 1))) < tol:
            return new, own
        if before is None:
            before, noise = noise, new
        else:
            before, noise = None, further(before, noise, new)
    return noise, own


class _ProductSums:
    """A table known by its sums of products: rows count alike."""

    def __init__(self, gram: Array, rows: float) -> None:
        alive = np.diagonal(gram) > 0
        gram = gram if alive.all() else gram[np.ix_(alive, alive)]
        self.freedom = max(rows - 1, 1.0)
        self.sizes = np.diagonal(gram) / self.freedom
        root = np.sqrt(np.diagonal(gram))
        self.gram = gram / root / root[:, None]
        self.columns = len(root)

    def leading(self, noise: Array, m: int) -> tuple[Array, Array]:
        """Return leading pairs in units of √ψ."""
        root = np.sqrt(noise)
        return leading_eigh(self.gram / root / root[:, None], m)

    def partial(self) -> Array:
        """Return what is left of every column when all others are known."""
        return partial_variances(self.gram)

    def fit(self, k: int, before: _Rest | None, more: int = _MORE, steps: int = 0) -> _Rest:
        """Return the rest after k components, from one near it."""
        whole = np.ones(self.columns)
        noise = whole if before is None else before.noise
        noise, own = _settled(self.leading, whole, self.sizes, k, noise, self.freedom, steps)
        return self.look(k, noise, own, more)

    def look(self, k: int, noise: Array, own: float, more: int = _MORE) -> _Rest:
        """Return the rest after k components, the noise being known."""
        values, axes = self.leading(noise, min(k + more, self.columns))
        trace = float(np.sum(1 / noise))
        return _Rest(k, np.maximum(values, 0), axes, trace, noise, own, self.freedom)

    def answer(self, k: int, rest: _Rest) -> EdgeCount:
        """Return the answer in full."""
        return _answer(k, _most(self), rest, rest.values * np.sqrt(2 / self.freedom))


class _RowByRow:
    """A table in memory: rows far out are held back, and those of a group count together."""

    def __init__(self, table: Array, counts: Array | None, groups: Array | None) -> None:
        counts = np.ones(len(table)) if counts is None else np.asarray(counts, np.float64)
        self.kept = np.flatnonzero(counts > 0)
        if len(self.kept) < len(table):
            table, counts = table[self.kept], counts[self.kept]
            groups = None if groups is None else groups[self.kept]
        self.counts, self.groups = counts, _together(groups)
        self.freedom = max(float(np.sum(counts)) - 1, 1.0)
        table = table - counts @ table / np.sum(counts)
        squares = counts @ table**2
        alive = squares > 0
        self.sizes = squares[alive] / self.freedom
        self.table = table[:, alive] / np.sqrt(self.sizes)
        self.columns = self.table.shape[1]
        self.wide = self.freedom < self.columns
        self.weights, self.mean = np.ones(len(table)), np.zeros(self.columns)
        self.lengths = np.ones(len(table))
        self._hold_back(np.ones(self.columns))

    def partial(self) -> Array:
        """Return what is left of every column when all others are known."""
        return partial_variances(self._gram())

    def fit(self, k: int, before: _Rest | None, more: int = _MORE, steps: int = 0) -> _Rest:
        """Return the rest after k components, from one near it."""
        axes, noise = None, np.ones(self.columns)
        if before is not None:
            axes, noise = before.axes[:, :k], before.noise
        own = 1.0
        for _ in range(1 if k else 2):
            self._hold_back(noise, axes)
            leading, whole = self._leading()
            noise, own = _settled(leading, whole, self.sizes, k, noise, self.freedom, steps)
        return self._look(leading, whole, k, noise, own, more)

    def look(self, k: int, noise: Array, own: float, more: int = _MORE) -> _Rest:
        """Return the rest after k components, the noise being known."""
        return self._look(*self._leading(), k, noise, own, more)

    def _look(
        self, leading: Leading, whole: Array, k: int, noise: Array, own: float, more: int
    ) -> _Rest:
        most = min(k + more, self.columns, len(self.table) - 1)
        values, axes = leading(noise, most)
        trace = float(np.sum(whole / noise))
        found = _Rest(k, np.maximum(values, 0), axes, trace, noise, own, 0.0)
        effective = self._effective(found)
        if self.groups is None:
            return dataclasses.replace(found, effective=effective)
        lift = _lift([len(rows) for rows in self.groups], self.freedom / effective)
        lift *= self.columns / self.freedom
        return dataclasses.replace(found, effective=effective, lift=lift)

    def _hold_back(self, noise: Array, axes: Array | None = None) -> None:
        """Set the weights of rows by the lengths of what is left of them."""
        rest = self.table - self.mean
        rest /= np.sqrt(noise)
        if axes is not None and axes.shape[1]:
            rest -= (rest @ axes) @ axes.T
        freedom = max(self.columns - (0 if axes is None else axes.shape[1]), 1)
        lengths = np.einsum("ij,ij->i", rest, rest)
        middle = _median(lengths, self.counts)
        most = middle * (1 + _FAR * np.sqrt(2 / freedom))
        self.lengths = lengths / (middle or 1.0)
        self.weights = np.sqrt(most / np.maximum(lengths, max(most, 1e-300)))
        heavy = self.counts * self.weights**2
        self.mean = heavy @ self.table / np.sum(heavy)

    def _held(self) -> Array:
        """Return the rows with their weights, about their mean."""
        found = self.table - self.mean
        found *= (self.weights * np.sqrt(self.counts))[:, None]
        return found

    def _gram(self) -> Array:
        held = self._held()
        return np.asarray(held.T @ held) / self.freedom

    def _leading(self) -> tuple[Leading, Array]:
        """Return what finds leading pairs in units of √ψ, and the variances of the columns."""
        if not self.wide:
            gram = self._gram()

            def tall(noise: Array, m: int) -> tuple[Array, Array]:
                root = np.sqrt(noise)
                return leading_eigh(gram / root / root[:, None], m)

            return tall, np.array(np.diagonal(gram))
        held = self._held() / np.sqrt(self.freedom)

        def wide(noise: Array, m: int) -> tuple[Array, Array]:
            scaled = held / np.sqrt(noise)
            values, left = leading_eigh(scaled @ scaled.T, m)
            size = np.sqrt(np.maximum(values, 1e-300))
            return values, scaled.T @ left / size

        return wide, np.einsum("ij,ij->j", held, held)

    def _effective(self, found: _Rest) -> float:
        """Return N': of how many rows products of two columns have the variance they have."""
        k, p = found.k, self.columns
        rest = (self.table - self.mean) * self.weights[:, None] / np.sqrt(found.noise)
        axes = found.axes[:, :k]
        rest -= (rest @ axes) @ axes.T
        squares = rest**2
        lengths = np.sum(squares, axis=1)
        total = float(self.counts @ lengths)
        if self.groups is None:
            spread = float(self.counts @ (lengths**2 - np.sum(squares**2, axis=1)))
        else:
            spread = _spread_of_groups(rest * np.sqrt(self.counts)[:, None], self.groups)
        columns = p - k
        alike = total**2 * (columns - 1) / columns / max(spread, 1e-300)
        return float(min(alike, 1.5 * self.freedom)) - 1

    def answer(self, k: int, rest: _Rest) -> EdgeCount:
        """Return the answer in full."""
        held = (self.table - self.mean) * (self.weights[:, None] / np.sqrt(rest.noise))
        scores = held @ rest.axes
        squares = scores**2
        spread = self.counts @ (squares - self.counts @ squares / np.sum(self.counts)) ** 2
        found = _answer(k, _most(self), rest, np.sqrt(spread) / self.freedom)
        held -= scores[:, : rest.k] @ rest.axes[:, : rest.k].T
        near = self._neighbours(held, k, rest) if self.groups is None and k else 0.0
        return dataclasses.replace(found, outlying=self._outlying(), neighbours=near)

    def _neighbours(self, held: Array, k: int, rest: _Rest) -> float:
        """Return the correlation of rows that follow each other, where it matters.

        Of directions u_i of what is left: c_l is the mean of u_i·u_(i+l). Rows with these
        correlations are as many independent ones as n/(1 + 2Σc_l²).
        """
        lengths = np.sqrt(np.einsum("ij,ij->i", held, held))
        unit = held / np.where(lengths > 0, lengths, 1.0)[:, None]
        found: list[float] = []
        for lag in range(1, min(_LAGS, len(unit) // 4) + 1):
            products = np.einsum("ij,ij->i", unit[:-lag], unit[lag:])
            size = float(np.sqrt(np.sum(products**2)))
            if size <= 0 or float(np.sum(products)) < (_LATER if found else _CLEAR) * size:
                break
            found.append(float(np.mean(products)))
        if not found:
            return 0.0
        fewer = rest.effective / (1 + 2 * float(np.sum(np.square(found))))
        fewer_found = dataclasses.replace(rest, effective=fewer).count()
        said = found[0] > _MUCH or fewer_found < k
        return found[0] if said else 0.0

    def _outlying(self) -> tuple[int, ...]:
        """Return the rows whose lengths no row of a normal table reaches."""
        roots = np.cbrt(self.lengths)  # nearly normal [Wilson1931]_
        middle = _median(roots, self.counts)
        spread = _median(np.abs(roots - middle), self.counts) / 0.6745
        n = max(len(roots), 2)
        limit = float(scipy.special.ndtri(1 - _OUTLYING / n))
        far = np.flatnonzero((roots - middle > limit * spread) & (self.lengths > _TIMES))
        order = far[np.argsort(-self.lengths[far], kind="stable")]
        return tuple(int(self.kept[i]) for i in order)


def _median(values: Array, counts: Array) -> float:
    """Return the median of values that stand `counts` times."""
    if np.all(counts == counts[0]):
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(counts[order])
    return float(values[order[np.searchsorted(below, below[-1] / 2)]])


def _together(groups: Array | None) -> list[Array] | None:
    """Return the rows of every group."""
    if groups is None:
        return None
    _, numbers = np.unique(groups, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))[:-1]
    return list(np.split(order, ends))


def _lift(sizes: list[int], square: float) -> float:
    """Return m₃/m₂ - m₂ for the moments m_k of the eigenvalues of the covariance of rows.

    The edge of noise is near 1 + 2√(γm₂) + γm₃/m₂, so that N' = n/m₂ rows alone would miss
    the last term. With correlation r in groups of m rows m₂ = 1 + r²Σm(m - 1)/n gives r.
    """
    m = np.array(sizes, np.float64)
    pairs = float(np.sum(m * (m - 1)) / np.sum(m))
    if pairs <= 0 or square <= 1:
        return 0.0
    r = min(np.sqrt((square - 1) / pairs), 1.0)
    third = np.sum((1 + (m - 1) * r) ** 3 + (m - 1) * (1 - r) ** 3) / np.sum(m)
    second = 1 + r**2 * pairs
    return float(third / second - second)


def _spread_of_groups(rest: Array, groups: list[Array]) -> float:
    """Return Σ_g Σ_a≠b (Σ_i∈g r_ia r_ib)²."""
    total = 0.0
    for rows in groups:
        part = rest[rows]
        few = part.T @ part if part.shape[1] < len(part) else part @ part.T
        total += float(np.sum(few**2)) - float(np.sum(np.sum(part**2, axis=0) ** 2))
    return total


def _most(view: "_ProductSums | _RowByRow") -> int:
    """Return the most components that leave anything to tell noise by: half of the columns.

    About there k axes and p sizes of noise are as many numbers as p(p + 1)/2 products.
    """
    return int(min(max(view.columns // 2, 1), max(view.freedom // 2, 0)))


def _search(view: "_ProductSums | _RowByRow") -> tuple[int, _Rest]:
    """Return the number of components, and what is left without them.

    It is the least after which what is left looks like noise; from eight on numbers double,
    and the last interval is halved. Large tables with rows in plenty begin with the noise
    that partial variances say: their first number is near the last.
    """
    most = _most(view)
    if view.columns > _LARGE and view.freedom > _PLENTY * view.columns:
        first = view.look(0, view.partial(), 1.0)
        return _weak_ones_again(view, _jumped(view, first, most))
    rest = view.fit(0, None)
    if most < 1 or rest.beyond(0) <= 0:
        return 0, rest
    below, k = 0, 1
    while k < most:
        rest = view.fit(k, rest, max(_MORE, k), steps=1)
        if rest.beyond(k) <= _AT_ONCE:  # otherwise noise that is better known changes nothing
            rest = view.fit(k, rest, max(_MORE, k))
        if rest.beyond(k) <= 0:
            return _between(view, below, rest)
        below, k = k, k + 1 if k < _ONE_BY_ONE else 2 * k
    return _between(view, below, view.fit(most, rest)) if most - below > 1 else (most, rest)


def _between(view: "_ProductSums | _RowByRow", below: int, rest: _Rest) -> tuple[int, _Rest]:
    """Return the least number above `below` that leaves noise; that of `rest` does."""
    while rest.k - below > 1:
        fewer = view.fit((rest.k + below) // 2, rest)
        if fewer.beyond(fewer.k) > 0:
            below = fewer.k
        else:
            rest = fewer
    return rest.k, rest


def _jumped(view: "_ProductSums | _RowByRow", rest: _Rest, most: int) -> _Rest:
    """Return the rest after as many components as are found in units of its own noise."""
    seen, more = {-1}, _MORE
    while True:
        k = min(rest.count(), most)
        if k in seen or k == rest.k > 0:
            return rest
        seen.add(k)
        more = more * 4 if k == len(rest.values) else more
        rest = view.fit(k, rest, more)


def _weak_ones_again(view: "_ProductSums | _RowByRow", rest: _Rest) -> tuple[int, _Rest]:
    """Return the number without last components that noise told without them calls noise."""
    while rest.k and rest.beyond(rest.k - 1) < _SURE:
        fewer = view.fit(rest.k - 1, rest)
        if fewer.beyond(fewer.k) > 0:
            break
        rest = fewer
    return rest.k, rest


def _answer(k: int, most: int, rest: _Rest, errors: Array) -> EdgeCount:
    """Return the answer, with numbers that eigenvalues a little smaller or larger give.

    Without a share q of the rows an eigenvalue moves by √(q/(1 - q)) of its standard error.
    """
    moved = _MOVES * np.sqrt(_SUBSAMPLE / (1 - _SUBSAMPLE)) * errors
    low, high = min(rest.count(-moved), k), k
    while high < min(most, len(rest.values)) and rest.beyond(high, moved[high]) > 0:
        high += 1
    beyond = np.array([rest.beyond(j) for j in range(k + 1)])
    return EdgeCount(k, (low, high), beyond, rest.effective, capped=0 < k == most)
