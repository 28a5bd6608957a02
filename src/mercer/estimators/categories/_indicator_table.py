"""The matrix of multiple correspondence analysis, its square from counts, and its rows.

Which levels of a table of categories count in a fit, and with what weight.
"""

import dataclasses
import difflib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, in_short, warn
from mercer.estimators.categories._category_codes import Coded
from mercer.estimators.walk._operated_estimator import Operated
from mercer.operators import Framed

_WHOLE = 1 - 1e-12  # share from which a level stands in every row
_MANY = 20  # levels of numbers beyond which they look measured, not named
_FEW = 10  # rows below which nothing is said of the number of levels


@dataclasses.dataclass(frozen=True, eq=False)
class Active:
    """The levels and variables that make the axes.

    A level counts unless it is excluded, stands in no row with weight, or is one of a
    variable that does not vary. Q is the number of variables that vary.

    Attributes
    ----------
    coded : Coded
        The table.
    weights : array of shape (n,) or None
        Repeat counts of the rows.
    total : float
        Σw.
    counts : array of shape (J,)
        Rows of each level, weights counted.
    kept : bool array of shape (J,)
        The levels that count.
    varying : bool array of shape (Q,)
        The variables that count.
    """

    coded: Coded
    weights: Array | None
    total: float
    counts: Array
    kept: Array
    varying: Array

    @property
    def q(self) -> int:
        """The number of variables that count."""
        return int(np.count_nonzero(self.varying))

    @property
    def shares(self) -> Array:
        """The share of rows with each level that counts."""
        return self.counts[self.kept] / self.total

    @property
    def masses(self) -> Array:
        """The masses c = share / Q of the levels that count."""
        return self.shares / self.q

    @property
    def owner(self) -> Array:
        """The variable of each level that counts, numbered among those that count."""
        return (np.cumsum(self.varying) - 1)[self.coded.owner[self.kept]]

    @property
    def labels(self) -> list[str]:
        """The names "variable=level" of the levels that count."""
        return [name for name, kept in zip(self.coded.labels, self.kept, strict=True) if kept]

    @property
    def names(self) -> list[str]:
        """The names of the variables that count."""
        return [name for name, used in zip(self.coded.names, self.varying, strict=True) if used]

    @property
    def masses_of_rows(self) -> Array:
        """The masses w/Σw of the rows (n,)."""
        n = self.coded.shape[0]
        return np.full(n, 1 / n) if self.weights is None else self.weights / self.total

    @property
    def axes(self) -> int:
        """How many axes there can be: a complete variable has one fewer than levels."""
        levels = np.bincount(self.owner, minlength=self.q)
        covered = np.bincount(self.owner, self.shares, minlength=self.q)
        rows = self.coded.shape[0]
        if self.weights is not None:
            rows = int(np.count_nonzero(self.weights))
        most = int(np.sum(levels - (covered > _WHOLE)))
        return max(min(most, rows - 1), 0)


def active_of(coded: Coded, weights: Array | None, exclude: Sequence[str] | None) -> Active:
    """Return the levels that count.

    Parameters
    ----------
    coded : Coded
        The table.
    weights : array of shape (n,) or None
        Repeat counts of the rows.
    exclude : sequence of str or None
        Levels "variable=level" that make no axis (specific MCA); their rows stay.
    """
    n = coded.shape[0]
    total = float(n if weights is None else np.sum(weights))
    counts = coded.shares(np.ones(n) if weights is None else weights)
    kept = counts > 0
    kept[_places(coded, exclude)] = False
    partial = kept & (counts < _WHOLE * total)
    varying = np.bincount(coded.owner, partial, minlength=coded.shape[1]) > 0
    kept &= varying[coded.owner]
    found = Active(coded, weights, total, counts, kept, varying)
    if not varying.any():
        raise InputError(
            "no variable varies: there is no axis",
            got=f"n_samples = {n}, {coded.shape[1]} columns, each with one level that counts",
            fix="pass at least two rows that differ",
        )
    return found


def _places(coded: Coded, exclude: Sequence[str] | None) -> list[int]:
    asked = [] if exclude is None else [str(name) for name in exclude]
    labels = {label: place for place, label in enumerate(coded.labels)}
    for name in asked:
        if name not in labels:
            near = difflib.get_close_matches(name, labels, 1)
            raise InputError(
                "a level to exclude is not in the table",
                got=f"exclude names {name!r}",
                fix=f"did you mean {near[0]!r}?" if near else 'levels are "variable=level"',
            )
        if coded.labels.count(name) > 1:
            raise InputError(
                "a level to exclude has the name of another",
                got=f"exclude names {name!r}; {coded.labels.count(name)} levels are called so",
                fix="rename the columns or their levels, so that names differ",
            )
    return [labels[name] for name in asked]


def warn_of_levels(active: Active) -> None:
    """Say which columns do not vary, name each row, or look measured, and empty rows."""
    coded = active.coded
    n = coded.shape[0]
    constant = [coded.names[at] for at in np.flatnonzero(~active.varying)]
    if constant:
        warn(
            "columns without two levels that count are left out",
            got=in_short(constant),
            fix="drop them to say the same yourself",
            category=DataWarning,
        )
    long = [v for v in coded.variables if n >= _FEW and len(v) > min(_MANY, n / 2)]
    measured = [v for v in long if v.values.dtype.kind in "if"]
    if measured:
        warn(
            "columns of numbers with many levels: every number is a category of its own",
            got=in_short([f"{v.name} ({len(v)} levels)" for v in measured]),
            fix="cut them into classes, or take FAMD, which reads numbers as numbers",
            category=DataWarning,
        )
    names = [v for v in long if v not in measured and len(v) > n / 2]
    if names:
        warn(
            "columns with nearly as many levels as rows name the rows; they own the axes",
            got=in_short([f"{v.name} ({len(v)} levels, {n} rows)" for v in names]),
            fix="drop them, or pass them to supplementary",
            category=DataWarning,
        )
    warn_of_empty_rows(coded, "counts as an average row")


def warn_of_empty_rows(coded: Coded, what: str) -> None:
    """Say which rows have no level at all."""
    empty = np.flatnonzero((coded.codes < 0).all(axis=1))
    if len(empty):
        warn(
            f"a row without any known category {what}",
            got=in_short([f"row {row}" for row in empty]),
            fix="drop such rows",
            category=DataWarning,
        )


class Categories:
    """A = diag(√w/Q)·(Z - 1pᵀ)·diag(c^-½), with Z (n, J) the indicator of levels that count.

    w are the masses of the rows, p the shares of the levels, c = p/Q their masses. Where all
    levels count this is the matrix of correspondence analysis of Z; where some are excluded
    or cells are missing, masses stay those of the whole table (specific MCA).

    Parameters
    ----------
    active : Active
        The levels that count.
    """

    def __init__(self, active: Active) -> None:
        self.active = active
        self.settled: dict[str, Any] = {}  # what a fit decides on its way

    @cached_property
    def square(self) -> Array:
        """AᵀA (J, J) = D_c^-½(Burt/(nQ²) - ccᵀ)D_c^-½ from counts: n·Burt - n_jn_l is whole."""
        active = self.active
        kept = active.kept
        burt = active.coded.burt(active.weights)[np.ix_(kept, kept)]
        counts = active.counts[kept]
        burt *= active.total
        burt -= np.outer(counts, counts)
        root = np.sqrt(active.q * counts * active.total)
        return burt / np.outer(root, root)

    def operated(self) -> Operated:
        """Return what is solved, with its total inertia."""
        active = self.active
        shares, q = active.shares, active.q
        n = active.coded.shape[0]
        op = Framed(
            active.coded.indicator(active.kept),
            left=np.sqrt(active.masses_of_rows) / q,
            right=active.masses**-0.5,
            level=np.ones(n),
            profile=shares,
            counted=lambda: self.square.copy(),
        )
        return Operated(op, self.total, self, len(shares) / q)

    @property
    def total(self) -> float:
        """The total inertia ‖A‖²_F."""
        return float(np.sum(self.inertias))

    @property
    def inertias(self) -> Array:
        """The inertia of each level (J,): (1 - p)/Q where every cell is whole."""
        if self.active.coded.soft:
            return np.diagonal(self.square).copy()
        return (1 - self.active.shares) / self.active.q


def along(coded: Coded, standard: Array, q: int, origin: Array) -> Array:
    """Return the coordinates (n, k) of rows: f = Σ_j (z_j/Q - c_j)·y_j.

    Parameters
    ----------
    coded : Coded
        The rows; cells without a level add nothing.
    standard : array of shape (J, k)
        Standard coordinates y of all levels, zero for those that do not count.
    q : int
        Variables that count.
    origin : array of shape (k,)
        Σ_j c_j y_j; zero where all levels of the variables count.
    """
    return _gathered(coded, standard) / q - origin


def distances(active: Active) -> Array:
    """Return the squared χ² distance (n,) of every row from the mean row.

    d² = Σ_j (z_j/Q - c_j)²/c_j = Σ_{z_j = 1} (1/(Q²c_j) - 2/Q) + Σ_j c_j.
    """
    masses, q = active.masses, active.q
    parts = np.zeros((len(active.kept), 1))
    parts[active.kept, 0] = 1 / (q * q * masses) - 2 / q
    found = _gathered(active.coded, parts)[:, 0] + float(np.sum(masses))
    ends = active.coded.offsets
    parts[active.kept, 0] += 2 / q
    for cells in active.coded.soft:  # z² is z for whole cells only
        part = parts[ends[cells.at] : ends[cells.at + 1], 0]
        found[cells.rows] += (cells.shares**2 - cells.shares) @ part
    return np.maximum(found, 0.0)


def _gathered(coded: Coded, values: Array) -> Array:
    """Return ZV (n, k) for V (J, k): the rows of V that the codes name, added up."""
    out = np.zeros((coded.shape[0], values.shape[1]))
    ends = coded.offsets
    for at, code in enumerate(coded.codes.T):
        part = values[ends[at] : ends[at + 1]]
        if part.any():
            out += np.concatenate([part, np.zeros((1, values.shape[1]))])[code]
    for cells in coded.soft:
        out[cells.rows] += cells.shares @ values[ends[cells.at] : ends[cells.at + 1]]
    return out
