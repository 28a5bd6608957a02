"""Groups of columns: which they are, what each is alone, and how alike two of them are."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._mixed_table import positions
from mercer.estimators._operated import Operated
from mercer.operators import Framed
from mercer.solvers import Spectrum

_SMALL = 2000  # columns up to which AᵀA is written down
_BLOCK = 256  # columns or rows that are taken together beyond
_NAMED = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """What each group is alone.

    Attributes
    ----------
    names : tuple of str
        Of the G groups.
    owner : int array of shape (given columns,)
        The group of each given column.
    columns : tuple of int arrays
        The columns of A in each group.
    values : tuple of arrays
        Leading eigenvalues of each group's own analysis.
    axes : tuple of arrays
        Their vectors, on the columns of the group.
    """

    names: tuple[str, ...]
    owner: Array
    columns: tuple[Array, ...] = ()
    values: tuple[Array, ...] = ()
    axes: tuple[Array, ...] = ()


def groups_of(wanted: Any, names: Sequence[str]) -> Groups:
    """Return the group of every column; each must be in one.

    Parameters
    ----------
    wanted : dict of name to columns, sequence of columns, or None
        Columns by name or position; None puts all columns in one group.
    names : sequence of str
        The given columns.
    """
    if wanted is None:
        return Groups(("all",), np.zeros(len(names), int))
    if not isinstance(wanted, dict):
        wanted = {f"group{i}": columns for i, columns in enumerate(wanted)}
    owner = np.full(len(names), -1)
    for number, (name, columns) in enumerate(wanted.items()):
        found = positions(columns, names, "groups")
        if not found:
            raise InputError(
                "a group needs at least one column",
                got=f"group {name!r} with no column",
                fix="name its columns, or leave it out",
            )
        for at in sorted(found):
            if owner[at] >= 0:
                raise InputError(
                    "a column can be in one group only",
                    got=f"column {at} ({names[at]!r}) in {list(wanted)[int(owner[at])]!r} and"
                    f" {name!r}",
                    fix="name every column once",
                )
            owner[at] = number
    left = [names[int(at)] for at in np.flatnonzero(owner < 0)]
    if left:
        more = "" if len(left) <= _NAMED else f" and {len(left) - _NAMED} more"
        raise InputError(
            "every column must be in a group",
            got=f"{', '.join(map(repr, left[:_NAMED]))}{more} in none",
            fix="add them to a group, or drop them and pass them to supplementary(Y)",
        )
    return Groups(tuple(str(name) for name in wanted), owner)


def alone(
    groups: Groups,
    asked: Operated,
    owner: Array,
    wanted: int,
    solve: Callable[[Operated, int], Spectrum],
) -> Groups:
    """Return the groups with the leading pairs of each one's own analysis.

    Parameters
    ----------
    groups : Groups
        Names, and the group of every given column.
    asked : Operated
        A of all columns, and their inertias (`found`).
    owner : int array of shape (p + J,)
        The given column of each column of A.
    wanted : int
        Pairs of each.
    solve : callable
        Leading pairs of an operator.
    """
    op, inertias = asked.op, asked.found
    columns, values, axes = [], [], []
    for number, name in enumerate(groups.names):
        own = np.flatnonzero(groups.owner[owner] == number)
        part = Framed(
            op.table[:, own],
            left=op.left,
            right=op.right[own],
            level=op.level,
            profile=op.profile[own],
        )
        trace = float(np.sum(inertias[own]))
        if trace <= 0:
            raise InputError(
                "a group has no variance",
                got=f"group {name!r}: all of its columns are constant",
                fix="drop the group",
            )
        size = trace + float(np.sum((part.profile * part.right) ** 2))
        spectrum = solve(Operated(part, trace, None, size), min(wanted, *part.shape))
        keep = spectrum.values > spectrum.certificate.zero_level
        columns.append(own)
        values.append(np.asarray(spectrum.values)[keep])
        axes.append(np.asarray(spectrum.right)[:, keep])
    return dataclasses.replace(
        groups, columns=tuple(columns), values=tuple(values), axes=tuple(axes)
    )


def likeness(op: Framed, columns: tuple[Array, ...]) -> tuple[Array, Array]:
    """Return Lg (G, G), ‖A_gᵀA_h‖²_F, and RV = Lg/√(Lg_gg·Lg_hh).

    By columns where they are fewer than rows, else by rows; beyond 2,000 columns block by
    block, so that no square matrix is held.

    Parameters
    ----------
    op : Framed
        A, its groups weighted.
    columns : tuple of int arrays
        Those of each group.
    """
    m, n = op.shape
    lg = _by_rows(op, columns) if m < n else _by_columns(op, columns)
    root = np.sqrt(np.diagonal(lg))
    rv = np.clip(lg / root / root[:, None], 0.0, 1.0)
    np.fill_diagonal(rv, 1.0)
    return lg, rv


def _by_columns(op: Framed, columns: tuple[Array, ...]) -> Array:
    n = op.shape[1]
    member = np.zeros((len(columns), n))
    for number, own in enumerate(columns):
        member[number, own] = 1.0
    if n <= _SMALL:
        return np.asarray(member @ op.gram() ** 2 @ member.T)
    lg = np.zeros((len(columns), len(columns)))
    for start in range(0, n, _BLOCK):
        width = min(_BLOCK, n - start)
        unit = np.zeros((n, width))
        unit[np.arange(start, start + width), np.arange(width)] = 1.0
        block = op.rmatmat(op.matmat(unit))
        lg += member @ block**2 @ member[:, start : start + width].T
    return (lg + lg.T) / 2


def _by_rows(op: Framed, columns: tuple[Array, ...]) -> Array:
    m, count = op.shape[0], len(columns)
    lg = np.zeros((count, count))
    for start in range(0, m, _BLOCK):
        width = min(_BLOCK, m - start)
        unit = np.zeros((m, width))
        unit[np.arange(start, start + width), np.arange(width)] = 1.0
        back = op.rmatmat(unit)
        parts = []
        for own in columns:
            kept = np.zeros_like(back)
            kept[own] = back[own]
            parts.append(op.matmat(kept).ravel())
        stacked = np.stack(parts)
        lg += stacked @ stacked.T
    return lg
