"""After: sums over new rows, in the frame of a model; one walk when their mean is known."""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.operators import block_length, fetched
from mercer.sources import ArrayBlocks, BlockSource, Source
from mercer.studies._study_rows import evenly
from mercer.studies.drifting._rows_before import Before

_BYTES = 8e6  # of rows that are made dense at a time
_SAMPLE = 500  # rows that Σλ² is estimated from


@final
@dataclasses.dataclass(frozen=True)
class After:
    """New rows in the frame of a model: x̃ = (x - mean of the fit)·factor, z = Vx̃.

    Everything but `shift`, `t2` and `q` is about the mean of the new rows. r = x̃ - Vᵀz is
    what lies outside the plane.

    Attributes
    ----------
    rows : int
        m.
    shift : ndarray of shape (p,)
        Mean of x̃.
    variances : ndarray of shape (p,)
        Of the columns of x̃.
    fourths : ndarray of shape (p,)
        E x̃⁴/(E x̃²)² of the columns: 3 for normal rows, m where one row is all there is.
    fourth : float
        Their mean, at least 3.
    along : ndarray of shape (k, k)
        Covariance of z.
    across : ndarray of shape (k, p)
        Covariance of z with r.
    total, rest : float
        Variance in all, and outside the plane.
    turned, crossed : ndarray of shape (k,) and (k, k)
        E z_j²‖r‖² and E z_j²z_l²: how far `across` and `along` vary by chance.
    spread : float
        Var ‖x̃‖²/(E‖x̃‖²)².
    swing : float
        Var(‖z‖²/E‖z‖² - ‖r‖²/E‖r‖²).
    squares, rest_squares : float
        Σλ² of all true variances, and of those outside the plane.
    t2, q : ndarray of shape (m,)
        Of every row, by the mean and the axes of the fit.
    """

    rows: int
    shift: Array
    variances: Array
    fourths: Array
    fourth: float
    along: Array
    across: Array
    total: float
    rest: float
    turned: Array
    crossed: Array
    spread: float
    swing: float
    squares: float
    rest_squares: float
    t2: Array
    q: Array


def after(known: Before, source: Source, mean: Array, count: int, kept: Any = None) -> After:
    """Return the sums over the rows of a source; one walk.

    Parameters
    ----------
    known : Before
        The frame.
    source : Source
        Rows without missing cells.
    mean : ndarray of shape (p,)
        Mean of these rows, in the units of the data.
    count : int
        How many rows there are.
    kept : ndarray of bool of shape (n,) or None
        Which rows count; None for all.
    """
    p, k = len(known.mean), known.k
    shift = (mean - known.mean) * known.factor
    sums: dict[str, Any] = {
        "second": np.zeros(p),
        "fourth": np.zeros(p),
        "along": np.zeros((k, k)),
        "across": np.zeros((k, p)),
        "turned": np.zeros(k),
        "crossed": np.zeros((k, k)),
        "norms": np.zeros((2, 2)),
    }
    distances: list[Array] = []
    step, sample, seen = -(-count // _SAMPLE), list[Array](), 0
    for rows in dense_blocks(source, kept):
        x = (rows - mean) * known.factor
        _add(sums, x, x @ known.axes.T, known)
        far = (x + shift) @ known.axes.T
        away = np.sum((x + shift) ** 2, axis=1) - np.sum(far**2, axis=1)
        distances.append(np.stack([far**2 @ (1 / known.variances), np.maximum(away, 0)]))
        sample.append(x[-seen % step :: step])
        seen += len(x)
    return _after(known, sums, shift, np.concatenate(sample), np.concatenate(distances, axis=1))


def dense_rows(source: Source, kept: Any, most: int = 2000) -> Array:
    """Return at most `most` rows that count, about evenly spread, as float64; one walk."""
    found, step = list[Array](), 1
    seen = 0
    for rows in dense_blocks(source, kept):
        found.append(rows[-seen % step :: step].copy())
        seen += len(rows)
        if sum(map(len, found)) > 2 * most:
            found, step = [np.concatenate(found)[::2]], 2 * step
    whole = np.concatenate(found) if found else np.zeros((0, source.shape[1]))
    return whole if len(whole) <= most else whole[evenly(len(whole), most)]


def dense_blocks(source: Source, kept: Any) -> Iterator[Array]:
    """Yield the rows that count as float64, a few at a time."""
    blocks = source if isinstance(source, BlockSource) else ArrayBlocks(source, None)
    p = source.shape[1]
    most, at = max(1, int(_BYTES / (8 * p))), 0
    for block in fetched(blocks, max(1, min(block_length(blocks, _BYTES), most))):
        part = block.toarray() if is_sparse(block) else block
        part = np.asarray(part, np.float64)
        here = slice(at, at + len(part))
        at = here.stop
        part = part if kept is None else part[kept[here]]
        if len(part):
            yield part


def _add(sums: dict[str, Any], x: Array, z: Array, known: Before) -> None:
    """Add rows about their mean: x̃ (b, p), and z (b, k)."""
    squares, scores = x**2, z**2
    r = x - z @ known.axes
    inside, outside = np.sum(scores, axis=1), np.sum(r**2, axis=1)
    sums["second"] += np.sum(squares, axis=0)
    sums["fourth"] += np.sum(squares**2, axis=0)
    sums["along"] += z.T @ z
    sums["across"] += z.T @ r
    sums["turned"] += scores.T @ outside
    sums["crossed"] += scores.T @ scores
    both = np.stack([inside, outside])
    sums["norms"] += both @ both.T


def _after(known: Before, sums: dict[str, Any], shift: Array, x: Array, far: Array) -> After:
    m = far.shape[1]
    along, variances = sums["along"] / (m - 1), sums["second"] / (m - 1)
    total, inside = float(np.sum(variances)), float(np.trace(along))
    rest = max(total - inside, 0.0) if known.rest > 0 or known.k < len(shift) else 0.0
    alive = variances > 0
    fourths = np.full(len(shift), 3.0)
    fourths[alive] = m * sums["fourth"][alive] / sums["second"][alive] ** 2
    means = np.array([inside, rest]) * (m - 1) / m
    centred = sums["norms"] / m - np.outer(means, means)
    both = np.where(means > 0, [1.0, -1.0] / np.where(means > 0, means, 1.0), 0.0)
    r = x - x @ known.axes.T @ known.axes
    squares, rest_squares = _squares(x), _squares(r)
    spread = float(np.sum(centred)) / np.sum(means) ** 2 if total > 0 else 0.0
    normal = 2 * np.array([squares - rest_squares, rest_squares]) @ both**2
    return After(
        rows=m,
        shift=shift,
        variances=variances,
        fourths=fourths,
        fourth=max(3.0, float(np.mean(fourths[alive])) if alive.any() else 3.0),
        along=along,
        across=sums["across"] / (m - 1),
        total=total,
        rest=rest,
        turned=sums["turned"] / (m - 1),
        crossed=sums["crossed"] / (m - 1),
        spread=max(spread, 2 * squares / total**2 if total > 0 else 0.0),
        swing=max(float(both @ centred @ both), float(normal)),
        squares=squares,
        rest_squares=rest_squares,
        t2=far[0],
        q=far[1],
    )


def _squares(x: Array) -> float:
    """Return an estimate of Σλ² from rows (s, p), unbiased where they are normal."""
    s, p = x.shape
    x = x - x.mean(axis=0)
    gram = x @ x.T if s <= p else x.T @ x
    trace, square = float(np.trace(gram)) / (s - 1), float(np.sum(gram**2))
    square /= (s - 1) ** 2
    found = (s - 1) ** 2 / ((s + 1) * (s - 2)) * (square - trace**2 / (s - 1))
    return float(min(max(found, trace**2 / p), trace**2))
