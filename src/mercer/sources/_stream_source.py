"""Streams: blocks of rows that a program makes one after another.

What all blocks of a stream have in common, as the first one shows it.
"""

import abc
import contextlib
import hashlib
import inspect
import itertools
import operator
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from mercer.arrays import EXACT, as_csr, as_numpy, detached
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._block_source import Block, BlockSource, FileIds, add_cells, skipped
from mercer.sources._column_choice import choose_columns
from mercer.sources._in_memory import dense_frame, ids_in_memory, is_table_like
from mercer.sources.files._file_source import id_of_open
from mercer.sources.frames._frame_sources import as_frame
from mercer.sources.frames._numeric_columns import Cells, stored_types


class BlockForm(abc.ABC):
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


def form_of(first: Any, columns: Any, drop: Any, label: str) -> BlockForm:
    """Return the form of a stream by its first block."""
    frame = as_frame(dense_frame(first))
    if isinstance(frame, nw.DataFrame):
        return FrameForm(frame, columns, drop, label)
    return ArrayForm(first, columns, drop, label)


@final
class FrameForm(BlockForm):
    """Blocks are frames with the same names in the same order."""

    def __init__(self, frame: "nw.DataFrame[Any]", columns: Any, drop: Any, label: str) -> None:
        self._every = list(frame.columns)
        self._cells = Cells(frame.schema, stored_types(frame.to_native()), columns, drop, label)
        self.dtype, self.names = self._cells.dtype, self._cells.names
        self.dropped = self._cells.dropped

    def block(self, raw: Any, number: int) -> Block:
        """See `Form.block`."""
        frame = as_frame(dense_frame(raw))
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
class ArrayForm(BlockForm):
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
            block = _two_dimensional(raw, number)
            return scipy.sparse.csr_array(as_csr(block, f"block {number} of the stream, "))
        if hasattr(raw, "__dask_graph__"):
            raise InputError(
                "the blocks of a stream are tables in memory",
                got=f"block {number} is a Dask {type(raw).__name__.lower()}",
                fix="yield block.compute(), or pass one collection: dask.array.concatenate",
            )
        known = hasattr(raw, "shape") and is_table_like(raw)
        if not known or isinstance(as_frame(raw), nw.DataFrame):
            _refuse_kind(number, raw, "arrays, sparse matrices or frames")
        if np.ma.isMaskedArray(raw):
            raise InputError(
                "masked arrays are not read",
                got=f"block {number} of the stream",
                fix="yield block.astype(float).filled(numpy.nan)",
            )
        return _two_dimensional(np.asarray(as_numpy(detached(raw))), number)

    def _warn_long(self, array: Any) -> None:
        cells = array.data if self._sparse else array
        if self._warned or array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
            return
        if cells.size and (int(cells.max()) >= EXACT or int(cells.min()) <= -EXACT):
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


_NO_BLOCK = object()
_OPEN = Path("/dev/fd")  # of Unix
_FORECAST = 100  # blocks that a stream is thought to have where it does not say


def open_stream(data: Any, *, columns: Any = None, drop: Any = None) -> "StreamSource":
    """Return the rows of a stream of blocks; the first block is made, and not lost.

    Parameters
    ----------
    data : iterator of blocks, or function of no arguments that makes one
        Blocks are arrays (r, p), sparse matrices, or frames in memory; all of one kind, with
        the same columns. r may change, and be 0. An iterator can be walked once; a function
        is called anew for every walk, and must make the same rows each time.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    made = data if isinstance(data, Iterator) else _call(data)
    return StreamSource(data, made, columns, drop)


@final
class StreamSource(BlockSource):
    """Blocks as a program makes them; the first settles the columns and types of all.

    The number of rows is a forecast until one whole walk has ended.
    """

    recognisable = False  # what comes is known only when it has come

    label = "a stream of blocks"
    counted = False
    elsewhere = False  # what makes the blocks may belong to one thread, as SQLite does

    def __init__(self, data: Any, made: Iterator[Any], columns: Any, drop: Any) -> None:
        first = next(made, _NO_BLOCK)
        self._held_in = _ids_being_read() | ids_in_memory(first)  # while it is read
        if first is _NO_BLOCK:
            raise InputError(
                "the stream has no blocks",
                got=type(data).__name__,
                fix="yield at least one array of rows",
            )
        blocks = 1 + max(0, operator.length_hint(made, _FORECAST - 1))
        self._form = form_of(first, columns, drop, self.label)
        self.dtype, self.names = self._form.dtype, self._form.names
        self.dropped = self._form.dropped
        block = self._form.block(first, 0)
        self.shape = (max(1, block.shape[0]) * blocks, block.shape[1])
        if scipy.sparse.issparse(block):
            self.nnz = int(block.nnz) * blocks
        self._make: Callable[[], Any] | None = None
        if made is data:
            self.max_passes, self._mark = 1, secrets.token_hex(32)
            self._made: Iterator[Any] = itertools.chain([first], made)
            return
        self._make, self._made, self._mark = data, made, _mark(block, self.names)
        if hasattr(made, "close"):
            made.close()

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: the bytes of the rows as they are handed out."""
        if self.nnz is None:
            return super().nbytes
        return self.nnz * (self.dtype.itemsize + 4) + 4 * self.shape[0]

    def files(self) -> FileIds:
        """See `Source.files`: all that were open while the first block was made."""
        return self._held_in

    def _read(self, rows: int, start: int) -> Iterator[Block]:
        return skipped(self._walk(), start)

    def _walk(self) -> Iterator[Block]:
        """Yield all blocks, checked; nothing is kept."""
        count = 0
        for number, raw in enumerate(self._begin()):
            block = self._form.block(raw, number)
            count += block.shape[0]
            yield block
        if self.counted and count != self.shape[0]:
            raise InputError(
                "the stream must have the same rows in every walk",
                got=f"{count:,} rows, and {self.shape[0]:,} before",
                fix="let the function make the same blocks each time",
            )

    def _begin(self) -> Iterator[Any]:
        if self._make is None:
            made, self._made = self._made, iter(())
            return made
        made = _call(self._make)
        if made is self._made:
            raise InputError(
                "the function returns the same iterator each time",
                got=_called(self._make),
                fix="let it make a new one, lambda: iter(blocks)",
            )
        return made

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`.

        An iterator cannot be walked again, so its text is random. A function makes the same
        rows each time, so its text is that of the first block.
        """
        return self._mark


def _call(function: Callable[[], Any]) -> Iterator[Any]:
    """Return the blocks that a function makes, from the first on."""
    said = ""
    with contextlib.suppress(ValueError):  # built in, and silent about its arguments
        try:
            inspect.signature(function).bind()
        except TypeError:
            said = "needs arguments"
    if not said:
        made = function()
        if isinstance(made, Iterable) and not hasattr(made, "shape"):
            return iter(made)
        said = f"returns {type(made).__name__}"
    raise InputError(
        "a function for a stream takes no arguments and returns an iterator of blocks",
        got=f"{_called(function)} {said}",
        fix="pass a generator function, or lambda: iter(blocks)",
    )


def _called(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _mark(block: Block, names: tuple[str, ...] | None) -> str:
    digest = hashlib.sha256(repr((block.shape, str(block.dtype), names)).encode())
    add_cells(digest, block)
    return digest.hexdigest()


def _ids_being_read() -> FileIds:
    """Return the files that this process has open for reading only."""
    found: FileIds = frozenset()
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        for number in [int(path.name) for path in _OPEN.iterdir()]:
            with contextlib.suppress(OSError):
                if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                    found |= id_of_open(number)
    return found
