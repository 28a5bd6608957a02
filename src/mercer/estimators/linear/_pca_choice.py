"""How many components PCA keeps by itself: what is compared, on every path, and in words."""

import dataclasses
from collections.abc import Callable
from functools import partial

import numpy as np

from mercer.arrays import Array, as_numpy, beside, thread_count
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.linear._pca_recipe import Found
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
    Half,
    Variances,
    bi_cross_validation,
    choice_of,
    spectrum_rules,
)
from mercer.sources import Source, SpreadSource

Cross = tuple[BiCross, str]  # what was found, and of which rows and columns
_WIDEST = 2048  # columns that are compared, at most: a random part of more
_ALL = 2048  # axes up to which all are found before their number is settled, and
_SOME = 200  # how many of more
_ROWS = 2048  # rows of a part of a table
_CELLS = 8e6  # and its cells


def of_halves(
    halves: Halves | None, shape: tuple[int, int], factor: Array | None, seed: int
) -> Cross | None:
    """Return what the sums of two halves of the rows say; at most 2048 columns.

    Parameters
    ----------
    halves : pair of RunningMoments or None
        The sums; None where there are none.
    shape : (n, p)
        Of the table.
    factor : ndarray of shape (p,) or None
        Column multipliers.
    seed : int
        Of the splits.
    """
    if halves is None:
        return None
    n, p = shape
    columns = _some(p, _WIDEST, seed)
    seen = f"all {n:,} rows" + ("" if p <= _WIDEST else f", {_WIDEST:,} of {p:,} columns")
    first, second = (
        Half(_part(as_numpy(sums.scatter), columns, factor), float(sums.total))
        for sums in halves
    )
    return bi_cross_validation(first, second, seed=seed), seen


def compared(
    halves: Halves | None, shape: tuple[int, int], factor: Array | None, seed: int
) -> Callable[[], Cross | None]:
    """Return what waits for the answer of the halves, begun at once.

    Where all pairs are found whatever that is, it is found at the same time as these.
    """
    asked = partial(of_halves, halves, shape, factor, seed)
    if halves is not None and leading_solver(shape[1], 1) is None and thread_count() > 1:
        return beside(asked)
    found = asked()
    return lambda: found


def _part(gram: Array, columns: Array, factor: Array | None) -> Array:
    found = gram if len(columns) == len(gram) else gram[np.ix_(columns, columns)]
    if factor is None:
        return found
    scale = as_numpy(factor)[columns]
    return np.asarray(found * scale[:, None] * scale[None, :])


def compares_again(source: Source) -> bool:
    """Tell whether `cross_again` reads the rows of a source once more."""
    n, p = source.shape
    return p <= min(n, _WIDEST) or not isinstance(source, SpreadSource)


def cross_again(
    rows: Rows | BlockRows | SpreadRows, centring: Centring, seed: int
) -> Cross | None:
    """Return what the rows say where the path has no sums of squares: one more pass.

    Up to 2048 columns, and no more than rows, are compared on all rows: np² flops. Otherwise
    a part of the table in memory: 2048 rows at most, evenly spread, and as many columns as
    make 64 MB. Rows elsewhere are not gathered: None.
    """
    n, p = rows.shape
    if p <= min(n, _WIDEST):
        return of_halves(_halves(rows), rows.shape, centring.factor, seed)
    return None if isinstance(rows, SpreadRows) else _of_part(rows, centring, seed)


def _halves(rows: Rows | BlockRows | SpreadRows) -> Halves | None:
    if isinstance(rows, Rows):
        return scatter_by_halves(rows)[1]
    rows.halved = True
    rows.scatter()
    return rows.halves


def _of_part(rows: Rows | BlockRows, centring: Centring, seed: int) -> Cross:
    """Return what a part of a table says, by rows or, where it is wide, by columns."""
    n, p = rows.shape
    chosen = np.linspace(0, n - 1, min(n, _ROWS)).round().astype(np.int64)
    columns = _some(p, int(_CELLS // len(chosen)), seed)
    table = _cells(rows, chosen, columns, centring)
    r, c = table.shape
    seen = f"{'all' if r == n else f'{r:,} of'} {n:,} rows"
    seen += "" if c == p else f", {c:,} of {p:,} columns"
    if r < c:
        order = np.random.default_rng(seed).permutation(c)
        parts = [table[:, order[: c // 2]], table[:, order[c // 2 :]]]
        first, second = (Half(part @ part.T, part.shape[1]) for part in parts)
        return bi_cross_validation(first, second, wide=True, seed=seed), seen
    runs = half_runs(0, r, run_length(r, r))
    parts = [np.concatenate([table[run] for run in half]) for half in runs]
    parts = [part - part.mean(axis=0) for part in parts]
    first, second = (Half(part.T @ part, len(part)) for part in parts)
    return bi_cross_validation(first, second, seed=seed), seen


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
    """Return the choice: bi-cross-validation decides, or the noise edge where it cannot.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Leading eigenvalues of X̃ᵀX̃.
    found : Found
        What the path has learned; `cross` says how many.
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
    if found.cross is not None:
        cross, seen = found.cross
        return choice_of(cross, known, found.columns, seen)
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
