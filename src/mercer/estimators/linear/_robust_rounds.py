"""Robust axes: signs about the spatial median, then rounds of PCA without the outlying rows.

Medians, spreads and cut-offs of numbers with repeat counts, of which half may be wrong.

What a robust fit publishes: variances made consistent, distances, and the rows named.
"""

import dataclasses
import hashlib
import math
import warnings
from typing import Any

import numpy as np
from scipy.special import chdtr, chdtri, fdtri, ndtri

from mercer.arrays import Array, svd
from mercer.diagnostics import held_out, outliers
from mercer.errors import AccuracyWarning, InputError, warn
from mercer.estimators.linear._pca_paths import _warn_columns
from mercer.estimators.linear._principal_axes import warn_of_range
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._parameters import Attributes
from mercer.operators import (
    Centring,
    RowsAboutOrigin,
    SpatialSigns,
    column_scales,
    refuse_lost,
    spatial_median,
)
from mercer.selection import share
from mercer.solvers import fix_signs
from mercer.sources import Source

NORMAL = 1.482602218505602  # 1/Φ⁻¹(3/4): what makes a MAD a standard deviation
_MANY = 0.25  # share of rows beyond a cut-off from which the median is no longer trusted
_LEAST = 1e-250  # scale, in the unit of the middle row, below which digits may be lost
_TIE = 1e-12  # of Σcounts: half of equal fractions is half, whatever their sum is rounded to


BLOCK = 8e6  # bytes of a block of signs
_TILES, _KEYS = 6.0, 12.0  # arrays of a walk's blocks, and beside them where medians are sought
_TILE = 5e5  # bytes of these


def walk_bytes(rows: int, columns: int, standardize: bool) -> float:
    """Return what walks over the rows take, a few at a time."""
    size = 8.0 * rows * columns
    tiles = (_TILES + _KEYS * standardize) * min(_TILE, size)
    counts = 4 * 256 * 8.0 * columns * standardize
    return tiles + counts + 16.0 * columns**2


def sign_bytes(rows: int, columns: int) -> float:
    """Return what blocks of signs take, which may stand twice: the rows and their mirrors."""
    return 3.5 * min(BLOCK, 16.0 * rows * columns)


def upper_median(values: Array, counts: Array) -> float:
    """Return the least value with more than half of Σcounts at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    at = int(np.searchsorted(reached, reached[-1] / 2 * (1 + _TIE), side="right"))
    return float(values[order[min(at, len(order) - 1)]])


def medians(values: Array, counts: Array) -> Array:
    """Return the medians (b,) of columns (n, b), as if row i stood counts_i times."""
    found = np.empty(values.shape[1])
    held = counts > 0
    kept = counts[held]
    for j in range(values.shape[1]):
        column = values[held, j]
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(kept[order])
        half = reached[-1] / 2
        last = len(order) - 1
        low = min(int(np.searchsorted(reached, half * (1 - _TIE), side="left")), last)
        high = min(int(np.searchsorted(reached, half * (1 + _TIE), side="right")), last)
        found[j] = 0.5 * column[order[low]] + 0.5 * column[order[high]]
    return found


def median_and_deviation(values: Array, counts: Array) -> tuple[Array, Array]:
    """Return medians (b,) and 1.4826·median|x - median| (b,) of columns (n, b)."""
    middle = medians(values, counts)
    return middle, NORMAL * medians(np.abs(values - middle), counts)


def shortest_half(values: Array, counts: Array) -> tuple[float, float]:
    """Return the middle of the shortest interval with more than half the rows, and its spread.

    The spread is that of normal rows. Unlike the median, the middle does not move when 40 %
    of the rows go to one side.
    """
    held = counts > 0
    order = np.argsort(values[held], kind="stable")
    y, c = values[held][order], counts[held][order]
    before = np.concatenate([[0.0], np.cumsum(c)])
    half = before[-1] / 2 * (1 + _TIE)
    ends = np.searchsorted(before[1:], before[:-1] + half, side="right")
    starts = np.flatnonzero(ends < len(y))
    lengths = y[ends[starts]] - y[starts]
    best = int(np.argmin(lengths))
    middle = 0.5 * y[starts[best]] + 0.5 * y[ends[starts[best]]]
    return float(middle), float(NORMAL * lengths[best] / 2)


@dataclasses.dataclass(frozen=True)
class Orthogonal:
    """Orthogonal distances of the clean rows: d^⅔ ~ N(middle, spread²) (Wilson-Hilferty).

    Parameters
    ----------
    middle, spread : float
        Of d^⅔.
    level : float
        Share of clean rows below the cut-off.
    floor : float
        Distance below which there is nothing but rounding.
    """

    middle: float
    spread: float
    level: float
    floor: float

    @classmethod
    def of(cls, distance: Array, counts: Array, level: float, floor: float) -> "Orthogonal":
        """Return the law of the clean half or more of these distances (n,).

        Median and MAD read many outliers as spread; the shortest half does not, but is
        noisier. It is taken where it leaves out more than a quarter of the rows.
        """
        y = np.cbrt(distance) ** 2
        law = cls(*shortest_half(y, counts), level, floor)
        beyond = float(np.sum(counts[distance > law.cutoff])) / float(np.sum(counts))
        if beyond > _MANY:
            return law
        middle, spread = median_and_deviation(y[:, None], counts)
        return cls(float(middle[0]), float(spread[0]), level, floor)

    @property
    def cutoff(self) -> float:
        """(middle + spread·Φ⁻¹(level))^{3/2}, or the floor."""
        found = self.middle + self.spread * float(ndtri(self.level))
        return float(max(found**1.5, self.floor))

    @property
    def square(self) -> float:
        """Mean of d²: middle³ + 3·middle·spread²; zero where there is only rounding."""
        if self.middle**1.5 <= self.floor:
            return 0.0
        return self.middle**3 + 3 * self.middle * self.spread**2

    @property
    def consistency(self) -> float:
        """Mean of d² over that of the rows below the cut-off, for normal d^⅔."""
        if self.square == 0 or self.cutoff == self.floor:
            return 1.0
        m, s, z = self.middle, self.spread, float(ndtri(self.level))
        h = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / self.level
        below = m**3 - 3 * m * m * s * h + 3 * m * s * s * (1 - z * h) - s**3 * (z * z + 2) * h
        return self.square / below if below > 0 else 1.0


def score_cutoff(axes: int, level: float) -> float:
    """Return the root of the χ² quantile: what `level` of the score distances stay below."""
    return math.sqrt(float(chdtri(axes, 1 - level))) if axes else 0.0


def score_consistency(axes: int, level: float) -> float:
    """Return level/F_{k+2}(χ²_k quantile): what cutting there takes from a variance."""
    if not axes:
        return 1.0
    return level / float(chdtr(axes + 2, chdtri(axes, 1 - level)))


ROUNDS = 20
_AT_ONE = 0.2  # share of the rows at one point from which they say nothing of the spread
_SHARE, _MOST = 0.8, 10  # axes that judge the rows where no number is asked for


@dataclasses.dataclass(frozen=True)
class Judged:
    """How far every row is from the axes, and from the others along them.

    Parameters
    ----------
    score, orthogonal : ndarray of shape (n,)
        Distances, in units of deviations and of 2^exponent.
    cutoff : float
        Of the score distance.
    law : Orthogonal
        Of the orthogonal distance.
    """

    score: Array
    orthogonal: Array
    cutoff: float
    law: Orthogonal

    @property
    def beyond(self) -> Array:
        """Which rows (n,) are beyond one of the cut-offs."""
        return np.asarray((self.score > self.cutoff) | (self.orthogonal > self.law.cutoff))

    @property
    def excess(self) -> Array:
        """The larger of both distances, in units of their cut-offs (n,)."""
        along = self.score / self.cutoff if self.cutoff else np.zeros_like(self.score)
        return np.maximum(along, self.orthogonal / max(self.law.cutoff, 1e-300))


@dataclasses.dataclass(frozen=True)
class RobustTable:
    """The rows of one robust fit, and how they are judged.

    Parameters
    ----------
    source : Source
        The rows, which may be read many times.
    weights : ndarray of shape (n,) or None
        Repeat counts as given.
    level : float
        Share of clean normal rows below each cut-off.
    block_bytes, memory : float
        Bytes of a block of a file, and those that coordinates may take.
    quiet : ndarray of shape (n,) or None
        Rows that say nothing of the spread: where more than a fifth stand at the median, these.
    """

    source: Source
    weights: Array | None
    level: float
    block_bytes: float
    memory: float
    quiet: Array | None = None

    @property
    def counts(self) -> Array:
        """Repeat counts (n,)."""
        n = self.source.shape[0]
        return np.ones(n) if self.weights is None else self.weights

    @property
    def heard(self) -> Array:
        """Repeat counts (n,) for medians: rows that all stand at one point have no spread."""
        return self.counts if self.quiet is None else np.where(self.quiet, 0.0, self.counts)

    def diluted(self, clean: Array) -> float:
        """Return by how much the rows that say nothing of the spread lower a variance."""
        if self.quiet is None:
            return 1.0
        return float(np.sum(self.counts * clean) / np.sum(self.heard * clean))

    def without(self, centring: Centring) -> "RobustTable":
        """Return the table with the rows at a centre taken as quiet: one walk."""
        none = np.zeros((self.source.shape[1], 0))
        rows = self.about(centring)
        _, distance = rows.distances(centring, none, np.zeros(0))
        quiet = distance <= rows.rounding(centring, 0.0)
        return dataclasses.replace(self, quiet=quiet)

    def about(self, centring: Centring) -> RowsAboutOrigin:
        """Return the rows about the origin of a centring."""
        origin = np.asarray(centring.origin, np.float64)
        return RowsAboutOrigin(self.source, origin, centring.exponent, self.block_bytes)

    def judge(
        self, centring: Centring, axes: Array, deviation: Array, level: Array | None = None
    ) -> Judged:
        """Return the distances from axes (p, k) with deviations (k,): one walk."""
        rows, counts = self.about(centring), self.heard
        score, orthogonal = rows.distances(centring, axes, deviation, level)
        size = float(np.sum(deviation)) + float(medians(orthogonal[:, None], counts)[0])
        floor = rows.rounding(centring, size)
        law = Orthogonal.of(orthogonal, counts, self.level, floor)
        return Judged(score, orthogonal, score_cutoff(axes.shape[1], self.level), law)

    def judge_by(self, fitted: Attributes, k: int, along: float = 1.0) -> Judged:
        """Return the distances from the first k axes of a fit, variances times `along`."""
        axes = np.asarray(fitted["components_"][:k], np.float64).T
        return self.judge(
            fitted["_centring"], axes, fitted["_unit_deviations"][:k] * np.sqrt(along)
        )

    def spread(self, centring: Centring, axes: Array) -> tuple[Array, Array]:
        """Return median and deviation (k,) of the coordinates, a few axes at a time."""
        rows, counts = self.about(centring), self.heard
        n, k = rows.shape[0], axes.shape[1]
        few = int(min(k, max(1, self.memory // (32 * n))))
        found = [
            self._spread(rows.coordinates(centring, axes[:, at : at + few]), counts)
            for at in range(0, k, few)
        ]
        middle, deviation = (np.concatenate(parts) for parts in zip(*found, strict=True))
        size = float(np.max(deviation, initial=0.0))
        floor = rows.rounding(centring, size)
        return middle, np.where(deviation > floor, deviation, 0.0)

    def _spread(self, coordinates: Array, counts: Array) -> tuple[Array, Array]:
        if self.quiet is None:
            return median_and_deviation(coordinates, counts)
        middle = np.zeros(coordinates.shape[1])  # where most of the rows are
        return middle, NORMAL * medians(np.abs(coordinates), counts)

    def clean(self, judged: Judged, most: float = 1.0) -> Array:
        """Tell which rows (n,) have an excess of at most `most`; never fewer than half."""
        excess = judged.excess
        found = excess <= max(most, upper_median(excess, self.heard))
        return np.asarray(found if self.quiet is None else found | self.quiet)


@dataclasses.dataclass(frozen=True)
class Sphere:
    """What the signs tell: a spatial median, axes, and robust deviations along them.

    Parameters
    ----------
    table : RobustTable
        The rows, with those that say nothing of the spread marked.
    fitted : dict
        What PCA of the signs has found.
    centring : Centring
        The spatial median.
    axes : ndarray of shape (p, q)
        Eigenvectors of Σw uuᵀ, by falling deviation; those without one come last.
    middle, deviation : ndarray of shape (q,)
        Median and normalised MAD of the coordinates.
    rest : float
        Robust mean of the squared distance from these axes.
    """

    table: RobustTable
    fitted: Attributes
    centring: Centring
    axes: Array
    middle: Array
    deviation: Array
    rest: float

    def first(self, k: int) -> tuple[Array, Array, Array]:
        """Return the first k axes, deviations and medians, without those of no deviation."""
        k = min(k, int(np.sum(self.deviation > 0)))
        return self.axes[:, :k], self.deviation[:k], self.middle[:k]

    def axes_for(self, wanted: float, most: int) -> int:
        """Return how many axes explain a share of the robust variance."""
        variances = np.append(self.deviation**2, self.rest)
        return max(1, min(share(variances, wanted), most, len(self.deviation)))


def sphere(
    table: RobustTable, solver: PCA, standardize: bool, root: Array | None, *, warns: bool
) -> Sphere:
    """Return the axes of the spatial signs; `root` (p,) are factors of the columns, or None.

    `solver` is a PCA of so many components. With ``standardize`` the columns are divided
    by their MAD first.
    """
    counts = table.counts
    rows = RowsAboutOrigin.of(table.source, table.weights, table.block_bytes)
    factor = root
    if standardize:
        scales = column_scales(rows, counts)
        if np.any(scales < _LEAST):
            refuse_lost((scales < _LEAST) & rows.varying(counts))
        if warns and not np.all(scales):
            text = "constant columns cannot be standardised; they are only centred"
            _warn_columns(text, scales == 0, "drop them")
        factor = 1 / np.where(scales > 0, scales, 1.0) * (1.0 if root is None else root)
    median = spatial_median(rows, counts, factor)
    if standardize:  # deviations take the unit out
        placed = dataclasses.replace(median.centring, unitless=True)
        median = dataclasses.replace(median, centring=placed)
    if warns and not median.met:
        warn(
            "the spatial median is not certain to 1e-10",
            got=f"{median.pull:.1e} after {median.walks} walks",
            fix="the axes hold to about that; look for rows that lie on one line",
            category=AccuracyWarning,
        )
    if median.on_rows >= float(np.sum(counts)):
        raise _no_variance(table, "all")
    if median.on_rows > _AT_ONE * float(np.sum(counts)):
        table = table.without(median.centring)
    mirrored = median.on_rows > 0
    signs = SpatialSigns(rows, median.centring, mirrored=mirrored)
    twice = None if table.weights is None else np.repeat(table.weights, 1 + mirrored)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of axes that may be rounding alone
        fitted = solver._fitted(signs, twice)
    axes = np.asarray(fitted["components_"], np.float64).T
    middle, deviation = table.spread(median.centring, axes)
    if not np.any(deviation):
        raise _no_variance(table, "most of them")
    if warns:
        _warn_coarse(fitted["certificate_"].first(int(np.max(np.flatnonzero(deviation))) + 1))
    order = np.argsort(-deviation, kind="stable")
    middle, deviation = middle[order], deviation[order]
    axes = np.where(deviation > 0, axes[:, order], 0.0)
    judged = table.judge(median.centring, axes, np.where(deviation > 0, deviation, 1.0))
    return Sphere(table, fitted, median.centring, axes, middle, deviation, judged.law.square)


def _warn_coarse(certificate: Any) -> None:
    """Say that eigenvalues of the signs, with a deviation along them, are not certified."""
    if not certificate.met:
        warn(
            "eigenvalues of the signs are not certified to the tolerance",
            got=f"{certificate.reached:.1e}, {certificate.tol:.0e} asked for",
            fix="see certificate_; ask for fewer components, a larger `tol`, or more `memory`",
            category=AccuracyWarning,
        )


def _no_variance(table: RobustTable, which: str) -> InputError:
    return InputError(
        "the data has no variance" + (" that is robust" if which != "all" else ""),
        got=f"{table.source.shape[0]} rows, {which} equal, or equal along every axis",
        fix="count equal rows once, or use PCA",
    )


@dataclasses.dataclass(frozen=True)
class Rounds:
    """Where the rounds of reweighting have ended.

    Parameters
    ----------
    clean : ndarray of shape (n,)
        Which rows count.
    rounds : int
        Fits that were made.
    settled : bool
        Whether the last one changed nothing.
    """

    clean: Array
    rounds: int
    settled: bool


def reweighted(begun: Sphere, axes: int, solver: PCA) -> Rounds:
    """Return the rows that stay when those far from the axes of the others are left out.

    It begins with the half of the rows that is closest to the axes of the signs. The first
    fit is judged by medians, since half of the rows has too small a variance; the others by
    their variances, made consistent. It ends when no row changes sides, or after 20 rounds.
    """
    table = begun.table
    v, deviation, middle = begun.first(axes)
    judged = table.judge(begun.centring, v, deviation, middle)
    clean = table.clean(judged, 0.0)
    held = table.counts > 0  # rows that count nothing do not keep the rounds going
    seen = {_digest(clean[held])}
    for number in range(ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last fit speaks for all
            fitted = solver._fitted(table.source, table.counts * clean)
        new = table.clean(_judged(table, fitted, clean, begun=number == 0))
        if np.array_equal(new[held], clean[held]):
            return Rounds(new, number + 1, True)
        clean = new
        if _digest(clean[held]) in seen:
            return Rounds(clean, number + 1, False)
        seen.add(_digest(clean[held]))
    return Rounds(clean, ROUNDS, False)


def _judged(table: RobustTable, fitted: Attributes, clean: Array, *, begun: bool) -> Judged:
    """Judge the rows by a fit of the clean ones: by medians when it has just begun."""
    k, centring = fitted["rank_"], fitted["_centring"]
    if not begun:
        along = score_consistency(k, table.level) * table.diluted(clean)
        return table.judge_by(fitted, k, along)
    axes = np.asarray(fitted["components_"][:k], np.float64).T
    middle, deviation = table.spread(centring, axes)
    alive = deviation > 0
    return table.judge(centring, axes[:, alive], deviation[alive], middle[alive])


def _digest(clean: Array) -> bytes:
    return hashlib.sha256(np.packbits(clean).tobytes()).digest()


def axes_wanted(wanted: Any, shape: tuple[int, int]) -> tuple[int, int]:
    """Return how many axes of the signs to look at, and how many may judge the rows.

    `shape` counts repeated rows. Axes bend towards the rows they were fitted to, and judge
    the others too hard where they are many: with a quarter as many axes as rows a fifth of
    clean rows is named, with a tenth 2 to 5 %. So a tenth judges where no number is asked
    for, and a quarter where one is; for a share half as many are looked at.
    """
    n, p = shape
    if isinstance(wanted, int | np.integer):
        most = max(1, min(int(wanted), n // 4, p))
        return most, most
    most = max(1, min(n // 10, p))
    if wanted is None:
        return min(_MOST, most), min(_MOST, most)
    return max(1, min(n // 2, p)), most


def axes_that_judge(begun: Sphere, wanted: Any, most: int) -> int:
    """Return the number of axes that rows are judged by."""
    if isinstance(wanted, int | np.integer):
        return most
    return begun.axes_for(_SHARE if wanted is None else float(wanted), most)


def of_sphere(
    begun: Sphere, k: int, root: Array | None, standardize: bool, whiten: bool | str
) -> Attributes:
    """Return the attributes of PCA, with the squared deviations along the axes as variances.

    The total is their sum and the robust square of what is left. With ``standardize`` the
    columns are scaled so that the total is their number, each as often as its weight says;
    `root` (p,) are roots of these weights, or None.
    """
    source, counts = begun.table.source, begun.table.counts
    columns = source.shape[1]
    values = begun.deviation**2
    total, centring = float(np.sum(values)) + begun.rest, begun.centring
    counted = columns if root is None else float(np.sum(root**2))
    size = total / counted if standardize else 1.0
    centring = _rescaled(centring, size) if standardize else centring
    values, total = values / size, total / size
    kept, rows = values[:k], float(np.sum(counts))
    alive, unit = kept > 0, centring.unit
    left = max(min(int(rows * (1 + 1e-12)), columns) - k, 0)
    rest = max(total - float(np.sum(kept)), 0.0) if left else 0.0
    dtype = np.float32 if source.products.itemsize == 4 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        state = {
            "explained_variance_": np.ldexp(kept, 2 * unit),
            "singular_values_": np.ldexp(np.sqrt(kept * (rows - 1)), unit),
            "noise_variance_": float(np.ldexp(rest / max(left, 1), 2 * unit)),
            "_deviations": np.ldexp(np.sqrt(kept), unit),
        }
    warn_of_range(state["explained_variance_"], kept, alive, unit)
    return {
        **begun.fitted,
        **state,
        "components_": np.ascontiguousarray(fix_signs(begun.axes[:, :k]).T, dtype),
        "explained_variance_ratio_": kept / total,
        "mean_": centring.mean,
        "scale_": centring.scale,
        "n_components_": k,
        "n_samples_": source.shape[0],
        "rank_": int(np.sum(alive)),
        "certificate_": begun.fitted["certificate_"].first(k),
        "consistency_": 1.0,
        "n_iter_": 0,
        "_centring": centring,
        "_whitened": whiten,
        "_unit_deviations": np.sqrt(kept),
        "_alive": alive,
    }


def of_rounds(
    table: RobustTable, state: Attributes, clean: Array, judging: int, standardize: bool
) -> tuple[Attributes, Judged]:
    """Return the attributes of the last fit, made consistent, and how it judges the rows.

    Cutting normal rows at a radius takes variance from the axes that judge, and another
    share from all others; both are known, and so is what equal rows take. With
    ``standardize`` the spread of the columns is corrected instead, so that the total stays
    what it was.
    """
    k, centring = state["n_components_"], state["_centring"]
    normal, thin = score_consistency(judging, table.level), table.diluted(clean)
    along = normal * thin
    judged = table.judge_by(state, judging, along)
    across = min(judged.law.consistency, normal) * thin
    ratio = state["explained_variance_ratio_"]
    shown = float(np.sum(ratio[:judging]))
    grown = shown * along + max(1 - shown, 0.0) * across
    factor = np.where(np.arange(k) < judging, along, across)
    state = state | {"explained_variance_ratio_": ratio * factor / grown, "consistency_": along}
    if standardize:
        factor, across = factor / grown, across / grown
        centring = _rescaled(centring, grown)
        state |= {"_centring": centring, "scale_": state["scale_"] * np.sqrt(grown)}
        law = judged.law
        law = dataclasses.replace(
            law,
            middle=law.middle / np.cbrt(grown),
            spread=law.spread / np.cbrt(grown),
            floor=law.floor / np.sqrt(grown),
        )
        judged = dataclasses.replace(
            judged, orthogonal=judged.orthogonal / np.sqrt(grown), law=law
        )
    state["explained_variance_"] = state["explained_variance_"] * factor
    for name in ("singular_values_", "_deviations", "_unit_deviations"):
        state[name] = state[name] * np.sqrt(factor)
    state["noise_variance_"] = state["noise_variance_"] * across
    return state, judged


def _rescaled(centring: Centring, variance: float) -> Centring:
    """Return the centring with every column divided by √variance more."""
    assert centring.factor is not None
    return dataclasses.replace(centring, factor=centring.factor / np.sqrt(variance))


_ENOUGH = 200  # clean rows from which their own median and spread are better than a law
_HELD_WORK = 2e9  # operations up to which clean rows are left out in turn


def new_cutoffs(
    table: RobustTable, state: Attributes, judged: Judged, clean: Array, judging: int
) -> tuple[float, float]:
    """Return the cut-offs of score and orthogonal distances of rows that were not fitted.

    Axes lie nearer to the rows they were fitted to than to others: with 40 rows a tenth of
    clean new rows would be beyond the cut-offs of the fit. Clean rows are therefore left out
    in turn: with the means T and Q of their squared distances, new ones keep below
    T·F(k, n + 2(k - 1)) and Q·F(b, nb/2), b the directions that Q is spread over, as if
    alike. From 200 rows on, and of ``"spherical"``, whose axes are others, the cut-offs of the
    fit grow by the ratio of these means to those of rows that were fitted. The cut-offs of
    the fit stand where rows have weights, where there are fewer than k + 10, and where
    leaving them out would be long work; tables of that size seldom have so few rows for
    their columns that it matters.
    """
    k, p = judging, table.source.shape[1]
    n = int(np.count_nonzero(clean))
    asis = judged.cutoff, judged.law.cutoff
    unlike = table.weights is not None or table.quiet is not None
    if unlike or not 1 <= k <= min(n - 10, p) or n * p * max(p, min(n, p)) > _HELD_WORK:
        return asis
    centring, level = state["_centring"], table.level
    rows = table.about(centring).coordinates(centring, np.eye(p))[clean]
    held = held_out(rows, k, folds=10, repeats=2)
    found = outliers(rows, k, level=level)
    scores = float(fdtri(k, n + 2 * (k - 1), level))
    along = float(np.mean(held.t2)) * scores
    inside, away = float(np.mean(found.q)), float(np.mean(held.q))
    across = 0.0
    if inside > 0 and k < p:
        spread = min(_alike(rows, k), p - k)
        b = 2 / (1 / spread + float(np.var(held.q)) / (2 * away * away))
        across = away * float(fdtri(b, n * b / 2, level)) * judged.law.consistency
    if state["n_iter_"] == 0 or n >= _ENOUGH:  # axes of another kind; or medians are sure
        along = (
            asis[0] ** 2 * along / (float(np.mean(found.t2)) * float(chdtri(k, 1 - level)) / k)
        )
        across = asis[1] ** 2 * away / inside if inside > 0 else 0.0
    return math.sqrt(along), max(math.sqrt(across), judged.law.floor)


def _alike(rows: Array, k: int) -> float:
    """Return (Σλ)²/Σλ² of the true variances beyond k axes: sampling adds (Σλ)²/m to Σλ²."""
    m = len(rows) - 1 - k
    values = svd(rows - rows.mean(axis=0))[1][k:] ** 2
    first, second = float(np.sum(values)), float(np.sum(values**2))
    if m < 2 or first <= 0:
        return 1.0
    true = (second - first**2 / m) * m**2 / ((m - 1) * (m + 2))
    return first**2 / true if true > 0 else math.inf


def judged_state(
    table: RobustTable, state: Attributes, judged: Judged, clean: Array, judging: int
) -> Attributes:
    """Return the attributes with distances in the units of the data, and the rows named.

    `clean` (n,) are the rows that counted.
    """
    unit = state["_centring"].unit
    score, orthogonal = new_cutoffs(table, state, judged, clean, judging)
    plain = {name: value for name, value in state.items() if name != "inertia_"}
    return plain | {  # a robust variance is no mean of squares: it has no 1/n
        "weights_": clean.astype(np.float64),
        "outliers_": np.flatnonzero(judged.beyond),
        "score_distance_": judged.score,
        "orthogonal_distance_": np.ldexp(judged.orthogonal, unit),
        "score_cutoff_": judged.cutoff,
        "orthogonal_cutoff_": float(np.ldexp(judged.law.cutoff, unit)),
        "new_score_cutoff_": score,
        "new_orthogonal_cutoff_": float(np.ldexp(orthogonal, unit)),
        "n_judging_": judging,
    }
