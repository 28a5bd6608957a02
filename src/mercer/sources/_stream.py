"""Streams: blocks of rows that a program makes one after another."""

import hashlib
import inspect
import itertools
import operator
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.errors import InputError
from mercer.sources._blocks import Block, BlockSource, skipped
from mercer.sources._stream_forms import form_of

_NO_BLOCK = object()
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
        n, p = self.shape
        if self.nnz is None:
            return n * p * self.dtype.itemsize
        return self.nnz * (self.dtype.itemsize + 4) + 4 * n

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
    try:
        inspect.signature(function).bind()
    except TypeError:
        said = "needs arguments"
    except ValueError:  # built in, and silent about its arguments
        said = ""
    else:
        said = ""
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
    parts = [block.data, block.indices, block.indptr] if hasattr(block, "indptr") else [block]
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
