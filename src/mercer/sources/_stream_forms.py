"""What all blocks of a stream have in common, as the first one shows it."""

import abc
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from mercer.arrays import as_numpy
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._blocks import Block
from mercer.sources._cells import Cells, stored_types
from mercer.sources._columns import choose_columns
from mercer.sources._frames import as_frame

_EXACT = 2**53  # integers up to here are exact in float64


class Form(abc.ABC):
    """Abstract: kind, width, names and type of the blocks of a stream.

    Attributes
    ----------
    dtype : dtype
        Of the blocks handed out: float32 where the first block is, float64 otherwise.
    names : tuple of str or None
        Of the columns that are used.
    dropped : tuple of (str, str)
        Names of the others, and why each is not used.
    """

    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    dropped: tuple[tuple[str, str], ...] = ()

    @abc.abstractmethod
    def block(self, raw: Any, number: int) -> Block:
        """Return block `number` as numbers, or refuse it where it does not fit the first."""


def form_of(first: Any, columns: Any, drop: Any, label: str) -> Form:
    """Return the form of a stream by its first block."""
    frame = as_frame(first)
    if isinstance(frame, nw.DataFrame):
        return FrameForm(frame, columns, drop, label)
    return ArrayForm(first, columns, drop, label)


@final
class FrameForm(Form):
    """Blocks are frames with the same names in the same order."""

    def __init__(self, frame: "nw.DataFrame[Any]", columns: Any, drop: Any, label: str) -> None:
        self._every = list(frame.columns)
        self._cells = Cells(frame.schema, stored_types(frame.to_native()), columns, drop, label)
        self.dtype, self.names = self._cells.dtype, self._cells.names
        self.dropped = self._cells.dropped

    def block(self, raw: Any, number: int) -> Block:
        """See `Form.block`."""
        frame = as_frame(raw)
        if not isinstance(frame, nw.DataFrame):
            _refuse_kind(number, raw, "frames")
        names = list(frame.columns)
        if len(names) != len(self._every):
            _refuse_width(number, len(names), len(self._every))
        for at, (name, ours) in enumerate(zip(names, self._every, strict=True)):
            if name != ours:
                raise InputError(
                    f"block {number} of the stream has other columns than the first",
                    got=f"column {at} is {name!r}, and {ours!r} in the first block",
                    fix="yield frames with the same columns in the same order",
                )
        self._check_types(frame, number)
        return self._cells.block(frame.to_native())

    def _check_types(self, frame: Any, number: int) -> None:
        types = list(frame.schema.values())
        short = self.dtype == np.float32
        odd = self._cells.misfit(types, stored_types(frame.to_native()), short)
        if odd is not None:
            raise InputError(
                f"block {number} of the stream has a type that cannot be used",
                got=f"column {odd[0]!r} holds {odd[1]}",
                fix="yield frames with the same types as the first",
            )
        self._cells.widen(types)


@final
class ArrayForm(Form):
    """Blocks are arrays (r, p), or all are sparse matrices (r, p)."""

    def __init__(self, first: Any, columns: Any, drop: Any, label: str) -> None:
        self._sparse = scipy.sparse.issparse(first)
        self._label, self._warned = label, False
        array = self._table(first, 0)
        self._width = p = int(array.shape[1])
        short = array.dtype in (np.float16, np.float32)
        self.dtype = np.dtype(np.float32 if short else np.float64)
        self._at: list[int] | None = None
        if columns is not None or drop is not None or p == 0:
            every = [str(i) for i in range(p)]
            chosen = choose_columns(every, [None] * p, columns, drop, label)
            self._at, self.names, self.dropped = list(chosen.at), chosen.names, chosen.dropped

    def block(self, raw: Any, number: int) -> Block:
        """See `Form.block`."""
        array = self._table(raw, number)
        if array.shape[1] != self._width:
            _refuse_width(number, array.shape[1], self._width)
        known = array.dtype.kind in "biuf"
        if not known or not np.can_cast(array.dtype, self.dtype, "safe"):
            _refuse_type(number, array.dtype, f"{self.dtype}, after the first block")
        self._warn_long(array)
        chosen = array if self._at is None else array[:, self._at]
        return chosen.astype(self.dtype, copy=False)

    def _table(self, raw: Any, number: int) -> Any:
        """Return a block as a NumPy or a CSR array of two dimensions."""
        if scipy.sparse.issparse(raw) != self._sparse:
            _refuse_kind(number, raw, "sparse matrices" if self._sparse else "arrays")
        if self._sparse:
            if raw.dtype.kind not in "biuf" or raw.dtype == np.float16:
                _refuse_type(number, raw.dtype, "numbers that SciPy computes with")
            return scipy.sparse.csr_array(_two_dimensional(raw, number))
        if hasattr(raw, "__dask_graph__"):
            raise InputError(
                "the blocks of a stream are tables in memory",
                got=f"block {number} is a Dask {type(raw).__name__.lower()}",
                fix="yield block.compute(), or pass one collection: dask.array.concatenate",
            )
        if not hasattr(raw, "shape") or isinstance(as_frame(raw), nw.DataFrame):
            _refuse_kind(number, raw, "arrays, sparse matrices or frames")
        if np.ma.isMaskedArray(raw):
            raise InputError(
                "masked arrays are not read",
                got=f"block {number} of the stream",
                fix="yield block.astype(float).filled(numpy.nan)",
            )
        return _two_dimensional(np.asarray(as_numpy(raw)), number)

    def _warn_long(self, array: Any) -> None:
        cells = array.data if self._sparse else array
        if self._warned or array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
            return
        if cells.size and (int(cells.max()) >= _EXACT or int(cells.min()) <= -_EXACT):
            self._warned = True
            warn(
                "integers beyond 2^53 are rounded to float64",
                got=self._label,
                fix="subtract a constant",
                category=DataWarning,
            )


def _refuse_kind(number: int, raw: Any, wanted: str) -> None:
    kind = "a sparse matrix" if scipy.sparse.issparse(raw) else type(raw).__name__
    if not scipy.sparse.issparse(raw) and hasattr(raw, "shape"):
        kind = f"a dense {kind}"
    raise InputError(
        f"all blocks of the stream must be {wanted}",
        got=f"block {number} is {kind}",
        fix="yield blocks of one kind, with two dimensions each",
    )


def _two_dimensional(array: Any, number: int) -> Any:
    if array.ndim != 2:
        raise InputError(
            "a block of a stream has two dimensions, rows and columns",
            got=f"block {number} has shape {array.shape}",
            fix="yield blocks of rows, block.reshape(-1, p)",
        )
    return array


def _refuse_type(number: int, dtype: Any, wanted: str) -> None:
    raise InputError(
        f"block {number} of the stream has a type that cannot be used",
        got=f"{dtype}, where the stream needs {wanted}",
        fix="make all blocks float64, or all float32",
    )


def _refuse_width(number: int, got: int, width: int) -> None:
    raise InputError(
        "all blocks of the stream must have the same number of columns",
        got=f"block {number} has {got}, the first has {width}",
        fix="yield rows of one length",
    )
