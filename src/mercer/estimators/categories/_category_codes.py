"""The coded table of categories: whole numbers for cells, and names for what they stand for."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, in_short, warn
from mercer.estimators.categories._category_cells import CategoryColumn, columns_of

_NAMED = 5  # columns or levels that a message names
MISSING = "missing"  # what the level of missing cells is called


@dataclasses.dataclass(frozen=True, eq=False)
class Variable:
    """One categorical variable: its name and its levels.

    Attributes
    ----------
    name : str
        Of the column.
    values : array of shape (L,)
        The levels: text (objects), bool, int64 or float64.
    gap : bool
        Whether one more level, the last, stands for missing cells.
    """

    name: str
    values: Array
    gap: bool = False

    def __len__(self) -> int:
        """Return the number of levels."""
        return len(self.values) + self.gap

    @property
    def levels(self) -> list[str]:
        """The levels as text; whole numbers carry no point."""
        found = [_text(value) for value in self.values.tolist()]
        return [*found, MISSING] if self.gap else found

    @property
    def labels(self) -> list[str]:
        """The names "variable=level"."""
        return [f"{self.name}={level}" for level in self.levels]


@dataclasses.dataclass(frozen=True, eq=False)
class Soft:
    """Missing cells of one variable that hold shares of its levels.

    Attributes
    ----------
    at : int
        The variable.
    rows : int array of shape (c,)
        The rows of the cells, rising; their codes are -1.
    shares : array of shape (c, L)
        They sum to one; a little below zero is possible.
    """

    at: int
    rows: Array
    shares: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Coded:
    """A table of n rows and Q categorical variables, J levels in all.

    Attributes
    ----------
    codes : int32 array of shape (n, Q), column by column
        The level of every cell within its variable; -1 where there is none: a missing cell
        that is passive, or a value that was not there at fit.
    variables : tuple of Variable
        The variables in the order of the columns.
    rows : tuple of str or None
        The names of the rows.
    soft : tuple of Soft
        Cells without a code that hold shares of levels.
    """

    codes: Array
    variables: tuple[Variable, ...]
    rows: tuple[str, ...] | None = None
    soft: tuple[Soft, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and variables (n, Q)."""
        return int(self.codes.shape[0]), int(self.codes.shape[1])

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return [variable.name for variable in self.variables]

    @property
    def labels(self) -> list[str]:
        """The names "variable=level" of all J levels."""
        return [label for variable in self.variables for label in variable.labels]

    @property
    def offsets(self) -> Array:
        """Where the levels of each variable begin among all J (Q + 1,)."""
        return np.concatenate([[0], np.cumsum([len(v) for v in self.variables])]).astype(int)

    @property
    def owner(self) -> Array:
        """The variable of each level (J,)."""
        return np.repeat(np.arange(len(self.variables)), [len(v) for v in self.variables])

    def take(self, rows: Array) -> "Coded":
        """Return some rows of a table without soft cells."""
        assert not self.soft
        names = None if self.rows is None else tuple(np.array(self.rows, object)[rows])
        return Coded(self.codes[rows], self.variables, names)

    def shares(self, weights: Array) -> Array:
        """Return Σᵢ wᵢ zᵢⱼ for every level (J,): its share where the weights sum to one."""
        found = np.concatenate(
            [
                np.bincount(code + 1, weights, len(variable) + 1)[1:]
                for code, variable in zip(self.codes.T, self.variables, strict=True)
            ]
        )
        for cells in self.soft:
            place = self.offsets[cells.at]
            part = slice(place, place + cells.shares.shape[1])
            found[part] += weights[cells.rows] @ cells.shares
        return found

    def burt(self, weights: Array | None = None) -> Array:
        """Return ZᵀD_wZ (J, J), the Burt table: Q²/2 countings of n pairs of codes.

        Whole weights are counted exactly.

        Parameters
        ----------
        weights : array of shape (n,) or None
            Of the rows; None counts every row once.
        """
        if self.soft:
            return self._soft_burt(weights)
        ends = self.offsets
        found = np.zeros((ends[-1], ends[-1]))
        sizes = [len(variable) for variable in self.variables]
        shifted = [code.astype(np.intp) + 1 for code in self.codes.T]
        for a, size in enumerate(sizes):
            first = shifted[a]
            for b in range(a):
                pairs = first * (sizes[b] + 1) + shifted[b]
                both = np.bincount(pairs, weights, (size + 1) * (sizes[b] + 1))
                block = both.reshape(size + 1, sizes[b] + 1)[1:, 1:]
                found[ends[a] : ends[a + 1], ends[b] : ends[b + 1]] = block
                found[ends[b] : ends[b + 1], ends[a] : ends[a + 1]] = block.T
            own = np.bincount(first, weights, size + 1)[1:]
            found[range(ends[a], ends[a + 1]), range(ends[a], ends[a + 1])] = own
        return found

    def _soft_burt(self, weights: Array | None) -> Array:
        """Return the Burt table where some rows have soft cells: products for these alone."""
        w = np.ones(self.shape[0]) if weights is None else np.array(weights, np.float64)
        rows = np.unique(np.concatenate([cells.rows for cells in self.soft]))
        some = self.indicator()[rows]
        product = some.T @ (scipy.sparse.diags_array(w[rows]) @ some)
        w[rows] = 0.0
        crisp = Coded(self.codes, self.variables).burt(w)
        return np.asarray(crisp + product.toarray())

    def indicator(self, kept: Array | None = None) -> scipy.sparse.csr_array:
        """Return Z (n, J) of zeros and ones as a CSR array; rows without a level are empty.

        Parameters
        ----------
        kept : bool array of shape (J,) or None
            The levels whose columns are wanted; None is all of them.
        """
        n, q = self.shape
        ends = self.offsets
        width = int(ends[-1])
        place = np.arange(width, dtype=np.int32)
        if kept is not None:
            width = int(np.count_nonzero(kept))
            place = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        cells = np.empty((n, q), np.int32)
        for at, code in enumerate(self.codes.T):
            cells[:, at] = np.append(place[ends[at] : ends[at + 1]], np.int32(-1))[code]
        there = cells >= 0
        kind = np.int32 if n * q < 2**31 else np.int64
        starts = np.zeros(n + 1, kind)
        np.cumsum(np.count_nonzero(there, axis=1), out=starts[1:])
        found = cells.reshape(-1) if there.all() else cells[there]
        made = (np.ones(len(found)), found.astype(kind, copy=False), starts)
        crisp = scipy.sparse.csr_array(made, shape=(n, width))
        return crisp + self._soft_cells(place, width) if self.soft else crisp

    def _soft_cells(self, place: Array, width: int) -> scipy.sparse.csr_array:
        """Return the shares of soft cells (n, width) as a CSR array; place -1 is left out."""
        rows, columns, shares = [], [], []
        for cells in self.soft:
            start = self.offsets[cells.at]
            where = place[start : start + cells.shares.shape[1]]
            there = where >= 0
            rows.append(np.repeat(cells.rows, np.count_nonzero(there)))
            columns.append(np.tile(where[there], len(cells.rows)))
            shares.append(cells.shares[:, there].ravel())
        at = (np.concatenate(rows), np.concatenate(columns))
        found = scipy.sparse.coo_array(
            (np.concatenate(shares), at), shape=(self.shape[0], width)
        )
        return found.tocsr()


def coded(data: object, *, missing: str = "raise") -> Coded:
    """Return a table of categories as codes; every level found becomes one.

    Parameters
    ----------
    data : frame or array of shape (n, Q), or a list of Column
        See `columns_of`; declared levels that stand in no row are dropped by name.
    missing : str
        "raise" names the columns with missing cells; "level" gives a variable that has some
        one more level; "passive" and "fill" leave such cells without a level, -1.
    quiet : bool
        Do not warn of dropped levels.
    """
    columns, rows = _columns(data)
    if missing == "raise":
        _refuse_missing(columns)
    variables, codes = [], []
    for column in columns:
        gap = missing == "level" and bool((column.codes < 0).any())
        variables.append(Variable(column.name, column.values, gap))
        last = len(column.values)  # the level of missing cells, where there is one
        codes.append(np.where(column.codes < 0, last, column.codes) if gap else column.codes)
    _warn_unused(columns)
    return Coded(np.stack(codes).T, tuple(variables), rows)


def coded_again(
    data: object,
    variables: Sequence[Variable],
    *,
    missing: str = "raise",
    unseen: str = "raise",
    places: Sequence[int] | None = None,
) -> Coded:
    """Return new rows in the codes of a fit.

    Parameters
    ----------
    data : frame or array of shape (n, Q), or a list of Column
        As many columns as there are variables, in their order.
    variables : sequence of Variable
        The levels that are known.
    missing : str
        As at fit; with "level" a missing cell of a variable without such a level is unseen.
    unseen : str
        "raise" names the first cell with a value that was not there at fit; "passive" gives
        it no level, -1.
    places : sequence of int or None
        Where the columns stand in the table as given, for messages; None is 0, 1, ….
    """
    columns, rows = _columns(data)
    if missing == "raise":
        _refuse_missing(columns)
    codes = []
    for at, (column, variable) in enumerate(zip(columns, variables, strict=True)):
        known = {value: i for i, value in enumerate(variable.values.tolist())}
        new = np.array([*(known.get(v, -1) for v in column.values.tolist()), -1], np.int32)
        found = new[column.codes]
        gaps = column.codes < 0
        lost = (found < 0) & ~gaps if missing != "level" or variable.gap else found < 0
        if unseen == "raise" and lost.any():
            place = at if places is None else int(places[at])
            _refuse_unseen(column, variable, int(np.argmax(lost)), place)
        if missing == "level" and variable.gap:
            found[gaps] = len(variable.values)
        codes.append(found)
    return Coded(np.stack(codes).T, tuple(variables), rows)


def _columns(data: object) -> tuple[list[CategoryColumn], tuple[str, ...] | None]:
    if isinstance(data, list) and data and isinstance(data[0], CategoryColumn):
        return data, None
    return columns_of(data)


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _refuse_missing(columns: list[CategoryColumn]) -> None:
    """Name the columns with missing cells, and the first such cell."""
    gaps = ((column.name, int(np.count_nonzero(column.codes < 0))) for column in columns)
    found = [(name, count) for name, count in gaps if count]
    if not found:
        return
    at = next(i for i, column in enumerate(columns) if (column.codes < 0).any())
    row = int(np.argmax(columns[at].codes < 0))
    counts = ", ".join(f"{name!r} {count}" for name, count in found[:_NAMED])
    more = "" if len(found) <= _NAMED else f" and {len(found) - _NAMED} more columns"
    raise InputError(
        "X has missing cells (NaN or None)",
        got=f"{sum(count for _, count in found)} of {len(columns[0].codes) * len(columns)}"
        f" cells, the first at row {row}, column {at}; by column: {counts}{more}",
        fix='pass missing="level" (a level of its own) or missing="passive" (left out)',
    )


def _refuse_unseen(column: CategoryColumn, variable: Variable, row: int, at: int) -> None:
    code = int(column.codes[row])
    value = MISSING if code < 0 else column.values.tolist()[code]
    known = ", ".join(repr(v) for v in variable.values.tolist()[:_NAMED])
    more = "" if len(variable.values) <= _NAMED else ", …"
    raise InputError(
        "a category was not there at fit",
        got=f"{value!r} at row {row}, column {at} ({variable.name!r}); known are {known}{more}",
        fix="pass cells of the same type as at fit"
        if str(value) in variable.levels
        else 'pass unseen="passive" to leave such cells out, or fit with rows that have it',
    )


def _warn_unused(columns: list[CategoryColumn]) -> None:
    named = [f"{column.name}={level}" for column in columns for level in column.unused]
    if named:
        warn(
            "declared levels that stand in no row are left out",
            got=in_short(named),
            fix="call .cat.remove_unused_categories() to do the same without a word",
            category=DataWarning,
        )
