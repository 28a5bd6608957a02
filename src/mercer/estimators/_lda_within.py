"""The covariance within classes, and the coordinates in which it is the identity."""

import dataclasses

import numpy as np

from mercer.arrays import EPS, Array, eigh, qr, svd
from mercer.operators import GroupedRows, GroupMoments

_C = 4.0  # how many units of rounding per row or column a direction must exceed


@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """What the covariance within classes is shrunk to: W = Σ share_g·S_g/(n - G) + diag(d).

    Attributes
    ----------
    shares : ndarray of shape (G,)
        What is left of the scatter S_g of each class.
    diagonal : ndarray of shape (p,)
        d, all positive, in squared units of the rows.
    """

    shares: Array
    diagonal: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Whitened:
    """Coordinates u = Tᵀ(x - x̄) in which the covariance W within classes is the identity.

    Attributes
    ----------
    basis : ndarray of shape (p, r)
        T with TᵀWT = I; it spans the range of W in the coordinates of `factor`.
    image : ndarray of shape (p, r)
        WT, the covariance of every column with every coordinate.
    variances : ndarray of shape (p,)
        Diagonal of W.
    error : float
        η with (1 - η)W ≤ exact W ≤ (1 + η)W on the range.
    coarse : float
        Bound on the error of a coordinate of a class mean, before its weight.
    rank : int
        r.
    possible : int
        The rank that W could have: columns that vary, or n - G where that is less.
    constant : ndarray of bool of shape (p,)
        Columns that do not vary within any class.
    splitting : ndarray of bool of shape (p,)
        Those of them that differ between classes, and so tell these apart without error.
    outside : float
        Share of the squared distances between class means, in columns scaled by their
        deviation within classes, that lies outside the range of W.
    """

    basis: Array
    image: Array
    variances: Array
    error: float
    coarse: float
    rank: int
    possible: int
    constant: Array
    splitting: Array
    outside: float


def whitened(
    rows: GroupedRows,
    found: GroupMoments,
    path: str,
    target: Target | None,
    constant: Array,
) -> Whitened:
    """Return whitening coordinates along one path.

    Parameters
    ----------
    rows : GroupedRows
        The rows by class.
    found : GroupMoments
        Their sums, with the whole scatter for ``"gram"``.
    path : str
        ``"gram"``: eigenpairs of the scatter; ``"svd"``: singular vectors of the rows.
    target : Target or None
        What W is shrunk to; None takes it as it is, through its range.
    constant : ndarray of bool of shape (p,)
        Columns that do not vary within any class; see `constant_within`.
    """
    n, groups = rows.shape[0], len(found.totals)
    freedom = float(np.sum(found.totals)) - groups
    factor = _factor(found, target, constant, freedom)
    between = (found.means - found.totals @ found.means / found.totals.sum()) * factor
    if path == "gram":
        roots, axes, delta = _from_scatter(found, factor, freedom, target)
    elif n + groups > rows.shape[1]:
        shares = None if target is None else target.shares
        r = rows.triangle(found.offsets, factor, shares) / np.sqrt(freedom)
        roots, axes, delta = _from_triangle(r, n, target)
    else:
        roots, axes, delta = _from_span(rows, found, factor, freedom, between, target)
    floor = _floor(rows, roots, delta, path)
    if target is None:
        floor = np.maximum(floor, np.sqrt(_rounding_of(rows, found, factor) ** 2 @ axes**2))
    alive = roots > floor
    roots, axes = roots[alive], axes[:, alive]
    least = float(np.min(roots, initial=np.inf))
    spread = np.sqrt(float(np.sum(found.raw * factor**2)) / found.totals.sum())
    inside, size = between @ axes, float(np.sum(between**2))
    possible = int(min(np.sum(~constant), np.floor(freedom + 1e-9)))
    loose = np.where(factor > 0, 1 / np.where(factor > 0, factor, 1.0), 0.0)
    return Whitened(
        basis=factor[:, None] * axes / roots,
        image=loose[:, None] * axes * roots,
        variances=_variances(rows, found, target, constant, freedom),
        # A scatter errs by δ, a root by δ: twice that, relatively, in its square.
        error=delta / least**2 if path == "gram" else (2 + delta / least) * delta / least,
        coarse=EPS * (8 + np.sqrt(n)) * (spread + np.sqrt(size / groups)) / least,
        rank=len(roots),
        possible=possible if target is None else len(roots),
        constant=constant,
        splitting=constant & _differing(rows, found),
        outside=max(0.0, 1 - float(np.sum(inside**2)) / size) if size > 0 else 0.0,
    )


def _factor(
    found: GroupMoments, target: Target | None, constant: Array, freedom: float
) -> Array:
    """Return column multipliers (p,): deviations within classes become one, or the target."""
    if target is not None:
        return np.asarray(1 / np.sqrt(target.diagonal))
    variances = np.where(constant, 1.0, diagonal_of(found) / freedom)
    return np.asarray(np.where(constant, 0.0, 1 / np.sqrt(variances)))


def _floor(rows: GroupedRows, roots: Array, delta: float, path: str) -> float:
    """Return the deviation at and below which arithmetic cannot tell a direction from none."""
    top = float(np.max(roots, initial=0.0))
    unit = _C * max(rows.shape) * EPS
    if path == "gram":
        return float(np.sqrt(max(unit * top**2, 2 * delta)))
    return unit * top


def diagonal_of(found: GroupMoments) -> Array:
    """Return the diagonal (p,) of the scatter within classes."""
    return found.scatter if found.scatter.ndim == 1 else np.diagonal(found.scatter)


def constant_within(rows: GroupedRows, found: GroupMoments) -> Array:
    """Tell which columns (p,) vary by no more than rounding within every class."""
    freedom = max(float(np.sum(found.totals)) - rows.groups, EPS)
    stored = freedom * (2 * _stored(rows, found)) ** 2  # neighbours are half an ulp off
    return np.asarray(diagonal_of(found) <= np.maximum(_C * found.rounding * found.raw, stored))


def _differing(rows: GroupedRows, found: GroupMoments) -> Array:
    """Tell which columns (p,) have class means that differ by more than rounding."""
    noise = np.maximum(found.rounding * found.raw, (4 * _stored(rows, found)) ** 2)
    return np.asarray(np.ptp(found.means, axis=0) ** 2 > noise)


def _from_scatter(
    found: GroupMoments, factor: Array, freedom: float, target: Target | None
) -> tuple[Array, Array, float]:
    """Return roots and axes of the scaled W from its sums, and a bound on its error."""
    scatter = factor[:, None] * found.scatter * (factor / freedom)
    if target is not None:
        scatter *= target.shares[0]  # one share for all: a scatter knows no classes
        scatter.flat[:: len(scatter) + 1] += 1.0
    values, axes = eigh(scatter)
    top = float(np.max(values, initial=0.0))
    delta = found.rounding * float(np.sum(found.raw * factor**2)) / freedom
    delta += EPS * (8 + 4 * np.sqrt(len(values))) * top
    return np.sqrt(np.maximum(values, 0.0)), axes, delta


def _from_triangle(r: Array, n: int, target: Target | None) -> tuple[Array, Array, float]:
    """Return roots and axes of the scaled W = RᵀR (+ I), and a bound on the roots' error."""
    p = r.shape[1]
    if target is not None:
        r = np.concatenate([r, np.eye(p)])
    _, roots, vt = svd(r)
    height = min(n, max(256, 2 * p))  # rows of a block, whose roundings may add up
    size = float(np.sqrt(np.sum(roots**2)))
    delta = EPS * (8 + 2 * np.sqrt(p) + height / 8 + n / height) * size
    return roots, vt.T, delta


def _from_span(
    rows: GroupedRows,
    found: GroupMoments,
    factor: Array,
    freedom: float,
    between: Array,
    target: Target | None,
) -> tuple[Array, Array, float]:
    """Return the same for more columns than rows: all happens in the span of the rows.

    Rows and class means span at most n + G dimensions; the identity that shrinkage adds is
    the identity there, too.
    """
    shares = None if target is None else target.shares
    n = rows.shape[0]
    stacked = np.empty((n + len(between), rows.shape[1]))
    rows.write(stacked[:n], found.offsets, factor / np.sqrt(freedom), shares)
    stacked[n:] = between
    q, r = qr(stacked.T)
    del stacked
    inner = np.ascontiguousarray(r[:, :n].T)
    roots, axes, delta = _from_triangle(inner, n, target)
    return roots, q @ axes, delta


def _stored(rows: GroupedRows, found: GroupMoments) -> Array:
    """Return the deviation (p,) that the rounding of stored numbers gives: ulp(x)/√12."""
    source = rows.rows.source
    if source.dtype.kind != "f":
        return np.zeros(rows.shape[1])
    level = np.abs(np.ldexp(np.asarray(rows.origin, np.float64), -rows.exponent))
    level = level + np.max(np.abs(found.means), axis=0)
    return np.asarray(float(np.finfo(source.dtype).eps) * level / np.sqrt(12))


def _rounding_of(rows: GroupedRows, found: GroupMoments, factor: Array) -> Array:
    """Return that deviation in scaled columns, as the largest of random ones would show it.

    A column far from zero is known to eps·|x| only; what is collinear but for that is
    collinear.
    """
    n, p = rows.shape
    return np.asarray(_stored(rows, found) * factor * (1 + (p / n) ** 0.5))


def _variances(
    rows: GroupedRows,
    found: GroupMoments,
    target: Target | None,
    constant: Array,
    freedom: float,
) -> Array:
    """Return the diagonal (p,) of W, shrunk where it is."""
    each = np.where(constant, 0.0, np.maximum(diagonal_of(found), 0.0)) / freedom
    if target is None:
        return each
    if np.ptp(target.shares) == 0:
        return np.asarray(target.shares[0] * each + target.diagonal)
    total, ones = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    tall = rows.rows.tiles().rows
    for _, y in rows.centred_blocks(found.offsets, ones, target.shares, tall):
        total += np.einsum("ij,ij->j", y, y)
    return total / freedom + target.diagonal
