"""How many components PCA keeps by itself: what is compared, on every path, and in words."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from mercer.arrays import Array, as_numpy, beside, thread_count
from mercer.errors import DataWarning, InputError, NotSupportedError, warn
from mercer.estimators.linear._pca_recipe import Found, PCARecipe
from mercer.operators import (
    BlockRows,
    Centring,
    Halves,
    Rows,
    SpreadRows,
    half_runs,
    run_length,
    scatter_by_halves,
)
from mercer.planning import leading_solver
from mercer.selection import (
    BiCross,
    Choice,
    EdgeCount,
    Half,
    Variances,
    bi_cross_validation,
    choice_of,
    spectrum_rules,
    stepwise_edge,
    stepwise_edge_of_sums,
)
from mercer.sources import Source, SpreadSource

_WIDEST = 2048  # columns that are compared, at most: a random part of more
_ALL = 2048  # axes up to which all are found before their number is settled, and
_SOME = 200  # how many of more
_ROWS = 2048  # rows of a part of a table
_CELLS = 2e6  # and its cells
_FEW = 64  # columns up to which a thread of its own would take longer
_GROUPED = 8e6  # cells of a table whose rows are in groups, at most
_TALL = 2.5e5  # cells of a table with more rows than columns of which every row is looked at


@dataclasses.dataclass(frozen=True)
class Counting:
    """How many components: what decides, what it saw, and what another rule says if asked."""

    count: EdgeCount
    seen: str
    cross: BiCross | None = None


def counted(
    rows: Any,
    matrix: Array,
    total: float,
    halves: Halves | None,
    centring: Centring,
    recipe: PCARecipe,
) -> Callable[[], Counting | None]:
    """Return what waits for how many components there are, begun at once.

    Where all pairs are found whatever that is, it is found at the same time as these. Small
    tables in memory are looked at row by row; otherwise sums of products say it, of at most
    2048 columns.

    Parameters
    ----------
    rows : Rows, BlockRows, SpreadRows or Summed
        The table.
    matrix : ndarray of shape (p, p)
        X̃ᵀX̃; what is needed of it is copied before this returns.
    total : float
        Σw, the number of rows.
    halves : pair of RunningMoments or None
        Sums of two halves of the rows, where bi-cross-validation is asked.
    centring : Centring
        Mean and column multipliers.
    recipe : PCARecipe
        What is asked.
    """
    p = rows.shape[1]
    asked: Callable[[], Counting]
    if _row_by_row(rows, recipe):
        asked = partial(_by_rows, rows, centring, recipe)
    else:
        asked = _by_sums(as_numpy(matrix), total, rows, recipe)
    if halves is not None:
        asked = partial(_with_halves, asked, halves, rows.shape, centring.factor, recipe.seed)
    if p > _FEW and leading_solver(p, 1) is None and thread_count() > 1:
        return beside(asked)
    known = asked()
    return lambda: known


def counted_again(
    rows: Rows | BlockRows | SpreadRows, total: float, centring: Centring, recipe: PCARecipe
) -> Counting | None:
    """Return how many where the path has no sums of squares: one more pass.

    Tables in memory are looked at row by row up to 250,000 cells, two million where they
    have more columns than rows. Up to 2048 columns, and no more than rows, sums of all rows
    are made: np² flops. Otherwise a part of the table: 2048 rows at most, evenly spread, and
    as many columns as make 16 MB. Rows elsewhere are not gathered: None.
    """
    n, p = rows.shape
    halved = recipe.whole and p <= min(n, _WIDEST)
    if _row_by_row(rows, recipe):
        found = _by_rows(rows, centring, recipe)
        if not recipe.whole:
            return found
        cross = None if halved else _cross_of(table_of(rows, centring, None), recipe.seed)
        found = dataclasses.replace(found, cross=cross)
    elif p <= min(n, _WIDEST):
        scatter = _part(as_numpy(rows.scatter().scatter), np.arange(p), centring.factor)
        found = _by_sums(scatter, total, rows, recipe)()
    elif isinstance(rows, SpreadRows):
        return None
    else:
        found = _of_part(rows, centring, recipe)
    if halved and (halves := _halves(rows)) is not None:
        return _with_halves(lambda: found, halves, (n, p), centring.factor, recipe.seed)
    return found


def _row_by_row(rows: Any, recipe: PCARecipe) -> TypeGuard[Rows]:
    if not isinstance(rows, Rows):
        return False
    n, p = rows.shape
    return n * p <= (_TALL if n > p else _CELLS) or recipe.groups is not None


def _by_rows(rows: Rows, centring: Centring, recipe: PCARecipe) -> Counting:
    n, p = rows.shape
    if recipe.groups is not None and n * p > _GROUPED:
        raise NotSupportedError(
            "groups= needs a table of which every row is looked at",
            got=f"{n:,} rows, {p:,} columns",
            fix=f"pass at most {_GROUPED:,.0f} cells: fewer rows, or fewer columns",
        )
    if recipe.groups is not None and len(recipe.groups) != n:
        raise InputError(
            "groups must hold one name or number per row",
            got=f"{len(recipe.groups):,} for {n:,} rows",
            fix=f"pass {n:,} of them",
        )
    counts = None if rows.weights is None else as_numpy(rows.weights)
    table = table_of(rows, centring, counts)
    found = stepwise_edge(table, counts=counts, groups=recipe.groups)
    return Counting(found, f"all {n:,} rows")


def _by_sums(
    matrix: Array, total: float, rows: Any, recipe: PCARecipe
) -> Callable[[], Counting]:
    if recipe.groups is not None:
        raise NotSupportedError(
            "groups= needs rows in memory",
            got=type(rows.source).__name__,
            fix="read them into an array or a frame first",
        )
    n, p = rows.shape
    columns = _some(p, _WIDEST, recipe.seed)
    seen = f"all {n:,} rows" + ("" if p <= _WIDEST else f", {_WIDEST:,} of {p:,} columns")
    part = matrix.copy() if p <= _WIDEST else matrix[np.ix_(columns, columns)]
    return lambda: Counting(stepwise_edge_of_sums(part, total), seen)


def group_numbers(groups: Any) -> Array:
    """Return a number for every row (n,), the same for rows of one group."""
    named = np.asarray(groups)
    if named.ndim != 1:
        raise InputError(
            "groups must hold one name or number per row",
            got=f"an array of shape {named.shape}",
            fix="pass a column",
        )
    if named.dtype == object:  # names and gaps together have no order
        named = np.array([str(one) for one in named])
    return np.unique(named, return_inverse=True)[1]


def table_of(rows: Rows, centring: Centring, counts: Array | None) -> Array:
    """Return x̃ (n, p), dense float64; of weighted rows √w·x̃, or x̃ where w is given."""
    found = np.empty(rows.shape)
    for part in rows.tiles():
        found[part] = as_numpy(rows.centred_block(part, None, centring))
    if counts is not None:
        found /= np.sqrt(np.where(counts > 0, counts, 1.0))[:, None]
    return found


def _with_halves(
    asked: Callable[[], Counting],
    halves: Halves,
    shape: tuple[int, int],
    factor: Array | None,
    seed: int,
) -> Counting:
    """Return how many, with what bi-cross-validation says: at most 2048 columns."""
    columns = _some(shape[1], _WIDEST, seed)
    first, second = (
        Half(_part(as_numpy(sums.scatter), columns, factor), float(sums.total))
        for sums in halves
    )
    cross = bi_cross_validation(first, second, seed=seed)
    return dataclasses.replace(asked(), cross=cross)


def _part(gram: Array, columns: Array, factor: Array | None) -> Array:
    found = gram if len(columns) == len(gram) else gram[np.ix_(columns, columns)]
    if factor is None:
        return found
    scale = as_numpy(factor)[columns]
    return np.asarray(found * scale[:, None] * scale[None, :])


def compares_again(source: Source) -> bool:
    """Tell whether `counted_again` reads the rows of a source once more."""
    n, p = source.shape
    return p <= min(n, _WIDEST) or not isinstance(source, SpreadSource)


def _halves(rows: Rows | BlockRows | SpreadRows) -> Halves | None:
    if isinstance(rows, Rows):
        return scatter_by_halves(rows)[1]
    rows.halved = True
    rows.scatter()
    return rows.halves


def _of_part(rows: Rows | BlockRows, centring: Centring, recipe: PCARecipe) -> Counting:
    """Return what a part of a table says."""
    n, p = rows.shape
    if recipe.groups is not None:
        raise NotSupportedError(
            "groups= needs rows in memory",
            got=type(rows.source).__name__,
            fix="read them into an array or a frame first",
        )
    chosen = np.linspace(0, n - 1, min(n, _ROWS)).round().astype(np.int64)
    columns = _some(p, int(_CELLS // len(chosen)), recipe.seed)
    table = _cells(rows, chosen, columns, centring)
    r, c = table.shape
    seen = f"{'all' if r == n else f'{r:,} of'} {n:,} rows"
    seen += "" if c == p else f", {c:,} of {p:,} columns"
    cross = _cross_of(table, recipe.seed) if recipe.whole else None
    return Counting(stepwise_edge(table), seen, cross)


def _cross_of(table: Array, seed: int) -> BiCross:
    """Return bi-cross-validation by rows or, where the table is wide, by columns."""
    r, c = table.shape
    if r < c:
        order = np.random.default_rng(seed).permutation(c)
        parts = [table[:, order[: c // 2]], table[:, order[c // 2 :]]]
        first, second = (Half(part @ part.T, part.shape[1]) for part in parts)
        return bi_cross_validation(first, second, wide=True, seed=seed)
    runs = half_runs(0, r, run_length(r, r))
    parts = [np.concatenate([table[run] for run in half]) for half in runs]
    parts = [part - part.mean(axis=0) for part in parts]
    first, second = (Half(part.T @ part, len(part)) for part in parts)
    return bi_cross_validation(first, second, seed=seed)


def _cells(rows: Rows | BlockRows, chosen: Array, columns: Array, centring: Centring) -> Array:
    """Return some rows and columns of x̃, dense float64; of a file, one walk."""
    if isinstance(rows, Rows):
        picked = [_centred(rows, slice(i, i + 1), columns, centring) for i in chosen.tolist()]
        return np.concatenate(picked)
    found: list[Array] = []

    def step(part: slice, block: Array) -> None:
        here = chosen[(chosen >= part.start) & (chosen < part.stop)] - part.start
        if len(here):
            inside = rows.rows(part, block)
            found.extend(
                _centred(inside, slice(i, i + 1), columns, centring) for i in here.tolist()
            )

    rows.walk(None, step)
    return np.concatenate(found)


def _centred(rows: Rows, one: slice, columns: Array, centring: Centring) -> Array:
    return as_numpy(rows.centred_block(one, None, centring))[:, columns].astype(np.float64)


def _some(p: int, most: int, seed: int) -> Array:
    if p <= most:
        return np.arange(p)
    return np.sort(np.random.default_rng(seed).choice(p, most, replace=False))


def looked_at(most: int) -> int:
    """Return how many of `most` axes are found before their number is settled."""
    return most if most <= _ALL else _SOME


_CRITERIA = {"bic": "BIC", "aic": "AIC"}  # as n_components has them, and their rules


def choice_from(
    values: Array, found: Found, shape: tuple[int, int], wanted: str = "auto"
) -> Choice:
    """Return the choice: the stepwise edge decides, or the noise edge where it cannot.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Leading eigenvalues of X̃ᵀX̃.
    found : Found
        What the path has learned; `counted` says how many.
    shape : (n, p)
        Of the table.
    wanted : {"auto", "bic", "aic"}
        The last two decide themselves.
    """
    freedom = found.total - 1
    known = Variances.of(
        np.maximum(values, 0.0) / freedom,
        rows=max(found.total, 2.0),
        columns=shape[1],
        total=found.trace / freedom,
    )
    if wanted in _CRITERIA:
        rules = spectrum_rules(known, found.columns)
        decides = next(rule for rule in rules if rule.name == _CRITERIA[wanted])
        k = len(values) if decides.k is None else decides.k
        others = tuple(rule for rule in rules if rule is not decides)
        about = "the model of rows with white noise that is worth its parameters"
        decides = dataclasses.replace(decides, about=about)
        return Choice(k, (decides, *others), np.ones(1), f"all {shape[0]:,} rows")
    if found.counted is not None:
        one: Counting = found.counted
        return choice_of(one.count, known, found.columns, one.seen, one.cross)
    rules = spectrum_rules(known, found.columns)
    k = len(values) if rules[0].k is None else rules[0].k
    return Choice(k, rules, np.ones(1), f"the sums of {shape[0]:,} rows")


def warn_of(choice: Choice, kept: int) -> None:
    """Say where no axis is kept, or fewer than are beyond noise."""
    if choice.k == 0:
        warn(
            "no component beyond noise: no axis is kept",
            got=choice.reason,
            fix="ask for a number of components to look at axes all the same",
            category=DataWarning,
        )
    if choice.neighbours and choice.k:
        warn(
            "rows next to each other are alike: components may come from that alone",
            got=f"correlation {choice.neighbours:.2f} of neighbours beyond {choice.k} of them",
            fix="pass groups= where several rows belong to one subject; thin out a series",
            category=DataWarning,
        )
    if choice.k > kept:
        warn(
            f"{choice.k} components are beyond noise; the first {kept} are kept",
            got=choice.reason,
            fix=f"ask for n_components={choice.k}",
            category=DataWarning,
        )


def check_mle(n: int, p: int) -> None:
    """Refuse Minka's estimate for tables with fewer rows than columns."""
    if n < p:
        raise InputError(
            "n_components='mle' is only supported if n_samples >= n_features",
            got=f"n_samples = {n}, n_features = {p}",
            fix="pass a number or a share such as 0.95",
        )
