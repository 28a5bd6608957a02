"""The four paths of PCA: each builds its operator, and all return pairs of the features."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, binary_exponent, eigvalsh, eps_of, quiet_blas
from mercer.errors import DataWarning, InputError, in_short, warn
from mercer.estimators.linear._pca_choice import Counting, counted, counted_again
from mercer.estimators.linear._pca_recipe import Found, PCARecipe
from mercer.estimators.linear._summed_rows import Summed
from mercer.estimators.walk._operated_estimator import features_from_samples
from mercer.operators import (
    LEAST_SPREAD,
    BlockRows,
    CentredBlocks,
    CentredParts,
    Centring,
    ColumnsApartError,
    Dense,
    Halves,
    Moments,
    Rows,
    RunningSvd,
    SpreadRows,
    centred,
    in_levels,
    is_constant,
    levelled,
    refuse_lost,
    rows_of,
    scatter_by_halves,
    sketch_rank,
)
from mercer.planning import Path, PathEndedError, leading_solver
from mercer.solvers import Certificate, Floor, Goal, Outcome, Solver, Spectrum
from mercer.sources import BlockSource, Source, SpreadSource

Table = Rows | BlockRows | SpreadRows
Known = Table | Summed  # what moments can be told of
_JUDGED = 2000  # columns up to which the eigenvalues of a first block are found quickly
_C = 4.0  # how many units of rounding per row or column an eigenvalue must exceed


def solve(
    source: Source,
    path: Path,
    weights: Array | None,
    recipe: PCARecipe,
    refuse: Callable[[], None],
) -> tuple[Spectrum, Found]:
    """Return the leading pairs of X̃ᵀX̃ (right vectors on the features) along one path.

    `refuse` raises if a cell is not finite; it is called when the sums show one. Sums that
    are not finite although every cell is, or that vanish, are taken again in a unit found
    from all the data instead of a sample; columns that are to be standardised and lie too far
    apart, each in a unit of its own.
    """
    if isinstance(source, Summed):
        return _told(source, path, recipe, refuse)
    run = _PATHS[path.name]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        try:
            try:
                rows = _rows(source, weights, path, recipe)
                return run(rows, path, recipe)
            except _OutOfRangeError:
                refuse()
            assert isinstance(rows, Rows)  # blocks find their unit one by one
            rows = _rows(source, weights, path, recipe, exact_exponent(rows))
            return run(rows, path, recipe)
        except ColumnsApartError as refusal:
            level, powers = levelled(source, refusal)
            spectrum, found = solve(level, path, weights, recipe, refuse)
            centring = found.centring.unlevelled(powers)
            return spectrum, dataclasses.replace(found, centring=centring)


def _told(
    source: Summed, path: Path, recipe: PCARecipe, refuse: Callable[[], None]
) -> tuple[Spectrum, Found]:
    """Return the pairs from sums that are all there is."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        try:
            return (_sketched if path.name == "sketch" else _gram)(source, path, recipe)
        except _OutOfRangeError:
            refuse()
            raise


class _OutOfRangeError(ArithmeticError):
    """Sums overflowed, vanished or met a cell that is not finite."""


def _rows(
    source: Source,
    weights: Array | None,
    path: Path,
    recipe: PCARecipe,
    exponent: int | None = None,
) -> Table:
    products = np.float64 if path.products == 8 or path.name == "svd" else None
    size = recipe.block_bytes
    rows: Table
    if isinstance(source, SpreadSource):
        rows = SpreadRows(source, weights, products, size)
    elif isinstance(source, BlockSource):
        name = f"{path.name}{path.products}"  # a path may be taken again in float64
        rows = BlockRows(source, weights, products, size, recipe.journal, name)
    else:
        rows = rows_of(source, weights, products, exponent)
    rows.scaling = recipe.scaling
    return rows


def exact_exponent(rows: Rows) -> int:
    """Return the power of two of the largest deviation from the origin, over all the data."""
    plain, largest = rows.source.array, 0.0
    for part in rows.tiles():
        block = plain[part, :]
        block = block.toarray() if hasattr(block, "toarray") else np.asarray(block)
        half = np.abs(block * 0.5 - rows.origin * 0.5)
        largest = max(largest, float(np.max(half, initial=0.0)))
    return binary_exponent(largest) + 1


def describe(rows: Known, moments: Moments, recipe: PCARecipe) -> tuple[Centring, float]:
    """Return the centring, factors included, and the storage rounding as an eigenvalue."""
    if not moments.in_range:
        raise _OutOfRangeError
    variances = moments.variances
    if recipe.standardize:
        _refuse_vanished(rows, moments)
    step = _step(rows, variances, moments.offset, slice(None))
    factor = recipe.factor_of(variances, step)
    centring = Centring(rows.origin, moments.offset, rows.exponent, factor, recipe.standardize)
    return centring, _storage(rows, moments, variances, recipe, factor, step)


def standardised(source: Source, weights: Array | None, root: Array | None) -> Centring:
    """Return what standardises the columns of rows, and weighs them by `root`: one pass."""
    recipe = PCARecipe(1, 1.0, 0, True, root)

    def found(source: Source) -> Centring:
        rows: Rows | SpreadRows
        if isinstance(source, SpreadSource):
            rows = SpreadRows(source, weights, np.float64)
        else:
            rows = rows_of(source, weights, np.float64)
        rows.scaling = recipe.scaling
        return describe(rows, rows.moments(), recipe)[0]

    centring, powers = in_levels(source, found)
    return centring.unlevelled(powers)


def _refuse_vanished(rows: Known, moments: Moments) -> None:
    """Refuse columns that vary, of whose squares nothing is left beside the largest."""
    variances = moments.variances
    if isinstance(rows, Rows):
        gone = rows.vanished(variances * moments.total)
    else:
        gone = moments.vanished
    if gone is not None:
        refuse_lost(gone & (variances < LEAST_SPREAD**2))


def _step(rows: Known, variances: Array, offset: Array, part: slice) -> Array:
    """Return the spacing of stored numbers at the size of each column, eps·rms(x_j)."""
    kind = rows.source.dtype
    origin = rows.origin[part].astype(np.float64, copy=False)
    level = (np.ldexp(origin, -rows.exponent) if rows.exponent else origin) + offset
    size = np.sqrt(level**2 + variances)
    if kind.kind == "f":
        return np.asarray(eps_of(kind) * size)
    # Integers are exact up to 2^53; beyond, float64 rounds them on the way in.
    return np.where(np.ldexp(size, rows.exponent) > 2.0**53, EPS * size, 0.0)


def _storage(
    rows: Known,
    moments: Moments,
    variances: Array,
    recipe: PCARecipe,
    factor: Array | None,
    step: Array,
) -> float:
    """Return the eigenvalue that the rounding of the stored data alone would give."""
    if rows.source.dtype.kind in "iu" and np.any(step > 0):
        _warn_columns(
            "integers beyond 2^53 are rounded to float64", step > 0, "subtract a constant"
        )
    if recipe.standardize and np.any(is_constant(variances, step)):
        text = "constant columns cannot be standardised; they are only centred"
        _warn_columns(text, is_constant(variances, step), "drop them")
    # Stored values that are all equal show no rounding at all.
    step = np.where(variances > 0, step if factor is None else step * factor, 0.0)
    spread = (1 + math.sqrt(rows.shape[1] / moments.total)) ** 2
    return float(step.max() ** 2 / 12 * spread * (moments.total - 1))


def refuse_constant(found: Found, source: Source) -> None:
    """Refuse data in which nothing varies beyond the rounding of its storage."""
    if found.trace > found.storage * min(found.total, source.shape[1]) and found.trace > 0:
        return
    kept = source.dtype if source.dtype.kind == "f" else "float64"
    raise InputError(
        "the data has no variance",
        got=f"{source.shape[0]} rows, all equal up to the rounding of {kept}",
        fix="check the columns; subtract a constant from large numbers before storing them",
    )


def _warn_columns(what: str, which: Array, fix: str) -> None:
    found = np.flatnonzero(which)
    got = f"{found.size} such columns: {in_short(found)}"
    warn(what, got=got, fix=fix, category=DataWarning)


def _gram(rows: Known, path: Path, recipe: PCARecipe) -> tuple[Spectrum, Found]:
    """C from one pass, centred about a provisional origin; then its leading pairs."""
    halves: Halves | None = None
    if isinstance(rows, Rows) and not recipe.halved:
        moments = rows.scatters([None])[0]
    else:
        moments, halves = _scatter(rows, path, recipe)
    centring, storage = describe(rows, moments, recipe)
    with quiet_blas(rows.shape[1]):  # for the halves and the pairs at the same time
        asked, solver, share = None, path.solver, _share_lost(moments, centring, recipe)
        matrix, error = _scaled(moments, centring.factor)
        if recipe.counts:
            asked = counted(rows, matrix, moments.total, halves, centring, recipe)
            recipe, solver = _once_chosen(recipe, path, asked, rows.shape[1])
            del halves  # the solver needs their space
        trace = max(float(np.trace(matrix)), 0.0)
        goal = _goal(rows, recipe, storage, trace, error)
        rank = _possible_rank(rows, moments)  # now: the solver may destroy the matrix
        squares = np.array(np.diagonal(matrix))
        spectrum = _divided(solver.solve(Dense(matrix, symmetric=True), goal), share)
        said = None if asked is None else asked()
    hidden = (squares > 0) & (squares <= spectrum.certificate.zero_level)
    columns = squares / (moments.total - 1)
    found = Found(
        centring, moments.total, trace, storage, rank, int(np.sum(hidden)), columns, said
    )
    return spectrum.padded(recipe.components), found


def _scaled(moments: Moments, factor: Array | None) -> tuple[Array, float]:
    """Return the scatter matrix with its columns scaled in place, and its error."""
    matrix, error = moments.scatter, moments.error_of(factor)
    if factor is not None:
        matrix *= factor[:, None]
        matrix *= factor[None, :]
    return matrix, error


def _share_lost(moments: Moments, centring: Centring, recipe: PCARecipe) -> float:
    """Return the largest share that the squares of a column are wrong by, if it is divided."""
    factor, variances = centring.factor, moments.variances
    if not centring.unitless or factor is None:
        return 0.0
    root = 1.0 if recipe.root_feature_weight is None else recipe.root_feature_weight
    done = np.isclose(factor**2 * variances, root**2, rtol=1e-3) & (variances > 0)
    shares = moments.column_errors[done] / (variances[done] * (moments.total - 1))
    return float(np.max(shares, initial=0.0)) + 4 * EPS


def _divided(spectrum: Spectrum, share: float) -> Spectrum:
    """Return the pairs with the certificate of columns divided by their exact deviations.

    These are wrong by half of what the squares are: X̃(I + D) with ‖D‖ ≤ ½·share has
    eigenvalues that differ from those of X̃ by that share of themselves [Ostrowski1959]_.
    """
    if share == 0:
        return spectrum
    sure = spectrum.certificate
    values = spectrum.values[: len(sure.lower)]
    wrong = share * np.where(np.isfinite(sure.upper), sure.upper, np.abs(values))
    certificate = sure.widened(values, wrong, share * sure.next_upper)
    missed = spectrum.outcome is Outcome.CONVERGED and not certificate.met
    outcome = Outcome.FLOOR if missed else spectrum.outcome
    return dataclasses.replace(spectrum, certificate=certificate, outcome=outcome)


def _once_chosen(
    recipe: PCARecipe, path: Path, asked: Callable[[], Counting | None], order: int
) -> tuple[PCARecipe, Solver]:
    """Return what to solve for once it is known how many: few pairs are quicker.

    Not those of noise, which are hard to tell from each other.
    """
    if recipe.whole or leading_solver(order, 1) is None:
        return recipe, path.solver
    found = asked()
    k = 0 if found is None else found.count.k
    few = leading_solver(order, k) if 0 < k < recipe.components else None
    if few is None:
        return recipe, path.solver
    return dataclasses.replace(recipe, components=k), few


def _scatter(rows: Known, path: Path, recipe: PCARecipe) -> tuple[Moments, Halves | None]:
    """Return the moments with the scatter matrix; of a file, unless its first block says no.

    Where every rule is asked, the sums of two halves of the rows come as well.
    """
    if isinstance(rows, Summed):
        return rows.scatter(), None
    if isinstance(rows, Rows):
        return scatter_by_halves(rows) if recipe.halved else (rows.scatter(), None)
    rows.halved = recipe.halved
    if isinstance(rows, SpreadRows):
        return rows.scatter(), rows.halves
    plain = not recipe.standardize and recipe.root_feature_weight is None
    small = recipe.components < rows.shape[1] <= _JUDGED
    judged = path.then is not None and path.products == 4 and plain and small

    def judge(moments: Moments) -> None:
        value = float(eigvalsh(moments.scatter)[recipe.components - 1])
        if moments.error > recipe.tol * value:
            raise PathEndedError("float32 products are too coarse for the first block")

    return rows.scatter(judge if judged else None), rows.halves


def _dual(rows: Table, path: Path, recipe: PCARecipe) -> tuple[Spectrum, Found]:
    """X̃X̃ᵀ (n, n) from one pass; axes v = X̃ᵀu/√λ from a second."""
    start = 0

    def factor_of(variances: Array, offset: Array) -> Array | None:
        nonlocal start
        part = slice(start, start + len(variances))
        start = part.stop
        return recipe.factor_of(variances, _step(rows, variances, offset, part), part.start)

    assert not isinstance(rows, SpreadRows)  # n×n numbers would come back
    gram, moments, _ = rows.outer(factor_of)
    centring, storage = describe(rows, moments, recipe)
    trace = max(float(np.trace(gram)), 0.0)
    goal = _goal(rows, recipe, storage, trace, moments.error)
    spectrum = path.solver.solve(Dense(gram, symmetric=True), goal)
    spectrum = features_from_samples(centred(rows, centring), spectrum)
    spectrum = _divided(spectrum, _share_lost(moments, centring, recipe))
    found = Found(centring, moments.total, trace, storage, _possible_rank(rows, moments))
    return spectrum.padded(recipe.components), _with_count(found, rows, moments, recipe)


def _direct(rows: Table, path: Path, recipe: PCARecipe) -> tuple[Spectrum, Found]:
    """The centred data as an operator: by blockwise QR, or by block Krylov."""
    moments = rows.moments()
    centring, storage = describe(rows, moments, recipe)
    factor = centring.factor
    scatter = moments.scatter if factor is None else moments.scatter * factor**2
    trace = float(np.sum(np.maximum(scatter, 0.0)))
    op = centred(rows, centring)
    squared = path.name == "krylov"
    error = moments.error_of(factor)
    goal = _goal(rows, recipe, storage, trace + error, 0.0, squared=squared)
    wide = squared and rows.shape[0] < rows.shape[1]
    if wide and not isinstance(op, CentredBlocks | CentredParts):
        spectrum = path.solver.solve(op.T, goal)
        spectrum = features_from_samples(op, spectrum)
    else:
        spectrum = path.solver.solve(op, goal)
    if not squared and spectrum.total is not None:
        trace = spectrum.total
    spectrum = _divided(spectrum, _share_lost(moments, centring, recipe))
    found = Found(centring, moments.total, trace, storage, _possible_rank(rows, moments))
    return spectrum.padded(recipe.components), _with_count(found, rows, moments, recipe)


def _sketched(rows: Known, path: Path, recipe: PCARecipe) -> tuple[Spectrum, Found]:
    """Pairs of the directions that one pass has kept: θ_i ≤ λ_i ≤ θ_i + slack.

    Columns are scaled by F afterwards: FSF = (BF)ᵀ(BF) + FEF, with ‖FEF‖ ≤ max f²·‖E‖ and
    a trace that is known.
    """
    if isinstance(rows, Summed):
        sums = rows.sums
        assert isinstance(sums, RunningSvd)
    else:
        assert isinstance(rows, BlockRows)
        sums = rows.sketch(sketch_rank(recipe.components, rows.shape[1]))
    moments = sums.moments()
    centring, storage = describe(rows, moments, recipe)
    kept, diagonal, most = sums.factor, moments.scatter, 1.0
    if centring.factor is not None:
        kept, diagonal = kept * centring.factor, diagonal * centring.factor**2
        most = float(np.max(centring.factor)) ** 2
    trace = float(np.sum(np.maximum(diagonal, 0.0)))
    error = (sums.error + moments.error) * most
    slack = min(most * sums.lost, max(trace - float(np.sum(kept**2)), 0.0) + error)
    goal = _goal(rows, recipe, storage, trace, 0.0)
    spectrum = path.solver.solve(Dense(kept), goal)
    inner, k = spectrum.certificate, len(spectrum.values)
    certificate = Certificate.of(
        spectrum.values,
        np.append(inner.upper, inner.next_upper) + slack,
        inner.residual + slack,
        error=error,
        tol=recipe.tol,
        zero_level=inner.zero_level,
        lower=inner.lower,
        psd=True,
    )
    outcome = Outcome.CONVERGED if certificate.met else Outcome.ONE_PASS
    spectrum = dataclasses.replace(
        spectrum, certificate=certificate, squares=None, total=trace, outcome=outcome
    )
    spectrum = _divided(spectrum, _share_lost(moments, centring, recipe))
    rank = min(_possible_rank(rows, moments), k) if slack <= error else k
    found = Found(centring, moments.total, trace, storage, rank)
    found = dataclasses.replace(found, columns=diagonal / (moments.total - 1))
    return spectrum.padded(recipe.components), found


def _with_count(found: Found, rows: Table, moments: Moments, recipe: PCARecipe) -> Found:
    """Return what was found with how many components there are, where that is asked."""
    if not recipe.counts:
        return found
    factor = found.centring.factor
    columns = moments.variances if factor is None else moments.variances * factor**2
    said = counted_again(rows, found.total, found.centring, recipe)
    return dataclasses.replace(found, columns=columns, counted=said)


def _possible_rank(rows: Known, moments: Moments) -> int:
    """Return the number of axes that could have variance."""
    if isinstance(rows, SpreadRows):
        counted = rows.counted_rows
    else:
        counted = rows.shape[0] if rows.weights is None else int(np.sum(rows.weights > 0))
    return min(counted - 1, int(np.count_nonzero(moments.variances > 0)))


def _goal(
    rows: Known,
    recipe: PCARecipe,
    storage: float,
    trace: float,
    error: float,
    squared: bool = True,
) -> Goal:
    """Return the goal with the level at which an eigenvalue counts as zero."""
    unit = _C * max(rows.shape) * EPS
    floor = Floor(unit if squared else unit**2, storage)
    return Goal(recipe.components, recipe.tol, floor, trace, error, recipe.seed, psd=True)


_PATHS: dict[str, Callable[[Any, Path, PCARecipe], tuple[Spectrum, Found]]] = {
    "gram": _gram,
    "dual": _dual,
    "svd": _direct,
    "krylov": _direct,
    "sketch": _sketched,
}
