"""Frames of pandas, polars, pyarrow and duckdb, lazy ones too."""

import hashlib
from collections.abc import Iterator
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._base import Source
from mercer.sources._cells import Cells, stored_types
from mercer.sources._tables import TableSource

_MARKED = 1024  # rows that a fingerprint looks at in one go


def is_lazy(data: Any) -> bool:
    """Tell whether `data` is a frame that is computed when it is read."""
    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)
    except DuplicateError:
        return False  # refused when it is opened


def open_frame(data: Any, *, columns: Any = None, drop: Any = None) -> Source | None:
    """Return the source of a frame, or None where `data` is no frame.

    Parameters
    ----------
    data : frame
        Of pandas, polars or pyarrow, or any other that narwhals holds in memory; or lazy: a
        polars LazyFrame or a duckdb relation, which is computed anew in every walk.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    frame = as_frame(data)
    if isinstance(frame, nw.DataFrame):
        return FrameSource(frame, columns, drop)
    if isinstance(frame, nw.LazyFrame):
        from mercer.sources._lazy_frames import open_lazy

        return open_lazy(frame, columns, drop)
    return None


def as_frame(data: Any) -> Any:
    """Return `data` as narwhals wraps it, or as it is where it is no frame."""
    if type(data).__name__ == "RecordBatch" and type(data).__module__.startswith("pyarrow"):
        import pyarrow as pa

        data = pa.Table.from_batches([data])
    try:
        return nw.from_native(data, pass_through=True)
    except DuplicateError as error:
        said = " ".join(str(error).split())
        raise InputError(
            "column names must be unique",
            got=f"{type(data).__module__.split('.')[0]} frame: {said}",
            fix="rename the columns",
        ) from error


@final
class FrameSource(TableSource):
    """A frame in memory: every block is made from a slice of it, which copies nothing else."""

    def __init__(self, frame: "nw.DataFrame[Any]", columns: Any, drop: Any) -> None:
        self._frame = frame
        label = f"{frame.implementation.name.lower()} frame"
        stored = stored_types(frame.to_native())
        self._adopt(Cells(frame.schema, stored, columns, drop, label), len(frame))

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for at in range(start, self.shape[0], rows):
            yield self.cells.block(self._frame[at : at + rows].to_native())

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: shape, names, and every cell."""
        digest = hashlib.sha256(repr((self.shape, self.names, str(self.dtype))).encode())
        for block in self._read(_MARKED, 0):
            digest.update(np.ascontiguousarray(block).tobytes())
        return digest.hexdigest()
