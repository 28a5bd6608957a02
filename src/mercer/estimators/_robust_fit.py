"""Robust axes: signs about the spatial median, then rounds of PCA without the outlying rows."""

import dataclasses
import hashlib
import warnings
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import AccuracyWarning, InputError, warn
from mercer.estimators._pca_paths import _warn_columns
from mercer.estimators._robust_scales import (
    NORMAL,
    Orthogonal,
    median_and_deviation,
    medians,
    score_consistency,
    score_cutoff,
    upper_median,
)
from mercer.estimators.pca import PCA
from mercer.operators import Centring, Placed, Signs, column_scales, spatial_median
from mercer.selection import share
from mercer.sources import Source

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
class Table:
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
        Bytes of a block of a file, and all that may be taken.
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

    def without(self, centring: Centring) -> "Table":
        """Return the table with the rows at a centre taken as quiet: one walk."""
        none = np.zeros((self.source.shape[1], 0))
        rows = self.about(centring)
        _, distance = rows.distances(centring, none, np.zeros(0))
        quiet = distance <= rows.rounding(centring, 0.0)
        return dataclasses.replace(self, quiet=quiet)

    def about(self, centring: Centring) -> Placed:
        """Return the rows about the origin of a centring."""
        origin = np.asarray(centring.origin, np.float64)
        return Placed(self.source, origin, centring.exponent, self.block_bytes)

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
    table : Table
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

    table: Table
    fitted: dict[str, Any]
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
    table: Table, solver: PCA, standardize: bool, root: Array | None, *, warns: bool
) -> Sphere:
    """Return the axes of the spatial signs; `root` (p,) are factors of the columns, or None.

    `solver` is a PCA of so many components. With ``standardize`` the columns are divided
    by their MAD first.
    """
    counts = table.counts
    rows = Placed.of(table.source, table.weights, table.block_bytes)
    factor = root
    if standardize:
        scales = column_scales(rows, counts)
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
    signs = Signs(rows, median.centring, mirrored=mirrored)
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


def _no_variance(table: Table, which: str) -> InputError:
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


def _judged(table: Table, fitted: dict[str, Any], clean: Array, *, begun: bool) -> Judged:
    """Judge the rows by a fit of the clean ones: by medians when it has just begun."""
    k, centring = fitted["rank_"], fitted["_centring"]
    axes = np.asarray(fitted["components_"][:k], np.float64).T
    if not begun:
        root = np.sqrt(score_consistency(k, table.level) * table.diluted(clean))
        return table.judge(centring, axes, fitted["_unit_deviations"][:k] * root)
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
