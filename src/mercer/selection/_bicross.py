"""Bi-cross-validation: how many components predict cells that were left out on both sides.

The size of the noise of every column: what the other columns do not say of it.
"""

import dataclasses
from typing import final

import numpy as np
import scipy.linalg

from mercer.arrays import Array, leading_eigh, quiet_blas

_RIDGE = 1e-6  # of correlations: columns that are copies of others stay finite
_QUIET = 1 / 30  # of the median share of noise: no column is taken for quieter
_LEAST = 1e-6  # of a column's variance that is noise, at least
_STEPS = 60
_PIECE, _PIECES = 64, 500  # orders between which triangles are inverted in pieces


def partial_variances(gram: Array) -> Array:
    """Return 1/(G⁻¹)_jj (p,): what is left of every column when all others are known.

    For many columns that is the variance of its noise, in the units of G; for few it is
    more, because others that are noisy say less. Columns without variance get one. As a
    share of its column it is at least 1/30 of the median: a copy of another column has no
    noise, and would rule all others.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Of more rows than columns.
    """
    squares = np.diagonal(gram)
    alive = squares > 0
    scale = np.where(alive, np.sqrt(np.where(alive, squares, 1.0)), 1.0)
    correlations = gram * (1 / scale)
    correlations *= 1 / scale[:, None]
    correlations[np.diag_indices(len(gram))] = 1.0 + _RIDGE
    # The transpose is in the order that LAPACK writes in: all is done in place.
    upper, info = scipy.linalg.lapack.dpotrf(correlations.T, lower=0, clean=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError("correlations are not positive definite")
    inverse = _inverted(upper)
    share = 1 / np.einsum("ij,ij->i", inverse, inverse)
    if alive.any():
        share = np.maximum(share, _QUIET * np.median(share[alive]))
    return np.where(alive, squares * share, 1.0)


def _inverted(upper: Array) -> Array:
    """Return the inverse of an upper triangle (p, p), in its place.

    [[A, B], [0, C]]⁻¹ = [[A⁻¹, -A⁻¹BC⁻¹], [0, C⁻¹]]: on one thread LAPACK takes up to twice
    as long, on several it is quicker.
    """
    p = len(upper)
    if not _PIECE < p <= _PIECES:
        upper[...] = scipy.linalg.lapack.dtrtri(upper, lower=0)[0]
        return upper
    one, two = slice(None, p // 2), slice(p // 2, None)
    first, second = _inverted(upper[one, one]), _inverted(upper[two, two])
    upper[one, two] = -(first @ upper[one, two]) @ second
    return upper


def unique_variances(gram: Array, k: int, start: Array, tol: float) -> Array:
    """Return the noise Ψ_j (p,) of a model with k common factors, G ≈ ΛΛᵀ + Ψ.

    Factors of largest likelihood for a given Ψ are the leading eigenpairs of
    Ψ^-½GΨ^-½, less one; Ψ is what they leave of the diagonal; the two take turns. Every
    second turn is lengthened by what the last two say of the way to go [Varadhan2008]_. No
    column is taken for quieter than 1/30 of the median: with many factors some column is
    always said to have no noise, ever closer to zero.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Covariance matrix.
    k : int
        Factors, fewer than p.
    start : ndarray of shape (p,)
        First guess of Ψ, positive.
    tol : float
        Largest relative change at which to stop.
    """
    whole = np.where(np.diagonal(gram) > 0, np.diagonal(gram), 1.0)
    if not k:
        return whole
    least = np.maximum(_LEAST, _QUIET * np.median(start / whole)) * whole
    noise, before = np.clip(start, least, whole), None
    for _ in range(_STEPS):
        new = np.clip(_left(gram, k, noise, whole), least, whole)
        if float(np.max(np.abs(new / noise - 1))) < tol:
            return new
        if before is None:
            before, noise = noise, new
        else:
            before, noise = None, np.clip(further(before, noise, new), least, whole)
    return noise


def _left(gram: Array, k: int, noise: Array, whole: Array) -> Array:
    """Return what the k factors of largest likelihood leave of the diagonal (p,)."""
    root = np.sqrt(noise)
    values, axes = leading_eigh(gram / root / root[:, None], k)
    return np.asarray(whole - (axes * root[:, None]) ** 2 @ np.maximum(values - 1, 0.0))


def further(zero: Array, one: Array, two: Array) -> Array:
    """Return where two steps lead to if they go on so: x - 2ar + a²v of their logarithms."""
    start = np.log(zero)
    step = np.log(one) - start
    bend = np.log(two) - np.log(one) - step
    size = float(np.linalg.norm(bend))
    a = max(1.0, float(np.linalg.norm(step)) / size) if size > 0 else 1.0
    return np.asarray(np.exp(np.clip(start + 2 * a * step + a * a * bend, -700.0, 700.0)))


_CELLS = 256  # columns over which the repeated splits add up to enough
_MOST_SPLITS = 8
_FIRST = 16  # eigenpairs that are looked at first
_ENOUGH = 1.25  # rows per column from which the noise of a column can be told
_PLENTY = 3.0  # rows per squared number of columns from which a model of factors must confirm
_ONE_BY_ONE = 8  # factors that are tried in turn; of more some
_SETTLED = 0.3  # of the sampling error: the noise sizes are then known well enough
_CERTAIN = 1.645  # one-sided 5 % of the normal law
_LIKELY = 1.3  # for the last one alone: weak ones that mix have less evidence each
# i, o, A, B: the first two hold out every row and column once, all four every cell.
_CORNERS = ((0, 1, 0, 1), (1, 0, 1, 0), (0, 1, 1, 0), (1, 0, 0, 1))
_ALL_CORNERS = 128  # columns up to which all four are held out
_NOTHING = 1e-12  # of the largest eigenvalue: a direction that is not there
_PAIRS = 2e-9  # seconds of an eigenproblem of order p, over p³
_MODELS, _TURNS = 10, 40  # models of factors that are tried, and eigenproblems of each


@final
@dataclasses.dataclass(frozen=True)
class Half:
    """The centred Gram matrix of one half of the rows.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        X̃ᵀX̃ of these rows about their own mean.
    rows : float
        Their number, Σw where they are weighted.
    """

    gram: Array
    rows: float


@final
@dataclasses.dataclass(frozen=True)
class BiCross:
    """Errors of prediction for k = 0, 1, …, and the k they say.

    Attributes
    ----------
    k : int
        The least error among the k whose predictions are beyond chance, less the last
        components that add nothing by themselves.
    errors : ndarray of shape (m + 1,)
        Squared error of the cells left out, as a share of their squares, both in units of
        the noise of the columns; errors[0] is 1.
    evidence : ndarray of shape (m + 1,)
        Mean over the splits of z: the product of prediction and cell, in standard deviations
        of what it would be if the two column halves were independent.
    splits : int
        How often the columns were split.
    """

    k: int
    errors: Array
    evidence: Array
    splits: int


def bi_cross_validation(
    first: Half, second: Half, *, wide: bool = False, seed: int = 0
) -> BiCross:
    """Return how many components predict held-out cells, from two Gram matrices alone.

    Rows are split in halves i (held out) and o, columns in A (held out) and B. With
    G_o[B, B] = VΛVᵀ, X̂_A = X_B·W_k, W_k = V_kΛ_k⁻¹V_kᵀG_o[B, A], and
    error(k) = tr G_i[A, A] - 2⟨W_k, G_i[B, A]⟩ + ⟨W_k, G_i[B, B]W_k⟩: the errors of
    [Owen2009]_ with 2 by 2 folds, exact, without the data. Corners are held out in turn,
    all four up to 128 columns, for one or more splits of the columns. A k counts only if
    ⟨W_k, G_i[B, A]⟩ is beyond what independent halves would give, so that 0 is an answer for
    few columns too; and its last term must have a part in that, since errors near the least
    one differ by chance.

    Columns are taken in units of their noise, √(1/(G⁻¹)_jj), where rows are enough to know
    it: otherwise, with noise that differs by column, further components improve the
    prediction only because they tell quiet columns from noisy ones. The number of components
    does not depend on units. With 3p² rows or more the noise is that of a model of k factors.

    Parameters
    ----------
    first, second : Half
        Gram matrices of two halves of the rows; for a wide table, of two halves of its
        columns (rows and columns change places), X̃X̃ᵀ.
    wide : bool
        Whether they are those of columns. The rows of X̃ add up to zero, so that one half
        of them would tell something of the other: each half is centred again.
    seed : int
        Of the splits of the columns.

    Notes
    -----
    Cost: O(p³) per split, about that of one eigenvalue problem of order p. At most p/2
    components can be found.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 20)) * 3
    >>> X += rng.standard_normal(X.shape)
    >>> halves = [Half(np.cov(part.T) * 99, 100) for part in (X[::2], X[1::2])]
    >>> bi_cross_validation(*halves).k
    2
    """
    p = first.gram.shape[0]
    if p < 2 or min(first.rows, second.rows) < 2:
        return BiCross(0, np.ones(1), np.zeros(1), 0)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(p) for _ in range(max(1, min(_MOST_SPLITS, _CELLS // p)))]
    rows, splits = first.rows + second.rows - 2, _Splits((first, second), orders, wide)
    if rows < _ENOUGH * p:
        return splits.errors()
    whole = first.gram + second.gram
    whole /= rows
    if wide:  # the rows of X̃ add up to zero: fill that direction
        whole += np.trace(whole) / p**2
    with quiet_blas(p):
        noise = partial_variances(whole)
        found = splits.errors(noise)
        if rows < _PLENTY * p * p or found.k < 2:
            return found
        return _consistent(splits, whole, noise, found)


def choice_seconds(rows: int, p: int) -> float:
    """Return what choosing the number of components takes, foreseen from the shape alone.

    Parameters
    ----------
    rows, p : int
        Of the table.
    """
    order = min(rows, p)
    corners = len(_CORNERS) if order <= _ALL_CORNERS else 2
    splits = corners * max(1, min(_MOST_SPLITS, _CELLS // max(order, 1)))
    confirmed = _MODELS * _TURNS if max(rows, p) >= _PLENTY * order * order else 0
    return _PAIRS * order**3 * (splits / 8 + confirmed)


def _consistent(splits: "_Splits", whole: Array, noise: Array, found: BiCross) -> BiCross:
    """Return the least k that its own noise confirms: a model of k factors leaves no more.

    With rows in plenty even small errors of the noise sizes are seen, as components.
    """
    first, second = splits.halves
    tol = _SETTLED / np.sqrt(first.rows + second.rows)

    def by(k: int) -> BiCross:
        return splits.errors(unique_variances(whole, k, noise, tol))

    if 4 * found.k < len(noise) and by(found.k - 1).k >= found.k:
        return found
    below = 0
    for k in _growing(found.k):
        again = by(k)
        if again.k > k:
            below = k
            continue
        while k - below > 1:
            middle = (k + below) // 2
            fewer = by(middle)
            k, below, again = (
                (middle, below, fewer) if fewer.k <= middle else (k, middle, again)
            )
        return dataclasses.replace(again, k=k)
    return found


def _growing(most: int) -> list[int]:
    """Return 1 to 8, then numbers that double, and `most` as the last: each costs a model."""
    few = list(range(1, min(most, _ONE_BY_ONE) + 1))
    while few[-1] < most:
        few.append(min(2 * few[-1], most))
    return few


@final
@dataclasses.dataclass(frozen=True)
class _Splits:
    """Two halves of the rows, and the orders of the columns whose halves are held out."""

    halves: tuple[Half, Half]
    orders: list[Array]
    wide: bool

    def errors(self, noise: Array | None = None) -> BiCross:
        """Return the errors for k = 0, 1, …: of few first, of more if the least is not there.

        Columns are counted in units of √noise, where that is known.
        """
        p, most = len(self.orders[0]), _FIRST
        while True:
            errors, evidence, own = self._up_to(min(most, p // 2), noise)
            k = int(np.argmin(np.where(evidence > _CERTAIN, errors, np.inf)))
            k = k if evidence[k] > _CERTAIN and errors[k] < errors[0] else 0
            while k > 1 and own[k] <= _LIKELY:  # errors next to the least differ by chance
                k -= 1
            if 2 * k <= most or most >= p // 2:
                return BiCross(k, errors, evidence, len(self.orders))
            most *= 4

    def _up_to(self, most: int, noise: Array | None) -> tuple[Array, Array, Array]:
        """Return errors, evidence of k and of its last component (most + 1,)."""
        halves, p = self.halves, len(self.orders[0])
        corners = _CORNERS if p <= _ALL_CORNERS else _CORNERS[:2]
        unit, cut = None if noise is None else 1 / np.sqrt(noise), p // 2
        sides, kept = [slice(None, cut), slice(cut, None)], []
        with quiet_blas(cut):
            for order in self.orders:
                centre = cut if self.wide else 0
                grams = [_ordered(half.gram, order, unit, centre) for half in halves]
                kept += [
                    _corner(grams[i], grams[o], halves[i].rows - 1, sides[a], sides[b], most)
                    for i, o, a, b in corners
                ]
        sizes, gains, z, own = (np.array(part) for part in zip(*kept, strict=True))
        whole = float(np.sum(sizes))
        errors = (whole - np.sum(gains, axis=0)) / max(whole, 1e-300)
        return errors, np.mean(z, axis=0), np.mean(own, axis=0)


def _ordered(gram: Array, order: Array, unit: Array | None, centre: int) -> Array:
    """Return a Gram matrix in another order and unit, rows before and from `centre` centred."""
    found = gram[order].take(order, axis=1)  # rows first: half the time of both at once
    if unit is not None:
        found *= unit[order]
        found *= unit[order][:, None]
    if centre:
        for part in (slice(None, centre), slice(centre, None)):
            found[part] -= found[part].mean(axis=0)
            found[:, part] -= found[:, part].mean(axis=1)[:, None]
    return found


def _corner(
    held: Array, other: Array, freedom: float, a: slice, b: slice, most: int
) -> tuple[float, Array, Array, Array]:
    """Return tr G_i[A, A], the gain of every k over k = 0, its evidence, the last's own."""
    order = other[b, b].shape[0]
    few = min(most, order)
    values, axes = leading_eigh(other[b, b], few)
    alive = values > max(_NOTHING * values[0], 1e-300)
    turned = axes.T @ held[b, b] @ axes
    weights = (axes.T @ other[b, a]) * np.where(alive, 1 / np.where(alive, values, 1), 0)[
        :, None
    ]
    each = np.sum(weights * (axes.T @ held[b, a]), axis=1)
    square = _leading_sums(turned * (weights @ weights.T))
    spread = turned * (weights @ held[a, a] @ weights.T) / freedom
    product = np.cumsum(each)
    z = product / np.sqrt(np.maximum(_leading_sums(spread), 1e-300))
    own = each / np.sqrt(np.maximum(np.diagonal(spread), 1e-300))
    size = float(np.trace(held[a, a]))
    return size, *map(_from_zero, (2 * product - square, z, own))


def _leading_sums(table: Array) -> Array:
    """Return Σ_{i,j≤k} of a table for every k."""
    return np.diagonal(np.cumsum(np.cumsum(table, axis=0), axis=1))


def _from_zero(values: Array) -> Array:
    return np.concatenate([[0.0], values])
