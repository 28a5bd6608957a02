"""Seen: every number that a page about a linear model shows, found in one walk.

Farthest: the rows farthest out, kept whole while all are walked.

Wide: the axes of a model, and further ones that the page shows beside them.
"""

import dataclasses
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, in_short
from mercer.estimators import PCA
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._row_cloud import MOST_ROWS, SAMPLE, density_of
from mercer.selection import Choice
from mercer.sources import BlockSource, Source

KEPT = 20  # by each of the two distances: what a table of the farthest rows lists


@final
@dataclasses.dataclass(frozen=True)
class Farthest:
    """The rows of largest T², and those of largest Q, so far.

    Whatever the limits of the two turn out to be, the rows farthest beyond one of them are
    among these.

    Attributes
    ----------
    at : array of shape (f,)
        Their numbers, ascending.
    rows : array of shape (f, p)
        As they were analysed.
    t2, q : array of shape (f,)
        Their distances.
    """

    at: Array
    rows: Array
    t2: Array
    q: Array

    @classmethod
    def none(cls, p: int) -> "Farthest":
        """Return that of no rows of p columns."""
        return cls(np.empty(0, np.int64), np.empty((0, p)), np.empty(0), np.empty(0))

    def with_rows(self, start: int, rows: Array, t2: Array, q: Array) -> "Farthest":
        """Return that of these rows and of a block of further ones.

        Parameters
        ----------
        start : int
            Number of the first row of the block.
        rows : array of shape (r, p)
            The block.
        t2, q : array of shape (r,)
            Distances of its rows.
        """
        new = np.union1d(_largest(t2), _largest(q))
        at = np.concatenate([self.at, start + new])
        far, away = np.concatenate([self.t2, t2[new]]), np.concatenate([self.q, q[new]])
        kept = np.union1d(_largest(far), _largest(away))
        whole = np.concatenate([self.rows, rows[new]])
        return Farthest(at[kept], whole[kept], far[kept], away[kept])


def _largest(values: Array) -> Array:
    """Return the places of the largest values."""
    if len(values) <= KEPT:
        return np.arange(len(values))
    return np.argpartition(-values, KEPT - 1)[:KEPT]


_SPECTRUM = 30  # components of the scree plot


@final
@dataclasses.dataclass(frozen=True)
class WideAxes:
    """Axes and variances: first those of the model, then the largest of what it leaves.

    Attributes
    ----------
    components_ : array of shape (m, p)
        Orthonormal axes; the first k are the model's own.
    explained_variance_, explained_variance_ratio_ : array of shape (m,)
        Variances, and their shares of the total.
    lower, upper : array of shape (m,)
        Intervals that hold the variances, as far as they are certified.
    groups : tuple of tuples of int
        Axes that cannot be told apart.
    mean_, scale_ : arrays of shape (p,), the latter may be None
        Of the model.
    """

    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    lower: Array
    upper: Array
    groups: tuple[tuple[int, ...], ...]
    mean_: Array
    scale_: Array | None


def widened(model: Any, source: Any, weights: Any = None) -> WideAxes:
    """Return the axes of a fitted linear model with further ones, up to 30.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    source : array or source of shape (n, p)
        The rows of the fit, missing cells filled.
    weights : array of shape (n,) or None
        Of the rows, as `row_weights` returns them.
    """
    k = int(model.n_components_)
    n, p = source.shape
    most = max(1, min(_SPECTRUM, p, n - 1))
    own = np.asarray(model.components_, np.float64).reshape(k, p)
    variances, lower, upper = _intervals(model)
    if k >= most:
        return WideAxes(
            own, variances, np.asarray(model.explained_variance_ratio_), lower, upper,
            tuple(model.certificate_.groups), model.mean_, model.scale_,
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = PCA(most, **_scaling(model)).fit(source, sample_weight=weights)
    further = _beside(own, np.asarray(rest.components_, np.float64)[k:])
    ratio = np.asarray(model.explained_variance_ratio_)
    bounds = rest.certificate_
    return WideAxes(
        np.concatenate([own, further]),
        np.concatenate([variances, rest.explained_variance_[k:]]),
        np.concatenate([ratio, rest.explained_variance_ratio_[k:]]),
        np.concatenate([lower, bounds.lower[k:]]),
        np.concatenate([upper, bounds.upper[k:]]),
        tuple(bounds.groups),
        model.mean_,
        model.scale_,
    )


def _intervals(model: Any) -> tuple[Array, Array, Array]:
    """Return the variances of the model and their certified intervals."""
    values, certificate = np.asarray(model.explained_variance_), model.certificate_
    factor = float(getattr(model, "consistency_", 1.0))
    if getattr(model, "method", "") == "spherical":  # a certificate of signs, not of variances
        return values, values, values
    with np.errstate(over="ignore"):
        lower, upper = (
            factor * np.asarray(end) for end in (certificate.lower, certificate.upper)
        )
    return values, lower, upper


def _scaling(model: Any) -> dict[str, Any]:
    """Return the parameters of a PCA that scales columns as the model does."""
    if getattr(model, "outliers_", None) is None or model.scale_ is None:
        return {name: getattr(model, name) for name in ("standardize", "feature_weight")}
    # A robust scale is no standard deviation of all rows: it is given as weights of columns.
    return {"feature_weight": np.clip(np.asarray(model.scale_, np.float64), 1e-49, 1e49) ** -2}


def row_weights(model: Any, given: Any) -> Any:
    """Return the weights of the rows (n,), or None; outlying rows of a robust fit have none.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    given : array of shape (n,) or None
        As at fit.
    """
    out = getattr(model, "outliers_", None)
    if out is None:
        return given
    weights = np.ones(int(model.n_samples_)) if given is None else np.array(given, np.float64)
    weights[out] = 0.0
    return weights


def _beside(own: Array, further: Array) -> Array:
    """Return axes without their part in `own`, orthonormal, in their order and direction."""
    left = further - further @ own.T @ own
    q, r = np.linalg.qr(left.T)
    return np.asarray((q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T)


SHOWN = 6  # components of the map, at most
_HELD = 5000  # rows that are studied cell by cell
_CELLS = 4_000_000  # of them, at most
BLOCK = 32_000_000  # bytes of rows that are walked in one go


@final
@dataclasses.dataclass(frozen=True)
class LinearSummary:
    """The rows of a page and what a model makes of them.

    Attributes
    ----------
    model : PCA or RobustPCA
        As it was given.
    wide : WideAxes
        Its axes, with further ones to be shown.
    names : tuple of str
        Names of the p columns.
    n, k : int
        Rows, and components of the verdict.
    choice : Choice or None
        How many components, by every rule.
    at : array of shape (m,)
        Numbers of the rows that are drawn; all of them up to 1.2 million.
    Z : array of shape (m, s)
        Their coordinates on the first components.
    t2, q : array of shape (n,)
        T² and Q of all rows, on the k components of the verdict.
    held_at : array of shape (h,)
        Numbers of the rows that are held.
    held : array of shape (h, p)
        These rows as they were analysed: centred, and scaled where the fit scales.
    weights : array of shape (n,) or None
        Of all rows; zero for those that a robust fit leaves out.
    columns : array of shape (p,)
        Variances of the columns as they were analysed.
    row_names : sequence of str or None
        Names of all rows.
    colours : mapping of str to array of shape (n,), or Levels
        Columns to colour by, of all rows: numbers, or text.
    density : array or None
        Of all rows on the map, where only some are drawn.
    far_at, far : arrays of shape (f,) and (f, p)
        Numbers of the rows farthest out by T² and by Q, and these rows, as they were analysed.
    """

    model: Any
    wide: WideAxes
    names: tuple[str, ...]
    n: int
    k: int
    choice: Choice | None
    at: Array
    Z: Array
    t2: Array
    q: Array
    held_at: Array
    held: Array
    weights: Array | None
    columns: Array
    row_names: Any
    colours: Mapping[str, Any]
    density: Array | None = None
    far_at: Array = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))
    far: Array = dataclasses.field(default_factory=lambda: np.empty((0, 0)))

    @property
    def standardised(self) -> bool:
        """Whether columns were divided by their standard deviation."""
        return bool(getattr(self.model, "standardize", False))

    @property
    def axes_of_verdict(self) -> int:
        """Components that T² and Q are taken on: those of the verdict, one at least."""
        return max(1, min(self.k, len(self.wide.components_)))

    def cells(self, row: int) -> Array | None:
        """Return a row as it was analysed (p,), or None where it was not kept."""
        for at, rows in ((self.far_at, self.far), (self.held_at, self.held)):
            place = int(np.searchsorted(at, row))
            if place < len(at) and at[place] == row:
                return np.asarray(rows[place])
        return None

    def row_name(self, row: int) -> str:
        """Return what a row is called; without a name it has its number, from 1."""
        given = None if self.row_names is None else self.row_names[row]
        return f"row {row + 1}" if given is None or given == "" else str(given)


def seen_from(
    model: Any,
    X: Any,
    *,
    choice: Choice | None = None,
    row_names: Sequence[str] | None = None,
    colours: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
) -> LinearSummary:
    """Return what a page shows of a fitted linear model and its rows.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    X : array, frame, path or source of shape (n, p)
        The rows of the fit.
    choice : Choice or None
        How many components; None takes that of the model, or its own number.
    row_names, colours
        See `LinearSummary`.
    sample_weight : array of shape (n,) or None
        As at fit.
    """
    choice = choice or getattr(model, "choice_", None)
    source = model._completed(model._admit(X, reset=False))
    names = row_names_of(row_names, source.shape[0])
    tints = colours_of(colours, source.shape[0])
    held = source if isinstance(source, BlockSource) else source.array
    weights = row_weights(model, sample_weight)
    wide = widened(model, held, weights)
    total = _total(wide)
    k = int(model.n_components_) if choice is None else choice.k
    axes = max(1, min(k, len(wide.components_)))
    walked = _walked(wide, source, axes, weights)
    at, Z, t2, q, held_at, held_rows, squares, density, far = walked
    columns = squares * (total / (np.sum(squares) or 1.0))
    return LinearSummary(
        model, wide, column_names(model), len(t2), k, choice, at, Z, t2, q, held_at, held_rows,
        weights, columns, names, tints, density, far.at, far.rows,
    )  # fmt: skip


def column_names(model: Any) -> tuple[str, ...]:
    """Return the names of the columns of the fit, or their numbers; objects have none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return tuple(f"column {j}" for j in range(int(getattr(model, "n_features_in_", 0))))
    return tuple(str(name) or f"column {j}" for j, name in enumerate(names))


def _total(wide: WideAxes) -> float:
    """Return the variance of all columns together, Σλ over all axes."""
    first, share = float(wide.explained_variance_[0]), float(wide.explained_variance_ratio_[0])
    if not 1e-300 < first < math.inf:
        raise InputError(
            "squares of these numbers are beyond what a computer can write",
            got=f"a largest variance of {first:g}",
            fix="divide the columns by a common unit, or fit with standardize=True",
        )
    return first / share


def _walked(wide: WideAxes, source: Source, axes: int, weights: Any) -> tuple[Any, ...]:
    """Walk once: coordinates of the rows drawn, T² and Q of all, some rows whole, Σwx̃²."""
    n, p = source.shape
    shown = min(SHOWN, len(wide.components_))
    values = np.asarray(wide.explained_variance_[:axes], np.float64)
    inverse = np.divide(1.0, values, out=np.zeros(axes), where=values > 1e-12 * values.max())
    every = max(1, -(-n // _most_held(p)))
    V = wide.components_[: max(shown, axes)].T.astype(np.float64)
    Z, t2, q, held = list[Array](), list[Array](), list[Array](), list[Array]()
    # Float32 has no numbers beyond 1e38: such coordinates stay as they are.
    small = 1e-30 < math.sqrt(max(float(values[0]), 0.0)) < 1e30
    total, start, farthest = np.zeros(p), 0, Farthest.none(p)
    for block in _blocks(source):
        with np.errstate(over="ignore", invalid="ignore"):  # judged as a whole below
            rows = _analysed(wide, block)
            scores = rows @ V
            Z.append(scores[:, :shown].astype(np.float32 if small else np.float64))
            squares = scores[:, :axes] ** 2
            t2.append(squares @ inverse)
            held.append(rows[(-start) % every :: every].copy())  # a view would keep the block
            rest = np.einsum("ij,ij->i", rows, rows) - np.sum(squares, axis=1)
            q.append(np.maximum(rest, 0.0))
            farthest = farthest.with_rows(start, rows, t2[-1], q[-1])
            np.square(rows, out=rows)
            own = np.ones(len(rows)) if weights is None else weights[start : start + len(rows)]
            total += own @ rows
        start += len(rows)
    _refuse_far(total)
    at, coordinates = np.arange(start), np.concatenate(Z)
    far, away = np.concatenate(t2), np.concatenate(q)
    density = None
    if start > MOST_ROWS:
        at, plane = _drawn(far, away), coordinates[:, :2]
        coordinates = coordinates[at]
        if shown > 1:
            ends = coordinates[:, :2].min(axis=0), coordinates[:, :2].max(axis=0)
            density = density_of(plane, *ends)
    held_at = np.arange(0, start, every)
    kept = np.concatenate(held)
    return at, coordinates, far, away, held_at, kept, total, density, farthest


def _refuse_far(squares: Array) -> None:
    """Refuse rows whose squares (p,), added up, are no numbers of float64."""
    if not np.isfinite(squares).all():
        raise InputError(
            "squares of these rows leave the range of float64",
            got=f"columns {in_short(np.flatnonzero(~np.isfinite(squares)))}",
            fix="divide the data by a constant, or leave out the rows that are so far",
        )


def _most_held(p: int) -> int:
    return max(1, min(_HELD, _CELLS // p))


def held_rows(n: int, p: int) -> int:
    """Return how many of n rows with p columns are studied cell by cell, at most."""
    return min(n, _most_held(p))


def _blocks(source: Source) -> Iterator[Any]:
    if isinstance(source, BlockSource):
        yield from source.blocks(max(1, min(65536, BLOCK // (8 * source.shape[1]))))
        return
    rows, step = source.array, max(1, BLOCK // (8 * source.shape[1]))
    for start in range(0, source.shape[0], step):
        yield rows[start : start + step]


def _analysed(wide: WideAxes, block: Any) -> Array:
    """Return rows as they were analysed: x̃ = (x - mean)/scale."""
    rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float64)
    rows = rows - wide.mean_
    if wide.scale_ is not None:
        rows /= np.where(wide.scale_ > 0, wide.scale_, 1.0)
    return rows


def _drawn(t2: Array, q: Array, seed: int = 0) -> Array:
    """Return a million row numbers: the farthest rows all, the others by chance."""
    n = len(t2)
    few = SAMPLE // 100
    far = np.union1d(np.argpartition(-t2, few)[:few], np.argpartition(-q, few)[:few])
    rest = np.setdiff1d(np.arange(n), far, assume_unique=True)
    chosen = np.random.default_rng(seed).choice(rest, SAMPLE - len(far), replace=False)
    return np.sort(np.concatenate([far, chosen]))


_CLEARLY = 0.15  # by so much neighbours in a picture correlate more than pixels by chance
_SMOOTH = 0.1  # of 1 - correlation by chance: what neighbours on a curve may lack
_LEAST = 6  # pixels on a side
_LONG = 2.0  # of a picture: its longer side over the shorter, at most
_LOOKED_AT = 500  # rows that shapes are told by
_CURVE = 20  # columns from which numbers in a row may be a curve


def image_shape(rows: Array) -> tuple[int, int] | None:
    """Return (height, width) where the columns are the pixels of a picture, else None.

    Told by the numbers: columns across and down correlate more than columns by chance, and
    the end of a line does not correlate so with the beginning of the next. Of all shapes with
    that many pixels, none much longer than wide, the one whose lines fit best.

    Parameters
    ----------
    rows : array of shape (n, p)
        Centred rows.
    """
    n, p = rows.shape
    sides = [h for h in range(_LEAST, p // _LEAST + 1) if p % h == 0]
    shapes = [(h, p // h) for h in sides if 1 / _LONG <= h * h / p <= _LONG]
    if not shapes or n < 10:
        return None
    table = _scaled(rows[:: -(-n // _LOOKED_AT)])
    chance = _by_chance(table)
    fits = {shape: _fit(table.reshape(-1, *shape), chance) for shape in shapes}
    best = max(shapes, key=lambda shape: fits[shape])
    return best if fits[best] > _CLEARLY else None


def _fit(cells: Array, chance: float) -> float:
    """Return by how much neighbours correlate more than by chance, and than across a seam."""
    across = float(np.mean(cells[:, :, 1:] * cells[:, :, :-1]))
    down = float(np.mean(cells[:, 1:] * cells[:, :-1]))
    seam = float(np.mean(cells[:, 1:, 0] * cells[:, :-1, -1]))
    return min(across, down) - max(seam, chance)


def is_curve(rows: Array) -> bool:
    """Tell whether every row is a curve: each column is much like the next.

    Parameters
    ----------
    rows : array of shape (n, p)
        Centred rows.
    """
    n, p = rows.shape
    if p < _CURVE or n < 5:
        return False
    table = _scaled(rows)
    neighbours = float(np.mean(table[:, 1:] * table[:, :-1]))
    return 1 - neighbours < _SMOOTH * (1 - _by_chance(table))


def _scaled(rows: Array) -> Array:
    """Return the columns with variance one; those that do not vary stay zero."""
    deviations = np.sqrt(np.mean(rows**2, axis=0))
    return np.asarray(rows / np.where(deviations > 0, deviations, 1.0))


def _by_chance(table: Array) -> float:
    """Return the mean correlation of two columns taken by chance."""
    p = table.shape[1]
    whole, own = float(np.mean(np.sum(table, axis=1) ** 2)), float(np.mean(table**2)) * p
    return float((whole - own) / (p * (p - 1)))
