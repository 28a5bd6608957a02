"""How many axes kernel PCA keeps by itself: some rows beside shuffled ones, before the fit."""

import dataclasses
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, MercerError
from mercer.estimators.kernel._kernel_rows import FIRST_GUESS, KernelRows, most_components
from mercer.estimators.kernel._kernel_sample import stand_ins
from mercer.estimators.linear._pca_choice import looked_at, warn_of
from mercer.estimators.linear.pca import PCA
from mercer.kernels import Kernel, Linear, Precomputed
from mercer.planning import shuffled_rows
from mercer.selection import (
    Choice,
    beyond_shuffled,
    choice_by_matrix,
    choice_by_shuffling,
    kernel_shares,
)
from mercer.solvers import Spectrum
from mercer.sources import Source, SpreadSource

_DRAWS = (9, 30)  # shuffled tables; the second part only if the first leaves a doubt
_LINEAR = 2000  # rows of a part of a table, for the linear kernel
_MATRIX = 1000  # rows and columns of a part of a given matrix


class KernelChoosing:
    """Mixed into kernel PCA: n_components="auto"."""

    n_components: Any
    choice_: Choice | None
    X_fit_: Any
    _given: Kernel
    _seen: Kernel
    _frame: KernelRows
    _choice: Any
    _seed: Any
    _look: Any

    @property
    def _auto(self) -> bool:
        return isinstance(self.n_components, str)

    @property
    def _decided(self) -> Choice | None:
        """What was decided before the fit, if anything was."""
        found: Choice | None = vars(self).get("choice_")
        return found

    def _fitted(self, source: Source, weights: Any) -> dict[str, Any]:
        above: Any = super()
        if self._auto and self._decided is None and not isinstance(source, SpreadSource):
            rows = self._look(source, weights)
            if not self._by_engine():
                self.choice_ = self._chosen(rows, weights, rows.shape[0])
        state: dict[str, Any] = above._fitted(source, weights)
        return state

    def _by_engine(self) -> bool:
        """Tell whether PCA itself decides, on all rows: a linear kernel without landmarks."""
        return isinstance(self._seen, Linear) and self._choice is None

    def _chosen(self, rows: Any, weights: Array | None, count: int) -> Choice:
        """Return the choice on some of the rows, which stand for `count`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said when the model is made
            return choice_on(self._seen, rows, weights, count, self._seed())

    def _settled_choice(self) -> Choice | None:
        """Return how many axes the rows kept so far have, for "auto"."""
        if not self._auto:
            return None
        return self._chosen(self.X_fit_, self._frame.weights, int(self.X_fit_.shape[0]))

    def _most_components(self, n: int) -> int:
        """Return how many pairs are computed; for a share and "auto" how many at first."""
        if not self._auto:
            return most_components(self.n_components, n)
        if self._decided is not None:
            return max(min(self._decided.k, n), 1)
        rows = vars(self).get("X_fit_")
        if rows is not None and self._by_engine():
            return looked_at(min(n, int(rows.shape[1])))
        return min(n, FIRST_GUESS)

    def _wanted(self, n: int) -> int | float:
        """Return what a path is asked for: a number or a share."""
        shared = isinstance(self.n_components, Real)
        if shared and not isinstance(self.n_components, Integral):
            return float(self.n_components)
        return self._most_components(n)

    def _cut(self, spectrum: Spectrum) -> Spectrum:
        """Return the pairs that are kept: one is computed where none is beyond noise."""
        if self._decided is None or self._decided.k:
            return spectrum
        return dataclasses.replace(spectrum, certificate=spectrum.certificate.first(0))

    def _told(self, found: Any, kept: int) -> Choice | None:
        """Return the choice, and say where no axis is kept; an engine has said it."""
        if not self._auto:
            return None
        if self._decided is None:
            engine: Choice = found.engine.choice_
            return engine
        warn_of(self._decided, kept)
        return self._decided

    def _shuffled(self, n: int, p: int) -> int:
        """Return the rows of the tables that are shuffled first; 0 where none is."""
        kernel = vars(self).get("_seen", self._given)
        known = not self._auto or isinstance(kernel, Precomputed | Linear)
        return 0 if known else shuffled_rows(n, p)


def choice_on(
    kernel: Kernel, rows: Any, weights: Array | None, count: int, seed: int
) -> Choice:
    """Return how many axes of a kernel are beyond noise, from some rows.

    Tables with shuffled columns decide: 9 at first, 30 more if the rows stand out from those.
    One column has nothing to be shuffled against: normal columns take its place. A matrix
    that is given, and a kernel that shuffled rows are not made for, have the edge of white
    noise; the linear kernel has bi-cross-validation.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or CSR array of shape (n, p)
        Rows as the kernel sees them.
    weights : ndarray of shape (n,) or None
        Repeat counts: rows are chosen by them.
    count : int
        How many rows these stand for.
    seed : int
        Of the shuffles.
    """
    n, p = rows.shape
    if isinstance(kernel, Precomputed):
        at = _some(rows, weights, _MATRIX)
        block = rows[at][:, at]
        block = block.toarray() if hasattr(block, "toarray") else block
        return choice_by_matrix(kernel_shares(block), _seen(len(at), count))
    if isinstance(kernel, Linear):
        at = _some(rows, weights, _LINEAR)
        found: Choice = PCA("auto", random_state=seed).fit(rows[at]).choice_
        return dataclasses.replace(found, seen=_seen(len(at), count))
    at = _some(rows, weights, shuffled_rows(n, p))
    table = _wide(rows[at])
    own = kernel_shares(kernel.block(table))
    seen, rng = _seen(len(at), count), np.random.default_rng([seed, 9])
    drawn: list[Array] = []
    try:
        for draws in _DRAWS:
            drawn += [kernel_shares(kernel.block(_null(table, rng))) for _ in range(draws)]
            found_k = beyond_shuffled(own, np.array(drawn))
            if found_k.k == 0:
                break
    except MercerError:  # such as rows that must add up to one
        return choice_by_matrix(own, seen)
    how = "shuffled columns" if p > 1 else "normal values"
    return choice_by_shuffling(own, found_k, how, seen)


def _null(table: Any, rng: np.random.Generator) -> Any:
    """Return a table with every column shuffled on its own, or one normal column."""
    if table.shape[1] == 1:
        column = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        return column.mean() + column.std(ddof=1) * rng.standard_normal(column.shape)
    if not hasattr(table, "tocsc"):
        return rng.permuted(table, axis=0)
    found = table.tocsc(copy=True)
    ends = found.indptr
    for j in np.flatnonzero(np.diff(ends)):
        stored = slice(ends[j], ends[j + 1])
        found.indices[stored] = rng.permutation(table.shape[0])[: ends[j + 1] - ends[j]]
    found.has_sorted_indices = False
    return found.tocsr()


def _some(rows: Any, weights: Array | None, most: int) -> Array:
    """Return row numbers, evenly spread among rows repeated w times, none of them twice."""
    if weights is not None:
        return np.unique(stand_ins(rows, weights, most)[0])
    n = int(rows.shape[0])
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def _wide(rows: Any) -> Any:
    return rows.astype(np.float64) if rows.dtype == np.float32 else rows


def _seen(some: int, count: int) -> str:
    return f"all {count:,} rows" if some == count else f"{some:,} of {count:,} rows"
