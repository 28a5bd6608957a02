"""The covariance within classes, and the coordinates in which it is the identity.

From class means in whitened coordinates to canonical axes, with their certificate.

Shrinkage of the covariance within classes: a number, or that of Ledoit and Wolf.
"""

import dataclasses

import numpy as np

from mercer.arrays import EPS, Array, eigh, qr, svd
from mercer.diagnostics import WilksTests, wilks_tests
from mercer.operators import Dense, GroupedRows, GroupMoments
from mercer.solvers import Certificate, Exact, Floor, Goal, Outcome, Spectrum

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
    rows: GroupedRows, found: GroupMoments, path: str, target: Target | None, constant: Array
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


_UNITS = 4.0  # how many units of rounding per class or axis an eigenvalue must exceed
_APART = 1e-12  # share of the differences between means that may be lost outside the range


@dataclasses.dataclass(frozen=True, eq=False)
class Between:
    """What the scaling of a discriminant analysis needs, in units of the rows.

    Attributes
    ----------
    moments : GroupMoments
        Sums by class.
    white : Whitened
        Coordinates in which W is the identity.
    priors : ndarray of shape (G,)
        π.
    centre : ndarray of shape (p,)
        x̄ = Σπ_g·mean_g minus the common origin.
    apart : ndarray of shape (G, p)
        mean_g - x̄.
    """

    moments: GroupMoments
    white: Whitened
    priors: Array
    centre: Array
    apart: Array


def between(moments: GroupMoments, white: Whitened, priors: Array) -> Between:
    """Return the class means about their own mean."""
    centre = priors @ moments.means
    return Between(moments, white, priors, centre, moments.means - centre)


def canonical(found: Between, tol: float) -> Spectrum:
    """Return the pairs of M = diag(√(nπ_g/(G - 1)))·(mean_g - x̄)T, at most G - 1 of them.

    The certificate is that of the exact data: with (1 - η)W ≤ exact W ≤ (1 + η)W the i-th
    eigenvalue lies in [(σ_i - δ)²/(1 + η), (σ_i + δ)²/(1 - η)], δ the error of M.
    """
    groups, n = len(found.priors), float(np.sum(found.moments.totals))
    m = np.sqrt(n * found.priors / (groups - 1))[:, None] * (found.apart @ found.white.basis)
    most = min(groups - 1, m.shape[1])
    size = float(np.sqrt(np.sum(m**2)))
    error = found.white.coarse * np.sqrt(n / (groups - 1)) + 8 * EPS * size
    unit = _UNITS * max(m.shape) * EPS
    goal = Goal(most, tol, Floor(unit**2), size**2 * (1 + unit), error, psd=True)
    spectrum = Exact().solve(Dense(m), goal)
    certificate = _widened(spectrum, found.white.error, tol)
    outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome)


def _widened(spectrum: Spectrum, eta: float, tol: float) -> Certificate:
    """Return the certificate with what the error of W adds."""
    old, values = spectrum.certificate, spectrum.values
    sure = eta < 1
    upper = np.append(old.upper, old.next_upper) / (1 - eta if sure else EPS)
    top = float(np.max(values, initial=0.0))
    return Certificate.of(
        values,
        upper,
        old.residual + 2 * min(eta, 1.0) * top,
        error=0.0,
        tol=tol,
        zero_level=old.zero_level,
        lower=old.lower / (1 + eta),
        psd=True,
    )


def wilks_of(found: Between) -> WilksTests | None:
    """Return Wilks' tests from the shares of the rows, whatever the priors; None if singular.

    Where a part of the differences lies outside the range of W, Λ is zero and has no law.
    """
    totals, white = found.moments.totals, found.white
    n, groups = float(np.sum(totals)), len(totals)
    if white.outside > _APART or bool(np.any(white.splitting)):
        return None
    about = found.moments.means - totals @ found.moments.means / n
    m = np.sqrt(totals / (n - groups))[:, None] * (about @ white.basis)
    roots = svd(m)[1] ** 2 if m.shape[1] else np.zeros(0)
    return wilks_tests(roots, n, white.rank, groups)


def structure_of(found: Between, axes: Array, inside: Array) -> tuple[Array, Array]:
    """Return correlations (p, k) of columns with axes: over all rows, and within classes.

    With T = (n - G)W + Σn_g(mean_g - mean)(mean_g - mean)ᵀ: (Tw)_j/√(T_jj·wᵀTw), and
    (Ww)_j/√W_jj.

    Parameters
    ----------
    found : Between
        Means and W.
    axes : ndarray of shape (p, k)
        w.
    inside : ndarray of shape (p, k)
        Ww.
    """
    totals, variances = found.moments.totals, found.white.variances
    n, groups = float(np.sum(totals)), len(totals)
    about = found.moments.means - totals @ found.moments.means / n
    across = about.T @ (totals[:, None] * (about @ axes))
    image = (n - groups) * inside + across
    each = (n - groups) * variances + totals @ about**2
    along = np.einsum("jk,jk->k", axes, image)
    total = image / _root(each)[:, None] / _root(along)
    return np.clip(total, -1, 1), np.clip(inside / _root(variances)[:, None], -1, 1)


def _root(values: Array) -> Array:
    """Return square roots, infinite for nothing, so that a quotient by them is zero."""
    return np.asarray(np.where(values > 0, np.sqrt(np.maximum(values, 0.0)), np.inf))


def target_of(
    shrinkage: float | str | None, rows: GroupedRows, found: GroupMoments
) -> Target | None:
    """Return what W is shrunk to, or None where it is taken as it is.

    A number s: W ← (1 - s)W + s·(tr W/p)·I. ``"auto"``: the covariance of each class, its
    columns scaled to deviation one, is shrunk by the amount of [Ledoit2004]_ and scaled
    back; W is their sum by the sizes of the classes, as in scikit-learn. As there, a column
    that is constant in a class counts as if it deviated by 1 in it: its unit then matters.
    """
    if shrinkage is None or (shrinkage != "auto" and float(shrinkage) == 0):
        return None
    groups, p = found.means.shape
    total = float(np.sum(found.totals))
    if shrinkage == "auto":
        return _ledoit_wolf(rows, found, total / (total - groups))
    trace = float(np.sum(np.maximum(diagonal_of(found), 0.0))) / (total - groups)
    if trace == 0:
        return None  # nothing varies, and is refused as that
    s = float(shrinkage)
    return Target(np.full(groups, 1 - s), np.full(p, s * trace / p))


def _ledoit_wolf(rows: GroupedRows, found: GroupMoments, grow: float) -> Target | None:
    groups, p = found.means.shape
    shares, diagonal = np.ones(groups), np.zeros(p)
    weights = np.ones(rows.shape[0]) if rows.weights is None else rows.weights
    for group in range(groups):
        members = np.flatnonzero((rows.codes == group) & (weights > 0))
        cells = rows.members(members, group) - found.offsets[group]
        counts = weights[members]
        n = float(np.sum(counts))
        deviation = np.sqrt(counts @ cells**2 / n)
        deviation[deviation == 0] = 1.0
        amount, level = ledoit_wolf(cells / deviation, counts)
        shares[group] = 1 - amount
        diagonal += n / float(np.sum(found.totals)) * amount * level * deviation**2
    return None if np.all(shares == 1) else Target(shares, grow * diagonal)


def ledoit_wolf(centred: Array, counts: Array) -> tuple[float, float]:
    """Return the amount s of shrinkage, and μ = tr S/p, for rows with mean zero.

    With S = Σw·xxᵀ/n, n = Σw: β = (Σw‖x‖⁴/n - ‖S‖²_F)/(np), δ = (‖S‖²_F - pμ²)/p and
    s = min(β, δ)/δ [Ledoit2004]_. One column is not shrunk.

    Parameters
    ----------
    centred : ndarray of shape (m, p)
        Rows.
    counts : ndarray of shape (m,)
        Repeat counts w.
    """
    m, p = centred.shape
    n = float(np.sum(counts))
    rooted = np.sqrt(counts)[:, None] * centred
    product = rooted.T @ rooted if p <= m else rooted @ rooted.T
    frobenius = float(np.sum(product**2)) / n**2
    level = float(np.sum(rooted**2)) / n / p
    if p == 1:
        return 0.0, level
    fourth = float(counts @ np.sum(centred**2, axis=1) ** 2) / n
    beta = (fourth - frobenius) / (n * p)
    delta = (frobenius - p * level**2) / p
    beta = min(beta, delta)
    return (beta / delta if beta > 0 else 0.0), level
