"""Checks of rows: arches, series, rows that make an axis, rows that are repeated.

Checks of axes: planes that cannot be told apart, and variance that new rows lack.
"""

import itertools

import numpy as np
import scipy.special

from mercer.arrays import Array, eigh
from mercer.diagnostics.health_checks._findings import Finding, listed
from mercer.diagnostics.health_checks._health_input import HealthInput, axis

_CURVED = 0.8  # R² of an axis on squares and products of earlier ones
_EARLIER = 3  # axes that a later one may be a curve of
_GAP = 0.2  # of the range of an axis: clusters lie apart, a curve has no such hole
_ALIKE = 0.9  # correlation of neighbours
_SERIES = 30  # rows from which an order can be seen
_STEPS = -0.2  # correlation of steps: -1/2 about levels and trends, 0 in a series
_THIRD = 1 / 3  # of the variance of an axis, in one row
_HALF = 0.5  # of the variance of an axis, in a hundredth of the rows
_CHANCE = 1e-3  # that the largest of n normal rows has such a share
_REPEATED = 0.01  # of the rows
_TRIED = 50  # columns that are left out one by one


def arch(seen: HealthInput) -> Finding | None:
    """M101: R² of an axis on a quadratic of one or two earlier ones, adjusted, above 0.8."""
    Z = seen.scores
    for j in range(1, min(Z.shape[1], _EARLIER + 2)):
        earlier = range(min(j, _EARLIER))
        for behind in [*((a,) for a in earlier), *itertools.combinations(earlier, 2)]:
            fit = _quadratic(Z[:, j], Z[:, list(behind)])
            if fit > _CURVED and not any(_parted(Z[:, a]) for a in behind):
                curve = listed([axis(a) for a in behind])
                return Finding(
                    "M101",
                    f"{axis(j)} is a curve of {curve}: an arch, not a second pattern",
                    f"R² {fit:.2f} of {axis(j)} on squares and products of {curve}",
                    f"read {axis(j)} as a bend of {curve}; order rows along the curve",
                )
    return None


def _quadratic(target: Array, axes: Array) -> float:
    """Return the adjusted R² of a column on columns, their squares and products."""
    n, k = axes.shape
    pairs = itertools.combinations_with_replacement(range(k), 2)
    terms = np.column_stack([axes] + [axes[:, a] * axes[:, b] for a, b in pairs])
    terms -= terms.mean(axis=0)
    q = terms.shape[1]
    whole = float(target @ target)
    if n < max(20, 3 * q) or whole <= 0:
        return 0.0
    fitted = terms @ np.linalg.lstsq(terms, target, rcond=None)[0]
    left = max(1 - float(fitted @ fitted) / whole, 0.0)
    return float(1 - left * (n - 1) / (n - 1 - q))


def _parted(scores: Array) -> bool:
    """Tell whether there is a hole in an axis: clusters or an outlier, no curve."""
    ordered = np.sort(scores)
    return bool(np.max(np.diff(ordered)) > _GAP * (ordered[-1] - ordered[0]))


def series(seen: HealthInput) -> Finding | None:
    """M102: neighbours on a leading axis correlate above 0.9, and not by levels or a trend.

    In a table sorted by a group or by a value neighbours are alike too. There the steps from
    row to row have correlation -1/2, in a series about 0: the cut is at -0.2, with steps of
    more than three robust deviations cut to three.
    """
    n, k = seen.scores.shape
    if n < _SERIES:
        return None
    found = []
    for j in range(min(k, _EARLIER)):
        near = _neighbours(seen.scores[:, j])
        if near > _ALIKE and _neighbours(_steps(seen.scores[:, j])) > _STEPS:
            found.append(f"{near:.2f} along {axis(j)}")
    if not found:
        return None
    return Finding(
        "M102",
        "rows next to each other are alike, as in a series of time or depth",
        f"correlation of neighbouring rows {listed(found)}; {n:,} rows",
        "take differences or the trend out first: a series gives waves for axes whatever it"
        " holds, and its rows count for far fewer than there are",
    )


def _steps(values: Array) -> Array:
    """Return differences of neighbours, cut at three robust deviations."""
    steps = np.diff(values)
    middle = np.median(steps)
    reach = 3 * 1.4826 * np.median(np.abs(steps - middle))
    return np.clip(steps, middle - reach, middle + reach)


def _neighbours(values: Array) -> float:
    """Return the correlation of a row with the next one."""
    about = values - values.mean()
    whole = float(about @ about)
    return float(about[1:] @ about[:-1]) / whole if whole > 0 else -1.0


def dominating_rows(seen: HealthInput) -> Finding | None:
    """M103: a third of an axis in one row, or half of it in a hundredth of the rows."""
    n, k = seen.scores.shape
    worst: tuple[float, int, Array] | None = None
    for j in range(k):
        shares = seen.scores[:, j] ** 2 / n
        few = np.argsort(-shares, kind="stable")[: max(1, n // 100)]
        first, all_few = float(shares[few[0]]), float(np.sum(shares[few]))
        alone = first >= _THIRD and _by_chance(first, n) < _CHANCE / k
        if not alone and (all_few < _HALF or n < 100):
            continue
        named = few[:1] if alone else few
        share = float(np.sum(shares[named]))
        if worst is None or share > worst[0]:
            worst = share, j, named
    if worst is None:
        return None
    share, j, named = worst
    rows = listed([seen.row(int(i)) for i in named], 3)
    many = "one row makes" if len(named) == 1 else f"{len(named)} of {n:,} rows make"
    return Finding(
        "M103",
        f"{many} much of {axis(j)}",
        f"{rows}: {share:.0%} of the variance of {axis(j)} ({len(named) / n:.2g} of the rows)",
        "look at these rows; leave them out if they are wrong, or use RobustPCA",
    )


def _by_chance(share: float, n: int) -> float:
    """Return a bound on the chance that one of n normal rows has this share of an axis."""
    if n < 3:
        return 1.0
    # A direction spread evenly in n - 1 dimensions: its square is Beta(1/2, (n - 2)/2).
    return n * float(scipy.special.betainc((n - 2) / 2, 0.5, 1 - min(share, 1.0)))


def repeated_rows(seen: HealthInput) -> Finding | None:
    """M108: a hundredth of the rows repeated, and more pairs alike than alike but for a cell.

    Where columns have few values, rows agree by chance; far more pairs then differ in one
    column only than in none.
    """
    m = seen.table.shape[0]
    varies = np.flatnonzero(seen.sizes > 0)
    if m < 3 or not varies.size:
        return None
    least = max(2, _REPEATED * m)
    some = varies[:: max(1, len(varies) // _TRIED)]  # rows that differ in these are done with
    if m - len(_alike(seen.table[:, some])[1]) < least:
        return None
    keys, counts = _alike(seen.table[:, varies])
    repeated, pairs = m - len(counts), _pairs(counts)
    if repeated < least:
        return None
    step = max(1, len(varies) // _TRIED)
    without = [np.delete(varies, j) for j in range(0, len(varies), step)]
    near = sum(_pairs(_alike(seen.table[:, left])[1]) - pairs for left in without)
    if near * step >= pairs:
        return None
    often = int(np.argmax(counts))
    first = ""
    if len(seen.scores) == m:  # the rows of the table are those with names
        first = f", first as {seen.row(int(np.flatnonzero(keys == often)[0]))}"
    return Finding(
        "M108",
        "rows are repeated",
        f"{repeated:,} of {m:,} rows are copies of another one; the most frequent"
        f" stands there {int(counts[often]):,} times{first}",
        "drop the copies if they are the same case twice; pass counts as weights if not",
    )


def _alike(table: Array) -> tuple[Array, Array]:
    """Return which rows are equal, as numbers (m,), and how often each stands there."""
    rows = np.ascontiguousarray(table + 0.0)  # no negative zeros
    if not rows.shape[1]:
        return np.zeros(len(rows), np.int64), np.array([len(rows)])
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return inverse, counts


def _pairs(counts: Array) -> float:
    """Return how many pairs of rows are equal."""
    return float(np.sum(counts * (counts - 1.0))) / 2


_TURNED = np.deg2rad(30)  # standard error of the angle between neighbours
_NOTHING = 1e-12  # of the first variance: an axis that is not there
_FEW = 500  # rows up to which rows are left out
_PER_COLUMN = 10  # rows per column from which the shares hardly differ
_FOLDS = 5
_LEAST = 0.05  # share of the variance that is worth a word


def planes(seen: HealthInput) -> Finding | None:
    """M106: neighbours whose angle has a standard error above 30 degrees, as planes.

    Another sample turns axis i towards j by √(E[z_i²z_j²]/n)/|λ_i - λ_j| in the mean square,
    which is √(λ_iλ_j/n)/|λ_i - λ_j| for normal rows [Anderson1963]_. Variances of a sample lie
    farther apart than the true ones; what sampling adds to the square of their difference,
    Var(z_i² - z_j²)/n + 4E[z_i²z_j²]/n, is taken out first.
    """
    angles = _angles(seen)
    k = len(seen.variances)
    joined = {i for i, angle in enumerate(angles) if angle > _TURNED}
    exact = {i for g in seen.inseparable for i in g[:-1] if i < k}
    runs = _runs(joined | exact)
    if not runs:
        return None
    got = []
    for first, last in runs:
        if exact.issuperset(range(first, last)):
            got.append(f"{_span(first, last, k)}: the same variance to rounding")
            continue
        least = np.rad2deg(min(float(angles[i]) for i in range(first, last)))
        about = "45° and more" if least > 45 else f"{least:.0f}°"
        got.append(f"{_span(first, last, k)} by {about}")
    return Finding(
        "M106",
        _read(runs, k),
        f"{seen.rows:,.0f} other rows would turn {', '.join(got)}"
        if len(joined - exact)
        else "; ".join(got),
        "do not name such axes one by one: distances within the plane hold, directions do not",
    )


def _angles(seen: HealthInput) -> Array:
    """Return the standard error (k,) of the angle of each axis towards the next."""
    values = np.append(seen.variances, seen.following)
    squares = seen.scores**2
    found = np.zeros(len(values) - 1)
    for i in range(len(found)):
        first, second = float(values[i]), float(values[i + 1])
        if second <= _NOTHING * first or second <= _NOTHING:
            continue
        if i + 1 < squares.shape[1] and len(squares) > 2:
            mixed = first * second * float(np.mean(squares[:, i] * squares[:, i + 1]))
            apart = float(np.var(first * squares[:, i] - second * squares[:, i + 1]))
        else:  # as for normal rows
            mixed, apart = first * second, 2 * (first**2 + second**2)
        gap = (first - second) ** 2 - (apart + 4 * mixed) / seen.rows
        found[i] = np.sqrt(mixed / seen.rows / gap) if gap > 0 else np.pi / 2
    return found


def _runs(joined: set[int]) -> list[tuple[int, int]]:
    """Return (first, last) of every run of axes of which neighbours are joined."""
    runs: list[tuple[int, int]] = []
    for i in sorted(joined):
        if runs and runs[-1][1] == i:
            runs[-1] = runs[-1][0], i + 1
        else:
            runs.append((i, i + 1))
    return runs


def _span(first: int, last: int, k: int) -> str:
    """Return "PC2 and PC3", "PC2 to PC5", or "PC9 and what follows"."""
    if last >= k:
        begin = {1: axis(first), 2: f"{axis(first)}, {axis(first + 1)}"}
        longer = f"{axis(first)} to {axis(last - 1)}"
        return f"{begin.get(last - first, longer)} and what follows"
    return f"{axis(first)} {'and' if last - first == 1 else 'to'} {axis(last)}"


def _read(runs: list[tuple[int, int]], k: int) -> str:
    """Return what may be read of these axes: the plane, not the axes."""
    spans = [_span(first, last, k) for first, last in runs]
    first, last = runs[0]
    if len(runs) == 1 and last < k:
        plane = "plane" if last - first == 1 else "space they span"
        return f"{spans[0]}: read the {plane}, not the axes"
    if len(runs) == 1:
        return f"{spans[0]} cannot be told apart"
    return f"{'; '.join(spans)}: read the planes, not the axes"


def optimism(seen: HealthInput) -> Finding | None:
    """M107: the share that k axes explain of rows left out is less than half of that within.

    Five folds; only for up to 500 rows, and fewer than ten per column.
    """
    m, p = seen.table.shape
    k = len(seen.variances)
    if not 0 < k < min(m - m // _FOLDS - 1, p) or m > _FEW or seen.rows > _FEW:
        return None
    if m >= _PER_COLUMN * p or m < 5:
        return None
    inside, outside = shares(seen.table * seen.sizes, k)
    if inside < _LEAST or outside >= inside / 2:
        return None
    these = axis(0) if k == 1 else f"{axis(0)} to {axis(k - 1)}"
    return Finding(
        "M107",
        "the axes explain far less of rows that they have not seen",
        f"{these}: {inside:.0%} of the variance of these rows, {max(outside, 0.0):.0%} of rows"
        f" left out; {m:,} rows, {p:,} columns",
        "report the share of rows left out; take fewer axes (n_components='auto') or more rows",
    )


def shares(table: Array, k: int, folds: int = _FOLDS, seed: int = 0) -> tuple[float, float]:
    """Return the shares of the variance that k axes explain, of their rows and of others.

    Σ‖projection‖²/Σ‖x̃‖² over rows left out, about the mean of the other folds. All is read
    off K = XXᵀ, so that columns cost one product.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows as they were analysed.
    k : int
        Axes.
    folds, seed : int
        How often rows are left out, and the seed of which.
    """
    X = table - table.mean(axis=0)
    K = X @ X.T
    n = len(K)
    whole = float(np.trace(K))
    if whole <= 0:
        return 0.0, 0.0
    top = eigh(K)[0][:k]
    fold = np.random.default_rng(seed).permutation(n) % min(folds, n)
    explained = total = 0.0
    for number in range(min(folds, n)):
        out = fold == number
        within, across = K[np.ix_(~out, ~out)], K[np.ix_(out, ~out)]
        middle = within.mean(axis=0)
        centre = float(middle.mean())
        values, vectors = eigh(within - middle - middle[:, None] + centre)
        values, vectors = values[:k], vectors[:, :k]
        alive = values > 1e-12 * max(float(values[0]), 0.0)
        base = across.mean(axis=1)
        about = across - middle - base[:, None] + centre
        root = np.sqrt(np.where(alive, values, 1.0))
        explained += float(np.sum((about @ (vectors * alive) / root) ** 2))
        total += float(np.sum(K[out, out] - 2 * base + centre))
    return float(np.sum(top)) / whole, explained / total if total > 0 else 0.0
