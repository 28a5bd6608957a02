"""Checks of axes: planes that cannot be told apart, and variance that new rows lack."""

import numpy as np

from mercer.arrays import Array, eigh
from mercer.diagnostics._findings import Finding
from mercer.diagnostics._seen import Seen, axis

_TURNED = np.deg2rad(30)  # standard error of the angle between neighbours
_NOTHING = 1e-12  # of the first variance: an axis that is not there
_FEW = 500  # rows up to which rows are left out
_PER_COLUMN = 10  # rows per column from which the shares hardly differ
_FOLDS = 5
_LEAST = 0.05  # share of the variance that is worth a word


def planes(seen: Seen) -> Finding | None:
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


def _angles(seen: Seen) -> Array:
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


def optimism(seen: Seen) -> Finding | None:
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
