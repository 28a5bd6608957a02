"""How many components a table has: all rules, those that shuffle the table too."""

import dataclasses
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError
from mercer.estimators import PCA, KernelPCA
from mercer.estimators.kernel._axis_choice import choice_on
from mercer.estimators.walk._parameters import seed_of
from mercer.operators import exact_means
from mercer.selection import (
    CROSS,
    Choice,
    Rule,
    Variances,
    bayesian_number,
    gaussian_null,
    permutation_null,
    sign_flip,
)
from mercer.sources import BlockSource, SpreadSource, is_blocks, is_scannable
from mercer.studies._study_rows import few

_ROWS = 1000  # of the table that is shuffled, at most
_COLUMNS = 400  # and its columns


def how_many(
    X: Any,
    *,
    standardize: bool = False,
    random_state: Any = 0,
    kernel: Any = None,
    groups: Any = None,
) -> Choice:
    """Return how many components are beyond noise, by the stepwise edge and by other rules.

    What ``PCA(n_components="auto")`` finds, with bi-cross-validation and three kinds of
    parallel analysis beside it: normal noise, shuffled columns, and random signs with the
    components found taken out. The stepwise edge decides; `reason` says where others differ.

    Parameters
    ----------
    X : array, sparse matrix, frame, or what `scan` takes, of shape (n, p)
        The table. Only tables in memory are shuffled: 1000 rows, evenly spread, and 400
        columns at most.
    standardize : bool
        Divide each column by its standard deviation.
    random_state : int, RandomState, Generator or None
        Seed of the splits and shuffles of the other rules.
    kernel : Kernel, str, callable or None
        Count axes of this kernel instead, as ``KernelPCA("auto", kernel=kernel)`` does:
        tables with shuffled columns decide.
    groups : array of shape (n,) or None
        Which rows belong together, as those of one subject: they tell less than as many
        rows of their own. The other rules know nothing of it.

    Returns
    -------
    Choice
        With `k`, `rules`, `reason`, and a table as text.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.studies import how_many
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 30))
    >>> how_many(X + rng.standard_normal(X.shape)).k
    3
    """
    _refuse_model(X)
    seed = seed_of(random_state)
    if kernel is not None:
        return _of_kernel(X, kernel, standardize, seed)
    model = _EveryRule("auto", standardize=standardize, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the answer says it
        model.fit(X, groups=groups)
    choice: Choice = model.choice_
    more = _shuffled(model, X, standardize, seed)
    at = 1 + sum(rule.name == CROSS for rule in choice.rules)
    rules = (*choice.rules[:at], *more, *choice.rules[at:])
    return dataclasses.replace(choice, rules=rules)


class _EveryRule(PCA):
    """PCA that finds all eigenvalues, whatever their number: rules that compare need them."""

    _all_rules = True


def _refuse_model(X: Any) -> None:
    if isinstance(X, BaseEstimator):
        raise InputError(
            "how many components there are is asked of a table, not of a model",
            got=type(X).__name__,
            fix='pass the rows; a model fitted with "auto" has the answer in choice_',
        )


def _of_kernel(X: Any, kernel: Any, standardize: bool, seed: int) -> Choice:
    """Return the choice for a kernel; rows in memory are looked at and not fitted."""
    model = KernelPCA("auto", kernel=kernel, standardize=standardize, random_state=seed)
    model._check_parameters()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if is_scannable(X):  # a file, blocks, rows in parts: they are walked
            choice: Choice = model.fit(X).choice_
            return choice
        seen = model._see(model._admit(X, reset=True), None)
        return choice_on(seen.kernel, seen.rows, None, seen.n, seed)


def _shuffled(model: PCA, X: Any, standardize: bool, seed: int) -> list[Rule]:
    """Return what the rules say that compare the table with shuffled ones."""
    names = ("parallel, normal", "parallel, shuffled", "parallel, signs", "Bayes")
    source = None if is_blocks(X) else model._admit(X, reset=False)  # blocks are gone by now
    if source is None or isinstance(source, BlockSource | SpreadSource):
        return [Rule(name, None, "needs a table in memory") for name in names]
    table = few(source.array, _ROWS)
    n, p = source.shape
    if p > _COLUMNS:
        table = table[:, np.random.default_rng(seed).choice(p, _COLUMNS, replace=False)]
    rows, columns = table.shape
    where = "" if (rows, columns) == (n, p) else f"; on {rows:,} rows, {columns:,} columns"
    table = _analysed(table, standardize)
    signs = "random signs, those found taken out"
    return [
        Rule(names[0], _normal(table, seed), f"normal noise of these variances{where}"),
        Rule(names[1], permutation_null(table, seed=seed), f"every column shuffled{where}"),
        Rule(names[2], sign_flip(table, seed=seed), f"{signs}{where}"),
        _bayes(table, where),
    ]


def _bayes(table: Array, where: str) -> Rule:
    """Return the number of axes with the largest evidence, and how sure it is."""
    rows = len(table)
    if rows < 3 or table.shape[1] < 2 or not np.any(table):
        return Rule("Bayes", None, "needs three rows and two columns that vary")
    k, (low, high) = bayesian_number(table.T @ table / (rows - 1), rows)
    held = f"{low} to {high}" if low < high else f"{low}"
    return Rule("Bayes", k, f"largest evidence; with 95 % probability {held}{where}")


def _normal(table: Array, seed: int) -> int | None:
    n, p = table.shape
    squares = np.linalg.svd(table, compute_uv=False) ** 2 / (n - 1)
    known = Variances.of(squares[: min(n - 1, p)], rows=n, columns=p)
    return gaussian_null(known, np.var(table, axis=0, ddof=1), seed=seed)


def _analysed(table: Array, standardize: bool) -> Array:
    table = table - exact_means(table, table.mean(axis=0))
    if not standardize:
        return table
    deviations = np.std(table, axis=0, ddof=1)
    return np.asarray(table / np.where(deviations > 0, deviations, 1.0))
