"""The column of weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import KeptRows
from mercer.tables._missing_cells import numbered
from mercer.tables._reading import opened

_ROWS = 1 << 16  # read in one go


def weights_of(
    path: Any, name: str, reading: Mapping[str, Any], *, out: Array, stop: int | None
) -> tuple[Array, list[str]]:
    """Return repeat counts, float64 (n,), and what is said of rows that do not count.

    Parameters
    ----------
    path : path
        The file.
    name : str
        The column.
    reading : mapping
        Options of `mercer.scan`.
    out : array of int
        Rows to leave out, ascending.
    stop : int or None
        The number of the row at which to stop.
    """
    source = KeptRows(opened(path, (name,), reading), out, stop)
    parts, at = list[Array](), 0
    for block in source.blocks(_ROWS):
        part = np.asarray(block.toarray() if source.nnz is not None else block, np.float64)
        bad = np.flatnonzero(~(np.isfinite(part[:, 0]) & (part[:, 0] >= 0)))
        if bad.size:
            raise _wrong(source.place(at + int(bad[0]), 0), float(part[bad[0], 0]))
        parts.append(part[:, 0].copy())
        at += len(part)
    weights = np.concatenate(parts) if parts else np.empty(0)
    zero = np.flatnonzero(weights == 0)
    if len(zero) == len(weights):
        raise InputError(
            "all rows weigh 0 (--weights)",
            got=f"{source.label}: column {name!r}, {len(weights):,} rows",
            fix="name a column of counts of which some are positive",
        )
    if zero.size == 0:
        return weights, []
    verb = "weighs 0 and does" if zero.size == 1 else "weigh 0 and do"
    shown = numbered(source.rows_there(zero))
    return weights, [f"{zero.size:,} of {len(weights):,} rows {verb} not count: {shown}"]


def _wrong(place: str, value: float) -> InputError:
    shown = "a missing cell" if np.isnan(value) else f"{value:g}"
    return InputError(
        "weights must be finite and not negative (--weights)",
        got=f"{shown} at {place}",
        fix="use 0 to leave a row out",
    )
