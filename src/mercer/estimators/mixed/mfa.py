"""Multiple factor analysis: axes that groups of columns share.

Groups of columns: which they are, what each is alone, and how alike two of them are.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, in_short
from mercer.estimators.mixed._mixed_estimator import MixedEstimator
from mercer.estimators.mixed._mixed_filling import operated
from mercer.estimators.mixed._mixed_fit import Built, fitted_state, masses_of
from mercer.estimators.mixed._mixed_frame import framed, table_of_cells
from mercer.estimators.mixed._mixed_table import Mixed, positions
from mercer.estimators.walk._operated_estimator import Operated
from mercer.operators import Framed
from mercer.solvers import Spectrum

_SMALL = 2000  # columns up to which AᵀA is written down
_BLOCK = 256  # columns or rows that are taken together beyond


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
        raise InputError(
            "every column must be in a group",
            got=f"{in_short([repr(name) for name in left])} in none",
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


class MFA(MixedEstimator):
    r"""Principal axes of several groups of columns, none of which outweighs the others.

    Each group is divided by the first singular value of its own analysis (PCA of numbers, MCA
    of categories, FAMD of both) [EscofierPages1994]_, so that no group can make the first axis
    alone by being large. A row has one point for all groups and a partial point for each;
    the point is the mean of the partial ones.

    Parameters
    ----------
    groups : dict of name to columns, sequence of columns, or None
        Columns by name or position, each in one group; None puts all in one.
    n_components : int or None
        Axes to keep; a table that has fewer keeps all. None keeps all there are.
    standardize : bool
        Divide numbers by their 1/n standard deviation; else centre them only.
    categorical : sequence of names or positions, or None
        Columns of numbers that are codes of categories, as for `FAMD`.
    unseen : "raise" or "passive"
        Name a category that was not there at fit; or place it at the centre of its variable.
    tol, memory, time, device, random_state
        As for `PCA`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Inertia along each axis, dividing by n; the first lies between 1 and the number of
        groups, which it reaches where all groups share their first axis.
    groups_ : list of str
        Names of the groups.
    group_eigenvalues_ : list of ndarrays
        Leading eigenvalues of each group's own analysis, before it was divided.
    group_coordinates_ : ndarray of shape (groups, k)
        Inertia of a group along an axis: 0 to 1, a link of the group with the axis.
    group_contributions_ : ndarray of shape (groups, k)
        These as shares of the eigenvalue.
    lg_, rv_ : ndarray of shape (groups, groups)
        Lg = ‖A_gᵀA_h‖²_F, what two groups share; RV = Lg over the root of both own ones, 1
        where two groups draw the same map.
    axis_correlations_ : ndarray of shape (groups, k, k)
        Of the axes of each group alone (rows) with these (columns); 0 where a group has fewer.
    row_coordinates_, column_standard_, squared_correlations_ and others
        As for `FAMD`. Masses of columns are divided by the first eigenvalue of their group.

    Notes
    -----
    Cost: as `FAMD`, one solve more for each group, and AᵀA once for `lg_`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MFA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(50, 1))
    >>> X = shared + 0.5 * rng.normal(size=(50, 5))
    >>> model = MFA({"lab": [0, 1, 2], "field": [3, 4]}).fit(X)
    >>> bool(1.8 < model.eigenvalues_[0] < 2)
    True
    >>> model.partial_coordinates(X).shape
    (2, 50, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MixedEstimator._parameter_constraints,
        "groups": [dict, list, tuple, None],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        groups: Any = None,
        n_components: int | None = 2,
        *,
        standardize: bool = True,
        categorical: Any = None,
        unseen: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.groups = groups
        self.n_components = n_components
        self.standardize = standardize
        self.categorical = categorical
        self.unseen = unseen
        super().__init__(tol, memory, time, device, random_state)

    def _operator(self, source: Mixed, weights: Array | None) -> Operated:
        masses, total = masses_of(weights, source.shape[0])
        groups = groups_of(self.groups, source.names)
        frame = framed(source, masses, None if self.standardize else groups.owner)
        table = table_of_cells(frame, source, frame.codes(source))
        plain = operated(table, frame, masses, np.ones(frame.width))
        groups = alone(groups, plain, frame.owner, self._wanted(plain.op.shape), self._pairs_of)
        own = np.empty(frame.width)
        for columns, values in zip(groups.columns, groups.values, strict=True):
            own[columns] = 1 / values[0]
        op = plain.op
        balanced = Framed(
            table,
            left=op.left,
            right=op.right * np.sqrt(own),
            level=op.level,
            profile=op.profile,
        )
        built = Built(frame, masses, total, plain.found, own, groups=groups)
        size = float(np.sum((plain.found + (op.profile * op.right) ** 2) * own))
        return Operated(balanced, float(plain.found @ own), built, size)

    def _scale(self, spectrum: Spectrum, found: Operated, source: Any) -> dict[str, object]:
        built: Built = found.found
        groups: Groups = built.groups
        state = fitted_state(spectrum, found.trace, built, source)
        values = state["eigenvalues_"]
        axes = state["column_standard_"] * np.sqrt(state["column_masses_"])[:, None]
        lg, rv = likeness(found.op, groups.columns)
        parts = [np.sum(axes[own] ** 2, axis=0) * values for own in groups.columns]
        return state | {
            "groups_": list(groups.names),
            "group_eigenvalues_": list(groups.values),
            "group_coordinates_": np.array(parts),
            "lg_": lg,
            "rv_": rv,
            "axis_correlations_": _axis_correlations(groups, axes, values),
            "_group_of": groups.owner,
        }

    @property
    def group_contributions_(self) -> Array:
        """Shares (groups, k) of the groups in each axis; they sum to one."""
        values = self.eigenvalues_
        return np.asarray(self.group_coordinates_ / np.where(values > 0, values, 1.0))

    def partial_coordinates(self, X: Any) -> Array:
        """Return the points (groups, n, k) of rows as each group alone sees them.

        Their mean over the groups is `transform(X)`.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_features)
            Rows, of the fit or new.
        """
        check_is_fitted(self)
        table = self._admit(X, reset=False)
        count = len(self.groups_)
        parts = [
            self._axes.placed(table, self.unseen, self._group_of == number)[0]
            for number in range(count)
        ]
        return np.stack(parts) * count


def _axis_correlations(groups: Groups, axes: Array, values: Array) -> Array:
    """Return the correlations (G, k, k) of the groups' own axes with those of all.

    f_gᵀF = V_gᵀA_gᵀAV = λ·V_gᵀV_[g]·√λ₁ of the group, since V are eigenvectors of AᵀA.
    """
    k = len(values)
    found = np.zeros((len(groups.names), k, k))
    for number, (own, alone_values, alone_axes) in enumerate(
        zip(groups.columns, groups.values, groups.axes, strict=True)
    ):
        some = min(k, len(alone_values))
        scale = np.sqrt(alone_values[0] / alone_values[:some])[:, None] * np.sqrt(values)
        found[number, :some] = alone_axes[:, :some].T @ axes[own] * scale
    return np.clip(found, -1.0, 1.0)
