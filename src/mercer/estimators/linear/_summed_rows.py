"""Rows of which only their sums are left: `Summed`, in the place of a table.

Where a covariance matrix is all there is, `of_covariance` finds the pairs.
"""

import dataclasses
from typing import Any, ClassVar, final

import numpy as np

from mercer.arrays import EPS, Array, as_floats
from mercer.errors import InputError
from mercer.estimators.linear._pca_recipe import Found, PCARecipe
from mercer.estimators.walk._parameters import Kind
from mercer.operators import Centring, Dense, Moments, RunningMoments, RunningSvd
from mercer.solvers import Exact, Floor, Goal, Spectrum
from mercer.sources import Source


@final
class Summed(Source):
    """What a stream has left behind, described like a table and like its source.

    Parameters
    ----------
    sums : RunningMoments or RunningSvd
        The sums; they are not changed.
    stored : dtype
        The coarsest type in which rows came: its rounding is in all that follows.
    products : dtype
        Precision of the axes.
    counted : int
        Rows, repeated ones counted as often as they stand.
    sparse : bool
        Whether rows came sparse: the origin then stays near zero.
    """

    array = None
    max_passes = 0.0
    weights = None

    def __init__(
        self,
        sums: RunningMoments | RunningSvd,
        stored: Kind,
        products: Kind,
        counted: int,
        sparse: bool,
    ) -> None:
        copied = sums.copy()
        self.sums = copied if sparse else copied.recentred(products)
        origin = self.sums.origin
        assert origin is not None
        self.origin: Array = origin
        self.exponent = self.sums.exponent
        self.dtype, self._products = stored, products
        self.shape = (counted, len(origin))

    @property
    def source(self) -> Source:
        """Itself: there is nothing behind the sums."""
        return self

    @property
    def products(self) -> Kind:
        """See `Source.products`."""
        return self._products

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return 0

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`: there are no rows left."""
        return np.empty((0, self.shape[1]))

    def scatter(self) -> Moments:
        """Return the moments; the scatter may be overwritten."""
        return self.sums.moments()

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`: every batch was looked at; only their span is left."""
        raise InputError(
            "the batches of the stream lie too far apart for sums in float64",
            got=f"a sum of squares of {self.sums.moments().raw_trace:.3g}",
            fix="divide the data by a constant, or fit all rows at once",
        )


_FIX = "pass np.cov(X, rowvar=False), X.mean(axis=0) and len(X)"


@dataclasses.dataclass(frozen=True)
class UnseenRows:
    """Stands where a source would: a shape (n, p) and float64."""

    shape: tuple[int, int]
    products: ClassVar[Kind] = np.dtype(np.float64)


def of_covariance(
    covariance: Array, mean: Array, n: int, recipe: PCARecipe
) -> tuple[Spectrum, Found]:
    """Return all pairs of (n - 1)·C for a covariance C (p, p), a mean (p,) and n rows.

    The recipe says what columns are multiplied by, and the tolerance.
    """
    p = len(mean)
    variances = np.diagonal(covariance).copy()
    factor = recipe.factor_of(variances, EPS * np.sqrt(mean**2 + variances))
    matrix = covariance if factor is None else covariance * np.outer(factor, factor)
    matrix = (matrix + matrix.T) * (0.5 * (n - 1))
    error = EPS * (4 + np.sqrt(p)) * float(np.trace(matrix))
    floor = Floor(4.0 * max(int(n), p) * EPS)
    trace = float(np.trace(matrix))
    goal = Goal(recipe.components, recipe.tol, floor, trace, error, psd=True)
    spectrum = Exact().solve(Dense(matrix, symmetric=True), goal)
    if spectrum.values[-1] < -floor.at(float(spectrum.values[0])) - error:
        raise InputError(
            "a covariance matrix has no negative eigenvalue",
            got=f"smallest eigenvalue {spectrum.values[-1] / (n - 1):.3g}",
            fix="pass the covariance of real data, dividing by n - 1",
        )
    columns = variances if factor is None else variances * factor**2
    centring = Centring(mean, np.zeros(p), 0, factor)
    rank = min(n - 1, p)
    return spectrum, Found(centring, float(n), trace, 0.0, rank, columns=columns)


def as_moments(C: Any, mean: Any, n: int) -> tuple[Array, Array]:
    """Return covariance (p, p) and mean (p,) as float64; refuse what cannot be theirs."""
    covariance, mean = as_floats(C, "C"), as_floats(mean, "mean")
    p = mean.shape[0] if mean.ndim == 1 else -1
    if covariance.shape != (p, p) or n < 2:
        raise InputError(
            "C must be a (p, p) matrix, mean (p,), and n at least 2",
            got=f"C of shape {covariance.shape}, mean of shape {mean.shape}, n={n}",
            fix=_FIX,
        )
    bad = np.argwhere(~np.isfinite(covariance))
    if len(bad) or not np.isfinite(mean).all():
        where = f"C at row {bad[0][0]}, column {bad[0][1]}" if len(bad) else f"mean {mean}"
        raise InputError("C and mean must be finite", got=f"NaN or infinity: {where}", fix=_FIX)
    apart = np.abs(covariance - covariance.T)
    row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[row, column] > 1e-10 * np.max(np.abs(covariance)):
        one, other = covariance[row, column], covariance[column, row]
        got = f"{one:g} at row {row}, column {column}, but {other:g} mirrored"
        raise InputError("C must be symmetric", got=got, fix=_FIX)
    if np.min(np.diagonal(covariance)) < 0 or not np.trace(covariance) > 0:
        least = int(np.argmin(np.diagonal(covariance)))
        what = "a variance is negative" if np.trace(covariance) else "the data has no variance"
        raise InputError(
            what, got=f"C[{least}, {least}] = {covariance[least, least]:g}", fix=_FIX
        )
    return covariance, mean
