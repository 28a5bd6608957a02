"""Which levels of a table of categories count in a fit, and with what weight."""

import dataclasses
import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators._categories import Coded

_NAMED = 5  # columns or rows that a message names
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


def active_of(coded: Coded, weights: Any, exclude: Sequence[str] | None) -> Active:
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
            got=_listed(constant),
            fix="drop them to say the same yourself",
            category=DataWarning,
        )
    long = [v for v in coded.variables if n >= _FEW and len(v) > min(_MANY, n / 2)]
    measured = [v for v in long if v.values.dtype.kind in "if"]
    if measured:
        warn(
            "columns of numbers with many levels: every number is a category of its own",
            got=_listed([f"{v.name} ({len(v)} levels)" for v in measured]),
            fix="cut them into classes, or take FAMD, which reads numbers as numbers",
            category=DataWarning,
        )
    names = [v for v in long if v not in measured and len(v) > n / 2]
    if names:
        warn(
            "columns with nearly as many levels as rows name the rows; they own the axes",
            got=_listed([f"{v.name} ({len(v)} levels, {n} rows)" for v in names]),
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
            got=_listed([f"row {row}" for row in empty[:_NAMED]], len(empty)),
            fix="drop such rows",
            category=DataWarning,
        )


def _listed(names: Sequence[str], count: int | None = None) -> str:
    count = len(names) if count is None else count
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
